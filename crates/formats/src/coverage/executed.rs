//! `executed.json` of a run with `--coverage`: the lines of the RTL that each matching case
//! executed.

use super::code::numbers;
use crate::record::RecordFormat;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_block::points::Point;
use cosim_harness::harness::{Case, Outcome, Verdict};
use cosim_rtl::changed::{Line, file_of_line};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-executed", version: 1, most: LARGEST_INPUT };
/// File name in a run directory.
pub const EXECUTED: &str = "executed.json";
/// Most bytes of the file, roughly. Further cases are left out.
const MOST: usize = 48 << 20;

/// What determines the cases of a run, whatever the RTL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedBy {
    /// The block.
    pub block: String,
    /// The hash of the RTL.
    pub rtl: String,
    /// The hash of what else determines stimulus and checks.
    pub testbench: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; random if there is no number.
    pub packets: Option<u32>,
    /// Hashes of the weights of each scenario.
    pub weights: BTreeMap<String, String>,
}

/// The lines that each case executed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Executed {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u64,
    /// The run.
    pub run: ExecutedBy,
    profiles: BTreeMap<String, ExecutedProfile>,
}

/// The cases of one profile.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ExecutedProfile {
    /// All lines that the model counts.
    lines: Vec<Line>,
    /// Sets of lines: a bit for each, in hexadecimal digits, the lowest byte first.
    sets: Vec<String>,
    /// The index and the set of each case, by scenario.
    cases: BTreeMap<String, Vec<(u64, u32)>>,
}

impl Executed {
    /// Reads the file of a run directory.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing, edited or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        Ok(FORMAT.read::<Self>(&folder.join(EXECUTED))?.0)
    }

    /// Writes the file of a run directory.
    ///
    /// # Errors
    /// [`Error::Write`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        FORMAT.write(&folder.join(EXECUTED), self, Sync::OnDisk)
    }

    /// The cases of a profile, by scenario, that executed none of these lines. A case that is not
    /// recorded may have executed each of them. No case avoids lines that are not counted.
    pub fn avoiding(
        &self,
        profile: &str,
        blocks: &[BTreeSet<Line>],
    ) -> BTreeMap<&str, BTreeSet<u64>> {
        let Some(ExecutedProfile { lines, sets, cases }) = self.profiles.get(profile) else {
            return BTreeMap::new();
        };
        let place = lines.iter().zip(0..).collect::<BTreeMap<&Line, usize>>();
        let mut wanted = BTreeSet::new();
        for block in blocks {
            let counted: Vec<usize> =
                block.iter().filter_map(|line| place.get(line).copied()).collect();
            if counted.is_empty() {
                return BTreeMap::new();
            }
            wanted.extend(counted);
        }
        let avoids = |set: &String| {
            let bytes = bytes(set)?;
            let is_set = |line: &usize| Some(bytes.get(line / 8)? >> (line % 8) & 1 == 1);
            let all = wanted.iter().map(is_set).collect::<Option<Vec<bool>>>()?;
            Some(!all.contains(&true))
        };
        // A set that is malformed may have every line.
        let avoids: Vec<bool> = sets.iter().map(|set| avoids(set).unwrap_or(false)).collect();
        let of = |cases: &Vec<(u64, u32)>| {
            let avoiding = cases.iter().filter(|(_, set)| avoids.get(*set as usize) == Some(&true));
            avoiding.map(|(index, _)| *index).collect()
        };
        cases.iter().map(|(scenario, cases)| (scenario.as_str(), of(cases))).collect()
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let has_pairs = digits.len().is_multiple_of(2);
    has_pairs.then(|| digits.as_bytes().chunks(2).map(pair).collect())?
}

/// Collects the lines of each case.
#[derive(Debug, Clone)]
pub struct ExecutedRecorder {
    run: ExecutedBy,
    scenarios: Vec<String>,
    profiles: Vec<RecordedProfile>,
    size: usize,
}

#[derive(Debug, Clone)]
struct RecordedProfile {
    name: String,
    recorded: ExecutedProfile,
    /// The lines of each point.
    of_point: Vec<Vec<usize>>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl ExecutedRecorder {
    /// A recorder for these scenarios and profiles, each with the points of its model.
    pub fn new(run: ExecutedBy, scenarios: Vec<String>, profiles: &[(String, Vec<Point>)]) -> Self {
        let profile = |(name, points): &(String, Vec<Point>)| {
            let lines_of = |point: &Point| -> Vec<Line> {
                let is_code = point.kind.is_code();
                let lines = point.all_lines().filter(|_| is_code);
                lines.map(|line| (file_of_line(&point.file).to_owned(), line)).collect()
            };
            let all: BTreeSet<Line> = points.iter().flat_map(lines_of).collect();
            let lines: Vec<Line> = all.into_iter().collect();
            let of_point = points.iter().map(|point| {
                let found = lines_of(point).into_iter();
                found.filter_map(|line| lines.binary_search(&line).ok()).collect()
            });
            let of_point = of_point.collect();
            let recorded = ExecutedProfile { lines, ..ExecutedProfile::default() };
            RecordedProfile { name: name.clone(), recorded, of_point, numbers: HashMap::new() }
        };
        Self { run, scenarios, profiles: profiles.iter().map(profile).collect(), size: 0 }
    }

    /// Adds a case. Only a case that matches counts: what else fails may fail before the change.
    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        let columns = (self.profiles.len() * self.scenarios.len()).max(1) as u64;
        let (Some(profile), Some(scenario)) =
            (self.profiles.get_mut(case.profile), self.scenarios.get(case.scenario))
        else {
            return;
        };
        if outcome.verdict != Verdict::Match || outcome.reached.is_empty() || self.size > MOST {
            return;
        }
        let mut bits = vec![0_u8; profile.recorded.lines.len().div_ceil(8)];
        for point in numbers(&outcome.reached) {
            for line in profile.of_point.get(point).into_iter().flatten() {
                bits[line / 8] |= 1 << (line % 8);
            }
        }
        let next = profile.numbers.len() as u32;
        let set = *profile.numbers.entry(bits).or_insert_with_key(|bits| {
            let digits: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
            self.size += digits.len();
            profile.recorded.sets.push(digits);
            next
        });
        self.size += 64;
        let cases = profile.recorded.cases.entry(scenario.clone()).or_default();
        cases.push((case.place / columns, set));
    }

