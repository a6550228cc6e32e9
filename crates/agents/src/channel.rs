//! Parts that all protocols share: readies with stalls, errors, and drawn addresses.

use cosim_harness::agent::AgentTraffic as _;
use cosim_harness::agent::Pace;
use cosim_harness::channels::{Sink, SinkWeights};
use cosim_harness::harness::{CaseRng, Draw, Percent};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
        self.stalls.longest_delay() + 1
    }

    /// The driver of the ready.
    pub fn sink(&self) -> Sink<'_> {
        Sink::new(&self.stalls).waiting(self.stall_after_valid)
    }

    /// Whether all fields have their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The answers of a subordinate that are errors.
#[derive(Debug, Clone)]
pub(crate) struct Errors<'a> {
    /// Their numbers, from 0, in ascending order.
    rest: Iter<'a, Uint<16>>,
    /// The first of `rest`.
    next: Option<u64>,
    answers: u64,
}

impl<'a> Errors<'a> {
    pub(crate) fn new(numbers: &'a [Uint<16>]) -> Self {
        let mut rest = numbers.iter();
        let next = rest.next().map(|number| number.get());
        Self { rest, next, answers: 0 }
    }

    /// Draws which of `answers` answers are errors. An interface `without` them has none.
    pub(crate) fn draw(
        without: bool,
        chance: Percent,
        answers: u32,
        rng: &mut CaseRng,
    ) -> Vec<Uint<16>> {
        let answers = if without { 0 } else { answers.min(u32::from(u16::MAX)) };
        (0..answers).filter(|_| rng.chance(chance)).map(|at| Uint::new(at.into())).collect()
    }

    /// Whether the next answer is an error.
    #[inline]
    pub(crate) fn next(&mut self) -> bool {
        let is_it = self.next == Some(self.answers);
        self.answers += 1;
        if is_it {
            self.next = self.rest.next().map(|number| number.get());
        }
        is_it
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
        /// Chance of an address at an edge: the first or the last one, or on one side of a 4 KB
        /// boundary or of a power of two.
        edges: Percent = 20,
        /// Chance of an address outside of `base` and `size`, to ask for an error response.
        outside: Percent = 0,
    }
}

impl ReadyWeights {
    /// The same weights with the stalls of a scenario. A scenario without stalls has none that
    /// wait for valid.
    #[must_use]
    pub fn paced(self, pace: &Pace) -> Self {
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

impl AddressWeights {
    /// The same weights with the pace of a scenario.
    #[must_use]
    pub fn paced(self, pace: &Pace) -> Self {
        match pace.errors {
            Some(outside) if self.size.get() > 0 => Self { outside, ..self },
            _ => self,
        }
    }
}

/// An ID of at most `most`: one of the lowest four in half of the draws, so that they repeat, else
/// one of the lowest 15 or the largest.
pub(crate) fn any_id(most: u64, rng: &mut CaseRng) -> u64 {
    match rng.random_range(0..32) {
        id @ 0..15 => id.min(most),
        15 => most,
        other => (other % 4).min(most),
    }
}

/// Draws addresses that repeat.
#[derive(Debug, Clone)]
pub(crate) struct AddressPool<'a> {
    weights: &'a AddressWeights,
    /// The last address that the port can carry.
    most: u64,
    used: Vec<u64>,
}

impl<'a> AddressPool<'a> {
    /// Addresses of at most `bits` bits.
    pub(crate) fn new(weights: &'a AddressWeights, bits: u32) -> Self {
        let most = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        Self { weights, most, used: Vec::new() }
    }

    /// The same addresses, but at most `most`.
    pub(crate) fn up_to(self, most: u64) -> Self {
        Self { most: self.most.min(most), ..self }
    }

    /// The first and the last address in use.
    fn range(&self) -> (u64, u64) {
        let base = self.weights.base.get().min(self.most);
        match self.weights.size.get() {
            0 => (base, self.most),
            size => (base, base.saturating_add(size - 1).min(self.most)),
        }
    }

    /// The last address of the range that `address` is in, or that the port can carry.
    pub(crate) fn last(&self, address: u64) -> u64 {
        let (base, last) = self.range();
        if (base..=last).contains(&address) { last } else { self.most }
    }

    /// The first address of a 4 KB page; pages repeat behind the last one.
    pub(crate) fn page(&self, number: u64) -> u64 {
        (number % ((self.most >> 12) + 1)) << 12
    }

    /// The first address of the range that `address` is in, or of all.
    pub(crate) fn first(&self, address: u64) -> u64 {
        let (base, last) = self.range();
        if (base..=last).contains(&address) { base } else { 0 }
    }

    /// An address that is a multiple of `align`, a power of two.
    pub(crate) fn draw(&mut self, align: u64, rng: &mut CaseRng) -> u64 {
        let align = !(align - 1);
        let (base, last) = self.range();
        if last < self.most && rng.chance(self.weights.outside) {
            // The next address is as likely as all the others.
            let next = rng.chance(Percent::new(50));
            return (if next { last + 1 } else { rng.random_range(last + 1..=self.most) }) & align;
        }
        if !self.used.is_empty() && rng.chance(self.weights.reuse) {
            return self.used[rng.random_range(0..self.used.len())] & align;
        }
        let mut address = rng.random_range(base..=last);
        if rng.chance(self.weights.edges) {
            let boundary = match rng.random_range(0..4) {
                0 => base,
                1 => last,
                2 => address & !0xfff,
                _ => 1 << rng.random_range(0..u64::BITS - self.most.leading_zeros().min(63)),
            };
            let side = u64::from(rng.chance(Percent::new(50)));
            address = boundary.saturating_sub(side);
            if !(base..=last).contains(&address) {
                address = if side == 1 { base } else { last };
            }
        }
        // Recent addresses only, so that reuse is close in time.
        if self.used.len() == 8 {
            self.used.remove(0);
        }
        self.used.push(address);
        address & align
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

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

    /// Are the first and the last word, both sides of a page, and addresses outside reached?
    #[test]
    fn addresses_reach_edges() {
        let of = |base, size, bits, outside| {
            let mut rng = CaseRng::seed_from_u64(1);
            let weights = AddressWeights {
                base: Uint::new(base),
                size: Uint::new(size),
                outside: Percent::new(outside),
                ..AddressWeights::default()
            };
            let mut pool = AddressPool::new(&weights, bits);
            (0..2000).map(|_| pool.draw(4, &mut rng)).collect::<Vec<u64>>()
        };
        for edge in [0, 0xfffc, 0x1000, 0xffc, 0x8000, 0x7ffc] {
            assert!(of(0, 0, 16, 0).contains(&edge), "{edge:#x}");
        }
        for edge in [0, u64::MAX - 3] {
            assert!(of(0, 0, 64, 0).contains(&edge), "{edge:#x}");
        }
        assert!(of(0x1000, 0x800, 16, 0).iter().all(|at| (0x1000..0x1800).contains(at)));
        let outside = of(0x1000, 0x800, 16, 20);
        assert!(outside.contains(&0x1800) && outside.iter().any(|at| *at > 0x2000));
        assert_eq!(of(0, 0, 2, 20), [0; 2000], "one word");
    }
}
