//! `cosim run`.

use crate::running::finished::{FinishedRuns, exit_code};
use crate::running::regression::{
    CaseName, EarlierRunOptions, Options, PreparedRegression, Regression, Renderer, RunStart,
    UntilCovered,
};
use crate::terminal::options::{
    OutputOptions, TraceOptions, check_output, heading, of_block, path, percent, whole_number,
};
use crate::{INTERRUPTED, interruption};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::folder_of;
use cosim_base::program;
use cosim_base::text;
use cosim_block::engine::Waves;
use cosim_block::shard::Shard;
use cosim_formats::answers::{AnswerRecord, ProverCommand};
use cosim_formats::run::{MOST_CASES, OutputLocation};
use cosim_formats::started::record_latest;
use cosim_regress::blocks::BlockHandle;
use cosim_rtl::backend::{self, Feature};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Options that conflict with a plan, which sets them itself.
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
    pub options: Options,
    /// Run what a plan (TOML or JSON) lists. --seed and --cases override it; other options that it
    /// sets are rejected.
    #[arg(long, value_name = "FILE", value_parser = path, conflicts_with_all = OF_THE_PLAN, help_heading = heading::WHAT)]
    plan: Option<PathBuf>,
    /// Run one case, such as arbiter/spec/smoke/17, which names block, profile and scenario.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["cases", "shard", "time"], help_heading = heading::WHAT)]
    case: Option<String>,
    /// Write the run directory to DIR, a new or empty folder [default: runs/BLOCK-SEED-TIME].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    /// Replace an earlier run in --out.
    #[arg(long, requires = "out", help_heading = heading::OUTPUT)]
    force: bool,
    /// Run part I of N, every N-th case; see `cosim merge`.
    #[arg(long, value_name = "I/N", help_heading = heading::WHAT)]
    shard: Option<Shard>,
    #[command(flatten)]
    tracing: TraceOptions,
    /// Also keep the vectors of the first N matching cases, in `saved/`.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole_number::<u64>(0..=MOST_CASES), help_heading = heading::OUTPUT)]
    save_vectors: u64,
    /// Fail if coverage of reachable bins is below PCT in any profile.
    #[arg(long, value_name = "PCT", allow_negative_numbers = true, value_parser = percent,
          conflicts_with = "case", help_heading = heading::COVERAGE)]
    min_coverage: Option<f64>,
    #[command(flatten)]
    until: UntilCovered,
    /// Count lines, branches and toggles of the RTL, in slower models compiled for it; write
    /// coverage.info for genhtml.
    #[arg(long, conflicts_with = "case", help_heading = heading::COVERAGE)]
    coverage: bool,
    /// Do not count the points that the proofs in FILE show to be unreachable; FILE is a result of
    /// `cover close`; may be repeated.
    #[arg(long, value_name = "FILE|DIR", value_parser = path, requires = "coverage", help_heading = heading::COVERAGE)]
    closed: Vec<PathBuf>,
    #[command(flatten)]
    pub earlier: EarlierRunOptions,
    /// Warn if this is not the build with which the failure was seen.
    #[arg(long, value_name = "ID", help_heading = heading::REPRODUCE)]
    build: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn jobs(&self) -> Result<Vec<Regression>, Error> {
        let case: Option<CaseName> = self.case.as_deref().map(str::parse).transpose()?;
        let mut jobs = match &self.plan {
            Some(plan) => self.options.planned(plan)?,
            None => self.options.jobs(case)?,
        };
        let closed = self.closed(&jobs)?;
        for job in &mut jobs {
            let is_of = |(_, file): &&(String, Arc<AnswerRecord>)| {
                file.subject.block == job.block.info().name
            };
            job.closed = closed.iter().filter(is_of).cloned().collect();
            job.shard = self.shard.unwrap_or(Shard::WHOLE);
            job.save = self.save_vectors;
            job.goal = job.goal.or(self.min_coverage);
            self.until.configure(job)?;
            job.setup.coverage = self.coverage;
            if self.coverage {
                backend::check(&job.setup.rtl, Feature::Coverage)?;
            }
        }
        Ok(jobs)
    }
}

