//! What a run writes: `results.json`, row by row, `timing.json`, and the vectors of matching cases.
//!
//! `results.json` is the same, byte by byte, for the same seed and build; all that depends on the
//! machine or the moment is in `timing.json`. `docs/reference/results.md` describes it for its readers.

use super::cases::{Cases, FailedCase, Failure, FinishedCase, Row};
use super::directory::{DirectoryLock, OutputLocation, remove_partial};
use super::end::End;
use super::groups::Group;
use super::journal::{JOURNAL, State};
use super::names::file_stem;
use super::plan::Shard;
use super::tally::{ProfileTally, Tally, Totals};
use super::waivers::{Day, Waiver};
use crate::checksum::Checksum;
use crate::coverage::{COVERAGE, Database};
use crate::error::{Error, codes};
use crate::files::{Sync, sync_folder, write_whole};
use crate::harness::{Case, Outcome, Signature};
use crate::models::{FileRead, Rtl};
use cosim_rtl::gates::Area;
use nix::sys::resource::{UsageWho, getrusage};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The results of a run that has ended.
pub const RESULTS: &str = "results.json";
/// The results of a run that goes on, or was killed.
pub const PARTIAL: &str = "results.json.partial";
/// Times.
pub const TIMING: &str = "timing.json";
/// The folder of failures.
pub const FAILURES: &str = "failures";
/// The folder of saved vectors.
pub const SAVED: &str = "saved";
/// What `format` says in them.
pub const RESULTS_FORMAT: &str = "cosim-results";
/// How every `results.json` begins.
pub const MARK: &str = "{\n\"format\": \"cosim-results\"";
/// The version of `results.json`.
pub const RESULTS_VERSION: u64 = 5;
/// The oldest readable version. Version 4 has no checksum.
pub const RESULTS_OLDEST: u64 = 4;

/// What identifies a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The tool's version.
    pub version: String,
    /// The tool's build: a hash of its sources.
    pub build: String,
    /// The Verilator the built-in models were made with.
    pub verilator: String,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// What was given instead of the built-in RTL.
    pub given: Rtl,
    /// The files that Verilator read.
    pub rtl_files: Vec<FileRead>,
    /// Models compiled for this run that take two evaluations per cycle instead of one: by profile, why.
    pub two_evaluations: BTreeMap<String, String>,
    /// The netlists that ran in the RTL's place, by profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub netlists: BTreeMap<String, Area>,
    /// The block.
    pub block: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; drawn if there is no number.
    pub packets: Option<u32>,
    /// The part of the run, as I/N.
    pub shard: Shard,
    /// Cases of each profile and scenario in the whole run; none if only the time ends it.
    pub cases: Option<u64>,
    /// The index of the first of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// Names of the scenarios.
    pub scenarios: Vec<String>,
    /// Files of scenarios that are not built in, as typed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scenario_files: BTreeMap<String, String>,
    /// A hash of what the scenarios draw.
    pub weights: String,
    /// Percent of the bins that are to be hit in every profile of the whole run.
    pub min_coverage: Option<f64>,
    /// Percent of the bins at which the run ends, when they are hit in every profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_coverage: Option<f64>,
    /// Written by older versions: cases that were selected at once, if it ends so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Whether it was counted what of the RTL's code cases reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
    /// Matching cases whose vectors are kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub save_vectors: u64,
    /// Failures that do not count until a day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl Header {
    /// Whether the run directory holds all of the run. Older versions wrote shards of a run with `until_coverage`,
    /// each of which holds all of it.
    pub fn is_whole(&self) -> bool {
        self.shard.is_whole() || self.until_coverage.is_some()
    }

    /// From one place of those in the run directory to the next.
    pub fn step(&self) -> u64 {
        if self.is_whole() { 1 } else { self.shard.count() }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What depends on the machine or the moment.
#[derive(Debug, Clone, Serialize)]
pub struct Timing {
    /// When the run ended, in UTC.
    pub ended: String,
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
    /// Memory that was taken at most.
    pub peak_memory: PeakMemory,
    /// The commit of the folder that the run was started in, if it is one of git's.
    pub commit: Option<String>,
    /// Seconds since the beginning, and cycles compared until then: a few points in time.
    pub progress: Vec<(f64, u64)>,
    /// The sandbox of the models; none if no model ran.
    pub sandbox: Option<String>,
    /// Workers lost to causes outside the RTL. Their cases were repeated.
    pub lost_workers: LostWorkers,
    /// Cases whose scoreboard and coverage an earlier run has evaluated; see [`Judged`](crate::judged::Judged).
    pub judged_before: u64,
}

/// Workers lost to causes outside the RTL.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LostWorkers {
    /// The number of lost workers.
    pub count: u64,
    /// The first of them, each with its case and the cause.
    pub first: Vec<String>,
}

