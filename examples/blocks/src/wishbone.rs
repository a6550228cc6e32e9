//! A memory behind Wishbone.

use cosim_core::agents::MemoryCheck;
use cosim_core::agents::wishbone::{
    WishboneManager, WishboneMode, WishboneMonitor, WishbonePins, WishboneTermination,
};
use cosim_core::harness::{self, Parameters, Violation, check_list};
use rtl::{Inputs, Outputs};

/// The bus: one transfer at a time, addresses in bytes.
const WB: WishbonePins<Inputs, Outputs> = WishbonePins::named("wb_", WishboneMode::Classic);

cosim_core::declare! {
    rtl "wishbone_memory";
    reset rst high;
    agent wb: WishboneManager on WB;
    scoreboard Scoreboard;
    transactions;
    block WishboneMemory = "wishbone_memory": "a memory behind Wishbone";
}

/// Compares the termination and the data of each transfer.
pub struct Scoreboard {
    wb: WishboneMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let protocol = WishboneMonitor::<Inputs, Outputs>::subordinate_checks();
        [protocol, check_list(&["termination", "read-data"])].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { wb: WishboneMonitor::new(WB), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let transfer = self.wb.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        if let Some(transfer) = &transfer {
            let fails = transfer.address >= 448;
            let expected = if fails { WishboneTermination::Err } else { WishboneTermination::Ack };
            if transfer.termination != expected {
                return Err(Violation::differs("termination", transfer.termination, expected));
            }
        }
        self.memory.wishbone(0, &self.wb, transfer.as_ref())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.wb.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