impl Arguments {
    /// The files of --closed, which are about blocks of these regressions.
    fn closed(&self, jobs: &[Regression]) -> Result<Vec<(String, Arc<AnswerRecord>)>, Error> {
        let read = |path: &PathBuf| {
            let closed = AnswerRecord::read_of(ProverCommand::Close, path)?;
            let block = &closed.subject.block;
            if jobs.iter().any(|job| job.block.info().name == *block) {
                return Ok((text::path(path).to_string(), Arc::new(closed)));
            }
            let message = format!("is about block `{block}`, which is not run");
            Err(Error::File { code: codes::COVERAGE_MISMATCH, path: path.clone(), message })
        };
        self.closed.iter().map(read).collect()
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.tracing.trace.is_some() && arguments.case.is_none() {
        let message = "--trace writes the waves of one case; name it with --case";
        return Err(Error::Usage(codes::COMMAND_LINE, message.to_owned()));
    }
    let jobs = arguments.jobs()?;
    if let Some(trace) = &arguments.tracing.trace {
        Waves::format(trace)?;
        check_output(trace)?;
        if !matches!(jobs.as_slice(), [job] if job.setup.profiles.len() == 1) {
            let message = "--trace takes one case: name one profile in --case";
            return Err(Error::Usage(codes::CHOOSE_ONE, message.to_owned()));
        }
    }
    warn_of_other_build(arguments.build.as_deref());

    let interrupted = interruption()?;
    // Check everything before writing anything.
    let earlier = arguments.earlier.files();
    earlier.check()?;
    let mut renderer = Renderer::new(arguments.output.is_quiet());
    let started = prepare_runs(arguments, &jobs, &interrupted, &mut renderer)?;
    let names = jobs.iter().map(|job| job.name.clone()).collect();
    let mut done = FinishedRuns::new(names, arguments.output.format());
    let began = Instant::now();
    let mut left = started.len() as u32;
    for ((ready, begin), job) in started.into_iter().zip(&jobs) {
        // The remaining time is divided equally among the remaining blocks.
        let time = arguments.options.time.map(|time| time.saturating_sub(began.elapsed()) / left);
        left -= 1;
        let run = ready.run(begin, time, &mut |event| renderer.show(event))?;
        let report = earlier.publish(run);
        let mut more = String::new();
        if let Some(path) = &arguments.tracing.trace {
            ready.trace(Waves { path: path.clone(), all: arguments.tracing.trace_all })?;
            more = format!("waves: {}", path.display());
        }
        done.print(&job.name, &report, arguments.output.detail(), &more)?;
        arguments.options.show_problems(&report.run)?;
        if exit_code(&report.run) == INTERRUPTED {
            break;
        }
    }
    done.end(&earlier)
}

/// Builds the models of all runs, then creates their run directories.
fn prepare_runs<'a>(
    arguments: &Arguments,
    jobs: &'a [Regression],
    interrupted: &Arc<AtomicBool>,
    renderer: &mut Renderer,
) -> Result<Vec<(PreparedRegression<'a>, RunStart)>, Error> {
    let blocks: Vec<&'static BlockHandle> = jobs.iter().map(|job| job.block).collect();
    let prepare = |job: &'a Regression| {
        let prepared = job.prepare(interrupted, &mut |event| renderer.show(event));
        prepared.map_err(of_block(job.block, &blocks))
    };
    let ready = jobs.iter().map(prepare).collect::<Result<Vec<_>, Error>>()?;
    let place = match &arguments.out {
        Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: arguments.force },
        None => {
            let plan = arguments.plan.as_ref().and_then(|plan| plan.file_stem());
            let name = match plan {
                Some(plan) => plan.to_string_lossy().into_owned(),
                None => arguments.options.target.name(&blocks),
            };
            OutputLocation::New { stem: format!("{name}-{}", jobs[0].seed) }
        }
    };
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let places = place.of_blocks(&names)?;
    let begin = |(ready, place): (PreparedRegression<'a>, OutputLocation)| {
        let begin = ready.create_run(&place, &mut |event| renderer.show(event))?;
        Ok((ready, begin))
    };
    let started = ready.into_iter().zip(places).map(begin).collect::<Result<Vec<_>, Error>>()?;
    if let [(_, first), others @ ..] = &started[..] {
        let folder = first.folder();
        record_latest(if others.is_empty() { folder } else { folder_of(folder) });
    }
    Ok(started)
}

fn warn_of_other_build(build: Option<&str>) {
    if let Some(build) = build
        && build != program::build()
    {
        program::warn(format_args!(
            "build {build} found the failure, and this is build {}",
            program::build()
        ));
    }
}
