//! A history of runs in one SQLite file: first occurrence of failures, and trends of coverage and
//! speed.
//!
//! A run is recorded once: its key is a hash of its `results.json` and its end time. Concurrent
//! writers wait for each other.
//!
//! A history file may come from another person. It has exactly the tables of [`TABLES`]: no views,
//! no triggers and no virtual tables, and SQLite runs none while the file is opened.

use crate::paths::relative;
use cosim_base::error::{Error, codes};
use cosim_base::files::folder_of;
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_formats::run::{End, RESULTS, Results, Timing};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, params};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The application ID in SQLite's header: `cosi` in ASCII.
const APPLICATION: i64 = 0x636f_7369;
/// The version of the schema.
const VERSION: i64 = 1;
/// Maximum time to wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

const TABLES: &str = "
CREATE TABLE runs (
  id TEXT PRIMARY KEY,           -- a hash of results.json and of the moment the run ended
  ended TEXT NOT NULL,           -- when, in UTC
  block TEXT NOT NULL,
  seed TEXT NOT NULL,
  rtl TEXT NOT NULL,             -- the RTL's identity
  build TEXT NOT NULL,
  commit_id TEXT,
  verdict TEXT NOT NULL,
  cases INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cycles INTEGER NOT NULL,
  cycles_per_second REAL NOT NULL,
  bins_hit INTEGER NOT NULL,     -- over all profiles
  bins_reachable INTEGER NOT NULL,
  plan TEXT NOT NULL,            -- a hash of profiles, scenarios and cases; empty if not all ran
  given TEXT NOT NULL            -- the user RTL, as typed
) STRICT;
CREATE TABLE failures (
  run TEXT NOT NULL REFERENCES runs (id),
  signature TEXT NOT NULL,
  cases INTEGER NOT NULL,
  first_case TEXT NOT NULL,
  PRIMARY KEY (run, signature)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (block, ended);
CREATE TABLE folders (
  run TEXT PRIMARY KEY REFERENCES runs (id),
  path TEXT NOT NULL             -- the run directory, relative to the folder of this file
) STRICT, WITHOUT ROWID;
";

/// The last bytes of a SQLite journal that names another file, which SQLite deletes after a
/// rollback. Journals of history files name none.
const NAMES_A_FILE: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A history file.
pub struct History {
    path: PathBuf,
    connection: Connection,
    /// Whether the file has no tables yet.
    is_empty: bool,
}

/// What a history records of a run directory.
pub struct RecordedRun {
    folder: PathBuf,
    results: Results,
    timing: Timing,
    id: String,
    /// Cases, failed cases and cycles. SQLite has no larger numbers.
    totals: [i64; 3],
    /// Number of cases of each failure.
    counts: Vec<i64>,
    /// Covered and reachable bins.
    bins: (u64, u64),
}

impl RecordedRun {
    /// Reads a run directory.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let results = Results::read(folder, |_, _| ())?;
        let timing = Timing::read(folder)?;
        let path = folder.join(RESULTS);
        let hash = hash_of_file(&path).map_err(|error| Error::unreadable(&path, &error))?;
        let hash = hash.chain_update(&timing.ended).finalize();
        let id: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let coverage = folder.join(COVERAGE);
        let bins = match coverage.exists() {
            false => (0, 0),
            true => {
                let database = Database::read(&coverage)?;
                let covered = database.profiles.keys().map(|name| database.covered(name));
                covered.fold((0, 0), |(hit, reachable), covered| {
                    (hit + u64::from(covered.hit), reachable + u64::from(covered.reachable))
                })
            }
        };
        let number = |number: u64| {
            i64::try_from(number).map_err(|_| Error::File {
                code: codes::DAMAGED,
                path: path.clone(),
                message: format!("contains the count {number}, expected at most {}", i64::MAX),
            })
        };
        let totals = &results.totals;
        let totals = [number(totals.cases)?, number(totals.failures())?, number(totals.cycles)?];
        let counts = results.failures.iter().map(|group| number(group.count));
        let counts = counts.collect::<Result<Vec<i64>, Error>>()?;
        Ok(Self { folder: folder.to_owned(), results, timing, id, totals, counts, bins })
    }
}

