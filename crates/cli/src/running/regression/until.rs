//! The option --until-coverage.

use super::Regression;
use crate::terminal::options::{heading, percent};
use clap::Args;
use cosim_base::error::{Error, codes};

/// When a run has covered enough.
#[derive(Debug, Clone, Args)]
pub struct UntilCovered {
    /// Stop when every profile covers PCT of its reachable bins; fail if --cases do not suffice.
    #[arg(long, value_name = "PCT", allow_negative_numbers = true, value_parser = percent,
          conflicts_with_all = ["case", "min_coverage"], help_heading = heading::STOP)]
    until_coverage: Option<f64>,
}

impl UntilCovered {
    /// Sets the coverage goal of a job. The goal of its plan takes precedence.
    ///
    /// # Errors
    /// [`Error::Usage`] if the job is a shard.
    pub fn configure(&self, job: &mut Regression) -> Result<(), Error> {
        job.until = job.until.or(self.until_coverage);
        let Some(percent) = job.until else { return Ok(()) };
        let (shard, name) = (job.shard, &job.name);
        if !shard.is_whole() {
            return Err(Error::Usage(
                codes::BAD_SHARDS,
                format!(
                    "--shard {shard} cannot run {name}: a shard does not know when all shards together cover {percent} % \
                 (--until-coverage); run shards with --cases and --min-coverage, or run --until-coverage on each \
                 machine with its own --seed and combine the coverage with `cover merge`"
                ),
            ));
        }
        Ok(())
    }
}
