//! Transactions that a model expects, in order or in order per ID, each with a bound on its
//! latency.

use crate::harness::Violation;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Debug};

/// The names of the checks of expected transactions of a channel: one differs from the expected
/// one, one comes that is not expected, one does not come within its latency, and one has not come
/// at the end of the case.
///
/// ```
/// use cosim_harness::channels::transaction_checks;
///
/// let expected = ["pop-differs", "pop-unexpected", "pop-late", "pop-missing"];
/// assert_eq!(transaction_checks("pop"), expected);
/// ```
pub fn transaction_checks(channel: &str) -> Vec<String> {
    ["differs", "unexpected", "late", "missing"].map(|rule| format!("{channel}-{rule}")).to_vec()
}

#[cold]
pub(super) fn violate(channel: &str, rule: &str, message: fmt::Arguments<'_>) -> Violation {
    Violation::new(&format!("{channel}-{rule}"), message).with_subject(channel)
}

/// Expected transactions of a channel, in order.
#[derive(Debug, Clone)]
pub struct InOrder<T> {
    channel: &'static str,
    /// Cycles from the expectation to the transaction; `None` if there is no bound.
    latency: Option<u64>,
    /// Transactions that have not come, each with the cycle in which it was expected.
    expected: VecDeque<(u64, T)>,
    cycle: u64,
    compared: u64,
}

impl<T: PartialEq + Debug> InOrder<T> {
    /// No transaction is expected. `latency` is the largest number of cycles between an
    /// expectation and its transaction, if there is a bound.
    pub fn new(channel: &'static str, latency: Option<u64>) -> Self {
        Self { channel, latency, expected: VecDeque::new(), cycle: 0, compared: 0 }
    }

    /// Expects a transaction, after those that are expected already.
    #[inline]
    pub fn expect(&mut self, transaction: T) {
        self.expected.push_back((self.cycle, transaction));
    }

    /// As [`Self::expect`], after the edge of the cycle in which it becomes expected.
    #[inline]
    pub(super) fn expect_late(&mut self, transaction: T) {
        self.expected.push_back((self.cycle.saturating_sub(1), transaction));
    }

    /// Compares a transaction with the first expected one.
    ///
    /// # Errors
    /// If they differ, or none is expected.
    #[inline]
    pub fn check(&mut self, actual: &T) -> Result<(), Violation> {
        match self.expected.pop_front() {
            Some((_, expected)) if expected == *actual => {
                self.compared += 1;
                Ok(())
            }
            Some((since, expected)) => {
                let message =
                    format_args!("{actual:x?}, expected {expected:x?} since cycle {since}");
                let violation = self.expecting("differs", (since, &expected), message);
                Err(Violation { actual: Some(format!("{actual:x?}").into()), ..violation })
            }
            None => {
                let message = format_args!("{actual:x?}, but none is expected");
                let violation = violate(self.channel, "unexpected", message);
                Err(Violation { actual: Some(format!("{actual:x?}").into()), ..violation })
            }
        }
    }

    /// Takes the edge: a cycle passes.
    ///
    /// # Errors
    /// If the first expected transaction is late.
    #[inline]
    pub fn clock(&mut self) -> Result<(), Violation> {
        self.cycle += 1;
        let (Some(latency), Some((since, expected))) = (self.latency, self.expected.front()) else {
            return Ok(());
        };
        if self.cycle - since <= latency {
            return Ok(());
        }
        let message = format_args!(
            "{expected:x?} is expected since cycle {since}, for more than {latency} cycles"
        );
        Err(self.expecting("late", (*since, expected), message))
    }

    #[cold]
    fn expecting(
        &self,
        rule: &str,
        (since, expected): (u64, &T),
        message: fmt::Arguments<'_>,
    ) -> Violation {
        let expected = Some(format!("{expected:x?}").into());
        Violation { expected, since: Some(since), ..violate(self.channel, rule, message) }
    }

    /// Forgets the expected transactions, as a reset does. Returns their number.
    pub fn clear(&mut self) -> usize {
        let dropped = self.expected.len();
        self.expected.clear();
        dropped
    }

    /// The number of transactions that have not come.
    #[inline]
    pub fn pending(&self) -> usize {
        self.expected.len()
    }

    /// The number of transactions that came and were equal.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a transaction has not come.
    pub fn finish(&self) -> Result<(), Violation> {
        let Some((since, expected)) = self.expected.front() else { return Ok(()) };
        let message = format_args!(
            "{} transactions, the first {expected:x?}, expected since cycle {since}",
            self.expected.len()
        );
        Err(self.expecting("missing", (*since, expected), message))
    }
}

