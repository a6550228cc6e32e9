//! `--netlist`: the netlist of good RTL behaves like the RTL, and that of bad RTL does not.
//!
//! `COSIM_GATES=all` selects every vector and every block instead of a few.

use crate::common::{
    assert_error_at, code, copy_rtl, cosim, files, json, patched_rtl, project, run, text,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn runs_all() -> bool {
    std::env::var_os("COSIM_GATES").is_some_and(|value| value == "all")
}

/// The vectors of a block: every `step`th of those with the most common parameters, or all.
fn vectors(block: &str, step: usize) -> Vec<PathBuf> {
    let all = files(&project().join("vectors").join(block), "json");
    if runs_all() {
        return all;
    }
    let usual = serde_json::json!({ "LOW": 4, "HIGH": 16, "KEEP": 8 });
    let is_usual = |path: &PathBuf| json(path)["parameters"] == usual;
    all.into_iter().filter(is_usual).step_by(step).collect()
}

/// The other blocks are similar and large.
fn blocks() -> &'static [&'static str] {
    if runs_all() { &["recv", "dll", "qp", "thread2", "rx"] } else { &["recv"] }
}

#[test]
fn the_netlist_of_good_rtl_passes_the_corpus_in_both_simulators() {
    for block in blocks() {
        for (simulator, step) in [("verilator", 1), ("icarus", 9)] {
            let vectors = vectors(block, step);
            let options = ["replay", "--netlist", "--expect-recorded", "--simulator", simulator];
            let mut command = cosim();
            // One profile, because each has its own netlist.
            command.args(options).args(["--fixes", "spec"]).args(&vectors);
            let output = command.output().unwrap();
            assert_eq!(code(&output), 0, "{block}, {simulator}: {}", text(&output));
            let run_on = text(&output);
            let of_profile = format!("{block}, profile spec: ");
            let is_area =
                |line: &&str| line.starts_with("netlist of ") && line.contains(&of_profile);
            let area = run_on.lines().find(is_area).unwrap_or_else(|| panic!("{run_on}"));
            assert!(area.contains(" cells, ") && area.contains("depth "), "{area}");
        }
    }
}