impl LostWorkers {
    const NAMED: usize = 100;

    /// Adds a lost worker.
    pub fn add(&mut self, how: &str) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(how.to_owned());
        }
    }

    /// Adds the lost workers of a shard.
    pub fn extend(&mut self, other: &Self) {
        self.count += other.count;
        let room = Self::NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room).cloned());
    }
}

/// Points in time at which it is noted how far a run is; so few whatever it takes.
#[derive(Debug, Clone)]
pub struct Milestones {
    points: Vec<(f64, u64)>,
    /// From one to the next.
    every: f64,
}

impl Default for Milestones {
    fn default() -> Self {
        Self { points: vec![(0.0, 0)], every: 0.02 }
    }
}

impl Milestones {
    const MOST: usize = 128;

    /// So many cycles have been compared after so many seconds.
    pub fn pass(&mut self, seconds: f64, cycles: u64) {
        let last = self.points.last().map_or(0.0, |(seconds, _)| *seconds);
        if seconds < last + self.every {
            return;
        }
        self.points.push((seconds, cycles));
        if self.points.len() > Self::MOST {
            // Every other one, from now on half as often.
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2.0;
        }
    }

    /// The points, in order.
    pub fn into_points(self) -> Vec<(f64, u64)> {
        self.points
    }
}

/// The runs in a folder: its own, or those of several blocks below it, by name. A run is known by any of
/// these files.
///
/// # Errors
/// [`Error::File`] if the folder cannot be read.
pub fn runs_in(folder: &Path, files: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let is_run = |folder: &Path| files.iter().any(|name| folder.join(name).exists());
    let entries = fs::read_dir(folder).map_err(|error| Error::unreadable(folder, &error))?;
    if is_run(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    runs.retain(|folder| is_run(folder));
    runs.sort();
    Ok(runs)
}

/// The commit that is checked out here, if git knows of one.
pub fn commit() -> Option<String> {
    let git =
        Command::new("git").args(["rev-parse", "HEAD"]).stderr(Stdio::null()).output().ok()?;
    let name = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !name.is_empty()).then_some(name)
}

/// The most memory that was resident at a time, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PeakMemory {
    /// Of the program.
    pub program: Option<u64>,
    /// Of the largest process that it started and that has ended: a worker, or a compiler.
    pub largest_process: Option<u64>,
}

impl PeakMemory {
    /// Until now.
    pub fn now() -> Self {
        // Linux counts in KiB.
        let of = |who| Some(u64::try_from(getrusage(who).ok()?.max_rss()).ok()? * 1024);
        let program = own_peak().or_else(|| of(UsageWho::RUSAGE_SELF));
        Self { program, largest_process: of(UsageWho::RUSAGE_CHILDREN) }
    }
}

/// The most memory that this program has had, in bytes. What `getrusage` says of a process begins with the peak of the one
/// that started it.
fn own_peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The verdict of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// Why it ended.
    pub end: End,
    /// The UTC day that waivers were checked against, if the run has waivers: the end of the run or of its last shard.
    pub day: Option<Day>,
    /// Whether it passed.
    pub passed: bool,
}

/// The results of one run in its directory.
///
/// A disk that is full loses files, not the run: the first error is kept, and returned at the end.
#[derive(Debug)]
pub struct RunDirectory {
    claim: DirectoryLock,
    file: File,
    /// Bytes written that are whole lines.
    length: u64,
    /// The checksum of those bytes.
    checksum: Checksum,
    cases: Cases,
    /// Lines that are to be written next.
    text: String,
    /// Why `results.json` will not be whole.
    lost: Option<Error>,
}

