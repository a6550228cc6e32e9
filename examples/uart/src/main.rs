//! The program with the blocks.

use std::process::ExitCode;
use uart::{apb::ApbMemory, axi4::Axi4Memory, wishbone::WishboneMemory};
use uart::{receiver::UartRx, stream::Numberer, timer::Timer};

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(
        ApbMemory,
        Axi4Memory,
        Numberer,
        Timer,
        UartRx,
        WishboneMemory
    ))
}
