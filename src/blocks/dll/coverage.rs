//! The functional coverage of `dll` in addition to its rules.
//!
//! Several rules fire at an edge, so most groups cross a rule with the state of its device before
//! the edge.

mod groups;

use super::Dll;
use super::golden::{Cycle, DeviceA, DeviceB, Golden, ParameterValues, dist};
use super::rtl::Inputs;
use super::rules::lookup::{OF_A as ALL_OF_A, OF_B as ALL_OF_B};
use super::rules::{A1, A2, A3, A4, A5, A6, A7, A8, A9, A12, A13, ANSWERED, B1};
use cosim_core::harness::{
    self, Bins, Covergroup, Document, Edge, Parameters, RuleSet, corner_class,
};
use groups::{
    A_ACKED, A_BUFFER, A_EDGE, A_LIMIT, A_NUMBERS, A_REPLAYS, A_REWIND, A_ROLL_OVER, A_TIMER,
    ACKED, B_DLLP, B_NAK, B_NUMBERS, B_ROLL_OVER, B_TIMER, B_TLP, GROUPS, MOST_USED, NUMBER,
    NUMBERS, OF_A, OF_ACK_TIMER, OF_B, OF_BUFFER, OF_TIMER, PAYLOADS,
};

/// Size of a [`CountedEdges`] table; a power of two.
const SEEN: usize = 128;

/// The state of coverage collection.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// Positions of the devices before the edge.
    a: Position,
    b: Position,
    /// B was near the last number since the reset, so small numbers have rolled over.
    rolled: bool,
    seen_of_a: CountedEdges,
    seen_of_b: CountedEdges,
}

/// A lossy set of edges that were counted already. Most edges of a device repeat, so this saves
/// time. Each device has its own set, since there are far more combinations of both.
#[derive(Debug, Clone)]
struct CountedEdges(Box<[u128; SEEN]>);

impl CountedEdges {
    /// Whether an edge is new. Adds it to the set.
    #[inline]
    fn is_new(&mut self, fired: RuleSet, at: Position) -> bool {
        let (fired, at) = (fired.bits(), u64::from_le_bytes(at));
        let slot = (fired as u64 | at << 40 ^ at >> 24).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57;
        let edge = fired << 64 | u128::from(at);
        std::mem::replace(&mut self.0[slot as usize % SEEN], edge) != edge
    }
}

/// Positions of a device on all axes other than the rule. They fit into a word, to compare them at
/// once. A position behind the end of an axis hits no bin of it.
type Position = [u8; 8];

/// Positions in `list` of the rules that fired.
fn fired_in(list: &[RuleSet], fired: RuleSet) -> impl Iterator<Item = usize> {
    let places = list.iter().enumerate().filter(move |(_, rule)| fired.contains_any(**rule));
    places.map(|(place, _)| place)
}

/// The position of a DLLP's number on its axis.
#[inline]
fn acked(a: &DeviceA, n: u16) -> usize {
    let (progress, sent) = (dist(n, a.ackd_seq), dist(a.last_sent_seq, a.ackd_seq));
    match progress {
        0 => 0,
        _ if progress == sent => 3,
        1 if progress < sent => 1,
        _ if progress < sent => 2,
        _ if progress - sent < 2048 => 4,
        4095 => 5,
        _ => 6,
    }
}

/// The position of a TLP's number on its axis.
#[inline]
fn number(b: &DeviceB, seq: u16) -> usize {
    match dist(seq, b.next_rcv_seq) {
        0 => 0,
        1 => 1,
        2..=2047 => 2,
        4095 => 3,
        _ => 4,
    }
}

/// The position of a timer on an axis that begins with 0.
#[inline]
const fn timer(timer: u32, limit: u32) -> usize {
    match timer {
        _ if timer + 1 == limit => 2,
        0 => 0,
        _ => 1,
    }
}

#[inline]
fn at_a(a: &DeviceA, built_as: ParameterValues, inputs: &Inputs) -> Position {
    let held = dist(a.next_seq, a.ackd_seq) - 1;
    let buffer = match built_as.replay_depth.min(MOST_USED) - held {
        0 => 3,
        _ if held == 0 => 0,
        1 => 2,
        _ => 1,
    };
    let is_rolling = held > 0 && a.next_seq <= a.ackd_seq && a.next_seq < 2048;
    // Payload is meaningless while its valid is low.
    let (dllp, nak) = match inputs.a_dllp_valid.get() & inputs.a_dllp_crc_ok.get() {
        1 => (acked(a, inputs.a_dllp_seq.get() as u16), inputs.a_dllp_nak.get() as usize),
        _ => (ACKED.values.len(), 0),
    };
    let timer = timer(a.replay_timer, built_as.replay_limit);
    let places = [buffer, timer, a.replay_num.into(), usize::from(!is_rolling), dllp, nak, 0, 0];
    places.map(|place| place as u8)
}

#[inline]
fn at_b(b: &DeviceB, built_as: ParameterValues, rolled: bool, inputs: &Inputs) -> Position {
    let pending = match (b.dllp_valid, b.dllp_nak) {
        (false, _) => 0,
        (true, nak) => 1 + usize::from(inputs.b_dllp_ready.get() == 0) + 2 * usize::from(nak),
    };
    let ack_timer = match b.acknak_timer_on {
        false => 0,
        true => 1 + timer(b.acknak_timer, built_as.acknak_latency),
    };
    let numbers = match b.next_rcv_seq {
        3840.. => 0,
        0..256 if rolled => 1,
        _ => 2,
    };
    let (tlp, bad) = match inputs.b_link_valid.get() {
        1 => {
            let bad = usize::from(inputs.b_link_crc_ok.get() == 0);
            (number(b, inputs.b_link_seq.get() as u16), bad)
        }
        _ => (NUMBER.values.len(), 0),
    };
    let places = [ack_timer, pending, usize::from(b.nak_scheduled), numbers, tlp, bad, 0, 0];
    places.map(|place| place as u8)
}

