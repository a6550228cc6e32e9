use cosim_core::agents::axi_lite::{AxiLiteManager, AxiLiteMonitor, AxiLitePins};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const BUS: AxiLitePins<Inputs, Outputs> = AxiLitePins::of("s_axil_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent bus: AxiLiteManager on BUS;
    block Ram = "ram": "a memory behind AXI4-Lite", Scoreboard;
}

/// Checks the protocol, and the data of reads.
pub struct Scoreboard {
    bus: AxiLiteMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Ram> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![AxiLiteMonitor::<Inputs, Outputs>::SUBORDINATE_CHECKS, &["read-data"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { bus: AxiLiteMonitor::new(BUS), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        self.memory.axi_lite(0, &self.bus, &events)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.bus.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