/// A run in the history.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// When it ended, in UTC.
    pub ended: String,
    /// The block.
    pub block: String,
    /// The seed.
    pub seed: String,
    /// The hash of the RTL.
    pub rtl: String,
    /// The tool's build.
    pub build: String,
    /// The commit, if it is known.
    pub commit: Option<String>,
    /// The verdict, in one to three words.
    pub verdict: String,
    /// Number of finished cases.
    pub cases: u64,
    /// Number of failed cases.
    pub failed: u64,
    /// Cycles compared.
    pub cycles: u64,
    /// Cycles compared per second.
    pub cycles_per_second: f64,
    /// Number of covered bins of all profiles.
    pub bins_hit: u64,
    /// Number of reachable bins of all profiles.
    pub bins_reachable: u64,
    /// A hash of its profiles, scenarios and cases; empty if not all of them ran.
    pub plan: String,
    /// The user RTL, as typed; empty for the built-in RTL.
    pub given: String,
    /// Its run directory, if it is known.
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

/// What became of a failure.
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
    /// The word for it.
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

/// The status of a failure in runs of its block, oldest first. `has_it` are the places of those
/// with the failure.
fn status(runs: &[&Run], has_it: &[usize]) -> FailureStatus {
    let Some(last) = has_it.last() else { return FailureStatus::Open };
    let lacks = |place: usize| !has_it.contains(&place) && runs[place].is_like(runs[*last]);
    let first = has_it.iter().find(|place| runs[**place].is_like(runs[*last])).unwrap_or(last);
    match () {
        () if (last + 1..runs.len()).any(lacks) => FailureStatus::Fixed,
        () if (*first..*last).any(lacks) => FailureStatus::Reopened,
        () => FailureStatus::Open,
    }
}

/// The history of a failure with one signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureHistory {
    /// The block.
    pub block: String,
    /// The signature.
    pub signature: String,
    /// End time and RTL of the first run with this failure.
    pub first: (String, String),
    /// End time and RTL of the last run with this failure.
    pub last: (String, String),
    /// Number of runs with this failure.
    pub runs: u64,
    /// Number of cases with this failure.
    pub cases: u64,
    /// What became of it.
    pub status: FailureStatus,
}

