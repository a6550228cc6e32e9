//! The golden model of `PcieAckNak`, written from the specification, sections 4 to 7.
//!
//! Two devices without a path between them. Every output is a register, so the model of each device
//! is what one edge does with its registers and the pins before the edge.

use super::Dll;
use super::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::rtl::{Bits1, Bits2, Bits12, Bits32, Inputs, Outputs};
use super::rules::{
    self, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, B1, B2, B3,
    B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, F0, fix,
};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

/// Half the sequence numbers: A never holds so many, B takes what is further ahead for a duplicate.
const HALF: u16 = 2048;

/// The model's registers.
#[derive(Debug, Clone)]
pub struct Golden {
    built_as: BuiltAs,
    a: DeviceA,
    /// Payloads by the low bits of their sequence numbers; as many as the buffer has entries.
    replay_mem: Box<[u32]>,
    b: DeviceB,
}

/// What the parameters say.
#[derive(Debug, Clone, Copy)]
struct BuiltAs {
    replay_depth: u16,
    replay_limit: u32,
    acknak_latency: u32,
    f0_on: bool,
}

/// Registers of device A, named as in the specification, section 4.
#[derive(Debug, Clone)]
struct DeviceA {
    ackd_seq: u16,
    send_seq: u16,
    next_seq: u16,
    last_sent_seq: u16,
    replay_timer: u32,
    replay_num: u8,
    tlp_ready: bool,
    link_valid: bool,
    link_seq: u16,
    link_data: u32,
    retrain: bool,
    dl_error: bool,
}

/// Registers of device B, named as in the specification, section 6.
#[derive(Debug, Clone)]
struct DeviceB {
    next_rcv_seq: u16,
    nak_scheduled: bool,
    acknak_timer_on: bool,
    acknak_timer: u32,
    deliver_valid: bool,
    deliver_data: u32,
    dllp_valid: bool,
    dllp_nak: bool,
    dllp_seq: u16,
}

