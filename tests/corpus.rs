//! The corpus in `vectors/`: every vector is legal JSON, matches, and hits the rule it is named after.
//! Adding a vector needs no code.

mod common;

use common::{code, files, json, project, run, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

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
    assert!(corpora.iter().all(|(_, vectors)| !vectors.is_empty()));
    corpora
}

fn names(vectors: &[PathBuf]) -> Vec<&str> {
    vectors.iter().map(|path| path.to_str().unwrap()).collect()
}

fn replay(vectors: &[PathBuf], more: &[&str]) -> Vec<Value> {
    let arguments = ["replay", "--format", "json"];
    let output = run(arguments.iter().chain(more).copied().chain(names(vectors)));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
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

#[test]
fn a_vector_named_after_a_rule_hits_it() {
    let output = run(["list", "--format", "json"]);
    let blocks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    for (block, vectors) in corpora() {
        let entry = blocks.iter().find(|entry| entry["name"] == block.as_str()).unwrap();
        let rules: Vec<&str> = entry["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["name"].as_str().unwrap())
            .collect();
        let mut checked = 0;
        for report in replay(&vectors, &[]) {
            let file = Path::new(report["vector"].as_str().unwrap()).file_stem().unwrap();
            let first = file.to_str().unwrap().split('-').next().unwrap().to_uppercase();
            let off = file.to_str().unwrap().contains("-off-");
            // F5b is written `f5b`: the letter of a rule is small, its family is not.
            let named = rules.iter().find(|rule| rule.to_uppercase() == first);
            if let (Some(rule), false) = (named, off) {
                assert!(report["rules"][rule].as_u64() > Some(0), "{file:?} misses {rule}");
                checked += 1;
            }
        }
        assert!(checked >= 20, "{block}: only {checked} vectors are named after a rule");
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
