//! `report.html`: one self-contained page.

use super::code::{self, Code};
use super::coverage::{self, CoverageMaps};
use super::diagram::{self, Diagram};
use super::page::render;
use super::waves::{self, Waves};
use super::{Reproduce, Results, RunTiming};
use crate::history::Run;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, read_input};
use cosim_harness::harness::Blame;
use cosim_regress::engine::{Difference, Explanation};
use cosim_regress::program;
use cosim_regress::runner::{Group, Totals};
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/report.html");
/// Maximum number of failure groups with details.
const GROUPS_TOLD: usize = 40;
/// The size of the throughput plot.
const PLOT: (f64, f64) = (600.0, 90.0);

/// The context of the template.
#[derive(Serialize)]
struct Page<'a> {
    run: &'a cosim_regress::runner::Header,
    totals: &'a Totals,
    failures_total: u64,
    verdict: &'static str,
    reason: Option<&'static str>,
    title: Option<&'static str>,
    timing: Option<RunTiming>,
    plot: Option<String>,
    groups: Vec<Failure<'a>>,
    more_groups: usize,
    profiles: Vec<Profile<'a>>,
    rules: Vec<Rule<'a>>,
    coverage: Vec<CoverageMaps>,
    code: Option<Code>,
    trend: Trend<'a>,
    /// How the outputs were compared.
    compared: String,
    rtl_files: Vec<&'a str>,
}

/// Earlier runs from the history, and this one.
#[derive(Serialize)]
struct Trend<'a> {
    runs: usize,
    speed: Option<String>,
    coverage: Option<String>,
    failed: Option<String>,
    first: Option<&'a str>,
}

impl<'a> Trend<'a> {
    fn of(runs: &'a [Run]) -> Self {
        let line = |of: fn(&Run) -> f64| {
            let values: Vec<(f64, f64)> =
                runs.iter().enumerate().map(|(place, run)| (place as f64, of(run))).collect();
            path(&values)
        };
        Self {
            runs: runs.len(),
            speed: line(|run| run.cycles_per_second),
            coverage: line(|run| run.bins_hit as f64 / run.bins_reachable.max(1) as f64),
            failed: line(|run| run.failed as f64),
            first: runs.first().map(|run| run.ended.as_str()),
        }
    }
}

/// A group of failures.
#[derive(Serialize)]
struct Failure<'a> {
    signature: String,
    count: u64,
    group: &'a Group,
    notes: Vec<&'a str>,
    verdict: String,
    judgement: Vec<String>,
    differences: Vec<Difference>,
    in_flight: Vec<String>,
    waves: Option<Waves>,
    reproduce: String,
}

#[derive(Serialize)]
struct Profile<'a> {
    name: &'a str,
    fixes: &'a str,
    scenarios: Vec<Scenario<'a>>,
    counters: Vec<(&'a str, u64)>,
    diagram: Option<Diagram>,
}

#[derive(Serialize)]
struct Scenario<'a> {
    name: &'a str,
    failed: u64,
    totals: &'a Totals,
}

/// A rule and its hits in each profile.
#[derive(Serialize)]
struct Rule<'a> {
    name: &'a str,
    meaning: &'a str,
    cells: Vec<RuleCell<'a>>,
}

#[derive(Serialize)]
struct RuleCell<'a> {
    hits: u64,
    reason: Option<&'a str>,
}