impl RunDirectory {
    /// Begins a run directory.
    ///
    /// # Errors
    /// As [`DirectoryLock::new`].
    pub fn begin(place: &OutputLocation, header: &Header) -> Result<Self, Error> {
        let claim = DirectoryLock::new(place)?;
        let path = claim.folder.join(PARTIAL);
        let file = File::create(&path).map_err(Error::write(&path))?;
        let cases = Cases::new(header.step());
        let (length, text, lost) = (0, String::new(), None);
        let checksum = Checksum::default();
        let mut directory = Self { claim, file, length, checksum, cases, text, lost };
        let header = to_json(header);
        let head =
            format!("{MARK},\n\"version\": {RESULTS_VERSION},\n\"run\": {header},\n\"cases\": [");
        directory.write(&head)?;
        Ok(directory)
    }

    /// Resumes the run directory of a run at `state`. Everything written after that state is written again.
    ///
    /// # Errors
    /// [`Error::File`] if another run writes it, or if its results do not match the checksum in `state`. Nothing changes then.
    pub fn again(folder: &Path, state: &State) -> Result<Self, Error> {
        let claim = DirectoryLock::again(folder)?;
        let partial = folder.join(PARTIAL);
        let results = folder.join(RESULTS);
        // The run was interrupted, or killed when its results were just written.
        let is_renamed = !partial.exists() && results.exists();
        let path = if is_renamed { results } else { partial.clone() };
        let open = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = open.map_err(Error::write(&path))?;
        let checksum = Checksum::of_first(&mut file, state.length);
        let checksum = checksum.map_err(|error| Error::unreadable(&path, &error))?;
        if checksum.hex() != state.checksum {
            let message = format!(
                "is damaged or edited: its first {} bytes do not match the checksum in {JOURNAL}; this run cannot be resumed, repeat it with --force",
                state.length
            );
            return Err(Error::File { code: codes::DAMAGED, path, message });
        }
        if is_renamed {
            fs::rename(&path, &partial).map_err(Error::write(&partial))?;
        }
        let cut = file.set_len(state.length).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(Error::write(&partial))?;
        let (length, cases) = (state.length, state.cases.clone());
        Ok(Self { claim, file, length, checksum, cases, text: String::new(), lost: None })
    }

    /// Writes into `state` how far it is.
    pub fn stand(&self, state: &mut State) {
        state.length = self.length;
        state.checksum = self.checksum.hex();
        state.cases = self.cases.clone();
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.claim.folder
    }

