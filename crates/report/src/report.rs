//! Writes the reports of a run directory. `junit.xml` and `summary.md` depend on `results.json`
//! only, so that they are the same for merged shards and for the whole run. `report.html` also
//! shows `coverage.json`, `timing.json`, `failures/*.explained.json` and the history.

mod annotations;
mod code;
mod coverage;
mod diagram;
mod grading;
mod html;
mod junit;
mod markdown;
mod page;
mod proof;
mod reproduce;
mod waves;

use crate::history::Run;
use cosim_base::error::Error;
use cosim_base::files::{Sync, write_whole};
use cosim_regress::mutate;
use cosim_regress::runner::{HTML, JUNIT, MARKDOWN};
use std::path::{Path, PathBuf};

pub use annotations::{Ci, annotate};
pub use cosim_formats::run::{Entry, ProfileResults, Results, RunTiming};
pub use reproduce::Reproduce;

/// The summary of a run in Markdown.
fn page_of_run(results: &Results) -> String {
    markdown::page(results)
}

/// Writes the reports of a run directory with a complete `results.json`.
///
/// # Errors
/// [`Error::Write`] if a report cannot be written, after writing the others. Errors of
/// `results.json`.
pub fn write(folder: &Path, trend: &[Run]) -> Result<(), Error> {
    let mut junit = junit::Suites::default();
    let results = Results::read(folder, |header, entry| junit.add(header, entry))?;
    let path = folder.join(JUNIT);
    let first = write_whole(&path, junit.finish(&results)?.as_bytes(), Sync::Lazy);
    let path = folder.join(MARKDOWN);
    let second = write_whole(&path, page_of_run(&results).as_bytes(), Sync::Lazy);
    first.and(second).and(page(folder, &results, trend).map(drop))
}

/// Writes `report.html` of a run directory and returns its path. `trend` holds the runs of the
/// block, this one last.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails.
pub fn page(folder: &Path, results: &Results, trend: &[Run]) -> Result<PathBuf, Error> {
    let path = folder.join(HTML);
    write_whole(&path, html::page(folder, results, trend)?.as_bytes(), Sync::Lazy)?;
    Ok(path)
}

/// Writes `report.html` of a mutation analysis.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails.
pub fn write_grading(folder: &Path, report: &mutate::report::Report) -> Result<(), Error> {
    write_whole(&folder.join(HTML), grading::page(report)?.as_bytes(), Sync::Lazy)
}

/// Writes `report.html` of a proof.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails.
pub fn write_proof(folder: &Path, proof: &cosim_formats::proof::Proof) -> Result<(), Error> {
    write_whole(&folder.join(HTML), proof::page(proof)?.as_bytes(), Sync::Lazy)
}
