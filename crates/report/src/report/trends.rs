//! The page of a history: charts of each block, failures, and all runs.

use super::charts::{self, Chart};

use super::page::{Fact, Head, Section, Tone, grouped, render};
use super::runs::{self, RunLink, links};
use crate::history::{FailureHistory, FailureStatus, Run};
use cosim_base::error::Error;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/history.html");

#[derive(Serialize)]
struct Page<'a> {
    blocks: Vec<Block<'a>>,
    failures: Vec<Failure<'a>>,
    runs: Vec<RunLink<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    name: &'a str,
    runs: usize,
    first: &'a str,
    last: &'a str,
    charts: Vec<Chart>,
}

#[derive(Serialize)]
struct Failure<'a> {
    failure: &'a FailureHistory,
    more: u64,
    first: String,
    last: String,
    is_open: bool,
    /// Open, reopened or fixed.
    status: &'static str,
}

/// Renders the page of these runs, oldest first, and failures. Links are relative to `folder`.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(runs: &[Run], failures: &[FailureHistory], folder: &Path) -> Result<String, Error> {
    let mut of_blocks: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for run in runs {
        of_blocks.entry(&run.block).or_default().push(run.clone());
    }
    let failures = failures.iter().map(|failure| Failure {
        failure,
        more: failure.more,
        first: runs::minute(&failure.first.0),
        last: runs::minute(&failure.last.0),
        is_open: failure.status != FailureStatus::Fixed,
        status: failure.status.word(),
    });
    let mut failures: Vec<Failure<'_>> = failures.collect();
    failures.sort_by_key(|failure| !failure.is_open);
    let blocks = of_blocks.iter().map(|(name, runs)| Block {
        name,
        runs: runs.len(),
        first: runs::day(&runs[0].ended),
        last: runs::day(&runs[runs.len() - 1].ended),
        charts: charts::draw_charts(runs, folder),
    });
    let blocks: Vec<Block<'_>> = blocks.collect();
    let failing = of_blocks.values().filter_map(|runs| runs.last());
    let failing = failing.filter(|run| run.verdict != "PASS").count();
    let open = failures.iter().filter(|failure| failure.is_open).count();
    let (verdict, tone) = match (runs.len(), failing) {
        (0, _) => ("EMPTY", Tone::Open),
        (_, 0) => ("PASS", Tone::Good),
        _ => ("FAIL", Tone::Bad),
    };
    let head = Head {
        title: format!("History: {} runs", runs.len()),
        verdict: verdict.to_owned(),
        tone,
        heading: "Last run of each block".to_owned(),
        facts: vec![
            Fact::new(format!("{} of {}", blocks.len() - failing, blocks.len()), "blocks pass")
                .tone(Tone::Bad, failing > 0),
            Fact::new(open.to_string(), if open == 1 { "open failure" } else { "open failures" })
                .tone(Tone::Bad, open > 0),
            Fact::new(grouped(runs.len() as u64), "runs"),
        ],
        sections: std::iter::once(("block-1", "Trends", blocks.len()))
            .filter(|_| !blocks.is_empty())
            .chain([("failures", "Failures", failures.len()), ("runs", "Runs", runs.len())])
            .map(|(id, title, count)| Section::new(id, title, count.to_string()))
            .collect(),
        ..Head::default()
    };
    render(&head, TEMPLATE, &Page { blocks, failures, runs: links(runs, folder) })
}
