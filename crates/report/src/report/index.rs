//! The index page of the runs of several blocks: a row for each.

use super::html::percent;
use super::page::{Fact, Head, Section, Tone, grouped, render};
use super::{Results, Timing, covered_bins, runs};
use crate::history::{History, Run};
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

/// A block.
#[derive(Serialize)]
struct Row {
    name: String,
    title: &'static str,
    /// Its page, if it is written.
    href: Option<String>,
    verdict: String,
    tone: Tone,
    failed: u64,
    cases: u64,
    coverage: String,
    seconds: String,
    speed: String,
    /// Coverage of earlier runs as an SVG path, and in words.
    trend: Option<String>,
    trend_text: String,
    /// The signature with the most cases.
    failure: Option<String>,
}

/// Renders the page of run directories below `folder`.
///
/// # Errors
/// [`Error::Environment`] if the template fails. Errors of the history.
pub fn page(
    folder: &Path,
    runs: &[PathBuf],
    history: Option<&History>,
    blocks: Blocks<'_>,
) -> Result<String, Error> {
    let rows = runs.iter().map(|run| row(folder, run, history, blocks));
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

fn row(
    folder: &Path,
    run: &Path,
    history: Option<&History>,
    blocks: Blocks<'_>,
) -> Result<Row, Error> {
    let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A run that is killed or still running has no results.
    let Ok(results) = Results::read(run, |_, _| ()) else {
        return Ok(Row {
            name,
            title: "",
            href: None,
            verdict: "NO RESULT".to_owned(),
            tone: Tone::Open,
            failed: 0,
            cases: 0,
            coverage: String::new(),
            seconds: String::new(),
            speed: String::new(),
            trend: None,
            trend_text: String::new(),
            failure: None,
        });
    };
    let timing = Timing::read(run).ok();
    let coverage =
        covered_bins(run)?.map(|(hit, reachable)| percent(hit, reachable)).unwrap_or_default();
    let runs = history.map(|history| history.runs(Some(&results.run.block))).unwrap_or_default();
    let (trend, trend_text) = trend(&runs);
    let verdict = results.verdict();
    let page = absolute(run).join(HTML);
    let largest = results.failures.iter().max_by_key(|group| group.count);
    Ok(Row {
        title: blocks.find(&results.run.block).map_or("", |block| block.title),
        href: Some(href(&relative(&absolute(folder), &page))),
        verdict: verdict.to_owned(),
        tone: Tone::of_verdict(verdict),
        failed: results.totals.failures(),
        cases: results.totals.cases,
        coverage,
        seconds: timing.as_ref().map_or_else(String::new, |time| format!("{:.1}", time.seconds)),
        speed: timing
            .map_or_else(String::new, |time| cosim_harness::value::short(time.cycles_per_second)),
        trend,
        trend_text,
        failure: largest.map(|group| group.signature.to_string()),
        name,
    })
}

/// The coverage of runs as an SVG path, and in words.
fn trend(runs: &[Run]) -> (Option<String>, String) {
    let share = |run: &Run| run.bins_hit as f64 / run.bins_reachable.max(1) as f64;
    let places = runs.iter().enumerate();
    let values: Vec<(f64, f64)> = places.map(|(place, run)| (place as f64, share(run))).collect();
    let text = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => format!(
            "{} runs from {} to {}: coverage {} to {}",
            runs.len(),
            runs::day(&first.ended),
            runs::day(&last.ended),
            percent(first.bins_hit, first.bins_reachable),
            percent(last.bins_hit, last.bins_reachable)
        ),
        _ => String::new(),
    };
    (super::html::path(&values), text)
}
