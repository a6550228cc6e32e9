//! The random numbers of a case, and of a variation of it.

use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

/// The random numbers of a case; portable, so that a seed means the same on every machine.
///
/// Those of a variation are the numbers of another case, some of them replaced. A generator makes legal stimulus of whatever
/// it draws, so what comes of them is legal, and much like that case.
#[derive(Debug, Clone)]
pub struct CaseRng {
    numbers: Xoshiro256PlusPlus,
    variation: Option<Box<Variation>>,
}

/// What is replaced.
#[derive(Debug, Clone)]
struct Variation {
    numbers: Xoshiro256PlusPlus,
    /// Of so many numbers one.
    one_in: u32,
    /// So many numbers are kept, but for those; behind them all are replaced.
    keeps: u64,
}

impl CaseRng {
    /// The numbers of `self`, some of them replaced as `seed` says: all from some place on, or single ones, or both.
    #[must_use]
    pub fn varied(self, seed: u64) -> Self {
        let mut numbers = Xoshiro256PlusPlus::seed_from_u64(seed);
        let kind = numbers.random_range(0..4);
        // Sizes of cases differ by orders of magnitude, and so do these.
        let one_in = if kind == 0 { u32::MAX } else { 1 << numbers.random_range(2..10) };
        let most = 1 << numbers.random_range(3..14);
        let keeps = if kind > 1 { u64::MAX } else { numbers.random_range(1..most) };
        Self { variation: Some(Box::new(Variation { numbers, one_in, keeps })), ..self }
    }
}

impl Variation {
    /// A number in place of one, or that one.
    fn replace(&mut self, number: u64) -> u64 {
        if self.keeps > 0 {
            self.keeps -= 1;
            if self.one_in == u32::MAX || self.numbers.random_range(0..self.one_in) > 0 {
                return number;
            }
        }
        self.numbers.next_u64()
    }
}

impl SeedableRng for CaseRng {
    type Seed = <Xoshiro256PlusPlus as SeedableRng>::Seed;

    fn from_seed(seed: Self::Seed) -> Self {
        Self { numbers: Xoshiro256PlusPlus::from_seed(seed), variation: None }
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self { numbers: Xoshiro256PlusPlus::seed_from_u64(seed), variation: None }
    }
}

impl TryRng for CaseRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let number = self.numbers.next_u32();
        match &mut self.variation {
            None => Ok(number),
            Some(variation) => Ok(variation.replace(u64::from(number)) as u32),
        }
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let number = self.numbers.next_u64();
        match &mut self.variation {
            None => Ok(number),
            Some(variation) => Ok(variation.replace(number)),
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let number = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(mut rng: CaseRng) -> Vec<u64> {
        (0..10_000).map(|_| rng.next_u64()).collect()
    }

    #[test]
    fn the_numbers_are_those_of_the_plain_generator() {
        let mut plain = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut rng = CaseRng::seed_from_u64(7);
        for _ in 0..100 {
            assert_eq!(rng.next_u32(), plain.next_u32());
            assert_eq!(rng.next_u64(), plain.next_u64());
        }
        let (mut ours, mut theirs) = ([0; 13], [0; 13]);
        rng.fill_bytes(&mut ours);
        plain.fill_bytes(&mut theirs);
        assert_eq!(ours, theirs);
    }

    #[test]
    fn a_variation_keeps_some_of_the_numbers_and_is_always_the_same() {
        let case = || CaseRng::seed_from_u64(1);
        let plain = numbers(case());
        let (mut ends_differently, mut few_differ) = (0, 0);
        for seed in 0..64 {
            let varied = numbers(case().varied(seed));
            assert_eq!(varied, numbers(case().varied(seed)));
            let differs = |at: &usize| varied[*at] != plain[*at];
            let differ = (0..plain.len()).filter(differs).count();
            assert!(differ > 0, "{seed}");
            ends_differently += u32::from((9000..10_000).all(|at| differs(&at)));
            few_differ += u32::from(differ < 5000);
        }
        assert!(ends_differently > 8 && few_differ > 16, "{ends_differently} {few_differ}");
    }
}
