//! Write errors: a run still reports its results.

use crate::common::{Place, assert_code, assert_contains, files, program, text, typed_in};
use std::fs;
use std::process::{Command, Output};

/// Runs the words of a line in a folder of a place, in a shell after `before`.
pub fn under(before: &str, place: &Place, folder: &str, line: &str) -> Output {
    let path = program().get_program().to_str().unwrap().to_owned();
    typed_in(&place.path(folder), &format!("{before} '{path}' {line}"))
}

/// Limits the size of files to 1 KiB. The signal that this causes ends programs that do not expect
/// it.
const LIMIT: &str = "ulimit -f 1 && exec";

#[test]
fn a_match_whose_results_cannot_be_written_exits_with_3() {
    let place = Place::new();
    let line = "run --block thread2 --cases 2 --scenario smoke --out out";
    let output = under(LIMIT, &place, "", line);
    assert_code(&output, 3);
    let printed = text(&output);
    assert!(!printed.contains("PASS"), "{printed}");
    assert!(printed.starts_with("NOT WRITTEN  thread2, seed 1:"), "{printed}");
    // Results record the checksum of coverage.json, so they depend on it.
    assert_contains(&printed, &["not written: 1 file", "out/coverage.json"]);
    assert!(!place.has_file("out/results.json"));
}

/// The command that creates a mount namespace: as a user who becomes root in it, or as root. `None`
/// if neither is permitted.
fn own_mounts() -> Option<&'static str> {
    let works = |line: &&str| {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).arg("mount -t tmpfs -o size=64k none /mnt");
        command.output().is_ok_and(|output| output.status.success())
    };
    let lines = ["unshare --user --map-root-user --mount bash -c", "unshare --mount bash -c"];
    lines.into_iter().find(works)
}

/// Failures that cannot be written leave the summary and the exit code.
#[test]
fn failures_that_cannot_be_written_are_reported() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let rtl = place.path("rtl").display().to_string();
    let run = "run --block thread2 --cases 20 --scenario ring --max-failures 3";
    let run = format!("{run} --rtl {rtl} --out");
    // Without a limit, so that the model is compiled.
    place.exits(1, &format!("{run} first"));
    assert!(!place.vectors("first").is_empty());
    assert!(!files(&place.path("first/failures"), "fst").is_empty());
    let has_summary = |output: &Output, words: &[&str]| {
        assert_code(output, 1);
        let printed = text(output);
        assert_contains(&printed, &["FAIL  thread2, seed 1:"]);
        assert_contains(&printed, words);
        assert!(!printed.contains(".cosim-"), "{printed}");
    };

    // A limit of file sizes is an error and no signal. Neither the files that Verilator reads nor
    // the waveforms fit.
    fs::create_dir(place.path("empty")).unwrap();
    let vector = place.path(&place.vector("first"));
    let line = format!("replay {} --rtl {rtl} --trace a.fst", vector.display());
    let output = under(LIMIT, &place, "empty", &line);
    assert_code(&output, 3);
    assert_contains(&text(&output), &["File too large"]);
    assert_eq!(place.names("empty"), [""; 0], "nothing is left");

    // A path has at most 4095 bytes. In a folder of 4070 bytes, `results.json` fits, and nothing
    // in `failures` does.
    let mut out = place.path("").canonicalize().unwrap().to_str().unwrap().to_owned();
    while out.len() < 4070 {
        let rest = 4070 - out.len() - 1;
        // The last name must not be empty.
        out = format!("{out}/{}", "x".repeat(if rest > 200 { 100 } else { rest }));
    }
    has_summary(&place.run(&format!("{run} {out}")), &["File name too long"]);
    let results = place.results(out);
    assert_eq!(results["totals"]["mismatched"], 3);
    for group in results["failures"].as_array().unwrap() {
        assert!(group["vector"].is_null() && group["waves"].is_null(), "{group}");
        let notes = group["notes"].as_array().unwrap();
        let mut different = notes.clone();
        different.dedup();
        assert_eq!(*notes, different, "each is there once");
    }

    // A full disk: a file system of 64 KiB in a mount namespace.
    let Some(space) = own_mounts() else {
        println!("not run: mount namespaces may not be made here");
        return;
    };
    fs::create_dir_all(place.path("mounted/disk")).unwrap();
    let mount = "mount -t tmpfs -o size=64k none disk";
    let filled = format!("{mount} && head -c 48K /dev/zero > disk/other && exec \"$@\"");
    let before = format!("exec {space} '{filled}' bash");
    let output = under(&before, &place, "mounted", &format!("{run} disk/out"));
    // The command shows how to see a failure again.
    has_summary(&output, &["not written: ", "No space left on device", "--case thread2/"]);
    let entries = walkdir::WalkDir::new(place.path("mounted")).into_iter().map(Result::unwrap);
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert_eq!(names.find(|name| name.starts_with(".cosim-")), None);
}
