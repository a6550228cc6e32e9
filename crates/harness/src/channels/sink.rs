//! A sink: it takes items from a channel.

use crate::agent::AgentTraffic;
use crate::harness::{Delays, Traffic, longest};
use crate::value::Uint;

/// Takes items, each after a stall: ready is low for that many cycles after the item before it.
#[derive(Debug, Clone)]
pub struct Sink<'a> {
    stalls: Delays<'a>,
    after_valid: bool,
    /// Whether valid was high in the cycle before.
    seen: bool,
    taken: u64,
}

impl<'a> Sink<'a> {
    /// A sink with the stalls of consecutive items. Items after the end of the list have none.
    pub fn new(stalls: &'a [Uint<12>]) -> Self {
        Self { stalls: Delays::new(stalls), after_valid: false, seen: false, taken: 0 }
    }

    /// The same sink, but ready waits until valid is high, if `after_valid`. It rises in the cycle
    /// after the stall at the earliest.
    #[must_use]
    pub fn waiting(self, after_valid: bool) -> Self {
        Self { after_valid, ..self }
    }

    /// Whether ready is high in this cycle.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.stalls.is_over() && (self.seen || !self.after_valid)
    }

    /// Takes the edge of a cycle outside reset. Returns whether an item was taken.
    #[inline]
    pub fn clock(&mut self, valid: bool) -> bool {
        self.clock_with_ready(valid, self.is_ready())
    }

    /// As [`Self::clock`], with the value of the pin in this cycle.
    #[inline]
    pub fn clock_with_ready(&mut self, valid: bool, ready: bool) -> bool {
        let taken = valid && ready;
        if taken {
            self.stalls.next();
        } else if valid || !self.after_valid {
            self.stalls.wait();
        }
        self.seen = valid && !taken;
        self.taken += u64::from(taken);
        taken
    }

    /// Takes the edge of a cycle in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.seen = false;
    }

    /// Items that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }
}

/// The stalls of a sink.
impl Traffic for Vec<Uint<12>> {}

impl AgentTraffic for Vec<Uint<12>> {
    fn longest_delay(&self) -> u64 {
        longest(self.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_is_low_for_the_stall_whether_an_item_is_there_or_not() {
        let stalls = [Uint::new(1), Uint::new(2)];
        let mut sink = Sink::new(&stalls);
        let valid = [true, true, false, true, true, true];
        let taken: Vec<bool> = valid.iter().map(|valid| sink.clock(*valid)).collect();
        assert_eq!(taken, [false, true, false, false, true, true]);
        assert_eq!(sink.taken(), 3);
    }

    #[test]
    fn a_ready_waits_for_valid() {
        let stalls = [Uint::new(1)];
        let mut sink = Sink::new(&stalls).waiting(true);
        let mut ready = |valid| {
            let ready = sink.is_ready();
            sink.clock(valid);
            ready
        };
        assert_eq!([false, true, true, true].map(&mut ready), [false, false, true, false]);
    }
}
