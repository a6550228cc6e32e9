//! Clocks and resets of a declared block.

use crate::harness::clocks::ClockTiming;
use crate::harness::{Reset, ResetTimer, TrafficError};

/// The largest number of steps between two edges of a clock: 1 without clocks of their own.
pub fn steps_per_edge(clocks: &[ClockTiming]) -> u64 {
    let periods = || clocks.iter().map(|clock| clock.period.get().max(1));
    let slowest = 2 * periods().max().unwrap_or(0);
    periods().map(|period| slowest / period + 1).sum::<u64>().max(1)
}

/// Checks the clocks of a traffic.
///
/// # Errors
/// If their number is not that of the block, or one cannot be generated.
pub fn check_clocks(clocks: &[ClockTiming], count: usize) -> Result<(), TrafficError> {
    if clocks.len() != count {
        let message = format!("{} clocks; the block has {count}", clocks.len());
        return Err(TrafficError { path: "clocks".to_owned(), message });
    }
    ClockTiming::check(clocks, "clocks")
}

/// A reset of all clock domains. It lasts until each clock has risen as often as it says.
#[derive(Debug, Clone)]
pub struct DomainReset {
    timer: ResetTimer,
    /// The clocks that have risen in the present cycle of the reset.
    risen: u64,
    clocks: usize,
}

impl DomainReset {
    /// An inactive reset.
    pub fn new(clocks: usize) -> Self {
        Self { timer: ResetTimer::default(), risen: 0, clocks }
    }

    /// Schedules a reset; see [`ResetTimer::start`].
    #[inline]
    pub fn start(&mut self, reset: Reset) {
        self.timer.start(reset);
    }

    /// Whether the reset is asserted in this step.
    #[inline]
    pub fn asserted(&self) -> bool {
        self.timer.asserted()
    }

    /// Whether no reset is active or scheduled.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.timer.is_over()
    }

    /// Takes the end of a step, with the clocks that rise there.
    #[inline]
    pub fn clock(&mut self, rising: &[bool]) {
        if self.timer.asserted() {
            for (clock, rises) in rising.iter().enumerate() {
                self.risen |= u64::from(*rises) << clock;
            }
            if self.risen.count_ones() < self.clocks as u32 {
                return;
            }
            self.risen = 0;
        }
        self.timer.clock();
    }
}
