//! Workers lost to causes outside the RTL: the verdict is still that of the RTL.

use super::{Child, Signal, json, run, start, text, wait_until};
use crate::common::assert_code;
use rustix::process::{Pid, kill_process};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The results of an undisturbed run.
fn undisturbed(folder: &Path) -> Vec<u8> {
    let out = folder.join("undisturbed");
    assert_code(&run(&out, &[], &["--cases", "8"]), 0);
    fs::read(out.join("results.json")).unwrap()
}

/// Checks that the run passed as if undisturbed, and reports how its one worker was lost.
fn is_unharmed(out: &Path, child: Child, expected: &[u8], how: &str) {
    assert_code(&child.wait_with_output().unwrap(), 0);
    assert_eq!(fs::read(out.join("results.json")).unwrap(), expected, "the same bytes");
    let lost = json(&out.join("timing.json"))["lost_workers"].clone();
    assert_eq!(lost["count"], 1, "{lost}");
    assert!(lost["first"][0].as_str().unwrap().ends_with(how), "{lost}");
}

#[test]
fn a_worker_that_is_killed_from_outside_changes_no_result() {
    let folder = TempDir::new().unwrap();
    let expected = undisturbed(folder.path());
    let (out, once) = (folder.path().join("run"), folder.path().join("once"));
    let environment = [("HARM", "stop"), ("HARM_ONCE", once.to_str().unwrap())];
    let mut child = start(&out, &environment, &["--cases", "8", "--stuck-after", "1h"]);
    let worker = || fs::read_to_string(&once).ok()?.trim().parse::<i32>().ok();
    wait_until(&mut child, || worker().is_some());
    kill_process(Pid::from_raw(worker().unwrap()).unwrap(), Signal::KILL).unwrap();
    is_unharmed(&out, child, &expected, ": process killed by SIGKILL");
}

/// A stopped worker makes no progress, so its case is repeated.
#[test]
fn a_worker_that_is_stopped_from_outside_changes_no_result() {
    let folder = TempDir::new().unwrap();
    let expected = undisturbed(folder.path());
    let (out, once) = (folder.path().join("run"), folder.path().join("once"));
    let environment = [("HARM", "stop"), ("HARM_ONCE", once.to_str().unwrap())];
    let child = start(&out, &environment, &["--cases", "8", "--stuck-after", "1s"]);
    is_unharmed(&out, child, &expected, ": process made no progress");
}

/// As when memory is short: the run ends with the reason and can be resumed.
#[test]
fn too_many_killed_workers_end_the_run() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let more = ["--cases", "2", "--threads", "1", "--no-sandbox"];
    let output = run(&out, &[("HARM", "kill")], &more);
    assert_code(&output, 3);
    assert!(text(&output).contains("SIGKILL"), "{}", text(&output));
    assert!(!out.join("results.json").exists());
    assert_code(&crate::common::run(["resume", out.to_str().unwrap()]), 0);
    let results: Value = json(&out.join("results.json"));
    assert_eq!(results["totals"]["cases"], 2);
}

/// RTL can send itself the signals of people and batch systems: the second time, the verdict
/// counts.
#[test]
fn a_repeated_termination_is_a_verdict() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let output = run(&out, &[("HARM", "term")], &["--cases", "1", "--no-shrink", "--no-waves"]);
    assert_code(&output, 1);
    assert!(text(&output).contains("crashed: process killed by SIGTERM"), "{}", text(&output));
}
