//! The golden model of the sum that crosses to another clock.

use crate::rtl;
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

#[derive(Clone)]
pub struct Golden {
    sent: u64,
    meta: u64,
    seen: u64,
}

impl harness::Golden<rtl::Inputs, rtl::Outputs> for Golden {
    const RULES: &'static [Rule] = &[
        Rule { name: "WRITE", meaning: "a word is added" },
        Rule { name: "READ", meaning: "the sum moves on" },
        Rule { name: "BOTH", meaning: "both clocks rise in one step" },
    ];
    type Cycle = ();

    fn new(_parameters: &Parameters) -> Self {
        Self { sent: 0, meta: 0, seen: 0 }
    }

    fn cycle(&self, _inputs: &rtl::Inputs) {}

    fn outputs(&self, inputs: &rtl::Inputs, _cycle: &(), outputs: &mut rtl::Outputs) {
        let now = self.now(inputs);
        *outputs = rtl::Outputs {
            sent: rtl::Bits8::new(now.sent),
            seen: rtl::Bits8::new(now.seen),
            padding: Default::default(),
        };
    }

    fn clock(&mut self, inputs: &rtl::Inputs, _cycle: &()) -> RuleSet {
        let now = self.now(inputs);
        *self = now.clone();
        let writes = inputs.wclk.get() == 1 && inputs.wrst_n.get() == 1;
        let reads = inputs.rclk.get() == 1 && inputs.rrst_n.get() == 1;
        if writes {
            self.sent = (now.sent + inputs.wdata.get()) % 256;
        }
        if reads {
            (self.meta, self.seen) = (now.sent, now.meta);
        }
        let rules = RuleSet::from_rule(0).only_if(writes);
        let rules = rules.with(RuleSet::from_rule(1).only_if(reads));
        rules.with(RuleSet::from_rule(2).only_if(writes && reads))
    }

    fn state(&self) -> &'static str {
        "running"
    }
}

impl Golden {
    /// The registers as they are in the step: a reset takes effect at once.
    fn now(&self, inputs: &rtl::Inputs) -> Self {
        let (writer, reader) = (inputs.wrst_n.get(), inputs.rrst_n.get());
        Self { sent: writer * self.sent, meta: reader * self.meta, seen: reader * self.seen }
    }
}
