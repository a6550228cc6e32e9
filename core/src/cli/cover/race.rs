//! `cosim cover race`: what `--until-coverage` saves.

use crate::cli::options::Format;
use crate::cli::regression::{Options, Ready};
use crate::cli::{counted, interruption, print_json, print_text};
use crate::error::{Error, codes};
use crate::harness::{Case, Outcome};
use crate::runner::{End, Progress};
use crate::value::short;
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;

/// Percent of the bins that can be hit.
const LEVELS: [u32; 3] = [90, 99, 100];

/// What is to race.
#[derive(Debug, Args)]
pub struct Race {
    #[command(flatten)]
    options: Options,
    /// Runs of either kind, each with a seed of its own: --seed, and those after it.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What the races of a block came to.
#[derive(Serialize)]
struct Raced {
    block: &'static str,
    /// The first seed, and how many.
    seeds: (u64, u64),
    levels: Vec<Level>,
}

/// Cycles until so much was covered in every profile, by seed; none if all cases were run before.
#[derive(Serialize)]
struct Level {
    percent: u32,
    plain: Vec<Option<u64>>,
    chosen: Vec<Option<u64>>,
}

/// Races cases in the order of the plan against chosen ones.
pub fn execute(race: &Race) -> Result<(), Error> {
    let interrupted = interruption()?;
    let mut all = Vec::new();
    for job in race.options.jobs(None)? {
        let ready = job.prepare(&interrupted)?;
        let level = |percent| Level { percent, plain: Vec::new(), chosen: Vec::new() };
        let seeds = (job.seed, race.seeds);
        let mut raced = Raced { block: job.block.name(), seeds, levels: LEVELS.map(level).into() };
        for seed in (0..race.seeds).map(|number| job.seed.wrapping_add(number)) {
            let (plain, chosen) = (one(&ready, seed, false)?, one(&ready, seed, true)?);
            for (level, (plain, chosen)) in
                raced.levels.iter_mut().zip(plain.into_iter().zip(chosen))
            {
                level.plain.push(plain);
                level.chosen.push(chosen);
            }
        }
        if race.format == Format::Text {
            print_text(&raced.text())?;
        }
        all.push(raced);
    }
    if race.format == Format::Json {
        print_json(&all)?;
    }
    Ok(())
}

/// The cycles of one run until each level.
fn one(ready: &Ready<'_>, seed: u64, leans: bool) -> Result<[Option<u64>; LEVELS.len()], Error> {
    let database = ready.nothing_covered();
    let bins = database.bins();
    let profiles = ready.profiles().map(|name| {
        let profile = &database.profiles[name];
        let is_open = (0..bins as u32).map(|bin| !profile.unreachable.contains_key(&bin));
        Profile { is_open: is_open.collect(), hit: 0 }
    });
    let mut track =
        Track { profiles: profiles.collect(), cycles: 0, reached: [None; LEVELS.len()] };
    match ready.cover(seed, leans, &mut track)? {
        End::Interrupted => Err(Error::Usage(
            codes::CASE_FAILS,
            "interrupted: a race says nothing before its end".to_owned(),
        )),
        _ => Ok(track.reached),
    }
}

/// What is covered in a profile.
struct Profile {
    /// By bin: whether it can be hit and was not.
    is_open: Vec<bool>,
    hit: usize,
}

/// Sees when what is covered.
struct Track {
    profiles: Vec<Profile>,
    cycles: u64,
    reached: [Option<u64>; LEVELS.len()],
}

impl Progress for Track {
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        if outcome.verdict.is_failure() {
            return Err(Error::Usage(
                codes::CASE_FAILS,
                format!(
                    "{}: {}; only what matches can be raced: run the regression first",
                    case.name, outcome.verdict
                ),
            ));
        }
        self.cycles += outcome.cycles;
        let profile = &mut self.profiles[case.profile];
        for (is_open, hits) in profile.is_open.iter_mut().zip(&outcome.hits) {
            if *hits > 0 && std::mem::take(is_open) {
                profile.hit += 1;
            }
        }
        for (level, reached) in LEVELS.into_iter().zip(&mut self.reached) {
            let reaches = |profile: &Profile| {
                let holes = profile.is_open.iter().filter(|is_open| **is_open).count();
                profile.hit * 100 >= level as usize * (profile.hit + holes)
            };
            if reached.is_none() && self.profiles.iter().all(reaches) {
                *reached = Some(self.cycles);
            }
        }
        Ok(())
    }
}

impl Raced {
    fn text(&self) -> String {
        let (first, seeds) = self.seeds;
        let mut text = format!(
            "{}, {} from {first} on: cycles until so many percent of the bins are hit in every profile, median (least to most)\n",
            self.block,
            counted(seeds, "seed"),
        );
        let _ =
            writeln!(text, "  {:8} {:34} {:34} ratio", "covered", "plain mix", "--until-coverage");
        for Level { percent, plain, chosen } in &self.levels {
            let ratio = match (median(plain), median(chosen)) {
                (Some(plain), Some(chosen)) => format!("{:.2}", chosen as f64 / plain as f64),
                _ => "-".to_owned(),
            };
            let share = format!("{percent} %");
            let _ =
                writeln!(text, "  {share:8} {:34} {:34} {ratio}", spread(plain), spread(chosen));
        }
        text
    }
}

/// The median of those that arrived, if all did; the upper one of two.
fn median(cycles: &[Option<u64>]) -> Option<u64> {
    let mut cycles = cycles.iter().copied().collect::<Option<Vec<u64>>>()?;
    cycles.sort_unstable();
    cycles.get(cycles.len() / 2).copied()
}

fn spread(cycles: &[Option<u64>]) -> String {
    let mut arrived: Vec<u64> = cycles.iter().flatten().copied().collect();
    arrived.sort_unstable();
    let (Some(least), Some(most)) = (arrived.first(), arrived.last()) else {
        return "never".to_owned();
    };
    let [least, median, most] =
        [*least, arrived[arrived.len() / 2], *most].map(|n| short(n as f64));
    let missing = match cycles.len() - arrived.len() {
        0 => String::new(),
        missing => format!(", {missing} never"),
    };
    format!("{median} ({least} to {most}{missing})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_only_told_if_all_arrived() {
        assert_eq!(median(&[Some(5), Some(1), Some(3)]), Some(3));
        assert_eq!(median(&[Some(5), None, Some(3)]), None);
        assert_eq!(spread(&[Some(5), Some(1), Some(3)]), "3 (1 to 5)");
        assert_eq!(spread(&[Some(5), None, Some(3)]), "5 (3 to 5, 1 never)");
        assert_eq!(spread(&[None]), "never");
    }
}
