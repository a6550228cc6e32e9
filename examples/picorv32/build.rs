//! Builds the RTL into the program, one model for each profile.

use cosim_build::Block;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if !Path::new("rtl/picorv32.v").is_file() {
        println!("cargo::rerun-if-changed=rtl/picorv32.v");
        eprintln!("error: rtl/picorv32.v is not part of this repository: run ./fetch");
        return ExitCode::FAILURE;
    }
    let core =
        Block::new("picorv32", "picorv32").wrapper("picorv32_wrapper.sv").define("RISCV_FORMAL");
    cosim_build::build(&[core
        .model([("COMPRESSED_ISA", 1), ("BARREL_SHIFTER", 0), ("ENABLE_FAST_MUL", 0)])
        .model([("COMPRESSED_ISA", 0), ("BARREL_SHIFTER", 1), ("ENABLE_FAST_MUL", 1)])])
}
