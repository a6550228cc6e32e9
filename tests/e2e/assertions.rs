//! Assertions of `NAME_sva.sv`: proved by `cosim prove`, checked by `cosim run --assertions`.

use crate::common::{
    assert_code, assert_error, assert_error_at, code, copy_rtl, files, json, patched_rtl, project,
    run, text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// The bugs that break an assertion: block, profile, patch, property.
const BUGS: [[&str; 4]; 5] = [
    ["dll", "spec", "33-buffer-full-one-late", "A's numbers are in order"],
    ["recv", "spec", "14-refill-to-high-plus-one", "the ring has at most HIGH buffers"],
    ["qp", "spec", "62-full-lets-commands-pass", "a command is taken unless the queue is full"],
    ["thread2", "spec", "08-send-unit-taken-without-mr", "a unit is on offer"],
    ["rx", "spec", "05-one-credit-too-many", "CR: at most 16 credits are in use"],
];

fn patched(block: &str, patch: &str) -> TempDir {
    patched_rtl(&project().join(format!("tests/bad_rtl/{block}/{patch}.patch")))
}

/// Proves the assertion of a patched RTL; returns its entry.
fn refuted([block, profile, patch, property]: [&str; 4]) -> Value {
    let (rtl, folder) = (patched(block, patch), TempDir::new().unwrap());
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
    let options = ["--block", block, "--fixes", profile, "--only", property, "--rtl"];
    let output = prove(&[&options[..], &[rtl.to_str().unwrap()]].concat(), &out);
    assert_eq!(code(&output), 1, "{block}, {patch}: {}", text(&output));
    let proof = json(&out.join("proof.json"));
    let properties = proof["profiles"][0]["properties"].as_array().unwrap();
    let [one] = &properties[..] else { panic!("{patch}: {properties:?}") };
    assert_eq!(one["kind"], "always", "{patch}: {one}");
    one.clone()
}

fn prove(arguments: &[&str], out: &Path) -> Output {
    let out = out.to_str().unwrap();
    run([&["prove"], arguments, &["--out", out]].concat())
}

#[test]
fn a_planted_bug_breaks_an_assertion_of_the_proof() {
    for bug in &BUGS[..3] {
        let found = refuted(*bug);
        assert_eq!(found["status"], "refuted", "{found}");
    }
}

#[test]
#[ignore = "slow: proofs of two large blocks"]
fn a_planted_bug_breaks_an_assertion_of_a_large_block() {
    for bug in &BUGS[3..] {
        let found = refuted(*bug);
        assert_eq!(found["status"], "refuted", "{found}");
    }
}

#[test]
fn an_assertion_that_fails_in_simulation_is_a_failure_that_replays() {
    let [block, profile, patch] = ["thread2", "spec", "18-parsed-not-cleared"];
    let (rtl, folder) = (patched(block, patch), TempDir::new().unwrap());
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
    let (rtl, out) = (rtl.to_str().unwrap(), out.to_str().unwrap());
    let options = ["run", "--block", block, "--fixes", profile, "--cases", "2", "--out", out];
    let bad = ["--rtl", rtl, "--assertions", "--max-failures", "1", "--no-shrink"];
    let output = run([&options[..], &bad].concat());
    assert_code(&output, 1);
    for words in ["check-assertion-passed_units", "in state ", "thread2_sva.sv:", "0 crashes"] {
        assert!(text(&output).contains(words), "{words}: {}", text(&output));
    }
    let vectors = files(&folder.path().join("out/failures"), "json");
    let is_vector = |path: &&std::path::PathBuf| !path.to_string_lossy().contains(".explained.");
    let vector = vectors.iter().find(is_vector).unwrap();
    let recorded = &json(vector)["recorded"];
    assert_eq!(recorded["check"], "assertion-passed_units", "{recorded}");
    assert!(recorded["cycle"].as_u64().is_some(), "{recorded}");
    let vector = vector.to_str().unwrap();
    assert_code(&run(["replay", "--recorded-rtl", "--expect-recorded", vector]), 0);
    assert_eq!(code(&run(["replay", "--recorded-rtl", vector])), 1);
    assert_eq!(code(&run(["replay", "--rtl", "built-in", "--assertions", vector])), 0, "good RTL");
}

#[test]
fn the_built_in_rtl_keeps_its_assertions() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let fixes = ["--block", "all", "--fixes", "spec", "--cases", "2"];
    assert_code(&run([&["run", "--assertions", "--out", out], &fixes[..]].concat()), 0);
    assert_code(&run(["run", "--block", "qp", "--assertions", "--simulator", "icarus"]), 2);
    let output = run(["mutate", "--block", "qp", "--assertions"]);
    assert_error(&output, "E0107");
}

/// Of each: the file that is edited, the edit, the code, words of the line of the error.
#[test]
fn a_misspelt_signal_is_an_error_with_its_line() {
    const FILE: &str = "recv/recv_sva.sv";
    const RTL: &str = "recv/RecvSideFsm.sv";
    for (file, old, new, number, place) in [
        (FILE, "(level <= HIGH_N)", "(levle <= HIGH_N)", "E0503", "ring_at_most_high: assert"),
        (RTL, "copying", "copying_all", "E0503", " copying"),
        (FILE, "ring_at_most_high: assert", "assert", "E0506", "assert (level <= HIGH_N)"),
        (FILE, "(level <= HIGH_N)", "(level <= HIGH_N", "E0506", "ring_at_most_high: assert"),
    ] {
        let folder = TempDir::new().unwrap();
        let rtl = folder.path().join("rtl");
        copy_rtl(&rtl);
        let path = rtl.join(file);
        let good = fs::read_to_string(&path).unwrap();
        let bad = good.replace(old, new).replace(&format!("{new}_d"), &format!("{old}_d"));
        assert_ne!(bad, good, "{old}");
        fs::write(&path, bad).unwrap();
        let assertions = fs::read_to_string(rtl.join(FILE)).unwrap();
        let line = 1 + assertions.lines().position(|line| line.contains(place)).unwrap();
        let options = ["--block", "recv", "--fixes", "spec", "--rtl", rtl.to_str().unwrap()];
        let output = prove(&options, &folder.path().join("out"));
        assert_code(&output, 2);
        assert_error_at(&output, number, &format!("recv_sva.sv:{line}:"));
    }
}
