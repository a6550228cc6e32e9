//! No text makes the vector parser panic. Run with `cargo fuzz run vector` and the corpus in
//! `vectors/thread2`.

#![no_main]

use cosim::blocks::thread2::Thread2;
use cosim::vector;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let _ = vector::parse::<Thread2>(text, Path::new("fuzzed.json"));
});
