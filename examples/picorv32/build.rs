//! Builds the RTL into the program, inside the wrapper that gates its clocks.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let fifo = Block::new("picorv32", "picorv32");
    cosim_build::build(&[fifo])
}
