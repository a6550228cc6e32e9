//! The manager and the subordinate of APB.

use super::{ApbAccess, ApbOperation, ApbPins, ApbSubordinateTraffic, ApbTraffic};
use crate::channel::{Errors, next_delay};
use crate::interface::{interface_of, subordinate};
use crate::lanes;
use crate::ports::DriveOptional;
use crate::target::{Memory, Response, Target};
use cosim_harness::agent::{Agent, Counts, Progress};
use cosim_harness::harness::{Noise, Reset};
use cosim_harness::value::Uint;
use std::slice::Iter;
use verilated::Pins;

/// The phase of a transfer (IHI 0024, "Operating states").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No transfer, for the remaining cycles of the gap.
    Idle { gap: u64 },
    /// The first cycle of a transfer.
    Setup,
    /// The cycles until the subordinate is ready.
    Access,
}

/// Drives a subordinate DUT.
#[derive(Debug, Clone)]
pub struct ApbManager<'a, M, S> {
    pins: ApbPins<M, S>,
    /// The operations that are not complete.
    rest: &'a [ApbOperation],
    phase: Phase,
    counts: Counts,
}

impl<'a, M: Pins, S: Pins> ApbManager<'a, M, S> {
    /// The phase of the cycle after a transfer, or after the edge out of reset.
    #[inline]
    fn next_phase(rest: &[ApbOperation]) -> Phase {
        match rest.first().map(|first| first.gap.get()) {
            Some(0) => Phase::Setup,
            Some(gap) => Phase::Idle { gap },
            None => Phase::Idle { gap: 0 },
        }
    }

    #[inline]
    fn pop(&mut self) {
        self.rest = self.rest.split_first().map_or(&[], |(_, rest)| rest);
    }

