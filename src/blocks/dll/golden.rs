//! The golden model of `PcieAckNak`, written from the specification, sections 4 to 7.
//!
//! Two devices without a combinational path between them. All outputs are registers, so the model
//! of each device only needs the update of its registers at an edge.

use super::rtl::{Bits1, Bits2, Bits12, Bits32, Inputs, Outputs};
use super::rules::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::rules::{
    self, A1, A2, A3, A4, A5, A7, A9, A10, A11, A12, A13, A14, A15, A16, ANSWERED, B1, B3, B8, B9,
    B11, B12, B13, DUE, F0, Facts, NAK_DUE, REWIND, fix, lookup::Lookup,
};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

/// Half the sequence numbers. A never holds that many TLPs; B takes TLPs further ahead for
/// duplicates.
const HALF: u16 = 2048;

/// The model's registers.
#[derive(Debug, Clone)]
pub struct Golden {
    pub(super) built_as: ParameterValues,
    /// The rules that fire, by facts.
    lookup: &'static Lookup,
    pub(super) a: DeviceA,
    /// Payloads by the low bits of their sequence numbers; one per entry of the replay buffer.
    replay_mem: Box<[u32]>,
    pub(super) b: DeviceB,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ParameterValues {
    pub(super) replay_depth: u16,
    pub(super) replay_limit: u32,
    pub(super) acknak_latency: u32,
    f0_on: bool,
}

/// Registers of device A, named as in the specification, section 4.
#[derive(Debug, Clone, Default)]
pub(super) struct DeviceA {
    pub(super) ackd_seq: u16,
    send_seq: u16,
    pub(super) next_seq: u16,
    pub(super) last_sent_seq: u16,
    pub(super) replay_timer: u32,
    pub(super) replay_num: u8,
    tlp_ready: bool,
    link_valid: bool,
    link_seq: u16,
    link_data: u32,
    retrain: bool,
    dl_error: bool,
}

/// Registers of device B, named as in the specification, section 6.
#[derive(Debug, Clone, Default)]
pub(super) struct DeviceB {
    pub(super) next_rcv_seq: u16,
    pub(super) nak_scheduled: bool,
    pub(super) acknak_timer_on: bool,
    pub(super) acknak_timer: u32,
    deliver_valid: bool,
    deliver_data: u32,
    pub(super) dllp_valid: bool,
    pub(super) dllp_nak: bool,
    dllp_seq: u16,
}

/// An evaluated cycle: the rules that fire, without those of reset.
pub type Cycle = RuleSet;

/// The distance from `y` to `x`, 0 to 4095.
#[inline]
pub(super) const fn dist(x: u16, y: u16) -> u16 {
    x.wrapping_sub(y) & 0xfff
}

/// The sequence number after `x`.
#[inline]
const fn after(x: u16) -> u16 {
    (x + 1) & 0xfff
}

/// The sequence number before `x`.
#[inline]
const fn before(x: u16) -> u16 {
    x.wrapping_sub(1) & 0xfff
}

/// The replay buffer entry for a sequence number. The depth is a power of two.
#[inline]
fn entry(replay_mem: &mut [u32], seq: u16) -> &mut u32 {
    let last = replay_mem.len() - 1;
    &mut replay_mem[usize::from(seq) & last]
}

#[inline]
fn seq(pins: Bits12) -> u16 {
    pins.get() as u16
}

/// `fact` if it holds, else no facts.
#[inline]
const fn fact(holds: bool, fact: Facts) -> Facts {
    fact * holds as Facts
}

/// `fact` if a pin is 1, else no facts.
#[inline]
fn pin(pin: Bits1, fact: Facts) -> Facts {
    fact * pin.get() as Facts
}

impl DeviceA {
    fn after_reset() -> Self {
        Self { ackd_seq: 4095, last_sent_seq: 4095, ..Self::default() }
    }

    /// Whether TLPs that were sent wait to be sent again.
    #[inline]
    fn is_replaying(&self) -> bool {
        dist(self.send_seq, self.ackd_seq) <= dist(self.last_sent_seq, self.ackd_seq)
    }

