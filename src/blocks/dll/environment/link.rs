//! One direction of the link. It delivers transmissions in order and applies the listed effect to
//! each.

use crate::blocks::dll::traffic::LinkEffect;
use cosim_core::value::Uint;

/// Number of future cycles for which arrivals are stored; a power of two.
const SLOTS: usize = 1024;
/// Maximum number of stored arrivals. With it, the last item arrives at most this number of cycles
/// after its delay, and a second copy at most that many after its own: within [`SLOTS`].
pub const CAPACITY: usize = 240;

/// The list of effects on transmissions, in order.
#[derive(Debug, Clone)]
pub struct LinkEffects<'a, Damage> {
    rest: &'a [LinkEffect<Damage>],
    /// Number of transmissions that used the first effect in `rest`.
    used: u64,
}

impl<'a, Damage> LinkEffects<'a, Damage> {
    pub fn new(list: &'a [LinkEffect<Damage>]) -> Self {
        Self { rest: list, used: 0 }
    }

    /// Whether all further transmissions pass.
    pub fn is_used_up(&self) -> bool {
        self.rest.is_empty()
    }

    /// The effect on the next transmission; `None` if it passes.
    #[inline]
    pub fn next_effect(&mut self) -> Option<&'a LinkEffect<Damage>> {
        let effect = self.rest.first()?;
        self.used += 1;
        if self.used >= effect.count() {
            self.rest = &self.rest[1..];
            self.used = 0;
        }
        Some(effect)
    }
}

/// One direction of the link.
#[derive(Debug, Clone)]
pub struct Lane<'a, Item> {
    delay: usize,
    stalls: &'a [Uint<12>],
    /// Cycles until the next item is accepted.
    stall: u64,
    /// Arrivals by cycle, as a ring.
    slots: Box<[Option<Item>; SLOTS]>,
    /// The index of the current cycle in the ring.
    now: usize,
    arrivals: usize,
    /// Cycles from now before which the next item would overtake an earlier one.
    order: usize,
    /// Number of effects and stalls used.
    pub used: u64,
}

impl<'a, Item: Copy> Lane<'a, Item> {
    pub fn new(delay: Uint<8>, stalls: &'a [Uint<12>]) -> Self {
        let mut lane = Self {
            delay: delay.get() as usize,
            stalls,
            stall: 0,
            slots: Box::new([None; SLOTS]),
            now: 0,
            arrivals: 0,
            order: 0,
            used: 0,
        };
        lane.next_stall();
        lane
    }

    #[inline]
    fn next_stall(&mut self) {
        if let Some((stall, rest)) = self.stalls.split_first() {
            self.stall = stall.get();
            self.stalls = rest;
            self.used += 1;
        }
    }

    /// Whether an item is accepted in this cycle.
    #[inline]
    pub fn ready(&self) -> bool {
        // An item and its second copy need two slots.
        self.stall == 0 && self.arrivals + 2 <= CAPACITY
    }

    /// The item that arrives in this cycle.
    #[inline]
    pub fn arriving(&self) -> Option<Item> {
        self.slots[self.now % SLOTS]
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrivals == 0
    }

    /// Whether no item will be delayed any more.
    #[inline]
    pub fn is_steady(&self) -> bool {
        self.stalls.is_empty() && self.stall == 0
    }

    /// Advances one cycle with the valid of the offer. Returns whether the offer is accepted.
    #[inline]
    pub fn clock(&mut self, valid: bool) -> bool {
        let taken = valid && self.ready();
        let arrives = self.slots[self.now % SLOTS].take().is_some();
        self.arrivals -= usize::from(arrives);
        self.now = (self.now + 1) % SLOTS;
        self.order = self.order.saturating_sub(1);
        if taken {
            self.next_stall();
        } else if valid {
            self.stall = self.stall.saturating_sub(1);
        }
        taken
    }

    /// Sends the item that was accepted at the edge of the last [`Lane::clock`].
    #[inline]
    pub fn send<Damage>(
        &mut self,
        item: Item,
        effect: Option<&LinkEffect<Damage>>,
        damaged: impl Fn(Item, &Damage) -> Item,
    ) {
        let Some(LinkEffect { delay, lost, damage, again, count: _ }) = effect else {
            self.order = self.store_arrival(self.delay.max(self.order), item) + 1;
            return;
        };
        self.used += 1;
        if lost.get() == 1 {
            return;
        }
        let item = damage.as_ref().map_or(item, |damage| damaged(item, damage));
        let delay = delay.map_or(self.delay, |delay| delay.get() as usize);
        let arrival = self.store_arrival(delay.max(self.order), item);
        self.order = arrival + 1;
        if let Some(again) = again {
            self.store_arrival(arrival + again.get() as usize, item);
        }
    }

    /// Stores an arrival in the first free slot from `cycles` on. Returns its cycle.
    #[inline]
    fn store_arrival(&mut self, mut cycles: usize, item: Item) -> usize {
        let place = |cycles: usize| (self.now + cycles) % SLOTS;
        while self.slots[place(cycles)].is_some() {
            cycles += 1;
        }
        self.slots[place(cycles)] = Some(item);
        self.arrivals += 1;
        cycles
    }

    /// Drops all items on the way.
    pub fn flush(&mut self) {
        if self.arrivals > 0 {
            self.slots.fill(None);
            self.arrivals = 0;
        }
        self.order = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_takes_nothing_and_loses_nothing() {
        let json = r#"{"delay": 255, "again": 255, "count": 65535}"#;
        let all: LinkEffect<u32> = serde_json::from_str(json).unwrap();
        let mut lane = Lane::new(Uint::new(0), &[]);
        let mut taken = 0;
        let mut arrived = 0;
        for cycle in 0..10_000 {
            arrived += u32::from(lane.arriving().is_some());
            if lane.clock(true) {
                lane.send(taken, Some(&all), |item, damage| item ^ damage);
                taken += 1;
            }
            assert!(lane.arrivals <= CAPACITY);
            // Each item needs two slots, so at most one slot is left when the lane is full.
            assert!(cycle < CAPACITY / 2 || lane.arrivals + 2 >= CAPACITY);
        }
        while !lane.is_empty() {
            arrived += u32::from(lane.arriving().is_some());
            lane.clock(false);
        }
        assert_eq!(arrived, 2 * taken);
    }
}
