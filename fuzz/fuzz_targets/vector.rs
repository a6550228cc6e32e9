//! No text makes the vector parser panic, whatever block it names. Run with `scripts/fuzz`, which
//! sets everything up.

#![no_main]

use cosim::PROGRAM;
use cosim_core::vector::VectorFile;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(file) = VectorFile::from_text(text.to_owned(), Path::new("fuzzed.json")) {
        for block in PROGRAM.blocks {
            let _ = block.typed(&file);
        }
    }
});
