//! The `cosim` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim::PROGRAM)
}
