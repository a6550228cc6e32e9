//! Runs that end when enough is covered, on one machine or on several.

use super::Job;
use crate::engine::Session;
use crate::error::{Error, codes};
use crate::runner::{Exchange, Header, Plan, ROUND, Shard};
use clap::Args;
use std::path::PathBuf;

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
    /// A folder that all shards share: what --until-coverage takes to be run in shards, since each has to know what all others cover.
    #[arg(long, value_name = "DIR", requires = "shard")]
    exchange: Option<PathBuf>,
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
    /// The folder that all shards share.
    exchange: Option<PathBuf>,
}

impl Until {
    /// So many percent.
    pub fn new(percent: f64, round: Option<u32>) -> Self {
        Self { percent, round, exchange: None }
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
        let Some(until) = &mut job.until else { return Ok(()) };
        until.exchange.clone_from(&self.exchange);
        let (shard, name) = (job.shard, &job.name);
        if shard.is_whole() {
            return Ok(());
        }
        let percent = until.percent;
        if until.exchange.is_none() {
            return Err(Error::Usage(
                codes::BAD_SHARDS,
                format!(
                    "--shard {shard} of {name}, which ends when {percent} % are covered, wants --exchange DIR: which cases come next depends on \
                 what all before them hit, so the shards tell it each other in a folder that they share; where there is none, give each \
                 machine the whole run with a --seed of its own, and merge what they covered with `cover merge`"
                ),
            ));
        }
        if job.time().is_some() {
            return Err(Error::Usage(
                codes::BAD_SHARDS,
                format!(
                    "--time and --shard {shard} of {name}, which ends when {percent} % are covered, exclude each other: each shard would end \
                 it at another case; --cases says how many are run at most"
                ),
            ));
        }
        Ok(())
    }
}

impl Job {
    /// The cases to run.
    pub(super) fn plan(&self, session: &dyn Session) -> Plan {
        let plan = Plan {
            block: self.block.name(),
            seed: self.seed,
            profiles: self.setup.profiles.clone(),
            scenarios: session.scenarios(),
            indices: self.indices.clone(),
            shard: self.shard,
        };
        match &self.until {
            // Each shard has all of it, wherever its cases are run.
            Some(_) if !plan.is_empty() => Plan { shard: Shard::WHOLE, ..plan },
            _ => plan,
        }
    }

    /// Where the shards of a run tell each other what they covered, if they have to.
    pub(super) fn exchange(&self, plan: &Plan, header: &Header) -> Result<Option<Exchange>, Error> {
        let Some(Until { exchange: Some(folder), .. }) = &self.until else { return Ok(None) };
        if self.shard.is_whole() || !plan.shard.is_whole() {
            return Ok(None);
        }
        let header = Header { shard: Shard::WHOLE, ..header.clone() };
        let mut run = serde_json::to_value(header).unwrap_or_default();
        run["shards"] = self.shard.count().into();
        run["max_failures"] = self.limits.max_failures.into();
        run["max_hangs"] = self.limits.max_hangs.into();
        Exchange::open(&folder.join(&self.name), self.shard, &run).map(Some)
    }
}
