//! `--netlist`: does what Yosys makes of good RTL do what the RTL does, and what it makes of bad RTL not?
//!
//! `COSIM_GATES=all` has every vector and every block in place of a few.

use crate::common::{code, copy_rtl, cosim, files, json, patched_rtl, project, run, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn runs_all() -> bool {
    std::env::var_os("COSIM_GATES").is_some_and(|value| value == "all")
}

/// The vectors of a block: every `step`th of those with the parameters that most have, unless all are wanted.
fn vectors(block: &str, step: usize) -> Vec<PathBuf> {
    let all = files(&project().join("vectors").join(block), "json");
    if runs_all() {
        return all;
    }
    let usual = serde_json::json!({ "LOW": 4, "HIGH": 16, "KEEP": 8 });
    let is_usual = |path: &PathBuf| json(path)["parameters"] == usual;
    all.into_iter().filter(is_usual).step_by(step).collect()
}

/// The others are like them, and large.
fn blocks() -> &'static [&'static str] {
    if runs_all() { &["recv", "dll", "qp", "thread2", "rx"] } else { &["recv"] }
}

#[test]
fn the_netlist_of_good_rtl_does_what_the_corpus_says_in_both_simulators() {
    for block in blocks() {
        for (simulator, step) in [("verilator", 1), ("icarus", 9)] {
            let vectors = vectors(block, step);
            let options = ["replay", "--netlist", "--expect-recorded", "--simulator", simulator];
            let mut command = cosim();
            // One profile: each has a netlist of its own.
            command.args(options).args(["--fixes", "spec"]).args(&vectors);
            let output = command.output().unwrap();
            assert_eq!(code(&output), 0, "{block}, {simulator}: {}", text(&output));
            let said = text(&output);
            let of_profile = format!("{block}, profile spec: ");
            let is_area =
                |line: &&str| line.starts_with("netlist of ") && line.contains(&of_profile);
            let area = said.lines().find(is_area).unwrap_or_else(|| panic!("{said}"));
            assert!(area.contains(" cells, ") && area.contains("depth "), "{area}");
        }
    }
}

#[test]
fn a_regression_of_the_netlist_is_green_and_tells_its_area() {
    let folder = TempDir::new().unwrap();
    for block in blocks() {
        let out = folder.path().join(block);
        let mut command = cosim();
        command.args(["run", "--netlist", "--block", block, "--fixes", "spec", "--cases", "2"]);
        let output = command.args(["--packets", "30", "--out"]).arg(&out).output().unwrap();
        assert_eq!(code(&output), 0, "{block}: {}", text(&output));
        let results = json(&out.join("results.json"));
        let area = &results["run"]["netlists"]["spec"];
        let number = |name: &str| area[name].as_u64().unwrap();
        assert!(number("cells") > number("flip_flops"), "{area}");
        assert!(number("flip_flops") > 0 && number("depth") > 0, "{area}");
        assert_eq!(number("latches"), 0, "{area}");
        assert_eq!(results["run"]["given"]["netlist"], true);
    }
}

/// What a run of a bad RTL comes to.
fn said(rtl: &Path, out: &Path, more: &[&str]) -> (i32, Value, String) {
    let mut command = cosim();
    command.args(["run", "--block", "recv", "--fixes", "spec", "--cases", "3", "--quiet"]);
    command.args(["--max-failures", "1", "--packets", "30", "--rtl"]).arg(rtl);
    let output = command.args(more).arg("--out").arg(out).output().unwrap();
    (code(&output), json(&out.join("results.json")), text(&output))
}

/// RTL that synthesises to something else than it simulates as.
fn gate_patches() -> Vec<PathBuf> {
    let patches = files(&project().join("tests/bad_gates/recv"), "patch");
    assert!(patches.len() >= 3, "{patches:?}");
    patches
}

#[test]
fn what_simulates_otherwise_than_it_synthesises_is_found() {
    are_found(&gate_patches()[..1]);
}

#[test]
#[ignore = "slow: a netlist for each changed RTL"]
fn all_that_simulates_otherwise_than_it_synthesises_is_found() {
    are_found(&gate_patches()[1..]);
}

/// Each is red as a netlist and green as it is.
fn are_found(patches: &[PathBuf]) {
    for patch in patches {
        let (rtl, folder) = (patched_rtl(patch), TempDir::new().unwrap());
        let rtl = rtl.path().join("rtl");
        let out = |name: &str| folder.path().join(name);
        let (green, _, text) = said(&rtl, &out("rtl"), &[]);
        assert_eq!(green, 0, "{patch:?}: {text}");
        let (red, results, text) = said(&rtl, &out("netlist"), &["--netlist"]);
        assert_eq!(red, 1, "{patch:?}: {text}");
        // The vector knows that it was a netlist's.
        let vector = out("netlist").join(results["failures"][0]["vector"].as_str().unwrap());
        let output =
            run(["replay", "--recorded-rtl", "--expect-recorded", vector.to_str().unwrap()]);
        assert_eq!(code(&output), 0, "{patch:?}: {}", crate::common::text(&output));
        let simulator =
            ["replay", "--recorded-rtl", "--simulator", "icarus", vector.to_str().unwrap()];
        assert_eq!(code(&run(simulator)), 1, "{patch:?}: as gates in Icarus");
    }
}

#[test]
fn without_yosys_a_netlist_is_refused_with_how_to_install_it() {
    let (folder, vector) = (TempDir::new().unwrap(), vectors("recv", 1000).remove(0));
    let rtl = folder.path().join("rtl");
    copy_rtl(&rtl);
    let mut command = cosim();
    command.env("YOSYS", "/nowhere/yosys").args(["replay", "--netlist"]).arg(vector);
    let output = command.arg("--rtl").arg(&rtl).output().unwrap();
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("apt-get install yosys"), "{}", text(&output));
}

#[test]
fn mutants_of_a_netlist_are_refused() {
    let output = run(["mutate", "--block", "recv", "--netlist", "--mutants", "1"]);
    assert_eq!(code(&output), 2, "{}", text(&output));
    assert!(text(&output).contains("--netlist"), "{}", text(&output));
}
