//! The program with the block.

use axi_lite_memory::AxiLiteMemory;
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(AxiLiteMemory))
}
