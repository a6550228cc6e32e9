//! The source and the sink of interrupt lines.

use super::monitor::SOURCE_GROUPS;
use super::{Interrupt, InterruptKind, InterruptPins, InterruptSinkTraffic, InterruptTraffic};
use crate::agent::{Agent, Counts, Progress, interface_of};
use crate::channel::next_delay;
use cosim_harness::harness::{Noise, Reset};
use cosim_harness::value::Uint;
use std::slice::Iter;
use verilated::Pins;

/// Drives the interrupt lines of a DUT.
#[derive(Debug, Clone)]
pub struct InterruptSource<'a, I, O> {
    pins: InterruptPins<I, O>,
    rest: &'a [Interrupt],
    /// Remaining cycles of the gap of the first one, at least 1 after an interrupt or a reset.
    gap: u64,
    /// The lines that are high.
    lines: u64,
    /// Remaining cycles of a level without an acknowledge port.
    hold: u64,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins> InterruptSource<'a, I, O> {
    #[inline]
    fn gap(rest: &[Interrupt]) -> u64 {
        rest.first().map_or(0, |first| first.gap.get()).max(1)
    }

    #[inline]
    fn edge(&mut self, in_reset: bool, _: &I, outputs: &O) -> Option<Reset> {
        if in_reset {
            (self.lines, self.gap) = (0, Self::gap(self.rest));
            return None;
        }
        if self.lines > 0 {
            self.lines &= match (self.pins.kind, self.pins.ack) {
                (InterruptKind::Pulse, _) => 0,
                (InterruptKind::Level, Some(ack)) => !ack.get(outputs),
                (InterruptKind::Level, None) if self.hold == 0 => 0,
                (InterruptKind::Level, None) => u64::MAX,
            };
            self.hold = self.hold.saturating_sub(1);
            if self.lines == 0 {
                self.counts.handshakes += 1;
                self.gap = Self::gap(self.rest);
            }
            return None;
        }
        let (next, rest) = self.rest.split_first()?;
        self.gap -= 1;
        if self.gap > 0 {
            return None;
        }
        self.rest = rest;
        (self.lines, self.hold) = (next.lines.get(), next.hold_cycles.get());
        self.counts.operations += 1;
        next.reset
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rest.is_empty() && self.lines == 0
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for InterruptSource<'a, I, O> {
    type Pins = InterruptPins<I, O>;
    type Traffic = InterruptTraffic;

    interface_of!(manager I O, groups SOURCE_GROUPS);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        let rest = &traffic.interrupts;
        let gap = Self::gap(rest);
        Self { pins, rest, gap, lines: 0, hold: 0, counts: Counts::default() }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        self.pins.irq.set(inputs, if in_reset { 0 } else { self.lines });
    }

    fn in_flight(&self) -> Option<String> {
        let (lines, left) = (self.lines, self.rest.len());
        (!self.is_idle()).then(|| format!("lines {lines:#x}, {left} interrupts to come"))
    }
}

/// Acknowledges the interrupts of a DUT: of the lines that are high, the lowest one at a time.
#[derive(Debug, Clone)]
pub struct InterruptSink<'a, I, O> {
    pins: InterruptPins<O, I>,
    delays: Iter<'a, Uint<12>>,
    /// The line to acknowledge, and the remaining cycles until then.
    next: Option<(u64, u64)>,
    /// The line that was acknowledged in the cycle before; its level may fall a cycle later.
    before: u64,
    is_high: bool,
    counts: Counts,
}

impl<'a, I: Pins, O: Pins> InterruptSink<'a, I, O> {
    #[inline]
    fn edge(&mut self, in_reset: bool, inputs: &I, outputs: &O) -> Option<Reset> {
        if in_reset {
            (self.next, self.before, self.is_high) = (None, 0, false);
            return None;
        }
        let lines = self.pins.irq.get(outputs);
        self.is_high = lines > 0;
        if self.pins.ack.is_none() {
            self.counts.handshakes += u64::from(self.is_high);
            return None;
        }
        let ack = self.pins.acknowledged(inputs);
        self.counts.handshakes += u64::from(ack > 0);
        match &mut self.next {
            Some((_, 0)) => self.next = None,
            Some((_, delay)) => *delay -= 1,
            None => {
                // A level that was acknowledged may need a cycle to fall.
                let open = lines & !self.before;
                if open > 0 {
                    let line = open & open.wrapping_neg();
                    self.next = Some((line, next_delay(&mut self.delays)));
                }
            }
        }
        self.before = ack;
        None
    }

    /// Whether all operations are complete and nothing is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.next.is_none() && !self.is_high
    }
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for InterruptSink<'a, I, O> {
    type Pins = InterruptPins<O, I>;
    type Traffic = InterruptSinkTraffic;

    interface_of!(subordinate I O);

    fn new(pins: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        let (next, counts) = (None, Counts::default());
        Self { pins, delays: traffic.delays.iter(), next, before: 0, is_high: false, counts }
    }

    #[inline]
    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        if let Some(pin) = self.pins.ack {
            let line = self.next.filter(|(_, delay)| *delay == 0).map_or(0, |(line, _)| line);
            pin.set(inputs, if in_reset { 0 } else { line });
        }
    }

    fn in_flight(&self) -> Option<String> {
        let (line, delay) = self.next?;
        Some(format!("acknowledges {line:#x} in {delay} cycles"))
    }
}
