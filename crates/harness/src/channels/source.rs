//! A source: it offers items on a channel.

use crate::agent::AgentTraffic;
use crate::harness::{Reset, Traffic, TrafficError, check_part};
use crate::value::Uint;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// An item of a source, as a vector stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offer<T> {
    /// Cycles between the item before it and its offer.
    #[serde(default, skip_serializing_if = "Uint::is_zero")]
    pub gap: Uint<12>,
    /// The payload.
    pub item: T,
    /// A reset that follows the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// What an entry of a source's list stands for: an item, or a burst of items that a vector stores
/// as one transaction.
pub trait Burst {
    /// The items on the channel.
    type Item;

    /// The item with this number, counted from 0.
    fn item(&self, number: u64) -> Self::Item;

    /// The number of items, at least 1.
    #[inline]
    fn items(&self) -> u64 {
        1
    }

    /// Cycles between two items of the burst.
    #[inline]
    fn pause(&self) -> u64 {
        0
    }

    /// Checks what the types of the fields cannot express.
    ///
    /// # Errors
    /// The wrong field, and the reason.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }
}

/// Offers a list of bursts, each after its gap, and holds an offer until it is taken.
#[derive(Debug, Clone)]
pub struct Source<'a, T> {
    /// Bursts that are not finished; the first one is the next offer.
    rest: &'a [Offer<T>],
    /// Items of the first burst that were taken.
    inside: u64,
    /// Remaining cycles until the next item is offered.
    gap: u64,
    taken: u64,
}

impl<'a, T: Burst> Source<'a, T> {
    /// A source at the beginning of a list.
    pub fn new(offers: &'a [Offer<T>]) -> Self {
        Self { rest: offers, inside: 0, gap: longest_gap(offers), taken: 0 }
    }

    /// The item on offer in this cycle.
    #[inline]
    pub fn offer(&self) -> Option<T::Item> {
        self.rest.first().filter(|_| self.gap == 0).map(|offer| offer.item.item(self.inside))
    }

    /// Takes the edge of a cycle outside reset. Returns the entry whose last item was taken.
    #[inline]
    pub fn clock(&mut self, ready: bool) -> Option<&'a Offer<T>> {
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        let (entry, rest) = self.rest.split_first().filter(|_| ready)?;
        self.taken += 1;
        self.inside += 1;
        if self.inside < entry.item.items() {
            self.gap = entry.item.pause();
            return None;
        }
        (self.rest, self.inside, self.gap) = (rest, 0, longest_gap(rest));
        Some(entry)
    }

    /// Takes the edge of a cycle in reset. A burst that the reset interrupts is not repeated.
    #[inline]
    pub fn reset(&mut self) {
        if self.inside > 0 {
            self.rest = &self.rest[1..];
            (self.inside, self.gap) = (0, longest_gap(self.rest));
        }
    }

    /// Items that were taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Entries that are not finished.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The offer in words, for explanations.
    pub fn in_flight(&self) -> Option<String> {
        let entry = self.rest.first()?;
        let burst = match entry.item.items() {
            1 => String::new(),
            items => format!(" ({} of {items})", self.inside + 1),
        };
        Some(match (self.rest.len(), self.gap) {
            (left, 0) => format!("offers an item{burst}, {} more to come", left - 1),
            (left, gap) => format!("idle for {gap} more cycles, {left} items to come"),
        })
    }
}

/// The lists of a source: one, or one for each of several lanes.
pub trait Lanes {
    /// An entry of a list.
    type Entry;

    /// The lists.
    fn lists(&self) -> &[Vec<Self::Entry>];

    /// The list of a lane.
    fn list_mut(&mut self, lane: usize) -> &mut Vec<Self::Entry>;
}

impl<T> Lanes for Vec<T> {
    type Entry = T;

    fn lists(&self) -> &[Vec<T>] {
        std::slice::from_ref(self)
    }

    fn list_mut(&mut self, _: usize) -> &mut Vec<T> {
        self
    }
}

