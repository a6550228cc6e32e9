//! `cosim report`.

use super::print_text;
use crate::error::Error;
use crate::report::{self, Results};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// A run to report of.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directories.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
}

/// Writes the page of each run directory again.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    for folder in &arguments.folders {
        let results = Results::read(folder, |_, _| ())?;
        print_text(&report::page(folder, &results)?.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
