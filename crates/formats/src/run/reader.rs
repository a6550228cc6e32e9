//! Reads `results.json` case by case, so that memory does not grow with its length.

use super::passed::has_passed;
use super::{Day, End, Group, Header, MOST_CASES, RESULTS, RESULTS_FORMAT, TIMING, Timing, Totals};
use cosim_base::checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, open_input, read_input_text};
use cosim_harness::harness::Verdict;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The results of a run without its cases.
#[derive(Debug, Clone)]
pub struct Results {
    pub run: Header,
    pub profiles: Vec<ProfileResults>,
    pub totals: Totals,
    pub failures: Vec<Group>,
    /// The checksum of `coverage.json`.
    pub coverage: String,
    pub ended: End,
    /// The UTC day that waivers were checked against, if the run has waivers.
    pub day: Option<Day>,
    pub passed: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ProfileResults {
    pub profile: String,
    pub fixes: String,
    pub scenarios: Vec<(String, Totals)>,
    /// Hit count of each reachable rule.
    pub rules: BTreeMap<String, u64>,
    /// Unreachable rules: no legal stimulus hits them. With the reason.
    pub unreachable: BTreeMap<String, String>,
    pub counters: BTreeMap<String, u64>,
}

impl Timing {
    /// Reads `timing.json` of a run directory.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(TIMING);
        let text = read_input_text(&path, LARGEST_INPUT)?;
        let timing: Self =
            serde_json::from_str(&text).map_err(|error| Error::json(&path, &error))?;
        // Sums of several runs stay finite.
        let numbers = [timing.seconds, timing.failures_seconds, timing.cycles_per_second];
        if let Some(wrong) = numbers.iter().find(|number| !(0.0..=MOST_SECONDS).contains(number)) {
            let message = format!("a time or speed is {wrong}, expected 0 to {MOST_SECONDS}");
            return Err(Error::File { code: codes::DAMAGED, path, message });
        }
        Ok(timing)
    }
}

/// One entry of `cases`: a failed case, or a row of cases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    Failed {
        /// Its position in the plan.
        place: u64,
        /// The number of its signature.
        group: u64,
        name: String,
        #[serde(flatten)]
        verdict: Verdict,
        cycles: u64,
        packets: u64,
    },
    /// Consecutive cases.
    Row {
        /// Position of the first case.
        from: u64,
        /// Cycles compared in each case.
        cycles: Vec<u64>,
        /// Packets accepted in each case.
        packets: Vec<u64>,
        /// The number of each case's signature, if they fail.
        #[serde(default)]
        groups: Vec<u64>,
    },
}

impl Results {
    /// The verdict of the run, in one to three words.
    pub fn verdict(&self) -> &'static str {
        self.totals.verdict(self.ended, self.passed)
    }

    /// Number of failures that are not waived.
    pub fn open_failures(&self) -> u64 {
        self.totals.failures().saturating_sub(super::waived(&self.failures, self.ended))
    }

    /// Why a run without open failures did not pass.
    pub fn no_pass(&self) -> Option<&'static str> {
        match self.ended {
            End::Interrupted => Some("the run was interrupted"),
            _ if self.passed || self.open_failures() > 0 => None,
            _ if self.totals.cycles == 0 => Some("no cycle was compared"),
            _ if self.run.until_coverage.is_some() => {
                Some("coverage is below the goal of --until-coverage")
            }
            _ if self.run.coverage && self.run.min_coverage.is_none() => {
                Some("a waived coverage point of the RTL was reached")
            }
            _ if self.run.min_coverage.is_none() => Some("some outputs were never compared"),
            _ => Some("coverage is below the goal of --min-coverage"),
        }
    }

    /// Reads the results of a run directory and calls `each` for each entry of the cases.
    ///
    /// # Errors
    /// [`Error::File`] if they are missing, of another version or edited. [`Error::Input`] if they
    /// are malformed.
    pub fn read(folder: &Path, mut each: impl FnMut(&Header, Entry)) -> Result<Self, Error> {
        let path = folder.join(RESULTS);
        let lines = BoundedLines { file: open_input(&path)?, length: 0 };
        let text = serde_json::Deserializer::from_reader(BufReader::new(lines));
        let mut check = None;
        let results = Self::parse(text, &path, &mut each, &mut check)?;
        checksum::verify_file(&path)?;
        if check.is_some_and(|check| !check.has_totals(&results.totals)) {
            let message = "`totals` differ from the sums of the cases".to_owned();
            return Err(Error::File { code: codes::DAMAGED, path, message });
        }
        Ok(results)
    }

    /// Parses results without their cases. `path` is for messages.
    pub fn without_cases(text: &str, path: &Path) -> Result<Self, Error> {
        Self::parse(serde_json::Deserializer::from_str(text), path, &mut |_, _| (), &mut None)
    }

    fn parse<'de, R: serde_json::de::Read<'de>>(
        mut text: serde_json::Deserializer<R>,
        path: &Path,
        each: &mut dyn FnMut(&Header, Entry),
        check: &mut Option<EntryCheck>,
    ) -> Result<Self, Error> {
        let mut wrong = None;
        let visitor = ResultsVisitor { each, path, wrong: &mut wrong, check };
        let results = text.deserialize_map(visitor).and_then(|results| {
            text.end()?;
            Ok(results)
        });
        let results: Self = results.map_err(|error| match (wrong, Error::json(path, &error)) {
            (Some(Wrong::Version(error)), _) => error,
            (Some(Wrong::Entry(message)), Error::Input { path, line, column, .. }) => {
                Error::Input { code: codes::DAMAGED, path, line, column, message }
            }
            (_, error) => error,
        })?;
        if results.passed && !has_passed(&results.totals, &results.failures, results.ended) {
            let message = "`passed` is true, but its cases did not pass".to_owned();
            return Err(Error::File { code: codes::DAMAGED, path: path.to_owned(), message });
        }
        Ok(results)
    }
}

