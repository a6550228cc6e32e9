//! `--simulator icarus`: good RTL shows no unknown value, and four-state bugs in bad RTL are found.
//!
//! `COSIM_EXPORT=all` selects every vector of the corpus instead of a few.

use crate::common::{
    assert_code, assert_error_at, changed_rtl, code, files, json, patched_rtl, program, project,
    run, text,
};
use cosim::PROGRAM;
use rayon::prelude::*;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::TempDir;

/// Every 17th vector, and a case of each scenario.
#[test]
fn good_rtl_shows_no_unknown_value() {
    let all = std::env::var_os("COSIM_EXPORT").is_some_and(|value| value == "all");
    let corpus = PROGRAM
        .blocks
        .iter()
        .flat_map(|block| files(&project().join("vectors").join(block.info().name), "json"));
    let corpus: Vec<PathBuf> = corpus.step_by(if all { 1 } else { 17 }).collect();
    let corpus: Vec<&str> = corpus.iter().filter_map(|path| path.to_str()).collect();
    let options = ["replay", "--simulator", "icarus", "--expect-recorded", "--quiet"];
    assert_code(&run(options.iter().chain(&corpus)), 0);
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let options = ["run", "--block", "qp,recv,dll", "--simulator", "icarus", "--cases", "1"];
    assert_code(
        &run(options.iter().chain(&["--packets", "20", "--out", out.to_str().unwrap()])),
        0,
    );
}

/// The compiler without its simulator. One package contains both, and the error names it.
#[test]
fn without_vvp_the_error_says_how_to_install_it() {
    let folder = TempDir::new().unwrap();
    for path in std::env::split_paths(&std::env::var_os("PATH").unwrap()) {
        for entry in std::fs::read_dir(path).into_iter().flatten().map(Result::unwrap) {
            if entry.file_name() != "vvp" {
                // The first program of a name is the one that is found.
                let _ = symlink(entry.path(), folder.path().join(entry.file_name()));
            }
        }
    }
    let vector = &files(&project().join("vectors/recv"), "json")[0];
    let mut command = program();
    command.env("PATH", folder.path()).args(["replay", "--simulator", "icarus"]).arg(vector);
    let output = command.output().unwrap();
    assert_error_at(&output, "E0906", "apt-get install iverilog");
}

/// Icarus runs some ten thousand cycles per second. A case may take longer than the hang timeout.
#[test]
fn a_long_case_is_no_hang() {
    let out = TempDir::new().unwrap();
    let arguments = "run --block thread2 --fixes spec --scenario smoke --cases 1 --packets 6000 \
                     --simulator icarus --stuck-after 2s --quiet --out";
    let output = run(arguments.split_whitespace().chain([out.path().to_str().unwrap()]));
    assert_code(&output, 0);
    assert!(text(&output).contains("6000 packets"), "{}", text(&output));
}

/// Each cycle takes Icarus a part of a second, and the vector several times the hang timeout.
#[test]
fn a_slow_design_is_no_hang() {
    const WORK: &str = "  integer work_turn; reg [63:0] work_sum;
  always @(posedge clk) for (work_turn = 0; work_turn < 400000; work_turn = work_turn + 1)
    work_sum = work_turn[0] ? work_sum * 64'd3 : {32'd0, work_turn};
endmodule";
    let rtl = changed_rtl("ReqRecvCore_Thread_2.v", "endmodule", WORK);
    let vector = project().join("vectors/thread2/raw-ready-glitches-of-a-send.json");
    let [rtl, vector] = [rtl.path(), &*vector].map(|path| path.to_str().unwrap());
    let options = ["--simulator", "icarus", "--stuck-after", "1s", "--fixes", "spec"];
    assert_code(&run(["replay", vector, "--rtl", rtl].iter().chain(&options)), 0);
}

/// RTL with bugs that only four-state simulation shows.
fn unknown_patches() -> Vec<PathBuf> {
    let folders = PROGRAM
        .blocks
        .iter()
        .map(|block| project().join("tests/bad_unknown").join(block.info().name));
    let patches: Vec<PathBuf> = folders.flat_map(|folder| files(&folder, "patch")).collect();
    assert!(patches.len() >= 6, "{patches:?}");
    patches
}

