//! The journal of a run: what `resume` needs to continue it after it was killed.
//!
//! The journal is one append-only file in the run directory. The first record holds the command,
//! the second the state of the run, and each further record a case that finished since. When they
//! become large, a new file with the current state replaces it. Each record has a length and a
//! checksum, so that a torn record ends the journal. A complete run has no journal.

use super::cases::Cases;
use super::groups::Group;
use super::layout::JOURNAL;
use super::tally::Totals;
use crate::coverage::{ContributingCase, ScenarioCoverage};
use crate::started::StartedCommand;
use cosim_base::error::{Error, codes};
use cosim_base::files::{make_whole, read_input};
use cosim_base::program;
use cosim_harness::harness::{Case, Outcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The first bytes of the file.
const MARK: &[u8] = b"cosim-journal 1\n";
/// Size of case records in bytes at which a new file replaces the journal.
const MOST: u64 = 4 << 20;
/// Maximum size of a journal in bytes.
const LARGEST: u64 = 1 << 30;
/// Size of a record's header in bytes: its length and a part of its hash.
const PREFIX: usize = 8;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCommand {
    pub command: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
    /// The header, as in `results.json`.
    pub header: Value,
    /// The mark of the user's record of this command.
    pub mark: String,
}

impl RunCommand {
    /// The command of this process, which begins a run. Leaves a record of it.
    pub fn from_process(header: Value) -> Self {
        let command = program::command();
        let folder = env::current_dir().unwrap_or_default();
        let mark = StartedCommand { words: &command, folder: &folder, rtl: None }.record();
        Self { command, folder, header, mark }
    }

    /// Whether this user began the run on this machine.
    pub fn is_own(&self) -> bool {
        let Self { command, folder, mark, .. } = self;
        StartedCommand { words: command, folder, rtl: None }.is_recorded(mark)
    }
}

/// The state of a run after some cases, in the order of the plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// The first position that has not run.
    pub next: u64,
    /// Length in bytes of `results.json.partial` at this state.
    pub length: u64,
    /// The checksum of these bytes.
    pub checksum: String,
    /// The writer of cases, with the unfinished row.
    pub cases: Cases,
    /// Totals by profile, as in `results.json`.
    pub profiles: Value,
    pub totals: Totals,
    pub hangs: u64,
    pub groups: Vec<Group>,
    pub first_cases: Vec<Vec<Case>>,
    pub parts: BTreeSet<ScenarioCoverage>,
    /// The cases that hit new bins.
    pub finds: BTreeSet<ContributingCase>,
    /// Number of vectors of matching cases still to be saved.
    pub save: u64,
    /// Seconds for running cases, and for analysing failures.
    pub seconds: (f64, f64),
    pub unwritten: Vec<String>,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    run_command: RunCommand,
    /// Cases since the last [`Journal::flush`] are in its buffer.
    file: BufWriter<File>,
    /// Bytes of case records since the state.
    length: u64,
}

/// A journal that an interrupted run left behind.
#[derive(Debug)]
pub struct InterruptedRun {
    pub run_command: RunCommand,
    pub state: State,
    /// Cases that finished after the state was written.
    pub cases: Vec<(Case, Outcome)>,
}

impl Journal {
    /// Creates the journal of a run in this state. Replaces an existing one.
    pub fn create(folder: &Path, run_command: RunCommand, state: &State) -> Result<Self, Error> {
        let path = folder.join(JOURNAL);
        let file = BufWriter::new(write(&path, &run_command, state)?);
        Ok(Self { path, run_command, file, length: 0 })
    }

    /// Appends a finished case, which [`Journal::flush`] writes. Returns whether the journal should
    /// be renewed.
    pub fn add(&mut self, case: &Case, outcome: &Outcome) -> Result<bool, Error> {
        let bytes = postcard::to_stdvec(&(case, outcome))
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        let record = record(&bytes);
        self.file.write_all(&record).map_err(Error::write(&self.path))?;
        self.length += record.len() as u64;
        Ok(self.length >= MOST)
    }

    pub fn flush(&mut self) -> Result<(), Error> {
        self.file.flush().map_err(Error::write(&self.path))
    }

    /// Replaces the journal by one that starts at this state.
    pub fn renew(&mut self, state: &State) -> Result<(), Error> {
        // What is left in the buffer goes to the old file.
        self.file = BufWriter::new(write(&self.path, &self.run_command, state)?);
        self.length = 0;
        Ok(())
    }

    /// Removes the journal: the run is complete, or cannot be resumed.
    pub fn remove(self) {
        let _ = fs::remove_file(self.path);
    }
}

