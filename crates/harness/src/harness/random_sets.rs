//! Random profiles for `--fixes random:N`: legal parameter sets that the seed of a run draws.
//!
//! A set has an ordinary name, as `0x01+HIGH=3+LOW=200`, so vectors, results and commands can
//! name it.

use super::drawn::case_seed;
use super::parameters::{MOST_RANDOM, Overrides, Parameter, Profile, ProfileError};
use super::rng::CaseRng;
use rand::{RngExt, SeedableRng};

/// The prefix of their number.
const RANDOM: &str = "random:";
/// Draws per requested profile before the search for further sets ends.
const ATTEMPTS: usize = 64;

impl Profile {
    /// As [`Profile::parse`], and `random:N` draws N parameter sets for `block` from `seed`. All
    /// are different, and none is a profile of the block. If fewer sets exist, it returns those;
    /// if none exists, the first profile.
    ///
    /// # Errors
    /// As [`Profile::parse`]; [`ProfileError::Random`] for another N.
    pub fn choose(
        text: &str,
        profiles: &[Self],
        block: &str,
        seed: u64,
    ) -> Result<Vec<Self>, ProfileError> {
        let mut chosen: Vec<Self> = Vec::new();
        for one in text.split(',') {
            let found = match one.strip_prefix(RANDOM) {
                None => Self::parse(one, profiles)?,
                Some(count) => {
                    let wrong = || ProfileError::Random(one.to_owned());
                    let count = count.parse().map_err(|_| wrong())?;
                    if !(1..=MOST_RANDOM).contains(&count) {
                        return Err(wrong());
                    }
                    let seed = case_seed(seed, &format!("{block}/{RANDOM}"));
                    random(count, profiles, seed)?
                }
            };
            for profile in found {
                if !chosen.contains(&profile) {
                    chosen.push(profile);
                }
            }
        }
        Ok(chosen)
    }
}

fn random(count: usize, profiles: &[Profile], seed: u64) -> Result<Vec<Profile>, ProfileError> {
    let mut rng = CaseRng::seed_from_u64(seed);
    let mut found: Vec<Profile> = Vec::new();
    let Some(first) = profiles.first() else { return Ok(found) };
    for _ in 0..count * ATTEMPTS {
        if found.len() == count {
            break;
        }
        for profile in draw_set(first, profiles, &mut rng)? {
            if !profiles.contains(&profile) && !found.contains(&profile) {
                found.push(profile);
            }
        }
    }
    if found.is_empty() {
        found.push(first.clone());
    }
    Ok(found)
}

/// One set: a mask, if the block has errata, and a value of each parameter.
fn draw_set(
    first: &Profile,
    profiles: &[Profile],
    rng: &mut CaseRng,
) -> Result<Vec<Profile>, ProfileError> {
    let base = match Profile::has_mask(profiles) {
        false => first.name.to_string(),
        true => format!("0x{:02x}", mask(rng)),
    };
    let mut values = Overrides::new();
    for parameter in first.parameters.declared {
        let beside: Vec<u64> = values.values().copied().collect();
        values.insert(parameter.name.to_owned(), value(parameter, &beside, rng));
    }
    Profile::with_overrides(&Profile::bases(&base, profiles)?, &values, profiles)
}

/// Draws a mask of fixes: often one fix alone on or alone off, so that dependencies between fixes
/// show.
fn mask(rng: &mut CaseRng) -> u8 {
    let alone = 1u8 << rng.random_range(0..8);
    match rng.random_range(0..4) {
        0 => alone,
        1 => !alone,
        _ => rng.random(),
    }
}

