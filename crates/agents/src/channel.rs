//! Parts that all protocols share: readies with stalls, drawn addresses, and the rules of a
//! channel with valid and ready.

use cosim_harness::channels::{ChannelScenario, SinkWeights};
use cosim_harness::harness::{CaseRng, Delays, Draw, Percent, Violation};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::slice::Iter;

/// When a receiver is ready, as a traffic stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Readiness {
    /// Cycles of stall before each item; items after the list have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Uint<12>>,
    /// Whether ready waits until valid is high. It rises in the cycle after the stall at the
    /// earliest. A driver that waits for ready before it raises valid then hangs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stall_after_valid: bool,
}

impl Readiness {
    /// The longest stall in cycles.
    pub fn longest_delay(&self) -> u64 {
        self.stalls.iter().map(|stall| stall.get()).max().unwrap_or(0) + 1
    }

    /// Whether all fields have their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Drives a ready.
#[derive(Debug, Clone)]
pub struct ReadyDriver<'a> {
    stalls: Delays<'a>,
    after_valid: bool,
    /// Whether valid was high in the cycle before.
    seen: bool,
}

impl<'a> ReadyDriver<'a> {
    /// A ready at the beginning of its stalls.
    pub fn new(readiness: &'a Readiness) -> Self {
        let after_valid = readiness.stall_after_valid;
        Self { stalls: Delays::new(&readiness.stalls), after_valid, seen: false }
    }

    /// Whether ready is high in this cycle.
    #[inline]
    pub fn ready(&self) -> bool {
        self.stalls.is_over() && (self.seen || !self.after_valid)
    }

    /// Takes the edge of a cycle outside reset. `ready` is the value of the pin in this cycle.
    /// Returns whether an item was taken.
    #[inline]
    pub fn clock(&mut self, valid: bool, ready: bool) -> bool {
        let taken = valid && ready;
        if taken {
            self.stalls.next();
            self.seen = false;
            return true;
        }
        if valid || !self.after_valid {
            self.stalls.wait();
        }
        self.seen = valid;
        false
    }

    /// Takes the edge of a cycle in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.seen = false;
    }
}

/// The next delay of a list in cycles; 0 after its end.
#[inline]
pub(crate) fn next_delay(delays: &mut Iter<'_, Uint<12>>) -> u64 {
    delays.next().map_or(0, |delay| delay.get())
}

cosim_harness::weights! {
    /// How a receiver takes items.
    pub struct ReadyWeights {
        /// Stalls before items.
        stalls: SinkWeights = SinkWeights::default(),
        /// Chance that all readies of a case wait for valid.
        after_valid: Percent = 25,
    }

    /// Which addresses a manager uses.
    pub struct AddressWeights {
        /// The lowest byte address.
        base: Uint<64> = 0,
        /// Bytes from there on; 0: up to the end of the address space.
        size: Uint<64> = 0,
        /// Chance of an address that was used before.
        reuse: Percent = 50,
    }
}

impl ReadyWeights {
    /// The same weights with the stalls of a scenario. A scenario without stalls has none that
    /// wait for valid.
    #[must_use]
    pub fn paced(self, pace: &ChannelScenario) -> Self {
        let never = Percent::new(0);
        let after_valid = if pace.sink.stall == never { never } else { self.after_valid };
        Self { stalls: pace.sink.clone(), after_valid }
    }

    /// Draws a readiness for about `items` items.
    pub fn draw(&self, items: u32, rng: &mut CaseRng) -> Readiness {
        let stall_after_valid = rng.chance(self.after_valid);
        Readiness { stalls: self.stalls.stalls(items, rng), stall_after_valid }
    }
}

/// Draws addresses that repeat.
#[derive(Debug, Clone)]
pub(crate) struct AddressPool<'a> {
    weights: &'a AddressWeights,
    bits: u32,
    used: Vec<u64>,
}

impl<'a> AddressPool<'a> {
    /// Addresses of at most `bits` bits.
    pub(crate) fn new(weights: &'a AddressWeights, bits: u32) -> Self {
        Self { weights, bits: bits.min(64), used: Vec::new() }
    }