/// Maximum time or speed in `timing.json`.
const MOST_SECONDS: f64 = 1e18;
/// Maximum length of a line of `results.json`, in bytes. A line holds at most 256 cases.
pub const LONGEST_LINE: u64 = 64 << 20;
/// Maximum number of profiles times scenarios.
const MOST_COLUMNS: u64 = 1 << 20;

struct BoundedLines {
    file: File,
    length: u64,
}

impl Read for BoundedLines {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        for piece in bytes[..read].split_inclusive(|byte| *byte == b'\n') {
            self.length += piece.len() as u64;
            if self.length > LONGEST_LINE {
                let message = format!("a line is longer than {} MiB", LONGEST_LINE >> 20);
                return Err(io::Error::other(message));
            }
            if piece.ends_with(b"\n") {
                self.length = 0;
            }
        }
        Ok(read)
    }
}

/// Checks the entries of `cases` against the header and against each other.
#[derive(Debug, Clone)]
pub struct EntryCheck {
    step: u64,
    /// The positions of the run end here.
    end: u64,
    /// The first position that may follow.
    next: u64,
    /// Number of signatures so far.
    signatures: u64,
    /// Cases, failures, cycles and packets so far.
    sums: [u64; 4],
}

impl EntryCheck {
    /// A check of the entries of a run.
    ///
    /// # Errors
    /// What is wrong with the header.
    pub fn new(run: &Header) -> Result<Self, String> {
        let columns = (run.profiles.len() as u64).saturating_mul(run.scenarios.len() as u64);
        if !(1..=MOST_COLUMNS).contains(&columns) {
            return Err(format!(
                "the run has {columns} pairs of profile and scenario, expected 1 to {MOST_COLUMNS}"
            ));
        }
        let end = MOST_CASES.saturating_mul(columns);
        Ok(Self { step: run.step(), end, next: 0, signatures: 0, sums: [0; 4] })
    }

    fn add(&mut self, entry: &Entry) {
        let (cases, failures, cycles, packets) = match entry {
            Entry::Failed { cycles, packets, .. } => {
                (1, 1, std::slice::from_ref(cycles), std::slice::from_ref(packets))
            }
            Entry::Row { cycles, packets, groups, .. } => {
                (cycles.len() as u64, groups.len() as u64, &cycles[..], &packets[..])
            }
        };
        let sum =
            |numbers: &[u64]| numbers.iter().fold(0, |sum: u64, one| sum.saturating_add(*one));
        let more = [cases, failures, sum(cycles), sum(packets)];
        for (sum, more) in self.sums.iter_mut().zip(more) {
            *sum = sum.saturating_add(more);
        }
    }

    pub fn has_totals(&self, totals: &Totals) -> bool {
        self.sums == [totals.cases, totals.failures(), totals.cycles, totals.packets]
    }

    /// Checks the next entry.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&mut self, entry: &Entry) -> Result<(), String> {
        let (first, count) = match entry {
            Entry::Failed { place, group, .. } => {
                if *group > self.signatures {
                    return Err(format!(
                        "signature {group} follows {} signatures",
                        self.signatures
                    ));
                }
                self.signatures = self.signatures.max(group + 1);
                (*place, 1)
            }
            Entry::Row { from, cycles, packets, groups } => {
                let count = cycles.len();
                if count == 0
                    || packets.len() != count
                    || !(groups.is_empty() || groups.len() == count)
                {
                    return Err("the columns of a row differ in length".to_owned());
                }
                if let Some(group) = groups.iter().find(|group| **group >= self.signatures) {
                    return Err(format!("no earlier case has signature {group}"));
                }
                (*from, count as u64)
            }
        };
        let last = (count - 1).checked_mul(self.step).and_then(|more| first.checked_add(more));
        match last {
            Some(last) if first >= self.next && last < self.end => {
                self.next = last + 1;
                self.add(entry);
                Ok(())
            }
            _ => Err(format!(
                "found {count} cases from place {first}, expected places from {} to {}",
                self.next,
                self.end - 1
            )),
        }
    }
}

