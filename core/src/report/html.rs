//! `report.html`: one file for a person, without network.

use super::coverage::{self, Covered};
use super::diagram::{self, Diagram};
use super::waves::{self, Waves};
use super::{Reproduce, Results};
use crate::engine::{Difference, Explanation};
use crate::error::Error;
use crate::harness::Judgement;
use crate::program;
use crate::runner::{Group, TIMING, Totals};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/report.html");
/// Groups of failures that are told in full.
const GROUPS_TOLD: usize = 40;
/// The size of the plot of throughput.
const PLOT: (f64, f64) = (600.0, 90.0);

/// Everything that the template shows.
#[derive(Serialize)]
struct Page<'a> {
    run: &'a crate::runner::Header,
    totals: &'a Totals,
    failures_total: u64,
    verdict: &'static str,
    reason: Option<&'static str>,
    title: Option<&'static str>,
    timing: Option<Timing>,
    plot: Option<String>,
    groups: Vec<Failure<'a>>,
    more_groups: usize,
    profiles: Vec<Profile<'a>>,
    rules: Vec<Rule<'a>>,
    coverage: Vec<Covered>,
    rtl_files: Vec<&'a str>,
}

/// What is read of `timing.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Timing {
    seconds: f64,
    cycles_per_second: f64,
    threads: usize,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    progress: Vec<(f64, u64)>,
}

/// A group of failures.
#[derive(Serialize)]
struct Failure<'a> {
    signature: String,
    count: u64,
    group: &'a Group,
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

/// A rule, with what it came to in each profile.
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

/// The page.
///
/// # Errors
/// [`Error::Environment`] if the template does not take what it is given.
pub fn page(folder: &Path, results: &Results) -> Result<String, Error> {
    let block = program::find(&results.run.block);
    let timing: Option<Timing> = fs::read_to_string(folder.join(TIMING))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    let profile = |profile: &'_ super::results::ProfileResults| {
        block.and_then(|block| diagram::of(block, &profile.rules))
    };
    let page = Page {
        run: &results.run,
        totals: &results.totals,
        failures_total: results.totals.failures(),
        verdict: results.verdict(),
        reason: results.no_pass(),
        title: block.map(|block| block.title()),
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
        coverage: coverage::of(folder),
        rtl_files: results.run.rtl_files.iter().map(|file| file.path.as_str()).collect(),
    };
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_trim_blocks(true);
    templates.set_lstrip_blocks(true);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates
        .render_named_str("report.html", TEMPLATE, &page)
        .map_err(|error| Error::Environment(format!("report.html: {error:#}")))
}

fn failure<'a>(folder: &Path, results: &Results, group: &'a Group) -> Failure<'a> {
    let text = group.explanation.as_ref().map(|path| fs::read_to_string(folder.join(path)));
    let explanation: Option<Explanation> =
        text.and_then(Result::ok).and_then(|text| serde_json::from_str(&text).ok());
    let reproduce = Reproduce { program: program::name(), run: &results.run };
    let judgement = group.first.judgement.iter().flat_map(Judgement::lines).collect();
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
        group,
    }
}

/// The rules in the block's order, if this program has the block, else by name.
fn rules(results: &Results) -> Vec<Rule<'_>> {
    let known = program::find(&results.run.block).map_or(&[][..], |block| block.rules());
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

/// Cycles per second over time, as a path.
fn plot(progress: &[(f64, u64)]) -> Option<String> {
    let speeds: Vec<(f64, f64)> = progress
        .windows(2)
        .map(|pair| {
            let (seconds, cycles) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            (pair[1].0, cycles as f64 / seconds.max(1e-9))
        })
        .collect();
    let end = speeds.last()?.0;
    let most = speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    if speeds.len() < 2 || most <= 0.0 {
        return None;
    }
    let points = speeds.iter().map(|(seconds, speed)| {
        format!("{:.1} {:.1}", seconds / end * PLOT.0, PLOT.1 - speed / most * PLOT.1)
    });
    Some(format!("M{}", points.collect::<Vec<_>>().join("L")))
}
