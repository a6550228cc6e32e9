use cosim_core::agents::wishbone::{WishboneManager, WishboneMode, WishboneMonitor, WishbonePins};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const BUS: WishbonePins<Inputs, Outputs> = WishbonePins::of("wb_", WishboneMode::Classic);

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent bus: WishboneManager on BUS;
    block Ram = "ram": "a memory behind Wishbone", Scoreboard;
}

/// Checks the protocol, and the data of reads.
pub struct Scoreboard {
    bus: WishboneMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Ram> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![WishboneMonitor::<Inputs, Outputs>::SUBORDINATE_CHECKS, &["read-data"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { bus: WishboneMonitor::new(BUS), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        self.memory.wishbone(0, &self.bus, events.as_ref())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.bus.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
