//! The run directory: `results.json`, written case by case, and `timing.json`.
//!
//! `results.json` is the same, byte by byte, for the same seed and build; all that depends on the
//! machine or the moment is in `timing.json`.

use super::failures::Group;
use super::pool::End;
use super::tally::Tally;
use crate::error::Error;
use crate::harness::{Case, Outcome, Verdict};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const RESULTS: &str = "results.json";
const UNFINISHED: &str = "results.json.unfinished";
const TIMING: &str = "timing.json";
const FAILURES: &str = "failures";
const SAVED: &str = "saved";

/// What identifies a run.
#[derive(Debug, Clone, Serialize)]
pub struct Header {
    /// The tool's version.
    pub version: &'static str,
    /// The tool's build: a hash of its sources.
    pub build: &'static str,
    /// The Verilator the built-in models were made with.
    pub verilator: &'static str,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// The block.
    pub block: &'static str,
    /// The run's seed.
    pub seed: u64,
    /// Packets of a case.
    pub packets: u32,
    /// The part of the run, as I/N.
    pub shard: String,
    /// Names of the scenarios.
    pub scenarios: Vec<String>,
}

/// What depends on the machine or the moment.
#[derive(Debug, Clone, Serialize)]
pub struct Timing {
    /// The command line.
    pub command: Vec<String>,
    /// Threads used.
    pub threads: usize,
    /// Wall-clock time in which cases were run.
    pub seconds: f64,
    /// Wall-clock time in which failures were shrunk and traced.
    pub failures_seconds: f64,
    /// Cycles compared per second, failures' time not counted.
    pub cycles_per_second: f64,
}

#[derive(Serialize)]
struct CaseLine<'a> {
    name: &'a str,
    seed: String,
    #[serde(flatten)]
    verdict: &'a Verdict,
    cycles: u64,
    packets: u64,
}

/// A run directory that is being written.
#[derive(Debug)]
pub struct RunDirectory {
    folder: PathBuf,
    file: BufWriter<File>,
    is_first: bool,
}

impl RunDirectory {
    /// Begins a run directory. An earlier run in the same folder is replaced; a folder with anything
    /// else in it is left alone.
    ///
    /// # Errors
    /// [`Error::File`] if the folder holds something else, [`Error::Write`] if it cannot be written.
    pub fn begin(folder: &Path, header: &Header) -> Result<Self, Error> {
        check_replaceable(folder)?;
        fs::create_dir_all(folder).map_err(|error| Error::File {
            path: folder.to_owned(),
            message: format!("cannot be made: {error}"),
        })?;
        for old in [RESULTS, TIMING] {
            let path = folder.join(old);
            if path.exists() {
                fs::remove_file(&path).map_err(Error::write(&path))?;
            }
        }
        for old in [FAILURES, SAVED] {
            let path = folder.join(old);
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(Error::write(&path))?;
            }
        }
        let path = folder.join(UNFINISHED);
        let file = File::create(&path).map_err(Error::write(&path))?;
        let mut directory =
            Self { folder: folder.to_owned(), file: BufWriter::new(file), is_first: true };
        directory.write(format_args!(
            "{{\n\"format\": \"cosim-results\",\n\"version\": 1,\n\"run\": {},\n\"cases\": [",
            to_json(header)
        ))?;
        Ok(directory)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a case.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        let line = CaseLine {
            name: &case.name,
            seed: format!("{:#018x}", case.seed),
            verdict: &outcome.verdict,
            cycles: outcome.cycles,
            packets: outcome.packets,
        };
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.write(format_args!("{separator}{}", to_json(&line)))
    }

    /// Keeps the vector of a case that matched.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, case: &Case, text: &str) -> Result<(), Error> {
        let folder = self.folder.join(SAVED);
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        let path = folder.join(format!("{}.json", case.name.replace('/', "-")));
        fs::write(&path, text).map_err(Error::write(path))
    }

    /// Ends the directory: totals, rules and counters by profile. Only now is there a `results.json`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(
        mut self,
        tally: &Tally,
        failures: &[Group],
        end: End,
        timing: &Timing,
    ) -> Result<PathBuf, Error> {
        self.write(format_args!(
            "\n],\n\"profiles\": {},\n\"totals\": {},\n\"failures\": {},\n\"ended\": {},\n\"passed\": {}\n}}\n",
            to_json(&tally.profiles),
            to_json(&tally.totals),
            to_json(failures),
            to_json(&end),
            tally.totals.passed() && end != End::Interrupted,
        ))?;
        self.file.flush().map_err(Error::write(self.folder.join(UNFINISHED)))?;
        let timing_path = self.folder.join(TIMING);
        let text = format!("{}\n", to_json(timing));
        fs::write(&timing_path, text).map_err(Error::write(&timing_path))?;
        let path = self.folder.join(RESULTS);
        fs::rename(self.folder.join(UNFINISHED), &path).map_err(Error::write(&path))?;
        Ok(path)
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), Error> {
        self.file.write_fmt(text).map_err(Error::write(self.folder.join(UNFINISHED)))
    }
}

/// JSON text; what is written here has string keys and finite numbers, so it always has one.
fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""))
}

/// A folder may be replaced if it is empty or a run directory.
fn check_replaceable(folder: &Path) -> Result<(), Error> {
    let refuse =
        |message: &str| Err(Error::File { path: folder.to_owned(), message: message.to_owned() });
    if !folder.exists() {
        return Ok(());
    }
    let Ok(mut entries) = fs::read_dir(folder) else {
        return refuse("is not a folder that can be read; choose another --out");
    };
    let is_results = |text: String| text.contains("\"format\": \"cosim-results\"");
    let is_run = folder.join(UNFINISHED).exists()
        || fs::read_to_string(folder.join(RESULTS)).is_ok_and(is_results);
    if entries.next().is_some() && !is_run {
        return refuse("holds something that is not a run; choose another --out");
    }
    Ok(())
}