impl<T, const LANES: usize> Lanes for [Vec<T>; LANES] {
    type Entry = T;

    fn lists(&self) -> &[Vec<T>] {
        self
    }

    fn list_mut(&mut self, lane: usize) -> &mut Vec<T> {
        &mut self[lane]
    }
}

/// The sources of a channel with one lane or several. Bit n of its handshakes belongs to lane n.
#[derive(Debug, Clone)]
pub struct Sources<'a, T, const LANES: usize>([Source<'a, T>; LANES]);

impl<'a, T: Burst, const LANES: usize> Sources<'a, T, LANES> {
    /// The sources at the beginning of their lists.
    pub fn new(offers: &'a impl Lanes<Entry = Offer<T>>) -> Self {
        let lists = offers.lists();
        Self(std::array::from_fn(|lane| Source::new(&lists[lane])))
    }

    /// The items on offer in this cycle, each with its lane.
    #[inline]
    pub fn offers(&self) -> [Option<T::Item>; LANES] {
        std::array::from_fn(|lane| self.0[lane].offer())
    }

    /// Takes the edge of a cycle outside reset. Returns the number of taken items, and of finished
    /// entries, and calls `reset` for resets that follow.
    #[inline]
    pub fn clock(&mut self, ready: u64, mut reset: impl FnMut(Reset)) -> [u64; 2] {
        let (mut taken, mut finished) = (0, 0);
        for (lane, source) in self.0.iter_mut().enumerate() {
            let before = source.taken();
            if let Some(entry) = source.clock(ready >> lane & 1 == 1) {
                finished += 1;
                entry.reset.into_iter().for_each(&mut reset);
            }
            taken += source.taken() - before;
        }
        [taken, finished]
    }

    /// Takes the edge of a cycle in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.0.iter_mut().for_each(Source::reset);
    }

    /// Whether all entries are finished.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.0.iter().all(|source| source.remaining() == 0)
    }

    /// As [`Source::in_flight`], for all lanes.
    pub fn in_flight(&self) -> Vec<String> {
        let words = |(lane, source): (usize, &Source<'a, T>)| match LANES {
            1 => source.in_flight(),
            _ => source.in_flight().map(|words| format!("lane {lane} {words}")),
        };
        self.0.iter().enumerate().filter_map(words).collect()
    }
}

/// The longest time in cycles that a source lets pass by itself: a gap, a pause and a reset.
pub fn longest_delay<T: Burst>(offers: &[Offer<T>]) -> u64 {
    let longest = |cycles: fn(&Offer<T>) -> u64| offers.iter().map(cycles).max().unwrap_or(0);
    longest(|offer| offer.gap.get())
        + longest(|offer| offer.item.pause())
        + longest(|offer| offer.reset.as_ref().map_or(0, Reset::total))
}

/// A traffic of this type, as vectors need it.
pub trait Entry: Burst + Clone + Debug + Default + Eq + Send + Sync {}

impl<T: Burst + Clone + Debug + Default + Eq + Send + Sync> Entry for T {}

impl<T: Entry> Traffic for Vec<Offer<T>>
where
    Self: Serialize + DeserializeOwned + JsonSchema,
{
    fn check(&self) -> Result<(), TrafficError> {
        for (index, offer) in self.iter().enumerate() {
            let at = |field: &str, message: &str| TrafficError {
                path: format!("[{index}].{field}"),
                message: message.to_owned(),
            };
            offer.item.check().map_err(|(field, message)| at(&format!("item.{field}"), message))?;
            if offer.item.items() == 0 {
                return Err(at("item", "has no items; expected at least one"));
            }
            if offer.reset.is_some_and(|reset| reset.cycles.get() == 0) {
                return Err(at("reset.cycles", "0; a reset lasts at least one cycle"));
            }
        }
        Ok(())
    }
}

