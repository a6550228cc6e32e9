//! `cosim run`.

mod rerun;
mod resume;

use super::done::Done;
use super::options::{RTL_OPTIONS, Told, check_output, of_block};
use super::regression::{Begin, CaseName, Earlier, Job, Options, Ready, UntilCovered, percent};
use super::{INTERRUPTED, interruption};
use crate::engine::{AnyBlock, Waves};
use crate::error::{Error, codes};
use crate::models::Simulator;
use crate::program;
use crate::runner::{Place, Shard};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What a run that is in a folder has said before.
const SAID_BEFORE: [&str; 28] = [
    "plan",
    "block",
    "fixes",
    "parameter",
    "seed",
    "cases",
    "packets",
    "scenario",
    "max_failures",
    "max_hangs",
    "time",
    "no_shrink",
    "no_waves",
    "no_cache",
    "case",
    "trace",
    "trace_all",
    "build",
    "out",
    "force",
    "shard",
    "save_vectors",
    "min_coverage",
    "until_coverage",
    "round",
    "exchange",
    "coverage",
    "Earlier",
];

/// What a plan says itself.
const OF_THE_PLAN: [&str; 8] = [
    "block",
    "fixes",
    "parameter",
    "scenario",
    "packets",
    "case",
    "min_coverage",
    "until_coverage",
];

/// What to run.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// What this file lists, TOML or JSON: blocks, scenarios, seeds, goals, waivers. --seed and --cases come before what it
    /// says, and what it says besides may not be said again.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_THE_PLAN)]
    plan: Option<PathBuf>,
    /// Only this case, as in arbiter/spec/smoke/17; names block, fixes and scenario, too.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["cases", "shard", "time"])]
    case: Option<String>,
    /// The run directory: a new or empty folder [default: runs/BLOCK-SEED-TIME; runs/latest points to it].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier run in --out.
    #[arg(long, requires = "out")]
    force: bool,
    /// Go on with the run in this folder, which was killed or interrupted; with --threads, --format, --quiet, --details and --no-sandbox alone.
    #[arg(long, value_name = "DIR", conflicts_with_all = SAID_BEFORE,
          conflicts_with_all = ["GivenRtl", "recorded_rtl", "stuck_after", "memory_limit"])]
    resume: Option<PathBuf>,
    /// Run again exactly the cases that failed in the run in this folder, on the RTL of --rtl, and print which are fixed, still red
    /// or different. Nothing is written.
    #[arg(long, value_name = "DIR", conflicts_with_all = SAID_BEFORE,
          conflicts_with_all = ["resume", "details"])]
    rerun: Option<PathBuf>,
    /// With --rerun: run the RTL that the run directory names, as it is now. Its files, macros and file lists are printed,
    /// compiled and executed. Use it for directories that you trust.
    #[arg(long, requires = "rerun", conflicts_with_all = RTL_OPTIONS)]
    recorded_rtl: bool,
    /// Part I of N of the run.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Write waves of the case to this file: 50 cycles before the end and 10 after a mismatch.
    #[arg(long, value_name = "FILE.fst|FILE.vcd", requires = "case")]
    trace: Option<PathBuf>,
    /// Trace every cycle of the case.
    #[arg(long, requires = "trace")]
    trace_all: bool,
    /// Keep the vectors of the first N matching cases, too, in the folder `saved` of the run.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    save_vectors: u64,
    /// Less than so many percent of the bins that can be hit, in some profile, are a failure.
    #[arg(long, value_name = "PCT", allow_negative_numbers = true, value_parser = percent,
          conflicts_with = "case")]
    min_coverage: Option<f64>,
    #[command(flatten)]
    until: UntilCovered,
    /// Count through which lines and branches of the RTL cases go, and which of its bits toggle, too: coverage.info is for `genhtml`.
    /// It takes models of its own, which are slower.
    #[arg(long, conflicts_with_all = ["case", "netlist"])]
    coverage: bool,
    #[command(flatten)]
    earlier: Earlier,
    /// The build a failure was seen with; a warning tells if this one differs.
    #[arg(long, value_name = "ID")]
    build: Option<String>,
    #[command(flatten)]
    told: Told,
}

