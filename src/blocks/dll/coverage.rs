//! What a regression of `dll` is to have seen, beside its rules.
//!
//! Several rules fire at an edge, so most groups are crosses of a rule with what its device is like before the edge.

mod groups;

use super::Dll;
use super::golden::{Golden, Look};
use super::rtl::Inputs;
use super::rules::{A1, A2, A3, A4, A5, A6, A7, A8, A9, A12, A13, B1, Rules};
use cosim_core::harness::{self, Bins, Covergroup, Edge, Parameters, RuleSet};
use groups::{
    A_ACKED, A_BUFFER, A_EDGE, A_LIMIT, A_NUMBERS, A_REPLAYS, A_REWIND, A_ROLL_OVER, A_TIMER,
    ACKED, B_DLLP, B_NAK, B_NUMBERS, B_ROLL_OVER, B_TIMER, B_TLP, GROUPS, MOST_USED, NUMBER, OF_A,
    OF_ACK_TIMER, OF_B, OF_BUFFER, OF_TIMER,
};

/// Sets of rules and registers that were seen already, by their hash; a power of two.
const SEEN: usize = 256;

/// What is to be seen of registers that an edge changes.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// Before the edge.
    before: Look,
    /// Numbers of B have rolled over since the reset.
    rolled: bool,
    /// What was counted, so that nothing is counted twice in vain: most edges are like one before them.
    seen: Box<[u64; SEEN]>,
}

/// Where an edge is on the axes, but for the rules. A number is a number's place on its axis.
#[derive(Debug, Clone, Copy)]
struct At {
    buffer: usize,
    replay_timer: usize,
    replays: usize,
    /// Of numbers of A that roll over; 3 if none do.
    a_numbers: usize,
    ack_timer: usize,
    pending: usize,
    nak_out: usize,
    /// Of numbers of B that roll over; 2 if none do.
    b_numbers: usize,
    /// Of the DLLP and the TLP that arrive, if some do.
    acked: usize,
    number: usize,
}

impl At {
    /// As a number of at most 32 bits, another one for each place.
    #[inline]
    fn key(self) -> u64 {
        let Self { buffer, replay_timer, replays, a_numbers, .. } = self;
        let Self { ack_timer, pending, nak_out, b_numbers, acked, number, .. } = self;
        let of_a = buffer | replay_timer << 2 | replays << 4 | a_numbers << 6;
        let of_b = ack_timer | pending << 2 | nak_out << 5 | b_numbers << 6;
        (of_a | of_b << 8 | acked << 16 | number << 19) as u64
    }
}

/// How far `x` is ahead of `y`.
#[inline]
const fn dist(x: u16, y: u16) -> u16 {
    x.wrapping_sub(y) & 0xfff
}