    /// The facts of A, except for whether the buffer is full.
    #[inline]
    fn facts(&self, inputs: &Inputs, built_as: ParameterValues) -> Facts {
        let progress = dist(seq(inputs.a_dllp_seq), self.ackd_seq);
        pin(inputs.a_tlp_valid, rules::TLP_VALID)
            | fact(self.tlp_ready, rules::TLP_READY)
            | fact(self.link_valid, rules::OFFER)
            | pin(inputs.a_link_ready, rules::LINK_READY)
            | pin(inputs.a_dllp_valid, rules::DLLP)
            | pin(inputs.a_dllp_crc_ok, rules::DLLP_CRC_OK)
            | pin(inputs.a_dllp_nak, rules::DLLP_NAK)
            | fact(progress <= dist(self.last_sent_seq, self.ackd_seq), rules::IN_RANGE)
            | fact(progress != 0, rules::PROGRESS)
            | fact(self.last_sent_seq != self.ackd_seq, rules::UNACKNOWLEDGED)
            | fact(self.replay_timer == built_as.replay_limit - 1, rules::REPLAY_DUE)
            | fact(self.replay_num == 3, rules::LAST_REPLAY)
            | fact(self.send_seq != self.next_seq, rules::TO_SEND)
            | fact(dist(self.send_seq, self.ackd_seq) <= progress, rules::OVERTAKEN)
    }

    /// `next_seq'` and `ackd_seq'`.
    #[inline]
    fn ends(&self, inputs: &Inputs, fired: RuleSet) -> (u16, u16) {
        let next_seq = if fired.contains_any(A1) { after(self.next_seq) } else { self.next_seq };
        let n = seq(inputs.a_dllp_seq);
        (next_seq, if fired.contains_any(A3.with(A4)) { n } else { self.ackd_seq })
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, fired: RuleSet, replay_mem: &mut [u32]) {
        let n = seq(inputs.a_dllp_seq);
        let (next_seq, ackd_seq) = self.ends(inputs, fired);
        if fired.contains_any(A2) && self.link_seq == after(self.last_sent_seq) {
            self.last_sent_seq = self.link_seq;
        }
        // A new TLP never uses the entry that is read here, so the order does not matter.
        if fired.contains_any(A12) {
            self.link_seq = self.send_seq;
            self.link_data = *entry(replay_mem, self.send_seq);
        }
        if fired.contains_any(A1) {
            *entry(replay_mem, self.next_seq) = inputs.a_tlp_data.get() as u32;
        }
        if fired.contains_any(A4.with(A5).with(A14)) {
            self.send_seq = after(n);
        } else if fired.contains_any(A9) {
            self.send_seq = after(self.ackd_seq);
        } else if fired.contains_any(A12) {
            self.send_seq = after(self.send_seq);
        }
        if fired.contains_any(ANSWERED.with(A9).with(A16)) {
            self.replay_timer = 0;
        } else if fired.contains_any(A15) {
            self.replay_timer += 1;
        }
        if fired.contains_any(A3) {
            self.replay_num = 0;
        } else if fired.contains_any(REWIND) {
            self.replay_num = (self.replay_num + 1) % 4;
        }
        self.next_seq = next_seq;
        self.ackd_seq = ackd_seq;
        self.link_valid = fired.contains_any(A12.with(A13));
        self.tlp_ready = !fired.contains_any(A11);
        self.dl_error = fired.contains_any(A7);
        self.retrain = fired.contains_any(A10);
    }
}

impl DeviceB {
    #[inline]
    fn facts(&self, inputs: &Inputs, built_as: ParameterValues) -> Facts {
        let ahead_by = dist(seq(inputs.b_link_seq), self.next_rcv_seq);
        let (arrives, crc_ok) = (inputs.b_link_valid.is_high(), inputs.b_link_crc_ok.is_high());
        let ahead = (ahead_by != 0) & (ahead_by < HALF);
        let waits = self.dllp_valid & !inputs.b_dllp_ready.is_high();
        fact(arrives, rules::TLP)
            | fact(crc_ok, rules::TLP_CRC_OK)
            | fact(ahead_by == 0, rules::NEXT)
            | fact(ahead, rules::AHEAD)
            | fact(arrives & (!crc_ok | ahead), rules::UNUSABLE)
            | fact(self.nak_scheduled, rules::NAK_OUT)
            | fact(self.acknak_timer_on, rules::TIMER_ON)
            | fact(self.acknak_timer == built_as.acknak_latency - 1, rules::ACK_DUE)
            | fact(self.dllp_valid, rules::ANSWER)
            | fact(waits, rules::ANSWER_WAITS)
            | fact(self.dllp_nak, rules::ANSWER_NAK)
            | fact(built_as.f0_on, rules::F0_ON)
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, fired: RuleSet) {
        if fired.contains_any(B1) {
            self.next_rcv_seq = after(self.next_rcv_seq);
            self.deliver_data = inputs.b_link_data.get() as u32;
        }
        // N includes the TLP that is delivered at this edge.
        let newest = before(self.next_rcv_seq);
        self.deliver_valid = fired.contains_any(B1);
        self.nak_scheduled =
            !fired.contains_any(B1) && (fired.contains_any(NAK_DUE) || self.nak_scheduled);
        if fired.contains_any(DUE) {
            self.acknak_timer_on = false;
            self.acknak_timer = 0;
        } else {
            self.acknak_timer_on |= fired.contains_any(B1.with(B3).with(F0));
            self.acknak_timer += u32::from(fired.contains_any(B13));
        }
        self.dllp_valid = fired.contains_any(B12) || (self.dllp_valid && !fired.contains_any(B11));
        if fired.contains_any(B9.with(B12)) {
            self.dllp_nak = fired.contains_any(NAK_DUE);
        }
        if fired.contains_any(B8.with(B9).with(B12)) {
            self.dllp_seq = newest;
        }
    }
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rules::unreachable(rule, parameters.fixes())
    }

