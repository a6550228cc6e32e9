//! A memory behind AXI4.

use cosim_core::agents::MemoryCheck;
use cosim_core::agents::axi_lite::AxiResponse;
use cosim_core::agents::axi4::{Axi4Manager, Axi4Monitor};
use cosim_core::harness::{self, Parameters, Violation, check_list};
use rtl::{Inputs, Outputs};

cosim_core::declare! {
    rtl "axi4_memory";
    reset rst_n low;
    agent axi: Axi4Manager on "s_axi_";
    scoreboard Scoreboard;
    transactions;
    block Axi4Memory = "axi4_memory": "a memory behind AXI4";
}

/// Compares the response and the data of each burst.
pub struct Scoreboard {
    axi: Axi4Monitor<Inputs, Outputs>,
    memory: MemoryCheck,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let protocol = Axi4Monitor::<Inputs, Outputs>::subordinate_checks();
        [protocol, check_list(&["response", "read-data"])].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { axi: Axi4Monitor::new(AXI), memory: MemoryCheck::new("read-data") }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.axi.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.memory.reset();
        }
        let write = events.write.as_ref().map(|(_, response)| *response);
        for response in write.into_iter().chain(events.read.as_ref().map(|beat| beat.response)) {
            if response != AxiResponse::Okay {
                return Err(Violation::differs("response", response, AxiResponse::Okay));
            }
        }
        self.memory.axi4(0, &mut self.axi, &events)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.axi.finish()
    }

    fn compared(&self) -> u64 {
        self.memory.compared()
    }
}
