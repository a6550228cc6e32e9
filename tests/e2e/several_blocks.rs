//! `cosim run --block all`: a regression of several blocks, each with its own run directory.

use crate::common::{
    assert_code, assert_error, assert_error_at, assert_is_for_anyone, code, cosim, json, looked_at,
    patched_rtl, project, run, run_in, text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const SHORT: [&str; 4] = ["--cases", "2", "--packets", "3"];

fn names() -> Vec<&'static str> {
    cosim::PROGRAM.blocks.iter().map(|block| block.info().name).collect()
}

fn run_into(folder: &Path, arguments: &[&str]) -> Output {
    let folder = folder.to_str().unwrap();
    run(["run", "--out", folder].iter().chain(&SHORT).chain(arguments))
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().lines().last().unwrap().to_owned()
}

#[test]
fn all_is_every_block_one_after_another() {
    let folder = TempDir::new().unwrap();
    let output = run_into(folder.path(), &["--block", "all"]);
    assert_code(&output, 0);
    let mut sorted = [names(), vec!["report.html"]].concat();
    sorted.sort_unstable();
    assert_eq!(entries(folder.path()), sorted);
    // The index page has a row for each block, which leads to its page.
    let seen = looked_at(folder.path(), "dll");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    assert_eq!(seen["facts"][0], "5 of 5 blocks passed");
    assert_eq!(seen["lists"]["blocks"]["left"], serde_json::json!(["dll"]));
    assert_eq!(seen["files"]["count"], 5);
    assert_is_for_anyone(&seen);
    // `cosim report` writes it again.
    let page = folder.path().join("report.html");
    let first = fs::read(&page).unwrap();
    fs::remove_file(&page).unwrap();
    assert_eq!(code(&run(["report", folder.path().to_str().unwrap()])), 0);
    assert!(fs::read(&page).unwrap() == first, "the same bytes");
    let words: Vec<String> = names().iter().map(|name| format!("{name} passed")).collect();
    assert_eq!(last_line(&output), format!("PASS  {} blocks: {}", words.len(), words.join(", ")));
    let mut from = 0;
    for name in names() {
        let results = json(&folder.path().join(name).join("results.json"));
        assert_eq!((&results["run"]["block"], &results["passed"]), (&name.into(), &true.into()));
        let summary = format!("PASS  {name}, seed 1");
        let at = text(&output)[from..].find(&summary);
        from += at.unwrap_or_else(|| panic!("{summary} is missing: {}", text(&output)));
    }
}

#[test]
fn several_are_run_as_each_alone_and_once() {
    let folder = TempDir::new().unwrap();
    let both = folder.path().join("both");
    let output = run_into(&both, &["--block", "qp,dll", "--block", "qp", "--format", "json"]);
    assert_code(&output, 0);
    let summaries: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let blocks: Vec<&Value> = summaries.iter().map(|summary| &summary["run"]["block"]).collect();
    assert_eq!(blocks, ["qp", "dll"]);
    for block in ["qp", "dll"] {
        let alone = folder.path().join(block);
        assert_code(&run_into(&alone, &["--block", block]), 0);
        let results = |folder: &Path| fs::read(folder.join("results.json")).unwrap();
        assert_eq!(results(&alone), results(&both.join(block)), "{block}: the same bytes");
    }
}

/// Neither the first block nor any other one is run in place of the one that the user means.
#[test]
fn none_of_several_is_the_default() {
    let folder = TempDir::new().unwrap();
    let rtl = project().join("rtl/qp").display().to_string();
    let commands: [&[&str]; 8] = [
        &["run", "--cases", "1"],
        &["run", "--rtl", &rtl],
        &["watch", "--rtl", &rtl],
        &["mutate", "--mutants", "1"],
        &["mutate", "--golden"],
        &["prove"],
        &["bench"],
        &["diff", "built-in", &rtl],
    ];
    for command in commands {
        // Outside of any crate, and in the crate of several blocks.
        for place in [folder.path(), project()] {
            let output = cosim().current_dir(place).args(command).output().unwrap();
            for name in names().into_iter().chain(["all"]) {
                assert_error_at(&output, "E0109", &format!("--block {name}"));
            }
        }
    }
    assert_eq!(entries(folder.path()), [""; 0], "nothing is written");
    // A vector and a case name their block.
    let vector = project().join("vectors/qp/").display().to_string();
    let output = run_in(folder.path(), &["replay", "--quiet", &vector]);
    assert_code(&output, 0);
    let case = ["run", "--case", "qp/spec/drain/0", "--out", "out"];
    assert_code(&cosim().current_dir(folder.path()).args(case).output().unwrap(), 0);
}

