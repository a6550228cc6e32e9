//! The golden model, written from the specification: it executes the row that applies.

use crate::rtl::{Bits1, Bits4, Inputs, Outputs};
use crate::{Beat, MAX_BEATS, Out};
use cosim_core::channels::{SinkItem as _, SourceItem as _};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};
use cosim_core::value::Uint;

// ANCHOR: rules
cosim_core::rules! {
    R1: "reset";
    W1: "no room: no transfer";
    F1: "free, no request";
    F2: "free: a packet of one beat";
    F3: "free: a packet begins, the lock is set";
    F4: "free: cut after its first beat";
    L1: "locked: the owner offers nothing";
    L2: "locked: the last beat";
    L3: "locked: one more beat";
    L4: "locked: cut at the limit";
    N0: "requester 0 wins";
    N1: "requester 1 wins";
    N2: "requester 2 wins";
    N3: "requester 3 wins";
    C1: "several requests: round robin picks the winner";
}
// ANCHOR_END: rules

/// The model's registers. All are 0 in reset.
#[derive(Debug, Clone, Default)]
pub struct Golden {
    pub max_beats: u64,
    /// The requester that holds the output.
    pub owner: Option<u64>,
    /// The number of its beats accepted so far; 0 while the output is free.
    pub beats: u64,
    /// The requester after the one that won last.
    pub first: u64,
    pub is_valid: bool,
    out: Out,
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &RULES;

    /// The chosen requester, and whether there is room.
    type Cycle = (Option<u64>, bool);

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        let max_beats = parameters.get(MAX_BEATS);
        let (is_reachable, needs) = match RULES[rule].name {
            "F4" => (max_beats == 1, "needs MAX_BEATS = 1"),
            "F3" | "L1" | "L2" | "L4" => (max_beats > 1, "needs MAX_BEATS above 1"),
            "L3" => (max_beats > 2, "needs MAX_BEATS above 2"),
            _ => return None,
        };
        (!is_reachable).then(|| needs.to_owned())
    }

    fn new(parameters: &Parameters) -> Self {
        Self { max_beats: parameters.get(MAX_BEATS), ..Self::default() }
    }

    fn cycle(&self, inputs: &Inputs) -> Self::Cycle {
        let mut in_turn = (0..4).map(|ahead| (self.first + ahead) % 4);
        let first = || in_turn.find(|n| inputs.req_valid.get() >> n & 1 == 1);
        (self.owner.or_else(first), !self.is_valid || inputs.out_ready.is_high())
    }

    fn outputs(&self, inputs: &Inputs, &(chosen, has_room): &Self::Cycle, outputs: &mut Outputs) {
        *outputs = Outputs::default();
        if !inputs.rst.is_high() {
            let ready = chosen.filter(|_| has_room).map_or(0, |n| 1 << n);
            outputs.req_ready = Bits4::new(ready);
            outputs.out_valid = Bits1::from(self.is_valid);
            self.out.write_outputs(outputs);
        }
    }

    fn clock(&mut self, inputs: &Inputs, &(chosen, has_room): &Self::Cycle) -> RuleSet {
        let beat = chosen.and_then(|n| Beat::offered_at(n as u32, inputs));
        let Beat { data, last } = beat.unwrap_or_default();
        let (in_reset, locked) = (inputs.rst.is_high(), self.owner.is_some());
        let (offered, at_limit) = (beat.is_some(), self.beats + 1 == self.max_beats);
        // ANCHOR: table
        let rule = match (locked, offered, last.is_high(), at_limit) {
            _ if in_reset => R1,
            _ if !has_room => W1,
            (false, false, ..) => F1,
            (false, true, true, _) => F2,
            (false, true, false, false) => F3,
            (false, true, false, true) => F4,
            (true, false, ..) => L1,
            (true, true, true, _) => L2,
            (true, true, false, false) => L3,
            (true, true, false, true) => L4,
        };
        // ANCHOR_END: table
        let (locks, cuts) = (rule.contains_any(F3.with(L3)), rule.contains_any(F4.with(L4)));
        if rule.contains_any(R1) {
            *self = Self { max_beats: self.max_beats, ..Self::default() };
        } else if rule.contains_any(F1.with(L1)) {
            self.is_valid = false;
        } else if let Some(n) = chosen.filter(|_| !rule.contains_any(W1)) {
            let contended = C1.only_if(inputs.req_valid.get().count_ones() > 1);
            let won = [N0, N1, N2, N3][n as usize].with(contended).only_if(self.owner.is_none());
            let (last, cut) = ((!locks).into(), cuts.into());
            (self.is_valid, self.out) = (true, Out { data, src: Uint::new(n), last, cut });
            self.owner = Some(n).filter(|_| locks);
            self.beats = if locks { self.beats + 1 } else { 0 };
            self.first = if locks { self.first } else { (n + 1) % 4 };
            return rule.with(won);
        }
        rule
    }

    fn state(&self) -> &'static str {
        if self.owner.is_some() { "LOCKED" } else { "FREE" }
    }
}

#[cfg(test)]
mod tests;