#[test]
fn a_regression_of_the_netlist_passes_and_prints_its_area() {
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

/// The results of a run of bad RTL.
fn run_on(rtl: &Path, out: &Path, more: &[&str]) -> (i32, Value, String) {
    let mut command = cosim();
    command.args(["run", "--block", "recv", "--fixes", "spec", "--cases", "3", "--quiet"]);
    command.args(["--max-failures", "1", "--packets", "30", "--rtl"]).arg(rtl);
    let output = command.args(more).arg("--out").arg(out).output().unwrap();
    (code(&output), json(&out.join("results.json")), text(&output))
}

/// RTL with a mismatch between simulation and synthesis.
fn gate_patches() -> Vec<PathBuf> {
    let patches = files(&project().join("tests/bad_gates/recv"), "patch");
    assert!(patches.len() >= 3, "{patches:?}");
    patches
}

#[test]
fn a_simulation_synthesis_mismatch_is_found() {
    are_found(&gate_patches()[..1]);
}

#[test]
#[ignore = "slow: a netlist for each changed RTL"]
fn all_simulation_synthesis_mismatches_are_found() {
    are_found(&gate_patches()[1..]);
}

/// Each passes without --netlist. With --netlist, the run ends before it counts anything, and the
/// case that it names fails.
fn are_found(patches: &[PathBuf]) {
    for patch in patches {
        let (rtl, folder) = (patched_rtl(patch), TempDir::new().unwrap());
        let rtl = rtl.path().join("rtl");
        let out = |name: &str| folder.path().join(name);
        let (green, results, printed) = run_on(&rtl, &out("rtl"), &[]);
        assert_eq!(green, 0, "{patch:?}: {printed}");
        assert!(results["cases"].is_array(), "{patch:?}: {results}");
        let given = ["--rtl", rtl.to_str().unwrap()];
        let of_spec = ["--block", "recv", "--fixes", "spec"];
        let mut command = cosim();
        command.args(["run", "--netlist", "--cases", "3"]).args(of_spec).args(given);
        let output = command.arg("--out").arg(out("netlist")).output().unwrap();
        assert_eq!(code(&output), 1, "{patch:?}: {}", text(&output));
        assert!(!out("netlist").exists(), "nothing is counted");
        let (case, cycle, port) = difference(&text(&output));
        assert!(cycle > 0 && !port.is_empty(), "{patch:?}: {}", text(&output));
        // A single case runs on the netlist anyway.
        let mut command = cosim();
        command.args(["run", "--netlist", "--case", &case]).args(given);
        let output = command.arg("--out").arg(out("case")).output().unwrap();
        assert_eq!(code(&output), 1, "{patch:?}: {}", text(&output));
        // The vector records that it ran on a netlist.
        let results = json(&out("case").join("results.json"));
        let vector = out("case").join(results["failures"][0]["vector"].as_str().unwrap());
        let vector = ["--recorded-rtl", vector.to_str().unwrap()];
        let output = run([&["replay", "--expect-recorded"][..], &vector].concat());
        assert_eq!(code(&output), 0, "{patch:?}: {}", text(&output));
        let simulator = [&["replay", "--simulator", "icarus"][..], &vector].concat();
        assert_eq!(code(&run(simulator)), 1, "{patch:?}: as gates in Icarus");
    }
}

/// The case, cycle and port of the reported difference between RTL and netlist.
#[track_caller]
fn difference(run_on: &str) -> (String, u64, String) {
    let words: Vec<&str> = run_on.split_whitespace().collect();
    let at = words
        .windows(4)
        .position(|words| words[0].ends_with(':') && words[1..3] == ["at", "cycle"]);
    let at = at.unwrap_or_else(|| panic!("no cycle: {run_on}"));
    let plain = |word: &str| word.trim_end_matches([':', ',']).to_owned();
    (plain(words[at]), plain(words[at + 3]).parse().unwrap(), plain(words[at + 4]))
}

/// Bugs that Yosys does not see in the original files: in branches of macros that Yosys defines,
/// and after a comment that Yosys obeys. One RTL contains all of them, so that each command
/// compiles once.
#[test]
fn proofs_mutation_and_netlists_see_bugs_that_synthesis_skips() {
    let (rtl, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let rtl = rtl.path().join("rtl");
    copy_rtl(&rtl);
    let path = rtl.join("recv/RecvSideFsm.sv");
    let mut text_of_rtl = std::fs::read_to_string(&path).unwrap();
    for (port, before, behind) in [
        ("copy", "`ifdef SYNTHESIS", "`endif"),
        ("keep", "`ifdef YOSYS", "`endif"),
        ("release", "// synopsys translate_off\n!rst ? ~NO_ID :\n// synopsys translate_on", ""),
    ] {
        let good = format!("!{port}_valid ? NO_ID : ");
        let begin = text_of_rtl.find(&format!("assign {port}_id ")).unwrap();
        let begin = begin + text_of_rtl[begin..].find(&good).unwrap();
        let hidden = format!("\n{before}\n{good}\n{behind}\n");
        text_of_rtl.replace_range(begin..begin + good.len(), &hidden);
    }
    std::fs::write(&path, text_of_rtl).unwrap();
    let common = ["--block", "recv", "--fixes", "spec", "--rtl", rtl.to_str().unwrap()];
    let ask = |what: &[&str], out: &str| {
        let mut command = cosim();
        command.args(what).args(common).arg("--out").arg(folder.path().join(out));
        let output = command.output().unwrap();
        assert_eq!(code(&output), 1, "{what:?}: {}", text(&output));
        text(&output)
    };
    ask(&["prove", "--only", "_id is 0 while"], "proof");
    let proof = json(&folder.path().join("proof/proof.json"));
    let properties = proof["profiles"][0]["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 3, "{proof}");
    assert!(properties.iter().all(|property| property["status"] == "refuted"), "{proof}");
    // Cycle and port are those of the RTL's own failure.
    for (what, out) in [
        (&["mutate", "--mutants", "5", "--cases", "1", "--no-judge"][..], "mutation"),
        (&["run", "--netlist", "--cases", "1", "--no-shrink", "--no-waves"], "netlist"),
    ] {
        let run_on = ask(what, out);
        assert!(
            run_on.contains("mismatch at cycle 1 in ") && run_on.contains(": copy_id is "),
            "{run_on}"
        );
    }
}

/// The difference is found before anything is counted.
#[test]
fn a_netlist_that_differs_ends_proofs_and_mutation() {
    let (rtl, folder) = (patched_rtl(&gate_patches()[0]), TempDir::new().unwrap());
    let rtl = rtl.path().join("rtl");
    let run = |what: &[&str], out: &Path| {
        let mut command = cosim();
        command.args(what).args(["--block", "recv", "--fixes", "spec", "--rtl"]).arg(&rtl);
        let output = command.arg("--out").arg(out).output().unwrap();
        assert_eq!(code(&output), 1, "{what:?}: {}", text(&output));
        output
    };
    let out = folder.path().join("mutate");
    let output = run(&["mutate", "--mutants", "5", "--cases", "1", "--no-judge"], &out);
    let (case, cycle, _) = difference(&text(&output));
    assert!(case.contains("recv") && cycle > 0, "{}", text(&output));
    assert!(!out.join("mutate.json").exists(), "nothing is counted");
    let out = folder.path().join("prove");
    run(&["prove", "--only", "copy_id is 0"], &out);
    let profile = &json(&out.join("proof.json"))["profiles"][0];
    assert!(profile["because"].is_string(), "{profile}");
    assert_eq!(profile["properties"].as_array().map(Vec::len), Some(0), "{profile}");
}

/// `full_case` has no effect in simulators, so it must have none in proofs, neither as an attribute
/// nor as a comment.
#[test]
fn comments_and_attributes_of_synthesis_do_not_reach_proofs() {
    let (rtl, folder) = (patched_rtl(&gate_patches()[1]), TempDir::new().unwrap());
    let rtl = rtl.path().join("rtl");
    let path = rtl.join("recv/RecvSideFsm.sv");
    let changed = std::fs::read_to_string(&path).unwrap();
    let comment = "case (pkt_kind)  // synopsys full_case";
    assert!(changed.contains(comment), "{changed}");
    let both = format!("(* full_case *) {comment}");
    std::fs::write(&path, changed.replacen(comment, &both, 1)).unwrap();
    let mut command = cosim();
    command.args(["prove", "--block", "recv", "--fixes", "spec", "--only", "P10"]);
    let output = command.arg("--rtl").arg(&rtl).arg("--out").arg(folder.path().join("out"));
    let output = output.output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output));
}

#[test]
fn without_yosys_a_netlist_is_refused_with_how_to_install_it() {
    let (folder, vector) = (TempDir::new().unwrap(), vectors("recv", 1000).remove(0));
    let rtl = folder.path().join("rtl");
    copy_rtl(&rtl);
    let mut command = cosim();
    command.env("YOSYS", "/nowhere/yosys").args(["replay", "--netlist"]).arg(vector);
    let output = command.arg("--rtl").arg(&rtl).output().unwrap();
    assert_error_at(&output, "E0907", "apt-get install yosys");
}

#[test]
fn mutants_of_a_netlist_are_refused() {
    let output = run(["mutate", "--block", "recv", "--netlist", "--mutants", "1"]);
    assert_eq!(code(&output), 2, "{}", text(&output));
    assert!(text(&output).contains("--netlist"), "{}", text(&output));
}
