//! The program with the FIFO.

use async_fifo::AsyncFifo;
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(AsyncFifo))
}