#[test]
fn options_invalid_for_one_block_are_refused_before_any_run() {
    for (arguments, number, words) in [
        (&["--block", "qp,nothing"][..], "E0102", "`nothing`"),
        (&["--block", "all", "--fixes", "repaired"], "E0103", "block qp: --fixes: "),
        (&["--block", "all", "--scenario", "rollover"], "E0105", "block thread2: "),
        (&["--block", "dll,qp", "--parameter", "REPLAY_DEPTH=4"], "E0104", "block qp: --parameter"),
        (&["--block", "dll,qp", "--case", "thread2/spec/ring/0"], "E0106", "--block"),
    ] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let arguments = [&["run", "--out", out.to_str().unwrap()], arguments].concat();
        let output = run(&arguments);
        assert_error_at(&output, number, words);
        assert!(!out.exists(), "{arguments:?}: nothing is written");
    }
}

#[test]
fn a_case_may_be_of_any_of_them() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let case = ["run", "--block", "all", "--case", "qp/spec/drain/0", "--out"];
    assert_code(&run(case.iter().chain(&[out.to_str().unwrap()])), 0);
    assert!(out.join("results.json").is_file(), "one block: no folder below");
}

#[test]
fn one_that_fails_fails_the_regression_and_the_others_run() {
    let patch = project().join("tests/bad_rtl/dll/13-skip-missing.patch");
    let copy = patched_rtl(&patch);
    let rtl = copy.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let output = run([
        "run",
        "--block",
        "dll,qp",
        "--rtl",
        rtl.to_str().unwrap(),
        "--fixes",
        "spec",
        "--max-failures",
        "1",
        "--no-shrink",
        "--no-waves",
        "--quiet",
        "--out",
        folder.path().to_str().unwrap(),
    ]);
    assert_code(&output, 1);
    assert_eq!(last_line(&output), "FAIL  2 blocks: dll failed, qp passed");
    assert_eq!(json(&folder.path().join("qp/results.json"))["passed"], true);
}

#[test]
fn a_folder_with_anything_else_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let out = folder.path();
    let both = ["--block", "dll,qp"];
    assert_eq!(code(&run_into(out, &both)), 0);
    let output = run_into(out, &both);
    assert_error(&output, "E0602");
    assert_eq!(code(&run_into(out, &[&both[..], &["--force"]].concat())), 0);
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let output = run_into(out, &[&both[..], &["--force"]].concat());
    assert_error_at(&output, "E0602", "`notes.txt`");
    assert_eq!(entries(out), ["dll", "notes.txt", "qp", "report.html"]);
}

#[test]
fn without_out_they_lie_below_one_folder_of_runs() {
    let folder = TempDir::new().unwrap();
    assert_code(&run_in(folder.path(), &[&["run", "--block", "qp,dll"], &SHORT[..]].concat()), 0);
    let runs = folder.path().join("runs");
    let names = entries(&runs);
    assert!(names[1].starts_with("qp+dll-1-"), "{names:?}");
    assert_eq!(names[0], "latest");
    assert_eq!(entries(&runs.join("latest")), ["dll", "qp", "report.html"]);
}

/// Joining compiles nothing again: the blocks are the same objects, and the identity changes with
/// each of the programs.
#[test]
#[allow(clippy::disallowed_macros)] // `program!` names the folder of this crate.
fn programs_are_joined_with_their_blocks() {
    let other: &'static cosim_core::Program = Box::leak(Box::new(cosim_core::Program {
        identity: cosim_core::Identity { sources: "other", ..cosim::PROGRAM.identity },
        blocks: &cosim::PROGRAM.blocks[..1],
        ..*cosim::PROGRAM
    }));
    let rest: &'static cosim_core::Program = Box::leak(Box::new(cosim_core::Program {
        blocks: &cosim::PROGRAM.blocks[1..],
        ..*cosim::PROGRAM
    }));
    let joined = cosim_core::program!(join rest, other);
    let named: Vec<&str> = joined.blocks.iter().map(|block| block.info().name).collect();
    assert_eq!(named, ["dll", "qp", "recv", "rx", "thread2"]);
    assert_eq!(joined.identity.sources, format!("{}+other", cosim::PROGRAM.identity.sources));
    assert_eq!(joined.folder, cosim::PROGRAM.folder);
    assert_eq!(joined.repeated(), None);
    let twice = cosim_core::program!(join cosim::PROGRAM, other);
    assert_eq!(twice.repeated(), Some("thread2"));
}
