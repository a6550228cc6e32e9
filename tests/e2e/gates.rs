//! `docs/how-to/gates.md`: the netlist of good RTL behaves like the RTL, and that of bad RTL does
//! not.

use crate::common::{
    assert_code, code, copy_rtl, cosim, files, json, patched_rtl, project, run_in, text,
};
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Types the commands of the page in a folder with `rtl`. The last one is the run of the netlist.
fn run_of_the_netlist(folder: &Path, more: &str) -> Output {
    let page = std::fs::read_to_string(project().join("docs/how-to/gates.md")).unwrap();
    let block: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let at = block.iter().position(|line| line.starts_with("cosim ")).expect("a run");
    let yosys = std::process::Command::new("sh")
        .args(["-c", &block[..at].join("\n")])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(yosys.status.success(), "{}", text(&yosys));
    let words = block[at].split_whitespace().skip(1).chain(more.split_whitespace());
    run_in(folder, &words.collect::<Vec<_>>())
}

#[test]
fn the_netlist_of_good_rtl_passes_in_both_simulators() {
    let folder = TempDir::new().unwrap();
    copy_rtl(&folder.path().join("rtl"));
    for simulator in ["verilator", "icarus"] {
        let output = run_of_the_netlist(folder.path(), &format!("--simulator {simulator}"));
        assert_eq!(code(&output), 0, "{simulator}: {}", text(&output));
        assert!(text(&output).contains("RTL files: netlist.v; built-in: none"), "{simulator}");
    }
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

/// A run of each passes, and a run of its netlist fails.
fn are_found(patches: &[PathBuf]) {
    for patch in patches {
        let folder = patched_rtl(patch);
        let good =
            ["run", "--block", "recv", "--fixes", "repaired", "--cases", "2", "--rtl", "rtl"];
        let output = run_in(folder.path(), &good);
        assert_eq!(code(&output), 0, "{patch:?}: {}", text(&output));
        let output = run_of_the_netlist(folder.path(), "--no-shrink --no-waves");
        assert_eq!(code(&output), 1, "{patch:?}: {}", text(&output));
        assert!(text(&output).contains("mismatch at cycle"), "{patch:?}: {}", text(&output));
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
fn proofs_and_mutation_see_bugs_that_synthesis_skips() {
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
    let run_on = ask(&["mutate", "--mutants", "5", "--cases", "1", "--no-judge"], "mutation");
    assert!(
        run_on.contains("mismatch at cycle 1 in ") && run_on.contains(": copy_id is "),
        "{run_on}"
    );
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
    assert_code(&output.output().unwrap(), 0);
}
