//! Runs that end when they have covered enough.

use super::Job;
use crate::engine::Session;
use crate::error::Error;
use crate::runner::{Plan, ROUND};
use clap::Args;

/// Cases of a round at most.
pub const MOST_OF_A_ROUND: u32 = 1 << 20;

/// How a run ends when enough is covered.
#[derive(Debug, Clone, Args)]
pub struct UntilCovered {
    /// End when so many percent of the bins that can be hit are, in every profile, with cases chosen for what they may hit; --cases of
    /// each profile and scenario are run at most, and less is a failure.
    #[arg(long, value_name = "PCT", allow_negative_numbers = true, value_parser = percent,
          conflicts_with_all = ["case", "min_coverage"])]
    pub until_coverage: Option<f64>,
    /// Cases that are chosen at once, before what any of them covers is known; with many shards more of them keep all busy [default: 32].
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "until_coverage",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_OF_A_ROUND)))]
    round: Option<u32>,
}

/// A number from 0 to 100.
pub fn percent(text: &str) -> Result<f64, String> {
    let is_legal = |percent: &f64| (0.0..=100.0).contains(percent);
    let percent = text.trim_end_matches('%').trim_end().parse().ok().filter(is_legal);
    percent.ok_or_else(|| "expected percent, a number from 0 to 100".to_owned())
}

/// When enough is covered.
#[derive(Debug, Clone)]
pub struct Until {
    /// What of the bins is to be hit, in percent.
    pub percent: f64,
    /// Cases that are chosen at once, if it was said.
    pub round: Option<u32>,
}

impl Until {
    /// So many percent.
    pub fn new(percent: f64, round: Option<u32>) -> Self {
        Self { percent, round }
    }

    /// Cases that are chosen at once.
    pub fn round_of(&self) -> u32 {
        self.round.unwrap_or(ROUND)
    }
}

impl UntilCovered {
    /// What a job has to know; what its plan says of it comes first.
    ///
    /// # Errors
    /// [`Error::Usage`] if it cannot be run in shards.
    pub fn tell(&self, job: &mut Job) -> Result<(), Error> {
        let said = self.until_coverage.map(|percent| Until::new(percent, self.round));
        job.until = job.until.take().or(said);
        let Some(until) = &job.until else { return Ok(()) };
        let (shard, name) = (job.shard, &job.name);
        if !shard.is_whole() {
            let percent = until.percent;
            return Err(Error::Usage(format!(
                "--shard {shard} cannot run {name}: a shard does not know when all shards together cover {percent} % \
                 (--until-coverage); run shards with --cases and --min-coverage, or run --until-coverage on each \
                 machine with its own --seed and combine the coverage with `cover merge`"
            )));
        }
        Ok(())
    }
}

impl Job {
    /// The cases to run.
    pub(super) fn plan(&self, session: &dyn Session) -> Plan {
        Plan {
            block: self.block.name(),
            seed: self.seed,
            profiles: self.setup.profiles.clone(),
            scenarios: session.scenarios(),
            indices: self.indices.clone(),
            shard: self.shard,
        }
    }
}
