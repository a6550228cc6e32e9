//! Compiles a golden model in C or C++.

use crate::{Block, Error};
use std::fs;
use std::path::Path;

/// The header that the model implements.
const HEADER: &str = include_str!("../templates/golden.h");
/// The Rust side of the model.
const MODULE: &str = include_str!("../templates/golden.rs");
/// Extensions of C++; every other file is C.
const CPP: [&str; 4] = ["cc", "cpp", "cxx", "C"];

/// The beginning of the names of a block's functions.
fn prefix(block: &Block) -> String {
    block.name.replace('-', "_")
}

/// The Rust constant of the model, for the module of the block.
pub fn module(block: &Block, verilated: &str) -> String {
    MODULE.replace("VERILATED", verilated).replace("PREFIX", &prefix(block))
}

/// Writes the header and compiles the model into an archive, which is linked into the crate.
pub fn compile(block: &Block, file: &Path, out: &Path) -> Result<(), Error> {
    let prefix = prefix(block);
    let header = out.join(format!("{prefix}_golden.h"));
    let text = HEADER.replace("BLOCK", &block.name).replace("PREFIX", &prefix);
    fs::write(&header, text).map_err(Error::io(&header))?;
    let is_cpp = file.extension().is_some_and(|ending| CPP.iter().any(|known| ending == *known));
    let mut build = cc::Build::new();
    build.file(file).include(out).cpp(is_cpp).out_dir(out).warnings(true);
    if is_cpp {
        // An exception that leaves a function ends the program instead of being undefined.
        build.std("c++17");
    }
    build
        .try_compile(&format!("{prefix}_golden"))
        .map_err(|error| Error::Golden { file: file.to_owned(), message: error.to_string() })
}
