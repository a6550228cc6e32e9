//! `cosim resume`: continues a run or a mutation analysis that was killed or interrupted.

use crate::quality::mutate;
use crate::running::conclude::EarlierRuns;
use crate::running::finished::{FinishedRuns, exit_code};
use crate::running::regression::{PreparedRegression, Regression, Renderer, RunStart};
use crate::terminal::options::{
    Caching, Format, OutputOptions, Sandboxing, Threads, command_with, heading, path,
};
use crate::{INTERRUPTED, counted, interruption, print_text, run_arguments};
use clap::Args;
use cosim_analysis::mutate::merge::GRADING;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::command_line;
use cosim_formats::run::{InterruptedRun, JOURNAL, RESULTS, RunCommand, runs_in};
use cosim_report::report::Results;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to continue. All other options are those of the command that began it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of a run or of a mutation analysis.
    #[arg(value_name = "DIR", value_parser = path)]
    folder: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub caching: Caching,
    #[command(flatten)]
    pub sandboxing: Sandboxing,
    /// Resume a directory of another user or machine, and compile and execute the RTL that it
    /// names. Use it only for directories that you trust.
    #[arg(long, help_heading = heading::RTL)]
    recorded_rtl: bool,
}

impl Arguments {
    pub fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.folder)
    }
}

