//! A memory behind AXI4-Lite. Its specification is `README.md`.

use cosim_core::agents::MemoryCheck;
use cosim_core::agents::axi_lite::{AxiLiteManager, AxiLiteMonitor, AxiResponse};
use cosim_core::harness::{self, Parameters, Violation, check_list, require};
use rtl::{Inputs, Outputs};

cosim_core::declare! {
    rtl "axi_lite_memory";
    reset rst_n low;
    agent axi: AxiLiteManager on "s_axi_"
        unless "outstanding" |at, _| (at[1] > 1 - at[0])
            .then_some("the memory holds two writes and one read")
        unless "responses" |at, _| (at[1] == 1).then_some("the memory has no SLVERR");
    scoreboard Scoreboard;
    transactions;
    block AxiLiteMemory = "axi_lite_memory": "memory behind AXI4-Lite";
}

/// Bytes of the memory.
const BYTES: u64 = 256;

/// A read returns other data than the writes before it explain.
const READ_DATA: &str = "read-data";
/// A response is `DECERR` although the word exists, or `OKAY` although it does not.
const RESPONSE: &str = "response";

/// The golden model: a memory of transactions.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    monitor: AxiLiteMonitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

/// Checks the response to an access.
fn check_response(address: u64, response: AxiResponse) -> Result<(), Violation> {
    let expected = if address < BYTES { AxiResponse::Okay } else { AxiResponse::DecErr };
    require!(response == expected, RESPONSE, "{response} for {address:#x}, expected {expected}")
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let protocol = AxiLiteMonitor::<Inputs, Outputs>::subordinate_checks();
        [protocol, check_list(&[READ_DATA, RESPONSE])].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { monitor: AxiLiteMonitor::new(AXI), memory: MemoryCheck::new(READ_DATA) }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.monitor.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        if let Some(write) = events.write {
            check_response(write.address, write.response)?;
        }
        if let Some(read) = events.read {
            check_response(read.address, read.response)?;
        }
        self.memory.axi_lite(0, &self.monitor, &events)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.monitor.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
