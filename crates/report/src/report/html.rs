//! `report.html`: one self-contained page.

use super::cases::Cases;
use super::charts::{self, Chart};
use super::code::{self, Code};
use super::coverage::{self, Coverage};
use super::diagram::{self, Diagram};
use super::fields::{self, FieldRow};
use super::inspector;
use super::page::{Fact, Head, Json, Section, Tone, grouped, percent, render};
use super::runs::{RunLink, links};
use super::specification::{self, Specification};
use super::waves::{self, Waves};
use super::worth::{self, Worth};
use super::{Reproduce, Results, Timing};
use crate::history::Run;
use crate::paths;
use cosim_base::error::Error;
use cosim_base::files::LARGEST_INPUT;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_block::explanation::{Difference, Explanation, Suspect};
use cosim_formats::run;
use cosim_formats::run::{Cause, Group, Totals};
use cosim_harness::harness::{Blame, BlockInfo, Blocks};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/report.html");
/// Maximum number of failure groups with details.
const GROUPS_SHOWN: usize = 40;

#[derive(Serialize)]
struct Page<'a> {
    run: &'a cosim_formats::run::Header,
    totals: &'a Totals,
    failures_total: u64,
    verdict: &'static str,
    reason: Option<&'static str>,
    /// Whether sections behind the failures are folded.
    is_red: bool,
    timing: Option<Timing>,
    groups: Vec<Failure<'a>>,
    /// The files of the RTL, for the source beside waves.
    rtl: Option<Json>,
    /// What the PASS is worth; nothing for other verdicts.
    worth: Option<Worth>,
    /// The command that replays all failures.
    reproduce: Option<String>,
    more_groups: usize,
    profiles: Vec<Profile<'a>>,
    diagram: Option<Diagram>,
    rules: Vec<Rule<'a>>,
    coverage: Coverage,
    code: Option<Code>,
    cases: Json,
    cases_left_out: u64,
    charts: Vec<Chart>,
    runs: Vec<RunLink<'a>>,
    specification: Option<Specification>,
    compared: String,
    rtl_files: Vec<&'a str>,
}

/// Groups of failures with probably one cause.
#[derive(Serialize)]
struct Failure<'a> {
    signature: String,
    count: u64,
    group: &'a Group,
    same: Vec<&'a Group>,
    suspects: &'a [Suspect],
    /// The number of its other rules and signatures.
    also: usize,
    /// The rule of the golden model in the decisive cycle, if the specification has its text.
    rules: Vec<String>,
    notes: Vec<&'a str>,
    verdict: String,
    blame: BlameBadge,
    differences: Vec<FieldRow>,
    in_flight: Vec<String>,
    /// Numbers of the vector that do not matter.
    any: Vec<String>,
    waves: Option<Waves>,
    /// All signals, of the first failures.
    inspected: Option<Json>,
    reproduce: String,
}

/// Which side violates the specification.
#[derive(Serialize)]
struct BlameBadge {
    text: &'static str,
    tone: Tone,
    /// The checks that decide it, or why none does.
    reasons: Vec<String>,
}

impl BlameBadge {
    fn from_blame(blame: Option<&Blame>) -> Self {
        let Some(blame) = blame else {
            let reasons = vec!["the checks of the specification did not run on it".to_owned()];
            return Self { text: "unknown", tone: Tone::Open, reasons };
        };
        let tone = if blame.is_decided() { Tone::Bad } else { Tone::Open };
        Self { text: blame.badge(), tone, reasons: blame.reasons() }
    }
}

#[derive(Serialize)]
struct Profile<'a> {
    name: &'a str,
    fixes: &'a str,
    scenarios: Vec<Scenario<'a>>,
    counters: Vec<(&'a str, u64)>,
}

#[derive(Serialize)]
struct Scenario<'a> {
    name: &'a str,
    failed: u64,
    totals: &'a Totals,
}

