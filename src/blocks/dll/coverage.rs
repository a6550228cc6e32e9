//! The functional coverage of `dll` in addition to its rules.
//!
//! Several rules fire at an edge, so most groups cross a rule with the state of its device before
//! the edge.

mod groups;

use super::Dll;
use super::golden::{Cycle, Golden, RegisterView};
use super::rtl::Inputs;
use super::rules::lookup::{OF_A as ALL_OF_A, OF_B as ALL_OF_B};
use super::rules::{A1, A2, A3, A4, A5, A6, A7, A8, A9, A12, A13, B1, B2, B3, B4, B6, F0};
use cosim_core::harness::{
    self, Bins, Covergroup, Document, Edge, Parameters, RuleSet, corner_class,
};
use groups::{
    A_ACKED, A_BUFFER, A_EDGE, A_LIMIT, A_LINK, A_NUMBERS, A_REPLAYS, A_REWIND, A_ROLL_OVER,
    A_TIMER, ACKED, B_DLLP, B_LINK, B_NAK, B_NUMBERS, B_ROLL_OVER, B_TIMER, B_TLP, GROUPS,
    MOST_USED, NUMBER, NUMBERS, OF_A, OF_ACK_TIMER, OF_B, OF_BUFFER, OF_DLLP, OF_TIMER, OF_TLP,
    PAYLOADS,
};

/// Size of a [`CountedEdges`] table; a power of two.
const SEEN: usize = 128;

/// The state of coverage collection.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// Positions of the devices before the edge.
    a: AxisPosition,
    b: AxisPosition,
    /// Positions of the last TLP and DLLP on the axes of what happened to the previous one.
    last_tlp: usize,
    last_dllp: usize,
    /// B expects the last number before the roll-over.
    wants_last: bool,
    /// Numbers of B have rolled over since the reset.
    rolled: bool,
    seen_of_a: CountedEdges,
    seen_of_b: CountedEdges,
}

/// A lossy set of edges that were counted already. Most edges of a device repeat, so this saves
/// time. Each device has its own set, since there are far more combinations of both.
#[derive(Debug, Clone)]
struct CountedEdges(Box<[u64; SEEN]>);

impl CountedEdges {
    fn nothing() -> Self {
        Self(Box::new([0; SEEN]))
    }

    /// Whether an edge is new. Adds it to the set.
    #[inline]
    fn is_new(&mut self, fired: RuleSet, at: AxisPosition) -> bool {
        let edge = fired.bits() as u64 | u64::from(at.0) << 32;
        let slot = (edge.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SEEN;
        std::mem::replace(&mut self.0[slot], edge) != edge
    }
}

/// Positions of a device on all axes other than the rule, packed to compare them at once.
#[derive(Debug, Clone, Copy)]
struct AxisPosition(u32);

/// A bit field of an [`AxisPosition`]: lowest bit and width.
type BitField = (u32, u32);

const BUFFER_AT: BitField = (0, 2);
const REPLAY_TIMER_AT: BitField = (2, 2);
const REPLAYS_AT: BitField = (4, 2);
/// Numbers of A that roll over; 3 if none does.
const A_NUMBERS_AT: BitField = (6, 2);
/// The DLLP that arrives, if it is undamaged.
const ACKED_AT: BitField = (8, 3);
/// 1 if that DLLP is a Nak.
const NAK_AT: BitField = (11, 1);

const ACK_TIMER_AT: BitField = (0, 2);
const PENDING_AT: BitField = (2, 3);
const NAK_OUT_AT: BitField = (5, 1);
/// Numbers of B that roll over; 2 if none does.
const B_NUMBERS_AT: BitField = (6, 2);
/// The TLP that arrives.
const NUMBER_AT: BitField = (8, 3);
/// 1 if that TLP is damaged.
const BAD_AT: BitField = (11, 1);

impl AxisPosition {
    #[inline]
    fn of<const COUNT: usize>(places: [(BitField, usize); COUNT]) -> Self {
        let mut at = 0;
        for ((lowest, _), place) in places {
            at |= (place as u32) << lowest;
        }
        Self(at)
    }

