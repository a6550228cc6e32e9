//! The index page of the runs of several blocks: a row for each.

use super::page::{Fact, Head, Section, Tone, grouped, percent, render};
use super::{Results, Timing};
use crate::history::covered_bins;
use crate::paths::{absolute, href, relative};
use cosim_base::error::Error;
use cosim_formats::run::HTML;
use cosim_harness::harness::Blocks;
use serde::Serialize;
use std::path::{Path, PathBuf};

const TEMPLATE: &str = include_str!("../../templates/index.html");

#[derive(Serialize)]
struct Page {
    rows: Vec<Row>,
}

#[derive(Default, Serialize)]
struct Row {
    name: String,
    title: &'static str,
    href: Option<String>,
    verdict: String,
    tone: Tone,
    failed: u64,
    cases: u64,
    coverage: String,
    seconds: String,
    speed: String,
    /// The signature with the most cases.
    failure: Option<String>,
}

/// Renders the page of run directories below `folder`.
///
/// # Errors
/// [`Error::Environment`] if the template fails. Errors of the coverage.
pub fn page(folder: &Path, runs: &[PathBuf], blocks: Blocks<'_>) -> Result<String, Error> {
    let rows = runs.iter().map(|run| row(folder, run, blocks));
    let mut rows = rows.collect::<Result<Vec<Row>, Error>>()?;
    // Failing blocks first; the same order whoever lists the runs.
    let order = |row: &Row| match row.tone {
        Tone::Bad => 0,
        Tone::Open => 1,
        Tone::Good => 2,
    };
    rows.sort_by(|one, other| (order(one), &one.name).cmp(&(order(other), &other.name)));
    let count = |tone: Tone| rows.iter().filter(|row| row.tone == tone).count();
    let (bad, good) = (count(Tone::Bad), count(Tone::Good));
    let (verdict, tone) = match () {
        () if bad > 0 => ("FAIL", Tone::Bad),
        () if good == rows.len() => ("PASS", Tone::Good),
        () => ("INCOMPLETE", Tone::Open),
    };
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
    let (failed, cases) = (sum(|row| row.failed), sum(|row| row.cases));
    let head = Head {
        title: format!("{verdict}: {} blocks", rows.len()),
        verdict: verdict.to_owned(),
        tone,
        heading: format!("{} blocks", rows.len()),
        facts: vec![
            Fact::new(format!("{good} of {}", rows.len()), "blocks passed"),
            Fact::new(format!("{} of {}", grouped(failed), grouped(cases)), "cases failed")
                .tone(Tone::Bad, failed > 0),
        ],
        sections: vec![Section::new("blocks", "Blocks", rows.len().to_string())],
        ..Head::default()
    };
    render(&head, TEMPLATE, &Page { rows })
}

fn row(folder: &Path, run: &Path, blocks: Blocks<'_>) -> Result<Row, Error> {
    let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A run that is killed or still running has no results.
    let Ok(results) = Results::read(run, |_, _| ()) else {
        return Ok(Row { name, verdict: "NO RESULT".to_owned(), ..Row::default() });
    };
    let timing = Timing::read(run).ok();
    let coverage =
        covered_bins(run)?.map(|(hit, reachable)| percent(hit, reachable)).unwrap_or_default();
    let verdict = results.verdict();
    let page = absolute(run).join(HTML);
    let largest = results.failures.iter().max_by_key(|group| group.count);
    Ok(Row {
        title: blocks.find(&results.run.block).map_or("", |block| block.title),
        href: Some(href(&relative(&absolute(folder), &page))),
        verdict: verdict.to_owned(),
        tone: Tone::from_verdict(verdict),
        failed: results.totals.failures(),
        cases: results.totals.cases,
        coverage,
        seconds: timing.as_ref().map_or_else(String::new, |time| format!("{:.1}", time.seconds)),
        speed: timing
            .map_or_else(String::new, |time| cosim_harness::value::short(time.cycles_per_second)),
        failure: largest.map(|group| group.signature.to_string()),
        name,
    })
}
