//! One case of a run: its name, its seed, and what the seed determines.

use super::draw::Draw;
use super::generator::LongCases;
use super::rng::CaseRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::RangeInclusive;
use verilated::BeforeReset;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Position in the plan.
    pub place: u64,
    /// Index into the plan's profiles.
    pub profile: usize,
    /// Index into the plan's scenarios.
    pub scenario: usize,
    /// `block/profile/scenario/index`.
    pub name: String,
    /// A hash of the run's seed and the name. It does not depend on the position in the plan.
    pub seed: u64,
}

/// Limit of the cases of a profile and scenario, so that positions never overflow.
pub const MOST_CASES: u64 = 1 << 47;
/// Most packets of a case, so that its vector stays within the size limit of vectors.
pub const MOST_PACKETS: u32 = 20_000;

/// The index in a name; `None` if no case can have it.
pub fn parse_index(text: &str) -> Option<u64> {
    text.parse().ok().filter(|index| *index < MOST_CASES)
}

impl Case {
    /// A case of a run with `seed`. Profile and scenario come with their names.
    pub fn of_run(
        seed: u64,
        block: &str,
        place: u64,
        (profile, profile_name): (usize, &str),
        (scenario, scenario_name): (usize, &str),
        index: u64,
    ) -> Self {
        let name = format!("{block}/{profile_name}/{scenario_name}/{index}");
        let seed = case_seed(seed, &name);
        Self { place, profile, scenario, name, seed }
    }

    /// The random numbers of the case.
    pub fn rng(&self) -> CaseRng {
        let index = self.name.rsplit('/').next().and_then(parse_index);
        CaseRng::seed_from_u64(self.seed).for_case(index.unwrap_or(0))
    }

    /// Number of packets, unless the run sets one. It depends on the seed only and not on the
    /// stimulus. Most cases are short, because a short failing case needs no shrinking. Some are
    /// long, because some bugs need a thousand packets.
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

    /// Register contents before reset: zeros, ones or random bits, equally often. A register
    /// without reset may work by chance with one of them.
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
/// Most packets of an ordinary case.
const USUAL: u32 = 64;
/// Most packets of a case, except for the long cases of a scenario.
pub const LONGEST: u32 = 3000;
/// Distribution of the number of packets over a thousand cases: 64 on average.
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

    /// Returns a separate case for each number.
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
    fn an_index_is_written_and_read_and_no_two_are_the_same() {
        for (index, text) in [(0, "0"), (MOST_CASES - 1, "140737488355327")] {
            assert_eq!(index.to_string(), text);
            assert_eq!(parse_index(text), Some(index));
        }
        for wrong in ["140737488355328", "1~2", "~1", "1~", "-1", ""] {
            assert_eq!(parse_index(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_generator_knows_the_index_of_its_case() {
        let named = Case { name: "block/spec/default/17".to_owned(), ..case(3) };
        assert_eq!(named.rng().case(), 17);
        assert_eq!(case(3).rng().case(), 0, "without a name");
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
