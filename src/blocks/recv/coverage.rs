//! The functional coverage of `recv` in addition to its rules.

mod groups;

use super::Recv;
use super::golden::{Cycle, Golden, RegisterView};
use super::parameters::{HIGH, KEEP, LOW};
use super::rtl::Inputs;
use super::rules::{
    G1, G2, G3, K1, K2, K3, O1, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P20, P21, P22, P27,
    P28, P29, P30, State, U1, U2, U3,
};
use super::stimulus::DP;
use cosim_core::harness::{
    self, Bins, Covergroup, Document, Edge, Golden as _, Parameters, RuleSet, class, corner_class,
};
pub(crate) use groups::KIND;
use groups::{
    CHOICES, COPIES, CREDITS, FINISHED, FREES, GROUPS, HANDLES, MATCHES, MESSAGES, OFFERS, REFILLS,
    RESETS, STALLS, STARVED, STRAYS, SUMS, TEMPORARY,
};

/// Rules at which message coverage is counted; at other edges the current message waits.
const OF_MESSAGES: RuleSet = {
    let begin = P8.with(P9).with(P11).with(P12).with(P13).with(U1).with(U2).with(U3);
    begin.with(P20).with(P21).with(P22).with(P27).with(P28).with(P29).with(P30)
};
const PACKET_TAKEN: RuleSet = G1.with(G2).with(G3);
/// Rules that name a handle.
const OF_HANDLES: RuleSet = {
    let alone = P4.with(P5).with(P6).with(P7).with(P10).with(P22);
    let copied = P9.with(P12).with(P20).with(P27).with(P28);
    alone.with(copied).with(P13).with(P21).with(U1).with(U2).with(U3)
};
/// Rules of what is copied, by position on their axis.
const OF_COPIES: [RuleSet; 5] = [P9, P12, P27.with(P28), U1, P20];

/// Positions on the axis of message outcomes.
const RENDEZVOUS: usize = 0;
const POSTED: usize = 1;
const COPIED: usize = 2;
const KEPT: usize = 3;

/// The state of coverage collection.
#[derive(Debug, Clone)]
pub struct Coverage {
    low: u64,
    high: u64,
    keep: u64,
    /// Registers before the edge.
    before: RegisterView,
    so_far: CoverageState,
    in_reset: bool,
}

/// Coverage state that a reset clears.
#[derive(Debug, Clone, Copy, Default)]
struct CoverageState {
    /// The outcome of the message, as a position on its axis.
    outcome: usize,
    /// Number of its DPs that were accepted.
    dps: u64,
    /// Cycles in which it waited: for an answer, or to be finished.
    waited: u64,
    /// Cycles in which the credit on offer waited, and whether it grew.
    stall: u64,
    grown: bool,
}

impl Coverage {
    /// The position of the ring's level on its axis.
    #[inline]
    fn ring(&self) -> usize {
        match self.before.ring_level {
            0 => 0,
            level if level == self.high => 4,
            level if level < self.low => 1,
            level if level == self.low => 2,
            _ => 3,
        }
    }

    /// The position of the number of free buffers on its axis.
    #[inline]
    fn pool(&self, free: u64) -> usize {
        match free {
            _ if free + 1 == self.keep => 2,
            _ if free == self.keep => 3,
            _ if free > self.keep => 4,
            0 => 0,
            _ => 1,
        }
    }

    #[inline]
    fn count_ring(&self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let refill = match edge.outputs.alloc_count.get() {
            _ if edge.rules.has(G1) => 0,
            _ if edge.rules.has(O1) => 4,
            0 => 3,
            _ if edge.golden.look().ring_level == self.high => 1,
            _ => 2,
        };
        bins.hit(REFILLS.bin([self.ring(), refill]));
    }

    /// Counts the arithmetic of a refill: m against what the ring lacks and what the credit holds.
    #[inline]
    fn count_refill(&self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let taken = edge.rules.has(PACKET_TAKEN);
        let left = self.before.ring_level - u64::from(taken);
        let (lacks, free) = (self.high - left, edge.inputs.pool_free.get());
        let at = match free {
            0 => 0,
            _ if free + 1 < lacks => 1,
            _ if free < lacks => 2,
            _ if free == lacks => 3,
            _ if free == lacks + 1 => 4,
            _ => 5,
        };
        if taken {
            bins.hit(FREES.bin([at]));
        }
        if free > 0 {
            let sum = self.before.credit_pending + free.min(lacks);
            bins.hit(SUMS.bin([class(sum, [254, 255, 256, 257])]));
        }
    }

    /// Counts handles and lengths where they are shown.
    #[inline]
    fn count_fields(edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let Edge { outputs, rules, .. } = edge;
        let handles = [
            (outputs.release_valid.is_high() && !outputs.copy_valid.is_high(), outputs.release_id),
            (outputs.copy_valid.is_high(), outputs.copy_id),
            (outputs.keep_valid.is_high(), outputs.keep_id),
            (outputs.match_req.is_high(), outputs.match_id),
        ];
        for (place, (is_shown, id)) in handles.into_iter().enumerate() {
            if is_shown {
                bins.hit(HANDLES.bin([place, corner_class(id.get(), 0xff)]));
            }
        }
        if let Some(copy) = OF_COPIES.iter().position(|rule| rules.has(*rule)) {
            let len = corner_class(outputs.copy_len.get(), 0xffff);
            bins.hit(COPIES.bin([copy, len]));
        }
        if rules.has(U1.with(U2)) {
            let len = corner_class(outputs.temp_alloc_len.get(), 0xffff_ffff);
            bins.hit(TEMPORARY.bin([usize::from(rules.has(U2)), len]));
        }
    }