impl Arguments {
    /// Prints the command that began a directory, and its working directory, before anything of it
    /// is obeyed.
    ///
    /// # Errors
    /// [`Error::File`] if another user or machine began it and the user did not say that it is
    /// trusted.
    pub fn check_command(
        &self,
        folder: &Path,
        words: &[String],
        at: &Path,
        is_own: bool,
    ) -> Result<(), Error> {
        let command = command_line(words);
        program::print_note(format_args!(
            "{} was begun by: {}, in {}",
            text::path(folder),
            text::line(&command),
            text::path(at)
        ));
        if is_own || self.recorded_rtl {
            return Ok(());
        }
        Err(Error::File {
            code: codes::CANNOT_RESUME,
            path: folder.to_owned(),
            message: format!(
                "was begun by another user or on another machine: this user's cache has no record of \
                 the command above, which `resume` continues with its RTL and its files. If you trust \
                 the directory, type `{}`",
                text::line(&command_with(&["--recorded-rtl"]))
            ),
        })
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = fs::canonicalize(&arguments.folder)
        .map_err(|error| Error::unreadable(&arguments.folder, &error))?;
    if !runs_in(&folder, &GRADING)?.is_empty() {
        return mutate::resume(arguments, &folder);
    }
    if arguments.caching.is_off() {
        let message = "--no-cache applies to a mutation analysis, and this is a run; leave it out";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    resume(arguments, folder)
}

/// The run of one block in its folder.
enum ResumableRun {
    InterruptedRun(PathBuf, Box<InterruptedRun>),
    Finished(Box<Results>),
}

impl ResumableRun {
    fn block(&self) -> &str {
        match self {
            Self::InterruptedRun(_, left) => {
                left.run_command.header["block"].as_str().unwrap_or_default()
            }
            Self::Finished(results) => &results.run.block,
        }
    }

    fn seed(&self) -> u64 {
        match self {
            Self::InterruptedRun(_, left) => {
                left.run_command.header["seed"].as_u64().unwrap_or_default()
            }
            Self::Finished(results) => results.run.seed,
        }
    }

    /// Whether it belongs to a job. `name` is its folder, if it is one of several.
    fn is_of(&self, name: Option<&OsString>, job: &Regression) -> bool {
        self.block() == job.block.info().name && name.is_none_or(|name| *name == *job.name)
    }
}

fn resume(arguments: &Arguments, folder: PathBuf) -> Result<ExitCode, Error> {
    let mut found = find(&folder)?;
    let Some(left) = found.iter().find_map(|(_, found)| match found {
        ResumableRun::InterruptedRun(_, left) => Some(left),
        ResumableRun::Finished(_) => None,
    }) else {
        let message =
            "its run has ended, so there is nothing to resume; repeat it with `run --force`";
        return Err(Error::File {
            code: codes::CANNOT_RESUME,
            path: folder,
            message: message.to_owned(),
        });
    };
    let wrong =
        |message: String| Error::File { code: codes::CANNOT_RESUME, path: folder.clone(), message };
    for (_, found) in &found {
        if let ResumableRun::InterruptedRun(path, left) = found {
            let RunCommand { command, folder, .. } = &left.run_command;
            arguments.check_command(path, command, folder, left.run_command.is_own())?;
        }
    }
    // The original arguments are relative to the original working directory.
    env::set_current_dir(&left.run_command.folder).map_err(|error| {
        wrong(format!(
            "was started in folder {}, which cannot be entered: {error}",
            left.run_command.folder.display()
        ))
    })?;
    let mut run_command = run_arguments(&left.run_command.command)
        .ok_or_else(|| wrong("was not started by a compatible `run` command".to_owned()))?;
    if let Some((_, any)) = found.first() {
        run_command.options.set_random_seed(any.seed());
    }
    run_command.options.resume_with(arguments.threads, arguments.sandboxing);
    let mut jobs = run_command.jobs()?;
    for job in &mut jobs {
        let of_job = found.iter().find(|(name, found)| found.is_of(name.as_ref(), job));
        if of_job.is_none() {
            return Err(wrong(format!("has no run of block {}", job.name)));
        }
    }
    let earlier = run_command.earlier.files();
    earlier.check()?;
    let interrupted = interruption()?;
    let mut renderer = Renderer::new(arguments.output.is_quiet());
    let mut ready: Vec<Option<(PreparedRegression<'_>, RunStart)>> = Vec::new();
    let mut ended = Vec::new();
    for job in &jobs {
        let place = found.iter().position(|(name, found)| found.is_of(name.as_ref(), job));
        match place.map(|place| found.swap_remove(place).1) {
            Some(ResumableRun::InterruptedRun(folder, left)) => {
                let one = job.prepare(&interrupted, &mut |event| renderer.show(event))?;
                let begin = one.resume_run(&folder, *left)?;
                ready.push(Some((one, begin)));
                ended.push(None);
            }
            Some(ResumableRun::Finished(results)) => {
                ready.push(None);
                ended.push(Some(results));
            }
            None => {}
        }
    }
    run_remaining(arguments, &jobs, &earlier, ready, &ended, &mut renderer)
}

/// Runs the remaining cases, in order.
fn run_remaining(
    arguments: &Arguments,
    jobs: &[Regression],
    earlier: &EarlierRuns,
    ready: Vec<Option<(PreparedRegression<'_>, RunStart)>>,
    ended: &[Option<Box<Results>>],
    renderer: &mut Renderer,
) -> Result<ExitCode, Error> {
    let names = jobs.iter().map(|job| job.name.clone()).collect();
    let mut done = FinishedRuns::new(names, arguments.output.format());
    for ((job, ready), ended) in jobs.iter().zip(ready).zip(ended) {
        let name = job.name.as_str();
        match (ready, ended) {
            (Some((ready, begin)), _) => {
                if arguments.output.format() == Format::Text {
                    let cases = counted(begin.cases(), "case");
                    print_text(&format!("{name}: {cases} had ended before"))?;
                }
                let run = ready.run(begin, job.time(), &mut |event| renderer.show(event))?;
                let report = earlier.publish(run);
                done.print(name, &report, arguments.output.detail(), "")?;
                if exit_code(&report.run) == INTERRUPTED {
                    break;
                }
            }
            (None, Some(results)) => done.before(name, results)?,
            (None, None) => {}
        }
    }
    done.end(earlier)
}

/// The run in a folder, or the runs of several blocks below it with their folders' names.
fn find(folder: &Path) -> Result<Vec<(Option<OsString>, ResumableRun)>, Error> {
    let runs = runs_in(folder, &[JOURNAL, RESULTS])?;
    if runs.is_empty() {
        let message = format!("there is nothing to resume: it has no {JOURNAL} and no {RESULTS}");
        return Err(Error::File { code: codes::NOT_A_RUN, path: folder.to_owned(), message });
    }
    runs.into_iter()
        .map(|run| {
            let below = (run != folder).then(|| run.file_name()).flatten();
            let name = below.map(OsString::from);
            let found = match InterruptedRun::read(&run)? {
                Some(left) => ResumableRun::InterruptedRun(run, Box::new(left)),
                None => ResumableRun::Finished(Box::new(Results::read(&run, |_, _| ())?)),
            };
            Ok((name, found))
        })
        .collect()
}
