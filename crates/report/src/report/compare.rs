//! Two runs of a block side by side: failures, coverage and speed, as text data and as a page.

use super::page::{Fact, Head, Section, Tone, percent, render};
use super::{Results, Timing};
use crate::paths::{absolute, href, relative};
use cosim_base::error::{Error, codes};
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_formats::run::{End, Group, HTML, Header};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/compare.html");
/// Number of bins that are named per profile.
const BINS_NAMED: usize = 100;

#[derive(Debug, Serialize)]
pub struct Comparison {
    pub block: String,
    /// The runs, the older one first.
    pub runs: [ComparedRun; 2],
    /// What the runs do not have in common, as in `seed: 1 and 2`.
    pub settings: Vec<String>,
    pub failures: Vec<ComparedFailure>,
    /// The coverage of profiles that both runs have.
    pub coverage: Vec<ComparedCoverage>,
}

#[derive(Debug, Serialize)]
pub struct ComparedRun {
    /// Its directory, as named.
    pub folder: String,
    pub verdict: &'static str,
    pub cases: u64,
    pub failed: u64,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// The commit of the working directory.
    pub commit: Option<String>,
    pub cycles_per_second: Option<f64>,
    /// Seconds for running cases.
    pub seconds: Option<f64>,
    #[serde(skip)]
    page: Option<String>,
}

/// What became of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Only the newer run has it.
    New,
    Still,
    /// The older run has it, and the newer one did not run its case.
    NotRun,
    /// The newer run ran its case, and does not have it.
    Gone,
}

impl Change {
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Still => "still",
            Self::NotRun => "not run",
            Self::Gone => "gone",
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ComparedFailure {
    pub change: Change,
    pub signature: String,
    pub verdict: String,
    pub cases: [u64; 2],
}

#[derive(Debug, Serialize)]
pub struct ComparedCoverage {
    pub profile: String,
    /// Bins that each run hit, and that could be hit.
    pub bins: [(u32, u32); 2],
    /// Bins that only the older run hit.
    pub lost: Vec<String>,
    /// Bins that only the newer run hit.
    pub gained: Vec<String>,
    /// Further bins of both lists.
    pub more: usize,
}

impl Comparison {
    /// Compares two run directories. Only a run that ran the first case of a failure again, or
    /// all cases of the same plan, shows that it is gone.
    ///
    /// # Errors
    /// Errors of the results and of the coverage. [`Error::File`] for runs of other blocks.
    pub fn compare_runs(folders: [&Path; 2]) -> Result<Self, Error> {
        let [old, new] = [read(folders[0])?, read(folders[1])?];
        if old.run.block != new.run.block {
            return Err(Error::File {
                code: codes::OTHER_RUN,
                path: folders[1].to_owned(),
                message: format!(
                    "is a run of block {}, and {} is one of {}",
                    new.run.block,
                    folders[0].display(),
                    old.run.block
                ),
            });
        }
        let run = |folder: &Path, results: &Results| {
            let timing = Timing::read(folder).ok();
            let page = absolute(folder).join(HTML);
            ComparedRun {
                folder: folder.display().to_string(),
                verdict: results.verdict(),
                cases: results.totals.cases,
                failed: results.totals.failures(),
                rtl: results.run.rtl.clone(),
                commit: timing.as_ref().and_then(|timing| timing.commit.clone()),
                cycles_per_second: timing.as_ref().map(|timing| timing.cycles_per_second),
                seconds: timing.as_ref().map(|timing| timing.seconds),
                page: page.is_file().then(|| page.display().to_string()),
            }
        };
        Ok(Self {
            block: old.run.block.clone(),
            runs: [run(folders[0], &old), run(folders[1], &new)],
            settings: settings(&old.run, &new.run),
            failures: failures(&old, &new),
            coverage: coverage(folders)?,
        })
    }

    pub fn count(&self, change: Change) -> usize {
        self.failures.iter().filter(|failure| failure.change == change).count()
    }

    /// Whether the newer run has a failure that the older one lacks.
    pub fn is_worse(&self) -> bool {
        self.count(Change::New) > 0
    }