impl History {
    /// Adds runs to a file, which is created if it does not exist. Returns the history and the
    /// number of runs that were new. After an error, no new file is left.
    ///
    /// # Errors
    /// [`Error::File`] if it is not a history file, damaged, or of another version.
    /// [`Error::Write`] if it cannot be written.
    pub fn record(path: &Path, runs: &[RecordedRun]) -> Result<(Self, u64), Error> {
        let existed = path.symlink_metadata().is_ok();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let result = Self::with(path, flags).and_then(|mut history| {
            let added = history.add(runs)?;
            Ok((history, added))
        });
        // SQLite creates an empty file. One with content belongs to another process.
        if result.is_err() && !existed && fs::metadata(path).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(path);
        }
        result
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// As [`History::record`], and if the file does not exist.
    pub fn existing(path: &Path) -> Result<Self, Error> {
        fs::metadata(path).map_err(|error| Error::unreadable(path, &error))?;
        Self::with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Opens a file, if it exists.
    ///
    /// # Errors
    /// As [`History::existing`].
    pub fn if_there(path: &Path) -> Result<Option<Self>, Error> {
        path.symlink_metadata().is_ok().then(|| Self::existing(path)).transpose()
    }

    /// Checks that runs can be added to a file. Creates none.
    ///
    /// # Errors
    /// As [`History::existing`], and [`Error::Write`] if there is no folder for a new file.
    pub fn check(path: &Path) -> Result<(), Error> {
        if Self::if_there(path)?.is_none() && !folder_of(path).is_dir() {
            let error = io::Error::new(io::ErrorKind::NotFound, "its folder does not exist");
            return Err(Error::write(path)(error));
        }
        Ok(())
    }

    fn with(path: &Path, flags: OpenFlags) -> Result<Self, Error> {
        check_journal(path)?;
        let refuse = |error| of(path, error);
        let connection = Connection::open_with_flags(path, flags).map_err(refuse)?;
        for (option, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(option, is_on).map_err(refuse)?;
        }
        connection.busy_timeout(LOCK_TIMEOUT).map_err(refuse)?;
        let mut history = Self { path: path.to_owned(), connection, is_empty: false };
        let transaction = history
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(refuse)?;
        history.is_empty = is_empty(path, &transaction)?;
        drop(transaction);
        Ok(history)
    }

    /// Adds runs, all or none. Returns how many were new.
    fn add(&mut self, runs: &[RecordedRun]) -> Result<u64, Error> {
        let places: Vec<Option<String>> =
            runs.iter().map(|run| self.relative(&run.folder)).collect();
        let path = &self.path;
        let refuse = |error| of(path, error);
        let change = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(refuse)?;
        // Another process may have created the tables meanwhile.
        if is_empty(path, &change)? {
            create(&change).map_err(refuse)?;
        }
        let mut new = 0;
        for (run, place) in runs.iter().zip(places) {
            new += insert(&change, run, place).map_err(refuse)?;
        }
        change.commit().map_err(refuse)?;
        self.is_empty = false;
        Ok(new)
    }

    /// The folder of the history file.
    fn folder(&self) -> Option<PathBuf> {
        fs::canonicalize(&self.path).ok()?.parent().map(Path::to_owned)
    }

    /// A run directory relative to the history file; `None` if its path is not text.
    fn relative(&self, folder: &Path) -> Option<String> {
        let path = relative(&self.folder()?, &fs::canonicalize(folder).ok()?);
        path.to_str().map(str::to_owned)
    }

    /// The run directories by run, as absolute paths.
    fn folders(&self) -> Result<BTreeMap<String, PathBuf>, Error> {
        let Some(base) = self.folder() else { return Ok(BTreeMap::new()) };
        let all = self.all("SELECT run, path FROM folders WHERE ?1 IS NULL", None, |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        let path = |path: String| fs::canonicalize(base.join(&path)).unwrap_or(base.join(path));
        Ok(all.into_iter().map(|(run, folder)| (run, path(folder))).collect())
    }

    /// The runs of a block, or of all, oldest first.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read.
    pub fn runs(&self, block: Option<&str>) -> Result<Vec<Run>, Error> {
        let folders = self.folders()?;
        self.all(
            "SELECT ended, block, seed, rtl, build, commit_id, verdict, cases, failed, cycles, \
             cycles_per_second, bins_hit, bins_reachable, id, plan, given FROM runs \
             WHERE ?1 IS NULL OR block = ?1 ORDER BY ended, id",
            block,
            |row| {
                let cycles_per_second: f64 = row.get(10)?;
                if !(cycles_per_second.is_finite() && cycles_per_second >= 0.0) {
                    let kind = rusqlite::types::Type::Real;
                    let error = format!("{cycles_per_second} is not a speed").into();
                    return Err(rusqlite::Error::FromSqlConversionFailure(10, kind, error));
                }
                Ok(Run {
                    ended: row.get(0)?,
                    block: row.get(1)?,
                    seed: row.get(2)?,
                    rtl: row.get(3)?,
                    build: row.get(4)?,
                    commit: row.get(5)?,
                    verdict: row.get(6)?,
                    cases: row.get(7)?,
                    failed: row.get(8)?,
                    cycles: row.get(9)?,
                    cycles_per_second,
                    bins_hit: row.get(11)?,
                    bins_reachable: row.get(12)?,
                    plan: row.get(14)?,
                    given: row.get(15)?,
                    folder: folders.get(&row.get::<_, String>(13)?).cloned(),
                })
            },
        )
    }

    /// The failures of a block, or of all, most recent first.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read.
    pub fn failures(&self, block: Option<&str>) -> Result<Vec<FailureHistory>, Error> {
        let runs = self.runs(block)?;
        // The places of runs are those of `Self::runs`.
        let rows: Vec<(String, String, u64, u64)> = self.all(
            "SELECT block, signature, failures.cases, place FROM failures JOIN \
             (SELECT id, block, ended, row_number() OVER (ORDER BY ended, id) - 1 AS place \
             FROM runs WHERE ?1 IS NULL OR block = ?1) ON run = id ORDER BY place",
            block,
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        let mut found: BTreeMap<(String, String), (u64, Vec<usize>)> = BTreeMap::new();
        for (block, signature, cases, place) in rows {
            let (all, places) = found.entry((block, signature)).or_default();
            *all = all.saturating_add(cases);
            places.push(place as usize);
        }
        let at = |place: Option<&usize>| {
            let run = place.and_then(|place| runs.get(*place));
            run.map(|run| (run.ended.clone(), run.rtl.clone())).unwrap_or_default()
        };
        let mut seen: Vec<FailureHistory> = found
            .into_iter()
            .map(|((block, signature), (cases, places))| {
                let of_block = runs.iter().enumerate().filter(|(_, run)| run.block == block);
                let (own, shown): (Vec<usize>, Vec<&Run>) = of_block.unzip();
                let has_it = own.iter().enumerate().filter(|(_, place)| places.contains(place));
                let has_it: Vec<usize> = has_it.map(|(own, _)| own).collect();
                FailureHistory {
                    first: at(places.first()),
                    last: at(places.last()),
                    runs: places.len() as u64,
                    cases,
                    status: status(&shown, &has_it),
                    block,
                    signature,
                }
            })
            .collect();
        seen.sort_by(|one, other| other.last.cmp(&one.last));
        Ok(seen)
    }

    fn all<T>(
        &self,
        query: &str,
        block: Option<&str>,
        row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare(query)?.query_map([block], row)?.collect()
        };
        read().map_err(|error| of(&self.path, error))
    }
}

/// The hash of a file, which may be larger than memory.
fn hash_of_file(path: &Path) -> io::Result<Sha256> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hash),
            length => hash.update(&piece[..length]),
        }
    }
}