#[derive(Serialize)]
struct Rule<'a> {
    name: &'a str,
    meaning: &'a str,
    is_specified: bool,
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
pub fn page(
    folder: &Path,
    results: &Results,
    cases: &Cases,
    trend: &[Run],
    blocks: Blocks<'_>,
) -> Result<String, Error> {
    let block = blocks.find(&results.run.block);
    let timing = Timing::read(folder).ok();
    let specification = block.and_then(specification::read_specification);
    let hits: Vec<(&str, &BTreeMap<String, u64>)> =
        results.profiles.iter().map(|one| (one.profile.as_str(), &one.rules)).collect();
    let called = program::called();
    let reproduce = Reproduce { program: &called, run: &results.run };
    let causes = run::causes(&results.failures);
    let groups: Vec<Failure<'_>> = causes
        .iter()
        .take(GROUPS_SHOWN)
        .enumerate()
        .map(|(place, cause)| {
            let is_inspected = place < inspector::MOST;
            failure(folder, results, cause, block, specification.as_ref(), is_inspected)
        })
        .collect();
    let number = |signature: &str| {
        let is_of = |cause: &Cause<'_>| {
            cause.groups().any(|group| group.signature.to_string() == signature)
        };
        causes.iter().position(is_of).filter(|place| *place < groups.len()).map(|place| place + 1)
    };
    let coverage =
        coverage::read_coverage(folder, &results.run.profiles, block, specification.as_ref())?;
    let more_groups = causes.len().saturating_sub(GROUPS_SHOWN);
    let worth = (results.verdict() == "PASS")
        .then(|| worth::judge_run(folder, results, block, specification.as_ref()));
    let is_inspected = groups.iter().any(|failure| failure.inspected.is_some());
    let page = Page {
        rtl: is_inspected.then(|| inspector::rtl(folder)).flatten(),
        worth,
        run: &results.run,
        totals: &results.totals,
        failures_total: results.totals.failures(),
        verdict: results.verdict(),
        reason: results.no_pass(),
        is_red: results.open_failures() > 0,
        timing,
        more_groups,
        profiles: results.profiles.iter().map(profile).collect(),
        diagram: block.and_then(|block| diagram::draw_diagram(block, &hits)),
        rules: rules(results, block, specification.as_ref()),
        code: code::read_code(folder)?,
        cases: cases.json(&results.run, number, reproduce),
        cases_left_out: cases.left_out(),
        charts: charts::draw_charts(trend, &paths::absolute(folder)),
        runs: links(trend, &paths::absolute(folder)),
        compared: results.run.comparison_text(),
        rtl_files: results.run.rtl_files.iter().map(|file| file.path.as_str()).collect(),
        groups,
        coverage,
        specification,
        reproduce: super::reproduce_all(folder),
    };
    render(&head(&page, block, reproduce), TEMPLATE, &page)
}