/// Expected transactions in order per ID; transactions of different IDs may overtake each other.
#[derive(Debug, Clone)]
pub struct PerId<I, T> {
    channel: &'static str,
    latency: Option<u64>,
    queues: BTreeMap<I, InOrder<T>>,
}

impl<I: Ord + Debug, T: PartialEq + Debug> PerId<I, T> {
    /// As [`InOrder::new`], for each ID.
    pub fn new(channel: &'static str, latency: Option<u64>) -> Self {
        Self { channel, latency, queues: BTreeMap::new() }
    }

    /// Expects a transaction of an ID, after those of this ID that are expected already.
    pub fn expect(&mut self, id: I, transaction: T) {
        let cycle = self.queues.values().next().map_or(0, |queue| queue.cycle);
        let (channel, latency) = (self.channel, self.latency);
        let queue = self.queues.entry(id);
        let queue = queue.or_insert_with(|| InOrder { cycle, ..InOrder::new(channel, latency) });
        queue.expect(transaction);
    }

    /// Compares a transaction with the first expected one of its ID.
    ///
    /// # Errors
    /// If they differ, or none of this ID is expected.
    pub fn check(&mut self, id: &I, actual: &T) -> Result<(), Violation> {
        match self.queues.get_mut(id) {
            Some(queue) => queue.check(actual),
            None => Err(violate(
                self.channel,
                "unexpected",
                format_args!("{actual:x?} with ID {id:x?}, which has no expected transaction"),
            )),
        }
    }

    /// Takes the edge: a cycle passes.
    ///
    /// # Errors
    /// If a transaction is late.
    pub fn clock(&mut self) -> Result<(), Violation> {
        self.queues.values_mut().try_for_each(InOrder::clock)
    }

    /// Forgets the expected transactions, as a reset does. Returns their number.
    pub fn clear(&mut self) -> usize {
        self.queues.values_mut().map(InOrder::clear).sum()
    }

    /// The number of transactions that have not come.
    pub fn pending(&self) -> usize {
        self.queues.values().map(InOrder::pending).sum()
    }

    /// The number of transactions that came and were equal.
    pub fn compared(&self) -> u64 {
        self.queues.values().map(InOrder::compared).sum()
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a transaction has not come.
    pub fn finish(&self) -> Result<(), Violation> {
        self.queues.values().try_for_each(InOrder::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Result<(), Violation>) -> Option<String> {
        result.err().map(|violation| violation.check)
    }

    #[test]
    fn each_check_of_an_ordered_channel_fires() {
        let mut out = InOrder::new("out", Some(2));
        assert_eq!(check(out.check(&1)).as_deref(), Some("out-unexpected"));
        out.expect(1);
        out.expect(2);
        assert_eq!(check(out.check(&1)), None);
        let wrong = out.check(&1).unwrap_err();
        let facts = (&*wrong.check, &*wrong.subject, wrong.actual, wrong.expected, wrong.since);
        let [actual, expected] = [1, 2].map(|value| Some(value.to_string().into()));
        assert_eq!(facts, ("out-differs", "out", actual, expected, Some(0)));
        out.expect(3);
        assert_eq!([check(out.clock()), check(out.clock())], [None, None]);
        assert_eq!(check(out.clock()).as_deref(), Some("out-late"));
        assert_eq!(check(out.finish()).as_deref(), Some("out-missing"));
        assert_eq!((out.compared(), out.pending(), out.clear()), (1, 1, 1));
        assert_eq!(check(out.finish()), None);
    }

    #[test]
    fn without_a_bound_nothing_is_late() {
        let mut out = InOrder::new("out", None);
        out.expect(1);
        assert!((0..1000).all(|_| out.clock().is_ok()));
    }

    #[test]
    fn ids_overtake_each_other_and_one_id_does_not() {
        let mut out = PerId::new("out", Some(5));
        out.expect('a', 1);
        out.expect('a', 2);
        out.expect('b', 3);
        assert_eq!(check(out.check(&'b', &3)), None);
        assert_eq!(check(out.check(&'c', &3)).as_deref(), Some("out-unexpected"));
        assert_eq!(check(out.check(&'a', &2)).as_deref(), Some("out-differs"));
        assert_eq!((out.compared(), out.pending()), (1, 1));
        assert_eq!(check(out.finish()).as_deref(), Some("out-missing"));
    }

    #[test]
    fn the_latency_of_a_new_id_counts_from_its_expectation() {
        let mut out = PerId::new("out", Some(1));
        out.expect('a', 1);
        out.check(&'a', &1).unwrap();
        assert!((0..9).all(|_| out.clock().is_ok()));
        out.expect('b', 2);
        assert!(out.clock().is_ok());
        assert_eq!(check(out.clock()).as_deref(), Some("out-late"));
    }
}
