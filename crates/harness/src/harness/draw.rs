//! Random draws of generators that the `rand` crate does not have.

use super::reset::Reset;
use super::rng::CaseRng;
use crate::value::Uint;
use rand::RngExt;
use serde::de::{Deserializer, Error as _, Unexpected};
use serde::{Deserialize, Serialize};
use verilated::Bits;

/// A chance in percent, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Percent(u64);

impl Percent {
    /// A chance of so many percent.
    ///
    /// # Panics
    /// If it is above 100.
    pub const fn new(percent: u64) -> Self {
        assert!(percent <= 100, "a percentage is from 0 to 100");
        Self(percent)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if number > 100 {
            let expected = &"a percentage from 0 to 100";
            return Err(D::Error::invalid_value(Unexpected::Unsigned(number), expected));
        }
        Ok(Self(number))
    }
}

/// Draws numbers whose width is part of their type.
pub trait Draw {
    /// True with the given chance. Uses no random number if the chance is 0.
    fn chance(&mut self, percent: Percent) -> bool;

    /// Any number.
    fn bits<const WIDTH: u32>(&mut self) -> Uint<WIDTH>;

    /// A number up to `most` at which comparisons and carries tend to fail: 0, 1, `most`, the one
    /// before it, a power of two, or the number before a power of two.
    fn corner(&mut self, most: u64) -> u64;

    /// Any number; a [corner](Self::corner) of its width with the given chance.
    #[inline]
    fn bits_or_corner<const WIDTH: u32>(&mut self, corners: Percent) -> Uint<WIDTH> {
        match self.chance(corners) {
            true => Uint::new(self.corner(Uint::<WIDTH>::MAX)),
            false => self.bits(),
        }
    }

    /// A delay of 1 to `longest` cycles with the given chance, else 0.
    fn wait<const WIDTH: u32>(&mut self, chance: Percent, longest: Uint<WIDTH>) -> Uint<WIDTH>;

    /// The delays of `count` consecutive items. Zeros at the end are left out.
    fn waits(&mut self, count: u64, chance: Percent, longest: Uint<12>) -> Vec<Uint<12>> {
        let mut waits: Vec<Uint<12>> = (0..count).map(|_| self.wait(chance, longest)).collect();
        let used = waits.iter().rposition(|wait| wait.get() > 0).map_or(0, |last| last + 1);
        waits.truncate(used);
        waits
    }

    /// A reset of 1 to 3 cycles with the given chance, fewer than `within` cycles after its packet.
    fn reset(&mut self, chance: Percent, within: u64) -> Option<Reset>;

    /// A flag that is 1 with the given chance.
    fn flag(&mut self, chance: Percent) -> Uint<1> {
        self.chance(chance).into()
    }

    /// Random words, for the pins of a port.
    fn words<const N: usize>(&mut self) -> [u32; N];

    /// One of these values, each as likely as the others.
    fn one_of<T: Copy>(&mut self, values: &[T]) -> T;

    /// A pin that is high with this probability.
    fn pin(&mut self, probability: f64) -> Bits<1, u8>;

    /// How often each of some handshake pins is high in a case: some cases run free and others
    /// crawl.
    fn probabilities<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.one_of(&[0.1, 0.5, 0.9, 1.0]))
    }
}

impl Draw for CaseRng {
    #[inline]
    fn chance(&mut self, percent: Percent) -> bool {
        percent.get() > 0 && (u64::from(self.random::<u32>()) * 100) >> 32 < percent.get()
    }

    #[inline]
    fn bits<const WIDTH: u32>(&mut self) -> Uint<WIDTH> {
        Uint::new(self.random())
    }

    fn corner(&mut self, most: u64) -> u64 {
        match self.random_range(0..6) {
            0 => 0,
            1 => most.min(1),
            2 => most,
            3 => most.saturating_sub(1),
            which => {
                let power = 1 << self.random_range(0..=most.max(1).ilog2());
                (power - u64::from(which == 4)).min(most)
            }
        }
    }

    #[inline]
    fn wait<const WIDTH: u32>(&mut self, chance: Percent, longest: Uint<WIDTH>) -> Uint<WIDTH> {
        if longest.get() > 0 && self.chance(chance) {
            Uint::new(self.random_range(1..=longest.get()))
        } else {
            Uint::new(0)
        }
    }

    fn reset(&mut self, chance: Percent, within: u64) -> Option<Reset> {
        self.chance(chance).then(|| Reset {
            after: Uint::new(self.random_range(0..within)),
            cycles: Uint::new(self.random_range(1..=3)),
        })
    }

    // A plain loop, because `array::from_fn` is not inlined here.
    #[inline]
    fn words<const N: usize>(&mut self) -> [u32; N] {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.random();
        }
        words
    }

    #[inline]
    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.random_range(0..values.len())]
    }

    #[inline]
    fn pin(&mut self, probability: f64) -> Bits<1, u8> {
        Bits::from(self.random_bool(probability))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    #[test]
    fn chances_are_as_often_as_they_say() {
        let mut rng = CaseRng::seed_from_u64(1);
        let mut often = |percent| (0..10_000).filter(|_| rng.chance(Percent::new(percent))).count();
        assert_eq!(often(0), 0);
        assert_eq!(often(100), 10_000);
        assert!((2_300..2_700).contains(&often(25)));
    }

    #[test]
    fn corners_are_the_ends_of_a_range_and_the_powers_of_two_in_it() {
        let mut rng = CaseRng::seed_from_u64(1);
        let mut drawn = |most| -> BTreeSet<u64> { (0..2000).map(|_| rng.corner(most)).collect() };
        assert_eq!(drawn(0), BTreeSet::from([0]));
        assert_eq!(drawn(1), BTreeSet::from([0, 1]));
        assert_eq!(drawn(20), BTreeSet::from([0, 1, 2, 3, 4, 7, 8, 15, 16, 19, 20]));
        assert_eq!(drawn(15), BTreeSet::from([0, 1, 2, 3, 4, 7, 8, 14, 15]));
        let widest = drawn(u64::MAX);
        assert!(
            [0, 1, 1 << 63, (1 << 63) - 1, u64::MAX - 1, u64::MAX]
                .iter()
                .all(|number| widest.contains(number))
        );
    }

    #[test]
    fn numbers_are_corners_with_the_given_chance() {
        let mut rng = CaseRng::seed_from_u64(1);
        let mut zeros = |percent| {
            let drawn = (0..6000).map(|_| rng.bits_or_corner::<32>(Percent::new(percent)).get());
            drawn.filter(|number| *number == 0).count()
        };
        assert_eq!(zeros(0), 0);
        assert!((900..1400).contains(&zeros(100)));
        assert!((60..180).contains(&zeros(10)));
    }

    #[test]
    fn waits_stay_within_their_limit_and_reach_it() {
        let mut rng = CaseRng::seed_from_u64(1);
        let waits: Vec<u64> =
            (0..1000).map(|_| rng.wait(Percent::new(50), Uint::<12>::new(3)).get()).collect();
        assert_eq!(waits.iter().max(), Some(&3));
        assert_eq!(waits.iter().min(), Some(&0));
        assert_eq!(rng.wait(Percent::new(100), Uint::<12>::new(0)).get(), 0);
    }
}
