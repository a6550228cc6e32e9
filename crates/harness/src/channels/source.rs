//! A source: it offers items on a channel.

use crate::harness::Reset;
use crate::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An item of a source, as a vector stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offer<T> {
    /// Cycles between the item before it and its offer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gap: Uint<12>,
    /// The payload.
    pub item: T,
    /// A reset that follows the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

fn is_zero(gap: &Uint<12>) -> bool {
    gap.get() == 0
}

/// Offers a list of items, each after its gap, and holds an offer until it is taken.
#[derive(Debug, Clone)]
pub struct Source<'a, T> {
    /// Items that were not taken; the first one is the next offer.
    rest: &'a [Offer<T>],
    /// Remaining cycles of its gap.
    gap: u64,
    taken: u64,
}

impl<'a, T> Source<'a, T> {
    /// A source at the beginning of a list.
    pub fn new(offers: &'a [Offer<T>]) -> Self {
        Self { rest: offers, gap: gap(offers), taken: 0 }
    }

    /// The item on offer in this cycle.
    #[inline]
    pub fn offer(&self) -> Option<&'a T> {
        self.rest.first().filter(|_| self.gap == 0).map(|offer| &offer.item)
    }

    /// Takes the edge of a cycle outside reset. Returns the offer if the receiver took it.
    #[inline]
    pub fn clock(&mut self, ready: bool) -> Option<&'a Offer<T>> {
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        let (taken, rest) = self.rest.split_first().filter(|_| ready)?;
        (self.rest, self.gap) = (rest, gap(rest));
        self.taken += 1;
        Some(taken)
    }

    /// Items that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Items that were not taken.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// The longest time in cycles that the source lets pass by itself: a gap, and a reset.
    pub fn longest_delay(offers: &[Offer<T>]) -> u64 {
        let reset = |offer: &Offer<T>| offer.reset.as_ref().map_or(0, Reset::total);
        let longest = offers.iter().map(|offer| offer.gap.get()).max().unwrap_or(0);
        longest + offers.iter().map(reset).max().unwrap_or(0)
    }

    /// The offer in words, for explanations.
    pub fn in_flight(&self, channel: &str) -> Option<String> {
        let state = match (self.rest.len(), self.gap) {
            (0, _) => return None,
            (left, 0) => format!("offers an item, {} more to come", left - 1),
            (left, gap) => format!("idle for {gap} more cycles, {left} items to come"),
        };
        Some(format!("{channel}: {state}"))
    }
}

fn gap<T>(offers: &[Offer<T>]) -> u64 {
    offers.first().map_or(0, |offer| offer.gap.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_offered_after_its_gap_until_it_is_taken() {
        let offer = |gap, item| Offer { gap: Uint::new(gap), item, reset: None };
        let offers = [offer(2, 'a'), offer(0, 'b')];
        let mut source = Source::new(&offers);
        let ready = [true, true, false, true, true, true];
        let seen: Vec<(Option<char>, bool)> = ready
            .iter()
            .map(|ready| (source.offer().copied(), source.clock(*ready).is_some()))
            .collect();
        let (a, b) = (Some('a'), Some('b'));
        let none = (None, false);
        assert_eq!(seen, [none, none, (a, false), (a, true), (b, true), none]);
        assert_eq!((source.taken(), source.left()), (2, 0));
    }
}