    /// The change of the speed in percent, of runs to whose time no failure and no early end
    /// counts.
    pub fn speed_change(&self) -> Option<f64> {
        self.runs.iter().all(|run| run.verdict == "PASS").then_some(())?;
        let [old, new] = self.runs.each_ref().map(|run| run.cycles_per_second);
        let (old, new) = (old.filter(|old| *old > 0.0)?, new?);
        Some((new / old - 1.0) * 100.0)
    }

    /// Renders the page, whose links are relative to `folder`.
    ///
    /// # Errors
    /// [`Error::Environment`] if the template fails.
    pub fn page(&self, folder: &Path) -> Result<String, Error> {
        let here = absolute(folder);
        let link = |run: &ComparedRun| {
            let page = run.page.as_ref()?;
            Some(href(&relative(&here, Path::new(page))))
        };
        let count = |change: Change| self.count(change);
        let (lost, gained) = self
            .coverage
            .iter()
            .fold((0, 0), |(lost, gained), one| (lost + one.lost.len(), gained + one.gained.len()));
        let (verdict, tone) = match () {
            () if self.is_worse() => ("WORSE", Tone::Bad),
            () if count(Change::Still) + count(Change::NotRun) + lost > 0 => ("SAME", Tone::Open),
            () => ("NOT WORSE", Tone::Good),
        };
        let head = Head {
            title: format!("{verdict}: two runs of {}", self.block),
            verdict: verdict.to_owned(),
            tone,
            heading: format!("{}, two runs", self.block),
            facts: vec![
                Fact::new(count(Change::New).to_string(), "new failures")
                    .tone(Tone::Bad, self.is_worse()),
                Fact::new(count(Change::Gone).to_string(), "gone"),
                Fact::new(lost.to_string(), "bins lost").tone(Tone::Open, lost > 0),
                Fact::new(gained.to_string(), "bins gained"),
            ],
            sections: vec![
                Section::new("failures", "Failures", self.failures.len().to_string()),
                Section::new("coverage", "Coverage", ""),
                Section::new("runs", "Runs", ""),
            ],
            ..Head::default()
        };
        let percents: Vec<[String; 2]> = self
            .coverage
            .iter()
            .map(|one| one.bins.map(|(hit, all)| percent(hit.into(), all.into())))
            .collect();
        let page = Page {
            comparison: self,
            words: self.failures.iter().map(|failure| failure.change.word()).collect(),
            percents,
            links: self.runs.each_ref().map(link),
            speed: self.speed_change().map(|percent| format!("{percent:+.1} %")),
        };
        render(&head, TEMPLATE, &page)
    }
}

#[derive(Serialize)]
struct Page<'a> {
    comparison: &'a Comparison,
    /// The words for the changes of the failures.
    words: Vec<&'static str>,
    percents: Vec<[String; 2]>,
    links: [Option<String>; 2],
    speed: Option<String>,
}

fn read(folder: &Path) -> Result<Results, Error> {
    Results::read(folder, |_, _| ())
}

/// What two runs of a block do not have in common.
fn settings(old: &Header, new: &Header) -> Vec<String> {
    let cases = |run: &Header| match run.cases {
        Some(cases) => format!("{cases} of each scenario"),
        None => "unlimited".to_owned(),
    };
    let packets = |run: &Header| run.packets.map_or("drawn".to_owned(), |all| all.to_string());
    let all: [(&str, [String; 2]); 9] = [
        ("seed", [old.seed.to_string(), new.seed.to_string()]),
        ("profiles", [old.profiles.join(", "), new.profiles.join(", ")]),
        ("scenarios", [old.scenarios.join(", "), new.scenarios.join(", ")]),
        ("weights of scenarios", [old.weights.clone(), new.weights.clone()]),
        ("cases", [cases(old), cases(new)]),
        ("packets", [packets(old), packets(new)]),
        ("shard", [old.shard.to_string(), new.shard.to_string()]),
        ("build", [old.build.clone(), new.build.clone()]),
        ("RTL", [old.rtl.clone(), new.rtl.clone()]),
    ];
    let differ = all.into_iter().filter(|(_, [old, new])| old != new);
    differ.map(|(name, [old, new])| format!("{name}: {old} and {new}")).collect()
}