/// What is wrong with results that are valid JSON.
enum Wrong {
    Version(Error),
    Entry(String),
}

/// Reads the top level of `results.json`.
struct ResultsVisitor<'a> {
    each: &'a mut dyn FnMut(&Header, Entry),
    path: &'a Path,
    /// Set if an error is not one of JSON.
    wrong: &'a mut Option<Wrong>,
    /// Set to the check of the cases.
    check: &'a mut Option<EntryCheck>,
}

impl<'de> Visitor<'de> for ResultsVisitor<'_> {
    type Value = Results;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the results of a cosim run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut format, mut version) = (Value::Null, Value::Null);
        let (mut run, mut profiles, mut totals) = (None, None, None);
        let (mut failures, mut ended, mut passed) = (None, None, None);
        let (mut coverage, mut day) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => format = map.next_value()?,
                "version" => {
                    version = map.next_value()?;
                    if let Err(error) = RESULTS_FORMAT.check(self.path, &format, &version) {
                        *self.wrong = Some(Wrong::Version(error));
                        return Err(de::Error::custom("another format or version"));
                    }
                }
                "run" => run = Some(map.next_value::<Header>()?),
                "cases" => {
                    let Some(run) = &run else {
                        return Err(de::Error::custom("`cases` stand before `run`"));
                    };
                    let cases = Cases { run, each: self.each, wrong: self.wrong };
                    *self.check = Some(map.next_value_seed(cases)?);
                }
                "profiles" => profiles = Some(map.next_value()?),
                "totals" => totals = Some(map.next_value()?),
                "failures" => failures = Some(map.next_value()?),
                "coverage" => coverage = Some(map.next_value()?),
                "day" => day = Some(map.next_value()?),
                "ended" => ended = Some(map.next_value()?),
                "passed" => passed = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = de::Error::missing_field;
        if version.is_null() {
            return Err(missing("version"));
        }
        Ok(Results {
            run: run.ok_or_else(|| missing("run"))?,
            profiles: profiles.ok_or_else(|| missing("profiles"))?,
            totals: totals.ok_or_else(|| missing("totals"))?,
            failures: failures.ok_or_else(|| missing("failures"))?,
            coverage: coverage.ok_or_else(|| missing("coverage"))?,
            ended: ended.ok_or_else(|| missing("ended"))?,
            passed: passed.ok_or_else(|| missing("passed"))?,
            day,
        })
    }
}

struct Cases<'a, 'b> {
    run: &'a Header,
    each: &'b mut dyn FnMut(&Header, Entry),
    wrong: &'b mut Option<Wrong>,
}

impl<'de> DeserializeSeed<'de> for Cases<'_, '_> {
    type Value = EntryCheck;

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<EntryCheck, D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cases<'_, '_> {
    type Value = EntryCheck;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cases")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<EntryCheck, A::Error> {
        let Self { run, each, wrong } = self;
        let mut refuse = |message: String| {
            *wrong = Some(Wrong::Entry(message));
            de::Error::custom("a wrong entry")
        };
        let mut check = EntryCheck::new(run).map_err(&mut refuse)?;
        while let Some(entry) = list.next_element()? {
            check.check(&entry).map_err(&mut refuse)?;
            each(run, entry);
        }
        Ok(check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_base::error::Code;
    use serde_json::json;
    use std::fs;
    use tempfile::TempDir;

    fn header() -> Value {
        json!({
            "version": "", "build": "", "verilator": "", "rtl": "",
            "given": { "paths": [] }, "rtl_files": [], "two_evaluations": {}, "comparison": {},
            "block": "b", "seed": 1, "packets": null, "shard": "1/2", "cases": 4,
            "profiles": ["spec"], "scenarios": ["smoke"], "weights": "", "min_coverage": null,
        })
    }

    /// Two matching cases and three that hang.
    const TOTALS: Totals = Totals {
        cases: 5,
        matched: 2,
        mismatched: 0,
        unknown: 0,
        hung: 3,
        check_failed: 0,
        crashed: 0,
        no_golden_model: 0,
        cycles: u64::MAX,
        packets: 5,
    };

    fn results(version: u64, cases: &Value) -> String {
        results_with(version, cases, TOTALS, false)
    }

    fn results_with(version: u64, cases: &Value, totals: Totals, passed: bool) -> String {
        let record = json!({
            "run": header(), "cases": cases, "profiles": [], "totals": totals,
            "failures": [], "coverage": "", "ended": "complete", "passed": passed,
        });
        let members = record.to_string();
        let begin = format!("{{\"format\": \"cosim-results\", \"version\": {version},");
        let members = format!("{begin}{},\n", &members[1..members.len() - 1]);
        // Maps are sorted, and the cases follow the header.
        let run = format!("\"run\":{},", header());
        let members =
            members.replace(&run, "").replacen("\"cases\"", &format!("{run}\"cases\""), 1);
        checksum::sealed(members).0
    }

    fn read(text: &str) -> Result<usize, Code> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(RESULTS), text).unwrap();
        let mut entries = 0;
        let read = Results::read(folder.path(), |_, _| entries += 1);
        read.map(|_| entries).map_err(|error| error.code())
    }

