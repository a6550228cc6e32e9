//! The random numbers of a case.

use rand::{Rng, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

/// The random number generator of a case. It is portable, so a seed means the same on every
/// machine.
#[derive(Debug, Clone)]
pub struct CaseRng {
    generator: Xoshiro256PlusPlus,
    case: u64,
}

impl CaseRng {
    /// The same generator for the case with this index.
    #[must_use]
    pub fn for_case(self, case: u64) -> Self {
        Self { case, ..self }
    }

    /// The index of the case among those of its profile and scenario. A stimulus that covers all
    /// inputs takes the part with this index; others need no index.
    pub const fn case(&self) -> u64 {
        self.case
    }
}

impl SeedableRng for CaseRng {
    type Seed = <Xoshiro256PlusPlus as SeedableRng>::Seed;

    fn from_seed(seed: Self::Seed) -> Self {
        Self { generator: Xoshiro256PlusPlus::from_seed(seed), case: 0 }
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed), case: 0 }
    }
}

impl TryRng for CaseRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.generator.next_u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.generator.next_u64())
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
}