fn head(page: &Page<'_>, block: Option<&'static BlockInfo>, reproduce: Reproduce<'_>) -> Head {
    let Page { run, totals, failures_total, verdict, .. } = page;
    let failed = Fact::new(
        format!("{} of {}", grouped(*failures_total), grouped(totals.cases)),
        if totals.cases == 1 { "case failed" } else { "cases failed" },
    );
    let mut facts = vec![failed.tone(Tone::Bad, *failures_total > 0)];
    let (hit, reachable) = page.coverage.totals();
    let percent = (reachable > 0).then(|| percent(hit, reachable));
    if let Some(percent) = &percent {
        facts.push(Fact::new(percent, "coverage").tone(Tone::Open, hit < reachable));
    }
    let mut sections: Vec<Section> =
        page.worth.iter().map(|_| Section::new("worth", "Worth", "")).collect();
    sections.extend([Section::new(
        "failures",
        "Failures",
        (page.groups.len() + page.more_groups).to_string(),
    )]);
    sections.push(Section::new("coverage", "Coverage", percent.unwrap_or_default()));
    if let Some(code) = &page.code {
        sections.push(Section::new("code", "Code", code.percent()));
    }
    sections.push(Section::new("cases", "Cases", grouped(totals.cases)));
    sections.push(Section::new(
        "history",
        "History",
        match page.runs.len() {
            0 => String::new(),
            runs => runs.to_string(),
        },
    ));
    if page.specification.is_some() {
        sections.push(Section::new("specification", "Specification", ""));
    }
    sections.push(Section::new("run", "Run", ""));
    Head {
        title: format!("{verdict}: {}, seed {}", run.block, run.seed),
        verdict: (*verdict).to_owned(),
        tone: Tone::from_verdict(verdict),
        heading: format!("{}, seed {}", run.block, run.seed),
        about: block.map_or(String::new(), |block| block.title.to_owned()),
        facts,
        command: Some(match page.groups.first() {
            Some(failure) => reproduce.command(&failure.group.first.case),
            None => reproduce.whole_run(block),
        }),
        sections,
    }
}

fn profile(results: &super::ProfileResults) -> Profile<'_> {
    let scenarios = results.scenarios.iter();
    let counters = results.counters.iter();
    Profile {
        name: &results.profile,
        fixes: &results.fixes,
        scenarios: scenarios
            .map(|(name, totals)| Scenario { name, failed: totals.failures(), totals })
            .collect(),
        counters: counters.map(|(name, count)| (name.as_str(), *count)).collect(),
    }
}

fn failure<'a>(
    folder: &Path,
    results: &Results,
    cause: &Cause<'a>,
    block: Option<&BlockInfo>,
    specification: Option<&Specification>,
    is_inspected: bool,
) -> Failure<'a> {
    let group = cause.main;
    let explanation = group.explanation.as_ref().and_then(|file| explanation(folder, file));
    let called = program::called();
    let reproduce = Reproduce { program: &called, run: &results.run };
    let waves = explanation.as_ref().and_then(waves::draw_waves);
    let inspected = explanation.as_ref().filter(|_| is_inspected);
    let inspected = inspected.and_then(|it| inspector::waves(folder, group, it));
    let rules = explanation.iter().flat_map(|explanation| &explanation.golden);
    let rules = rules.flat_map(|step| &step.rules).map(|(name, _)| name.clone());
    let rules = rules.filter(|name| specification.is_some_and(|it| it.rules.contains(&**name)));
    let rules = rules.collect();
    let (differences, in_flight, any): (Vec<Difference>, Vec<String>, Vec<String>) = explanation
        .map_or_else(Default::default, |explanation| {
            (explanation.differences, explanation.in_flight, explanation.any)
        });
    Failure {
        signature: group.signature.to_string(),
        count: cause.count(),
        same: cause.variants.clone(),
        suspects: cause.suspects(),
        also: group.variants.len().saturating_sub(1) + cause.variants.len(),
        rules,
        verdict: group.first.verdict.to_string(),
        blame: BlameBadge::from_blame(group.first.judgement.as_ref()),
        differences: fields::different(&differences, block),
        in_flight,
        any,
        waves,
        inspected,
        reproduce: reproduce.command(&group.first.case),
        notes: group.notes(),
        group,
    }
}

/// The explanation of a failure, if the run directory has it.
pub fn explanation(folder: &Path, file: &RunFile) -> Option<Explanation> {
    let mut text = Vec::new();
    file.open(folder).ok()?.take(LARGEST_INPUT).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The rules in the order of the block; by name if this program does not contain the block.
fn rules<'a>(
    results: &'a Results,
    block: Option<&BlockInfo>,
    specification: Option<&Specification>,
) -> Vec<Rule<'a>> {
    let known = block.map_or(&[][..], |block| block.rules);
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
        is_specified: specification.is_some_and(|text| text.rules.contains(name)),
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
