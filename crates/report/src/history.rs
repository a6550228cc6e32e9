//! A history of runs in one file: first occurrence of failures, and trends of coverage and speed.
//!
//! Each line is a JSON object with one run. Lines are appended under a lock of the file. A run is
//! recorded once: its key is its end time and the checksum of its `results.json`. If it is added
//! again from another folder, the new line replaces the first.
//!
//! A killed process can leave a line incomplete. Readers skip such a line, and the next writer
//! starts a new one. Any other line that is no run of this version is an error.

use crate::paths::{absolute, relative};
use cosim_base::checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, folder_of, read_input};
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_formats::run::{self, End, RESULTS, Results, Timing};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct History {
    /// The folder of the file. Those of its runs are relative to it.
    base: PathBuf,
    /// The runs by end time and checksum.
    runs: BTreeMap<(String, String), RecordedRun>,
    /// The length of the file in bytes.
    length: u64,
    /// Whether the last line has no line break.
    is_cut: bool,
}

/// A line of a history: what it records of a run directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRun {
    format: Format,
    /// The checksum of `results.json`.
    checksum: String,
    run: Run,
    /// Number of cases of each failure, by signature.
    failures: BTreeMap<String, u64>,
    /// The largest failure of the cause of each other failure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    causes: BTreeMap<String, String>,
}

/// The first field of a line: its format and version.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "cosim-history 1")]
    Version1,
}

impl RecordedRun {
    /// Reads a run directory.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let results = Results::read(folder, |_, _| ())?;
        let timing = Timing::read(folder)?;
        let checksum = checksum::verify_file(&folder.join(RESULTS))?;
        let (bins_hit, bins_reachable) = covered_bins(folder)?.unwrap_or_default();
        let (header, totals) = (&results.run, &results.totals);
        let run = Run {
            ended: timing.ended,
            block: header.block.clone(),
            seed: header.seed.to_string(),
            rtl: header.rtl.clone(),
            build: header.build.clone(),
            commit: timing.commit,
            verdict: results.verdict().to_owned(),
            cases: totals.cases,
            failed: totals.failures(),
            cycles: totals.cycles,
            cycles_per_second: timing.cycles_per_second,
            bins_hit,
            bins_reachable,
            plan: plan(&results),
            given: header.given.command_line(),
            folder: Some(absolute(folder)),
        };
        let failures = results.failures.iter();
        let failures = failures.map(|group| (group.signature.to_string(), group.count)).collect();
        let mut causes = BTreeMap::new();
        for cause in run::causes(&results.failures) {
            let main = cause.main.signature.to_string();
            let others = cause.variants.iter().map(|group| group.signature.to_string());
            causes.extend(others.map(|other| (other, main.clone())));
        }
        Ok(Self { format: Format::Version1, checksum, run, failures, causes })
    }
}

/// Covered and reachable bins of all profiles of a run; `None` if it recorded no coverage.
///
/// # Errors
/// If the coverage cannot be read.
pub(crate) fn covered_bins(run: &Path) -> Result<Option<(u64, u64)>, Error> {
    let coverage = run.join(COVERAGE);
    if !coverage.exists() {
        return Ok(None);
    }
    let database = Database::read(&coverage)?;
    let covered = database.profiles.keys().map(|name| database.covered(name));
    Ok(Some(covered.fold((0, 0), |(hit, reachable), one| {
        (hit + u64::from(one.hit), reachable + u64::from(one.reachable))
    })))
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// When it ended, in UTC.
    pub ended: String,
    pub block: String,
    pub seed: String,
    pub rtl: String,
    pub build: String,
    pub commit: Option<String>,
    /// The verdict, in one to three words.
    pub verdict: String,
    /// Number of finished cases.
    pub cases: u64,
    pub failed: u64,
    pub cycles: u64,
    pub cycles_per_second: f64,
    /// Number of covered bins of all profiles.
    pub bins_hit: u64,
    /// Number of reachable bins of all profiles.
    pub bins_reachable: u64,
    /// A hash of its profiles, scenarios and cases; empty if not all of them ran.
    pub plan: String,
    /// The user RTL, as typed; empty for the built-in RTL.
    pub given: String,
    pub folder: Option<PathBuf>,
}