    /// Adds a case. Returns an error once: when results begin to be lost.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        let failure = Signature::of(&outcome.verdict)
            .map(|signature| Failure { signature, verdict: Some(outcome.verdict.clone()) });
        let Outcome { cycles, packets, .. } = *outcome;
        let ended = FinishedCase { place: case.place, cycles, packets, failure };
        self.ended(&ended, || case.clone())
    }

    /// As [`RunDirectory::case`], of a case that was run elsewhere; `case` says what it is called.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn ended(
        &mut self,
        ended: &FinishedCase,
        case: impl FnOnce() -> Case,
    ) -> Result<(), Error> {
        if self.lost.is_some() {
            return Ok(());
        }
        self.cases.add(ended, case, &mut self.text);
        let result = self.write_text();
        if let Err(Error::Write { path, source }) = &result {
            let source = std::io::Error::new(source.kind(), source.to_string());
            self.lost = Some(Error::Write { path: path.clone(), source });
        }
        result
    }

    /// Whether a failure with this signature, were it the next case, would be told in full.
    pub fn is_told(&self, signature: &Signature) -> bool {
        self.cases.is_told(signature)
    }

    /// Keeps the vector of a case that matched.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, case: &Case, text: &str) -> Result<(), Error> {
        let folder = self.folder().join(SAVED);
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        let path = folder.join(format!("{}.json", file_stem(&case.name)));
        write_whole(&path, text.as_bytes(), Sync::Lazy)
    }

    /// Ends the directory: totals, rules and counters by profile. Only now is there a `results.json`.
    ///
    /// # Errors
    /// [`Error::Write`], if anything but vectors and waves could not be written since the beginning.
    pub fn finish(
        &mut self,
        tally: &Tally,
        coverage: &Database,
        failures: &[Group],
        conclusion: &Conclusion,
        timing: &Timing,
    ) -> Result<PathBuf, Error> {
        let result = self.complete(tally, coverage, failures, conclusion, timing);
        let below = [FAILURES, SAVED].map(|name| self.folder().join(name));
        for folder in std::iter::once(self.folder().to_owned()).chain(below) {
            remove_partial(&folder);
        }
        result
    }

    /// Gives the directory up: it will have no results.
    pub fn abandon(self) {
        let folder = self.folder().to_owned();
        let _ = fs::remove_file(folder.join(PARTIAL));
        remove_partial(&folder);
        self.claim.abandon();
    }

    /// Removes the journal: the run has ended.
    pub fn forget(&self) {
        let _ = fs::remove_file(self.folder().join(JOURNAL));
    }

    /// Lets go of the directory: nothing is written any more.
    pub fn release(self) {
        self.claim.release();
    }

    fn complete(
        &mut self,
        tally: &Tally,
        coverage: &Database,
        failures: &[Group],
        conclusion: &Conclusion,
        timing: &Timing,
    ) -> Result<PathBuf, Error> {
        if let Some(lost) = self.lost.take() {
            return Err(lost);
        }
        self.cases.end_row(&mut self.text);
        self.write_text()?;
        let Conclusion { end, day, passed } = conclusion;
        let covered = coverage.write(&self.folder().join(COVERAGE))?;
        let mut tail = format!(
            "\n],\n\"profiles\": {},\n\"totals\": {},\n\"failures\": {},\n\"coverage\": {},\n\"ended\": {},\n",
            to_json(&tally.profiles),
            to_json(&tally.totals),
            to_json(failures),
            to_json(&covered),
            to_json(end),
        );
        if let Some(day) = day {
            tail.push_str(&format!("\"day\": {},\n", to_json(day)));
        }
        tail.push_str(&format!("\"passed\": {passed},\n"));
        self.write(&tail)?;
        self.write(&self.checksum.end())?;
        let partial = self.folder().join(PARTIAL);
        self.file.sync_all().map_err(Error::write(&partial))?;
        let times = self.folder().join(TIMING);
        write_whole(&times, format!("{}\n", to_json(timing)).as_bytes(), Sync::Lazy)?;
        let path = self.folder().join(RESULTS);
        fs::rename(partial, &path).map_err(Error::write(&path))?;
        sync_folder(self.folder());
        Ok(path)
    }

    fn write_text(&mut self) -> Result<(), Error> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        let result = self.write(&text);
        self.text = text;
        self.text.clear();
        result
    }

    /// Writes text at once: a run that is killed loses nothing of it.
    fn write(&mut self, text: &str) -> Result<(), Error> {
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.length += text.len() as u64;
                self.checksum.add(text.as_bytes());
                Ok(())
            }
            Err(error) => {
                // What is left ends with a whole line.
                let _ = self.file.set_len(self.length).and_then(|()| self.file.rewind());
                Err(Error::write(self.folder().join(PARTIAL))(error))
            }
        }
    }
}

/// JSON text; what is written here has string keys and finite numbers, so it always has one.
pub fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""))
}

/// The JSON schema of `results.json`.
pub fn results_schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut of =
        |schema: fn(&mut SchemaGenerator) -> schemars::Schema| schema(&mut generator).to_value();
    let properties = json!({
        "format": { "const": RESULTS_FORMAT },
        "version": { "const": RESULTS_VERSION },
        "run": of(SchemaGenerator::subschema_for::<Header>),
        "cases": { "type": "array", "items": { "oneOf": [
            of(SchemaGenerator::subschema_for::<Row>),
            of(SchemaGenerator::subschema_for::<FailedCase<'static>>),
        ] } },
        "profiles": of(SchemaGenerator::subschema_for::<Vec<ProfileTally>>),
        "totals": of(SchemaGenerator::subschema_for::<Totals>),
        "failures": of(SchemaGenerator::subschema_for::<Vec<Group>>),
        "coverage": { "type": "string", "description": "The checksum of coverage.json." },
        "ended": of(SchemaGenerator::subschema_for::<End>),
        "day": of(SchemaGenerator::subschema_for::<Day>),
        "passed": { "type": "boolean" },
        "checksum": { "type": "string", "description": "The BLAKE3 hash of all bytes before its line." },
    });
    let required = properties.as_object().map(|all| all.keys().filter(|key| *key != "day"));
    let required = required.map(|keys| keys.collect::<Vec<_>>());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "results.json of a cosim run",
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
        "$defs": generator.take_definitions(true),
    })
}
