//! `cosim report`.

use super::print_text;
use clap::Args;
use cosim_base::error::Error;
use cosim_report::history::History;
use cosim_report::report::{self, Results};
use std::path::PathBuf;
use std::process::ExitCode;

/// A run to report of.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directories.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Also show the trends of the history FILE; see `cosim history`.
    #[arg(long, value_name = "FILE", help_heading = super::options::heading::OUTPUT)]
    history: Option<PathBuf>,
}

/// Regenerates the page of each run directory.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    for folder in &arguments.folders {
        let results = Results::read(folder, |_, _| ())?;
        let trend = match &arguments.history {
            Some(path) => History::existing(path)?.runs(Some(&results.run.block))?,
            None => Vec::new(),
        };
        print_text(&report::page(folder, &results, &trend)?.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
