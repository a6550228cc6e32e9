//! The program with the three blocks.

use fifo::{DontCare, Exact, Transactions};
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(Exact, DontCare, Transactions))
}