    #[inline]
    const fn get(self, (lowest, bits): BitField) -> usize {
        (self.0 >> lowest & ((1 << bits) - 1)) as usize
    }
}

/// The position in a list by rule index; the length of the list for rules that it does not contain.
const fn places<const COUNT: usize>(list: [RuleSet; COUNT]) -> [u8; 32] {
    let mut places = [COUNT as u8; 32];
    let mut place = 0;
    while place < COUNT {
        places[list[place].bits().trailing_zeros() as usize] = place as u8;
        place += 1;
    }
    places
}

/// Positions in `list` of the rules that fired.
macro_rules! fired_in {
    ($list:ident, $fired:expr) => {
        $fired.iter().filter_map(|rule| {
            const PLACES: [u8; 32] = places($list);
            let place = usize::from(PLACES[rule]);
            (place < $list.len()).then_some(place)
        })
    };
}

/// The distance from `y` to `x`, modulo 4096.
#[inline]
const fn dist(x: u16, y: u16) -> u16 {
    x.wrapping_sub(y) & 0xfff
}

/// The position of a DLLP's number on its axis.
#[inline]
fn acked(look: &RegisterView, n: u16) -> usize {
    let (progress, sent) = (dist(n, look.ackd_seq), dist(look.last_sent_seq, look.ackd_seq));
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
fn number(look: &RegisterView, seq: u16) -> usize {
    match dist(seq, look.next_rcv_seq) {
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

/// The position of A before an edge.
#[inline]
fn at_a(look: &RegisterView, inputs: &Inputs) -> AxisPosition {
    let RegisterView { built_as, ackd_seq, next_seq, .. } = *look;
    let held = dist(next_seq, ackd_seq) - 1;
    let buffer = match built_as.replay_depth.min(MOST_USED) - held {
        0 => 3,
        _ if held == 0 => 0,
        1 => 2,
        _ => 1,
    };
    let numbers = match () {
        () if held > 0 && next_seq <= ackd_seq && next_seq < 2048 => 0,
        () => 3,
    };
    // Payload is meaningless while its valid is low.
    let (dllp, nak) = match inputs.a_dllp_valid.get() & inputs.a_dllp_crc_ok.get() {
        1 => (acked(look, inputs.a_dllp_seq.get() as u16), inputs.a_dllp_nak.get() as usize),
        _ => (ACKED.values.len(), 0),
    };
    AxisPosition::of([
        (BUFFER_AT, buffer),
        (REPLAY_TIMER_AT, timer(look.replay_timer, built_as.replay_limit)),
        (REPLAYS_AT, usize::from(look.replay_num)),
        (A_NUMBERS_AT, numbers),
        (ACKED_AT, dllp),
        (NAK_AT, nak),
    ])
}

/// The position of B before an edge.
#[inline]
fn at_b(look: &RegisterView, rolled: bool, inputs: &Inputs) -> AxisPosition {
    let pending = match (look.dllp_valid, look.dllp_nak) {
        (false, _) => 0,
        (true, nak) => 1 + usize::from(inputs.b_dllp_ready.get() == 0) + 2 * usize::from(nak),
    };
    let ack_timer = match look.acknak_timer_on {
        false => 0,
        true => 1 + timer(look.acknak_timer, look.built_as.acknak_latency),
    };
    let numbers = match look.next_rcv_seq {
        3840.. => 0,
        0..256 if rolled => 1,
        _ => 2,
    };
    let (tlp, bad) = match inputs.b_link_valid.get() {
        1 => {
            let bad = usize::from(inputs.b_link_crc_ok.get() == 0);
            (number(look, inputs.b_link_seq.get() as u16), bad)
        }
        _ => (NUMBER.values.len(), 0),
    };
    AxisPosition::of([
        (ACK_TIMER_AT, ack_timer),
        (PENDING_AT, pending),
        (NAK_OUT_AT, usize::from(look.nak_scheduled)),
        (B_NUMBERS_AT, numbers),
        (NUMBER_AT, tlp),
        (BAD_AT, bad),
    ])
}

/// Counts a new edge of A.
fn count_a(fired: RuleSet, at: AxisPosition, bins: &mut Bins<'_>) {
    let has = |rules: RuleSet| fired.has(rules);
    let (buffer, timer) = (at.get(BUFFER_AT), at.get(REPLAY_TIMER_AT));
    let (replays, numbers) = (at.get(REPLAYS_AT), at.get(A_NUMBERS_AT));
    fired_in!(OF_BUFFER, fired).for_each(|rule| bins.hit(A_BUFFER.bin([rule, buffer])));
    fired_in!(OF_TIMER, fired).for_each(|rule| bins.hit(A_TIMER.bin([rule, timer])));
    for a in fired_in!(OF_A, fired) {
        bins.hit(A_REPLAYS.bin([a, replays]));
        if numbers < A_NUMBERS.values.len() {
            bins.hit(A_ROLL_OVER.bin([a, numbers]));
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
    bins.hit(A_EDGE.bin([dllp, offer, usize::from(has(A1))]));
    if timer == 2 && has(A9.with(A3).with(A4).with(A5)) {
        bins.hit(A_LIMIT.bin([dllp]));
    }
    if let Some(rewind) = [A4, A5, A9].iter().position(|rule| has(*rule)) {
        let offer = if has(A13) { 2 } else { usize::from(has(A2)) };
        bins.hit(A_REWIND.bin([rewind, offer]));
    }
    if at.get(ACKED_AT) < ACKED.values.len() {
        bins.hit(A_ACKED.bin([at.get(NAK_AT), at.get(ACKED_AT)]));
    }
}

/// Counts a new edge of B.
fn count_b(fired: RuleSet, at: AxisPosition, bins: &mut Bins<'_>) {
    let (timer, numbers) = (at.get(ACK_TIMER_AT), at.get(B_NUMBERS_AT));
    let (pending, nak_out) = (at.get(PENDING_AT), at.get(NAK_OUT_AT));
    fired_in!(OF_ACK_TIMER, fired).for_each(|rule| bins.hit(B_TIMER.bin([rule, timer])));
    for b in fired_in!(OF_B, fired) {
        bins.hit(B_DLLP.bin([b, pending]));
        bins.hit(B_NAK.bin([b, nak_out]));
        if numbers < B_NUMBERS.values.len() {
            bins.hit(B_ROLL_OVER.bin([b, numbers]));
        }
    }
    if at.get(NUMBER_AT) < NUMBER.values.len() {
        bins.hit(B_TLP.bin([at.get(BAD_AT), at.get(NUMBER_AT), nak_out]));
    }
}

/// Counts a TLP and what happened to the one before. Returns its position for the next one.
fn count_tlp(fired: RuleSet, last: usize, is_whole: bool, bins: &mut Bins<'_>) -> usize {
    let Some(rule) = OF_TLP.iter().position(|rule| fired.has(*rule)) else { return last };
    bins.hit(B_LINK.bin([last, rule]));
    match OF_TLP[rule] {
        B1 => 1,
        B2 | B3 | F0 => 2,
        B4 => 3,
        B6 if !is_whole => 3,
        _ => 4,
    }
}

/// As [`count_tlp`], for a DLLP.
fn count_dllp(fired: RuleSet, last: usize, bins: &mut Bins<'_>) -> usize {
    let Some(rule) = OF_DLLP.iter().position(|rule| fired.has(*rule)) else { return last };
    bins.hit(A_LINK.bin([last, rule]));
    match OF_DLLP[rule] {
        A3 => 1,
        A4 | A5 => 2,
        A8 => 4,
        _ => 3,
    }
}

/// Counts payloads and sequence numbers of what moves at an edge.
#[inline]
fn count_numbers(fired: RuleSet, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
    let Edge { inputs, outputs, .. } = edge;
    let mut payload = |place: usize, data: u64| {
        bins.hit(PAYLOADS.bin([place, corner_class(data, 0xffff_ffff)]));
    };
    let delivers = fired.has(B1);
    if fired.has(A1) {
        payload(0, inputs.a_tlp_data.get());
    }
    if fired.has(A2) {
        payload(1, outputs.a_link_data.get());
    }
    if inputs.b_link_valid.is_high() {
        payload(if delivers { 2 } else { 3 }, inputs.b_link_data.get());
    }
    let mut number = |place: usize, seq: u64| {
        bins.hit(NUMBERS.bin([place, corner_class(seq, 0xfff)]));
    };
    if fired.has(A2) {
        number(0, outputs.a_link_seq.get());
    }
    if fired.has(A3.with(A4).with(A5)) {
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
        let (a, b) = (AxisPosition(0), AxisPosition(0));
        let (seen_of_a, seen_of_b) = (CountedEdges::nothing(), CountedEdges::nothing());
        let (last_tlp, last_dllp) = (0, 0);
        Self { a, b, last_tlp, last_dllp, wants_last: false, rolled: false, seen_of_a, seen_of_b }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, inputs: &Inputs, _: &Cycle) {
        let look = golden.look();
        (self.a, self.b) = (at_a(&look, inputs), at_b(&look, self.rolled, inputs));
        self.wants_last = look.next_rcv_seq == 4095;
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = *edge;
        if inputs.rst.get() == 1 {
            (self.last_tlp, self.last_dllp, self.rolled) = (0, 0, false);
            return;
        }
        let fired = rules;
        if inputs.b_link_valid.is_high() {
            let is_whole = inputs.b_link_crc_ok.is_high();
            self.last_tlp = count_tlp(fired, self.last_tlp, is_whole, bins);
        }
        if inputs.a_dllp_valid.is_high() {
            self.last_dllp = count_dllp(fired, self.last_dllp, bins);
        }
        count_numbers(fired, edge, bins);
        let (of_a, of_b) = (fired.and(ALL_OF_A), fired.and(ALL_OF_B));
        if self.seen_of_a.is_new(of_a, self.a) {
            count_a(of_a, self.a, bins);
        }
        if self.seen_of_b.is_new(of_b, self.b) {
            count_b(of_b, self.b, bins);
        }
        self.rolled |= self.wants_last && fired.has(B1);
    }
}

#[cfg(test)]
mod tests;
