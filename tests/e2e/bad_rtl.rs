//! The corpus of bugs in `tests/bad_rtl`: each is found by default runs with three seeds, saved,
//! shrunk, replayed to the same signature, and gone with the good RTL.

use crate::common::{code, files, json, patched_rtl, project, run, text};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Finds one bug; returns what is wrong with how that went.
fn find(block: &str, patch: &Path, most_packets: Option<u64>) -> Result<(), String> {
    let copy = patched_rtl(patch);
    let rtl = copy.path().join("rtl");
    let rtl = rtl.to_str().unwrap();
    let folder = TempDir::new().unwrap();
    // A bug that the first profile shows is one that the default run finds, whose cases have the same seeds:
    // the models of the other profiles need not be compiled.
    let mut fixes = "spec";
    for seed in ["11", "22", "33"] {
        let out = folder.path().join(seed);
        // Waves and shrinking are shown on the first seed; one thread, since bugs run in parallel.
        let mut arguments = vec!["run", "--block", block, "--rtl", rtl, "--seed", seed, "--quiet"];
        arguments.extend(["--max-failures", "1", "--threads", "1", "--no-waves"]);
        arguments.extend(["--out", out.to_str().unwrap()]);
        if seed != "11" {
            arguments.push("--no-shrink");
        }
        let run_with = |fixes| run([&arguments[..], &["--force", "--fixes", fixes]].concat());
        let mut output = run_with(fixes);
        if code(&output) == 0 && fixes == "spec" {
            fixes = "all";
            output = run_with(fixes);
        }
        if code(&output) != 1 {
            return Err(format!("seed {seed} does not find it: {}", text(&output)));
        }
    }
    let out = folder.path().join("11");
    let group = json(&out.join("results.json"))["failures"][0].clone();
    let vector = out.join(group["vector"].as_str().unwrap());
    let vector = vector.to_str().unwrap();
    let packets = group["packets"].as_u64().unwrap();
    if most_packets.is_some_and(|most| packets > most) {
        return Err(format!("shrunk to {packets} packets only"));
    }
    let again = run(["replay", "--expect-recorded", "--rtl", rtl, vector]);
    if code(&again) != 0 {
        return Err(format!("does not happen again: {}", text(&again)));
    }
    let good = run(["replay", "--rtl", "built-in", vector]);
    if code(&good) != 0 {
        return Err(format!("the good RTL fails, too: {}", text(&good)));
    }
    Ok(())
}

/// Every bug of a block; their vectors shrink to what `most_packets` says of the patch's name, if that is
/// anything.
fn find_all(block: &str, bugs: usize, most_packets: fn(&str) -> Option<u64>) {
    let patches: Vec<PathBuf> = files(&project().join("tests/bad_rtl").join(block), "patch");
    assert_eq!(patches.len(), bugs, "a bug was lost or added");
    let failures: Vec<String> = patches
        .par_iter()
        .filter_map(|patch| {
            let name = patch.file_name()?.to_str()?;
            Some(format!("{name}: {}", find(block, patch, most_packets(name)).err()?))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_bug_of_thread2_is_found() {
    find_all("thread2", 94, |_| Some(3));
}

#[test]
fn every_bug_of_dll_is_found() {
    // A packet is one TLP here. Most bugs need three; a full buffer needs 16, a timer that runs on more,
    // and sequence numbers roll over after 4096. Two of those with timers stop at 128 and 130 of them.
    find_all("dll", 63, |name| {
        (!name.contains("modulo") && !name.contains("at-the-edge")).then_some(130)
    });
}
