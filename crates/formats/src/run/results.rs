//! Writes a run directory: `results.json` entry by entry, and vectors of matching cases.
//!
//! `results.json` is byte for byte the same for the same seed and build. `timing.json` holds
//! everything that depends on the machine or the time. `docs/reference/results.md` describes both.

use super::cases::{Cases, FailedCase, Failure, FinishedCase, Row};
use super::directory::{DirectoryLock, OutputLocation, remove_partial};
use super::end::End;
use super::groups::Group;
use super::header::Header;
use super::journal::State;
use super::layout::{
    FAILURES, JOURNAL, MARK, PARTIAL, RESULTS, RESULTS_FORMAT, SAVED, TIMING, to_json,
};
use super::tally::{ProfileTally, Tally, Totals};
use super::timing::Timing;
use super::waivers::Day;
use crate::coverage::{COVERAGE, Database};
use cosim_base::checksum::Checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, sync_folder, write_whole};
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_harness::harness::{Case, Outcome, Signature};
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The runs in a folder: the folder itself, or its subfolders, one per block, sorted by name. Any
/// of `files` identifies a run.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    pub end: End,
    /// The UTC day that waivers were checked against, if the run has waivers. It is the day on
    /// which the run or its last shard ended.
    pub day: Option<Day>,
    pub passed: bool,
}

/// The results of one run in its directory.
///
/// If the disk is full, the run continues without files. The first error is kept and returned at
/// the end.
#[derive(Debug)]
pub struct RunDirectory {
    claim: DirectoryLock,
    file: File,
    /// Bytes of complete lines written so far.
    length: u64,
    /// The checksum of those bytes.
    checksum: Checksum,
    cases: Cases,
    /// Lines to be written next.
    text: String,
    /// The error because of which `results.json` is incomplete.
    lost: Option<Error>,
}

impl RunDirectory {
    pub fn create(place: &OutputLocation, header: &Header) -> Result<Self, Error> {
        let claim = DirectoryLock::new(place)?;
        let path = claim.folder.join(PARTIAL);
        let file = File::create(&path).map_err(Error::write(&path))?;
        let cases = Cases::new(header.step());
        let (length, text, lost) = (0, String::new(), None);
        let checksum = Checksum::default();
        let mut directory = Self { claim, file, length, checksum, cases, text, lost };
        directory.write(&head(header))?;
        Ok(directory)
    }

    /// Resumes a run directory at `state`. Everything written after that state is written again.
    ///
    /// # Errors
    /// [`Error::File`] if another run writes to it, or if its results do not match the checksum in
    /// `state`. Nothing is changed then.
    pub fn resume(folder: &Path, state: &State) -> Result<Self, Error> {
        let claim = DirectoryLock::lock_again(folder)?;
        let partial = folder.join(PARTIAL);
        let results = folder.join(RESULTS);
        // If the run was killed right after it finished, the results already have their final name.
        let is_renamed = !partial.exists() && results.exists();
        let path = if is_renamed { results } else { partial.clone() };
        let open = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = open.map_err(Error::write(&path))?;
        let checksum = Checksum::read_first(&mut file, state.length);
        let checksum = checksum.map_err(|error| Error::unreadable(&path, &error))?;
        // Setting a larger length would extend the file.
        let is_shorter = file.metadata().is_ok_and(|file| file.len() < state.length);
        if is_shorter || checksum.hex() != state.checksum {
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

    /// Stores the position of the writer in `state`.
    pub fn stand(&self, state: &mut State) {
        state.length = self.length;
        state.checksum = self.checksum.hex();
        state.cases = self.cases.clone();
    }

    pub fn folder(&self) -> &Path {
        &self.claim.folder
    }

    /// Adds a case. Once results begin to be lost, the first call returns the error.
    pub fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        let failure = Signature::from_verdict(&outcome.verdict)
            .map(|signature| Failure { signature, verdict: Some(outcome.verdict.clone()) });
        let Outcome { cycles, packets, .. } = *outcome;
        let ended = FinishedCase { place: case.place, cycles, packets, failure };
        self.ended(&ended, || case.clone())
    }

    /// As [`RunDirectory::case`], for a case that ran elsewhere. `case` returns its name and seed.
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

    /// Whether the next failure with this signature gets an entry of its own.
    pub fn is_reported(&self, signature: &Signature) -> bool {
        self.cases.is_reported(signature)
    }

    /// Saves the vector of a matching case.
    pub fn save(&self, case: &Case, text: &str) -> Result<(), Error> {
        let file = RunFile::new(RunFolder::Saved, &case.name, "json");
        file.write(self.folder(), text.as_bytes(), Sync::Lazy)
    }

    /// Completes `results.json` with totals, rules and counters by profile, and renames it.
    ///
    /// # Errors
    /// [`Error::Write`] if any result since the beginning could not be written. Vectors and waves
    /// do not count.
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

    pub fn abandon(self) {
        self.claim.empty_and_abandon();
    }

    pub fn remove_journal(&self) {
        let _ = fs::remove_file(self.folder().join(JOURNAL));
    }

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

    /// Writes text without buffering, so that a killed run loses none of it.
    fn write(&mut self, text: &str) -> Result<(), Error> {
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.length += text.len() as u64;
                self.checksum.add(text.as_bytes());
                Ok(())
            }
            Err(error) => {
                // Truncate to complete lines.
                let _ = self.file.set_len(self.length).and_then(|()| self.file.rewind());
                Err(Error::write(self.folder().join(PARTIAL))(error))
            }
        }
    }
}

fn head(header: &Header) -> String {
    let (header, version) = (to_json(header), RESULTS_FORMAT.version);
    format!("{MARK},\n\"version\": {version},\n\"run\": {header},\n\"cases\": [")
}

pub fn results_schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut of =
        |schema: fn(&mut SchemaGenerator) -> schemars::Schema| schema(&mut generator).to_value();
    let properties = json!({
        "format": { "const": RESULTS_FORMAT.name },
        "version": { "const": RESULTS_FORMAT.version },
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
