//! Builds the RTL into the program.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let memory = Block::new("axi_lite_memory", "AxiLiteMemory").source("AxiLiteMemory.sv");
    cosim_build::build(&[memory.model([])])
}
