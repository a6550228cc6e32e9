//! The journal of a run: what `resume` needs to continue it after it was killed.
//!
//! One file in the run directory, to which records are only added. The first says how the run was begun, the second where it
//! stood when the file was made, and each further one has a case that has ended since. When there are many of them, a
//! new file with where the run stands now takes its place. Each record has its length and a checksum before it, so one that
//! is torn ends the journal; a run that has ended has none.

use super::cases::Cases;
use super::groups::Group;
use super::layout::JOURNAL;
use super::tally::Totals;
use crate::coverage::{ContributingCase, ScenarioCoverage};
use cosim_base::error::{Error, codes};
use cosim_base::files::make_whole;
use cosim_harness::harness::{Case, Outcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How it begins.
const MARK: &[u8] = b"cosim-journal 3\n";
/// Bytes of ended cases after which a new file takes the place.
const MOST: u64 = 4 << 20;
/// Bytes before a record: its length, and a part of its hash.
const PREFIX: usize = 8;

/// How a run was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCommand {
    /// The command line.
    pub command: Vec<String>,
    /// Where it was given.
    pub folder: PathBuf,
    /// What identifies the run, as `results.json` has it.
    pub header: Value,
}

/// Where a run stands after some cases, in the order of the plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// No place before this one is left to be run.
    pub next: u64,
    /// Bytes of `results.json.partial` that have them.
    pub length: u64,
    /// The checksum of those bytes.
    pub checksum: String,
    /// What of them is not written yet.
    pub cases: Cases,
    /// What they come to, by profile, as `results.json` has it.
    pub profiles: Value,
    /// All of them together.
    pub totals: Totals,
    /// Those whose model did not return.
    pub hangs: u64,
    /// The failures.
    pub groups: Vec<Group>,
    /// The first cases of each of them.
    pub first_cases: Vec<Vec<Case>>,
    /// What was covered.
    pub parts: BTreeSet<ScenarioCoverage>,
    /// The cases that hit something new.
    pub finds: BTreeSet<ContributingCase>,
    /// Vectors of matching cases that are still to be kept.
    pub save: u64,
    /// Seconds in which cases were run, and seconds of their failures.
    pub seconds: (f64, f64),
    /// What could not be written.
    pub unwritten: Vec<String>,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    run_command: RunCommand,
    file: File,
    /// Bytes of cases since the state.
    length: u64,
}

/// A journal that was left.
#[derive(Debug)]
pub struct InterruptedRun {
    /// How the run was begun.
    pub run_command: RunCommand,
    /// Where it stood.
    pub state: State,
    /// Cases that ended after that.
    pub cases: Vec<(Case, Outcome)>,
}

impl Journal {
    /// Begins the journal of a run that stands there; one that was left in the folder is replaced.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn begin(folder: &Path, run_command: RunCommand, state: &State) -> Result<Self, Error> {
        let path = folder.join(JOURNAL);
        let file = write(&path, &run_command, state)?;
        Ok(Self { path, run_command, file, length: 0 })
    }

    /// Adds a case that has ended; whether there are so many that the state should be told again.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn add(&mut self, case: &Case, outcome: &Outcome) -> Result<bool, Error> {
        let bytes = postcard::to_stdvec(&(case, outcome))
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        let record = record(&bytes);
        self.file.write_all(&record).map_err(Error::write(&self.path))?;
        self.length += record.len() as u64;
        Ok(self.length >= MOST)
    }

    /// Replaces the journal by one of a run that stands there.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn renew(&mut self, state: &State) -> Result<(), Error> {
        self.file = write(&self.path, &self.run_command, state)?;
        self.length = 0;
        Ok(())
    }

    /// Removes the journal: the run has ended, or cannot be resumed.
    pub fn remove(self) {
        let _ = fs::remove_file(self.path);
    }
}

impl InterruptedRun {
    /// Reads the journal of a run directory; none if there is none. What is torn off at its end is left out.
    ///
    /// # Errors
    /// [`Error::File`] if it does not say how the run was begun and where it stood.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(JOURNAL);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::unreadable(&path, &error)),
        };
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

/// A new journal, which is open for cases.
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

/// Bytes, with what shows that they are whole before them.
fn record(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    [&length[..], &hash(bytes), bytes].concat()
}

/// Takes a record from the beginning; none if it is not whole.
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
        RunCommand { command, folder: PathBuf::from("/"), header: Value::Null }
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
        let mut journal = Journal::begin(folder.path(), run_command(), &state).unwrap();
        let path = folder.path().join(JOURNAL);
        let empty = fs::metadata(&path).unwrap().len() as usize;
        let outcome = Outcome::without_cycles(Verdict::Match);
        for place in 7..10 {
            assert!(!journal.add(&case(place), &outcome).unwrap());
        }
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
        let mut journal = Journal::begin(folder.path(), run_command(), &State::default()).unwrap();
        let outcome = Outcome::without_cycles(Verdict::Match);
        journal.add(&case(0), &outcome).unwrap();
        journal.renew(&State { next: 1, ..State::default() }).unwrap();
        journal.add(&case(1), &outcome).unwrap();
        let left = InterruptedRun::read(folder.path()).unwrap().unwrap();
        assert_eq!((left.state.next, left.run_command), (1, run_command()));
        assert_eq!(places(folder.path()), [1]);
        journal.remove();
        assert!(InterruptedRun::read(folder.path()).unwrap().is_none());
    }
}
