//! The program with the blocks.

use blocks::{apb::ApbMemory, async_fifo::AsyncFifo, axi_lite::AxiLiteMemory, axi4::Axi4Memory};
use blocks::{receiver::UartRx, stream::Numberer, timer::Timer, wishbone::WishboneMemory};
use std::process::ExitCode;

fn main() -> ExitCode {
    cosim_core::main(cosim_core::program!(
        ApbMemory,
        AsyncFifo,
        Axi4Memory,
        AxiLiteMemory,
        Numberer,
        Timer,
        UartRx,
        WishboneMemory
    ))
}
