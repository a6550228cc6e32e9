//! Waits, one after the other.

use crate::value::Uint;

/// How long one thing after another waits, in cycles, as a list of a traffic has it; behind its end nothing does.
#[derive(Debug, Clone)]
pub struct Delays<'a> {
    rest: &'a [Uint<12>],
    /// Cycles that the present one still waits.
    left: u64,
}

impl<'a> Delays<'a> {
    /// Those of a list.
    pub fn new(all: &'a [Uint<12>]) -> Self {
        let mut waits = Self { rest: all, left: 0 };
        waits.next();
        waits
    }

    /// The present one is over: the next one's time begins.
    #[inline]
    pub fn next(&mut self) {
        (self.left, self.rest) = match self.rest.split_first() {
            Some((first, rest)) => (first.get(), rest),
            None => (0, self.rest),
        };
    }

    /// Whether the present one waits no more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// The edge while there is something that waits, and that stays when its time has come.
    #[inline]
    pub fn wait(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// The edge while there is something that waits; whether its time has come, and the next one's begins.
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