/// Whether a file has no tables yet.
///
/// # Errors
/// [`Error::File`] if it is not a history file, of another version, or has other tables.
fn is_empty(path: &Path, file: &Transaction<'_>) -> Result<bool, Error> {
    let refuse = |error| of(path, error);
    let foreign =
        |message: String| Error::File { code: codes::BAD_HISTORY, path: path.to_owned(), message };
    let number = |name: &str| {
        file.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(refuse)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let found = schema(file).map_err(refuse)?;
    if (application, version) == (0, 0) && found.is_empty() {
        return Ok(true);
    }
    if application != APPLICATION {
        return Err(foreign("is not a history file of cosim; choose another file".to_owned()));
    }
    if version != VERSION {
        return Err(foreign(format!(
            "has version {version}, this program reads {VERSION}; use the program that wrote it, or another file"
        )));
    }
    if found != expected_schema().map_err(refuse)? {
        return Err(foreign(
            "has other tables than a history file of cosim; restore it, or choose another file"
                .to_owned(),
        ));
    }
    Ok(false)
}

/// The kind, name and text of everything that a database declares.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let query = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
    let mut query = connection.prepare(query)?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// What [`create`] declares.
fn expected_schema() -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let connection = Connection::open_in_memory()?;
    create(&connection)?;
    schema(&connection)
}

/// Creates the tables of an empty file.
fn create(file: &Connection) -> rusqlite::Result<()> {
    file.execute_batch(TABLES)?;
    file.pragma_update(None, "application_id", APPLICATION)?;
    file.pragma_update(None, "user_version", VERSION)
}

/// Adds a run. Returns 1 if it was new, and 0 if not.
fn insert(
    change: &Transaction<'_>,
    run: &RecordedRun,
    place: Option<String>,
) -> rusqlite::Result<u64> {
    let RecordedRun { results, timing, id, totals: [cases, failed, cycles], .. } = run;
    let (hit, reachable) = run.bins;
    let header = &results.run;
    let added = change.execute(
        "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            id,
            timing.ended,
            header.block,
            header.seed.to_string(),
            header.rtl,
            header.build,
            timing.commit,
            results.verdict(),
            cases,
            failed,
            cycles,
            timing.cycles_per_second,
            hit,
            reachable,
            plan(results),
            header.given.command_line(),
        ],
    )?;
    if added == 1 {
        for (group, count) in results.failures.iter().zip(&run.counts) {
            change.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?)",
                params![id, group.signature.to_string(), count, group.first.case],
            )?;
        }
    }
    // A run that is added again may have been moved.
    if let Some(folder) = place {
        let insert = "INSERT OR REPLACE INTO folders VALUES (?, ?)";
        change.execute(insert, params![id, folder])?;
    }
    Ok(added as u64)
}

/// Refuses a file whose journal names another file.
fn check_journal(path: &Path) -> Result<(), Error> {
    let mut journal = path.to_owned().into_os_string();
    journal.push("-journal");
    let last = || -> io::Result<[u8; 8]> {
        let mut file = File::open(&journal)?;
        file.seek(SeekFrom::End(-8))?;
        let mut last = [0; 8];
        file.read_exact(&mut last)?;
        Ok(last)
    };
    // Without a journal, or with an incomplete one, nothing is named.
    if last().is_ok_and(|last| last == NAMES_A_FILE) {
        let message = "is not a journal of a history file; remove it";
        let (code, path) = (codes::BAD_HISTORY, PathBuf::from(journal));
        return Err(Error::File { code, path, message: message.to_owned() });
    }
    Ok(())
}

