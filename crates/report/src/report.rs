//! What is made of a run directory for others to read. `junit.xml` and `summary.md` are functions of `results.json`
//! alone, so the directory that shards were merged into has the same ones as that of the whole run; `report.html`
//! shows `coverage.json`, `timing.json`, `failures/*.explained.json` and the history, too.

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

/// The summary of a run as a page in Markdown.
fn page_of_run(results: &Results) -> String {
    markdown::page(results)
}

/// Writes the reports of a run directory whose `results.json` is whole.
///
/// # Errors
/// [`Error::Write`] for a report that cannot be written, after the others are; what is wrong with `results.json`.
pub fn write(folder: &Path, trend: &[Run]) -> Result<(), Error> {
    let mut junit = junit::Suites::default();
    let results = Results::read(folder, |header, entry| junit.add(header, entry))?;
    let path = folder.join(JUNIT);
    let first = write_whole(&path, junit.finish(&results)?.as_bytes(), Sync::Lazy);
    let path = folder.join(MARKDOWN);
    let second = write_whole(&path, page_of_run(&results).as_bytes(), Sync::Lazy);
    first.and(second).and(page(folder, &results, trend).map(drop))
}

/// Writes the page for people of a run directory; its path. `trend` has the runs of the block, this one last.
///
/// # Errors
/// [`Error::Write`]; [`Error::Environment`] if there is no page for these results.
pub fn page(folder: &Path, results: &Results, trend: &[Run]) -> Result<PathBuf, Error> {
    let path = folder.join(HTML);
    write_whole(&path, html::page(folder, results, trend)?.as_bytes(), Sync::Lazy)?;
    Ok(path)
}

/// Writes the page for people of a grading of a bench.
///
/// # Errors
/// [`Error::Write`]; [`Error::Environment`] if there is no page for it.
pub fn write_grading(folder: &Path, report: &mutate::report::Report) -> Result<(), Error> {
    write_whole(&folder.join(HTML), grading::page(report)?.as_bytes(), Sync::Lazy)
}

/// Writes the page for people of a proof.
///
/// # Errors
/// [`Error::Write`]; [`Error::Environment`] if there is no page for it.
pub fn write_proof(folder: &Path, proof: &cosim_formats::proof::Proof) -> Result<(), Error> {
    write_whole(&folder.join(HTML), proof::page(proof)?.as_bytes(), Sync::Lazy)
}