impl Run {
    /// Whether a failure of the other run that this one lacks is fixed: both ran the same plan to
    /// its end, on RTL of the same name.
    pub fn is_like(&self, other: &Self) -> bool {
        !self.plan.is_empty()
            && (&self.block, &self.plan, &self.given) == (&other.block, &other.plan, &other.given)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureStatus {
    /// The last run of its kind has it.
    Open,
    /// So has it, and a run of this kind between two others did not.
    Reopened,
    /// A later run of the same plan, on RTL of the same name, does not have it.
    Fixed,
}

impl FailureStatus {
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Reopened => "reopened",
            Self::Fixed => "fixed",
        }
    }
}

/// A hash of what a complete run covered: profiles, scenarios, cases and packets.
fn plan(results: &Results) -> String {
    let run = &results.run;
    if results.ended != End::Complete || !run.is_whole() || run.cases == Some(1) {
        return String::new();
    }
    let parts = (&run.profiles, &run.scenarios, &run.weights, run.cases, run.first, run.packets);
    let hash = Sha256::digest(format!("{parts:?}"));
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// The status of a failure in runs, oldest first. `has_it` are the places of those with the
/// failure, in order.
fn status(runs: &[&Run], has_it: &[usize]) -> FailureStatus {
    let Some(last) = has_it.last() else { return FailureStatus::Open };
    let lacks =
        |place: usize| has_it.binary_search(&place).is_err() && runs[place].is_like(runs[*last]);
    let first = has_it.iter().find(|place| runs[**place].is_like(runs[*last])).unwrap_or(last);
    match () {
        () if (last + 1..runs.len()).any(lacks) => FailureStatus::Fixed,
        () if (*first..*last).any(lacks) => FailureStatus::Reopened,
        () => FailureStatus::Open,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureHistory {
    pub block: String,
    pub signature: String,
    /// Other signatures of its cause that are counted with it.
    #[serde(skip)]
    pub more: u64,
    /// End time and RTL of the first run with this failure.
    pub first: (String, String),
    /// End time and RTL of the last run with this failure.
    pub last: (String, String),
    pub runs: u64,
    pub cases: u64,
    pub status: FailureStatus,
}

impl History {
    /// Adds runs to a file, all or none. Creates the file if it does not exist. Returns the history
    /// and the number of runs that were new.
    ///
    /// # Errors
    /// [`Error::Input`] if a line is no run of this version. [`Error::File`] if it is no file, too
    /// large, or locked. [`Error::Write`] if it cannot be written.
    pub fn record(path: &Path, runs: Vec<RecordedRun>) -> Result<(Self, u64), Error> {
        Self::check(path)?;
        let mut file = locked(path, true)?;
        let mut history = Self::existing(path)?;
        let known = history.runs.len();
        let mut text = if history.is_cut { "\n" } else { "" }.to_owned();
        for mut recorded in runs {
            let folder = recorded.run.folder.map(|folder| relative(&history.base, &folder));
            recorded.run.folder = folder.filter(|folder| folder.to_str().is_some());
            let line = serde_json::to_string(&recorded)
                .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
            if history.insert(recorded) {
                text += &(line + "\n");
            }
        }
        if history.length + text.len() as u64 > LARGEST_INPUT {
            let message =
                format!("would be larger than {} MiB; choose another file", LARGEST_INPUT >> 20);
            return Err(Error::File { code: codes::TOO_LARGE, path: path.to_owned(), message });
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        if let Err(error) = written {
            let _ = file.set_len(history.length);
            return Err(Error::write(path)(error));
        }
        let new = history.runs.len() - known;
        Ok((history, new as u64))
    }

    /// Reads an existing file.
    ///
    /// # Errors
    /// As [`History::record`], and if the file does not exist.
    pub fn existing(path: &Path) -> Result<Self, Error> {
        let bytes = read_input(path, LARGEST_INPUT)?;
        let mut history = Self {
            base: folder_of(&absolute(path)).to_owned(),
            runs: BTreeMap::new(),
            length: bytes.len() as u64,
            is_cut: bytes.last().is_some_and(|byte| *byte != b'\n'),
        };
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            match serde_json::from_slice(line) {
                Ok(recorded) => _ = history.insert(recorded),
                Err(error) if error.is_eof() => {}
                Err(error) => return Err(refused(path, index, &error)),
            }
        }
        Ok(history)
    }

    /// Reads a file, if it exists.
    ///
    /// # Errors
    /// As [`History::existing`].
    pub fn if_there(path: &Path) -> Result<Option<Self>, Error> {
        path.symlink_metadata().is_ok().then(|| Self::existing(path)).transpose()
    }

    /// Checks that runs can be added to a file. Creates none.
    ///
    /// # Errors
    /// As [`History::record`], and [`Error::Write`] if there is no folder for a new file.
    pub fn check(path: &Path) -> Result<(), Error> {
        if Self::if_there(path)?.is_some() {
            locked(path, false)?;
        } else if !folder_of(path).is_dir() {
            let error = io::Error::new(io::ErrorKind::NotFound, "its folder does not exist");
            return Err(Error::write(path)(error));
        }
        Ok(())
    }

    /// Adds or replaces a run. Returns whether it is new or in another folder.
    fn insert(&mut self, recorded: RecordedRun) -> bool {
        let key = (recorded.run.ended.clone(), recorded.checksum.clone());
        let folder = recorded.run.folder.clone();
        self.runs.insert(key, recorded).is_none_or(|old| old.run.folder != folder)
    }

    /// The runs of a block, or of all, oldest first.
    pub fn runs(&self, block: Option<&str>) -> Vec<Run> {
        let path = |folder: &PathBuf| absolute(&self.base.join(folder));
        let runs = self.of_block(block).map(|recorded| recorded.run.clone());
        runs.map(|run| Run { folder: run.folder.as_ref().map(path), ..run }).collect()
    }

    /// The failures of a block, or of all, most recent first.
    pub fn failures(&self, block: Option<&str>) -> Vec<FailureHistory> {
        self.grouped(block, false)
    }

    /// As [`History::failures`], with one for all signatures that a run found to have one cause.
    pub fn causes(&self, block: Option<&str>) -> Vec<FailureHistory> {
        self.grouped(block, true)
    }

    fn grouped(&self, block: Option<&str>, by_cause: bool) -> Vec<FailureHistory> {
        let runs: Vec<&Run> = self.of_block(block).map(|recorded| &recorded.run).collect();
        type Known<'a> = (u64, Vec<usize>, BTreeSet<&'a str>);
        let mut found: BTreeMap<(&str, &str), Known<'_>> = BTreeMap::new();
        for (place, recorded) in self.of_block(block).enumerate() {
            for (signature, count) in &recorded.failures {
                let cause = recorded.causes.get(signature).filter(|_| by_cause);
                let key = (recorded.run.block.as_str(), cause.unwrap_or(signature).as_str());
                let (cases, places, of) = found.entry(key).or_default();
                *cases = cases.saturating_add(*count);
                places.push(place);
                of.insert(signature);
            }
        }
        // A run that has several signatures of a cause counts once.
        found.values_mut().for_each(|(_, places, _)| places.dedup());
        let at = |place: usize| (runs[place].ended.clone(), runs[place].rtl.clone());
        let mut failures: Vec<FailureHistory> = found
            .into_iter()
            .map(|((block, signature), (cases, places, of))| FailureHistory {
                block: block.to_owned(),
                signature: signature.to_owned(),
                more: of.len() as u64 - 1,
                first: at(places[0]),
                last: at(places[places.len() - 1]),
                runs: places.len() as u64,
                cases,
                status: status(&runs, &places),
            })
            .collect();
        failures.sort_by(|one, other| other.last.cmp(&one.last));
        failures
    }

    fn of_block(&self, block: Option<&str>) -> impl Iterator<Item = &RecordedRun> {
        let runs = self.runs.values();
        runs.filter(move |recorded| block.is_none_or(|block| recorded.run.block == block))
    }
}

/// Opens a file for appending and waits for its lock, which ends when the file is closed.
fn locked(path: &Path, create: bool) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    // Also for reading, because opening a pipe only for writing waits for its reader.
    let file = options.read(true).append(true).create(create).open(path);
    let file = file.map_err(Error::write(path))?;
    let start = Instant::now();
    while let Err(error) = file.try_lock() {
        if let TryLockError::Error(error) = error {
            return Err(Error::write(path)(error));
        }
        if start.elapsed() > LOCK_TIMEOUT {
            let seconds = LOCK_TIMEOUT.as_secs();
            let message =
                format!("is locked by another process for more than {seconds} s; try again");
            return Err(Error::File { code: codes::BAD_HISTORY, path: path.to_owned(), message });
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(file)
}

/// The error for a line that is no run of this version.
fn refused(path: &Path, index: usize, error: &serde_json::Error) -> Error {
    let reason = error.to_string();
    // serde_json repeats the position in its text.
    let reason = reason.split(" at line ").next().unwrap_or_default();
    let message =
        format!("is no line of a cosim history ({reason}); restore it, or choose another file");
    let (code, line, column) = (codes::BAD_HISTORY, index + 1, error.column());
    Error::Input { code, path: path.to_owned(), line, column, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Adds a run with a failure, which ended at no time.
    fn add(path: &Path, checksum: &str, folder: &str) -> Result<u64, Error> {
        add_ended(path, checksum, folder, "")
    }

    fn add_ended(path: &Path, checksum: &str, folder: &str, ended: &str) -> Result<u64, Error> {
        let (format, checksum, ended) = (Format::Version1, checksum.to_owned(), ended.to_owned());
        let folder = Some(folder.into());
        let run = Run { seed: "é".to_owned(), folder, ended, ..Run::default() };
        let failures = BTreeMap::from([("mismatch".to_owned(), 3)]);
        let causes = BTreeMap::from([("mismatch".to_owned(), "main".to_owned())]);
        let runs = vec![RecordedRun { format, checksum, run, failures, causes }];
        History::record(path, runs).map(|(_, new)| new)
    }

    /// A history file with one run.
    fn history(folder: &TempDir) -> PathBuf {
        let path = folder.path().join("h.jsonl");
        assert_eq!(add(&path, "1", "/a").unwrap(), 1);
        path
    }

    #[test]
    fn a_failure_is_fixed_only_by_a_run_of_the_same_plan_and_rtl() {
        let run = |plan: &str, given: &str| {
            let (plan, given) = (plan.to_owned(), given.to_owned());
            Run { plan, given, ..Run::default() }
        };
        let full = run("p", "--rtl a");
        let (other_rtl, other_plan, part) = (run("p", ""), run("q", "--rtl a"), run("", "--rtl a"));
        let of = |runs: &[&Run], has_it: &[usize]| status(runs, has_it);
        assert_eq!(of(&[&full], &[0]), FailureStatus::Open);
        for unlike in [&other_rtl, &other_plan, &part] {
            assert_eq!(of(&[&full, unlike], &[0]), FailureStatus::Open);
        }
        assert_eq!(of(&[&full, &other_rtl, &full], &[0]), FailureStatus::Fixed);
        assert_eq!(of(&[&full, &full, &full], &[0, 2]), FailureStatus::Reopened);
        assert_eq!(of(&[&full, &other_plan, &full], &[0, 2]), FailureStatus::Open);
        // A run that was interrupted proves nothing, not even for its like.
        assert_eq!(of(&[&part, &part], &[0]), FailureStatus::Open);
    }

    #[test]
    fn an_incomplete_line_is_skipped_and_not_joined() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        let whole = fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let known = usize::from(length + 1 >= whole.len());
            assert_eq!(History::existing(&path).unwrap().runs(None).len(), known, "{length}");
            assert_eq!(add(&path, "2", "/a").unwrap(), 1);
            let history = History::existing(&path).unwrap();
            assert_eq!(history.failures(None)[0].runs as usize, known + 1, "{length}");
            assert_eq!(history.causes(None)[0].signature, "main");
        }
    }

    #[test]
    fn a_complete_line_that_is_wrong_is_refused_with_its_number() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        let good = fs::read_to_string(&path).unwrap();
        for (from, to, reason) in [
            ("history 1", "history 2", "(unknown variant `cosim-history 2`"),
            (&good, "SQLite format 3\0\n", "(expected value)"),
            ("\"cases\":0", "\"cases\":-1", "(invalid value: integer `-1`"),
            ("\"cases\":0,", "", "(missing field `cases`)"),
            ("\"cases\":0", "\"more\":0", "(unknown field `more`"),
            (":0.0", ":1e999", "(number out of range)"),
            ("main\"}}", "main\"}}}", "(trailing characters)"),
        ] {
            assert!(good.contains(from), "{from}");
            let text = format!("{good}\n{}", good.replace(from, to));
            fs::write(&path, &text).unwrap();
            let error = add(&path, "2", "/a").unwrap_err().with_code();
            assert!(error.contains("E0226") && error.contains("h.jsonl:3:"), "{error}");
            assert!(error.contains(reason), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it is");
        }
    }

    #[test]
    fn a_run_is_recorded_once_and_may_move() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        let lines = ["/etc", "/usr", "/usr", "/etc"].map(|place| {
            assert_eq!(add(&path, "1", place).unwrap(), 0);
            let runs = History::existing(&path).unwrap().runs(None);
            assert_eq!((runs.len(), &runs[0].folder), (1, &Some(place.into())));
            fs::read_to_string(&path).unwrap().lines().count()
        });
        assert_eq!(lines, [2, 3, 3, 4]);
    }

    #[test]
    fn runs_are_in_the_order_of_their_ends() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("h.jsonl");
        for (checksum, ended) in [("1", "2026-02"), ("2", "2026-01"), ("3", "2026-03")] {
            assert_eq!(add_ended(&path, checksum, "/a", ended).unwrap(), 1);
        }
        let runs = History::existing(&path).unwrap().runs(None);
        let ended: Vec<&str> = runs.iter().map(|run| &*run.ended).collect();
        assert_eq!(ended, ["2026-01", "2026-02", "2026-03"]);
    }

    #[test]
    fn what_cannot_be_read_or_written_is_an_error() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("new.jsonl");
        assert!(RecordedRun::read(folder.path()).is_err());
        History::check(&path).unwrap();
        assert!(History::if_there(&path).unwrap().is_none() && !path.exists());
        let code = |path: &Path| add(path, "2", "/a").unwrap_err().code();
        assert_eq!(code(&folder.path().join("none/new.jsonl")), codes::WRITE_FAILED);
        assert_eq!([folder.path(), Path::new("/dev/full")].map(code), [codes::FILE_UNREADABLE; 2]);
        // An incomplete line as large as a file may be, and a larger one.
        for length in [LARGEST_INPUT, LARGEST_INPUT + 1] {
            fs::write(&path, vec![b' '; length as usize]).unwrap();
            assert_eq!(code(&path), codes::TOO_LARGE);
        }
    }
}
