//! The golden model of the counters: each counts the items of its domain, in every step.

use super::rtl::{Bits8, Inputs, Outputs};
use super::{Pop, Push};
use cosim_core::channels::{SinkItem as _, SourceItem as _};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

/// The counters.
#[derive(Debug, Clone)]
pub struct Golden {
    pushed: u64,
    popped: u64,
    /// Items that move at the end of this step, by the handshakes of the RTL.
    moving: [u64; 2],
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &[];

    type Cycle = ();

    fn new(_: &Parameters) -> Self {
        Self { pushed: 0, popped: 0, moving: [0; 2] }
    }

    fn cycle(&self, _: &Inputs) {}

    fn outputs(&self, inputs: &Inputs, (): &(), outputs: &mut Outputs) {
        // The resets are asynchronous.
        outputs.pushed = Bits8::new(inputs.wrst_n.get() * self.pushed);
        outputs.popped = Bits8::new(inputs.rrst_n.get() * self.popped);
    }

    fn observe(&mut self, inputs: &Inputs, (): &(), outputs: &Outputs) {
        let push = Push::taken(inputs, outputs).is_some();
        let pop = Pop::taken(inputs, outputs).is_some();
        self.moving = [u64::from(push), u64::from(pop)];
    }

    fn clock(&mut self, inputs: &Inputs, (): &()) -> RuleSet {
        let [push, pop] = self.moving;
        self.pushed = inputs.wrst_n.get() * (self.pushed + push);
        self.popped = inputs.rrst_n.get() * (self.popped + pop);
        RuleSet::EMPTY
    }

    fn state(&self) -> &'static str {
        if self.pushed == self.popped { "EMPTY" } else { "FILLED" }
    }
}
