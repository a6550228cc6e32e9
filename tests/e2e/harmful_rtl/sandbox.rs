//! The sandbox: by default, RTL can do nothing to the machine.

use super::{code, cosim, json, run, text};
use crate::common::{assert_code, files, of_a_block};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const REFUSED: &str = "escape: write=0 remove=0 folder=0 cache=0 mode=0 system=0 socket=0 fork=0 signal=0 null=1 read=1";
const ALLOWED: &str = "escape: write=1 remove=1 folder=1 cache=1 mode=1 system=1 socket=1 fork=1 signal=1 null=1 read=1";

/// A folder with files that the RTL tries to remove and change.
fn targets() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["harm_removed", "harm_mode"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    folder
}

/// Runs a command in that folder on RTL that tries to escape.
fn escape(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = cosim();
    command.args(of_a_block(arguments)).args(["--rtl", super::RTL.to_str().unwrap()]);
    command.envs([("HARM", "escape"), ("HARM_BUG", "1")]).current_dir(folder);
    command.output().expect("the program runs")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A failing run, so that failures are processed, too. Returns its first vector.
fn failing_run(folder: &Path, more: &[&str]) -> (Output, PathBuf) {
    let fixed = ["run", "--scenario", "smoke", "--fixes", "spec", "--packets", "64"];
    let rest = ["--cases", "1", "--max-failures", "1", "--out", "out"];
    let output = escape(folder, &[&fixed[..], &rest, more].concat());
    assert_code(&output, 1);
    let results = json(&folder.join("out/results.json"));
    let vector = results["failures"][0]["vector"].as_str().unwrap();
    (output, folder.join("out").join(vector))
}

fn escapes(output: &Output) -> Vec<String> {
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = printed.lines().filter_map(|line| line.strip_prefix("rtl: "));
    lines.filter(|line| line.starts_with("escape: ")).map(str::to_owned).collect()
}

#[test]
fn no_command_lets_rtl_out_of_the_sandbox() {
    let folder = targets();
    let (output, vector) = failing_run(folder.path(), &[]);
    assert!(text(&output).contains("sandbox: "), "{}", text(&output));
    let printed = json(&folder.path().join("out/timing.json"))["sandbox"].clone();
    assert!(printed.as_str().unwrap().contains("seccomp"), "{printed}");
    assert_eq!(files(&folder.path().join("out/failures"), "fst").len(), 1, "waves are written");
    let vector = vector.to_str().unwrap();
    let mut outputs = vec![output];
    for command in [
        &["replay", vector, "--trace", "waves.fst"][..],
        &["replay", vector, "--trace", "waves.vcd"],
        &["explain", vector],
        &["shrink", vector, "--out", "small.json"],
    ] {
        let output = escape(folder.path(), command);
        assert!([0, 1].contains(&code(&output)), "{command:?}: {}", text(&output));
        outputs.push(output);
    }
    for output in &outputs {
        let escapes = escapes(output);
        assert!(!escapes.is_empty(), "{}", text(output));
        assert!(escapes.iter().all(|line| line == REFUSED), "{escapes:?}");
    }
    let expected = ["harm_mode", "harm_removed", "out", "small.json", "waves.fst", "waves.vcd"];
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn without_a_sandbox_rtl_may_do_what_its_user_may() {
    let folder = targets();
    let (output, _) = failing_run(folder.path(), &["--no-sandbox", "--no-shrink", "--no-waves"]);
    assert_eq!(escapes(&output)[0], ALLOWED);
    assert!(text(&output).contains("sandbox: none (--no-sandbox)"), "{}", text(&output));
    assert!(folder.path().join("harm_escape").exists());
}

/// In a sandbox, RTL cannot send SIGKILL to itself, so trying is a verdict.
#[test]
fn rtl_that_kills_itself_is_a_verdict_in_a_sandbox() {
    let folder = TempDir::new().unwrap();
    let output =
        run(&folder.path().join("run"), &[("HARM", "kill")], &["--cases", "1", "--no-shrink"]);
    assert_code(&output, 1);
    assert!(text(&output).contains("crashed: process killed by SIGSYS"), "{}", text(&output));
}
