//! The program with the blocks of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim::PROGRAM)
}
