//! No text makes the vector parser panic. Run with `scripts/fuzz`, which sets everything up.

#![no_main]

use cosim::blocks::{dll::Dll, thread2::Thread2};
use cosim::vector;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let path = Path::new("fuzzed.json");
    let _ = vector::parse::<Thread2>(text, path);
    let _ = vector::parse::<Dll>(text, path);
});
