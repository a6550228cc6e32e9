//! `cosim run --resume`: goes on with a run that was killed or interrupted.

use super::Arguments;
use crate::cli::done::Done;
use crate::cli::options::Format;
use crate::cli::regression::{Begin, Job, Ready};
use crate::cli::{self, INTERRUPTED, counted, interruption, print_text};
use crate::error::{Error, codes};
use crate::report::Results;
use crate::runner::{JOURNAL, Left, RESULTS, runs_in};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The run of a block in its folder.
enum Found {
    /// It can be gone on with.
    Left(PathBuf, Box<Left>),
    /// It has ended.
    Ended(Box<Results>),
}

impl Found {
    fn block(&self) -> &str {
        match self {
            Self::Left(_, left) => left.begun.header["block"].as_str().unwrap_or_default(),
            Self::Ended(results) => &results.run.block,
        }
    }

    fn seed(&self) -> u64 {
        match self {
            Self::Left(_, left) => left.begun.header["seed"].as_u64().unwrap_or_default(),
            Self::Ended(results) => results.run.seed,
        }
    }

    /// Whether it is that of a job; `name` is that of its folder, if it is one of several.
    fn is_of(&self, name: Option<&OsString>, job: &Job) -> bool {
        self.block() == job.block.name() && name.is_none_or(|name| *name == *job.name)
    }
}

/// Goes on with the runs in a folder, as they were begun.
pub fn execute(arguments: &Arguments, folder: &Path) -> Result<ExitCode, Error> {
    let folder = fs::canonicalize(folder).map_err(|error| Error::File {
        code: codes::FILE_UNREADABLE,
        path: folder.to_owned(),
        message: format!("there is nothing to go on with: it cannot be read: {error}"),
    })?;
    let mut found = find(&folder)?;
    let Some(left) = found.iter().find_map(|(_, found)| match found {
        Found::Left(_, left) => Some(left),
        Found::Ended(_) => None,
    }) else {
        let message =
            "its run has ended: there is nothing to go on with; run it again with --force";
        return Err(Error::File {
            code: codes::CANNOT_RESUME,
            path: folder,
            message: message.to_owned(),
        });
    };
    let wrong =
        |message: String| Error::File { code: codes::CANNOT_RESUME, path: folder.clone(), message };
    // What was typed is relative to where it was typed.
    env::set_current_dir(&left.begun.folder).map_err(|error| {
        wrong(format!("was begun in {}, which is not there: {error}", left.begun.folder.display()))
    })?;
    let mut begun = cli::run_arguments(&left.begun.command)
        .ok_or_else(|| wrong("was begun by no command `run` that this program knows".to_owned()))?;
    if let Some((_, any)) = found.first() {
        begun.options.set_random_seed(any.seed());
    }
    begun.options.set_sandbox_of(&arguments.options);
    let mut jobs = begun.jobs()?;
    for job in &mut jobs {
        let of_job = found.iter().find(|(name, found)| found.is_of(name.as_ref(), job));
        if of_job.is_none() {
            return Err(wrong(format!("has no run of {}", job.name)));
        }
        job.set(arguments.options.threads, !arguments.told.quiet);
    }
    let interrupted = interruption()?;
    let mut ready: Vec<Option<(Ready<'_>, Begin)>> = Vec::new();
    let mut ended = Vec::new();
    for job in &jobs {
        let place = found.iter().position(|(name, found)| found.is_of(name.as_ref(), job));
        match place.map(|place| found.swap_remove(place).1) {
            Some(Found::Left(folder, left)) => {
                let one = job.prepare(&interrupted)?;
                let begin = one.again(&folder, *left)?;
                ready.push(Some((one, begin)));
                ended.push(None);
            }
            Some(Found::Ended(results)) => {
                ready.push(None);
                ended.push(Some(results));
            }
            None => {}
        }
    }
    go_on(arguments, &jobs, ready, &ended)
}

/// Runs what is left, in order.
fn go_on(
    arguments: &Arguments,
    jobs: &[Job],
    ready: Vec<Option<(Ready<'_>, Begin)>>,
    ended: &[Option<Box<Results>>],
) -> Result<ExitCode, Error> {
    let names = jobs.iter().map(|job| job.name.clone()).collect();
    let mut done = Done::new(names, arguments.told.format);
    for ((job, ready), ended) in jobs.iter().zip(ready).zip(ended) {
        let name = job.name.as_str();
        match (ready, ended) {
            (Some((ready, begin)), _) => {
                if arguments.told.format == Format::Text {
                    let cases = counted(begin.cases(), "case");
                    print_text(&format!("{name}: {cases} had ended before"))?;
                }
                let report = ready.run(begin, job.time())?;
                done.tell(name, &report, arguments.told.detail(), "")?;
                if report.exit_code() == INTERRUPTED {
                    break;
                }
            }
            (None, Some(results)) => done.before(name, results)?,
            (None, None) => {}
        }
    }
    done.end()
}

/// The runs in a folder: its own, or several below it, with their folders' names.
fn find(folder: &Path) -> Result<Vec<(Option<OsString>, Found)>, Error> {
    let runs = runs_in(folder, &[JOURNAL, RESULTS])?;
    if runs.is_empty() {
        let message =
            format!("there is nothing to go on with: it has no {JOURNAL} and no {RESULTS}");
        return Err(Error::File { code: codes::NOT_A_RUN, path: folder.to_owned(), message });
    }
    runs.into_iter()
        .map(|run| {
            let below = (run != folder).then(|| run.file_name()).flatten();
            let name = below.map(OsString::from);
            let found = match Left::read(&run)? {
                Some(left) => Found::Left(run, Box::new(left)),
                None => Found::Ended(Box::new(Results::read(&run, |_, _| ())?)),
            };
            Ok((name, found))
        })
        .collect()
}