    /// Counts a credit on offer.
    #[inline]
    fn count_credit(&mut self, rules: RuleSet, bins: &mut Bins<'_>) {
        let CoverageState { stall, grown, .. } = &mut self.so_far;
        if rules.has(K2.with(K3)) {
            bins.hit(STALLS.bin([class(*stall, [1, 2, 16, 128]), usize::from(*grown)]));
            let amount = class(self.before.credit_pending, [2, 16, 128]);
            bins.hit(CREDITS.bin([amount, usize::from(rules.has(K2))]));
            (*stall, *grown) = (0, false);
        } else {
            *stall += 1;
            *grown |= rules.has(K1);
        }
    }

    /// Counts a packet that waits for a buffer in the ring.
    #[inline]
    fn count_starved(&self, inputs: &Inputs, bins: &mut Bins<'_>) {
        let taker = match self.before.state {
            State::DetermineCpType => 0,
            State::ProcUnexpDp if !self.before.complete => 1,
            State::RecvPostedData if inputs.pkt_kind.get() == DP => 2,
            _ => return,
        };
        bins.hit(STARVED.bin([taker]));
    }

    /// Counts the end of a message's packets.
    #[inline]
    fn count_message(&self, bins: &mut Bins<'_>) {
        let CoverageState { outcome, dps, .. } = self.so_far;
        bins.hit(MESSAGES.bin([outcome, class(dps, [1, 2, 8, 64])]));
    }

    /// Counts the answer about a posted receive, and the choice.
    #[inline]
    fn count_eager(&mut self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = edge;
        if rules.has(P12.with(P13)) {
            let is_posted = rules.has(P12);
            bins.hit(MATCHES.bin([usize::from(is_posted), class(self.so_far.waited, [1, 2, 8])]));
            self.so_far.waited = 0;
            if is_posted {
                self.so_far.outcome = POSTED;
            }
        }
        let chosen = [U1, U2, U3].iter().position(|rule| rules.has(*rule));
        if let Some(choice) = chosen {
            let (pool, more) = (self.pool(inputs.pool_free.get()), !self.before.complete);
            bins.hit(CHOICES.bin([pool, choice, usize::from(more)]));
            self.so_far.outcome = if choice == 0 { COPIED } else { KEPT };
        }
        if self.before.complete && (chosen.is_some() || rules.has(P12)) {
            self.count_message(bins);
        }
    }

    fn count_messages(&mut self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = edge;
        if rules.has(P8.with(P9)) {
            (self.so_far.outcome, self.so_far.dps, self.so_far.waited) = (RENDEZVOUS, 0, 0);
        }
        if rules.has(P20.with(P21).with(P27).with(P28)) {
            self.so_far.dps += 1;
        }
        if rules.has(P9.with(P20).with(P21).with(P27).with(P28)) && inputs.pkt_last.is_high() {
            self.count_message(bins);
        }
        self.count_eager(edge, bins);
        if rules.has(P22) {
            let kind = (inputs.pkt_kind.get() as usize).min(6);
            let flags = [self.before.copying, inputs.pkt_last.is_high()].map(usize::from);
            bins.hit(STRAYS.bin([kind, flags[0], flags[1]]));
        }
        if rules.has(P28.with(P30)) {
            let end = match (rules.has(P28), self.so_far) {
                (true, _) => 2,
                (false, CoverageState { dps: 1.., .. }) => 3,
                (false, CoverageState { waited, .. }) => usize::from(waited > 0),
            };
            bins.hit(FINISHED.bin([usize::from(self.so_far.outcome == POSTED), end]));
        }
        if rules.has(P11.with(P29)) {
            self.so_far.waited += 1;
        }
    }
}

impl harness::Coverage<Recv> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage/groups.rs"));

    fn new(parameters: &Parameters) -> Self {
        let before = Golden::new(parameters).look();
        let [low, high, keep] = [LOW, HIGH, KEEP].map(|index| parameters.get(index));
        Self { low, high, keep, before, so_far: CoverageState::default(), in_reset: false }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs, _: &Cycle) {
        self.before = golden.look();
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let Edge { inputs, outputs, rules, .. } = *edge;
        let state = self.before.state as usize;
        if inputs.rst.is_high() {
            if !self.in_reset {
                bins.hit(RESETS.bin([state]));
            }
            (self.in_reset, self.so_far) = (true, CoverageState::default());
            return;
        }
        self.in_reset = false;
        if inputs.pkt_valid.is_high() {
            bins.hit(OFFERS.bin([state, inputs.pkt_kind.get() as usize]));
            if self.before.ring_level == 0 {
                self.count_starved(inputs, bins);
            }
        }
        if self.before.ring_level == 0 || rules.has(PACKET_TAKEN) {
            self.count_ring(edge, bins);
            if !rules.has(G1) {
                self.count_refill(edge, bins);
            }
        }
        if rules.has(OF_HANDLES) {
            Self::count_fields(edge, bins);
        }
        if outputs.credit_valid.is_high() {
            self.count_credit(rules, bins);
        }
        if rules.has(OF_MESSAGES) {
            self.count_messages(edge, bins);
        }
    }
}

#[cfg(test)]
mod tests;
