//! A history of runs in one SQLite file: first occurrence of failures, and trends of coverage and
//! speed.
//!
//! A run is recorded once: its key is a hash of its `results.json` and its end time. Concurrent
//! writers wait for each other.

use crate::report::{Results, RunTiming, relative};
use cosim_base::error::{Error, codes};
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_regress::runner::RESULTS;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
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
  bins_reachable INTEGER NOT NULL
) STRICT;
CREATE TABLE failures (
  run TEXT NOT NULL REFERENCES runs (id),
  signature TEXT NOT NULL,
  cases INTEGER NOT NULL,
  first_case TEXT NOT NULL,
  PRIMARY KEY (run, signature)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (block, ended);
";

/// The run directories. Older files lack the table, and older programs ignore it, so the version
/// stays. A path is relative to the folder of the history file.
const FOLDERS: &str = "
CREATE TABLE IF NOT EXISTS folders (
  run TEXT PRIMARY KEY REFERENCES runs (id),
  path TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// A history file.
pub struct History {
    path: PathBuf,
    connection: Connection,
}

/// A run in the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Its run directory, if it is known.
    pub folder: Option<PathBuf>,
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
}

impl History {
    /// Opens a file or creates it.
    ///
    /// # Errors
    /// [`Error::File`] if it is not a history file, damaged, or of a newer version.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// As [`History::open`], and if the file does not exist.
    pub fn existing(path: &Path) -> Result<Self, Error> {
        fs::metadata(path).map_err(|error| Error::unreadable(path, &error))?;
        Self::with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    fn with(path: &Path, flags: OpenFlags) -> Result<Self, Error> {
        let refuse = |error| of(path, error);
        let connection = Connection::open_with_flags(path, flags).map_err(refuse)?;
        connection.busy_timeout(LOCK_TIMEOUT).map_err(refuse)?;
        let mut history = Self { path: path.to_owned(), connection };
        history.prepare()?;
        Ok(history)
    }

    /// Creates the tables of an empty file, or checks those of an existing one.
    fn prepare(&mut self) -> Result<(), Error> {
        let path = self.path.clone();
        let refuse = |error| of(&path, error);
        let foreign =
            |message: String| Error::File { code: codes::BAD_HISTORY, path: path.clone(), message };
        let change = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(refuse)?;
        let number = |name: &str| {
            change.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(refuse)
        };
        let (application, version) = (number("application_id")?, number("user_version")?);
        let tables: i64 = change
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(refuse)?;
        if (application, version, tables) == (0, 0, 0) {
            change.execute_batch(TABLES).map_err(refuse)?;
            change.pragma_update(None, "application_id", APPLICATION).map_err(refuse)?;
            change.pragma_update(None, "user_version", VERSION).map_err(refuse)?;
        } else if application != APPLICATION {
            return Err(foreign("is not a history file of cosim; choose another file".to_owned()));
        } else if version != VERSION {
            return Err(foreign(format!(
                "has version {version}, this program reads {VERSION}; use the program that wrote it, or another file"
            )));
        }
        change.commit().map_err(refuse)
    }

    /// Adds a run directory. Returns whether the run was new.
    ///
    /// # Errors
    /// If the directory or the file cannot be read or written.
    pub fn add(&mut self, folder: &Path) -> Result<bool, Error> {
        let results = Results::read(folder, |_, _| ())?;
        let timing = RunTiming::read(folder)?;
        let path = folder.join(RESULTS);
        let bytes = fs::read(&path).map_err(|error| Error::unreadable(&path, &error))?;
        let hash = Sha256::new().chain_update(bytes).chain_update(&timing.ended).finalize();
        let id: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let coverage = folder.join(COVERAGE);
        let (hit, reachable) = match coverage.exists() {
            false => (0, 0),
            true => {
                let database = Database::read(&coverage)?;
                let covered = database.profiles.keys().map(|name| database.covered(name));
                covered.fold((0, 0), |(hit, reachable), covered| {
                    (hit + u64::from(covered.hit), reachable + u64::from(covered.reachable))
                })
            }
        };
        let place = self.relative(folder);
        let refuse = |error| of(&self.path, error);
        let change = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(refuse)?;
        let run = &results.run;
        let added = change
            .execute(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    id,
                    timing.ended,
                    run.block,
                    run.seed.to_string(),
                    run.rtl,
                    run.build,
                    timing.commit,
                    results.verdict(),
                    results.totals.cases,
                    results.totals.failures(),
                    results.totals.cycles,
                    timing.cycles_per_second,
                    hit,
                    reachable,
                ],
            )
            .map_err(refuse)?;
        if added == 1 {
            for group in &results.failures {
                change
                    .execute(
                        "INSERT INTO failures VALUES (?, ?, ?, ?)",
                        params![id, group.signature.to_string(), group.count, group.first.case],
                    )
                    .map_err(refuse)?;
            }
        }
        // A run that is added again may have been moved.
        if let Some(folder) = place {
            change.execute_batch(FOLDERS).map_err(refuse)?;
            let insert = "INSERT OR REPLACE INTO folders VALUES (?, ?)";
            change.execute(insert, params![id, folder]).map_err(refuse)?;
        }
        change.commit().map_err(refuse)?;
        Ok(added == 1)
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
        let exists = "SELECT name FROM sqlite_schema WHERE name = 'folders' AND ?1 IS NULL";
        let is_old = self.all(exists, None, |row| row.get::<_, String>(0))?.is_empty();
        let Some(base) = self.folder().filter(|_| !is_old) else { return Ok(BTreeMap::new()) };
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
             cycles_per_second, bins_hit, bins_reachable, id FROM runs \
             WHERE ?1 IS NULL OR block = ?1 ORDER BY ended, id",
            block,
            |row| {
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
                    cycles_per_second: row.get(10)?,
                    bins_hit: row.get(11)?,
                    bins_reachable: row.get(12)?,
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
        let rows: Vec<(String, String, String, String, u64)> = self.all(
            "SELECT block, signature, ended, rtl, failures.cases FROM failures \
             JOIN runs ON run = id WHERE ?1 IS NULL OR block = ?1 ORDER BY ended, id",
            block,
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )?;
        let mut seen: BTreeMap<(String, String), FailureHistory> = BTreeMap::new();
        for (block, signature, ended, rtl, cases) in rows {
            let at = (ended, rtl);
            let key = (block.clone(), signature.clone());
            let entry = seen.entry(key).or_insert_with(|| FailureHistory {
                block,
                signature,
                first: at.clone(),
                last: at.clone(),
                runs: 0,
                cases: 0,
            });
            entry.last = at;
            entry.runs += 1;
            entry.cases += cases;
        }
        let mut seen: Vec<FailureHistory> = seen.into_values().collect();
        seen.sort_by(|one, other| other.last.cmp(&one.last));
        Ok(seen)
    }

    fn all<T>(
        &self,
        query: &str,
        block: Option<&str>,
        row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let read = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare(query)?.query_map([block], row)?.collect()
        };
        read().map_err(|error| of(&self.path, error))
    }
}

/// Converts an error of SQLite.
fn of(path: &Path, error: rusqlite::Error) -> Error {
    let path = path.to_owned();
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!(
                "is damaged, or is not a history file of cosim ({error}); restore it, or choose \
                 another file"
            )
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let seconds = LOCK_TIMEOUT.as_secs();
            format!("is locked by another process for more than {seconds} s; try again")
        }
        _ => return Error::Write { path, source: std::io::Error::other(error) },
    };
    Error::File { code: codes::BAD_HISTORY, path, message }
}
