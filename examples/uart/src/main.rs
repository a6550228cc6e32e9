//! The program with the blocks.

use std::process::ExitCode;
use uart::{receiver::UartRx, stream::Numberer, timer::Timer};

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(UartRx, Numberer, Timer))
}