/// How far `x` is ahead of `y`, 0 to 4095.
#[inline]
const fn dist(x: u16, y: u16) -> u16 {
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

/// The entry of the replay buffer of a sequence number. The depth is a power of two.
#[inline]
fn entry(replay_mem: &mut [u32], seq: u16) -> &mut u32 {
    let last = replay_mem.len() - 1;
    &mut replay_mem[usize::from(seq) & last]
}

#[inline]
fn high(pin: Bits1) -> bool {
    pin.get() == 1
}

#[inline]
fn seq(pins: Bits12) -> u16 {
    pins.get() as u16
}

/// The rules that fire.
macro_rules! fired {
    ($( ($rule:expr, $fires:expr) ),* $(,)?) => {
        RuleSet::EMPTY $( .with($rule.only_if($fires)) )*
    };
}

impl DeviceA {
    const RESET: Self = Self {
        ackd_seq: 4095,
        send_seq: 0,
        next_seq: 0,
        last_sent_seq: 4095,
        replay_timer: 0,
        replay_num: 0,
        tlp_ready: false,
        link_valid: false,
        link_seq: 0,
        link_data: 0,
        retrain: false,
        dl_error: false,
    };

    /// Some entry that was sent is to be sent again.
    #[inline]
    fn is_replaying(&self) -> bool {
        dist(self.send_seq, self.ackd_seq) <= dist(self.last_sent_seq, self.ackd_seq)
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, built_as: BuiltAs, replay_mem: &mut [u32]) -> RuleSet {
        let n = seq(inputs.a_dllp_seq);
        let arrives = high(inputs.a_dllp_valid);
        let good = arrives && high(inputs.a_dllp_crc_ok);
        let nak = high(inputs.a_dllp_nak);
        let progress = dist(n, self.ackd_seq);
        let in_range = progress <= dist(self.last_sent_seq, self.ackd_seq);
        let unacknowledged = self.last_sent_seq != self.ackd_seq;

        let a1 = high(inputs.a_tlp_valid) && self.tlp_ready;
        let a2 = self.link_valid && high(inputs.a_link_ready);
        let a3 = good && !nak && in_range && progress != 0;
        let a4 = good && nak && in_range && progress != 0;
        let a5 = good && nak && progress == 0;
        let a6 = good && !nak && progress == 0;
        let a7 = good && !in_range;
        let a8 = arrives && !good;
        let answered = a3 || a4 || a5;
        let a9 = unacknowledged && self.replay_timer == built_as.replay_limit - 1 && !answered;
        let rewind = a4 || a5 || a9;
        let a10 = rewind && self.replay_num == 3;
        let a13 = self.link_valid && !high(inputs.a_link_ready);
        let a14 = a3 && dist(self.send_seq, self.ackd_seq) <= progress;
        let a12 = !a13 && self.send_seq != self.next_seq && !rewind && !a14;
        let a15 = unacknowledged && !answered && !a9;
        let a16 = !unacknowledged;

        let next_seq = if a1 { after(self.next_seq) } else { self.next_seq };
        let ackd_seq = if a3 || a4 { n } else { self.ackd_seq };
        let held = dist(next_seq, ackd_seq);
        let a11 = held > built_as.replay_depth || held >= HALF;

        if a2 && self.link_seq == after(self.last_sent_seq) {
            self.last_sent_seq = self.link_seq;
        }
        // The entry is read before the new TLP is written; they are never the same one.
        if a12 {
            self.link_seq = self.send_seq;
            self.link_data = *entry(replay_mem, self.send_seq);
        }
        if a1 {
            *entry(replay_mem, self.next_seq) = inputs.a_tlp_data.get() as u32;
        }
        self.send_seq = match () {
            () if a4 || a5 || a14 => after(n),
            () if a9 => after(self.ackd_seq),
            () if a12 => after(self.send_seq),
            () => self.send_seq,
        };
        self.replay_timer = if answered || a9 || a16 { 0 } else { self.replay_timer + 1 };
        self.replay_num = match () {
            () if a3 => 0,
            () if rewind => (self.replay_num + 1) % 4,
            () => self.replay_num,
        };
        self.next_seq = next_seq;
        self.ackd_seq = ackd_seq;
        self.link_valid = a13 || a12;
        self.tlp_ready = !a11;
        self.dl_error = a7;
        self.retrain = a10;
        fired!(
            (A1, a1),
            (A2, a2),
            (A3, a3),
            (A4, a4),
            (A5, a5),
            (A6, a6),
            (A7, a7),
            (A8, a8),
            (A9, a9),
            (A10, a10),
            (A11, a11),
            (A12, a12),
            (A13, a13),
            (A14, a14),
            (A15, a15),
            (A16, a16),
        )
    }
}

impl DeviceB {
    const RESET: Self = Self {
        next_rcv_seq: 0,
        nak_scheduled: false,
        acknak_timer_on: false,
        acknak_timer: 0,
        deliver_valid: false,
        deliver_data: 0,
        dllp_valid: false,
        dllp_nak: false,
        dllp_seq: 0,
    };

    #[inline]
    fn clock(&mut self, inputs: &Inputs, built_as: BuiltAs) -> RuleSet {
        let arrives = high(inputs.b_link_valid);
        let good = arrives && high(inputs.b_link_crc_ok);
        let ahead_by = dist(seq(inputs.b_link_seq), self.next_rcv_seq);
        let bad = arrives && !good;
        let wanted = good && ahead_by == 0;
        let ahead = good && ahead_by != 0 && ahead_by < HALF;
        let duplicate = good && ahead_by >= HALF;
        let silent = self.nak_scheduled;

        let b1 = wanted;
        let b2 = duplicate && silent && !built_as.f0_on;
        let f0 = duplicate && silent && built_as.f0_on;
        let b3 = duplicate && !silent;
        let b4 = bad && !silent;
        let b5 = ahead && !silent;
        let b6 = (bad || ahead) && silent;
        let nak_due = b4 || b5;
        let b7 =
            self.acknak_timer_on && self.acknak_timer == built_as.acknak_latency - 1 && !nak_due;
        let b13 = self.acknak_timer_on && !nak_due && !b7;
        let due = nak_due || b7;
        let waits = self.dllp_valid && !high(inputs.b_dllp_ready);
        let b8 = b7 && waits && !self.dllp_nak;
        let b9 = nak_due && waits && !self.dllp_nak;
        let b10 = due && waits && self.dllp_nak;
        let b11 = self.dllp_valid && !waits;
        let b12 = due && !waits;

        if b1 {
            self.next_rcv_seq = after(self.next_rcv_seq);
            self.deliver_data = inputs.b_link_data.get() as u32;
        }
        // N counts the TLP delivered at this edge, too.
        let newest = before(self.next_rcv_seq);
        self.deliver_valid = b1;
        self.nak_scheduled = !b1 && (nak_due || silent);
        if due {
            self.acknak_timer_on = false;
            self.acknak_timer = 0;
        } else {
            self.acknak_timer_on |= b1 || b3 || f0;
            self.acknak_timer += u32::from(b13);
        }
        self.dllp_valid = b12 || (self.dllp_valid && !b11);
        if b9 || b12 {
            self.dllp_nak = nak_due;
        }
        if b8 || b9 || b12 {
            self.dllp_seq = newest;
        }
        fired!(
            (B1, b1),
            (B2, b2),
            (B3, b3),
            (B4, b4),
            (B5, b5),
            (B6, b6),
            (B7, b7),
            (B8, b8),
            (B9, b9),
            (B10, b10),
            (B11, b11),
            (B12, b12),
            (B13, b13),
            (F0, f0),
        )
    }
}

impl harness::Golden<Dll> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rules::unreachable(rule, parameters.fixes())
    }

    fn new(parameters: &Parameters) -> Self {
        let built_as = BuiltAs {
            replay_depth: parameters.get(REPLAY_DEPTH) as u16,
            replay_limit: parameters.get(REPLAY_LIMIT) as u32,
            acknak_latency: parameters.get(ACKNAK_LATENCY) as u32,
            f0_on: parameters.fixes() & fix(0) != 0,
        };
        let replay_mem = vec![0; usize::from(built_as.replay_depth)].into_boxed_slice();
        Self { built_as, a: DeviceA::RESET, replay_mem, b: DeviceB::RESET }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, outputs: &mut Outputs) {
        // A17, B14: the reset is asynchronous.
        let (a, b) = match high(inputs.rst) {
            true => (&DeviceA::RESET, &DeviceB::RESET),
            false => (&self.a, &self.b),
        };
        let bit = |high: bool| Bits1::new(u64::from(high));
        // No `..`: a port that the RTL gains or loses does not compile here.
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
            padding: Default::default(),
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) -> RuleSet {
        if high(inputs.rst) {
            // The buffer has no reset: an entry is written before it is read.
            (self.a, self.b) = (DeviceA::RESET, DeviceB::RESET);
            return A17.with(B14);
        }
        let a = self.a.clock(inputs, self.built_as, &mut self.replay_mem);
        a.with(self.b.clock(inputs, self.built_as))
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
