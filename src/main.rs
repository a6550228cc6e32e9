//! `cosim`, which runs blocks: those of this crate, or of the crate in the working directory.

use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_cli::main()
}
