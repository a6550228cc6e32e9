//! `cosim history`: failures over many runs.

use crate::common::{
    assert_code, assert_is_for_anyone, changed_rtl, code, cosim, looked_at_page, program, run, text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn run_into(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = cosim();
    command.args(["run", "--quiet", "--no-waves", "--cases", "3", "--scenario", "smoke"]);
    command
        .args(["--block", "thread2", "--force", "--out"])
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn shown(file: &Path) -> Value {
    let output = run(["history", "show", file.to_str().unwrap(), "--format", "json"]);
    assert_code(&output, 0);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_failure_is_new_once_and_then_known() {
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("history.sqlite"), folder.path().join("run"));
    let name = file.to_str().unwrap();
    assert_eq!(code(&run_into(&out, &["--history", name])), 0);
    let rtl = changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "fetch_cxt_egress_ready = 1'b1",
        "fetch_cxt_egress_ready = 1'b0",
    );
    let bad = ["--fixes", "spec", "--rtl", rtl.path().to_str().unwrap()];
    let first = run_into(&out, &[&bad[..], &["--history", name]].concat());
    assert_eq!(code(&first), 1);
    assert!(text(&first).contains("NEW: in no earlier run"), "{}", text(&first));
    let later = run_into(&out, &[&bad[..], &["--history", name]].concat());
    let printed = text(&later);
    assert!(
        printed.contains("    known since 20") && printed.contains(", in 1 run\n"),
        "{printed}"
    );
    // `--baseline` adds nothing.
    let requested = run_into(&out, &[&bad[..], &["--baseline", name]].concat());
    assert!(text(&requested).contains(", in 2 runs\n"), "{}", text(&requested));
    let shown = shown(&file);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 3);
    let [failure] = &shown["failures"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!((&failure["runs"], &failure["cases"]), (&2.into(), &6.into()));
    assert_eq!(failure["first"][1], shown["runs"][1]["rtl"]);
    assert_ne!(failure["first"][1], shown["runs"][0]["rtl"]);
    assert!(failure["first"][0].as_str() < failure["last"][0].as_str());
    // The report shows the trend.
    let report = run(["report", "--history", name, out.to_str().unwrap()]);
    assert_code(&report, 0);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("3 runs of this block since 20"), "{page}");
    // All three runs were in one folder, so that is where each point of each chart leads to.
    let points = page.matches("<a href=\"report.html\" tabindex=\"-1\"><circle").count();
    assert_eq!((points, page.matches("<figure>").count()), (9, 3), "{page}");
}

#[test]
fn a_history_has_a_page_with_charts_failures_and_linked_runs() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("history.sqlite");
    let name = file.to_str().unwrap();
    let rtl = changed_rtl(
        "ReqRecvCore_Thread_2.v",
        "fetch_cxt_egress_ready = 1'b1",
        "fetch_cxt_egress_ready = 1'b0",
    );
    let at = |name: &str| folder.path().join("runs of #1").join(name);
    let history = ["--fixes", "spec", "--history", name];
    run_into(&at("good"), &history);
    run_into(&at("bad"), &[&history[..], &["--rtl", rtl.path().to_str().unwrap()]].concat());
    let output = run(["history", "report", name]);
    assert_code(&output, 0);
    let page = folder.path().join("history.sqlite.html");
    assert_eq!(text(&output).trim(), page.to_str().unwrap());
    let written = |page: &Path| fs::read_to_string(page).unwrap().replace("&#x2f;", "/");
    assert!(written(&page).contains("href=\"runs%20of%20%231/bad/report.html\""), "it is linked");
    let seen = looked_at_page(&page, &["bad-is-no-word"]);
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"FAIL".into(), &"bad".into()));
    assert_eq!(seen["facts"][1], "1 open failure");
    assert_eq!(seen["lists"]["runs"]["count"], "2 of 2");
    assert_eq!(seen["lists"]["failures"]["count"], "1 of 1");
    assert_is_for_anyone(&seen);
    // A run that is removed has a row, and no link.
    fs::remove_dir_all(at("bad")).unwrap();
    let other = folder.path().join("other.html");
    assert_code(&run(["history", "report", name, "--out", other.to_str().unwrap()]), 0);
    let left = written(&other);
    assert!(!left.contains("bad/report.html") && left.contains("good/report.html"));
}

#[test]
fn a_run_is_added_once() {
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("history.sqlite"), folder.path().join("run"));
    run_into(&out, &[]);
    let add = || run(["history", "add", file.to_str().unwrap(), out.to_str().unwrap()]);
    assert!(text(&add()).starts_with("1 run added, 0 already recorded"));
    assert!(text(&add()).starts_with("0 runs added, 1 already recorded"));
    assert_eq!(shown(&file)["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("history.sqlite");
    let outs: Vec<_> = (0..8).map(|number| folder.path().join(number.to_string())).collect();
    for (seed, out) in outs.iter().enumerate() {
        assert_eq!(code(&run_into(out, &["--fixes", "spec", "--seed", &seed.to_string()])), 0);
    }
    // One of them creates the file.
    let add = |out| program().args(["history", "add"]).args([&file, out]).spawn().unwrap();
    let mut processes: Vec<_> = outs.iter().map(add).collect();
    assert!(processes.iter_mut().all(|process| process.wait().unwrap().success()));
    let shown = shown(&file);
    let mut seeds: Vec<&str> =
        shown["runs"].as_array().unwrap().iter().map(|run| run["seed"].as_str().unwrap()).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn a_newer_a_damaged_and_a_foreign_file_are_refused_before_the_run() {
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("history.sqlite"), folder.path().join("run"));
    let name = file.to_str().unwrap();
    let refused = |expected: &str| {
        let before = fs::read(&file).unwrap();
        let output = run_into(&out, &["--history", name]);
        assert_code(&output, 2);
        assert!(
            text(&output).contains(name) && text(&output).contains(expected),
            "{}",
            text(&output)
        );
        assert_eq!(fs::read(&file).unwrap(), before, "it is left as it is");
        assert!(!out.exists(), "nothing is run");
    };
    // Bytes 60 to 63 of SQLite's header hold the version of a history file, and bytes 68 to 71 its
    // application ID.
    let other = folder.path().join("other");
    run_into(&other, &[]);
    run(["history", "add", name, other.to_str().unwrap()]);
    let good = fs::read(&file).unwrap();
    let with = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        fs::write(&file, bytes).unwrap();
    };
    with(63, 2);
    refused("has version 2, this program reads 1");
    with(71, 0);
    refused("is not a history file of cosim");
    with(0, b'X');
    refused("is damaged, or is not a history file of cosim");
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    refused("is damaged, or is not a history file of cosim");
    assert_code(&run(["history", "show", "no-such-file"]), 2);
}
