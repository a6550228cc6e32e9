//! A list of delays that are used one after the other.

use crate::value::Uint;

/// The delays of consecutive items, in cycles, as a traffic lists them. Items after the end of
/// the list have no delay.
#[derive(Debug, Clone)]
pub struct Delays<'a> {
    rest: &'a [Uint<12>],
    /// Remaining delay of the current item.
    left: u64,
}

impl<'a> Delays<'a> {
    /// The delays of a list.
    pub fn new(all: &'a [Uint<12>]) -> Self {
        let mut waits = Self { rest: all, left: 0 };
        waits.next();
        waits
    }

    /// Finishes the current item and starts the delay of the next one.
    #[inline]
    pub fn next(&mut self) {
        (self.left, self.rest) = match self.rest.split_first() {
            Some((first, rest)) => (first.get(), rest),
            None => (0, self.rest),
        };
    }

    /// Whether the delay of the current item is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Takes an edge while an item is waiting. An item whose delay is over stays current.
    #[inline]
    pub fn wait(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Takes an edge while an item is waiting. Returns whether its delay is over, and starts the
    /// next delay if so.
    #[inline]
    pub fn clock(&mut self) -> bool {
        let over = self.is_over();
        match over {
            true => self.next(),
            false => self.left -= 1,
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waits_its_time_and_those_behind_the_list_none() {
        let list = [Uint::new(2), Uint::new(0), Uint::new(1)];
        let mut waits = Delays::new(&list);
        let over: Vec<bool> = (0..7).map(|_| waits.clock()).collect();
        assert_eq!(over, [false, false, true, true, false, true, true]);
    }

    #[test]
    fn what_stays_is_over_until_the_next_one_comes() {
        let list = [Uint::new(1), Uint::new(1)];
        let mut waits = Delays::new(&list);
        let mut over = || {
            waits.wait();
            waits.is_over()
        };
        assert_eq!([over(), over()], [true, true]);
        waits.next();
        assert!(!waits.is_over());
    }
}
