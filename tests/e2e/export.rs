//! `cosim export`: the testbench gives the result of `cosim replay` in independent simulators.
//!
//! `COSIM_EXPORT=all` selects every vector of the corpus and every bug instead of a few.

use crate::common::{
    assert_code, code, files, json, patched_rtl, program, project, python, run, text,
};
use cosim::PROGRAM;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Whether every vector and every bug is selected.
fn all() -> bool {
    std::env::var_os("COSIM_EXPORT").is_some_and(|value| value == "all")
}

/// Every `each`th element, or all.
fn some<T: Clone>(list: &[T], each: usize) -> Vec<T> {
    list.iter().step_by(if all() { 1 } else { each }).cloned().collect()
}

/// The results of replaying vectors.
fn replayed(arguments: &[&str]) -> Vec<Value> {
    let output = run(["replay", "--recorded-rtl", "--format", "json"].iter().chain(arguments));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

/// Runs a shell command in a folder and returns its output.
fn shell(folder: &Path, command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands in the testbench's README, in order.
fn commands(folder: &Path) -> Vec<String> {
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert_eq!(readme.lines().count(), 4, "{readme}");
    let second = readme.lines().nth(1).unwrap();
    second.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The output in Icarus, with the README's command.
pub fn icarus(folder: &Path) -> String {
    shell(folder, &commands(folder)[0])
}

/// The output in Verilator, with the README's command and without the output of `make`.
fn verilator(folder: &Path) -> String {
    let printed = shell(folder, &commands(folder)[1]);
    let is_other = |line: &&str| !line.starts_with("PASS") && !line.starts_with("FAIL");
    printed.lines().skip_while(is_other).flat_map(|line| [line, "\n"]).collect()
}

/// The first line that the testbench must print for the outcome of a replay.
fn expected(outcome: &Value) -> String {
    match outcome["verdict"].as_str().unwrap() {
        "match" => "PASS  ".to_owned(),
        "mismatch" | "unknown" => {
            let word = |name: &str| outcome[name].as_str().unwrap();
            format!(
                "FAIL  mismatch at cycle {}: {} is {}, expected {}\n",
                outcome["cycle"],
                word("port"),
                word("actual"),
                word("expected")
            )
        }
        "hang" => format!("FAIL  hang at cycle {}: ", outcome["cycle"]),
        other => panic!("{other}: {outcome}"),
    }
}

/// Exports a vector into a new folder.
fn export(vector: &str, more: &[&str]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("bench");
    assert_code(&run(["export", vector, "-o", out.to_str().unwrap()].iter().chain(more)), 0);
    (folder, out)
}

/// Exports a replayed vector and compares the result in Icarus.
#[track_caller]
fn agrees(replay: &Value) -> (TempDir, PathBuf) {
    let (vector, fixes) = (replay["vector"].as_str().unwrap(), replay["fixes"].as_str().unwrap());
    let (folder, out) = export(vector, &["--recorded-rtl", "--fixes", fixes]);
    let printed = icarus(&out);
    let mut wanted = expected(&replay["outcome"]);
    if !printed.starts_with(&wanted) {
        // Memory that was never written is unknown in Icarus, as in a four-state replay.
        let four_valued = replayed(&["--simulator", "icarus", "--fixes", fixes, vector]);
        let outcome = &four_valued[0]["outcome"];
        assert_eq!(outcome["verdict"], "unknown", "{vector} {fixes}: {printed}, not {wanted}");
        wanted = expected(outcome);
    }
    assert!(printed.starts_with(&wanted), "{vector} {fixes}: {printed}, not {wanted}");
    (folder, out)
}

/// Every 61st vector: some of each block, in each of their profiles.
#[test]
fn the_corpus_passes_in_icarus_and_in_verilator() {
    let corpus = PROGRAM
        .blocks
        .iter()
        .flat_map(|block| files(&project().join("vectors").join(block.info().name), "json"));
    let corpus: Vec<String> = corpus.map(|path| path.display().to_string()).collect();
    let corpus = some(&corpus, 61);
    let corpus: Vec<&str> = corpus.iter().map(String::as_str).collect();
    let replays = replayed(&corpus);
    let blocks: BTreeSet<&Path> =
        corpus.iter().filter_map(|vector| Path::new(vector).parent()).collect();
    assert_eq!(blocks.len(), PROGRAM.blocks.len(), "a vector of each block: {corpus:?}");
    replays.par_iter().for_each(|replay| drop(agrees(replay)));
    // Verilator compiles C++ for each testbench, so test one block.
    let (_folder, out) = agrees(replays.last().unwrap());
    assert!(verilator(&out).starts_with("PASS  "));
    for block in PROGRAM.blocks.iter().filter(|_| all()) {
        let of_block =
            |replay: &&Value| replay["vector"].as_str().unwrap().contains(block.info().name);
        let (_folder, out) = agrees(replays.iter().find(of_block).unwrap());
        assert!(verilator(&out).starts_with("PASS  "), "{}", block.info().name);
    }
}

/// The vectors of failures in a run of bad RTL.
fn failures(block: &str, rtl: &Path, folder: &Path) -> Vec<PathBuf> {
    let out = folder.join("run");
    let arguments = ["run", "--block", block, "--cases", "60", "--max-failures", "3", "--no-waves"];
    let output = program()
        .args(arguments)
        .args(["--no-shrink", "--quiet", "--rtl"])
        .arg(rtl)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!([0, 1].contains(&code(&output)), "{}", text(&output));
    files(&out.join("failures"), "json")
}

/// The selection includes registers without reset, whose initial values matter.
#[test]
fn failures_of_bad_rtl_are_the_same_mismatch_in_icarus() {
    let few = ["qp/01-reset-keeps-states", "thread2/43-rq-wrap-one-late"];
    let folders =
        PROGRAM.blocks.iter().map(|block| project().join("tests/bad_rtl").join(block.info().name));
    let patches: Vec<PathBuf> = folders
        .flat_map(|folder| files(&folder, "patch"))
        .filter(|patch| all() || few.iter().any(|name| patch.display().to_string().contains(name)))
        .collect();
    assert!(patches.len() >= few.len(), "{patches:?}");
    let exported: usize = patches
        .par_iter()
        .map(|patch| {
            let block = patch.parent().and_then(Path::file_name).unwrap().to_str().unwrap();
            let (rtl, folder) = (patched_rtl(patch), TempDir::new().unwrap());
            let vectors = failures(block, &rtl.path().join("rtl"), folder.path());
            let vectors: Vec<&str> = vectors.iter().filter_map(|path| path.to_str()).collect();
            if !vectors.is_empty() {
                replayed(&vectors).iter().for_each(|replay| drop(agrees(replay)));
            }
            vectors.len()
        })
        .sum();
    assert!(exported >= patches.len(), "{exported} failures of {} bugs", patches.len());
}

/// A vector that fails on bad RTL, not shrunk.
fn failing() -> (TempDir, TempDir, String) {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let folder = TempDir::new().unwrap();
    let vector = failures("thread2", &rtl.path().join("rtl"), folder.path()).remove(0);
    let vector = vector.display().to_string();
    (rtl, folder, vector)
}

#[test]
fn a_failure_is_printed_once_with_later_differences_and_waves() {
    let (_rtl, _folder, vector) = failing();
    let replay = replayed(&[&vector]).remove(0);
    let (_kept, out) = agrees(&replay);
    let first = expected(&replay["outcome"]);
    let printed = verilator(&out);
    assert!(printed.starts_with(&first), "{printed}");
    let (printed, again) = (icarus(&out), shell(&out, "vvp -n cosim_tb.vvp +waves"));
    assert_eq!(printed.matches("FAIL").count(), 1, "{printed}");
    assert!(!printed.contains("PASS"), "{printed}");
    assert!(again.contains(&first), "{again}");
    let waves = fs::read_to_string(out.join("waves.vcd")).unwrap();
    assert!(waves.contains("cosim_cycle") && waves.contains("cur_state"));
    // The testbench drives ten more cycles, not the rest of the case.
    let cycle = replay["outcome"]["cycle"].as_u64().unwrap();
    let later = |line: &str| line.split("cycle ").nth(1)?.split(':').next()?.parse::<u64>().ok();
    assert!(printed.lines().filter_map(later).all(|later| later <= cycle + 10), "{printed}");
    // The testbench is strict Verilog 2005.
    shell(&out, "iverilog -g2005 -Wall -t null -s cosim_tb -c files.f");
}

#[test]
fn a_testbench_without_its_files_does_not_pass() {
    let vector = project().join("vectors/qp/c1-reset-to-init.json");
    let (_folder, out) = export(vector.to_str().unwrap(), &["--fixes", "spec"]);
    assert!(icarus(&out).starts_with("PASS  "));
    fs::remove_file(out.join("expected.hex")).unwrap();
    let printed = shell(&out, "vvp -n cosim_tb.vvp 2>&1");
    assert!(printed.contains("FAIL  stimulus.hex or expected.hex is not here"), "{printed}");
    assert!(!printed.contains("PASS"), "{printed}");
}

/// A macro and a parameter are part of the case.
#[test]
fn user_rtl_is_exported() {
    let (rtl, _folder, vector) = failing();
    let rtl = rtl.path().join("rtl");
    let header = rtl.join("thread2/ReqRecvCore_Thread_2.vh");
    let given = fs::read(&header).unwrap();
    let (_kept, out) = export(&vector, &["--rtl", rtl.to_str().unwrap(), "-D", "MARK=1"]);
    assert_eq!(fs::read(out.join("rtl/ReqRecvCore_Thread_2.vh")).unwrap(), given);
    assert!(fs::read_to_string(out.join("files.f")).unwrap().contains("+define+MARK=1"));
    assert!(icarus(&out).starts_with("FAIL  mismatch"));
    let (_kept, out) = export(&vector, &["--rtl", "built-in"]);
    assert!(icarus(&out).starts_with("PASS  "));
    let vector = project().join("vectors/dll/a9-timeout.json");
    let (fixes, depth) = (["--fixes", "spec"], ["--parameter", "REPLAY_DEPTH=4"]);
    let (_kept, out) = export(vector.to_str().unwrap(), &[fixes, depth].concat());
    assert!(fs::read_to_string(out.join("cosim_tb.v")).unwrap().contains(".REPLAY_DEPTH(4)"));
    assert!(icarus(&out).starts_with("PASS  "));
}

#[test]
fn several_vectors_become_a_folder_each() {
    let folder = TempDir::new().unwrap();
    // Parent folders are created.
    let out = folder.path().join("for/the/designers");
    let vectors = ["vectors/qp/c1-reset-to-init.json", "vectors/dll/a9-timeout.json"];
    let vectors = vectors.map(|vector| project().join(vector));
    let [one, other] = vectors.each_ref().map(|vector| vector.to_str().unwrap());
    let output = run(["export", one, other, "--fixes", "spec", "-o", out.to_str().unwrap()]);
    assert_code(&output, 0);
    assert!(text(&output).contains("2 testbenches, each in its own folder"), "{}", text(&output));
    for name in ["c1-reset-to-init", "a9-timeout"] {
        assert!(icarus(&out.join(name)).starts_with("PASS  "), "{name}");
    }
    // By default, each profile of a vector gets a testbench.
    let all = folder.path().join("all");
    assert_code(&run(["export", one, other, "-o", all.to_str().unwrap()]), 0);
    let profiles = replayed(&[other]);
    assert!(profiles.len() > 1, "{profiles:?}");
    for profile in &profiles {
        let name = format!("a9-timeout-{}", profile["fixes"].as_str().unwrap());
        assert!(all.join(&name).join("README.md").exists(), "{name}");
    }
}

#[test]
fn nothing_is_overwritten_and_ambiguous_exports_are_refused() {
    let folder = TempDir::new().unwrap();
    let vector = project().join("vectors/qp/c1-reset-to-init.json");
    let vector = vector.to_str().unwrap();
    let refused = |arguments: &[&str], expected: &str| {
        let output = run(["export"].iter().chain(arguments));
        assert_code(&output, 2);
        assert!(text(&output).contains(expected), "{}", text(&output));
    };
    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("mine"), "").unwrap();
    let full = full.to_str().unwrap();
    refused(&[vector, "-o", full, "--fixes", "spec"], "exists and is not empty");
    assert_eq!(fs::read_dir(full).unwrap().count(), 1);
    refused(&[vector], "--out");
    let new = folder.path().join("new");
    let new = new.to_str().unwrap();
    let dll = project().join("vectors/dll/a9-timeout.json");
    refused(&[dll.to_str().unwrap(), "-o", new], "choose one with --fixes");
    refused(&[vector, "-o", new, "--block", "dll"], "is a vector of block qp");
    refused(&[vector, "-o", new, "-D", "A=\"b c\""], "does not work in file lists");
    assert!(!Path::new(new).exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-made is left");
    let twice = project().join("vectors/qp/../qp/c1-reset-to-init.json");
    refused(&[vector, twice.to_str().unwrap(), "-o", new], "as ");
    assert!(!Path::new(new).exists());
    assert!(json(Path::new(vector))["recorded"].is_null(), "the vector is as it was");
}

/// Runs the cocotb test in a folder. Returns the exit code and the output.
fn cocotb(folder: &Path) -> (i32, String) {
    let output = python().arg("run.py").current_dir(folder).output().unwrap();
    (code(&output), text(&output))
}

/// Does the cocotb test of a vector pass where the replay passes, and does it name cycle and port
/// of a difference?
#[test]
fn cocotb_sees_what_a_replay_sees() {
    let vector = project().join("vectors/recv/decision-chosen-once.json");
    let (_folder, out) = export(vector.to_str().unwrap(), &["--cocotb", "--fixes", "repaired"]);
    let (ended, printed) = cocotb(&out);
    assert_eq!(ended, 0, "{printed}");
    assert!(printed.contains("TESTS=1 PASS=1"), "{printed}");
    // The last digit of a word is the lowest bits of the last port.
    let file = out.join("expected.hex");
    let words = fs::read_to_string(&file).unwrap();
    let names = words.lines().next().unwrap().trim_start_matches("// ");
    let (last, cycles) = (names.split(' ').next_back().unwrap(), words.lines().count() - 1);
    let digit = words.trim_end().chars().next_back().unwrap().to_digit(16).unwrap();
    let changed = words.trim_end()[..words.trim_end().len() - 1].to_owned();
    fs::write(&file, format!("{changed}{:x}\n", digit ^ 1)).unwrap();
    let (ended, printed) = cocotb(&out);
    assert_eq!(ended, 1, "{printed}");
    let place = format!("mismatch at cycle {}: {last} is ", cycles - 1);
    assert!(printed.contains(&place), "{place}: {printed}");
}
