//! The program with the block.

use picorv32::Picorv32;
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(Picorv32))
}
