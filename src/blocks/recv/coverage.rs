//! The functional coverage of `recv` in addition to its rules.

use super::Recv;
use super::golden::{Cycle, Golden, Registers};
use super::rtl::Inputs;
use super::rules::parameters::{HIGH, KEEP, LOW};
use super::rules::{
    G1, G2, G3, K2, K3, O1, P4, P5, P6, P7, P9, P10, P12, P13, P20, P21, P22, P27, P28, State, U1,
    U2, U3,
};
use cosim_core::harness::{
    self, Axis, Bins, CORNERS, Covergroup, Document, Edge, Golden as _, Parameters, RuleSet, class,
    corner_class,
};
/// Without code 7, which no state has.
const STATE: Axis = Axis::new("state", State::VALUES.split_at(State::None as usize).0);

/// A handle, a number of bytes of a packet or of a message, by its place in its range.
const HANDLE: Axis = Axis::new("handle", CORNERS);
const BYTES: Axis = Axis::new("bytes", CORNERS);

cosim_core::coverage! {
    axis pub(crate) KIND = "packet" {
        "flow": "flow", "rndv_rts": "rndv_rts", "rndv_cts": "rndv_cts", "short": "short",
        "eager": "an eager CP", "rndv_data": "a CP with rendezvous data", "DP": "a data packet",
        "kind 7": "a code without meaning",
    }
    axis RING = "ring" {
        "empty": "it holds no buffer", "below LOW": "it holds fewer than LOW, and not HIGH",
        "LOW": "it holds LOW, and not HIGH", "above LOW": "it holds more than LOW, and not HIGH",
        "HIGH": "it holds HIGH",
    }
    axis REFILL = "refill" {
        "none": "G1: it holds enough", "to HIGH": "G2, G4: up to HIGH",
        "partly": "G2, G4: by all that are free, fewer than it lacks",
        "nothing free": "G3: the pool is empty", "too much": "O1: the pending credit would be too large",
    }
    axis POOL = "pool" {
        "empty": "no buffer is free, and KEEP is above 1", "low": "some are free, fewer than KEEP - 1",
        "KEEP - 1": "one fewer than KEEP", "KEEP": "KEEP buffers are free", "more": "more than KEEP",
    }
    axis CHOICE = "choice" {
        "copied": "U1: there is a temporary buffer", "no buffer": "U2: kept, for want of a temporary buffer",
        "kept": "U3: kept, the pool is not low",
    }
    axis WHOLE = "message" { "one packet": "the CP was all of it", "more": "DPs follow" }
    axis STRAY = "packet" {
        "flow": "flow", "rndv_rts": "rndv_rts", "rndv_cts": "rndv_cts", "short": "short",
        "eager": "an eager CP", "rndv_data": "a CP with rendezvous data",
        "kind 7": "a code without meaning",
    }
    axis DATA = "message" { "kept": "its packets are kept", "copied": "its packets are copied" }
    axis LAST = "pkt_last" { "0": "it does not say that it is the last", "1": "it says so" }
    axis AMOUNT = "credit" {
        "1": "one buffer", "2 to 15": "2 to 15", "16 to 127": "16 to 127", "128 or more": "128 or more",
    }
    axis NEXT = "edge" { "K3": "nothing is added", "K2": "new credits at the same edge" }
    axis USE = "use" {
        "released": "its packet is released and nothing else", "copied": "it is copied",
        "kept": "it is kept", "asked": "match_id of the last cycle of CHECK_POSTED",
    }
    axis COPY = "copy" {
        "rendezvous CP": "P9", "posted CP": "P12", "posted DP": "P27, P28",
        "unexpected CP": "U1", "unexpected DP": "P20",
    }
    axis GRANT = "temporary buffer" { "granted": "U1", "not granted": "U2" }
    axis FREE = "free buffers" {
        "none": "the pool is empty", "too few": "at least two fewer than the ring lacks",
        "one too few": "one fewer than the ring lacks, not 0", "enough": "as many as the ring lacks",
        "one more": "one more than the ring lacks", "more": "at least two more",
    }
    axis SUM = "credit" {
        "below 254": "credit_pending and m are below 254", "254": "they are 254",
        "255": "they are 255, the most that fits", "256": "O1: one too many",
        "above 256": "O1: more",
    }
    groups GROUPS;
    OFFERS = "offers": "packets on the pins: state, kind" [STATE, KIND];
    REFILLS = "ring": "packets taken, and cycles with an empty ring: ring before the edge, what it gets"
        [RING, REFILL]
        unless no_such_refill;
    CHOICES = "choice": "choices between copy and keep: free buffers, what is done, message"
        [POOL, CHOICE, WHOLE]
        unless no_such_choice;
    STRAYS = "strays": "packets that do not fit, in unexpected messages: kind, outcome of DPs, flag"
        [STRAY, DATA, LAST]
        unless |at, parameters| never_copied(at[1] == 1, parameters);
    CREDITS = "credits": "credits taken: how many, what is added at that edge" [AMOUNT, NEXT];
    RESETS = "resets": "resets: the state they find" [STATE];
    HANDLES = "handles": "handles of packets: what they are for, the handle" [USE, HANDLE];
    COPIES = "copies": "copy_len: what is copied, its bytes" [COPY, BYTES]
        unless |at, parameters| never_copied(at[0] >= UNEXPECTED_CP, parameters);
    TEMPORARY = "temporary-buffers": "temp_alloc_len: the answer, the bytes of the message" [GRANT, BYTES]
        unless |_, parameters| never_copied(true, parameters);
    FREES = "free-buffers": "packets that leave fewer than LOW in the ring: pool_free" [FREE]
        unless |at, parameters| matches!((at, parameters.get(HIGH)), ([1], ..3) | ([2], ..2))
            .then_some("the ring lacks at most HIGH buffers");
    SUMS = "credit-room": "refills of at least one buffer: credit_pending with it" [SUM];
}

