//! The manager and the subordinate of Wishbone.

use super::{
    WishboneAccess, WishboneOperation, WishbonePins, WishboneSubordinateTraffic,
    WishboneTermination, WishboneTraffic,
};
use crate::channel::{Errors, next_delay};
use crate::interface::{interface_of, subordinate};
use crate::lanes;
use crate::ports::DriveOptional;
use crate::target::{Memory, Target};
use cosim_harness::agent::{Agent, Counts, Progress};
use cosim_harness::channels::Sink;
use cosim_harness::harness::{Noise, Reset};
use cosim_harness::value::Uint;
use std::collections::VecDeque;
use std::slice::Iter;
use verilated::Pins;

/// Drives a subordinate DUT.
#[derive(Debug, Clone)]
pub struct WishboneManager<'a, M, S> {
    pins: WishbonePins<M, S>,
    /// The operations that are not requested, or not terminated in the classic mode.
    rest: &'a [WishboneOperation],
    /// Remaining cycles of the gap of the first one.
    gap: u64,
    cyc: bool,
    stb: bool,
    /// Requests of the pipelined mode without a termination.
    waiting: u64,
    counts: Counts,
}

impl<'a, M: Pins, S: Pins> WishboneManager<'a, M, S> {
    #[inline]
    fn pop(&mut self) {
        self.rest = self.rest.split_first().map_or(&[], |(_, rest)| rest);
        self.gap = self.rest.first().map_or(0, |next| next.gap.get());
        self.stb = false;
    }

    /// Decides the next cycle. Returns the reset that follows a new request.
    #[inline]
    fn advance(&mut self) -> Option<Reset> {
        if self.stb {
            return None;
        }
        let Some(next) = self.rest.first() else {
            self.cyc &= self.waiting > 0;
            return None;
        };
        let is_same_cycle = next.block && self.cyc;
        if self.cyc && !is_same_cycle {
            self.cyc = self.waiting > 0;
            return None;
        }
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        (self.cyc, self.stb) = (true, true);
        self.counts.operations += 1;
        next.reset
    }

    #[inline]
    fn edge(&mut self, in_reset: bool, _: &M, s: &S) -> Option<Reset> {
        if in_reset {
            if self.stb {
                self.pop();
            }
            (self.cyc, self.waiting) = (false, 0);
            return None;
        }
        let is_terminated = self.pins.terminations(s).contains(&true);
        if self.pins.is_pipelined() {
            if self.stb && self.pins.is_taken(s) {
                self.waiting += 1;
                self.counts.handshakes += 1;
                self.pop();
            }
            if self.waiting > 0 && is_terminated {
                self.waiting -= 1;
                self.counts.handshakes += 1;
            }
        } else if self.stb && is_terminated {
            self.counts.handshakes += 1;
            self.pop();
        }
        self.advance()
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rest.is_empty() && self.waiting == 0
    }
}

impl<'a, M: Pins, S: Pins> Agent<'a, M, S> for WishboneManager<'a, M, S> {
    type Pins = WishbonePins<M, S>;
    type Traffic = WishboneTraffic;

    interface_of!(manager M S);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        let rest = &traffic.operations;
        let gap = rest.first().map_or(0, |first| first.gap.get());
        let (cyc, stb) = (false, false);
        Self { pins, rest, gap, cyc, stb, waiting: 0, counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, m: &mut M) {
        let pins = &self.pins;
        let [a, b, c, d, e] = noise.words();
        let wide = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let (mut address, mut data) = (wide(a, b), wide(c, d));
        let (mut write, mut select) = (u64::from(e & 1), u64::from(e >> 8));
        let stb = self.stb && !in_reset;
        match self.rest.first().filter(|_| stb).map(|operation| &operation.access) {
            Some(WishboneAccess::Write { address: at, data: word, strobe: bytes }) => {
                (write, address, data, select) = (1, at.get(), word.get(), bytes.get());
            }
            Some(WishboneAccess::Read { address: at }) => {
                (write, address, select) = (0, at.get(), u64::MAX);
            }
            None => {}
        }
        pins.cyc.set(m, u64::from(self.cyc && !in_reset));
        pins.stb.set(m, u64::from(stb));
        pins.we.set(m, write);
        pins.adr.set(m, address);
        // The write data of a read that waits is noise that changes, which the protocol allows.
        pins.write_data.set(m, data);
        pins.sel.set(m, select);
    }

    fn in_flight(&self) -> Option<String> {
        if self.is_idle() {
            return None;
        }
        let request = match self.rest.first() {
            Some(operation) if self.stb => format!("requests `{}`, ", operation.access),
            _ => String::new(),
        };
        let (waiting, left) = (self.waiting, self.rest.len() - usize::from(self.stb));
        Some(format!("{request}{waiting} transfers wait for a termination, {left} to come"))
    }
}

