//! Writes the reports of a run directory. `junit.xml` and `summary.md` depend on `results.json`
//! only, so that they are the same for merged shards and for the whole run. `report.html` also
//! shows `coverage.json`, `timing.json`, `failures/*.explained.json` and the history.

mod annotations;
mod answers;
mod cases;
mod charts;
mod code;
mod compare;
mod coverage;
mod diagram;
mod fields;
mod grading;
mod html;
mod index;
mod inspector;
mod junit;
mod markdown;
mod mutant_diff;
mod page;
mod reproduce;
mod runs;
mod signoff;
mod specification;
mod trends;
mod waves;
mod worth;

use crate::history::{History, Run};
use crate::paths::{absolute, word};
use cases::Cases;
use cosim_base::error::Error;
use cosim_base::files::{Sync, write_inside, write_whole};
use cosim_base::program;
use cosim_block::rtl::command_line;
use cosim_formats::answers::{ANSWERS, AnswerRecord};
use cosim_formats::mutation;
use cosim_formats::run::{HTML, JUNIT, MARKDOWN, RESULTS, RTL_COPY, runs_in};
use cosim_harness::harness::Blocks;
use std::path::{Path, PathBuf};

pub use annotations::{Ci, annotate, problems};
pub use compare::{Change, Comparison};
pub use cosim_formats::run::{Entry, ProfileResults, Results, Timing};
pub use inspector::READER;
pub use reproduce::Reproduce;
pub use signoff::{RuleEvidence, SignOff, Sources};

/// The summary of a run in Markdown, with commands of `program`.
fn page_of_run(results: &Results, program: &str, reproduce: Option<&str>) -> String {
    markdown::page(results, program, reproduce)
}

/// The command that replays all failures of a run from its directory, if it has its RTL.
fn reproduce_all(folder: &Path) -> Option<String> {
    let words = [&program::called(), "replay", &word(folder), "--recorded-rtl"].map(str::to_owned);
    folder.join(RTL_COPY).is_file().then(|| command_line(&words))
}

/// Writes the reports of a run directory with a complete `results.json`. `trend` holds the runs of
/// the block, this one last.
///
/// # Errors
/// [`Error::Write`] if a report cannot be written, after writing the others. Errors of
/// `results.json`.
pub fn write(folder: &Path, trend: &[Run], blocks: Blocks<'_>) -> Result<(), Error> {
    let (mut junit, mut cases) = (junit::Suites::default(), Cases::default());
    let results = Results::read(folder, |header, entry| {
        cases.add(&entry);
        junit.add(header, entry);
    })?;
    let first = write_inside(folder, JUNIT, junit.finish(&results)?.as_bytes());
    let second =
        write_inside(folder, MARKDOWN, page_of_run(&results, program::name(), None).as_bytes());
    first.and(second).and(page(folder, &results, &cases, trend, blocks).map(drop))
}

/// Writes `report.html` of a run directory, of runs of several blocks, of a mutation analysis, or
/// of answers of the provers again and returns its path.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails. Errors
/// of the results and of the history.
pub fn regenerate(
    folder: &Path,
    history: Option<&History>,
    blocks: Blocks<'_>,
) -> Result<PathBuf, Error> {
    let has = |name: &str| folder.join(name).exists();
    if !has(RESULTS) && (has(mutation::RESULT) || has(mutation::PARTIAL)) {
        write_grading(folder, &mutation::Report::read(folder)?, blocks)?;
        return Ok(folder.join(HTML));
    }
    if !has(RESULTS) && has(ANSWERS) {
        write_answers(folder, &AnswerRecord::read(folder)?, blocks)?;
        return Ok(folder.join(HTML));
    }
    let runs = if has(RESULTS) { Vec::new() } else { runs_in(folder, &[RESULTS])? };
    if !runs.is_empty() {
        for run in &runs {
            regenerate(run, history, blocks)?;
        }
        return write_index(folder, &runs, blocks);
    }
    let mut cases = Cases::default();
    let results = Results::read(folder, |_, entry| cases.add(&entry))?;
    let trend = history.map(|history| history.runs(Some(&results.run.block))).unwrap_or_default();
    page(folder, &results, &cases, &trend, blocks)
}

fn page(
    folder: &Path,
    results: &Results,
    cases: &Cases,
    trend: &[Run],
    blocks: Blocks<'_>,
) -> Result<PathBuf, Error> {
    write_inside(folder, HTML, html::page(folder, results, cases, trend, blocks)?.as_bytes())?;
    Ok(folder.join(HTML))
}

/// Writes the index page, `report.html`, of run directories below `folder` and returns its path.
///
/// # Errors
/// As [`regenerate`].
pub fn write_index(folder: &Path, runs: &[PathBuf], blocks: Blocks<'_>) -> Result<PathBuf, Error> {
    write_inside(folder, HTML, index::page(folder, runs, blocks)?.as_bytes())?;
    Ok(folder.join(HTML))
}

/// Writes the page of a history: charts, failures and runs of one block or of all.
///
/// # Errors
/// As [`regenerate`].
pub fn write_history(path: &Path, history: &History, block: Option<&str>) -> Result<(), Error> {
    let (runs, failures) = (history.runs(block), history.causes(block));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = absolute(parent.unwrap_or(Path::new(".")));
    write_whole(path, trends::page(&runs, &failures, &folder)?.as_bytes(), Sync::Lazy)
}

/// Writes `report.html` of a mutation analysis.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails.
pub fn write_grading(
    folder: &Path,
    report: &mutation::Report,
    blocks: Blocks<'_>,
) -> Result<(), Error> {
    write_inside(folder, HTML, grading::page(report, blocks)?.as_bytes())
}

/// Writes `report.html` of a command that asked the provers.
///
/// # Errors
/// [`Error::Write`] if it cannot be written. [`Error::Environment`] if the template fails.
pub fn write_answers(
    folder: &Path,
    record: &AnswerRecord,
    blocks: Blocks<'_>,
) -> Result<(), Error> {
    write_inside(folder, HTML, answers::page(folder, record, blocks)?.as_bytes())
}
