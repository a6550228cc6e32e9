//! Builds the RTL into the program, one model for each depth.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let fifo = Block::new("fifo", "Fifo").source("Fifo.sv").golden("golden/fifo.cc");
    cosim_build::build(&[fifo.model([("DEPTH", 4)]).model([("DEPTH", 1)])])
}
