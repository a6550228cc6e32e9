//! Builds the RTL into the program.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let uart = Block::new("uart_rx", "UartRx").source("UartRx.sv");
    let timer = Block::new("timer", "Timer").source("Timer.sv");
    let numberer = Block::new("numberer", "Numberer").source("Numberer.sv");
    let memory = |name, module| Block::new(name, module).source("Memories.sv").model([]);
    cosim_build::build(&[
        uart.model([]),
        numberer.model([]),
        timer.model([]),
        memory("apb_memory", "ApbMemory"),
        memory("axi4_memory", "Axi4Memory"),
        memory("wishbone_memory", "WishboneMemory"),
    ])
}
