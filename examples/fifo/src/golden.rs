//! The golden model, exact in every cycle.

use crate::rtl::{Bits1, Bits8, Inputs, Outputs};
use crate::{DEPTH, Pop, Push};
use cosim_core::channels::{SinkItem as _, SourceItem as _};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};
use std::collections::VecDeque;

/// The FIFO, exact in every cycle. With `DONT_CARE`, data without valid is not compared.
#[derive(Debug, Clone)]
pub struct Golden<const DONT_CARE: bool> {
    depth: usize,
    items: VecDeque<u64>,
}

impl<const DONT_CARE: bool> harness::Golden<Inputs, Outputs> for Golden<DONT_CARE> {
    const RULES: &'static [Rule] = &[];
    const HAS_DONT_CARES: bool = DONT_CARE;

    type Cycle = ();

    fn new(parameters: &Parameters) -> Self {
        Self { depth: parameters.get(DEPTH) as usize, items: VecDeque::new() }
    }

    fn cycle(&self, _: &Inputs) {}

    fn outputs(&self, inputs: &Inputs, (): &(), outputs: &mut Outputs) {
        let is_on = !crate::in_reset(inputs);
        let first = self.items.front().filter(|_| is_on);
        outputs.push_ready = Bits1::from(is_on && self.items.len() < self.depth);
        outputs.pop_valid = Bits1::from(first.is_some());
        outputs.pop_data = Bits8::new(first.copied().unwrap_or(0));
    }

    fn dont_care(&self, inputs: &Inputs, (): &(), open: &mut Outputs) {
        if crate::in_reset(inputs) || self.items.is_empty() {
            open.pop_data = Bits8::new(0xff);
        }
    }

    fn clock(&mut self, inputs: &Inputs, (): &()) -> RuleSet {
        let mut outputs = Outputs::default();
        harness::Golden::outputs(self, inputs, &(), &mut outputs);
        if crate::in_reset(inputs) {
            self.items.clear();
        }
        if let Some(push) = Push::taken(inputs, &outputs) {
            self.items.push_back(push.data.get());
        }
        if Pop::taken(inputs, &outputs).is_some() {
            self.items.pop_front();
        }
        RuleSet::EMPTY
    }

    fn state(&self) -> &'static str {
        match self.items.len() {
            0 => "EMPTY",
            items if items == self.depth => "FULL",
            _ => "FILLED",
        }
    }
}
