//! The scoreboard: items leave in the order in which they came, within the latency.

use crate::rtl::{Inputs, Outputs};
use crate::{DEPTH, Pop, Push, Traffic};
use cosim_core::channels::{
    InOrder, Monitor, Protocol, SinkItem as _, SourceItem as _, transaction_checks,
};
use cosim_core::harness::{self, Parameters, Violation, check_list, require};
use cosim_core::value::Uint;

const POP: Protocol = Protocol::for_channel("pop");
/// More items are inside than the FIFO can hold.
const OVERFLOW: &str = "overflow";

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    depth: usize,
    items: InOrder<Uint<8>>,
    pop: Monitor<Uint<8>>,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        // The latency has no bound, so no item is late.
        let mut all = [POP.checks(), transaction_checks("pop"), check_list(&[OVERFLOW])].concat();
        all.retain(|check| check != "pop-late");
        all
    }

    fn new(_: &Traffic, parameters: &Parameters) -> Self {
        let depth = parameters.get(DEPTH) as usize;
        Self { depth, items: InOrder::new("pop", None), pop: Monitor::new(POP) }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let in_reset = crate::in_reset(inputs);
        let offer = Pop::offered(outputs).map(|pop| pop.data);
        if let Some(item) = self.pop.observe(in_reset, offer, Pop::is_ready(inputs))? {
            self.items.check(&item)?;
        }
        if in_reset {
            self.items.clear();
        } else if let Some(push) = Push::taken(inputs, outputs) {
            self.items.expect(push.data);
            let pending = self.items.pending();
            require!(pending <= self.depth, OVERFLOW, "{pending} items are inside")?;
        }
        self.items.clock()
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.items.finish()
    }

    fn compared(&self) -> u64 {
        self.items.compared()
    }
}
