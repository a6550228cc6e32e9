//! `cosim merge`.

mod gradings;

use crate::running::conclude::{EarlierRuns, RunReport};
use crate::running::finished::FinishedRuns;
use crate::running::regression::EarlierRunOptions;
use crate::terminal::options::{OutputOptions, heading, path};
use clap::Args;
use cosim_analysis::mutate::merge::GRADING;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_formats::run::{LostWorkers, OutputLocation, PeakMemory, RunDirectory, Timing};
use cosim_regress::merge::{self, Merged, Shards};
use cosim_regress::regression::{Outcome, WriteFailures};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to put together.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directories of all shards of a run, or of all parts of a mutation analysis, in any order.
    #[arg(value_name = "DIR", value_parser = path, required = true)]
    folders: Vec<PathBuf>,
    /// Write the merged run to DIR, a new or empty folder.
    #[arg(long, short, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: PathBuf,
    /// Replace an earlier run in --out.
    #[arg(long, help_heading = heading::OUTPUT)]
    force: bool,
    #[command(flatten)]
    earlier: EarlierRunOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    /// What the command reads.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether these are parts of a mutation analysis.
    pub fn has_gradings(&self) -> bool {
        merge::any(&self.folders, &GRADING)
    }
}

/// Merges the shards of each block into a run directory. Ends with the exit code of the run.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { folders, out, .. } = arguments;
    let earlier = &arguments.earlier.files();
    if arguments.has_gradings() {
        return gradings::execute(arguments);
    }
    apart(folders, out)?;
    earlier.check()?;
    // Open all shards first, so that errors are reported before anything is written.
    let mut runs = Vec::new();
    for (block, folders) in merge::runs(folders, &merge::RUN)? {
        runs.push((block, Shards::open(&folders)?));
    }
    runs.sort_by_key(|(_, shards): &(_, Shards)| shards.place_of_block());
    let name = |(folder, shards): &(Option<String>, Shards)| {
        folder.clone().unwrap_or_else(|| shards.block_name().to_owned())
    };
    let names: Vec<String> = runs.iter().map(name).collect();
    let is_below = matches!(runs.as_slice(), [(Some(_), _)]);
    let places = place_of_each(arguments, is_below, &names)?;
    let mut done = FinishedRuns::new(names.clone(), arguments.output.format());
    for (((_, shards), place), name) in runs.into_iter().zip(places).zip(&names) {
        let report = merge_block(shards, &place, earlier)?;
        done.print(name, &report, arguments.output.detail(), "")?;
    }
    done.end(earlier)
}

/// The output folder of each run, with the layout of the shards' folders.
fn place_of_each(
    arguments: &Arguments,
    is_below: bool,
    names: &[String],
) -> Result<Vec<OutputLocation>, Error> {
    let Arguments { out, force, .. } = arguments;
    let named = |folder: PathBuf| OutputLocation::Named { folder, replace: *force };
    match names {
        [name] if is_below => Ok(vec![named(out.join(name))]),
        _ => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            named(out.clone()).of_blocks(&names)
        }
    }
}

/// Merges the shards of one block. After an error, the run directory is removed.
fn merge_block(
    shards: Shards,
    place: &OutputLocation,
    earlier: &EarlierRuns,
) -> Result<RunReport, Error> {
    let header = shards.header.clone();
    let mut directory = RunDirectory::create(place, &header)?;
    let merged = match shards.merge(&mut directory) {
        Ok(merged) => merged,
        Err(error) => {
            directory.abandon();
            return Err(error);
        }
    };
    let Merged { tally, coverage, sources, failures, end, day, times } = merged;
    let timing = timing(&times, tally.totals.cycles);
    let unwritten = WriteFailures::default();
    let outcome =
        Outcome { header, tally, coverage, sources, failures, end, day, timing, unwritten };
    Ok(earlier.publish(outcome.conclude(directory)))
}

/// The combined times of all shards. Seconds are summed, so the speed is the average of a shard.
fn timing(times: &[Timing], cycles: u64) -> Timing {
    let commits: BTreeSet<&Option<String>> = times.iter().map(|time| &time.commit).collect();
    let one = commits.len() == 1;
    let sandboxes: BTreeSet<&str> =
        times.iter().filter_map(|time| time.sandbox.as_deref()).collect();
    let sandboxes: Vec<&str> = sandboxes.into_iter().collect();
    let mut lost_workers = LostWorkers::default();
    times.iter().for_each(|time| lost_workers.extend(&time.lost_workers));
    let seconds: f64 = times.iter().map(|time| time.seconds).sum();
    Timing {
        // Independent of when and how often the shards are merged, because the history identifies a
        // run by it.
        ended: times.iter().map(|time| time.ended.clone()).max().unwrap_or_default(),
        command: program::command(),
        threads: times.iter().fold(0, |sum, time| sum.saturating_add(time.threads)),
        seconds,
        failures_seconds: times.iter().map(|time| time.failures_seconds).sum(),
        cycles_per_second: if seconds > 0.0 { cycles as f64 / seconds } else { 0.0 },
        peak_memory: PeakMemory::measure(),
        commit: commits.into_iter().next().filter(|_| one).cloned().flatten(),
        sandbox: Some(sandboxes.join("; ")).filter(|sandbox| !sandbox.is_empty()),
        lost_workers,
    }
}

/// Refuses an output folder that overlaps a shard.
fn apart(folders: &[PathBuf], out: &Path) -> Result<(), Error> {
    let Ok(whole) = fs::canonicalize(out) else { return Ok(()) };
    for folder in folders {
        let Ok(shard) = fs::canonicalize(folder) else { continue };
        if shard.starts_with(&whole) || whole.starts_with(&shard) {
            let message = format!("overlaps {}; choose another --out", folder.display());
            return Err(Error::File { code: codes::BAD_OUTPUT, path: out.to_owned(), message });
        }
    }
    Ok(())
}
