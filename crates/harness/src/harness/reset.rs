//! Resets while transactions are in flight.

use crate::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reset while transactions are in flight; it follows a packet of the traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// Cycles between the one in which the packet was taken and the reset.
    pub after: Uint<12>,
    /// Cycles the reset lasts, at least 1.
    pub cycles: Uint<4>,
}

impl Reset {
    /// Cycles until it is over.
    pub fn total(&self) -> u64 {
        self.after.get() + self.cycles.get()
    }
}

/// Asserts the block's reset as the traffic schedules it.
#[derive(Debug, Clone, Default)]
pub struct ResetTimer {
    /// Cycles until the reset is asserted, and its length.
    due: Option<(u64, u64)>,
    /// Remaining cycles of the reset.
    left: u64,
}

impl ResetTimer {
    /// Schedules `reset`: its packet is taken at the coming edge.
    #[inline]
    pub fn start(&mut self, reset: Reset) {
        self.due = Some((reset.after.get(), reset.cycles.get().max(1)));
    }

    /// Whether the reset is asserted in this cycle.
    #[inline]
    pub fn asserted(&self) -> bool {
        self.left > 0
    }

    /// Whether no reset is active or scheduled.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.due.is_none()
    }

    /// Takes the edge. Call [`ResetTimer::start`] before it.
    #[inline]
    pub fn clock(&mut self) {
        self.left = self.left.saturating_sub(1);
        match self.due {
            Some((0, cycles)) => {
                self.left = cycles;
                self.due = None;
            }
            Some((after, cycles)) => self.due = Some((after - 1, cycles)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_rises_and_falls_when_it_says() {
        let mut timer = ResetTimer::default();
        timer.start(Reset { after: Uint::new(2), cycles: Uint::new(3) });
        let high: Vec<bool> = (0..7)
            .map(|_| {
                timer.clock();
                timer.asserted()
            })
            .collect();
        // The packet is taken in cycle 0; two cycles lie between it and the reset.
        assert_eq!(high, [false, false, true, true, true, false, false]);
        assert!(timer.is_over());
    }
}
