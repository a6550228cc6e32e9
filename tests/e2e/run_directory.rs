//! Run directories: each belongs to one run, and no files of other runs are lost.

use crate::common::{Place, cases, project};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Child;

const SHORT: &str = "run --cases 1 --scenario smoke";

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

/// A file beside those of a run, and a link.
#[test]
fn a_folder_that_is_no_run_is_never_replaced() {
    let place = Place::new();
    for folder in ["file", "link"] {
        place.exits(0, &format!("{SHORT} --out {folder}"));
    }
    place.write("file/failures/notes.md", "why");
    symlink(project(), place.path("link/saved")).unwrap();
    for folder in ["file", "link"] {
        let before = content(&place.path(folder));
        for force in ["", "--force"] {
            place.fails("E0602", "", &format!("{SHORT} --out {folder} {force}"));
            assert_eq!(content(&place.path(folder)), before, "nothing was written");
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
