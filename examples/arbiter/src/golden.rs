//! The golden model, written from the specification: it executes the row that applies.

use crate::rtl::{Bits1, Bits2, Bits4, Bits16, Inputs, Outputs};
use crate::rules::{Action, TABLE, when, won};
use crate::{Arbiter, MAX_BEATS, REQUESTERS, rules};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

/// The model's registers.
#[derive(Debug, Clone)]
pub struct Golden {
    max_beats: u64,
    /// The requester that holds the output, and the number of its beats accepted so far.
    lock: Option<(u8, u64)>,
    last_won: u8,
    out: Beat,
}

/// An evaluated cycle.
pub struct Cycle {
    /// The chosen requester; `None` if the arbiter is free and there is no request.
    chosen: Option<u8>,
    has_room: bool,
}

/// The beat on the output.
#[derive(Debug, Clone, Copy, Default)]
struct Beat {
    valid: bool,
    last: bool,
    cut: bool,
    src: u8,
    data: u16,
}

#[inline]
fn bit(pins: Bits4, n: u8) -> bool {
    pins.get() >> n & 1 == 1
}

impl Golden {
    fn in_reset(max_beats: u64) -> Self {
        Self { max_beats, lock: None, last_won: 3, out: Beat::default() }
    }

    /// For coverage: the holder of the output with its accepted beats, the last winner, and whether
    /// a beat is on offer.
    #[inline]
    pub(crate) fn registers(&self) -> (Option<(u8, u64)>, u8, bool) {
        (self.lock, self.last_won, self.out.valid)
    }

    #[inline]
    fn chosen(&self, inputs: &Inputs) -> Option<u8> {
        if let Some((owner, _)) = self.lock {
            return Some(owner);
        }
        let count = REQUESTERS as u8;
        (1..=count).map(|ahead| (self.last_won + ahead) % count).find(|n| bit(inputs.req_valid, *n))
    }

    /// The bits of [`when`] in this cycle.
    #[inline]
    fn combination(&self, inputs: &Inputs, &Cycle { chosen, has_room }: &Cycle) -> usize {
        let taken_before = self.lock.map_or(0, |(_, beats)| beats);
        let says = |holds: bool, flag: usize| if holds { flag } else { 0 };
        says(inputs.rst.get() == 1, when::RST)
            | says(has_room, when::ROOM)
            | says(self.lock.is_some(), when::LOCKED)
            | says(chosen.is_some_and(|n| bit(inputs.req_valid, n)), when::OFFERED)
            | says(chosen.is_some_and(|n| bit(inputs.req_last, n)), when::LAST)
            | says(taken_before + 1 == self.max_beats, when::LIMIT)
    }

    /// Accepts a beat of requester `n`.
    #[inline]
    fn take(&mut self, inputs: &Inputs, n: u8, lock: bool, cut: bool) {
        let data = (inputs.req_data.get() >> (16 * n)) as u16;
        self.out = Beat { valid: true, last: !lock, cut, src: n, data };
        let beats = self.lock.map_or(0, |(_, beats)| beats) + 1;
        self.lock = lock.then_some((n, beats));
        if !lock {
            self.last_won = n;
        }
    }
}

impl harness::Golden<Arbiter> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rules::unreachable(rule, parameters.get(MAX_BEATS))
    }

    fn new(parameters: &Parameters) -> Self {
        Self::in_reset(parameters.get(MAX_BEATS))
    }

    type Cycle = Cycle;

    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let has_room = !self.out.valid || inputs.out_ready.get() == 1;
        Cycle { chosen: self.chosen(inputs), has_room }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        let in_reset = inputs.rst.get() == 1;
        let out = if in_reset { Beat::default() } else { self.out };
        let ready = match cycle.chosen {
            Some(n) if !in_reset && cycle.has_room => 1 << n,
            _ => 0,
        };
        let bit = Bits1::from;
        // Exhaustive, so that a changed port list of the RTL does not compile.
        *outputs = Outputs {
            req_ready: Bits4::new(ready),
            out_valid: bit(out.valid),
            out_last: bit(out.last),
            out_cut: bit(out.cut),
            out_src: Bits2::new(u64::from(out.src)),
            out_data: Bits16::new(u64::from(out.data)),
            padding: Default::default(),
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        let (row, rule) = TABLE.row(self.combination(inputs, cycle));
        let is_free = self.lock.is_none();
        match (row.then, cycle.chosen) {
            (Action::Reset, _) => *self = Self::in_reset(self.max_beats),
            (Action::Stay, _) => {}
            (Action::Empty, _) => self.out.valid = false,
            (Action::Take { lock, cut }, Some(n)) => {
                self.take(inputs, n, lock, cut);
                if is_free {
                    return rule.with(won(n, inputs.req_valid.get().count_ones() > 1));
                }
            }
            (Action::Take { .. }, None) => unreachable!("what is taken was offered"),
        }
        rule
    }

    #[inline]
    fn state(&self) -> &'static str {
        if self.lock.is_some() { "LOCKED" } else { "FREE" }
    }
}

#[cfg(test)]
mod tests;