impl<T: Entry> AgentTraffic for Vec<Offer<T>>
where
    Self: Serialize + DeserializeOwned + JsonSchema,
{
    fn longest_delay(&self) -> u64 {
        longest_delay(self)
    }
}

impl<T: Entry, const LANES: usize> Traffic for [Vec<Offer<T>>; LANES]
where
    Self: Serialize + DeserializeOwned + JsonSchema,
    Vec<Offer<T>>: Traffic,
{
    fn check(&self) -> Result<(), TrafficError> {
        let mut lanes = self.iter().enumerate();
        lanes.try_for_each(|(lane, list)| check_part(&format!("[{lane}]"), list))
    }
}

impl<T: Entry, const LANES: usize> AgentTraffic for [Vec<Offer<T>>; LANES]
where
    Self: Serialize + DeserializeOwned + JsonSchema + Default,
    Vec<Offer<T>>: AgentTraffic,
{
    fn longest_delay(&self) -> u64 {
        self.iter().map(AgentTraffic::longest_delay).max().unwrap_or(0)
    }
}

fn longest_gap<T>(offers: &[Offer<T>]) -> u64 {
    offers.first().map_or(0, |offer| offer.gap.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    struct Letters(char, u64, u64);

    impl Burst for Letters {
        type Item = char;

        fn item(&self, number: u64) -> char {
            char::from_u32(self.0 as u32 + number as u32).unwrap()
        }

        fn items(&self) -> u64 {
            self.1
        }

        fn pause(&self) -> u64 {
            self.2
        }
    }

    fn offer(gap: u64, first: char, items: u64, pause: u64) -> Offer<Letters> {
        Offer { gap: Uint::new(gap), item: Letters(first, items, pause), reset: None }
    }

    /// Item on offer and finished entry in each cycle.
    fn seen_items(source: &mut Source<'_, Letters>, ready: &[bool]) -> Vec<(Option<char>, bool)> {
        ready.iter().map(|ready| (source.offer(), source.clock(*ready).is_some())).collect()
    }

    #[test]
    fn an_item_is_offered_after_its_gap_until_it_is_taken() {
        let offers = [offer(2, 'a', 1, 0), offer(0, 'b', 1, 0)];
        let mut source = Source::new(&offers);
        let (a, b) = (Some('a'), Some('b'));
        let none = (None, false);
        let seen = seen_items(&mut source, &[true, true, false, true, true, true]);
        assert_eq!(seen, [none, none, (a, false), (a, true), (b, true), none]);
        assert_eq!((source.taken(), source.remaining()), (2, 0));
    }

    #[test]
    fn a_burst_pauses_between_its_items_and_a_reset_drops_its_rest() {
        let offers = [offer(0, 'a', 2, 1), offer(0, 'x', 3, 0), offer(0, 'z', 1, 0)];
        let mut source = Source::new(&offers);
        let none = (None, false);
        let [a, b, x] = ['a', 'b', 'x'].map(Some);
        let cycles = seen_items(&mut source, &[true, true, true, true]);
        assert_eq!(cycles, [(a, false), none, (b, true), (x, false)]);
        source.reset();
        source.reset();
        assert_eq!(seen_items(&mut source, &[true]), [(Some('z'), true)]);
    }

    #[test]
    fn lanes_have_their_own_bits_and_lists() {
        let lists = [vec![offer(0, 'a', 1, 0)], vec![offer(0, 'b', 1, 0), offer(0, 'c', 1, 0)]];
        let mut sources = Sources::<_, 2>::new(&lists);
        assert_eq!(sources.offers(), [Some('a'), Some('b')]);
        assert_eq!(sources.clock(0b10, |_| {}), [1, 1]);
        assert_eq!(sources.offers(), [Some('a'), Some('c')]);
        assert_eq!(sources.clock(0b11, |_| {}), [2, 2]);
        assert!(sources.is_done());
        let wrong = [vec![], vec![offer(0, 'a', 0, 0)]];
        assert_eq!(check_part("req", &wrong).unwrap_err().path, "req[1][0].item");
    }
}
