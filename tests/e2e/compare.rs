//! `cosim compare`: two runs of a block.

use crate::common::{
    assert_error, assert_is_for_anyone, changed_rtl, code, json, looked_at_page, project, run_in,
    text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn compared(folder: &Path, runs: [&str; 2]) -> (i32, Value) {
    let words = ["compare", runs[0], runs[1], "--format", "json"];
    let output = run_in(folder, &words);
    let value = serde_json::from_slice(&output.stdout);
    (code(&output), value.unwrap_or_else(|_| panic!("{}", text(&output))))
}

/// The change of each failure; all have the first port of `port`.
fn changes(compared: &Value, port: &str) -> Vec<String> {
    let failures = compared["failures"].as_array().unwrap().iter();
    let of_port = failures.filter(|one| one["signature"].as_str().unwrap().contains(port));
    of_port.map(|one| one["change"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn failures_are_new_still_there_gone_or_not_run() {
    let folder = TempDir::new().unwrap();
    let bad = changed_rtl("ReqRecvCore_Thread_2.v", "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    let bad = bad.path().to_str().unwrap();
    let run = |name: &str, words: &[&str]| {
        let fixed =
            ["run", "--quiet", "--no-waves", "--no-shrink", "--fixes", "spec", "--out", name];
        let output = run_in(folder.path(), &[&fixed[..], words].concat());
        assert!(code(&output) < 2, "{}", text(&output));
    };
    let scenarios = ["--scenario", "smoke", "--scenario", "ring", "--cases", "4"];
    run("good", &scenarios);
    run("bad", &[&scenarios[..], &["--rtl", bad]].concat());
    run("other-seed", &[&scenarios[..], &["--seed", "2"]].concat());
    run("part", &["--scenario", "smoke", "--cases", "4"]);
    // A change of RTL alone, in both directions.
    let (worse, new) = compared(folder.path(), ["good", "bad"]);
    let all = changes(&new, "");
    assert_eq!((worse, new["settings"].as_array().unwrap().len()), (1, 1), "{new}");
    assert!(!all.is_empty() && all.iter().all(|change| change == "new"), "{new}");
    let (better, gone) = compared(folder.path(), ["bad", "good"]);
    assert_eq!((better, changes(&gone, "")), (0, vec!["gone".to_owned(); all.len()]));
    let (same, still) = compared(folder.path(), ["bad", "bad"]);
    assert_eq!((same, changes(&still, "")), (0, vec!["still".to_owned(); all.len()]));
    assert_eq!(still["settings"], Value::from(Vec::<Value>::new()));
    // Other cases say nothing about a failure.
    let (code_of_other, other) = compared(folder.path(), ["bad", "other-seed"]);
    assert_eq!((code_of_other, changes(&other, "")), (0, vec!["not_run".to_owned(); all.len()]));
    // A run of one scenario covers less, which the page names.
    let (_, part) = compared(folder.path(), ["good", "part"]);
    let coverage = &part["coverage"][0];
    assert!(!coverage["lost"].as_array().unwrap().is_empty(), "{coverage}");
    assert!(coverage["gained"].as_array().unwrap().is_empty(), "{coverage}");
    let words = ["compare", "good", "bad", "--out", "compare.html"];
    assert_eq!(code(&run_in(folder.path(), &words)), 1);
    let seen = looked_at_page(&folder.path().join("compare.html"), &["mismatch"]);
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"WORSE".into(), &"bad".into()));
    assert_is_for_anyone(&seen);
}

#[test]
fn what_is_no_run_of_the_same_block_is_refused() {
    let folder = TempDir::new().unwrap();
    for block in ["qp", "dll"] {
        let words = ["run", "--block", block, "--cases", "1", "--quiet", "--out", block];
        assert_eq!(code(&run_in(folder.path(), &words)), 0);
    }
    assert_error(&run_in(folder.path(), &["compare", "qp", "dll"]), "E0221");
    assert_eq!(code(&run_in(folder.path(), &["compare", "qp", "missing"])), 2);
    assert_eq!(code(&run_in(folder.path(), &["compare", "qp", "."])), 2);
}

/// The commit of a run is marked if its RTL is not in it. No filter of the repository runs.
#[test]
fn uncommitted_rtl_is_marked() {
    let folder = TempDir::new().unwrap();
    let git = |words: &[&str]| {
        let names = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut git = std::process::Command::new("git");
        let output = git.args(names).args(words).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", text(&output));
    };
    fs::create_dir(folder.path().join("rtl")).unwrap();
    let file = folder.path().join("rtl/QpStateCtrl.sv");
    let source = fs::read_to_string(project().join("rtl/qp/QpStateCtrl.sv")).unwrap();
    fs::write(&file, &source).unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "rtl"]);
    git(&["commit", "--quiet", "-m", "rtl"]);
    let mark = folder.path().join("mark");
    git(&["config", "filter.evil.clean", &format!("touch {}; cat", mark.display())]);
    fs::write(folder.path().join(".gitattributes"), "*.sv filter=evil\n").unwrap();
    let commit = |name: &str| {
        let words = ["run", "--block", "qp", "--rtl", "rtl", "--cases", "1", "--quiet", "--out"];
        assert_eq!(code(&run_in(folder.path(), &[&words[..], &[name]].concat())), 0);
        json(&folder.path().join(name).join("timing.json"))["commit"].as_str().unwrap().to_owned()
    };
    let clean = commit("clean");
    assert_eq!(clean.len(), 40, "{clean}");
    fs::write(&file, source + "// more\n").unwrap();
    assert_eq!(commit("changed"), format!("{clean}-dirty"));
    assert!(!mark.exists());
}
