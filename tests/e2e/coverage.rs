//! Functional coverage: what a run says that it has covered, and what follows from it.

use crate::common::{code, json, run, text};
use cosim::PROGRAM;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(out: &Path, arguments: &[&str]) -> Output {
    run(["run", "--out", out.to_str().unwrap()].iter().chain(arguments))
}

fn coverage(folder: &Path) -> Value {
    json(&folder.join("coverage.json"))
}

/// Bins of a group.
fn bins(group: &Value) -> usize {
    let axes = group["axes"].as_array().unwrap();
    axes.iter().map(|axis| axis["values"].as_array().unwrap().len()).product()
}

#[test]
fn coverage_fits_its_schema_and_adds_up() {
    let schema = run(["list", "--coverage-schema"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for block in PROGRAM.blocks.iter().map(|block| block.name()) {
        let folder = TempDir::new().unwrap();
        let output = run_into(folder.path(), &["--block", block, "--cases", "2"]);
        assert_eq!(code(&output), 0, "{}", text(&output));
        let coverage = coverage(folder.path());
        let errors: Vec<String> =
            validator.iter_errors(&coverage).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let groups = coverage["groups"].as_array().unwrap();
        let all: usize = groups.iter().map(bins).sum();
        // The rules are those of results.json, and what was hit of them is what stands there.
        let results = json(&folder.path().join("results.json"));
        let rules = groups[0]["axes"][0]["values"].as_array().unwrap();
        for profile in coverage["profiles"].as_array().unwrap() {
            let hits: Vec<u64> = profile["hits"]
                .as_array()
                .unwrap()
                .iter()
                .map(|hits| hits.as_u64().unwrap())
                .collect();
            assert_eq!(hits.len(), all);
            let unreachable = profile["unreachable"].as_object().unwrap();
            let can_be = |bin: &usize| !unreachable.contains_key(&bin.to_string());
            assert_eq!((0..all).filter(can_be).count(), profile["reachable"]);
            assert_eq!(
                (0..all).filter(can_be).filter(|bin| hits[*bin] > 0).count(),
                profile["hit"]
            );
            let profiles = results["profiles"].as_array().unwrap();
            let same = |other: &&Value| other["profile"] == profile["profile"];
            let told = &profiles.iter().find(same).unwrap()["rules"];
            for (rule, hits) in rules.iter().zip(&hits) {
                let name = rule["name"].as_str().unwrap();
                assert_eq!(told[name].as_u64().unwrap_or(0), *hits, "{block} {name}");
            }
        }
    }
    assert!(!validator.is_valid(&serde_json::json!({ "format": "cosim-coverage" })));
}

#[test]
fn names_of_groups_and_bins_are_unique_and_every_bin_has_a_meaning() {
    let listed = run(["list", "--format", "json"]);
    let blocks: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for block in blocks.as_array().unwrap() {
        let groups = block["groups"].as_array().unwrap();
        let names: BTreeSet<&str> =
            groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), groups.len(), "{}", block["name"]);
        for group in groups {
            assert_ne!(group["about"], "", "{}", group["name"]);
            for axis in group["axes"].as_array().unwrap() {
                let values = axis["values"].as_array().unwrap();
                let names: BTreeSet<&str> =
                    values.iter().map(|value| value["name"].as_str().unwrap()).collect();
                assert_eq!(names.len(), values.len(), "{}: {}", group["name"], axis["name"]);
                assert!(values.iter().all(|value| value["meaning"] != ""), "{}", group["name"]);
            }
        }
    }
}

#[test]
fn coverage_is_the_same_whatever_the_threads() {
    let folder = TempDir::new().unwrap();
    let of = |threads: &str| {
        let out = folder.path().join(threads);
        let arguments = ["--block", "qp,dll", "--cases", "5", "--threads", threads];
        assert_eq!(code(&run_into(&out, &arguments)), 0);
        ["qp", "dll"].map(|block| fs::read(out.join(block).join("coverage.json")).unwrap())
    };
    let one = of("1");
    assert!(one == of("2") && one == of("5"));
}

#[test]
fn less_than_the_least_coverage_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let with = |name: &str, least: &str, cases: &str| {
        let out = folder.path().join(name);
        let given = ["--block", "qp", "--cases", cases, "--min-coverage", least];
        let output = run_into(&out, &given);
        (code(&output), text(&output), json(&out.join("results.json"))["passed"].clone())
    };
    let (exit, said, passed) = with("few", "99", "1");
    assert_eq!((exit, passed), (1, false.into()), "{said}");
    assert!(said.starts_with("FAIL") && said.contains("less than 99 % (--min-coverage)"), "{said}");
    let (exit, said, passed) = with("enough", "10", "1");
    assert_eq!((exit, passed), (0, true.into()), "{said}");
    assert!(said.contains("% of 633 bins that can be hit, "), "{said}");
    let (exit, said, _) = with("all", "100", "400");
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("coverage: 100 % of 633 bins that can be hit\n"), "{said}");
    for wrong in ["101", "-1", "all"] {
        let output = run(["run", "--block", "qp", "--min-coverage", wrong]);
        assert_eq!(code(&output), 2);
        assert!(text(&output).contains("a number from 0 to 100"), "{}", text(&output));
    }
}
