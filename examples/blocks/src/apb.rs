//! A memory behind APB.

use cosim_core::agents::MemoryCheck;
use cosim_core::agents::apb::{ApbManager, ApbMonitor};
use cosim_core::harness::{self, Parameters, Violation, check_list};
use rtl::{Inputs, Outputs};

cosim_core::declare! {
    rtl "apb_memory";
    reset rst_n low;
    agent apb: ApbManager on "";
    scoreboard Scoreboard;
    transactions;
    block ApbMemory = "apb_memory": "a memory behind APB";
}

/// Compares the error and the data of each transfer.
pub struct Scoreboard {
    apb: ApbMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let protocol = ApbMonitor::<Inputs, Outputs>::subordinate_checks();
        [protocol, check_list(&["error", "read-data"])].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { apb: ApbMonitor::new(APB), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let transfer = self.apb.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        if let Some(transfer) = &transfer
            && transfer.is_error != (transfer.address >= 448)
        {
            return Err(Violation::differs("error", transfer.is_error, !transfer.is_error));
        }
        self.memory.apb(0, &self.apb, transfer.as_ref())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.apb.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
