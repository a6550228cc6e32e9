//! `cosim shrink`.

use super::replay::load;
use super::{counted, is_watched, print_text};
use crate::engine::ShrinkProgress;
use crate::error::Error;
use crate::models::Rtl;
use crate::runner::{Fixes, SHRINK_BUDGET};
use clap::Args;
use indicatif::ProgressBar;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// A failing vector to make smaller.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The vector.
    #[arg(value_name = "VECTOR")]
    vector: PathBuf,
    /// The block the vector must be of [default: whichever it names].
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    /// Shrink under these fixes instead of the vector's own.
    #[arg(long, value_name = "PROFILE|MASK")]
    fixes: Option<String>,
    /// The RTL it fails with: a Verilog file or a folder.
    #[arg(long, value_name = "DIR|FILE")]
    rtl: Option<PathBuf>,
    /// Where the smaller vector goes [default: VECTOR with .shrunk.json].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Cycles that may be run in search of it.
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true, default_value_t = SHRINK_BUDGET)]
    budget: u64,
    /// Show no progress.
    #[arg(long)]
    quiet: bool,
}

struct Bar(ProgressBar);

impl ShrinkProgress for Bar {
    fn candidate(&mut self, tried: u64, kept: u64) {
        self.0.set_message(format!("{tried} candidates tried, {kept} times smaller"));
        self.0.tick();
    }
}

/// Shrinks a vector.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let vector = load(&arguments.vector, arguments.block.as_deref())?;
    let fixes: Vec<Fixes> = vector.fixes(arguments.fixes.as_deref())?;
    let [fixes] = &fixes[..] else {
        let message = "the vector names several profiles: choose one with --fixes";
        return Err(Error::Usage(message.to_owned()));
    };
    let rtl = arguments.rtl.clone().map_or(Rtl::BuiltIn, Rtl::Path);
    let hidden = arguments.quiet || !is_watched();
    let mut bar = Bar(if hidden { ProgressBar::hidden() } else { ProgressBar::new_spinner() });
    let shrunk = vector.shrink(fixes, &rtl, arguments.budget, &mut bar)?;
    bar.0.finish_and_clear();
    let out =
        arguments.out.clone().unwrap_or_else(|| arguments.vector.with_extension("shrunk.json"));
    fs::write(&out, &shrunk.text).map_err(Error::write(&out))?;
    let budget = if shrunk.out_of_budget { ", ended by --budget" } else { "" };
    print_text(&format!(
        "{}: {}, {}, {} tried{budget}\n  {}",
        out.display(),
        counted(shrunk.outcome.packets, "packet"),
        counted(shrunk.outcome.cycles, "cycle"),
        counted(shrunk.tried, "candidate"),
        shrunk.outcome.verdict
    ))?;
    Ok(ExitCode::SUCCESS)
}