    #[inline]
    fn edge(&mut self, in_reset: bool, _: &M, s: &S) -> Option<Reset> {
        if in_reset {
            if matches!(self.phase, Phase::Setup | Phase::Access) {
                self.pop();
            }
            let gap = self.rest.first().map_or(0, |first| first.gap.get()) + 1;
            self.phase = Phase::Idle { gap };
            return None;
        }
        match self.phase {
            Phase::Idle { gap: 0 | 1 } if !self.rest.is_empty() => self.phase = Phase::Setup,
            Phase::Idle { gap } => self.phase = Phase::Idle { gap: gap.saturating_sub(1) },
            Phase::Setup => {
                self.phase = Phase::Access;
                self.counts.operations += 1;
                return self.rest.first().and_then(|operation| operation.reset);
            }
            Phase::Access if self.pins.is_ready(s) => {
                self.counts.handshakes += 1;
                self.pop();
                self.phase = Self::next_phase(self.rest);
            }
            Phase::Access => {}
        }
        None
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a, M: Pins, S: Pins> Agent<'a, M, S> for ApbManager<'a, M, S> {
    type Pins = ApbPins<M, S>;
    type Traffic = ApbTraffic;

    interface_of!(manager M S);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        let rest = &traffic.operations;
        // At least one idle cycle follows a reset.
        let gap = rest.first().map_or(0, |first| first.gap.get()) + 1;
        Self { pins, rest, phase: Phase::Idle { gap }, counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, noise: &mut Noise, m: &mut M) {
        let pins = &self.pins;
        let [a, b, c, d, e] = noise.words();
        let wide = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let (mut address, mut data) = (wide(a, b), wide(c, d));
        let (mut write, mut prot, mut strobe) =
            (u64::from(e & 1), u64::from(e >> 1), u64::from(e >> 8));
        let operation = match self.phase {
            Phase::Setup | Phase::Access if !in_reset => self.rest.first(),
            _ => None,
        };
        if let Some(operation) = operation {
            prot = operation.prot.get();
            match &operation.access {
                ApbAccess::Write { address: at, data: word, strobe: bytes } => {
                    (write, address, data, strobe) = (1, at.get(), word.get(), bytes.get());
                }
                // Strobes are low in a read (IHI 0024, "Write strobes").
                ApbAccess::Read { address: at } => {
                    (write, address, data, strobe) = (0, at.get(), 0, 0);
                }
            }
        }
        pins.psel.set(m, u64::from(operation.is_some()));
        let is_access = operation.is_some() && self.phase == Phase::Access;
        pins.penable.set(m, u64::from(is_access));
        pins.pwrite.set(m, write);
        pins.paddr.set(m, address);
        pins.pwdata.set(m, data);
        pins.pstrb.set(m, strobe);
        pins.pprot.set(m, prot);
    }

    fn in_flight(&self) -> Option<String> {
        let (first, rest) = self.rest.split_first()?;
        let phase = match self.phase {
            Phase::Idle { gap } => format!("idle for {gap} more cycles before"),
            Phase::Setup => "setup phase of".to_owned(),
            Phase::Access => "access phase of".to_owned(),
        };
        Some(format!("{phase} `{}`, {} operations to come", first.access, rest.len()))
    }
}

/// Answers a manager DUT. A transfer takes effect in the setup phase.
#[derive(Debug, Clone)]
pub struct ApbSubordinate<'a, I, O, T = Memory> {
    pins: ApbPins<O, I>,
    target: T,
    stalls: Iter<'a, Uint<12>>,
    errors: Errors<'a>,
    /// The transfer in its access phase: remaining wait states, read data and response.
    transfer: Option<(u64, u64, Response)>,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins, T: Target> ApbSubordinate<'a, I, O, T> {
    /// A subordinate that answers from `target`.
    pub fn with_target(pins: ApbPins<O, I>, traffic: &'a ApbSubordinateTraffic, target: T) -> Self {
        let (stalls, errors) = (traffic.stalls.iter(), Errors::new(&traffic.errors));
        Self { pins, target, stalls, errors, transfer: None, counts: Counts::default() }
    }

    /// Drives its ports. Outside of the last cycle of a transfer, data and error are noise, as is
    /// ready outside of an access phase.
    #[inline]
    pub fn drive(&mut self, _in_reset: bool, noise: &mut Noise, s: &mut I) {
        let pins = &self.pins;
        let [a, b, c] = noise.words();
        let (mut data, mut error) = (u64::from(a) << 32 | u64::from(b), u64::from(c & 1));
        let mut ready = u64::from(c >> 1 & 1);
        if let Some((stall, word, response)) = self.transfer {
            ready = u64::from(stall == 0);
            if stall == 0 {
                (data, error) = (word, u64::from(response != Response::Okay));
            }
        }
        pins.pready.set(s, ready);
        pins.prdata.set(s, data);
        pins.pslverr.set(s, error);
    }

    /// Takes the rising edge.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, _: &I, m: &O) {
        let pins = &self.pins;
        if in_reset || !pins.psel.is_high(m) {
            self.transfer = None;
            return;
        }
        match &mut self.transfer {
            None => {
                let address = pins.first_byte(pins.paddr.get(m));
                let bytes = pins.bytes();
                let strobe = pins.pstrb.map_or(0xff, |pin| pin.get(m));
                let write = pins.pwrite.is_high(m).then(|| (pins.pwdata.get(m), strobe));
                let fails = self.errors.next();
                let (data, response) =
                    lanes::access(&mut self.target, fails, address, bytes, write);
                let has_ready = pins.pready.is_some();
                let stall = if has_ready { next_delay(&mut self.stalls) } else { 0 };
                self.transfer = Some((stall, data, response));
                self.counts.operations += 1;
            }
            Some((0, ..)) => {
                self.transfer = None;
                self.counts.handshakes += 1;
            }
            Some((stall, ..)) => *stall -= 1,
        }
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.transfer.is_none()
    }
}

subordinate! {
    ApbSubordinate, ApbPins, ApbSubordinateTraffic, |own| {
        let stall = own.transfer.map_or(0, |(stall, ..)| stall);
        format!("access phase, ready in {stall} cycles")
    }
}
