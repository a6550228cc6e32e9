use cosim_core::agents::memory_port::{MemoryPortManager, MemoryPortMonitor, MemoryPortPins};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const BUS: MemoryPortPins<Inputs, Outputs> = MemoryPortPins::of("");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent bus: MemoryPortManager on BUS;
    block Ram = "ram": "a memory", Scoreboard;
}

/// Checks the protocol, and the data of reads.
pub struct Scoreboard {
    bus: MemoryPortMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Ram> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![&["read-data"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { bus: MemoryPortMonitor::new(BUS).without_memory(), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        self.memory.memory_port(0, &self.bus, &events)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