/// Counts a new edge of A.
fn count_a(fired: RuleSet, at: Position, bins: &mut Bins<'_>) {
    let has = |rules: RuleSet| fired.contains_any(rules);
    let [buffer, timer, replays, numbers, acked, nak, ..] = at.map(usize::from);
    fired_in(&OF_BUFFER, fired).for_each(|rule| bins.record(A_BUFFER.bin([rule, buffer])));
    fired_in(&OF_TIMER, fired).for_each(|rule| bins.record(A_TIMER.bin([rule, timer])));
    for a in fired_in(&OF_A, fired) {
        bins.record(A_REPLAYS.bin([a, replays]));
        if numbers < A_NUMBERS.values.len() {
            bins.record(A_ROLL_OVER.bin([a, numbers]));
        }
    }
    let dllp = [A3, A4.with(A5), A6.with(A7).with(A8)].iter().position(|rules| has(*rules));
    let dllp = dllp.map_or(0, |place| place + 1);
    let offer = match (has(A2), has(A12)) {
        _ if has(A13) => 4,
        (false, false) => 0,
        (false, true) => 1,
        (true, false) => 2,
        (true, true) => 3,
    };
    bins.record(A_EDGE.bin([dllp, offer, usize::from(has(A1))]));
    if timer == 2 && has(A9.with(ANSWERED)) {
        bins.record(A_LIMIT.bin([dllp]));
    }
    if let Some(rewind) = [A4, A5, A9].iter().position(|rule| has(*rule)) {
        let offer = if has(A13) { 2 } else { usize::from(has(A2)) };
        bins.record(A_REWIND.bin([rewind, offer]));
    }
    if acked < ACKED.values.len() {
        bins.record(A_ACKED.bin([nak, acked]));
    }
}

/// Counts a new edge of B.
fn count_b(fired: RuleSet, at: Position, bins: &mut Bins<'_>) {
    let [timer, pending, nak_out, numbers, tlp, bad, ..] = at.map(usize::from);
    fired_in(&OF_ACK_TIMER, fired).for_each(|rule| bins.record(B_TIMER.bin([rule, timer])));
    for b in fired_in(&OF_B, fired) {
        bins.record(B_DLLP.bin([b, pending]));
        bins.record(B_NAK.bin([b, nak_out]));
        if numbers < B_NUMBERS.values.len() {
            bins.record(B_ROLL_OVER.bin([b, numbers]));
        }
    }
    if tlp < NUMBER.values.len() {
        bins.record(B_TLP.bin([bad, tlp, nak_out]));
    }
}

/// Counts payloads and sequence numbers of what moves at an edge.
#[inline]
fn count_numbers(fired: RuleSet, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
    let Edge { inputs, outputs, .. } = edge;
    let mut payload = |place: usize, data: u64| {
        bins.record(PAYLOADS.bin([place, corner_class(data, 0xffff_ffff)]));
    };
    let delivers = fired.contains_any(B1);
    if fired.contains_any(A1) {
        payload(0, inputs.a_tlp_data.get());
    }
    if fired.contains_any(A2) {
        payload(1, outputs.a_link_data.get());
    }
    if inputs.b_link_valid.is_high() {
        payload(if delivers { 2 } else { 3 }, inputs.b_link_data.get());
    }
    let mut number = |place: usize, seq: u64| {
        bins.record(NUMBERS.bin([place, corner_class(seq, 0xfff)]));
    };
    if fired.contains_any(A2) {
        number(0, outputs.a_link_seq.get());
    }
    if fired.contains_any(ANSWERED) {
        number(1, inputs.a_dllp_seq.get());
    }
    if delivers {
        number(2, inputs.b_link_seq.get());
    }
    if outputs.b_dllp_valid.is_high() && inputs.b_dllp_ready.is_high() {
        number(3, outputs.b_dllp_seq.get());
    }
}

impl harness::Coverage<Dll> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage/groups.rs"));

    fn new(_: &Parameters) -> Self {
        let seen = || CountedEdges(Box::new([0; SEEN]));
        Self { a: [0; 8], b: [0; 8], rolled: false, seen_of_a: seen(), seen_of_b: seen() }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, inputs: &Inputs, _: &Cycle) {
        let Golden { built_as, a, b, .. } = golden;
        self.rolled |= b.next_rcv_seq >= 3840;
        self.a = at_a(a, *built_as, inputs);
        self.b = at_b(b, *built_as, self.rolled, inputs);
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules: fired, .. } = *edge;
        if inputs.rst.is_high() {
            self.rolled = false;
            return;
        }
        count_numbers(fired, edge, bins);
        let (of_a, of_b) = (fired.and(ALL_OF_A), fired.and(ALL_OF_B));
        if self.seen_of_a.is_new(of_a, self.a) {
            count_a(of_a, self.a, bins);
        }
        if self.seen_of_b.is_new(of_b, self.b) {
            count_b(of_b, self.b, bins);
        }
    }
}

#[cfg(test)]
mod tests;
