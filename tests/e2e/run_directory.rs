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
    cases(&place.results(run)).len()
}

#[test]
fn only_a_run_is_replaced_and_only_by_force() {
    let place = Place::new();
    for (folder, more) in [("run", "--save-vectors 2"), ("file", ""), ("link", "")] {
        place.exits(0, &format!("{SHORT} --out {folder} {more}"));
    }
    assert!(!place.names("run/saved").is_empty());
    place.write("file/failures/notes.md", "why");
    symlink(project(), place.path("link/saved")).unwrap();
    for (folder, more) in [
        ("run", ""),
        ("run", "--case thread2/spec/smoke/0"),
        ("file", "--force"),
        ("link", "--force"),
    ] {
        let before = content(&place.path(folder));
        place.fails("E0602", "", &format!("run --seed 2 --out {folder} {more}"));
        assert_eq!(content(&place.path(folder)), before, "nothing was written");
    }
    place.exits(0, &format!("{SHORT} --out run --force --seed 2"));
    assert_eq!(place.results("run")["run"]["seed"], 2);
    assert!(!place.has("run/saved"), "nothing of the first run is left");
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
    // Simultaneous runs have different directories.
    let children: Vec<Child> = (0..8).map(|_| place.start(SHORT)).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let runs = place.names("runs");
    assert_eq!(runs.len(), 13, "twelve runs and the link: {runs:?}");
    assert!(runs.iter().all(|run| place.has(&format!("runs/{run}/results.json"))));
    // A folder called `latest` is left alone.
    let latest = place.path("runs/latest");
    fs::remove_file(&latest).unwrap();
    fs::create_dir(&latest).unwrap();
    place.prints(0, &["warning: cannot update runs/latest"], SHORT);
    assert!(latest.is_dir() && !latest.is_symlink());
}
