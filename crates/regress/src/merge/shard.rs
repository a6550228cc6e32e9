//! Reads the `results.json` of a shard case by case, so that memory use does not grow with its
//! length.

use cosim_base::checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::open_input;
use cosim_formats::run::{Entry, EntryCheck, LONGEST_LINE, Results};
use cosim_formats::run::{Failure, FinishedCase, Header, PARTIAL, Plan, RESULTS, RESULTS_FORMAT};
use cosim_harness::harness::Signature;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// End of the line before the first case.
const CASES: &str = "\"cases\": [";
/// Maximum size of the text before the first case, in bytes.
const MAX_HEAD_BYTES: u64 = 64 << 20;
/// Maximum size of the text after the last case, in bytes.
const MAX_TAIL_BYTES: u64 = 1 << 30;

/// A shard whose cases are read one by one.
pub(super) struct ShardFile {
    pub folder: PathBuf,
    pub header: Header,
    path: PathBuf,
    /// The text up to the first case.
    head: String,
    head_lines: usize,
    lines: BufReader<File>,
    /// Number of the last line read.
    line: usize,
    row: VecDeque<FinishedCase>,
    signatures: HashMap<u64, Signature>,
    check: EntryCheck,
    /// The place of the next case.
    place: Option<u64>,
    /// The text after the last case.
    tail: Option<String>,
}

