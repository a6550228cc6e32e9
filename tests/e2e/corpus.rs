//! The corpus in `vectors/`: every vector is legal JSON, matches, and hits the rule it is named after.
//! Adding a vector needs no code.

use crate::common::{code, files, json, project, run, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The corpus of each block, by folder.
fn corpora() -> Vec<(String, Vec<PathBuf>)> {
    let folder = project().join("vectors");
    let mut corpora: Vec<(String, Vec<PathBuf>)> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .map(|path| {
            let block = path.file_name().unwrap().to_string_lossy().into_owned();
            (block, files(&path, "json"))
        })
        .collect();
    corpora.sort();
    let blocks: Vec<String> = corpora.iter().map(|(block, _)| block.clone()).collect();
    let mut expected: Vec<&str> = cosim::PROGRAM.blocks.iter().map(|block| block.name()).collect();
    expected.sort_unstable();
    assert_eq!(blocks, expected, "each block has its corpus");
    corpora
}

fn names(vectors: &[PathBuf]) -> Vec<&str> {
    vectors.iter().map(|path| path.to_str().unwrap()).collect()
}

fn replay(vectors: &[PathBuf], more: &[&str]) -> Vec<Value> {
    let arguments = ["replay", "--format", "json"];
    let output = run(arguments.iter().chain(more).copied().chain(names(vectors)));
    let reports: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    let replayed: BTreeSet<&str> =
        reports.iter().map(|report| report["vector"].as_str().unwrap()).collect();
    assert_eq!(replayed, names(vectors).into_iter().collect(), "every vector has a report");
    reports
}

#[test]
fn every_vector_does_what_it_says_under_its_own_fixes() {
    for (block, vectors) in corpora() {
        for report in replay(&vectors, &[]) {
            let path = report["vector"].as_str().unwrap();
            let recorded = &json(Path::new(path))["recorded"];
            if recorded.is_null() {
                assert_eq!(report["outcome"]["verdict"], "match", "{block}: {report}");
            } else {
                assert_eq!(report["is_recorded"], true, "{block}: {report}");
            }
        }
    }
}

/// What is illegal in a profile may hang there or fail a check; the models must not differ.
#[test]
fn no_vector_tells_the_models_apart_in_any_profile() {
    for (_, vectors) in corpora() {
        for report in replay(&vectors, &["--fixes", "all"]) {
            let verdict = report["outcome"]["verdict"].as_str().unwrap();
            assert!(["match", "hang", "check_failed"].contains(&verdict), "{report}");
        }
    }
}

/// The rule a vector is named after, as in `f5b-off-..`: the letter of a rule is small, its family is not.
fn rule_of<'a>(vector: &Path, rules: &'a [String]) -> Option<&'a String> {
    let name = vector.file_stem()?.to_str()?;
    let first = name.split('-').next()?.to_uppercase();
    rules.iter().find(|rule| rule.to_uppercase() == first)
}

fn is_off(vector: &Path) -> bool {
    vector.file_stem().unwrap().to_str().unwrap().contains("-off-")
}

/// What a legal stimulus can hit of a block: in some profile, and in the one without any fix.
struct Reachable {
    anywhere: Vec<String>,
    without_fixes: BTreeSet<String>,
    /// Whether there is a profile with fixes: a block without errata has none.
    has_fixes: bool,
}

fn reachable(block: &str) -> Reachable {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    run(["run", "--block", block, "--cases", "1", "--packets", "1", "--out", out]);
    let profiles = json(&folder.path().join("results.json"))["profiles"].clone();
    let profiles = profiles.as_array().unwrap();
    let rules = |profile: &Value| -> BTreeSet<String> {
        profile["rules"].as_object().unwrap().keys().cloned().collect()
    };
    let spec = profiles.iter().find(|profile| profile["fixes"] == "0x00").unwrap();
    let anywhere: BTreeSet<String> = profiles.iter().flat_map(rules).collect();
    Reachable {
        anywhere: anywhere.into_iter().collect(),
        without_fixes: rules(spec),
        has_fixes: profiles.iter().any(|profile| profile["fixes"] != "0x00"),
    }
}

#[test]
fn every_rule_that_can_be_hit_has_a_vector_that_hits_it() {
    for (block, vectors) in corpora() {
        let rules = reachable(&block).anywhere;
        let mut shown = BTreeSet::new();
        for report in replay(&vectors, &[]) {
            let path = Path::new(report["vector"].as_str().unwrap());
            if let (Some(rule), false) = (rule_of(path, &rules), is_off(path)) {
                assert!(report["rules"][rule].as_u64() > Some(0), "{path:?} misses {rule}");
                shown.insert(rule.clone());
            }
        }
        let missing: Vec<&String> = rules.iter().filter(|rule| !shown.contains(*rule)).collect();
        assert!(missing.is_empty(), "{block}: no vector is named after {missing:?}");
    }
}

/// A pair differs in its fixes alone: with the fix the rule is hit, without it it is not.
#[test]
fn a_vector_with_a_fix_off_has_the_stimulus_of_the_one_with_it_on() {
    for (block, vectors) in corpora() {
        let Reachable { anywhere: rules, without_fixes, has_fixes } = reachable(&block);
        let mut paired = BTreeSet::new();
        let off: Vec<PathBuf> = vectors.iter().filter(|path| is_off(path)).cloned().collect();
        let reports = if off.is_empty() { Vec::new() } else { replay(&off, &[]) };
        for report in reports {
            let path = Path::new(report["vector"].as_str().unwrap());
            let rule = rule_of(path, &rules).unwrap_or_else(|| panic!("{path:?} names no rule"));
            assert!(report["rules"][rule].is_null(), "{path:?} hits {rule}");
            let stimulus = &json(path)["stimulus"];
            let has_it = |other: &&PathBuf| {
                rule_of(other, &rules) == Some(rule)
                    && !is_off(other)
                    && json(other)["stimulus"] == *stimulus
            };
            assert!(vectors.iter().any(|other| has_it(&other)), "{path:?} has no counterpart");
            paired.insert(rule.clone());
        }
        // Others that need a fix are rows of the source which nothing enters without it.
        let is_of_a_fix = |rule: &&String| rule.starts_with('F') && !without_fixes.contains(*rule);
        let of_fixes: BTreeSet<String> = rules.iter().filter(is_of_a_fix).cloned().collect();
        assert_eq!(!of_fixes.is_empty(), has_fixes, "{block}: fixes add rules");
        assert_eq!(paired, of_fixes, "{block}: each rule that needs a fix has a pair");
    }
}

#[test]
fn every_vector_fits_the_schema() {
    let schema = json(&project().join("vectors/schema.json"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (_, vectors) in corpora() {
        for path in vectors {
            let errors: Vec<String> =
                validator.iter_errors(&json(&path)).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{path:?}: {errors:?}");
        }
    }
    for wrong in [r#"{}"#, r#"{"format": "cosim-vector", "version": 2}"#] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}

/// `cosim list --vector-schema > vectors/schema.json` after a change of the types.
#[test]
fn the_schema_is_that_of_the_types() {
    let output = run(["list", "--vector-schema"]);
    assert_eq!(code(&output), 0);
    let generated: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(generated, json(&project().join("vectors/schema.json")));
}

#[test]
fn every_vector_says_why_it_is_there() {
    for (_, vectors) in corpora() {
        for path in vectors {
            let about = json(&path)["origin"]["about"].as_str().unwrap().to_owned();
            assert!(about.len() > 15 && !about.contains('\n'), "{path:?}: `{about}`");
        }
    }
}
