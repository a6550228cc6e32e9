//! The options --history and --baseline.

use crate::running::conclude::EarlierRuns;
use crate::terminal::options::{heading, path};
use clap::Args;
use std::path::PathBuf;

/// The files of earlier runs.
#[derive(Debug, Clone, Default, Args)]
pub struct EarlierRunOptions {
    /// Add the run to the history FILE and print which failures are known; see `cosim history`.
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT, hide_short_help = true)]
    history: Option<PathBuf>,
    /// Print which failures the history FILE knows, without changing it.
    #[arg(long, value_name = "FILE", value_parser = path, conflicts_with = "history", help_heading = heading::OUTPUT, hide_short_help = true)]
    baseline: Option<PathBuf>,
}

impl EarlierRunOptions {
    pub fn option(&self) -> Option<&'static str> {
        let history = self.history.is_some().then_some("--history");
        history.or(self.baseline.is_some().then_some("--baseline"))
    }

    pub fn files(&self) -> EarlierRuns {
        EarlierRuns { history: self.history.clone(), baseline: self.baseline.clone() }
    }
}
