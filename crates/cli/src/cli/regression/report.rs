//! What a regression came to, whether it was run here or put together of its shards.

use crate::cli::INTERRUPTED;
use crate::cli::options::heading;
use crate::cli::summary::{Goal, Known, Summary, WriteFailures};
use crate::coverage::Database;
use crate::coverage::code::{Sources, lcov};
use crate::error::Error;
use crate::files::{Sync, write_whole};
use crate::harness::Case;
use crate::history::History;
use crate::report;
use crate::runner::{
    self, Conclusion, Day, End, Group, Header, RunDirectory, Tally, Timing, WaiverUse,
};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Exit code of a run that matched and could not be written down.
pub const UNWRITTEN: u8 = 3;

/// The files that know earlier failures.
#[derive(Debug, Clone, Default, Args)]
pub struct Earlier {
    /// Add the run to the history FILE and print which failures are known; see `cosim history`.
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT, hide_short_help = true)]
    history: Option<PathBuf>,
    /// Print which failures the history FILE knows, without changing it.
    #[arg(long, value_name = "FILE", conflicts_with = "history", help_heading = heading::OUTPUT, hide_short_help = true)]
    baseline: Option<PathBuf>,
}

impl Earlier {
    /// The option that was given.
    pub fn option(&self) -> Option<&'static str> {
        let history = self.history.is_some().then_some("--history");
        history.or(self.baseline.is_some().then_some("--baseline"))
    }

    /// Files that are of no use are refused before the work.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self) -> Result<(), Error> {
        self.history.as_deref().map(History::open).transpose()?;
        self.baseline.as_deref().map(History::existing).transpose()?;
        Ok(())
    }

    /// What earlier runs know of failures, by signature; `None` if there is no file of earlier runs.
    fn known(&self, block: &str, groups: &[Group]) -> Result<Option<Known>, Error> {
        let Some(path) = self.history.as_ref().or(self.baseline.as_ref()) else {
            return Ok(None);
        };
        let history = History::existing(path)?;
        let failures = history.failures(Some(block))?.into_iter();
        let mut seen: BTreeMap<_, _> =
            failures.map(|seen| (seen.signature.clone(), seen)).collect();
        let signatures = groups.iter().map(|group| group.signature.to_string());
        Ok(Some(signatures.map(|name| (name.clone(), seen.remove(&name))).collect()))
    }

    /// Adds the run to the history, if there is one, and writes its reports.
    fn report(&self, block: &str, folder: &Path) -> Result<(), Error> {
        let Some(path) = &self.history else { return report::write(folder, &[]) };
        let trend = History::open(path).and_then(|mut history| {
            history.add(folder)?;
            history.runs(Some(block))
        });
        // A history that cannot be written costs no report.
        let (trend, first) = match trend {
            Ok(trend) => (trend, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        first.and(report::write(folder, &trend))
    }
}

/// What is known of a regression when its last case has ended.
pub struct Outcome {
    /// What identifies the run.
    pub header: Header,
    /// Totals, rules and counters.
    pub tally: Tally,
    /// What was covered.
    pub coverage: Database,
    /// The text of the RTL, if it was counted what of it was reached.
    pub sources: Option<Sources>,
    /// Its failures.
    pub failures: Vec<Group>,
    /// Why it ended.
    pub end: End,
    /// The UTC day on which it ended, if the run has waivers.
    pub day: Option<Day>,
    /// How long it took.
    pub timing: Timing,
    /// What could not be written so far.
    pub unwritten: WriteFailures,
}

impl Outcome {
    /// Writes what is left to be written of its directory.
    pub fn conclude(self, mut directory: RunDirectory, earlier: &Earlier) -> Report {
        let Self { header, tally, coverage, sources, end, day, timing, .. } = self;
        let (mut failures, mut unwritten) = (self.failures, self.unwritten);
        let written = sources.map(|sources| write_code(directory.folder(), &coverage, &sources));
        if let Some(Err(error)) = written {
            unwritten.add(&error);
        }
        // The same whenever its parts are put together.
        if let Some(day) = &day {
            runner::waive(&header.waivers, &mut failures, day);
        }
        // What a part of a run is to cover is asked when the parts are put together.
        let goal = match (header.until_coverage, header.min_coverage) {
            (Some(percent), _) => Some(("--until-coverage", percent)),
            (None, percent) => percent.map(|percent| ("--min-coverage", percent)),
        };
        let goal = goal.filter(|_| header.is_whole());
        let goal = goal.map(|(option, percent)| Goal::new(option, percent, &coverage));
        let passed = runner::has_passed(&tally.totals, &failures, end)
            && goal.as_ref().is_none_or(Goal::is_met)
            && coverage.reached().iter().all(|reached| reached.contradicted().next().is_none());
        let conclusion = Conclusion { end, day, passed };
        let results = directory.finish(&tally, &coverage, &failures, &conclusion, &timing);
        let results = results.map_err(|error| unwritten.add(&error)).ok();
        let known = earlier.known(&header.block, &failures).unwrap_or_else(|error| {
            unwritten.add(&error);
            None
        });
        let folder = directory.folder().to_owned();
        if results.is_some()
            && let Err(error) = earlier.report(&header.block, &folder)
        {
            unwritten.add(&error);
        }
        // An interrupted run can be resumed.
        if end != End::Interrupted {
            directory.forget();
        }
        directory.release();
        Report {
            header,
            tally,
            coverage,
            goal,
            passed,
            failures,
            folder,
            end,
            timing,
            known,
            results,
            unwritten,
        }
    }
}

/// Writes what `genhtml` reads.
fn write_code(folder: &Path, coverage: &Database, sources: &Sources) -> Result<(), Error> {
    sources.write(folder)?;
    let text = lcov::text(&coverage.reached());
    write_whole(&folder.join(lcov::INFO), text.as_bytes(), Sync::OnDisk)
}

/// What a regression came to.
pub struct Report {
    /// What identifies the run.
    pub header: Header,
    /// Totals, rules and counters.
    pub tally: Tally,
    /// What was covered.
    coverage: Database,
    goal: Option<Goal>,
    /// Whether everything matched, and what was to be covered was.
    pub passed: bool,
    /// Its failures.
    pub failures: Vec<Group>,
    /// The run directory.
    pub folder: PathBuf,
    /// Why it ended.
    pub end: End,
    /// How long it took.
    pub timing: Timing,
    /// What earlier runs know of its failures.
    known: Option<Known>,
    results: Option<PathBuf>,
    unwritten: WriteFailures,
}

impl Report {
    /// Its summary; `command` shows a case again.
    pub fn summary<'a>(&'a self, command: &'a dyn Fn(&Case) -> String) -> Summary<'a> {
        Summary {
            header: &self.header,
            tally: &self.tally,
            coverage: &self.coverage,
            goal: self.goal.as_ref(),
            passed: self.passed,
            failures: &self.failures,
            known: self.known.as_ref(),
            command,
            folder: &self.folder,
            end: self.end,
            timing: &self.timing,
            results: self.results.clone(),
            unwritten: &self.unwritten,
        }
    }

    /// How many cases each waiver was about; nothing of a part of a run.
    pub fn waivers(&self) -> Vec<WaiverUse> {
        match self.header.is_whole() {
            true => runner::uses(&self.header.waivers, &self.failures),
            false => Vec::new(),
        }
    }

    /// Whether there is a `results.json`.
    pub fn is_written(&self) -> bool {
        self.results.is_some()
    }

    /// The exit code of `cosim run`.
    pub fn exit_code(&self) -> u8 {
        match self.end {
            End::Interrupted => INTERRUPTED,
            _ if !self.passed => 1,
            _ if self.unwritten.count > 0 => UNWRITTEN,
            _ => 0,
        }
    }
}