    fn failed(place: u64, group: u64) -> Value {
        json!({
            "place": place, "group": group, "name": "b/spec/smoke/0", "seed": "0x0",
            "verdict": "hang", "cycle": null, "state": "S", "cycles": 1, "packets": 1,
        })
    }

    fn row(from: u64, count: usize, groups: &[u64]) -> Value {
        json!({
            "from": from, "cycles": vec![u64::MAX; count], "packets": vec![1; count],
            "groups": groups,
        })
    }

    /// Somebody who computes the checksum, too, cannot turn failures into a pass.
    #[test]
    fn totals_and_verdict_agree_with_the_cases() {
        let cases = json!([row(0, 2, &[]), failed(4, 0), row(6, 2, &[0, 0])]);
        assert_eq!(read(&results(1, &cases)), Ok(3));
        let green = Totals { matched: 5, hung: 0, ..TOTALS };
        let fewer = Totals { cases: 2, hung: 0, ..TOTALS };
        let longer = Totals { packets: 6, ..TOTALS };
        for (totals, passed) in
            [(TOTALS, true), (green, true), (green, false), (fewer, true), (longer, false)]
        {
            let text = results_with(1, &cases, totals, passed);
            assert_eq!(read(&text), Err(codes::DAMAGED), "{totals:?} {passed}");
        }
    }

    #[test]
    fn one_version_with_its_checksum_is_read() {
        let good = results(1, &json!([row(0, 2, &[]), failed(4, 0), row(6, 2, &[0, 0])]));
        assert_eq!(read(&good), Ok(3));
        let edited = good.replace("\"ended\":\"complete\"", "\"ended\":\"time\"");
        assert_ne!(edited, good);
        assert_eq!(read(&edited), Err(codes::DAMAGED));
        let (bare, _) = good.rsplit_once(",\n\"checksum\"").unwrap();
        assert_eq!(read(&format!("{bare}\n}}\n")), Err(codes::DAMAGED));
        for version in [0, 2, 4, 6] {
            let other = results(version, &json!([]));
            assert_eq!(read(&other), Err(codes::WRONG_FORMAT), "{version}");
            let (bare, _) = other.rsplit_once(",\n\"checksum\"").unwrap();
            assert_eq!(read(&format!("{bare}\n}}\n")), Err(codes::WRONG_FORMAT), "{version}");
        }
    }

    #[test]
    fn entries_that_no_run_writes_are_rejected() {
        for cases in [
            json!([row(u64::MAX, 2, &[])]),
            json!([row(1 << 47, 1, &[])]),
            json!([row(4, 1, &[]), row(4, 1, &[])]),
            json!([row(0, 1, &[0])]),
            json!([row(0, 0, &[])]),
            json!([failed(0, 1)]),
            json!([failed(0, 0), failed(2, u64::MAX)]),
            json!([failed(0, 0), row(2, 2, &[0])]),
            json!([failed(0, 0), row(2, 1, &[7])]),
        ] {
            let folder = TempDir::new().unwrap();
            fs::write(folder.path().join(RESULTS), results(1, &cases)).unwrap();
            let error = Results::read(folder.path(), |_, _| ()).unwrap_err();
            // The entry itself has a place; wrong sums have none.
            assert!(matches!(error, Error::Input { .. }), "{cases}: {error}");
            assert_eq!(error.code(), codes::DAMAGED, "{cases}");
        }
    }

    #[test]
    fn a_line_is_bounded() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(LONGEST_LINE + 1).unwrap();
        let mut lines = BoundedLines { file, length: 0 };
        assert!(io::copy(&mut lines, &mut io::sink()).is_err());
    }
}
