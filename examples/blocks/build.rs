//! Builds the RTL into the program.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let block = |name, module, file| Block::new(name, module).source(file).model([]);
    let fifo = Block::new("async_fifo", "AsyncFifo").source("AsyncFifo.sv");
    cosim_build::build(&[
        fifo.wrapper("AsyncFifo_wrapper.sv"),
        block("apb_memory", "ApbMemory", "Memories.sv"),
        block("axi4_memory", "Axi4Memory", "Memories.sv"),
        block("axi_lite_memory", "AxiLiteMemory", "AxiLiteMemory.sv"),
        block("numberer", "Numberer", "Numberer.sv"),
        block("timer", "Timer", "Timer.sv"),
        block("uart_rx", "UartRx", "UartRx.sv"),
        block("wishbone_memory", "WishboneMemory", "Memories.sv"),
    ])
}
