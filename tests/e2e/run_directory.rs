//! Run directories: each belongs to one run, and no files of other runs are lost.

use crate::common::{
    assert_code, assert_error, assert_error_at, cases, code, cosim, is_longer, json, run, run_in,
    text, wait_until,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const SHORT: [&str; 7] = ["run", "--block", "thread2", "--cases", "1", "--scenario", "smoke"];

fn short_into(out: &Path, more: &[&str]) -> std::process::Output {
    run(SHORT.iter().chain(&["--out", out.to_str().unwrap()]).chain(more))
}

/// An endless run that has started to write.
fn endless(out: &Path) -> Child {
    let mut child = Command::new(cosim().get_program())
        .args(["run", "--block", "thread2", "--time", "100h", "--scenario", "smoke", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, || is_longer(&out.join("results.json.partial"), 2000));
    child
}

/// All files of a folder with their contents.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_second_run_into_a_directory_that_is_being_written_is_refused_and_names_the_first() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let mut first = endless(&out);
    for more in [&[][..], &["--force"], &["--block", "dll", "--scenario", "default"]] {
        let output = if more.contains(&"dll") {
            run(["run", "--cases", "1", "--out", out.to_str().unwrap()].iter().chain(&more[..2]))
        } else {
            short_into(&out, more)
        };
        assert_code(&output, 2);
        let holder = format!("is being written by another run, process {}", first.id());
        assert!(text(&output).contains(&holder), "{}", text(&output));
        assert!(text(&output).contains("--time 100h"), "{}", text(&output));
    }
    let interrupted = Command::new("kill").args(["-INT", &first.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(130));
    let results = json(&out.join("results.json"));
    assert_eq!(cases(&results).len() as u64, results["totals"]["cases"].as_u64().unwrap());
}

#[test]
fn a_killed_run_leaves_no_lock_no_result_and_whole_lines() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let mut killed = endless(&out);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!out.join("results.json").exists());
    let partial = fs::read_to_string(out.join("results.json.partial")).unwrap();
    let rows: Vec<serde_json::Value> = partial
        .lines()
        .skip_while(|line| *line != "\"cases\": [")
        .skip(1)
        .map(|line| serde_json::from_str(line.trim_end_matches(',')).unwrap())
        .collect();
    assert_eq!(rows[0]["from"], 0);
    let output = short_into(&out, &[]);
    assert_error(&output, "E0602");
    assert_eq!(code(&short_into(&out, &["--force"])), 0);
    assert!(!out.join("results.json.partial").exists());
    assert_eq!(cases(&json(&out.join("results.json"))).len(), 2);
}

#[test]
fn an_earlier_run_is_replaced_only_by_force_and_then_as_a_whole() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    assert_eq!(code(&short_into(&out, &["--save-vectors", "2"])), 0);
    let before = content(&out);
    assert!(before.keys().any(|path| path.starts_with(out.join("saved"))));
    for more in [&[][..], &["--case", "thread2/spec/smoke/0"]] {
        let arguments = ["run", "--out", out.to_str().unwrap(), "--seed", "2"];
        let output = run(arguments.iter().chain(more));
        assert_error_at(&output, "E0602", "--force");
        assert_eq!(content(&out), before);
    }
    assert_eq!(code(&short_into(&out, &["--force", "--seed", "2"])), 0);
    assert_eq!(json(&out.join("results.json"))["run"]["seed"], 2);
    assert!(!out.join("saved").exists(), "nothing of the first run is left");
}

#[test]
fn a_folder_that_is_no_run_is_never_replaced() {
    let thesis = |folder: &Path| fs::write(folder.join("thesis.txt"), "precious").unwrap();
    let results = |folder: &Path| fs::write(folder.join("results.json"), r#"{"mine": 1}"#).unwrap();
    let failures = |folder: &Path| {
        assert_eq!(code(&short_into(folder, &[])), 0);
        fs::create_dir(folder.join("failures")).unwrap();
        fs::write(folder.join("failures/notes.md"), "why").unwrap();
    };
    let link = |folder: &Path| {
        let link = folder.join("saved");
        std::os::unix::fs::symlink(crate::common::project(), link).unwrap();
    };
    let fill: [&dyn Fn(&Path); 4] = [&thesis, &results, &failures, &link];
    for fill in fill {
        let folder = TempDir::new().unwrap();
        fill(folder.path());
        let before = content(folder.path());
        for force in [&[][..], &["--force"]] {
            let output = short_into(folder.path(), force);
            assert_error(&output, "E0602");
            assert_eq!(content(folder.path()), before, "nothing was written");
        }
    }
}

#[test]
fn a_run_without_out_has_a_directory_of_its_own_and_latest_points_to_it() {
    let folder = TempDir::new().unwrap();
    let runs = folder.path().join("runs");
    let mut named = Vec::new();
    // A reproduce command may run in the same folder and must not touch the run.
    let again = ["run", "--case", "thread2/spec/smoke/0"];
    for arguments in [&SHORT[..], &SHORT, &again, &SHORT] {
        let output = run_in(folder.path(), arguments);
        assert_code(&output, 0);
        let printed = text(&output);
        let name = printed.split("wrote runs/").nth(1).and_then(|rest| rest.split('/').next());
        named.push(name.unwrap_or_else(|| panic!("{printed}")).to_owned());
        let latest = fs::read_link(runs.join("latest")).unwrap();
        assert_eq!(latest, Path::new(named.last().unwrap()), "the newest");
    }
    let count = |name: &String| cases(&json(&runs.join(name).join("results.json"))).len();
    assert_eq!(named.iter().map(count).collect::<Vec<_>>(), [2, 2, 1, 2]);
    assert_eq!(fs::read_dir(&runs).unwrap().count(), 5, "four runs and the link");
    for name in named {
        // Names like thread2-1-20260131T235959Z, with suffix -2 if that exists.
        let time = name.strip_prefix("thread2-1-").unwrap_or_else(|| panic!("{name}"));
        let shape = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
        let shape: String = shape.collect();
        assert!(shape.starts_with("00000000T000000Z"), "{name}");
    }
}

#[test]
fn simultaneous_runs_have_different_directories() {
    let folder = TempDir::new().unwrap();
    let start = || {
        let mut program = Command::new(cosim().get_program());
        program.args(SHORT).current_dir(folder.path()).stdout(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<Child> = (0..8).map(|_| start()).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let runs = fs::read_dir(folder.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let runs: Vec<PathBuf> = runs.filter(|path| !path.is_symlink()).collect();
    assert_eq!(runs.len(), 8);
    for run in runs {
        assert_eq!(cases(&json(&run.join("results.json"))).len(), 2, "{run:?}");
    }
}

#[test]
fn a_folder_called_latest_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let latest = folder.path().join("runs/latest");
    fs::create_dir_all(&latest).unwrap();
    let output = run_in(folder.path(), &SHORT);
    assert_code(&output, 0);
    assert!(text(&output).contains("warning: cannot update runs/latest"), "{}", text(&output));
    assert!(latest.is_dir() && !latest.is_symlink());
}
