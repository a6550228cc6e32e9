//! One case of a run, and what its seed gives.

use super::contract::LongCases;
use super::draw::Draw;
use super::rng::CaseRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::RangeInclusive;
use verilated::BeforeReset;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Cases of a profile and scenario are counted below this, so that places never overflow.
pub const MOST_CASES: u64 = 1 << 47;
/// Packets of a case at most: its vector must not be larger than vectors may be.
pub const MOST_PACKETS: u32 = 20_000;
/// Older versions also ran variations of a case. Their indices start at [`MOST_CASES`], this many for each case.
const VARIATIONS: u64 = 64;

/// An index as names have it: `17`, or `17~3` for a variation in results of an older version.
pub fn index_text(index: u64) -> String {
    match index.checked_sub(MOST_CASES) {
        None => index.to_string(),
        Some(number) => format!("{}~{}", number / VARIATIONS, number % VARIATIONS),
    }
}

/// The index that a name has; none if there is no such case.
pub fn parse_index(text: &str) -> Option<u64> {
    text.parse().ok().filter(|index| *index < MOST_CASES)
}

impl Case {
    /// The case's random numbers.
    pub fn rng(&self) -> CaseRng {
        CaseRng::seed_from_u64(self.seed)
    }

    /// Packets of the case, unless a run says how many: from the seed alone, apart from the stimulus.
    /// Most are few, since a short case that fails needs no shrinking; some are many, since what goes wrong
    /// after a thousand packets is found by nothing else, and a few may be far longer.
    pub fn packets(&self, long: Option<&LongCases>) -> u32 {
        if let Some(LongCases { percent, packets }) = long {
            let mut rng = CaseRng::seed_from_u64(case_seed(self.seed, "long"));
            if rng.chance(*percent) {
                return packets.draw(&mut rng) as u32;
            }
        }
        let mut rng = CaseRng::seed_from_u64(case_seed(self.seed, "packets"));
        let mut kind = rng.random_range(0..PER_MILLE);
        for (weight, packets) in LENGTHS {
            if kind < weight {
                return rng.random_range(packets);
            }
            kind -= weight;
        }
        USUAL
    }

    /// What registers hold until they are reset: zeros, ones or random bits, as often. A register without
    /// reset may do the right thing with any one of them.
    pub fn before_reset(&self) -> BeforeReset {
        let mut rng = CaseRng::seed_from_u64(case_seed(self.seed, "before reset"));
        match rng.random_range(0..3) {
            0 => BeforeReset::Zeros,
            1 => BeforeReset::Ones,
            _ => BeforeReset::Random(rng.random()),
        }
    }
}

const PER_MILLE: u32 = 1000;
/// Packets of most cases at most.
const USUAL: u32 = 64;
/// Packets of a case at most, but for a scenario's long ones.
pub const LONGEST: u32 = 3000;
/// How many of a thousand cases have how many packets: 64 on average.
const LENGTHS: [(u32, RangeInclusive<u32>); 5] =
    [(80, 1..=2), (560, 3..=USUAL), (315, USUAL + 1..=100), (40, 101..=600), (5, 601..=LONGEST)];

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
    use crate::harness::{Percent, Span};

    /// A case of its own for each number.
    fn case(index: u64) -> Case {
        Case {
            place: index,
            profile: 0,
            scenario: 0,
            name: String::new(),
            seed: case_seed(1, &index.to_string()),
        }
    }

    #[test]
    fn seeds_never_change() {
        // First 8 bytes of SHA-256("1:thread2/spec/smoke/0"), little endian.
        assert_eq!(case_seed(1, "thread2/spec/smoke/0"), SEED_OF_SMOKE_0);
    }

    #[test]
    fn an_index_is_told_and_read_and_no_two_are_the_same() {
        for (index, text) in [(0, "0"), (MOST_CASES - 1, "140737488355327")] {
            assert_eq!(index_text(index), text);
            assert_eq!(parse_index(text), Some(index));
        }
        for wrong in ["140737488355328", "1~2", "~1", "1~", "-1", ""] {
            assert_eq!(parse_index(wrong), None, "{wrong}");
        }
        assert_eq!(index_text(MOST_CASES + 17 * VARIATIONS + 3), "17~3");
    }

    #[test]
    fn lengths_have_a_tail_and_cost_what_64_packets_do() {
        assert_eq!(LENGTHS.iter().map(|(weight, _)| weight).sum::<u32>(), PER_MILLE);
        let lengths: Vec<u32> = (0..20_000).map(|index| case(index).packets(None)).collect();
        let share = |from, to| {
            lengths.iter().filter(|packets| (from..=to).contains(*packets)).count() as u64 * 100
                / 20_000
        };
        assert!((6..=10).contains(&share(1, 2)));
        assert!((62..=66).contains(&share(1, 64)));
        assert!((3..=6).contains(&share(101, 3000)));
        assert!(lengths.iter().any(|packets| *packets > 2000));
        let mean = lengths.iter().map(|packets| u64::from(*packets)).sum::<u64>() / 20_000;
        assert!((58..=72).contains(&mean), "{mean}");
    }

    #[test]
    fn some_cases_of_a_scenario_are_far_longer_and_the_others_are_as_without_them() {
        let long = LongCases { percent: Percent::new(2), packets: Span::new(60_000, 70_000) };
        let mut many = 0;
        for index in 0..5000_u64 {
            let case = case(index);
            let packets = case.packets(Some(&long));
            if packets > LONGEST {
                assert!((60_000..=70_000).contains(&packets), "{packets}");
                many += 1;
            } else {
                assert_eq!(packets, case.packets(None));
            }
        }
        assert!((60..140).contains(&many), "{many}");
    }

    #[test]
    fn registers_begin_as_zeros_ones_and_random_bits() {
        let drawn: Vec<BeforeReset> = (0..3000).map(|index| case(index).before_reset()).collect();
        let often = |wanted| drawn.iter().filter(|drawn| **drawn == wanted).count();
        assert!((900..1100).contains(&often(BeforeReset::Zeros)));
        assert!((900..1100).contains(&often(BeforeReset::Ones)));
        let seeds: std::collections::HashSet<u32> = drawn
            .iter()
            .filter_map(|drawn| match drawn {
                BeforeReset::Random(seed) => Some(*seed),
                _ => None,
            })
            .collect();
        assert!((900..1100).contains(&seeds.len()), "each has a seed of its own");
    }

    /// From `printf 1:thread2/spec/smoke/0 | sha256sum`.
    const SEED_OF_SMOKE_0: u64 = 0x2e60_1c28_b977_8eb1;
}
