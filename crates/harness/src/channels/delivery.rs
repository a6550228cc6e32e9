//! The delivery of expected items on a channel.

use super::expected::{InOrder, transaction_checks, violate};
use super::monitor::{Monitor, Protocol};
use crate::harness::Violation;
use std::fmt::Debug;

/// Checks a channel out of the block: its protocol, and that it delivers the expected items in
/// order, each on offer within a number of cycles. A reset drops what is expected.
#[derive(Debug, Clone)]
pub struct Delivery<T> {
    monitor: Monitor<T>,
    expected: InOrder<T>,
    channel: &'static str,
    /// Cycles in which an expected item may be hidden; `None` if there is no bound.
    latency: Option<u64>,
    hidden: u64,
    dropped: u64,
}

impl<T: Copy + PartialEq + Debug> Delivery<T> {
    /// A channel on which nothing is expected. With a latency of 1, an item is on offer in the
    /// cycle after its expectation.
    pub fn new(channel: &'static str, latency: Option<u64>) -> Self {
        let monitor = Monitor::new(Protocol::for_channel(channel));
        let expected = InOrder::new(channel, None);
        Self { monitor, expected, channel, latency, hidden: 0, dropped: 0 }
    }

    /// The names of the checks of a channel: those of its protocol and of its transactions.
    pub fn checks(channel: &'static str) -> Vec<String> {
        [Protocol::for_channel(channel).checks(), transaction_checks(channel)].concat()
    }

    /// Observes a cycle, before the items that it makes expected. Returns whether an item was
    /// taken.
    ///
    /// # Errors
    /// The first check that fails.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        offer: Option<T>,
        ready: bool,
    ) -> Result<bool, Violation> {
        let taken = self.monitor.observe(in_reset, offer, ready)?;
        if in_reset {
            self.dropped += self.expected.clear() as u64;
        }
        let is_hidden = offer.is_none() && self.expected.pending() > 0;
        self.hidden = if is_hidden { self.hidden + 1 } else { 0 };
        if let Some(latency) = self.latency.filter(|latency| is_hidden && self.hidden >= *latency) {
            let message = format_args!("no item is on offer {latency} cycles after its cause");
            return Err(violate(self.channel, "late", message));
        }
        if let Some(item) = &taken {
            self.expected.check(item)?;
        }
        self.expected.clock()?;
        Ok(taken.is_some())
    }

    /// Expects an item, after those that are expected already, since the cycle that was observed.
    #[inline]
    pub fn expect(&mut self, item: T) {
        self.expected.expect_late(item);
    }

    /// Items that were expected when a reset came.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Items that came and were equal.
    pub fn compared(&self) -> u64 {
        self.expected.compared()
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If an item has not come.
    pub fn finish(&self) -> Result<(), Violation> {
        self.expected.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check that fails in the last of some cycles (in reset, offer, ready, expected before).
    fn broken_check(cycles: &[(bool, Option<u8>, bool, Option<u8>)]) -> Option<String> {
        let mut out = Delivery::new("out", Some(2));
        let mut failed = None;
        for (in_reset, offer, ready, expected) in cycles {
            assert_eq!(failed, None);
            expected.iter().for_each(|item| out.expect(*item));
            failed = out.observe(*in_reset, *offer, *ready).err().map(|violation| violation.check);
        }
        failed.or(out.finish().err().map(|violation| violation.check))
    }

    #[test]
    fn each_check_fires_and_a_delivery_in_time_passes() {
        let due = (false, None, true, Some(7));
        assert_eq!(broken_check(&[due, (false, None, true, None)]).as_deref(), Some("out-late"));
        assert_eq!(
            broken_check(&[due, (false, Some(8), true, None)]).as_deref(),
            Some("out-differs")
        );
        assert_eq!(broken_check(&[due]).as_deref(), Some("out-missing"));
        let waits = (false, Some(7), false, None);
        assert_eq!(
            broken_check(&[due, waits, (false, None, false, None)]).as_deref(),
            Some("out-valid-held")
        );
        assert_eq!(broken_check(&[due, waits, waits, waits, (false, Some(7), true, None)]), None);
        assert_eq!(broken_check(&[due, (true, None, true, None)]), None);
    }
}