impl InterruptedRun {
    /// Reads the journal of a run directory, if there is one. Drops a torn record at the end.
    ///
    /// # Errors
    /// [`Error::File`] if the command or the state is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(JOURNAL);
        if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let bytes = read_input(&path, LARGEST)?;
        let damaged = || {
            let message = "is damaged or of another version, so the run cannot be resumed; repeat \
                 it with `run --force`";
            Error::File {
                code: codes::CANNOT_RESUME,
                path: path.clone(),
                message: message.to_owned(),
            }
        };
        let mut rest = bytes.strip_prefix(MARK).ok_or_else(damaged)?;
        let run_command = next(&mut rest).and_then(json).ok_or_else(damaged)?;
        let state = next(&mut rest).and_then(json).ok_or_else(damaged)?;
        let mut cases = Vec::new();
        while let Some(case) = next(&mut rest).and_then(|bytes| postcard::from_bytes(bytes).ok()) {
            cases.push(case);
        }
        Ok(Some(Self { run_command, state, cases }))
    }
}

/// Creates a journal and opens it for appending.
fn write(path: &Path, run_command: &RunCommand, state: &State) -> Result<File, Error> {
    let json = |value: serde_json::Result<Vec<u8>>| {
        value.map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))
    };
    let [run_command, state] =
        [json(serde_json::to_vec(run_command))?, json(serde_json::to_vec(state))?]
            .map(|b| record(&b));
    let content = [MARK, &run_command, &state].concat();
    make_whole(path, |partial| {
        let mut file = OpenOptions::new().append(true).open(partial).map_err(Error::write(path))?;
        file.write_all(&content).map_err(Error::write(path))?;
        Ok(file)
    })
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

fn hash(bytes: &[u8]) -> [u8; 4] {
    let hash = Sha256::digest(bytes);
    [hash[0], hash[1], hash[2], hash[3]]
}

/// Adds length and checksum to a record.
fn record(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    [&length[..], &hash(bytes), bytes].concat()
}

/// Takes a record from the front; `None` if it is incomplete or damaged.
fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (prefix, behind) = rest.split_at_checked(PREFIX)?;
    let length = u32::from_le_bytes(prefix[..4].try_into().ok()?);
    let (bytes, behind) = behind.split_at_checked(length as usize)?;
    if prefix[4..] != hash(bytes) {
        return None;
    }
    *rest = behind;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Verdict;
    use tempfile::TempDir;

    fn run_command() -> RunCommand {
        let command = vec!["cosim".to_owned(), "run".to_owned()];
        let folder = PathBuf::from("/");
        RunCommand { command, folder, header: Value::Null, mark: String::new() }
    }

    fn case(place: u64) -> Case {
        Case { place, profile: 0, scenario: 0, name: format!("b/p/s/{place}"), seed: place }
    }

    fn places(folder: &Path) -> Vec<u64> {
        let left = InterruptedRun::read(folder).unwrap().unwrap();
        left.cases.iter().map(|(case, _)| case.place).collect()
    }

    #[test]
    fn a_record_that_is_torn_or_damaged_ends_the_journal() {
        let folder = TempDir::new().unwrap();
        let state = State { next: 7, ..State::default() };
        let mut journal = Journal::create(folder.path(), run_command(), &state).unwrap();
        let path = folder.path().join(JOURNAL);
        let empty = fs::metadata(&path).unwrap().len() as usize;
        let outcome = Outcome::without_cycles(Verdict::Match);
        for place in 7..10 {
            assert!(!journal.add(&case(place), &outcome).unwrap());
        }
        journal.flush().unwrap();
        let whole = fs::read(&path).unwrap();
        let each = (whole.len() - empty) / 3;
        for length in empty..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let known = (length - empty) / each;
            assert_eq!(places(folder.path()), (7..7 + known as u64).collect::<Vec<_>>());
        }
        for flipped in empty + each..whole.len() {
            let mut damaged = whole.clone();
            damaged[flipped] ^= 1;
            fs::write(&path, damaged).unwrap();
            let known = (flipped - empty) / each;
            assert_eq!(places(folder.path()), (7..7 + known as u64).collect::<Vec<_>>());
        }
        for length in 0..empty {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(InterruptedRun::read(folder.path()).is_err(), "{length} bytes say nothing");
        }
    }

    #[test]
    fn a_new_state_takes_the_place_of_cases() {
        let folder = TempDir::new().unwrap();
        let mut journal = Journal::create(folder.path(), run_command(), &State::default()).unwrap();
        let outcome = Outcome::without_cycles(Verdict::Match);
        journal.add(&case(0), &outcome).unwrap();
        journal.renew(&State { next: 1, ..State::default() }).unwrap();
        journal.add(&case(1), &outcome).unwrap();
        assert!(places(folder.path()).is_empty());
        journal.flush().unwrap();
        let left = InterruptedRun::read(folder.path()).unwrap().unwrap();
        assert_eq!((left.state.next, left.run_command), (1, run_command()));
        assert_eq!(places(folder.path()), [1]);
        journal.remove();
        assert!(InterruptedRun::read(folder.path()).unwrap().is_none());
    }
}
