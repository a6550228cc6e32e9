use cosim_core::agents::axi4::{Axi4Manager, Axi4Monitor, Axi4Pins};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const BUS: Axi4Pins<Inputs, Outputs> = Axi4Pins::of("s_axi_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent bus: Axi4Manager on BUS;
    block Ram = "ram": "a memory behind AXI4", Scoreboard;
}

/// Checks the protocol, and the data of reads.
pub struct Scoreboard {
    bus: Axi4Monitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Ram> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![Axi4Monitor::<Inputs, Outputs>::SUBORDINATE_CHECKS, &["read-data"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { bus: Axi4Monitor::new(BUS), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        self.memory.axi4(0, &mut self.bus, &events)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.bus.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