/// Renders the page.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(folder: &Path, results: &Results, trend: &[Run]) -> Result<String, Error> {
    let block = program::find(&results.run.block);
    let timing = RunTiming::read(folder).ok();
    let profile = |profile: &'_ super::ProfileResults| {
        block.and_then(|block| diagram::of(block.info(), &profile.rules))
    };
    let page = Page {
        run: &results.run,
        totals: &results.totals,
        failures_total: results.totals.failures(),
        verdict: results.verdict(),
        reason: results.no_pass(),
        title: block.map(|block| block.info().title),
        plot: timing.as_ref().and_then(|timing| plot(&timing.progress)),
        timing,
        groups: results
            .failures
            .iter()
            .take(GROUPS_TOLD)
            .map(|group| failure(folder, results, group))
            .collect(),
        more_groups: results.failures.len().saturating_sub(GROUPS_TOLD),
        profiles: results
            .profiles
            .iter()
            .map(|results| Profile {
                name: &results.profile,
                fixes: &results.fixes,
                scenarios: results
                    .scenarios
                    .iter()
                    .map(|(name, totals)| Scenario { name, failed: totals.failures(), totals })
                    .collect(),
                counters: results
                    .counters
                    .iter()
                    .map(|(name, count)| (name.as_str(), *count))
                    .collect(),
                diagram: profile(results),
            })
            .collect(),
        rules: rules(results),
        coverage: coverage::of(folder)?,
        code: code::of(folder)?,
        trend: Trend::of(trend),
        compared: results.run.comparison_text(),
        rtl_files: results.run.rtl_files.iter().map(|file| file.path.as_str()).collect(),
    };
    let title = format!("{}: {}, seed {}", page.verdict, page.run.block, page.run.seed);
    render(&title, TEMPLATE, &page)
}

fn failure<'a>(folder: &Path, results: &Results, group: &'a Group) -> Failure<'a> {
    let text = group.explanation.as_ref().map(|path| read_input(&folder.join(path), LARGEST_INPUT));
    let explanation: Option<Explanation> =
        text.and_then(Result::ok).and_then(|text| serde_json::from_slice(&text).ok());
    let reproduce = Reproduce { program: program::name(), run: &results.run };
    let judgement = group.first.judgement.iter().flat_map(Blame::lines).collect();
    let waves = explanation.as_ref().and_then(waves::of);
    let (differences, in_flight) = explanation.map_or_else(Default::default, |explanation| {
        (explanation.differences, explanation.in_flight)
    });
    Failure {
        signature: group.signature.to_string(),
        count: group.count,
        verdict: group.first.verdict.to_string(),
        judgement,
        differences,
        in_flight,
        waves,
        reproduce: reproduce.command(&group.first.case),
        notes: group.notes(),
        group,
    }
}

/// The rules in the order of the block; by name if this program does not contain the block.
fn rules(results: &Results) -> Vec<Rule<'_>> {
    let known = program::find(&results.run.block).map_or(&[][..], |block| block.info().rules);
    let mut names: Vec<(&str, &str)> = known.iter().map(|rule| (rule.name, rule.meaning)).collect();
    for profile in &results.profiles {
        for name in profile.rules.keys().chain(profile.unreachable.keys()) {
            if !names.iter().any(|(known, _)| known == name) {
                names.push((name, ""));
            }
        }
    }
    let rule = |(name, meaning)| Rule {
        name,
        meaning,
        cells: results
            .profiles
            .iter()
            .map(|profile| RuleCell {
                hits: profile.rules.get(name).copied().unwrap_or(0),
                reason: profile.unreachable.get(name).map(String::as_str),
            })
            .collect(),
    };
    names.into_iter().map(rule).collect()
}

/// Cycles per second over time, as an SVG path.
fn plot(progress: &[(f64, u64)]) -> Option<String> {
    let speeds: Vec<(f64, f64)> = progress
        .windows(2)
        .map(|pair| {
            let (seconds, cycles) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            (pair[1].0, cycles as f64 / seconds.max(1e-9))
        })
        .collect();
    path(&speeds)
}

/// Values over time as an SVG path across the plot; `None` for fewer than two values.
fn path(values: &[(f64, f64)]) -> Option<String> {
    let end = values.last()?.0;
    let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if values.len() < 2 || end <= 0.0 {
        return None;
    }
    let height = |value: f64| if most > 0.0 { value / most * PLOT.1 } else { 0.0 };
    let points = values
        .iter()
        .map(|(time, value)| format!("{:.1} {:.1}", time / end * PLOT.0, PLOT.1 - height(*value)));
    Some(format!("M{}", points.collect::<Vec<_>>().join("L")))
}
