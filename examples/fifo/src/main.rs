//! The program with the four blocks.

use fifo::{Cpp, DontCare, Exact, Transactions};
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(Exact, DontCare, Cpp, Transactions))
}
