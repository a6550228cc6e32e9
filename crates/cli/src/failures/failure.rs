//! Failures of a run by their numbers, as in `cosim explain 1`. The summary and the page of the run
//! show the same numbers: the places of the causes of its failures.

use crate::counted;
use crate::terminal::options::{heading, path};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::{Rtl, command_line};
use cosim_formats::run::{self, Cause, Group, Header, RESULTS, runs_in};
use cosim_formats::started;
use cosim_report::paths::word;
use cosim_report::report::Results;
use std::fs;
use std::path::{Path, PathBuf};

/// The latest run in the working directory, for whoever began none there.
const LATEST: &str = "runs/latest";

/// Number of runs to read in search of one that failed.
const MOST_READ: usize = 20;

/// The latest run that this user began in the working directory.
pub fn latest() -> PathBuf {
    let usual = PathBuf::from(LATEST);
    let is_usual = |own: &PathBuf| fs::canonicalize(own).ok() == fs::canonicalize(&usual).ok();
    started::latest().filter(|own| !is_usual(own)).unwrap_or(usual)
}

/// The run whose failures are named by number.
#[derive(Debug, Clone, Default, Args)]
pub struct NumberedRun {
    /// Run directory to which the number of a failure refers [default: the latest run that was
    /// started in this folder].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::WHAT)]
    run: Option<PathBuf>,
}

/// The word as the number of a failure: `Some(None)` for a number that no failure has. A file whose
/// name is a number is written as a path, `./1`.
fn number(word: &Path) -> Option<Option<usize>> {
    let word = word.to_str()?;
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| word.parse().ok())
}

pub fn is_number(word: &Path) -> bool {
    number(word).is_some()
}

impl NumberedRun {
    pub fn folder(&self) -> PathBuf {
        self.run.clone().unwrap_or_else(latest)
    }

    /// The vector that a word names: a path, or the vector of the failure with this number.
    ///
    /// # Errors
    /// [`Error::File`] if there is no such failure, or if its vector is missing. [`Error::Usage`]
    /// if --run is given without need.
    pub fn vector(&self, word: &Path) -> Result<PathBuf, Error> {
        if !is_number(word) {
            return self.check_unused(word).map(|()| word.to_owned());
        }
        let failures = Failures::read(&self.folder())?;
        let group = failures.group(word)?;
        let Some(vector) = &group.first.vector else {
            let why = group.first.notes.first().map_or("it was not written", String::as_str);
            let message = format!("failure {} has no vector: {why}", word.display());
            return Err(failures.run_error(message));
        };
        // Nothing below a run directory may lead out of it.
        match vector.open(&failures.folder) {
            Ok(_) => Ok(vector.path(&failures.folder)),
            Err(error) => Err(Error::unreadable(&vector.path(&failures.folder), &error)),
        }
    }

    /// Refuses --run with a path.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is given.
    pub fn check_unused(&self, word: &Path) -> Result<(), Error> {
        match &self.run {
            None => Ok(()),
            Some(_) => Err(Error::Usage(
                codes::OPTIONS_CONFLICT,
                format!(
                    "--run names the run to which the number of a failure refers, and `{}` is a path; \
                     leave --run out",
                    text::path(word)
                ),
            )),
        }
    }
}

pub struct Failures {
    pub folder: PathBuf,
    pub results: Results,
}

impl Failures {
    /// Reads the failures of a run directory.
    ///
    /// # Errors
    /// [`Error::File`] if it is no directory of one complete run.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let wrong = |code, message| Err(Error::File { code, path: folder.to_owned(), message });
        if !folder.exists() {
            let start = match folder == Path::new(LATEST) {
                true => "no run was started here yet",
                false => "there is no such run",
            };
            return wrong(
                codes::NOT_A_RUN,
                format!("{start}; `{} run` starts one", program::called()),
            );
        }
        if folder.is_dir() {
            match runs_in(folder, &[RESULTS])?.as_slice() {
                [run] if run == folder => {}
                [] => {
                    let message =
                        format!("has no {RESULTS}: it is not the folder of a complete run");
                    return wrong(codes::NOT_A_RUN, message);
                }
                runs => {
                    let names = runs.iter().map(|run| format!("--run {}", text::path(run)));
                    let names: Vec<String> = names.collect();
                    let count = counted(runs.len() as u64, "run");
                    let message = format!("has {count}; choose one: {}", names.join(", "));
                    return wrong(codes::CHOOSE_ONE, message);
                }
            }
        }
        Ok(Self { folder: folder.to_owned(), results: Results::read(folder, |_, _| ())? })
    }

    fn run_error(&self, message: String) -> Error {
        Error::File { code: codes::NOTHING_SELECTED, path: self.folder.clone(), message }
    }

    /// The largest group of the failure with this number.
    ///
    /// # Errors
    /// [`Error::File`] if there is none.
    pub fn group(&self, word: &Path) -> Result<&Group, Error> {
        let causes = run::causes(&self.results.failures);
        let wanted = number(word).flatten().and_then(|number| number.checked_sub(1));
        if let Some(Cause { main, .. }) = wanted.and_then(|place| causes.get(place)) {
            return Ok(main);
        }
        let all = match causes.len() {
            0 => return Err(self.run_error(format!("the run has no failures{}", last_red()))),
            1 => "the run has one failure, 1".to_owned(),
            all => format!("the run has the failures 1 to {all}"),
        };
        Err(self.run_error(format!("there is no failure {}: {all}", text::path(word))))
    }
}

/// The newest run in `runs` that has failures, as the end of a sentence.
fn last_red() -> String {
    let mut runs: Vec<PathBuf> = fs::read_dir("runs")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !path.is_symlink())
        .collect();
    runs.sort_by_key(|run| run.metadata().and_then(|data| data.modified()).ok());
    let is_red = |run: &&PathBuf| {
        let results = Results::read(run, |_, _| ());
        results.is_ok_and(|results| !results.failures.is_empty())
    };
    match runs.iter().rev().take(MOST_READ).find(is_red) {
        Some(run) => format!("; the last one that has is named by `--run {}`", word(run)),
        None => ", nor has any other in runs/".to_owned(),
    }
}

pub fn explain_command(number: usize, folder: &Path, header: &Header, rtl: &Rtl) -> String {
    let mut words = vec![program::called(), "explain".to_owned(), number.to_string()];
    let is_latest = match (fs::canonicalize(latest()), fs::canonicalize(folder)) {
        (Ok(latest), Ok(folder)) => latest == folder,
        _ => false,
    };
    if !is_latest {
        words.extend(["--run".to_owned(), word(folder)]);
    }
    if *rtl != header.given || header.run_rtl().recorded_hash().is_none() {
        words.extend(rtl.arguments());
    }
    command_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_alone_are_a_number_and_anything_else_is_a_path() {
        for (word, expected) in [
            ("1", Some(Some(1))),
            ("007", Some(Some(7))),
            ("0", Some(Some(0))),
            ("99999999999999999999999", Some(None)),
            ("./1", None),
            ("-1", None),
            ("+1", None),
            ("1.json", None),
            ("1 ", None),
            ("\u{661}", None),
            ("", None),
        ] {
            assert_eq!(number(Path::new(word)), expected, "{word:?}");
        }
    }
}
