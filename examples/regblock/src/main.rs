//! The program with the block.

use regblock::Regblock;
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(Regblock))
}