    /// An address that is a multiple of `align`, a power of two.
    pub(crate) fn draw(&mut self, align: u64, rng: &mut CaseRng) -> u64 {
        if !self.used.is_empty() && rng.chance(self.weights.reuse) {
            return self.used[rng.random_range(0..self.used.len())] & !(align - 1);
        }
        let most = if self.bits == 64 { u64::MAX } else { (1 << self.bits) - 1 };
        let base = self.weights.base.get().min(most);
        let last = match self.weights.size.get() {
            0 => most,
            size => base.saturating_add(size - 1).min(most),
        };
        let address = rng.random_range(base..=last) & !(align - 1);
        // Recent addresses only, so that reuse is close in time.
        if self.used.len() == 8 {
            self.used.remove(0);
        }
        self.used.push(address);
        address
    }
}

/// The names of the checks of a channel with valid and ready. Without a name, a rule is not
/// checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelRules {
    /// Valid stays high until the handshake.
    pub valid_held: Option<&'static str>,
    /// The payload does not change until the handshake.
    pub payload_held: Option<&'static str>,
    /// Valid is low in reset. The first cycle of a reset is not checked: the registers of a
    /// synchronous reset change at its end.
    pub quiet_in_reset: Option<&'static str>,
    /// Valid is low in the first cycle after a reset.
    pub quiet_after_reset: Option<&'static str>,
}

/// Checks the rules of a channel with valid and ready. `T` is the payload.
#[derive(Debug, Clone)]
pub struct Channel<T> {
    rules: ChannelRules,
    /// The name of the valid, for messages.
    valid: &'static str,
    /// The item that was on offer in the cycle before and was not taken.
    waiting: Option<T>,
    was_reset: bool,
}

impl<T: Copy + PartialEq + Debug> Channel<T> {
    /// An idle channel.
    pub fn new(rules: ChannelRules, valid: &'static str) -> Self {
        Self { rules, valid, waiting: None, was_reset: false }
    }

    /// Observes a cycle: the item on offer, if valid is high, and ready. Returns the item if it
    /// was taken.
    ///
    /// # Errors
    /// A rule that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        offer: Option<T>,
        ready: bool,
    ) -> Result<Option<T>, Violation> {
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        if was_reset && let Some(item) = offer {
            let (check, when) = match in_reset {
                true => (self.rules.quiet_in_reset, "in reset"),
                false => (self.rules.quiet_after_reset, "in the first cycle after reset"),
            };
            if let Some(check) = check {
                let message = format_args!("{} is high {when}, with {item:x?}", self.valid);
                return Err(Violation::new(check, message));
            }
        }
        if in_reset {
            self.waiting = None;
            return Ok(None);
        }
        if let Some(waiting) = self.waiting {
            match (offer, self.rules.valid_held, self.rules.payload_held) {
                (None, Some(check), _) => {
                    let message = format_args!("{} falls before {waiting:x?} is taken", self.valid);
                    return Err(Violation::new(check, message));
                }
                (Some(item), _, Some(check)) if item != waiting => {
                    let message = format_args!(
                        "{}: {waiting:x?} becomes {item:x?} before it is taken",
                        self.valid
                    );
                    return Err(Violation::new(check, message));
                }
                _ => {}
            }
        }
        self.waiting = offer.filter(|_| !ready);
        Ok(offer.filter(|_| ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_ready_waits_for_its_stall_and_for_valid() {
        let ready = |after_valid, valid: &[bool]| -> Vec<bool> {
            let readiness =
                Readiness { stalls: vec![Uint::new(1)], stall_after_valid: after_valid };
            let mut driver = ReadyDriver::new(&readiness);
            let clock = |valid: &bool| {
                let ready = driver.ready();
                driver.clock(*valid, ready);
                ready
            };
            valid.iter().map(clock).collect()
        };
        assert_eq!(ready(false, &[false, false, true, true]), [false, true, true, true]);
        assert_eq!(ready(true, &[false, true, true, true]), [false, false, true, false]);
    }

    #[test]
    fn addresses_stay_in_their_range_and_repeat() {
        let mut rng = CaseRng::seed_from_u64(1);
        let weights = AddressWeights {
            base: Uint::new(0x40),
            size: Uint::new(0x20),
            ..AddressWeights::default()
        };
        let mut pool = AddressPool::new(&weights, 12);
        let drawn: Vec<u64> = (0..100).map(|_| pool.draw(4, &mut rng)).collect();
        assert!(drawn.iter().all(|address| (0x40..0x60).contains(address) && address % 4 == 0));
        assert!(drawn.windows(2).any(|pair| pair[0] == pair[1]));
    }
}
