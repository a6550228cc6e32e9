use cosim_core::agents::apb::{ApbManager, ApbMonitor, ApbPins};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const BUS: ApbPins<Inputs, Outputs> = ApbPins::of("s_apb_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent bus: ApbManager on BUS;
    block Ram = "ram": "a memory behind APB", Scoreboard;
}

/// Checks the protocol, and the data of reads.
pub struct Scoreboard {
    bus: ApbMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Ram> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![ApbMonitor::<Inputs, Outputs>::SUBORDINATE_CHECKS, &["read-data"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { bus: ApbMonitor::new(BUS), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        self.memory.apb(0, &self.bus, events.as_ref())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.bus.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
