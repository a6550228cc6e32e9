//! A monitor: it watches a channel and checks the rules of its protocol in every cycle.

use crate::harness::Violation;
use std::fmt::{self, Debug};
use verilated::PinName;

/// The rules of a channel's protocol. The name of the check of a rule is `prefix`, and that of the
/// rule. A rule without a name is not checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Protocol {
    /// The beginning of the names, as in `pop`.
    pub prefix: &'static str,
    /// A valid stays high until its item is taken.
    pub valid_held: Option<&'static str>,
    /// The item does not change until it is taken.
    pub item_held: Option<&'static str>,
    /// Valid is low in reset. The first cycle of a reset is not checked: the registers of a
    /// synchronous reset change at its end.
    pub quiet_in_reset: Option<&'static str>,
    /// Valid is low in the first cycle after a reset.
    pub quiet_after_reset: Option<&'static str>,
}

impl Protocol {
    /// The protocol of a channel of a declaration:
    ///
    /// ```
    /// use cosim_harness::channels::Protocol;
    ///
    /// let expected = ["pop-valid-held", "pop-item-held", "pop-quiet-in-reset"];
    /// assert_eq!(Protocol::for_channel("pop").checks(), expected);
    /// ```
    pub const fn for_channel(channel: &'static str) -> Self {
        Self {
            prefix: channel,
            valid_held: Some("-valid-held"),
            item_held: Some("-item-held"),
            quiet_in_reset: Some("-quiet-in-reset"),
            quiet_after_reset: None,
        }
    }

    /// The names of the checks.
    pub fn checks(&self) -> Vec<String> {
        let Self { prefix, valid_held, item_held, quiet_in_reset, quiet_after_reset } = self;
        let all = [valid_held, item_held, quiet_in_reset, quiet_after_reset];
        all.into_iter().flatten().map(|rule| format!("{prefix}{rule}")).collect()
    }
}

/// Watches a channel with valid and ready. `T` is the payload.
#[derive(Debug, Clone)]
pub struct Monitor<T> {
    protocol: Protocol,
    valid: Option<PinName>,
    /// The item that was on offer in the cycle before and was not taken.
    waiting: Option<T>,
    was_reset: bool,
    taken: u64,
}

impl<T: Copy + PartialEq + Debug> Monitor<T> {
    /// A monitor of an idle channel.
    pub fn new(protocol: Protocol) -> Self {
        Self { protocol, valid: None, waiting: None, was_reset: false, taken: 0 }
    }

    /// A monitor whose violations are of a valid.
    pub fn from_port(protocol: Protocol, valid: PinName) -> Self {
        Self { valid: Some(valid), ..Self::new(protocol) }
    }

    /// A violation of the valid, or of the channel if the valid is not known.
    #[cold]
    fn violate(&self, rule: &str, message: fmt::Arguments<'_>) -> Violation {
        let prefix = self.protocol.prefix;
        let check = format!("{prefix}{rule}");
        match self.valid {
            Some(valid) => {
                Violation::new(&check, format_args!("{valid}{message}")).with_subject(valid)
            }
            None => Violation::new(&check, format_args!("valid{message}")).with_subject(prefix),
        }
    }

    /// Watches a cycle: the item on offer, if valid is high, and ready. Returns the item if it was
    /// taken.
    ///
    /// # Errors
    /// A rule of the protocol that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        offer: Option<T>,
        ready: bool,
    ) -> Result<Option<T>, Violation> {
        let Protocol { valid_held, item_held, quiet_in_reset, .. } = self.protocol;
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        let (check, when) = match in_reset {
            true => (quiet_in_reset.filter(|_| was_reset), "in"),
            false => (self.protocol.quiet_after_reset.filter(|_| was_reset), "right after"),
        };
        if let (Some(item), Some(check)) = (offer, check) {
            return Err(self.violate(check, format_args!(" is high {when} reset, with {item:x?}")));
        }
        if in_reset {
            self.waiting = None;
            return Ok(None);
        }
        if let Some(waiting) = self.waiting {
            match (offer, valid_held, item_held) {
                (None, Some(check), _) => {
                    let message = format_args!(" falls before {waiting:x?} is taken");
                    return Err(self.violate(check, message));
                }
                (Some(item), _, Some(check)) if item != waiting => {
                    let message =
                        format_args!(": {waiting:x?} becomes {item:x?} before it is taken");
                    let [actual, expected] =
                        [item, waiting].map(|it| Some(format!("{it:x?}").into()));
                    return Err(Violation { actual, expected, ..self.violate(check, message) });
                }
                _ => {}
            }
        }
        let taken = offer.filter(|_| ready);
        self.waiting = offer.filter(|_| !ready);
        self.taken += u64::from(taken.is_some());
        Ok(taken)
    }

    /// Items that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Protocol = Protocol::for_channel("pop");

    /// The check that fails in the last of some cycles (in reset, offer, ready).
    fn broken_check(cycles: &[(bool, Option<u8>, bool)]) -> Option<String> {
        let mut monitor = Monitor::new(RULES);
        let (last, before) = cycles.split_last().unwrap();
        for (in_reset, offer, ready) in before {
            monitor.observe(*in_reset, *offer, *ready).unwrap();
        }
        monitor.observe(last.0, last.1, last.2).err().map(|violation| violation.check)
    }

    #[test]
    fn each_rule_fires_and_legal_cycles_pass() {
        let waits = (false, Some(1), false);
        assert_eq!(broken_check(&[waits, (false, None, true)]).as_deref(), Some("pop-valid-held"));
        assert_eq!(
            broken_check(&[waits, (false, Some(2), true)]).as_deref(),
            Some("pop-item-held")
        );
        let in_reset = (true, Some(1), true);
        assert_eq!(broken_check(&[in_reset, in_reset]).as_deref(), Some("pop-quiet-in-reset"));
        assert_eq!(broken_check(&[waits, in_reset]), None, "a synchronous reset");
        assert_eq!(broken_check(&[waits, (false, Some(1), true), (false, Some(2), true)]), None);
        assert_eq!(broken_check(&[waits, (true, None, false), (false, None, true)]), None);
    }

    #[test]
    fn a_synchronous_reset_has_a_cycle_to_act() {
        let protocol = Protocol { quiet_after_reset: Some("after"), ..RULES };
        let mut monitor = Monitor::new(protocol);
        let mut check = |in_reset| {
            let violation = monitor.observe(in_reset, Some(1), true).err()?;
            Some(violation.check)
        };
        assert_eq!(check(true), None);
        assert_eq!(check(true).as_deref(), Some("pop-quiet-in-reset"));
        assert_eq!(check(false).as_deref(), Some("popafter"));
        assert_eq!(check(false), None);
    }

    #[test]
    fn an_item_counts_once_when_it_is_taken() {
        let mut monitor = Monitor::new(RULES);
        assert_eq!(monitor.observe(false, Some(7), false), Ok(None));
        assert_eq!(monitor.observe(false, Some(7), true), Ok(Some(7)));
        assert_eq!(monitor.taken(), 1);
    }
}