/// The first position on the axis of copies of what is unexpected.
const UNEXPECTED_CP: usize = 3;
const EMPTY_RING: usize = 0;
const FULL_RING: usize = 4;
const NONE: usize = 0;
const TO_HIGH: usize = 1;
const PARTLY: usize = 2;
const TOO_MUCH: usize = 4;

/// Section 6: impossible refills.
fn no_such_refill(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    let [low, high] = [LOW, HIGH].map(|index| parameters.get(index));
    match *at {
        [1, _] if low.min(high) < 2 => Some("with LOW or HIGH = 1 no level is between 0 and LOW"),
        [2, _] if low >= high => Some("a ring of LOW holds HIGH: LOW is not below HIGH"),
        [3, _] if high < low + 2 => Some("no level is between LOW and HIGH"),
        [EMPTY_RING, NONE] => Some("G4: an empty ring lacks HIGH buffers"),
        [1 | 2, NONE] => Some("G2, G3: fewer than LOW are left"),
        [3, refill] if refill != NONE => Some("G1: LOW are left"),
        [FULL_RING, refill] if refill != NONE && low < high => {
            Some("G1: HIGH - 1 are left, not below LOW")
        }
        [FULL_RING, NONE] if low >= high => Some("G2, G3: HIGH - 1 are left, below LOW"),
        [FULL_RING, PARTLY] => Some("one buffer is lacking: it is free or not"),
        [FULL_RING, TOO_MUCH] if high == 255 => {
            Some("all of 255 buffers are in the ring: none is free")
        }
        [EMPTY_RING, PARTLY] if high == 1 => {
            Some("HIGH is 1: one buffer is lacking, it is free or not")
        }
        [ring, TO_HIGH] if ring != EMPTY_RING && high == 255 => Some(
            "there are 255 buffers, and the packet that is taken is in one: no more than 254 can be in the ring",
        ),
        _ => None,
    }
}

fn no_such_choice(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    let keep = parameters.get(KEEP);
    match *at {
        [0, ..] if keep < 2 => Some("KEEP is not above 1"),
        [1, ..] if keep < 3 => Some("no number is between 0 and KEEP - 1"),
        [2, ..] if keep == 0 => Some("KEEP is 0"),
        [0..=2, 2, _] => Some("U1, U2: the pool is low"),
        [3 | 4, 0 | 1, _] => Some("U3: the pool is not low"),
        [3, ..] if keep == 255 => Some("of 255 buffers the CP has one"),
        [4, ..] if keep >= 254 => Some("of 255 buffers the CP has one"),
        _ => None,
    }
}