    /// The record of all cases so far.
    pub fn record(self) -> Executed {
        let profiles = self.profiles.into_iter().map(|profile| (profile.name, profile.recorded));
        Executed {
            format: FORMAT.name.to_owned(),
            version: FORMAT.version,
            run: self.run,
            profiles: profiles.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_block::points::Kind;
    use tempfile::TempDir;

    fn point(line: u32, kind: Kind, lines: &str) -> Point {
        let (file, what, lines) = ("a.v".to_owned(), "if".to_owned(), lines.to_owned());
        Point { file, line, column: 1, kind, what, lines }
    }

    fn outcome(verdict: Verdict, reached: u8) -> Outcome {
        Outcome { reached: vec![reached], ..Outcome::without_cycles(verdict) }
    }

    /// Two profiles and two scenarios; the points cover lines 3, 4 and 5, line 4 and line 9; a
    /// toggle of line 7 is no execution.
    fn recorded() -> Executed {
        let points = vec![
            point(3, Kind::Line, "3-5"),
            point(4, Kind::Branch, "4"),
            point(7, Kind::Toggle, "7"),
            point(9, Kind::Branch, "9"),
        ];
        let profiles = ["p", "q"].map(|name| (name.to_owned(), points.clone()));
        let run = ExecutedBy {
            block: "b".to_owned(),
            rtl: "r".to_owned(),
            testbench: "t".to_owned(),
            seed: 1,
            packets: None,
            weights: BTreeMap::new(),
        };
        let scenarios = vec!["s".to_owned(), "t".to_owned()];
        let mut recorder = ExecutedRecorder::new(run, scenarios, &profiles);
        let crash = Verdict::Crashed { cycle: None, message: String::new() };
        for (place, verdict, reached) in [
            (0, Verdict::Match, 0b0001),
            (1, Verdict::Match, 0b1111),
            (4, Verdict::Match, 0b0110),
            (5, crash, 0b0001),
            (8, Verdict::Match, 0b0001),
            (12, Verdict::Match, 0),
        ] {
            let (profile, scenario) = (place as usize % 4 / 2, place as usize % 2);
            let case = Case { place, profile, scenario, name: String::new(), seed: 0 };
            recorder.add(&case, &outcome(verdict, reached));
        }
        recorder.record()
    }

    #[test]
    fn a_case_avoids_lines_that_it_did_not_execute() {
        let folder = TempDir::new().unwrap();
        recorded().write(folder.path()).unwrap();
        let executed = Executed::read(folder.path()).unwrap();
        let lines = |lines: &[u32]| -> BTreeSet<Line> {
            lines.iter().map(|line| ("a.v".to_owned(), *line)).collect()
        };
        for (blocks, expected) in [
            // Points 0 and 1 share line 4.
            (vec![lines(&[4])], vec![12]),
            (vec![lines(&[3])], vec![4, 12]),
            (vec![lines(&[9])], vec![0, 4, 8, 12]),
            (vec![lines(&[9]), lines(&[3])], vec![4, 12]),
            // Line 8 is not counted, and line 7 only by a toggle.
            (vec![lines(&[8, 9])], vec![0, 4, 8, 12]),
            (vec![lines(&[7, 8])], vec![]),
            (vec![lines(&[9]), lines(&[8])], vec![]),
        ] {
            let found = executed.avoiding("p", &blocks);
            let found = found.get("s").cloned().unwrap_or_default();
            let expected: Vec<u64> = expected.into_iter().map(|place: u64| place / 4).collect();
            assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{blocks:?}");
        }
        let avoiding = executed.avoiding("p", &[lines(&[3])]);
        assert!(avoiding["t"].is_empty(), "a crash is not recorded");
        assert!(executed.avoiding("q", &[lines(&[3])]).is_empty(), "nothing of q ran");
        assert!(executed.avoiding("other", &[lines(&[3])]).is_empty());
    }

    #[test]
    fn malformed_sets_avoid_nothing() {
        let mut executed = recorded();
        let line = BTreeSet::from([("a.v".to_owned(), 9)]);
        for broken in ["", "0", "zz", "é"] {
            for set in &mut executed.profiles.get_mut("p").unwrap().sets {
                *set = broken.to_owned();
            }
            assert!(
                executed.avoiding("p", std::slice::from_ref(&line))["s"].is_empty(),
                "{broken}"
            );
        }
        executed.profiles.get_mut("p").unwrap().sets.clear();
        assert!(executed.avoiding("p", &[line])["s"].is_empty());
    }
}