/// Draws a legal value: an end of its range, a value next to that of another parameter, or any
/// value on a logarithmic scale.
fn value(parameter: &Parameter, beside: &[u64], rng: &mut CaseRng) -> u64 {
    let Parameter { least, most, .. } = *parameter;
    let any = |rng: &mut CaseRng| {
        let (low, high) = (least.max(1).ilog2(), most.max(1).ilog2());
        let power = 1u64 << rng.random_range(low..=high);
        match parameter.power_of_two {
            true => power,
            false => (power + rng.random_range(0..power)).clamp(least, most),
        }
    };
    let drawn = match rng.random_range(0..8) {
        0 => least,
        1 => most,
        2 | 3 if !beside.is_empty() => {
            let near = beside[rng.random_range(0..beside.len())];
            (near + rng.random_range(0..3)).saturating_sub(1)
        }
        _ => any(rng),
    };
    if parameter.allows(drawn) { drawn } else { any(rng) }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Parameters;
    use super::*;
    use std::collections::BTreeSet;

    const fn parameter(name: &'static str, least: u64, most: u64, power_of_two: bool) -> Parameter {
        Parameter { name, default: 16, least, most, power_of_two, about: "" }
    }

    const DECLARED: &[Parameter] = &[
        parameter("DEPTH", 2, 2048, true),
        parameter("LOW", 1, 255, false),
        parameter("HIGH", 0, 255, false),
    ];

    fn profiles() -> Vec<Profile> {
        let of = |fixes| Parameters::declared(DECLARED, fixes);
        vec![Profile::new("spec", of(0)), Profile::new("repaired", of(0xff))]
    }

    fn choose(text: &str, seed: u64) -> Vec<Profile> {
        Profile::choose(text, &profiles(), "b", seed).unwrap()
    }

    #[test]
    fn a_seed_draws_the_same_sets_and_the_names_are_read_again() {
        let found = choose("random:8", 7);
        assert_eq!(found.len(), 8);
        assert_eq!(found, choose("random:8", 7));
        assert_eq!(found[..3], choose("random:3", 7));
        assert_ne!(found, choose("random:8", 8));
        let names: BTreeSet<&str> = found.iter().map(|profile| &*profile.name).collect();
        assert_eq!(names.len(), 8);
        for profile in &found {
            assert_eq!(
                Profile::parse(&profile.name, &profiles()).unwrap(),
                std::slice::from_ref(profile)
            );
        }
        let other = Profile::choose("random:8", &profiles(), "c", 7).unwrap();
        assert_ne!(found, other, "blocks do not draw the same");
    }

    /// What no fixed profile need have: LOW above, at and below HIGH, ends of ranges, single fixes.
    #[test]
    fn corners_are_drawn_often_and_every_set_is_legal() {
        let found = choose("random:64", 1);
        let values = |profile: &Profile| [0, 1, 2].map(|index| profile.parameters.get(index));
        let count = |holds: &dyn Fn(&Profile) -> bool| {
            found.iter().filter(|profile| holds(profile)).count()
        };
        for profile in &found {
            let legal = DECLARED.iter().zip(values(profile));
            assert!(legal.into_iter().all(|(parameter, value)| parameter.allows(value)));
        }
        assert!(count(&|one| values(one)[1] > values(one)[2]) >= 8);
        assert!(count(&|one| values(one)[1] < values(one)[2]) >= 8);
        assert!(count(&|one| values(one)[1].abs_diff(values(one)[2]) <= 1) >= 4);
        assert!(count(&|one| one.parameters.fixes().count_ones() == 1) >= 4);
        assert!(count(&|one| one.parameters.fixes().count_zeros() == 1) >= 4);
        assert!(count(&|one| values(one)[0] == 2048) >= 4);
    }

    #[test]
    fn they_go_with_named_profiles() {
        let found = choose("spec,random:4,spec", 1);
        assert_eq!(found[0].name, "spec");
        assert_eq!(found[1..], choose("random:4", 1));
    }

    #[test]
    fn a_block_with_few_sets_has_those() {
        let one = [Profile::new("spec", Parameters::NONE)];
        let found = Profile::choose("random:4", &one, "b", 1).unwrap();
        assert_eq!(found, one);
        const BIT: &[Parameter] = &[Parameter { most: 17, ..parameter("N", 16, 0, false) }];
        let two = [Profile::new("spec", Parameters::declared(BIT, 0))];
        let found = Profile::choose("random:4", &two, "b", 1).unwrap();
        assert_eq!(found.iter().map(|profile| &*profile.name).collect::<Vec<_>>(), ["spec+N=17"]);
    }

    #[test]
    fn another_number_is_refused() {
        for wrong in ["random:0", "random:65", "random:", "random:x", "random:-1", "random:4+LOW=2"]
        {
            let found = Profile::choose(wrong, &profiles(), "b", 1);
            assert!(matches!(found, Err(ProfileError::Random(_))), "{wrong}");
            // What names a case or a vector is never drawn.
            assert!(Profile::parse(wrong, &profiles()).is_err());
        }
        assert!(Profile::parse("random:4", &profiles()).is_err());
    }
}
