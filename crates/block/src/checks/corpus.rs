//! Checks a folder of vectors.

use super::{CheckFailures, Checks, Result, failed, files, json};
use crate::program::unreachable;
use crate::rtl::Rtl;
use cosim_base::error::Error;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Verdicts in which golden model and RTL agree. Stimulus that is illegal in a profile may hang or
/// fail a check there.
const ALIKE: [&str; 3] = ["match", "hang", "check_failed"];

/// Replays vectors. Returns a report per vector and profile.
fn replay(checks: &Checks, vectors: &[PathBuf], more: &[&str]) -> Result<Vec<Value>> {
    let block = checks.info.name;
    // Some vectors were recorded on user RTL.
    let arguments = ["replay", "--format", "json", "--rtl", Rtl::BUILT_IN, "--block", block];
    let arguments = arguments.iter().chain(more).map(Path::new);
    let output = checks.run(arguments.chain(vectors.iter().map(PathBuf::as_path)))?;
    let reports: Vec<Value> =
        serde_json::from_slice(&output.stdout).map_err(|_| failed("replay", &output))?;
    let replayed: BTreeSet<PathBuf> = reports.iter().filter_map(path_of).collect();
    let all: BTreeSet<PathBuf> = vectors.iter().cloned().collect();
    if replayed != all {
        return Err(failed("replay: not every vector has a report", &output));
    }
    Ok(reports)
}

fn path_of(report: &Value) -> Option<PathBuf> {
    Some(PathBuf::from(report["vector"].as_str()?))
}

fn own_profile_problem(report: &Value) -> Option<String> {
    let does_what_it_says = report["is_recorded"] == true
        || report["is_recorded"].is_null() && report["outcome"]["verdict"] == "match";
    (!does_what_it_says)
        .then(|| format!("{}: not as recorded: {}", report["vector"], report["outcome"]))
}

fn other_profile_problem(report: &Value) -> Option<String> {
    let verdict = report["outcome"]["verdict"].as_str()?;
    let (vector, profile) = (&report["vector"], &report["fixes"]);
    (!ALIKE.contains(&verdict)).then(|| format!("{vector}: {verdict} in profile {profile}"))
}

/// The problem of a vector's description.
fn about(path: &Path) -> Result<Option<String>> {
    let vector = json(path)?;
    let about = vector["origin"]["about"].as_str().unwrap_or_default();
    let is_meaningful = about.split_whitespace().count() > 2 && !about.contains('\n');
    Ok((!is_meaningful).then(|| {
        format!("{}: `about` does not state the purpose of the vector: `{about}`", path.display())
    }))
}

pub fn check(checks: &Checks, folder: &Path) -> Result {
    let vectors = files(folder, "json")?;
    let mut wrong: Vec<String> = Vec::new();
    for path in &vectors {
        wrong.extend(about(path)?);
    }
    wrong.extend(replay(checks, &vectors, &[])?.iter().filter_map(own_profile_problem));
    wrong.extend(
        replay(checks, &vectors, &["--fixes", "all"])?.iter().filter_map(other_profile_problem),
    );
    CheckFailures::from_lines(wrong)
}

/// The rule in a vector's name, such as `f5b-middle.json`. The letter of a rule is lower case,
/// except for its family.
fn named_after<'a>(vector: &Path, rules: &[&'a str]) -> Option<&'a str> {
    let name = vector.file_stem()?.to_str()?;
    let first = name.split('-').next()?;
    rules.iter().copied().find(|rule| rule.eq_ignore_ascii_case(first))
}

pub fn rules(checks: &Checks, folder: &Path) -> Result {
    let info = checks.info;
    let profiles = info.profiles.iter();
    let unreachable: Vec<_> = profiles
        .map(|profile| unreachable(info, &profile.parameters))
        .collect::<std::result::Result<_, Error>>()?;
    let can_be_hit = |rule: &usize| unreachable.iter().any(|bins| !bins.contains_key(rule));
    let reachable: Vec<&str> =
        (0..info.rules.len()).filter(can_be_hit).map(|rule| info.rules[rule].name).collect();
    let (mut shown, mut wrong) = (BTreeSet::new(), Vec::new());
    for report in replay(checks, &files(folder, "json")?, &[])? {
        let Some(path) = path_of(&report) else { continue };
        // `f5b-off-middle` has the stimulus of `f5b-middle` in a profile without the rule.
        let is_off = path.file_stem().is_some_and(|name| name.to_string_lossy().contains("-off-"));
        let Some(rule) = named_after(&path, &reachable).filter(|_| !is_off) else { continue };
        if report["rules"][rule].as_u64().is_none_or(|hits| hits == 0) {
            wrong.push(format!("{} misses {rule}", path.display()));
        }
        shown.insert(rule);
    }
    let missing = reachable.iter().filter(|rule| !shown.contains(*rule));
    wrong.extend(missing.map(|rule| {
        format!("{rule}: no vector in {} has the name of this rule", folder.display())
    }));
    CheckFailures::from_lines(wrong)
}
