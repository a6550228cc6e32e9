//! The end of a case, and its progress.

use super::reset::{Reset, ResetTimer};
use crate::value::Uint;

/// Counts the handshakes and packets of an environment, asserts its resets, and finds the end of
/// the case: `drain` idle cycles in a row outside reset.
///
/// An environment has it in a field.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Handshakes so far.
    pub handshakes: u64,
    /// Packets so far.
    pub packets: u64,
    /// The reset of the block.
    pub reset: ResetTimer,
    drain: u64,
    idle: u64,
    timeout: u64,
}

impl Pace {
    /// The pace of a case that ends after `drain` idle cycles, and that hangs after `timeout`
    /// cycles without a handshake.
    pub fn new(drain: u64, timeout: u64) -> Self {
        let reset = ResetTimer::default();
        Self { handshakes: 0, packets: 0, reset, drain, idle: 0, timeout }
    }

    /// Starts a reset, if there is one.
    #[inline]
    pub fn start(&mut self, reset: Option<Reset>) {
        if let Some(reset) = reset {
            self.reset.start(reset);
        }
    }

    /// Takes the edge of a cycle, in which nothing was pending or on offer if it was idle.
    #[inline]
    pub fn clock(&mut self, is_idle: bool) {
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        self.reset.clock();
    }

    /// Whether the case is at its end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.idle >= self.drain && self.reset.is_over()
    }

    /// The longest time without a handshake.
    #[inline]
    pub fn timeout(&self) -> u64 {
        self.timeout
    }
}

/// The largest of some numbers of cycles; 0 if there are none.
pub fn longest<const WIDTH: u32>(cycles: impl IntoIterator<Item = Uint<WIDTH>>) -> u64 {
    cycles.into_iter().map(Uint::get).max().unwrap_or(0)
}

/// The longest time that some resets take.
pub fn longest_reset(resets: impl IntoIterator<Item = Option<Reset>>) -> u64 {
    resets.into_iter().flatten().map(|reset| reset.total()).max().unwrap_or(0)
}
