//! One case of a run, and what its seed gives.

use super::contract::CaseRng;
use rand::SeedableRng;
use sha2::{Digest, Sha256};

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Place in the plan.
    pub place: u64,
    /// Index into the plan's profiles.
    pub profile: usize,
    /// Index into the plan's scenarios.
    pub scenario: usize,
    /// `block/profile/scenario/index`.
    pub name: String,
    /// From the run's seed and the name alone.
    pub seed: u64,
}

impl Case {
    /// The case's random numbers.
    pub fn rng(&self) -> CaseRng {
        CaseRng::seed_from_u64(self.seed)
    }
}

/// The seed of the case `name` in a run with `seed`.
pub fn case_seed(seed: u64, name: &str) -> u64 {
    let hash = Sha256::new_with_prefix(format!("{seed}:{name}")).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_never_change() {
        // First 8 bytes of SHA-256("1:thread2/spec/smoke/0"), little endian.
        assert_eq!(case_seed(1, "thread2/spec/smoke/0"), SEED_OF_SMOKE_0);
    }

    /// From `printf 1:thread2/spec/smoke/0 | sha256sum`.
    const SEED_OF_SMOKE_0: u64 = 0x2e60_1c28_b977_8eb1;
}
