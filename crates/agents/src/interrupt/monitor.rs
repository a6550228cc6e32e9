//! The rules of interrupt lines, and their coverage.

use super::{InterruptKind, InterruptPins};
use crate::agent::Interface;
use crate::names::broken;
use crate::transfer::transfer;
use cosim_harness::harness::{Covergroup, Transfer, Violation};
use verilated::Pins;

/// Checks the rules of interrupt lines in every cycle, and returns the lines that rise.
#[derive(Debug, Clone)]
pub struct InterruptMonitor<D, R> {
    pins: InterruptPins<D, R>,
    /// Lines of the cycle before, and its acknowledges.
    before: u64,
    acknowledged: u64,
    was_reset: bool,
}

impl<D: Pins, R: Pins> InterruptMonitor<D, R> {
    /// A level stays high until it is acknowledged.
    pub const WITHDRAWN: &'static str = "interrupt-withdrawn";
    /// A pulse is high for one cycle.
    pub const PULSE_LENGTH: &'static str = "interrupt-pulse-length";
    /// Lines are low in reset, after its first cycle.
    pub const HIGH_IN_RESET: &'static str = "interrupt-high-in-reset";
    /// Only a line that is or was high in the cycle before is acknowledged. For pulses, any time
    /// later is legal.
    pub const ACK_WITHOUT_LINE: &'static str = "interrupt-ack-without-line";
    /// A level is acknowledged before the case ends.
    pub const PENDING: &'static str = "interrupt-pending";

    /// The checks that the driver of the lines can break.
    pub const DRIVER_CHECKS: &'static [&'static str] =
        &[Self::WITHDRAWN, Self::PULSE_LENGTH, Self::HIGH_IN_RESET];

    /// The checks that the receiver of the lines can break.
    pub const RECEIVER_CHECKS: &'static [&'static str] = &[Self::ACK_WITHOUT_LINE, Self::PENDING];

    /// A monitor of idle lines.
    pub fn new(pins: InterruptPins<D, R>) -> Self {
        Self { pins, before: 0, acknowledged: 0, was_reset: false }
    }

    /// Observes a cycle. Returns the lines that rise.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(&mut self, in_reset: bool, driver: &D, receiver: &R) -> Result<u64, Violation> {
        let port = || self.pins.irq.name();
        let (lines, ack) = (self.pins.irq.get(driver), self.pins.acknowledged(receiver));
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        let before = std::mem::replace(&mut self.before, if in_reset { 0 } else { lines });
        let acknowledged = std::mem::replace(&mut self.acknowledged, ack);
        if in_reset {
            self.acknowledged = 0;
            if was_reset && lines > 0 {
                return broken(port(), Self::HIGH_IN_RESET, format_args!("lines {lines:#x}"));
            }
            return Ok(0);
        }
        match self.pins.kind {
            InterruptKind::Pulse => {
                let long = before & lines;
                if long > 0 {
                    let message = format_args!("lines {long:#x} are high for two cycles");
                    return broken(port(), Self::PULSE_LENGTH, message);
                }
            }
            InterruptKind::Level if self.pins.ack.is_some() => {
                let withdrawn = before & !lines & !(acknowledged | ack);
                if withdrawn > 0 {
                    let message = format_args!("lines {withdrawn:#x} fall without an acknowledge");
                    return broken(port(), Self::WITHDRAWN, message);
                }
                let wrong = ack & !(lines | before);
                if wrong > 0 {
                    let message = format_args!("lines {wrong:#x} are low");
                    return broken(port(), Self::ACK_WITHOUT_LINE, message);
                }
            }
            InterruptKind::Level => {}
        }
        Ok(lines & !before)
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a level with an acknowledge port is high.
    pub fn finish(&self) -> Result<(), Violation> {
        let port = || self.pins.irq.name();
        let is_checked = self.pins.kind == InterruptKind::Level && self.pins.ack.is_some();
        if is_checked && self.before > 0 {
            return broken(port(), Self::PENDING, format_args!("lines {:#x}", self.before));
        }
        Ok(())
    }
}

cosim_harness::axes! {
    /// Lines that rise in a cycle.
    LINES = "lines" { "one": "one line rises", "several": "several lines rise together" }
    /// Lines that are high already.
    OTHERS = "others" { "none": "no line is high before", "some": "another line is high" }
}

const RISES: Covergroup = Covergroup::new("rises", "cycles in which lines rise", &[LINES, OTHERS]);

/// The covergroups of the lines of an [`InterruptSource`](super::InterruptSource).
pub(super) const SOURCE_GROUPS: &[Covergroup] = &[RISES
    .unless(|at, _| (at[1] == 1).then_some("the source raises the next lines when all are low"))];

impl<D: Pins, R: Pins> Interface<D, R> for InterruptPins<D, R> {
    /// The lines of the cycle before.
    type State = u64;

    const GROUPS: &'static [Covergroup] = &[RISES];

    fn transfers(&self, driver: &D, receiver: &R) -> Vec<Transfer> {
        let words = self.words(driver, receiver);
        vec![transfer::<D, R>(self.irq.name(), "", words, [false, true])]
    }

    #[inline]
    fn sample(
        &self,
        state: &mut u64,
        in_reset: bool,
        driver: &D,
        _: &R,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        let lines = if in_reset { 0 } else { self.irq.get(driver) };
        let before = std::mem::replace(state, lines);
        let rising = lines & !before;
        if rising > 0 {
            let several = usize::from(rising.count_ones() > 1);
            hit(0, &[several, usize::from(lines & before > 0)]);
        }
    }
}
