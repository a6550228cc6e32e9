//! The last step of a run: writes its reports, and compares its failures with earlier runs.

use cosim_base::error::Error;
use cosim_formats::run::Group;
use cosim_harness::harness::Blocks;
use cosim_regress::blocks;
use cosim_regress::regression::FinishedRun;
use cosim_report::history::{FailureHistory, History, RecordedRun};
use cosim_report::report;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The history of each failure, by signature; `None` for new ones.
pub type Known = BTreeMap<String, Option<FailureHistory>>;

pub struct RunReport {
    pub run: FinishedRun,
    /// The history of its failures, if there is a history file.
    pub known: Option<Known>,
}

#[derive(Debug, Clone, Default)]
pub struct EarlierRuns {
    /// Add the run to the history FILE and print which failures are known; see `cosim history`.
    pub history: Option<PathBuf>,
    /// Print which failures the history FILE knows, without changing it.
    pub baseline: Option<PathBuf>,
}

impl EarlierRuns {
    /// Checks the files before the run starts.
    ///
    /// # Errors
    /// If a file is missing or unusable.
    pub fn check(&self) -> Result<(), Error> {
        self.history.as_deref().map(History::check).transpose()?;
        self.baseline.as_deref().map(History::existing).transpose()?;
        Ok(())
    }

    /// The history of failures, by signature; `None` if there is no history file.
    fn read_history(&self, block: &str, groups: &[Group]) -> Result<Option<Known>, Error> {
        let Some(path) = self.history.as_ref().or(self.baseline.as_ref()) else {
            return Ok(None);
        };
        let history = History::if_there(path)?;
        let failures = history.map(|history| history.failures(Some(block))).unwrap_or_default();
        let mut seen: BTreeMap<_, _> =
            failures.into_iter().map(|seen| (seen.signature.clone(), seen)).collect();
        let signatures = groups.iter().map(|group| group.signature.to_string());
        Ok(Some(signatures.map(|name| (name.clone(), seen.remove(&name))).collect()))
    }

    /// Writes the reports of a run, adds it to the history, and releases its directory.
    pub fn publish(&self, mut run: FinishedRun) -> RunReport {
        let known = self.read_history(&run.header.block, &run.failures).unwrap_or_else(|error| {
            run.unwritten.add(&error);
            None
        });
        if run.results.is_some()
            && let Err(error) = self.report(&run.header.block, &run.folder)
        {
            run.unwritten.add(&error);
        }
        run.release();
        RunReport { run, known }
    }

    /// Writes the index page of the runs of several blocks, which are in subfolders of `folder`.
    ///
    /// # Errors
    /// If the page cannot be written, or the history cannot be read.
    pub fn index(&self, folder: &Path, names: &[String]) -> Result<PathBuf, Error> {
        let runs: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        report::write_index(folder, &runs, Blocks(&blocks::infos()))
    }

    /// Adds the run to the history, if there is one, and writes its reports.
    fn report(&self, block: &str, folder: &Path) -> Result<(), Error> {
        let infos = blocks::infos();
        let blocks = Blocks(&infos);
        let Some(path) = &self.history else { return report::write(folder, &[], blocks) };
        let trend = RecordedRun::read(folder)
            .and_then(|run| Ok(History::record(path, vec![run])?.0.runs(Some(block))));
        // A history that cannot be written must not prevent the reports.
        let (trend, first) = match trend {
            Ok(trend) => (trend, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        first.and(report::write(folder, &trend, blocks))
    }
}
