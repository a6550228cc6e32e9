//! The `cosim` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cosim::cli::main()
}