/// A reason if the bin needs a copy and KEEP rules that out.
fn never_copied(needs_copy: bool, parameters: &Parameters) -> Option<&'static str> {
    (needs_copy && parameters.get(KEEP) == 0).then_some("U3: with KEEP = 0 the pool is never low")
}

const PACKET_TAKEN: RuleSet = G1.with(G2).with(G3);
/// Rules that name a handle.
const OF_HANDLES: RuleSet = {
    let alone = P4.with(P5).with(P6).with(P7).with(P10).with(P22);
    let copied = P9.with(P12).with(P20).with(P27).with(P28);
    alone.with(copied).with(P13).with(P21).with(U1).with(U2).with(U3)
};
/// Rules of what is copied, by position on their axis.
const OF_COPIES: [RuleSet; 5] = [P9, P12, P27.with(P28), U1, P20];

#[derive(Debug, Clone)]
pub struct Coverage {
    low: u64,
    high: u64,
    keep: u64,
    before: Registers,
    in_reset: bool,
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
            _ if edge.rules.contains_any(G1) => 0,
            _ if edge.rules.contains_any(O1) => 4,
            0 => 3,
            _ if edge.golden.registers.ring_level == self.high => 1,
            _ => 2,
        };
        bins.record(REFILLS.bin([self.ring(), refill]));
    }

    /// Counts the arithmetic of a refill: m against what the ring lacks and what the credit holds.
    #[inline]
    fn count_refill(&self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let taken = edge.rules.contains_any(PACKET_TAKEN);
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
            bins.record(FREES.bin([at]));
        }
        if free > 0 {
            let sum = self.before.credit_pending + free.min(lacks);
            bins.record(SUMS.bin([class(sum, [254, 255, 256, 257])]));
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
                bins.record(HANDLES.bin([place, corner_class(id.get(), 0xff)]));
            }
        }
        if let Some(copy) = OF_COPIES.iter().position(|rule| rules.contains_any(*rule)) {
            let len = corner_class(outputs.copy_len.get(), 0xffff);
            bins.record(COPIES.bin([copy, len]));
        }
        if rules.contains_any(U1.with(U2)) {
            let len = corner_class(outputs.temp_alloc_len.get(), 0xffff_ffff);
            bins.record(TEMPORARY.bin([usize::from(rules.contains_any(U2)), len]));
        }
    }
}

impl harness::Coverage<Recv> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage.rs"));

    fn new(parameters: &Parameters) -> Self {
        let before = Golden::new(parameters).registers;
        let [low, high, keep] = [LOW, HIGH, KEEP].map(|index| parameters.get(index));
        Self { low, high, keep, before, in_reset: false }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs, _: &Cycle) {
        self.before = golden.registers;
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Recv>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = *edge;
        let state = self.before.state as usize;
        let was_in_reset = std::mem::replace(&mut self.in_reset, inputs.rst.is_high());
        if self.in_reset {
            if !was_in_reset {
                bins.record(RESETS.bin([state]));
            }
            return;
        }
        if inputs.pkt_valid.is_high() {
            bins.record(OFFERS.bin([state, inputs.pkt_kind.get() as usize]));
        }
        if self.before.ring_level == 0 || rules.contains_any(PACKET_TAKEN) {
            self.count_ring(edge, bins);
            if !rules.contains_any(G1) {
                self.count_refill(edge, bins);
            }
        }
        if rules.contains_any(OF_HANDLES) {
            Self::count_fields(edge, bins);
        }
        if rules.contains_any(K2.with(K3)) {
            let amount = class(self.before.credit_pending, [2, 16, 128]);
            bins.record(CREDITS.bin([amount, usize::from(rules.contains_any(K2))]));
        }
        if rules.contains_any(P22) {
            let kind = (inputs.pkt_kind.get() as usize).min(6);
            let flags = [self.before.copying, inputs.pkt_last.is_high()].map(usize::from);
            bins.record(STRAYS.bin([kind, flags[0], flags[1]]));
        }
        if let Some(choice) = [U1, U2, U3].iter().position(|rule| rules.contains_any(*rule)) {
            let (pool, more) = (self.pool(inputs.pool_free.get()), !self.before.complete);
            bins.record(CHOICES.bin([pool, choice, usize::from(more)]));
        }
    }
}

#[cfg(test)]
mod tests;
