//! A sink: it takes items from a channel.

use crate::harness::Delays;
use crate::value::Uint;

/// Takes items, each after a stall: ready is low for that many cycles after the item before it.
#[derive(Debug, Clone)]
pub struct Sink<'a> {
    stalls: Delays<'a>,
    taken: u64,
}

impl<'a> Sink<'a> {
    /// A sink with the stalls of consecutive items. Items after the end of the list have none.
    pub fn new(stalls: &'a [Uint<12>]) -> Self {
        Self { stalls: Delays::new(stalls), taken: 0 }
    }

    /// Whether ready is high in this cycle.
    #[inline]
    pub fn ready(&self) -> bool {
        self.stalls.is_over()
    }

    /// Takes the edge of a cycle outside reset. Returns whether an item was taken.
    #[inline]
    pub fn clock(&mut self, valid: bool) -> bool {
        let taken = valid && self.ready();
        if taken {
            self.stalls.next();
        } else {
            self.stalls.wait();
        }
        self.taken += u64::from(taken);
        taken
    }

    /// Items that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The longest stall in cycles.
    pub fn longest_delay(stalls: &[Uint<12>]) -> u64 {
        stalls.iter().map(|stall| stall.get()).max().unwrap_or(0)
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
}