/// Converts an error of SQLite.
fn of(path: &Path, error: rusqlite::Error) -> Error {
    let path = path.to_owned();
    let message = match error.sqlite_error_code() {
        // `None`: a value has another type, or is out of range.
        None | Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
            format!(
                "is damaged, or is not a history file of cosim ({error}); restore it, or choose \
                 another file"
            )
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let seconds = LOCK_TIMEOUT.as_secs();
            format!("is locked by another process for more than {seconds} s; try again")
        }
        _ => return Error::Write { path, source: io::Error::other(error) },
    };
    Error::File { code: codes::BAD_HISTORY, path, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const RUN: &str = "INSERT INTO runs VALUES ('1', '2026', 'b', '1', '', '', NULL, 'PASS', 1, 0, \
                       9, 2.5, 1, 1, 'p', '')";

    /// A history file with one run.
    fn history(folder: &TempDir) -> PathBuf {
        let path = folder.path().join("h.db");
        let (history, new) = History::record(&path, &[]).unwrap();
        assert_eq!(new, 0);
        history.connection.execute_batch(RUN).unwrap();
        path
    }

    /// Edits a history file as another program could.
    fn edit(path: &Path, change: &str) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(&format!("PRAGMA writable_schema = ON; {change}")).unwrap();
    }

    fn code(path: &Path) -> Option<cosim_base::error::Code> {
        let read = History::existing(path).and_then(|history| {
            history.failures(None)?;
            history.runs(None)
        });
        read.err().map(|error| error.code())
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
    fn a_value_of_another_type_or_range_is_damage() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        assert_eq!(code(&path), None);
        for change in [
            "UPDATE runs SET cases = -1",
            "UPDATE runs SET cycles_per_second = 1e999",
            "UPDATE runs SET cycles_per_second = -1",
            // Tables without their types, filled and changed back.
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT', '') \
             WHERE name = 'runs'",
        ] {
            edit(&path, change);
            assert_eq!(code(&path), Some(codes::BAD_HISTORY), "{change}");
            fs::remove_file(&path).unwrap();
            history(&folder);
        }
    }

    #[test]
    fn a_null_is_damage() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        let connection = Connection::open(&path).unwrap();
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'runs'";
        let sql: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        let set = "UPDATE sqlite_schema SET sql = ?1 WHERE name = 'runs'";
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        connection.execute(set, [sql.replace(" NOT NULL", "")]).unwrap();
        drop(connection);
        edit(&path, "UPDATE runs SET cases = NULL");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        connection.execute(set, [sql]).unwrap();
        drop(connection);
        assert_eq!(code(&path), Some(codes::BAD_HISTORY));
    }

    #[test]
    fn other_tables_views_and_triggers_are_refused() {
        for change in [
            "CREATE TABLE more (x)",
            "CREATE VIEW seen AS SELECT * FROM runs",
            "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM failures; END",
            "DROP TABLE folders",
            "DROP TABLE runs; CREATE VIEW runs AS SELECT 1",
            "CREATE VIRTUAL TABLE v USING fts5(x)",
            "PRAGMA user_version = 2",
            "PRAGMA application_id = 1",
        ] {
            let folder = TempDir::new().unwrap();
            let path = history(&folder);
            edit(&path, change);
            assert_eq!(code(&path), Some(codes::BAD_HISTORY), "{change}");
        }
    }

    #[test]
    fn a_failed_call_leaves_no_file_and_an_empty_file_is_an_empty_history() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("new.db");
        assert!(RecordedRun::read(folder.path()).is_err());
        History::check(&path).unwrap();
        assert!(History::if_there(&path).unwrap().is_none());
        assert!(!path.exists());
        assert!(History::check(&folder.path().join("none/new.db")).is_err());
        File::create(&path).unwrap();
        assert_eq!(code(&path), None);
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "reading writes nothing");
    }

    #[test]
    fn a_journal_that_names_a_file_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = history(&folder);
        let journal = folder.path().join("h.db-journal");
        fs::write(&journal, [&b"victim"[..], &NAMES_A_FILE].concat()).unwrap();
        assert_eq!(code(&path), Some(codes::BAD_HISTORY));
        fs::write(&journal, "x").unwrap();
        assert_eq!(code(&path), None);
    }
}
