//! Reads `results.json` case by case, so that memory does not grow with its length.

use super::{
    Day, End, Group, Header, LostWorkers, RESULTS, RESULTS_FORMAT, RESULTS_OLDEST, RESULTS_VERSION,
    TIMING, Totals,
};
use cosim_base::checksum;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, open_input, read_input_text};
use cosim_harness::harness::Verdict;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::BufReader;
use std::path::Path;

/// The results of a run without its cases.
#[derive(Debug, Clone)]
pub struct Results {
    /// The header of the run.
    pub run: Header,
    /// Results by profile.
    pub profiles: Vec<ProfileResults>,
    /// Totals of all cases.
    pub totals: Totals,
    /// The groups of failures.
    pub failures: Vec<Group>,
    /// The checksum of `coverage.json`; since version 5.
    pub coverage: Option<String>,
    /// Why the run ended.
    pub ended: End,
    /// The UTC day that waivers were checked against, if the run has waivers; since version 5.
    pub day: Option<Day>,
    /// Whether it passed.
    pub passed: bool,
}

/// The results of one profile.
#[derive(Debug, Clone, Deserialize)]
pub struct ProfileResults {
    /// The profile's name.
    pub profile: String,
    /// The mask of fixes.
    pub fixes: String,
    /// Totals by scenario.
    pub scenarios: Vec<(String, Totals)>,
    /// Hit count of each reachable rule.
    #[serde(default)]
    pub rules: BTreeMap<String, u64>,
    /// Unreachable rules: no legal stimulus hits them. With the reason.
    #[serde(default)]
    pub unreachable: BTreeMap<String, String>,
    /// The scoreboard's counters.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
}

/// The contents of `timing.json` that are read back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunTiming {
    /// When the run ended, in UTC.
    #[serde(default)]
    pub ended: String,
    /// Wall-clock seconds for running cases.
    pub seconds: f64,
    /// Wall-clock seconds for minimising failures and writing waves.
    #[serde(default)]
    pub failures_seconds: f64,
    /// Cycles compared per second.
    pub cycles_per_second: f64,
    /// Number of threads.
    pub threads: usize,
    /// The commit that was checked out.
    #[serde(default)]
    pub commit: Option<String>,
    /// Seconds since the start, and cycles compared until then.
    #[serde(default)]
    pub progress: Vec<(f64, u64)>,
    /// The sandbox of the models.
    #[serde(default)]
    pub sandbox: Option<String>,
    /// Workers lost to causes outside the RTL.
    #[serde(default)]
    pub lost_workers: LostWorkers,
    /// Number of cases whose scoreboard and coverage results came from the cache of an earlier run.
    #[serde(default)]
    pub judged_before: u64,
}

impl RunTiming {
    /// Reads `timing.json` of a run directory.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(TIMING);
        let text = read_input_text(&path, LARGEST_INPUT)?;
        serde_json::from_str(&text).map_err(|error| Error::json(&path, &error))
    }
}

/// One entry of `cases`: a failed case, or a row of cases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A case that failed.
    Failed {
        /// Its position in the plan.
        place: u64,
        /// The number of its signature.
        group: u64,
        /// Its name.
        name: String,
        /// The verdict.
        #[serde(flatten)]
        verdict: Verdict,
        /// Cycles compared.
        cycles: u64,
        /// Packets taken.
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
    /// [`Error::File`] if they are missing, [`Error::Input`] if they are malformed.
    pub fn read(folder: &Path, mut each: impl FnMut(&Header, Entry)) -> Result<Self, Error> {
        let path = folder.join(RESULTS);
        let file = open_input(&path)?;
        let mut text = serde_json::Deserializer::from_reader(BufReader::new(file));
        let results = text.deserialize_map(ResultsVisitor(&mut each)).and_then(|results| {
            text.end()?;
            Ok(results)
        });
        let (version, results) = results.map_err(|error| Error::json(&path, &error))?;
        if version > RESULTS_OLDEST {
            checksum::verify_file(&path)?;
        }
        Ok(results)
    }

    /// Parses results without their cases.
    ///
    /// # Errors
    /// The JSON error.
    pub fn without_cases(text: &str) -> Result<Self, serde_json::Error> {
        let mut text = serde_json::Deserializer::from_str(text);
        let (_, results) = text.deserialize_map(ResultsVisitor(&mut |_, _| ()))?;
        text.end()?;
        Ok(results)
    }
}

/// Reads the top level of `results.json`.
struct ResultsVisitor<'a>(&'a mut dyn FnMut(&Header, Entry));

impl<'de> Visitor<'de> for ResultsVisitor<'_> {
    /// The version, and the results.
    type Value = (u64, Results);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the results of a cosim run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut version, mut run, mut profiles, mut totals) = (None, None, None, None);
        let (mut failures, mut ended, mut passed) = (None, None, None);
        let (mut coverage, mut day) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => is(&map.next_value::<String>()?, &RESULTS_FORMAT.to_owned())?,
                "version" => version = Some(readable(map.next_value()?)?),
                "run" => run = Some(map.next_value::<Header>()?),
                "cases" => {
                    let Some(run) = &run else {
                        return Err(de::Error::custom("`cases` stand before `run`"));
                    };
                    map.next_value_seed(Cases { run, each: self.0 })?;
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
        let results = Results {
            run: run.ok_or_else(|| missing("run"))?,
            profiles: profiles.ok_or_else(|| missing("profiles"))?,
            totals: totals.ok_or_else(|| missing("totals"))?,
            failures: failures.ok_or_else(|| missing("failures"))?,
            ended: ended.ok_or_else(|| missing("ended"))?,
            passed: passed.ok_or_else(|| missing("passed"))?,
            coverage,
            day,
        };
        Ok((version.ok_or_else(|| missing("version"))?, results))
    }
}

fn is<T: PartialEq + fmt::Display, E: de::Error>(found: &T, expected: &T) -> Result<(), E> {
    let message = format_args!("found {found}, expected {expected}");
    if found == expected { Ok(()) } else { Err(E::custom(message)) }
}

fn readable<E: de::Error>(version: u64) -> Result<u64, E> {
    if (RESULTS_OLDEST..=RESULTS_VERSION).contains(&version) {
        return Ok(version);
    }
    Err(E::custom(format_args!(
        "version is {version}; this program reads {RESULTS_OLDEST} to {RESULTS_VERSION}"
    )))
}

/// Reads the list of cases.
struct Cases<'a, 'b> {
    run: &'a Header,
    each: &'b mut dyn FnMut(&Header, Entry),
}

impl<'de> DeserializeSeed<'de> for Cases<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cases<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cases")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element()? {
            (self.each)(self.run, entry);
        }
        Ok(())
    }
}