#[test]
fn a_four_state_bug_is_found_shrunk_explained_and_replayed() {
    are_found(&unknown_patches()[..1]);
}

#[test]
#[ignore = "slow: a simulation in Icarus for each changed RTL"]
fn all_four_state_bugs_are_found() {
    are_found(&unknown_patches()[1..]);
}

/// Each passes a two-state run, in which registers are zeros, ones or random, and idle pins are
/// noise.
fn are_found(patches: &[PathBuf]) {
    patches.par_iter().for_each(|patch| {
        let block = patch.parent().and_then(|folder| folder.file_name()).unwrap();
        let (rtl, folder) = (patched_rtl(patch), TempDir::new().unwrap());
        let rtl = rtl.path().join("rtl");
        let run_on = |simulator: &str, cases: &str, expected: i32| {
            let out = folder.path().join(simulator);
            let options = ["--cases", cases, "--max-failures", "1", "--simulator", simulator];
            let places =
                ["--rtl", rtl.to_str().unwrap(), "--out", out.to_str().unwrap(), "--quiet"];
            let block = ["run", "--block", block.to_str().unwrap()];
            let output = run(block.iter().chain(&options).chain(&places));
            assert_eq!(code(&output), expected, "{patch:?}: {}", text(&output));
            out
        };
        run_on("verilator", "8", 0);
        let out = run_on("icarus", "2", 1);
        let failure = json(&out.join("results.json"))["failures"][0].clone();
        let signature = failure["signature"].as_str().unwrap();
        assert!(signature.starts_with("unknown-"), "{patch:?}: {signature}");
        let vector = out.join(failure["vector"].as_str().unwrap());
        assert!(vector.with_extension("fst").is_file(), "{patch:?}: {failure}");
        let vector = vector.to_str().unwrap();
        // The vector records the simulator.
        let output = run(["replay", "--recorded-rtl", "--expect-recorded", vector]);
        assert_eq!(code(&output), 0, "{patch:?}: {}", text(&output));
        let explained = text(&run(["explain", "--recorded-rtl", vector]));
        assert!(explained.contains("unknown at cycle"), "{patch:?}: {explained}");
        assert!(explained.contains("the RTL violates the specification"), "{explained}");
        let output = run(["replay", "--recorded-rtl", "--simulator", "verilator", vector]);
        assert_eq!(code(&output), 0, "two values do not show it: {}", text(&output));
        let output = run(["replay", "--rtl", "built-in", "--simulator", "icarus", vector]);
        assert_eq!(code(&output), 0, "good RTL does not show it: {}", text(&output));
        let results = json(&out.join("results.json"));
        assert_eq!(results["totals"]["unknown"], 1, "{}", results["totals"]);
    });
}

/// A two-state mismatch is also a four-state mismatch.
#[test]
fn a_known_value_that_is_wrong_is_a_mismatch() {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = rtl.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let options = ["run", "--scenario", "ring", "--fixes", "spec", "--max-failures", "1"];
    let places = ["--rtl", rtl.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let simulator = ["--simulator", "icarus", "--cases", "3", "--quiet"];
    assert_code(&run(options.iter().chain(&places).chain(&simulator)), 1);
    let failure = &json(&out.join("results.json"))["failures"][0];
    assert_eq!(failure["signature"], "mismatch-rq_offset_din-UPDATE_RQ_s");
}

#[test]
fn commands_without_four_state_support_are_refused() {
    let only = ["mutate", "--mutants", "1", "--fixes", "spec", "--only", "1"];
    for command in [&["bench"][..], &["mutate", "--mutants", "1"], &only] {
        let output = run(command.iter().chain(&["--simulator", "icarus"]));
        assert_code(&output, 2);
        assert!(text(&output).contains("--simulator icarus"), "{}", text(&output));
    }
}
