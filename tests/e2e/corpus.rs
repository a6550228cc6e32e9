//! The corpus in `vectors/`: every vector is valid JSON, matches, and hits the rule in its name.
//! Adding a vector needs no code. The commands of `docs/how-to/ci.md` use it as a gate.

use crate::common::{Place, blocks, checks, corpus, json, project, source, vectors_of};
use cosim::PROGRAM;
use cosim_block::blocks::AnyBlock;
use cosim_core::checks::Result;
use cosim_core::harness::Profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn each_block_has_its_corpus_and_its_bugs_and_there_are_no_others() {
    for folder in ["vectors", "tests/bad_rtl"].map(|name| project().join(name)) {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let folders: BTreeSet<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        assert_eq!(folders, blocks().map(|block| folder.join(block)).collect());
    }
}

#[test]
fn every_vector_does_what_it_records_and_every_rule_that_can_be_hit_has_one() -> Result {
    blocks().try_for_each(|block| {
        let folder = project().join("vectors").join(block);
        checks(block).corpus(&folder)?;
        checks(block).rules_have_vectors(&folder)
    })
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
        let (name, vectors) = (block.info().name, vectors_of(block.info().name));
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
    let schema = json("vectors/schema.json");
    let generated = Place::new().run("schema vector");
    assert_eq!(serde_json::from_slice::<Value>(&generated.stdout).unwrap(), schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for path in blocks().flat_map(vectors_of) {
        assert!(validator.is_valid(&json(&path)), "{path:?}");
    }
    for wrong in [r#"{}"#, r#"{"format": "cosim-vector", "version": 3}"#] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}

/// Runs the commands in the document that check user RTL.
#[track_caller]
fn gate(place: &Place, rtl: &str, exit: i32) {
    let document = source("docs/how-to/ci.md");
    let lines = document.lines().filter_map(|line| line.strip_prefix("    cosim "));
    let lines: Vec<&str> = lines.filter(|line| line.contains("--rtl path/to/rtl")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        // A real gate runs too long for a test.
        let few = match line.starts_with("run ") {
            true => "--cases 10 --max-failures 3 --no-waves",
            false => "",
        };
        let line = line.replace(" vectors/", &format!(" {}/vectors/", project().display()));
        place.exits(exit, &format!("{} {few}", line.replace("path/to/rtl", rtl)));
    }
}

#[test]
fn the_gate_of_the_documents_passes_the_good_rtl_and_no_other() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    gate(&place, project().join("rtl").to_str().unwrap(), 0);
    gate(&place, "rtl", 1);
}

#[test]
fn a_record_is_expected_and_without_a_record_a_match() {
    let place = Place::new();
    // The first vector records a hang; the second matches.
    let [hang, good, of_others] = ["f5d-off-short-wqe-hangs", "t14-send-only-completes", "f5d-*"]
        .map(|name| corpus(&format!("thread2/{name}")));
    for (exit, words, line) in [
        (
            0,
            "PASS  2 vectors, 3 replays: 3 as expected, 0 not",
            format!("--expect-recorded {hang} {good}"),
        ),
        (1, "FAIL  2 vectors, 3 replays: 2 matched, 1 not", format!("{hang} {good}")),
        (
            0,
            "skipped, made for other fixes: 1",
            format!("--expect-recorded --fixes repaired '{of_others}'"),
        ),
    ] {
        place.prints(exit, &[words], &format!("replay {line}"));
    }
    // The same hang is unexpected without a record.
    let mut vector = json(&hang);
    vector["recorded"] = serde_json::Value::Null;
    place.write("silent.json", &vector.to_string());
    place.exits(1, "replay --expect-recorded silent.json");
}
