//! The corpus in `vectors/`: every vector is valid JSON, matches, and hits the rule in its name.
//! Adding a vector needs no code.

use crate::common::{Place, checks, files, json, project};
use cosim::PROGRAM;
use cosim_block::blocks::AnyBlock;
use cosim_core::checks::Result;
use cosim_core::harness::Profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The corpus of a block.
fn corpus_of(block: &dyn AnyBlock) -> PathBuf {
    project().join("vectors").join(block.info().name)
}

#[test]
fn each_block_has_its_corpus_and_there_is_no_other() {
    let entries = fs::read_dir(project().join("vectors")).unwrap().map(|entry| entry.unwrap());
    let folders: BTreeSet<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    assert_eq!(folders, PROGRAM.blocks.iter().map(|block| corpus_of(*block)).collect());
}

#[test]
fn every_vector_does_what_it_records_and_every_rule_that_can_be_hit_has_one() -> Result {
    for block in PROGRAM.blocks {
        let checks = checks(block.info().name);
        checks.corpus(corpus_of(*block))?;
        checks.rules_have_vectors(corpus_of(*block))?;
    }
    Ok(())
}

/// The rule in a vector's name, such as `f5b-off-..`. The letter of a rule is lower case, except
/// for its family.
fn rule_of<'a>(vector: &Path, rules: &'a BTreeSet<String>) -> Option<&'a String> {
    let name = vector.file_stem()?.to_str()?;
    let first = name.split('-').next()?.to_uppercase();
    rules.iter().find(|rule| rule.to_uppercase() == first)
}

fn is_off(vector: &Path) -> bool {
    vector.file_stem().unwrap().to_str().unwrap().contains("-off-")
}

/// The rules that legal stimulus can hit in a profile.
fn reachable(block: &dyn AnyBlock, profile: &Profile) -> BTreeSet<String> {
    let unreachable = block.info().unreachable(&profile.parameters).unwrap();
    let all = block.info().rules.iter().enumerate();
    let reachable = all.filter(|(rule, _)| !unreachable.contains_key(rule));
    reachable.map(|(_, rule)| rule.name.to_owned()).collect()
}

/// The vectors of a pair differ only in their fixes: the rule is hit with the fix, and not without
/// it.
#[test]
fn a_vector_with_a_fix_off_has_the_stimulus_of_the_one_with_it_on() {
    for block in PROGRAM.blocks {
        let (name, vectors) = (block.info().name, files(&corpus_of(*block), "json"));
        let profiles = block.info().profiles;
        let (with, without): (Vec<&Profile>, Vec<&Profile>) =
            profiles.iter().partition(|profile| profile.parameters.fixes() != 0);
        let rules: BTreeSet<String> =
            profiles.iter().flat_map(|profile| reachable(*block, profile)).collect();
        let without_fixes = reachable(*block, without[0]);
        let off: Vec<&PathBuf> = vectors.iter().filter(|path| is_off(path)).collect();
        let words: Vec<String> = off.iter().map(|path| path.display().to_string()).collect();
        let mut paired = BTreeSet::new();
        let reports: Vec<Value> = match off.is_empty() {
            true => Vec::new(),
            false => {
                let replay = format!("replay --format json {}", words.join(" "));
                serde_json::from_slice(&Place::new().run(&replay).stdout).unwrap()
            }
        };
        for report in reports {
            let path = Path::new(report["vector"].as_str().unwrap());
            let rule = rule_of(path, &rules).unwrap_or_else(|| panic!("{path:?} names no rule"));
            assert!(report["rules"][rule].is_null(), "{path:?} hits {rule}");
            let stimulus = &json(path)["stimulus"];
            let mut pairs = vectors.iter().filter(|other| {
                rule_of(other, &rules) == Some(rule)
                    && !is_off(other)
                    && json(other)["stimulus"] == *stimulus
            });
            assert!(pairs.next().is_some(), "{path:?} has no counterpart");
            paired.insert(rule.clone());
        }
        let added: BTreeSet<String> = rules.difference(&without_fixes).cloned().collect();
        // A block without errata has no profile with fixes.
        assert_eq!(added.is_empty(), with.is_empty(), "{name}: fixes add rules");
        // Other rules that need a fix are rows of the source that are unreachable without it.
        let of_fixes = added.into_iter().filter(|rule| rule.starts_with('F')).collect();
        assert_eq!(paired, of_fixes, "{name}: each rule that needs a fix has a pair");
    }
}

/// After a change of the types, run `cosim schema vector > vectors/schema.json`.
#[test]
fn every_vector_fits_the_schema_of_the_types() {
    let schema = json(&project().join("vectors/schema.json"));
    let generated = Place::new().run("schema vector");
    assert_eq!(serde_json::from_slice::<Value>(&generated.stdout).unwrap(), schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for path in PROGRAM.blocks.iter().flat_map(|block| files(&corpus_of(*block), "json")) {
        assert!(validator.is_valid(&json(&path)), "{path:?}");
    }
    for wrong in [r#"{}"#, r#"{"format": "cosim-vector", "version": 3}"#] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}
