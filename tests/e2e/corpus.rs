//! The corpus in `vectors/`: every vector is valid JSON, matches, and hits the rule in its name.
//! Adding a vector needs no code.

use crate::common::{checks, code, files, json, project, run, text};
use cosim::PROGRAM;
use cosim_block::blocks::AnyBlock;
use cosim_core::checks::Result;
use cosim_core::harness::Profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The corpus of a block.
fn corpus_of(block: &str) -> PathBuf {
    project().join("vectors").join(block)
}

/// The corpus of each block, by its name.
fn corpora() -> Vec<(&'static str, Vec<PathBuf>)> {
    let corpus =
        |block: &&dyn AnyBlock| (block.info().name, files(&corpus_of(block.info().name), "json"));
    PROGRAM.blocks.iter().map(corpus).collect()
}

#[test]
fn each_block_has_its_corpus_and_there_is_no_other() {
    let entries = fs::read_dir(project().join("vectors")).unwrap().map(|entry| entry.unwrap());
    let folders: BTreeSet<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let blocks = PROGRAM.blocks.iter().map(|block| block.info().name.to_owned()).collect();
    assert_eq!(folders, blocks);
}

fn names(vectors: &[PathBuf]) -> Vec<&str> {
    vectors.iter().map(|path| path.to_str().unwrap()).collect()
}

fn replay(vectors: &[PathBuf]) -> Vec<Value> {
    let output = run(["replay", "--format", "json"].into_iter().chain(names(vectors)));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

#[test]
fn every_vector_does_what_it_records_in_every_profile() -> Result {
    for block in PROGRAM.blocks {
        checks(block.info().name).corpus(corpus_of(block.info().name))?;
    }
    Ok(())
}

#[test]
fn every_rule_that_can_be_hit_has_a_vector_that_hits_it() -> Result {
    for block in PROGRAM.blocks {
        checks(block.info().name).rules_have_vectors(corpus_of(block.info().name))?;
    }
    Ok(())
}

/// The rule in a vector's name, such as `f5b-off-..`. The letter of a rule is lower case, except
/// for its family.
fn rule_of<'a>(vector: &Path, rules: &'a [String]) -> Option<&'a String> {
    let name = vector.file_stem()?.to_str()?;
    let first = name.split('-').next()?.to_uppercase();
    rules.iter().find(|rule| rule.to_uppercase() == first)
}

fn is_off(vector: &Path) -> bool {
    vector.file_stem().unwrap().to_str().unwrap().contains("-off-")
}

/// The rules that legal stimulus can hit in some profile, and in the profile without fixes.
struct Reachable {
    anywhere: Vec<String>,
    without_fixes: BTreeSet<String>,
    /// Whether any profile has fixes. A block without errata has none.
    has_fixes: bool,
}

fn reachable(block: &dyn AnyBlock) -> Reachable {
    let rules = |profile: &Profile| -> BTreeSet<String> {
        let all = block.info().rules.iter().enumerate();
        let unreachable = block.info().unreachable(&profile.parameters).unwrap();
        all.filter(|(rule, _)| !unreachable.contains_key(rule))
            .map(|(_, rule)| rule.name.to_owned())
            .collect()
    };
    let profiles = block.info().profiles;
    let spec = profiles.iter().find(|profile| profile.parameters.fixes() == 0).unwrap();
    let anywhere: BTreeSet<String> = profiles.iter().flat_map(rules).collect();
    Reachable {
        anywhere: anywhere.into_iter().collect(),
        without_fixes: rules(spec),
        has_fixes: profiles.iter().any(|profile| profile.parameters.fixes() != 0),
    }
}

/// The vectors of a pair differ only in their fixes: the rule is hit with the fix, and not without
/// it.
#[test]
fn a_vector_with_a_fix_off_has_the_stimulus_of_the_one_with_it_on() {
    for block in PROGRAM.blocks {
        let (name, vectors) = (block.info().name, files(&corpus_of(block.info().name), "json"));
        let Reachable { anywhere: rules, without_fixes, has_fixes } = reachable(*block);
        let mut paired = BTreeSet::new();
        let off: Vec<PathBuf> = vectors.iter().filter(|path| is_off(path)).cloned().collect();
        let reports = if off.is_empty() { Vec::new() } else { replay(&off) };
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
        let added = || rules.iter().filter(|rule| !without_fixes.contains(*rule));
        assert_eq!(added().next().is_some(), has_fixes, "{name}: fixes add rules");
        // Other rules that need a fix are rows of the source that are unreachable without it.
        let of_fixes = added().filter(|rule| rule.starts_with('F')).cloned().collect();
        assert_eq!(paired, of_fixes, "{name}: each rule that needs a fix has a pair");
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
    for wrong in [r#"{}"#, r#"{"format": "cosim-vector", "version": 3}"#] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}

/// After a change of the types, run `cosim schema vector > vectors/schema.json`.
#[test]
fn the_schema_is_that_of_the_types() {
    let output = run(["schema", "vector"]);
    assert_eq!(code(&output), 0);
    let generated: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(generated, json(&project().join("vectors/schema.json")));
}
