//! The golden model of the FIFO between two clocks.

use crate::{FifoBlock, rtl};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

const DEPTH: u64 = 4;

/// Pointers of both sides, and what each side knows of the other: the last two edges of its clock.
#[derive(Clone)]
pub struct Golden {
    memory: [u64; DEPTH as usize],
    written: u64,
    read: u64,
    seen_written: [u64; 2],
    seen_read: [u64; 2],
    is_full: bool,
    is_empty: bool,
}

impl harness::Golden<FifoBlock> for Golden {
    const RULES: &'static [Rule] = &[
        Rule { name: "WRITE", meaning: "a word is written" },
        Rule { name: "READ", meaning: "a word is read" },
        Rule { name: "FULL", meaning: "a write is ignored" },
        Rule { name: "EMPTY", meaning: "a read is ignored" },
        Rule { name: "BOTH", meaning: "both clocks rise in one step" },
    ];
    type Cycle = ();

    fn new(_parameters: &Parameters) -> Self {
        Self {
            memory: [0; DEPTH as usize],
            written: 0,
            read: 0,
            seen_written: [0; 2],
            seen_read: [0; 2],
            is_full: false,
            is_empty: true,
        }
    }

    fn cycle(&self, _inputs: &rtl::Inputs) {}

    fn outputs(&self, inputs: &rtl::Inputs, _cycle: &(), outputs: &mut rtl::Outputs) {
        let is_empty = self.is_empty || inputs.rrst_n.get() == 0;
        let read = if inputs.rrst_n.get() == 0 { 0 } else { self.read };
        let is_cleared = inputs.wrst_n.get() == 0;
        let word = if is_cleared { 0 } else { self.memory[(read % DEPTH) as usize] };
        *outputs = rtl::Outputs {
            wfull: rtl::Bits1::from(self.is_full && inputs.wrst_n.get() == 1),
            rempty: rtl::Bits1::from(is_empty),
            rdata: rtl::Bits8::new(if is_empty { 0 } else { word }),
            padding: Default::default(),
        };
    }

    fn clock(&mut self, inputs: &rtl::Inputs, _cycle: &()) -> RuleSet {
        let mut rules = RuleSet::EMPTY;
        let before = self.clone();
        let (write, read) = (inputs.winc.get() == 1, inputs.rinc.get() == 1);
        if inputs.wrst_n.get() == 0 {
            self.written = 0;
            self.memory = [0; DEPTH as usize];
            self.seen_read = [0; 2];
            self.is_full = false;
        }
        if inputs.rrst_n.get() == 0 {
            self.read = 0;
            self.seen_written = [0; 2];
            self.is_empty = true;
        }
        if inputs.wclk.get() == 1 && inputs.wrst_n.get() == 1 {
            if write && !before.is_full {
                self.memory[(before.written % DEPTH) as usize] = inputs.wdata.get();
                self.written = (before.written + 1) % (2 * DEPTH);
                rules = rules.with(RuleSet::one(0));
            }
            rules = rules.with(RuleSet::one(2).only_if(write && before.is_full));
            self.seen_read = [before.read_now(inputs), before.seen_read[0]];
            self.is_full = (self.written + 2 * DEPTH - before.seen_read[1]) % (2 * DEPTH) == DEPTH;
        }
        if inputs.rclk.get() == 1 && inputs.rrst_n.get() == 1 {
            if read && !before.is_empty {
                self.read = (before.read + 1) % (2 * DEPTH);
                rules = rules.with(RuleSet::one(1));
            }
            rules = rules.with(RuleSet::one(3).only_if(read && before.is_empty));
            self.seen_written = [before.written_now(inputs), before.seen_written[0]];
            self.is_empty = self.read == before.seen_written[1];
        }
        let both = inputs.wclk.get() == 1 && inputs.rclk.get() == 1;
        rules.with(RuleSet::one(4).only_if(both))
    }

    fn state(&self) -> &'static str {
        "running"
    }
}

impl Golden {
    /// The pointers as they are in the step: a reset takes effect at once.
    fn read_now(&self, inputs: &rtl::Inputs) -> u64 {
        if inputs.rrst_n.get() == 0 { 0 } else { self.read }
    }

    fn written_now(&self, inputs: &rtl::Inputs) -> u64 {
        if inputs.wrst_n.get() == 0 { 0 } else { self.written }
    }
}
