//! Decides whether a regression passed, whether it ran here or was merged from shards.

use cosim_base::error::Error;
use cosim_base::files::{Sync, write_whole};
use cosim_formats::coverage::Database;
use cosim_formats::coverage::code::{Sources, lcov};
use cosim_formats::run::{
    self, Conclusion, Day, End, Group, Header, RunDirectory, Tally, Timing, WaiverUse,
};
use cosim_harness::harness::{COMPARED, COMPARED_TRANSACTIONS, Comparison};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The results of a regression when its last case has ended.
pub struct Outcome {
    pub header: Header,
    pub tally: Tally,
    pub coverage: Database,
    /// The text of the RTL, if the run counts code coverage.
    pub sources: Option<Sources>,
    pub failures: Vec<Group>,
    pub end: End,
    /// The UTC day on which it ended, if the run has waivers.
    pub day: Option<Day>,
    pub timing: Timing,
    pub unwritten: WriteFailures,
}

impl Outcome {
    /// Decides whether the run passed, and writes its results. The directory stays locked until
    /// [`FinishedRun::release`].
    pub fn conclude(self, mut directory: RunDirectory) -> FinishedRun {
        let Self { header, tally, coverage, sources, end, day, timing, .. } = self;
        let (mut failures, mut unwritten) = (self.failures, self.unwritten);
        let written = sources.map(|sources| write_code(directory.folder(), &coverage, &sources));
        if let Some(Err(error)) = written {
            unwritten.add(&error);
        }
        // The day is that of the run, so a later merge gives the same result.
        if let Some(day) = &day {
            run::waive(&header.waivers, &mut failures, day);
        }
        // The coverage goal of shards is checked when they are merged.
        let goal = match (header.until_coverage, header.min_coverage) {
            (Some(percent), _) => Some(("--until-coverage", percent)),
            (None, percent) => percent.map(|percent| ("--min-coverage", percent)),
        };
        let goal = goal.filter(|_| header.is_whole());
        let goal = goal.map(|(option, percent)| Goal::new(option, percent, &coverage));
        let never_compared = match header.is_whole() && end.is_regular() {
            true => never_compared(&header, &coverage),
            false => BTreeMap::new(),
        };
        let passed = run::has_passed(&tally.totals, &failures, end)
            && never_compared.is_empty()
            && goal.as_ref().is_none_or(|goal| goal.short.is_empty())
            && coverage.reached().iter().all(|reached| reached.contradicted().next().is_none());
        let conclusion = Conclusion { end, day, passed };
        let results = directory.finish(&tally, &coverage, &failures, &conclusion, &timing);
        let results = results.map_err(|error| unwritten.add(&error)).ok();
        let folder = directory.folder().to_owned();
        let directory = Some(directory);
        FinishedRun {
            header,
            tally,
            coverage,
            goal,
            never_compared,
            passed,
            failures,
            folder,
            end,
            timing,
            results,
            unwritten,
            directory,
        }
    }
}

/// The output bits, or the transaction outputs, that no case compared, by profile.
fn never_compared(header: &Header, coverage: &Database) -> BTreeMap<String, Vec<String>> {
    let in_profile = |name: &String| {
        // One case per scenario, as in the rerun of a case, need not compare every bit.
        let mut missed = match header.cases {
            Some(1) => Vec::new(),
            _ => coverage.missed_in(name, COMPARED),
        };
        if !coverage.missed_in(name, COMPARED_TRANSACTIONS).is_empty() {
            let outputs = header.comparison.get(&Comparison::Transactions);
            missed.extend(outputs.into_iter().flatten().cloned());
        }
        (name.clone(), missed)
    };
    let missed = coverage.profiles.keys().map(in_profile);
    missed.filter(|(_, missed)| !missed.is_empty()).collect()
}

/// Writes the input files of `genhtml`.
fn write_code(folder: &Path, coverage: &Database, sources: &Sources) -> Result<(), Error> {
    sources.write(folder)?;
    let text = lcov::text(&coverage.reached());
    write_whole(&folder.join(lcov::INFO), text.as_bytes(), Sync::OnDisk)
}

/// A regression that has ended, with its results written.
pub struct FinishedRun {
    pub header: Header,
    pub tally: Tally,
    pub coverage: Database,
    pub goal: Option<Goal>,
    /// Output bits and transaction outputs that no case compared, by profile.
    pub never_compared: BTreeMap<String, Vec<String>>,
    /// Whether everything matched and the coverage goal was reached.
    pub passed: bool,
    pub failures: Vec<Group>,
    pub folder: PathBuf,
    pub end: End,
    pub timing: Timing,
    /// `results.json`, if it could be written.
    pub results: Option<PathBuf>,
    pub unwritten: WriteFailures,
    directory: Option<RunDirectory>,
}

impl FinishedRun {
    /// The verdict in one to three words. A run whose files are incomplete does not count as
    /// passed.
    pub fn verdict(&self) -> &'static str {
        match self.tally.totals.verdict(self.end, self.passed) {
            "PASS" if self.unwritten.count > 0 => NOT_WRITTEN,
            verdict => verdict,
        }
    }

    /// The number of cases that each waiver matched; empty for a shard.
    pub fn waivers(&self) -> Vec<WaiverUse> {
        match self.header.is_whole() {
            true => run::uses(&self.header.waivers, &self.failures),
            false => Vec::new(),
        }
    }

    /// Unlocks the run directory. Nothing more is written there. An interrupted run can be resumed.
    pub fn release(&mut self) {
        let Some(directory) = self.directory.take() else { return };
        if self.end != End::Interrupted {
            directory.remove_journal();
        }
        directory.release();
    }
}

/// The verdict of a run that passed but whose files are incomplete.
pub const NOT_WRITTEN: &str = "NOT WRITTEN";

#[derive(Debug, Serialize)]
pub struct Goal {
    #[serde(skip)]
    pub option: &'static str,
    /// In percent of the reachable bins.
    pub percent: f64,
    /// Profiles below it, with their coverage.
    pub short: BTreeMap<String, String>,
}

impl Goal {
    /// The coverage of reachable bins that every profile must reach, in percent.
    pub fn new(option: &'static str, percent: f64, coverage: &Database) -> Self {
        let covered = coverage.profiles.keys().map(|name| (name, coverage.covered(name)));
        let short = covered.filter(|(_, covered)| !covered.reaches(percent));
        let short = short.map(|(name, covered)| (name.clone(), covered.percent()));
        Self { option, percent, short: short.collect() }
    }
}

#[derive(Debug, Default, Serialize)]
pub struct WriteFailures {
    pub count: u64,
    pub first: Vec<String>,
    #[serde(skip)]
    pub all: Vec<String>,
}

impl WriteFailures {
    /// Errors that are listed individually.
    const SHOWN: usize = 3;

    pub fn add(&mut self, error: &Error) {
        self.count += 1;
        self.all.push(error.to_string());
        if self.first.len() < Self::SHOWN {
            self.first.push(error.to_string());
        }
    }
}