    fn new(parameters: &Parameters) -> Self {
        let built_as = ParameterValues {
            replay_depth: parameters.get(REPLAY_DEPTH) as u16,
            replay_limit: parameters.get(REPLAY_LIMIT) as u32,
            acknak_latency: parameters.get(ACKNAK_LATENCY) as u32,
            f0_on: parameters.fixes() & fix(0) != 0,
        };
        let replay_mem = vec![0; usize::from(built_as.replay_depth)].into_boxed_slice();
        let (a, b) = (DeviceA::after_reset(), DeviceB::default());
        Self { built_as, lookup: Lookup::get(), a, replay_mem, b }
    }

    type Cycle = Cycle;

    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let of_b = self.lookup.of_b(self.b.facts(inputs, self.built_as));
        let facts = self.a.facts(inputs, self.built_as);
        // The rules that determine the buffer's level do not depend on whether it is full.
        let (next_seq, ackd_seq) = self.a.ends(inputs, self.lookup.of_a(facts));
        let held = dist(next_seq, ackd_seq);
        let full = held > self.built_as.replay_depth || held >= HALF;
        self.lookup.of_a(facts | fact(full, rules::FULL)).with(of_b)
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, _: &Cycle, outputs: &mut Outputs) {
        // A17, B14: the reset is asynchronous.
        if inputs.rst.is_high() {
            *outputs = Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() };
            return;
        }
        let (a, b) = (&self.a, &self.b);
        let bit = Bits1::from;
        // Exhaustive, so that a changed port list of the RTL does not compile.
        *outputs = Outputs {
            a_tlp_ready: bit(a.tlp_ready),
            a_link_valid: bit(a.link_valid),
            a_link_seq: Bits12::new(u64::from(a.link_seq)),
            a_link_data: Bits32::new(u64::from(a.link_data)),
            a_ackd_seq: Bits12::new(u64::from(a.ackd_seq)),
            a_next_seq: Bits12::new(u64::from(a.next_seq)),
            a_replay_num: Bits2::new(u64::from(a.replay_num)),
            a_retrain: bit(a.retrain),
            a_dl_error: bit(a.dl_error),
            b_deliver_valid: bit(b.deliver_valid),
            b_deliver_data: Bits32::new(u64::from(b.deliver_data)),
            b_dllp_valid: bit(b.dllp_valid),
            b_dllp_nak: bit(b.dllp_nak),
            b_dllp_seq: Bits12::new(u64::from(b.dllp_seq)),
            b_next_rcv_seq: Bits12::new(u64::from(b.next_rcv_seq)),
            b_nak_scheduled: bit(b.nak_scheduled),
            padding: [0; _],
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, &fired: &Cycle) -> RuleSet {
        if inputs.rst.is_high() {
            // The buffer has no reset: entries are written before they are read.
            (self.a, self.b) = (DeviceA::after_reset(), DeviceB::default());
            return rules::fires(rules::RESET);
        }
        self.a.clock(inputs, fired, &mut self.replay_mem);
        self.b.clock(inputs, fired);
        fired
    }

    #[inline]
    fn state(&self) -> &'static str {
        match (self.a.is_replaying(), self.b.nak_scheduled) {
            (false, false) => "normal",
            (false, true) => "nak-scheduled",
            (true, false) => "replaying",
            (true, true) => "replaying+nak",
        }
    }
}

#[cfg(test)]
mod tests;
