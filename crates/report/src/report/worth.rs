//! What a PASS is worth: the rules that the cases hit least, and the mutation score and the proofs
//! of the same RTL, if they lie beside the run.

use super::Results;
use super::page::percent;
use super::specification::Specification;
use crate::paths::{absolute, href, relative};
use cosim_formats::answers::{ANSWERS, AnswerRecord, Counts, ProverCommand, Subject};
use cosim_formats::coverage::{COVERAGE, Database};
use cosim_formats::mutation;
use cosim_formats::run::HTML;
use cosim_harness::harness::BlockInfo;
use serde::Serialize;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const RULES_SHOWN: usize = 5;
/// Number of folders that are searched for other results.
const MOST_FOLDERS: usize = 200;
/// Largest record that is read for one line, in bytes.
const MOST_RECORD: u64 = 16 << 20;

#[derive(Serialize)]
pub struct Worth {
    /// The rules that were hit least, in the profile with the fewest hits.
    least: Vec<Rule>,
    /// What is known of mutants and proofs, or how to know it.
    mutation: Known,
    proof: Known,
    /// Bins that no case hits, and bins that none can, by profile.
    bins: Vec<Bins>,
}

#[derive(Serialize)]
struct Rule {
    name: String,
    meaning: &'static str,
    profile: String,
    hits: u64,
    is_specified: bool,
}

/// A result of the same RTL.
#[derive(Serialize)]
struct Known {
    text: String,
    href: Option<String>,
    is_known: bool,
}

#[derive(Serialize)]
struct Bins {
    profile: String,
    percent: String,
    uncovered: u32,
    /// Unreachable bins, each with a reason on this page.
    unreachable: usize,
}

pub fn judge_run(
    folder: &Path,
    results: &Results,
    block: Option<&'static BlockInfo>,
    specification: Option<&Specification>,
) -> Worth {
    let here = absolute(folder);
    let beside = beside(&here);
    let same = |found: Option<(String, PathBuf)>, command: &str| match found {
        Some((text, other)) => Known {
            text,
            href: Some(href(&relative(&here, &other.join(HTML))))
                .filter(|_| other.join(HTML).is_file()),
            is_known: true,
        },
        None => Known {
            text: format!("not known for this RTL; cosim {command} --block {}", results.run.block),
            href: None,
            is_known: false,
        },
    };
    let mutation = beside.iter().find_map(|other| Some((mutants(other, results)?, other.clone())));
    let proof = beside.iter().find_map(|other| Some((proofs(other, results)?, other.clone())));
    Worth {
        least: least(results, block, specification),
        mutation: same(mutation, "mutate"),
        proof: same(proof, "prove"),
        bins: bins(folder),
    }
}

/// The rules with the fewest hits.
fn least(
    results: &Results,
    block: Option<&'static BlockInfo>,
    specification: Option<&Specification>,
) -> Vec<Rule> {
    let known = block.map_or(&[][..], |block| block.rules);
    let mut all: Vec<(u64, &String, &String)> = Vec::new();
    for profile in &results.profiles {
        let reachable =
            profile.rules.iter().filter(|(name, _)| !profile.unreachable.contains_key(*name));
        for (name, hits) in reachable {
            match all.iter_mut().find(|(_, other, _)| *other == name) {
                Some(worst) if *hits < worst.0 => (worst.0, worst.2) = (*hits, &profile.profile),
                Some(_) => {}
                None => all.push((*hits, name, &profile.profile)),
            }
        }
    }
    all.sort();
    let rule = |(hits, name, profile): (u64, &String, &String)| Rule {
        meaning: known.iter().find(|rule| rule.name == name).map_or("", |rule| rule.meaning),
        is_specified: specification.is_some_and(|one| one.rules.contains(name.as_str())),
        name: name.clone(),
        profile: profile.clone(),
        hits,
    };
    all.into_iter().take(RULES_SHOWN).map(rule).collect()
}

/// The folders beside a run, the newest first. Those of another user do not count.
fn beside(run: &Path) -> Vec<PathBuf> {
    let owner = |path: &Path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
    let own = owner(run);
    let entries = run.parent().and_then(|parent| fs::read_dir(parent).ok());
    let paths = entries.into_iter().flatten().take(MOST_FOLDERS).flatten();
    let mut found: Vec<_> = paths
        .map(|entry| entry.path())
        .filter(|path| path.symlink_metadata().is_ok_and(|kind| kind.is_dir()))
        .filter(|path| owner(path) == own)
        .map(|path| (path.metadata().and_then(|metadata| metadata.modified()).ok(), path))
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Whether a folder has a record that is small enough to read.
fn has_record(folder: &Path, name: &str) -> bool {
    let kind = folder.join(name).symlink_metadata();
    kind.is_ok_and(|kind| kind.is_file() && kind.len() <= MOST_RECORD)
}

/// The mutation score in a folder, if it is of the same block and RTL.
fn mutants(folder: &Path, results: &Results) -> Option<String> {
    let report =
        has_record(folder, mutation::RESULT).then(|| mutation::Report::read(folder).ok())??;
    let is_same = report.run.block == results.run.block && report.run.rtl == results.run.rtl;
    let score = report.score();
    (is_same && report.complete).then(|| {
        format!(
            "{} % of {} mutants killed, {} survived",
            score.percent_without_equivalent,
            score.counted(report.run.accept_believed),
            score.survived
        )
    })
}

/// The proofs in a folder, if they are of the same block and RTL.
fn proofs(folder: &Path, results: &Results) -> Option<String> {
    let read = || AnswerRecord::read_of(ProverCommand::Prove, folder).ok();
    let proof = has_record(folder, ANSWERS).then(read)??;
    let Subject { block, rtl, .. } = &proof.subject;
    let is_same = *block == results.run.block && rtl.identity == results.run.rtl;
    let counts = Counts::count_records([&proof]);
    let only =
        proof.subject.only.map_or_else(String::new, |only| format!(", of those with {only}"));
    is_same.then(|| format!("{counts}{only}"))
}

fn bins(folder: &Path) -> Vec<Bins> {
    let Ok(database) = Database::read(&folder.join(COVERAGE)) else { return Vec::new() };
    let profile = |name: &String| {
        let covered = database.covered(name);
        Bins {
            profile: name.clone(),
            percent: percent(covered.hit.into(), covered.reachable.into()),
            uncovered: covered.uncovered(),
            unreachable: covered.hits.len().saturating_sub(covered.reachable as usize),
        }
    };
    database.profiles.keys().map(profile).collect()
}
