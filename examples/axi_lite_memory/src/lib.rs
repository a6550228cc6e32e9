//! A memory behind AXI4-Lite. Its specification is `README.md`.

#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("axi_lite_memory");
}

use cosim_core::agents::axi_lite::{AxiLiteManager, AxiLiteMonitor, AxiLitePins, AxiResponse};
use cosim_core::agents::{self, MemoryCheck};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const AXI: AxiLitePins<Inputs, Outputs> = AxiLitePins::of("s_axi_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst_n low;
    agent axi: AxiLiteManager on AXI;
    unreachable "axi outstanding": |at, _| (at[1] > 1 - at[0])
        .then_some("the memory holds two writes and one read");
    unreachable "axi responses": |at, _| (at[1] == 1).then_some("the memory has no SLVERR");
    block AxiLiteMemory = "axi_lite_memory": "memory behind AXI4-Lite", Scoreboard;
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
    if response == expected {
        return Ok(());
    }
    let message = format_args!("{response} for {address:#x}, expected {expected}");
    Err(Violation::new(RESPONSE, message))
}

impl harness::Scoreboard<'_, AxiLiteMemory> for Scoreboard {
    const CHECKS: &'static [&'static str] = agents::checks![
        AxiLiteMonitor::<Inputs, Outputs>::SUBORDINATE_CHECKS,
        &[READ_DATA, RESPONSE],
    ];

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
