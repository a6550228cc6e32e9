//! `cosim report`.

use crate::terminal::options::path;
use crate::{print_text, written};
use clap::Args;
use cosim_base::error::Error;
use cosim_harness::harness::Blocks;
use cosim_regress::blocks;
use cosim_report::history::History;
use cosim_report::paths::word;
use cosim_report::report;
use std::path::PathBuf;
use std::process::ExitCode;

/// A run to report of.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directories, folders with the runs of several blocks, or results of `mutate` and
    /// `prove`.
    #[arg(value_name = "DIR", value_parser = path, required = true)]
    folders: Vec<PathBuf>,
    /// Also show the trends of the history FILE; see `cosim history`.
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = crate::terminal::options::heading::OUTPUT)]
    history: Option<PathBuf>,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let history = arguments.history.as_deref().map(History::existing).transpose()?;
    let infos = blocks::infos();
    let blocks = Blocks(&infos);
    for folder in &arguments.folders {
        let page = report::regenerate(folder, history.as_ref(), blocks)?;
        print_text(&written(&page, &["open", &word(folder)]))?;
    }
    Ok(ExitCode::SUCCESS)
}
