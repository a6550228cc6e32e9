//! Run directories: each belongs to one run, and no files of other runs are lost.

use crate::common::{Place, assert_code, cases, is_longer, project, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const SHORT: &str = "run --cases 1 --scenario smoke";

/// An endless run into `out` that has started to write.
fn endless(place: &Place) -> Child {
    let mut run = place.command("run --time 100h --scenario smoke --out out");
    let mut child = run.stdout(Stdio::piped()).spawn().unwrap();
    wait_until(&mut child, || is_longer(&place.path("out/results.json.partial"), 2000));
    child
}

/// All files of a folder with their contents.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap())).collect()
}

/// The number of cases in the results of a run.
fn count(place: &Place, run: &str) -> usize {
    cases(&place.json(&format!("{run}/results.json"))).len()
}

/// The first run is then interrupted.
#[test]
fn a_second_run_into_a_directory_that_is_being_written_is_refused_and_names_the_first() {
    let place = Place::new();
    let first = endless(&place);
    for more in ["", "--force", "--block dll --scenario default"] {
        let printed = place.exits(2, &format!("run --cases 1 --out out {more}"));
        let holder = format!("is being written by another run, process {}", first.id());
        assert!(printed.contains(&holder) && printed.contains("--time 100h"), "{printed}");
    }
    kill_process(Pid::from_child(&first), Signal::INT).unwrap();
    let output = first.wait_with_output().unwrap();
    assert_code(&output, 130);
    // What it has compared can be read, and it can be resumed.
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("INTERRUPTED"), "{printed}");
    let last_line = printed.lines().last().unwrap();
    assert!(last_line.starts_with("  next: ") && last_line.ends_with("out"), "{printed}");
    assert!(last_line.contains(" resume "), "{printed}");
    let results = place.json("out/results.json");
    assert_eq!((&results["ended"], &results["passed"]), (&"interrupted".into(), &false.into()));
    assert!(count(&place, "out") > 0, "the results so far are written");
    assert_eq!(count(&place, "out"), results["totals"]["cases"]);
    assert!(place.has("out/timing.json"));
}

#[test]
fn a_killed_run_leaves_no_lock_no_result_and_whole_lines() {
    let place = Place::new();
    let mut killed = endless(&place);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!place.has("out/results.json"));
    let partial = place.text("out/results.json.partial");
    let rows = partial.lines().skip_while(|line| *line != "\"cases\": [").skip(1);
    let rows = rows.map(|line| serde_json::from_str(line.trim_end_matches(',')).unwrap());
    let rows: Vec<serde_json::Value> = rows.collect();
    assert_eq!(rows[0]["from"], 0);
    place.fails("E0602", "", &format!("{SHORT} --out out"));
    place.exits(0, &format!("{SHORT} --out out --force"));
    assert!(!place.has("out/results.json.partial"));
    assert_eq!(count(&place, "out"), 2);
}

#[test]
fn an_earlier_run_is_replaced_only_by_force_and_then_as_a_whole() {
    let place = Place::new();
    place.exits(0, &format!("{SHORT} --out out --save-vectors 2"));
    let before = content(&place.path("out"));
    assert!(!place.names("out/saved").is_empty());
    for more in ["", "--case thread2/spec/smoke/0"] {
        place.fails("E0602", "--force", &format!("run --out out --seed 2 {more}"));
        assert_eq!(content(&place.path("out")), before);
    }
    place.exits(0, &format!("{SHORT} --out out --force --seed 2"));
    assert_eq!(place.json("out/results.json")["run"]["seed"], 2);
    assert!(!place.has("out/saved"), "nothing of the first run is left");
}

#[test]
fn a_folder_that_is_no_run_is_never_replaced() {
    for (name, text) in [
        ("thesis.txt", "precious"),
        ("results.json", r#"{"mine": 1}"#),
        // Beside the files of a run.
        ("failures/notes.md", "why"),
        // A link.
        ("saved", ""),
    ] {
        let place = Place::new();
        if name.starts_with("failures") {
            place.exits(0, &format!("{SHORT} --out out"));
        }
        if text.is_empty() {
            fs::create_dir(place.path("out")).unwrap();
            symlink(project(), place.path("out").join(name)).unwrap();
        } else {
            place.write(&format!("out/{name}"), text);
        }
        let before = content(&place.path("out"));
        for force in ["", "--force"] {
            place.fails("E0602", "", &format!("{SHORT} --out out {force}"));
            assert_eq!(content(&place.path("out")), before, "nothing was written");
        }
    }
}

#[test]
fn a_run_without_out_has_a_directory_of_its_own_and_latest_points_to_it() {
    let place = Place::new();
    let mut named = Vec::new();
    // A reproduce command may run in the same folder and must not touch the run.
    for (line, expected) in
        [(SHORT, 2), (SHORT, 2), ("run --case thread2/spec/smoke/0", 1), (SHORT, 2)]
    {
        let printed = place.exits(0, line);
        let name = printed.split("wrote runs/").nth(1).and_then(|rest| rest.split('/').next());
        let name = name.unwrap_or_else(|| panic!("{printed}"));
        let latest = fs::read_link(place.path("runs/latest")).unwrap();
        assert_eq!(latest, Path::new(name), "the newest");
        // Names like thread2-1-20260131T235959Z, with suffix -2 if that exists.
        let time = name.strip_prefix("thread2-1-").unwrap_or_else(|| panic!("{name}"));
        let shape = time.replace(|letter: char| letter.is_ascii_digit(), "0");
        assert!(shape.starts_with("00000000T000000Z"), "{name}");
        named.push((format!("runs/{name}"), expected));
    }
    for (run, expected) in named {
        assert_eq!(count(&place, &run), expected, "{run}");
    }
    assert_eq!(place.names("runs").len(), 5, "four runs and the link");
}

#[test]
fn simultaneous_runs_have_different_directories() {
    let place = Place::new();
    let children: Vec<Child> = (0..8).map(|_| place.start(SHORT)).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let runs = place.names("runs");
    assert_eq!(runs.len(), 9, "eight runs and the link: {runs:?}");
    for run in runs {
        assert_eq!(count(&place, &format!("runs/{run}")), 2, "{run}");
    }
}

#[test]
fn a_folder_called_latest_is_left_alone() {
    let place = Place::new();
    let latest = place.path("runs/latest");
    fs::create_dir_all(&latest).unwrap();
    let printed = place.exits(0, SHORT);
    assert!(printed.contains("warning: cannot update runs/latest"), "{printed}");
    assert!(latest.is_dir() && !latest.is_symlink());
}
