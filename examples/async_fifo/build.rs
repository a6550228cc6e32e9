//! Builds the RTL into the program, inside the wrapper that gates its clocks.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let fifo = Block::new("async_fifo", "AsyncFifo");
    cosim_build::build(&[fifo.source("AsyncFifo.sv").wrapper("AsyncFifo_wrapper.sv")])
}