/// The failures of both runs, by change and number of cases.
fn failures(old: &Results, new: &Results) -> Vec<ComparedFailure> {
    let by_signature = |results: &Results| -> BTreeMap<String, Group> {
        let groups = results.failures.iter();
        groups.map(|group| (group.signature.to_string(), group.clone())).collect()
    };
    let (by_old, by_new) = (by_signature(old), by_signature(new));
    let names: BTreeSet<&String> = by_old.keys().chain(by_new.keys()).collect();
    let mut all: Vec<ComparedFailure> = names
        .into_iter()
        .filter_map(|name| {
            let (before, after) = (by_old.get(name), by_new.get(name));
            let change = match (before, after) {
                (None, _) => Change::New,
                (Some(_), Some(_)) => Change::Still,
                (Some(group), None) if ran_again(group, old, new) => Change::Gone,
                _ => Change::NotRun,
            };
            Some(ComparedFailure {
                change,
                signature: name.clone(),
                verdict: after.or(before)?.first.verdict.to_string(),
                cases: [before, after].map(|group| group.map_or(0, |group| group.count)),
            })
        })
        .collect();
    all.sort_by_key(|one| (one.change, std::cmp::Reverse(one.cases[0].max(one.cases[1]))));
    all
}

/// Whether the newer run ran the first case of a failure with the same stimulus.
fn ran_again(group: &Group, old: &Results, new: &Results) -> bool {
    let (of_old, of_new) = (&old.run, &new.run);
    let mut parts = group.first.case.split('/').skip(1);
    let mut next = || parts.next().unwrap_or_default();
    let (profile, scenario, index) = (next(), next(), next());
    let index = index.parse::<u64>().ok();
    let has_index = index.is_some_and(|index| {
        let end = of_new.cases.map(|cases| of_new.first.saturating_add(cases));
        index >= of_new.first && end.is_some_and(|end| index < end)
    });
    of_old.seed == of_new.seed
        && of_old.weights == of_new.weights
        && of_old.packets == of_new.packets
        && of_new.is_whole()
        && new.ended == End::Complete
        && of_new.profiles.iter().any(|known| known == profile)
        && of_new.scenarios.iter().any(|known| known == scenario)
        && has_index
}

/// The coverage of the profiles that both runs have.
fn coverage(folders: [&Path; 2]) -> Result<Vec<ComparedCoverage>, Error> {
    let database = |folder: &Path| {
        let path = folder.join(COVERAGE);
        path.exists().then(|| Database::read(&path)).transpose()
    };
    let (Some(old), Some(new)) = (database(folders[0])?, database(folders[1])?) else {
        return Ok(Vec::new());
    };
    let uncovered = |database: &Database, profile: &str| {
        let covered = database.covered(profile);
        let bins = database.uncovered(profile, &covered);
        let names: BTreeSet<String> = bins.into_iter().map(|bin| database.bin_name(bin)).collect();
        ((covered.hit, covered.reachable), names)
    };
    let both = old.profiles.keys().filter(|profile| new.profiles.contains_key(*profile));
    Ok(both
        .map(|profile| {
            let (bins_of_old, missed_by_old) = uncovered(&old, profile);
            let (bins_of_new, missed_by_new) = uncovered(&new, profile);
            let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
                one.difference(other).cloned().collect()
            };
            let mut lost = only(&missed_by_new, &missed_by_old);
            let mut gained = only(&missed_by_old, &missed_by_new);
            let all = lost.len() + gained.len();
            lost.truncate(BINS_NAMED);
            gained.truncate(BINS_NAMED);
            ComparedCoverage {
                profile: profile.clone(),
                bins: [bins_of_old, bins_of_new],
                more: all - lost.len() - gained.len(),
                lost,
                gained,
            }
        })
        .collect())
}
