//! The scoreboard of both domains: items leave in order, and no later than the synchronizers need.

use super::rtl::{Inputs, Outputs};
use super::{Pop, Push, Traffic};
use cosim_core::channels::{
    InOrder, Monitor, Protocol, SinkItem as _, SourceItem as _, transaction_checks,
};
use cosim_core::harness::{self, Parameters, Violation, check_list};
use cosim_core::value::Uint;

const POP: Protocol = Protocol::for_channel("pop");
/// More items are inside than the FIFO holds.
const OVERFLOW: &str = "overflow";
/// An item is not offered after four edges of the reader.
const HIDDEN: &str = "pop-hidden";
/// There is no room after four edges of the writer without a push.
const BLOCKED: &str = "push-blocked";

/// Items that the FIFO holds.
const DEPTH: usize = 4;
/// Edges after which the other side sees a pointer: two registers, and one edge for jitter of the
/// order of the clocks.
const EDGES: u32 = 4;

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    items: InOrder<Uint<8>>,
    pop: Monitor<Uint<8>>,
    /// Edges of the reader since it was shown nothing although an item is inside.
    hidden: u32,
    /// Edges of the writer since it was refused although there is room.
    blocked: u32,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let own = check_list(&[OVERFLOW, HIDDEN, BLOCKED]);
        let mut all = [POP.checks(), transaction_checks("pop"), own].concat();
        // The latency has no bound, so no item is late.
        all.retain(|check| check != "pop-late");
        all
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        let items = InOrder::new("pop", None);
        Self { items, pop: Monitor::new(POP), hidden: 0, blocked: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let in_reset = super::in_reset(inputs);
        if in_reset {
            self.items.clear();
            (self.hidden, self.blocked) = (0, 0);
        }
        if in_reset || Pop::is_clocked(inputs) {
            let offer = Pop::offered(outputs).map(|pop| pop.data);
            let is_shown = offer.is_some();
            if let Some(item) = self.pop.observe(in_reset, offer, Pop::is_ready(inputs))? {
                self.items.check(&item)?;
            }
            let is_hidden = !is_shown && self.items.pending() > 0;
            self.hidden = if is_hidden { self.hidden + 1 } else { 0 };
        }
        if !in_reset && Push::is_clocked(inputs) {
            let is_blocked = !Push::is_ready(outputs) && self.items.pending() < DEPTH;
            self.blocked = if is_blocked { self.blocked + 1 } else { 0 };
            if let Some(push) = Push::taken(inputs, outputs) {
                self.items.expect(push.data);
            }
        }
        let limits = [
            (self.items.pending() > DEPTH, OVERFLOW, "more items than the FIFO holds"),
            (self.hidden > EDGES, HIDDEN, "an item is inside, and pop_valid stays 0"),
            (self.blocked > EDGES, BLOCKED, "there is room, and push_ready stays 0"),
        ];
        match limits.into_iter().find(|(is_broken, ..)| *is_broken) {
            Some((_, check, message)) => Err(Violation::new(check, message)),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.items.finish()
    }

    fn compared(&self) -> u64 {
        self.items.compared()
    }
}
