//! Write errors: a run still reports its results.

use crate::common::{code, files, of_a_block, patched_rtl, project, run, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs the program with `arguments` in a shell after `before`, in `folder`.
fn under(before: &str, folder: &Path, arguments: &[&str]) -> Output {
    let program = crate::common::cosim();
    Command::new("bash")
        .args(["-c", &format!("{before} && exec \"$@\""), "bash"])
        .arg(program.get_program())
        .args(of_a_block(arguments))
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(folder)
        .output()
        .expect("bash is there")
}

/// Limits the size of files in KiB. The signal that this causes ends programs that do not expect
/// it.
fn limit(kib: u32) -> String {
    format!("ulimit -f {kib}")
}

fn partial_files(folder: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".cosim-")).collect()
}

const FAILING: [&str; 7] = ["run", "--cases", "20", "--scenario", "ring", "--max-failures", "3"];

/// RTL with a bug, compiled by a run without limits.
fn failing_rtl() -> TempDir {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let (path, out) = (rtl.path().join("rtl"), rtl.path().join("first"));
    let places = ["--rtl", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
    assert_eq!(code(&run(FAILING.iter().chain(&places))), 1);
    assert!(!files(&out.join("failures"), "json").is_empty());
    assert!(!files(&out.join("failures"), "fst").is_empty());
    rtl
}

#[test]
fn a_match_whose_results_cannot_be_written_exits_with_3() {
    let folder = TempDir::new().unwrap();
    let arguments = ["run", "--cases", "2", "--scenario", "smoke", "--out", "out"];
    let output = under(&limit(1), folder.path(), &arguments);
    let printed = text(&output);
    assert_eq!(code(&output), 3, "{printed}");
    assert!(!printed.contains("PASS"), "{printed}");
    assert!(printed.starts_with("NOT WRITTEN  thread2, seed 1:"), "{printed}");
    assert!(printed.contains("not written: 1 file"), "{printed}");
    // Results record the checksum of coverage.json, so they depend on it.
    assert!(printed.contains("out/coverage.json"), "{printed}");
    assert!(!folder.path().join("out/results.json").exists());
}

/// Neither the files that Verilator reads nor the waveforms fit.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_signal() {
    let rtl = failing_rtl();
    let path = rtl.path().join("rtl");
    let results = crate::common::json(&rtl.path().join("first/results.json"));
    let vector = results["failures"][0]["vector"].as_str().unwrap();
    let vector = rtl.path().join("first").join(vector);
    let folder = TempDir::new().unwrap();
    let arguments =
        ["replay", vector.to_str().unwrap(), "--rtl", path.to_str().unwrap(), "--trace", "a.fst"];
    let output = under(&limit(1), folder.path(), &arguments);
    let printed = text(&output);
    assert_eq!(code(&output), 3, "{printed}");
    assert!(printed.contains("File too large"), "{printed}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

/// A path has at most 4095 bytes. In a folder of 4070 bytes, `results.json` fits, and nothing in
/// `failures` does.
#[test]
fn failures_of_impossible_names_leave_results_summary_and_exit_code() {
    let rtl = failing_rtl();
    let path = rtl.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let mut out = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    while out.len() < 4070 {
        let rest = 4070 - out.len() - 1;
        // The last name must not be empty.
        out = format!("{out}/{}", "x".repeat(if rest > 200 { 100 } else { rest }));
    }
    let arguments = [&FAILING[..], &["--rtl", path.to_str().unwrap(), "--out", &out]].concat();
    let output = run(&arguments);
    let printed = text(&output);
    assert_eq!(code(&output), 1, "{printed}");
    assert!(printed.contains("FAIL  thread2, seed 1:"), "{printed}");
    assert!(printed.contains("File name too long"), "{printed}");
    assert!(!printed.contains(".cosim-"), "{printed}");
    let results = crate::common::json(&Path::new(&out).join("results.json"));
    assert_eq!(results["totals"]["mismatched"], 3);
    for group in results["failures"].as_array().unwrap() {
        assert!(group["vector"].is_null() && group["waves"].is_null(), "{group}");
        let notes = group["notes"].as_array().unwrap();
        let notes: Vec<&str> = notes.iter().map(|note| note.as_str().unwrap()).collect();
        let mut different = notes.clone();
        different.dedup();
        assert_eq!(notes, different, "said once");
    }
}

/// The command that creates a mount namespace: as a user who becomes root in it, or as root. `None`
/// if neither is permitted.
fn own_mounts() -> Option<Vec<&'static str>> {
    let user = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c"].to_vec();
    let root = ["unshare", "--mount", "bash", "-c"].to_vec();
    let works = |words: &Vec<&str>| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("mount -t tmpfs -o size=64k none /mnt");
        command.output().is_ok_and(|output| output.status.success())
    };
    [user, root].into_iter().find(works)
}

/// A full disk: a file system of 64 KiB in a mount namespace.
#[test]
fn a_full_disk_leaves_the_summary_and_the_exit_code() {
    let Some(space) = own_mounts() else {
        println!("not run: mount namespaces may not be made here");
        return;
    };
    let rtl = failing_rtl();
    let path = rtl.path().join("rtl");
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("disk")).unwrap();
    let arguments =
        [&FAILING[..], &["--rtl", path.to_str().unwrap(), "--out", "disk/out"]].concat();
    let mount = "mount -t tmpfs -o size=64k none disk";
    let filled = format!("{mount} && head -c 48K /dev/zero > disk/other && exec \"$@\"");
    let words: Vec<String> = space.iter().map(|word| format!("'{word}'")).collect();
    let before = format!("set -- {} '{filled}' bash \"$@\"", words.join(" "));
    let reason = "No space left on device";
    let output = under(&before, folder.path(), &arguments);
    let printed = text(&output);
    assert_eq!(code(&output), 1, "{printed}");
    assert!(printed.contains("FAIL  thread2, seed 1:"), "{printed}");
    assert!(printed.contains("not written: "), "{printed}");
    assert!(printed.contains(reason), "{printed}");
    assert!(printed.contains("--case thread2/"), "how to see it again: {printed}");
    assert!(!printed.contains(".cosim-"), "{printed}");
    assert_eq!(partial_files(folder.path()), [""; 0]);
}