impl ShardFile {
    /// Reads the header of a shard.
    ///
    /// # Errors
    /// [`Error::File`] if it is no run directory, or incomplete.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RESULTS);
        let file = open_input(&path).map_err(|error| {
            let message = match folder.join(PARTIAL).exists() {
                true => "is incomplete: its run was killed or still runs, and has no results.json \
                     yet; continue it with `resume`"
                    .to_owned(),
                false => format!("is not a run directory: {RESULTS} cannot be read: {error}"),
            };
            Error::File { code: codes::NOT_A_RUN, path: folder.to_owned(), message }
        })?;
        let mut lines = BufReader::with_capacity(1 << 14, file);
        let mut head = String::new();
        let mut head_lines = 0;
        loop {
            let begin = head.len();
            let most = MAX_HEAD_BYTES - begin as u64;
            let read = lines.by_ref().take(most).read_line(&mut head);
            let read = read.map_err(|error| Error::unreadable(&path, &error))?;
            head_lines += 1;
            if read == 0 {
                let message = format!(
                    "is incomplete or was not written by cosim: {RESULTS} has no line `{CASES}`"
                );
                return Err(Error::File { code: codes::INCOMPLETE, path, message });
            }
            if head[begin..].trim_end() == CASES {
                break;
            }
        }
        let header = header(&path, &head)?;
        checksum::verify_file(&path)?;
        let check = EntryCheck::new(&header).map_err(|message| Error::File {
            code: codes::DAMAGED,
            path: path.clone(),
            message,
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            header,
            path,
            head,
            head_lines,
            line: head_lines,
            lines,
            row: VecDeque::new(),
            signatures: HashMap::new(),
            check,
            place: None,
            tail: None,
        })
    }

    /// The next case, or `None` after the last. `plan` is the plan of the shard.
    ///
    /// # Errors
    /// [`Error::Input`] if the case cannot be read, or is not the next one of the plan.
    pub fn next(&mut self, plan: &Plan) -> Result<Option<FinishedCase>, Error> {
        if self.row.is_empty() && self.tail.is_none() {
            self.read(plan)?;
        }
        Ok(self.row.pop_front())
    }

    /// Reads a line: one case, several cases, or the end of the list.
    fn read(&mut self, plan: &Plan) -> Result<(), Error> {
        let mut text = String::new();
        let unreadable = |error| Error::unreadable(&self.path, &error);
        let mut line = self.lines.by_ref().take(LONGEST_LINE);
        if line.read_line(&mut text).map_err(unreadable)? == 0 {
            return Err(self.shard_error(
                "ends within its list of cases: the file is incomplete; copy it \
                 again, or repeat the shard",
            ));
        }
        self.line += 1;
        if text.starts_with(']') {
            let mut rest = self.lines.by_ref().take(MAX_TAIL_BYTES);
            rest.read_to_string(&mut text).map_err(unreadable)?;
            self.tail = Some(text);
            return Ok(());
        }
        let text = text.trim_end();
        let entry: Entry = serde_json::from_str(text.strip_suffix(',').unwrap_or(text))
            .map_err(|error| self.shard_error(&format!("is not an entry of `cases`: {error}")))?;
        self.check.check(&entry).map_err(|message| self.shard_error(&message))?;
        let step = plan.shard.count();
        let mut place = self.place.or_else(|| plan.iter().next().map(|case| case.place));
        let mut row = std::mem::take(&mut self.row);
        match entry {
            Entry::Failed { place: at, group, verdict, cycles, packets, name } => {
                self.follows(at, place)?;
                if plan.case(at).name != name {
                    let message = format!("{name} is not case {at} of this run");
                    return Err(self.shard_error(&message));
                }
                let Some(signature) = Signature::from_verdict(&verdict) else {
                    return Err(self.shard_error(&format!("{name} did not fail")));
                };
                self.signatures.insert(group, signature.clone());
                let failure = Some(Failure { signature, verdict: Some(verdict) });
                row.push_back(FinishedCase { place: at, cycles, packets, failure });
                place = at.checked_add(step);
            }
            Entry::Row { from, cycles, packets, groups } => {
                self.follows(from, place)?;
                let mut at = from;
                for (number, (cycles, packets)) in cycles.into_iter().zip(packets).enumerate() {
                    let failure = match groups.get(number) {
                        None => None,
                        Some(group) => Some(self.find_failure(*group)?),
                    };
                    row.push_back(FinishedCase { place: at, cycles, packets, failure });
                    at = at
                        .checked_add(step)
                        .ok_or_else(|| self.shard_error("the place does not exist"))?;
                }
                place = Some(at);
            }
        }
        (self.place, self.row) = (place, row);
        Ok(())
    }

    /// Checks that no case is missing or duplicate.
    fn follows(&self, at: u64, expected: Option<u64>) -> Result<(), Error> {
        if Some(at) == expected {
            return Ok(());
        }
        let expected = expected.map_or_else(|| "none".to_owned(), |place| place.to_string());
        Err(self.shard_error(&format!("found place {at}, expected {expected}")))
    }

    /// The failure of a case that only refers to its signature.
    fn find_failure(&self, group: u64) -> Result<Failure, Error> {
        match self.signatures.get(&group) {
            Some(signature) => Ok(Failure { signature: signature.clone(), verdict: None }),
            None => Err(self.shard_error(&format!("no earlier case has signature {group}"))),
        }
    }

    /// The text after the cases. Call it once, after all cases are read.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be read, or contradicts the cases.
    pub fn finish(&mut self) -> Result<Results, Error> {
        let Some(tail) = self.tail.take() else {
            return Err(self.shard_error("has more cases than planned"));
        };
        let text = std::mem::take(&mut self.head) + &tail;
        let results = Results::without_cases(&text, &self.path).map_err(|error| match error {
            Error::Input { path, line, column, message, .. } => {
                let line = self.line + line.saturating_sub(self.head_lines + 1);
                Error::Input { code: codes::DAMAGED, path, line, column, message }
            }
            error => error,
        })?;
        if !self.check.has_totals(&results.totals) {
            return Err(self.shard_error("`totals` differ from the sums of the cases"));
        }
        Ok(results)
    }

    fn shard_error(&self, message: &str) -> Error {
        let (path, message) = (self.path.clone(), message.to_owned());
        Error::Input { code: codes::DAMAGED, path, line: self.line, column: 1, message }
    }
}

/// Parses the header from the text before the cases.
fn header(path: &Path, head: &str) -> Result<Header, Error> {
    let json = |error| Error::json(path, &error);
    let head: Value = serde_json::from_str(&format!("{head}]}}")).map_err(json)?;
    RESULTS_FORMAT.check(path, &head["format"], &head["version"])?;
    serde_json::from_value(head["run"].clone()).map_err(json)
}