impl Arguments {
    /// What is to be run of each block.
    fn jobs(&self) -> Result<Vec<Job>, Error> {
        let case: Option<CaseName> = self.case.as_deref().map(str::parse).transpose()?;
        let mut jobs = match &self.plan {
            Some(plan) => self.options.planned(plan)?,
            None => self.options.jobs(case)?,
        };
        for job in &mut jobs {
            job.shard = self.shard.unwrap_or(Shard::WHOLE);
            job.save = self.save_vectors;
            job.goal = job.goal.or(self.min_coverage);
            self.until.tell(job)?;
            job.setup.coverage = self.coverage;
            if self.coverage && job.setup.rtl.simulator == Simulator::Icarus {
                let message = "--coverage is counted by Verilator; leave --simulator icarus out";
                return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
            }
            job.earlier = self.earlier.clone();
            job.shows_progress &= !self.told.quiet;
        }
        Ok(jobs)
    }
}

/// Runs a regression, of one block or run of a plan after another.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(folder) = &arguments.resume {
        return resume::execute(arguments, folder);
    }
    if let Some(folder) = &arguments.rerun {
        return rerun::execute(arguments, folder);
    }
    let jobs = arguments.jobs()?;
    if let Some(trace) = &arguments.trace {
        Waves::format(trace)?;
        check_output(trace)?;
        if !matches!(jobs.as_slice(), [job] if job.setup.profiles.len() == 1) {
            let message = "--trace takes one case: name one profile in --case";
            return Err(Error::Usage(codes::CHOOSE_ONE, message.to_owned()));
        }
    }
    warn_of_other_build(arguments.build.as_deref());

    let interrupted = interruption()?;
    // Whatever does not fit is refused before anything is written.
    let begun = begin(arguments, &jobs, &interrupted)?;
    let names = jobs.iter().map(|job| job.name.clone()).collect();
    let mut done = Done::new(names, arguments.told.format);
    let began = Instant::now();
    let mut left = begun.len() as u32;
    for ((ready, begin), job) in begun.into_iter().zip(&jobs) {
        // Each of the blocks that are left has as much of the time.
        let time = arguments.options.time.map(|time| time.saturating_sub(began.elapsed()) / left);
        left -= 1;
        let report = ready.run(begin, time)?;
        let mut more = String::new();
        if let Some(path) = &arguments.trace {
            ready.trace(Waves { path: path.clone(), all: arguments.trace_all })?;
            more = format!("waves: {}", path.display());
        }
        done.tell(&job.name, &report, arguments.told.detail(), &more)?;
        if report.exit_code() == INTERRUPTED {
            break;
        }
    }
    done.end()
}

/// Builds the models of all runs, then makes their run directories.
fn begin<'a>(
    arguments: &Arguments,
    jobs: &'a [Job],
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<(Ready<'a>, Begin)>, Error> {
    let blocks: Vec<&'static dyn AnyBlock> = jobs.iter().map(|job| job.block).collect();
    let prepare = |job: &'a Job| job.prepare(interrupted).map_err(of_block(job.block, &blocks));
    let ready = jobs.iter().map(prepare).collect::<Result<Vec<_>, Error>>()?;
    let place = match &arguments.out {
        Some(folder) => Place::Named { folder: folder.clone(), replace: arguments.force },
        None => {
            let plan = arguments.plan.as_ref().and_then(|plan| plan.file_stem());
            let name = match plan {
                Some(plan) => plan.to_string_lossy().into_owned(),
                None => arguments.options.target.name(&blocks),
            };
            Place::New { stem: format!("{name}-{}", jobs[0].seed) }
        }
    };
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let places = place.of_blocks(&names)?;
    let begin = |(ready, place): (Ready<'a>, Place)| {
        let begin = ready.begin(&place)?;
        Ok((ready, begin))
    };
    ready.into_iter().zip(places).map(begin).collect()
}

fn warn_of_other_build(build: Option<&str>) {
    if let Some(build) = build
        && build != program::build()
    {
        program::say(format_args!(
            "warning: this is build {}, the failure was seen with build {build}",
            program::build()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options_beside;

    #[test]
    fn what_a_run_in_a_folder_has_said_is_not_said_again() {
        assert_eq!(
            options_beside::<Arguments>("resume"),
            ["details", "format", "help", "no_sandbox", "quiet", "threads"]
        );
        assert_eq!(
            options_beside::<Arguments>("rerun"),
            [
                "define",
                "format",
                "help",
                "include",
                "list",
                "memory_limit",
                "netlist",
                "no_sandbox",
                "quiet",
                "recorded_rtl",
                "rtl",
                "simulator",
                "stuck_after",
                "threads"
            ]
        );
    }
}