/// The place of the number of a DLLP on its axis.
#[inline]
fn acked(look: &Look, n: u16) -> usize {
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

/// The place of the number of a TLP on its axis.
#[inline]
fn number(look: &Look, seq: u16) -> usize {
    match dist(seq, look.next_rcv_seq) {
        0 => 0,
        1 => 1,
        2..=2047 => 2,
        4095 => 3,
        _ => 4,
    }
}

/// The place of a timer on an axis that begins with 0.
#[inline]
const fn timer(timer: u32, limit: u32) -> usize {
    match timer {
        _ if timer + 1 == limit => 2,
        0 => 0,
        _ => 1,
    }
}

impl Coverage {
    #[inline]
    fn at(&self, inputs: &Inputs) -> At {
        let Look { built_as, ackd_seq, next_seq, next_rcv_seq, .. } = self.before;
        let held = dist(next_seq, ackd_seq) - 1;
        let a_numbers = match () {
            () if held > 0 && next_seq <= ackd_seq && next_seq < 2048 => 0,
            () => 3,
        };
        let pending = match (self.before.dllp_valid, self.before.dllp_nak) {
            (false, _) => 0,
            (true, nak) => 1 + usize::from(inputs.b_dllp_ready.get() == 0) + 2 * usize::from(nak),
        };
        At {
            buffer: match built_as.replay_depth.min(MOST_USED) - held {
                0 => 3,
                _ if held == 0 => 0,
                1 => 2,
                _ => 1,
            },
            replay_timer: timer(self.before.replay_timer, built_as.replay_limit),
            replays: usize::from(self.before.replay_num),
            a_numbers,
            ack_timer: match self.before.acknak_timer_on {
                false => 0,
                true => 1 + timer(self.before.acknak_timer, built_as.acknak_latency),
            },
            pending,
            nak_out: usize::from(self.before.nak_scheduled),
            b_numbers: match next_rcv_seq {
                3840.. => 0,
                0..256 if self.rolled => 1,
                _ => 2,
            },
            // What is beside a valid that is low is noise.
            acked: match inputs.a_dllp_valid.get() & inputs.a_dllp_crc_ok.get() {
                1 => acked(&self.before, inputs.a_dllp_seq.get() as u16),
                _ => ACKED.values.len(),
            },
            number: match inputs.b_link_valid.get() {
                1 => number(&self.before, inputs.b_link_seq.get() as u16),
                _ => NUMBER.values.len(),
            },
        }
    }

    /// Counts an edge that is like none before it.
    fn count(&self, fired: RuleSet, inputs: &Inputs, at: At, bins: &mut Bins<'_>) {
        let has = |rules: Rules| fired.has(rules.set());
        let of = |rules: &'static [Rules]| (0..rules.len()).filter(move |place| has(rules[*place]));
        of(&OF_BUFFER).for_each(|rule| bins.hit(A_BUFFER.bin([rule, at.buffer])));
        of(&OF_TIMER).for_each(|rule| bins.hit(A_TIMER.bin([rule, at.replay_timer])));
        of(&OF_ACK_TIMER).for_each(|rule| bins.hit(B_TIMER.bin([rule, at.ack_timer])));
        for a in of(&OF_A) {
            bins.hit(A_REPLAYS.bin([a, at.replays]));
            if at.a_numbers < A_NUMBERS.values.len() {
                bins.hit(A_ROLL_OVER.bin([a, at.a_numbers]));
            }
        }
        for b in of(&OF_B) {
            bins.hit(B_DLLP.bin([b, at.pending]));
            bins.hit(B_NAK.bin([b, at.nak_out]));
            if at.b_numbers < B_NUMBERS.values.len() {
                bins.hit(B_ROLL_OVER.bin([b, at.b_numbers]));
            }
        }
        let dllp = [A3, A4.or(A5), A6.or(A7).or(A8)].iter().position(|rules| has(*rules));
        let dllp = dllp.map_or(0, |place| place + 1);
        let offer = match (has(A2), has(A12)) {
            _ if has(A13) => 4,
            (false, false) => 0,
            (false, true) => 1,
            (true, false) => 2,
            (true, true) => 3,
        };
        bins.hit(A_EDGE.bin([dllp, offer, usize::from(has(A1))]));
        if at.replay_timer == 2 && has(A9.or(A3).or(A4).or(A5)) {
            bins.hit(A_LIMIT.bin([dllp]));
        }
        if let Some(rewind) = [A4, A5, A9].iter().position(|rule| has(*rule)) {
            let offer = if has(A13) { 2 } else { usize::from(has(A2)) };
            bins.hit(A_REWIND.bin([rewind, offer]));
        }
        if inputs.a_dllp_valid.get() == 1 && inputs.a_dllp_crc_ok.get() == 1 {
            bins.hit(A_ACKED.bin([inputs.a_dllp_nak.get() as usize, at.acked]));
        }
        if inputs.b_link_valid.get() == 1 {
            let bad = usize::from(inputs.b_link_crc_ok.get() == 0);
            bins.hit(B_TLP.bin([bad, at.number, at.nak_out]));
        }
    }
}

impl harness::Coverage<Dll> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;

    fn new(_: &Parameters) -> Self {
        Self { before: Look::default(), rolled: false, seen: Box::new([0; SEEN]) }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs) {
        self.before = golden.look();
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = *edge;
        if inputs.rst.get() == 1 {
            self.rolled = false;
            return;
        }
        let at = self.at(inputs);
        let key = u64::from(rules.bits() as u32) | at.key() << 32;
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SEEN;
        if self.seen[slot] != key {
            self.seen[slot] = key;
            self.count(rules, inputs, at, bins);
        }
        self.rolled |= self.before.next_rcv_seq == 4095 && rules.has(B1.set());
    }
}

#[cfg(test)]
mod tests;