/// A termination, and the cycle from which on it is given.
#[derive(Debug, Clone, Copy)]
struct Answer {
    due: u64,
    data: u64,
    termination: WishboneTermination,
}

/// Answers a manager DUT. A transfer takes effect when its request is taken.
#[derive(Debug, Clone)]
pub struct WishboneSubordinate<'a, I, O, T = Memory> {
    pins: WishbonePins<O, I>,
    target: T,
    ready: Sink<'a>,
    delays: Iter<'a, Uint<12>>,
    errors: Errors<'a>,
    time: u64,
    answers: VecDeque<Answer>,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins, T: Target> WishboneSubordinate<'a, I, O, T> {
    /// A subordinate that answers from `target`.
    pub fn with_target(
        pins: WishbonePins<O, I>,
        traffic: &'a WishboneSubordinateTraffic,
        target: T,
    ) -> Self {
        Self {
            pins,
            target,
            ready: traffic.ready.sink(),
            delays: traffic.delays.iter(),
            errors: Errors::new(&traffic.errors),
            time: 0,
            answers: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Drives its ports.
    #[inline]
    pub fn drive(&mut self, in_reset: bool, noise: &mut Noise, s: &mut I) {
        let pins = &self.pins;
        let [a, b] = noise.words();
        let answer = self.answers.front().filter(|answer| !in_reset && answer.due <= self.time);
        let is =
            |termination| u64::from(answer.is_some_and(|answer| answer.termination == termination));
        let [mut ack, error, retry] = WishboneTermination::ALL.map(is);
        // Without the port of a termination, the nearest one that exists ends the transfer.
        let retry_as_error = if pins.rty.is_none() { retry } else { 0 };
        match pins.err {
            Some(pin) => pin.set(s, error | retry_as_error),
            None => ack |= error | retry_as_error,
        }
        pins.rty.set(s, retry);
        pins.ack.set(s, ack);
        let idle = u64::from(a) << 32 | u64::from(b);
        pins.read_data.set(s, answer.map_or(idle, |answer| answer.data));
        pins.stall.set(s, u64::from(in_reset || !self.ready.is_ready()));
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, s: &I, m: &O) {
        let pins = &self.pins;
        self.time += 1;
        if in_reset || !pins.cyc.is_high(m) {
            self.answers.clear();
            self.ready.reset();
            return;
        }
        let is_terminated = pins.terminations(s).contains(&true);
        let stb = pins.stb.is_high(m);
        let is_taken = match pins.is_pipelined() {
            true if pins.stall.is_some() => self.ready.clock_with_ready(stb, pins.is_taken(s)),
            true => stb,
            false => stb && self.answers.is_empty(),
        };
        if is_terminated {
            self.answers.pop_front();
            self.counts.handshakes += 1;
        } else if !pins.is_pipelined() && !stb {
            self.answers.clear();
        }
        if is_taken {
            let bytes = pins.bytes();
            let address = pins.adr.get(m).wrapping_mul(u64::from(pins.address_step));
            let address = address & !u64::from(bytes - 1);
            let select = pins.sel.map_or(0xff, |pin| pin.get(m));
            let write = pins.we.is_high(m).then(|| (pins.write_data.get(m), select));
            let fails = self.errors.next();
            let (data, response) = lanes::access(&mut self.target, fails, address, bytes, write);
            let due = self.time + next_delay(&mut self.delays);
            self.answers.push_back(Answer { due, data, termination: response.into() });
            self.counts.operations += 1;
        }
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.answers.is_empty()
    }
}

subordinate! {
    WishboneSubordinate, WishbonePins, WishboneSubordinateTraffic,
    |own| format!("{} transfers wait for their termination", own.answers.len())
}
