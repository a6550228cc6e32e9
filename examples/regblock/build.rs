//! Builds the RTL into the program.

use cosim_build::Block;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if !Path::new("rtl/regblock.sv").is_file() {
        println!("cargo::rerun-if-changed=rtl/regblock.sv");
        eprintln!("error: rtl/regblock.sv is not part of this repository: run ./fetch");
        return ExitCode::FAILURE;
    }
    let block = Block::new("regblock", "regblock").wrapper("regblock_wrapper.sv");
    cosim_build::build(&[block.source("regblock_pkg.sv").source("regblock.sv").model([])])
}
