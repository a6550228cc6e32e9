//! The corpus of bugs in `tests/bad_rtl`: each is found by default runs with three seeds, saved,
//! shrunk, replayed to the same signature, and gone with the good RTL; and the judgement says that the RTL
//! breaks the specification.

use crate::common::{code, files, json, patched_rtl, project, run, text};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Finds one bug; returns the side that is said to break the specification, or what is wrong with how that
/// went.
fn find(block: &str, patch: &Path, most_packets: Option<u64>) -> Result<String, String> {
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
    match group["judgement"]["broken_by"].as_str() {
        Some(side @ ("rtl" | "undecided" | "raw_pins")) => Ok(side.to_owned()),
        other => Err(format!("the golden model is right, but the judgement is {other:?}")),
    }
}

/// Every bug of a block; their vectors shrink to what `most_packets` says of the patch's name, if that is
/// anything. All are judged to be the RTL's, but for those in `open`, of which the judgement says why not; if
/// there is no such list, none at least is judged to be the golden model's.
fn find_all(
    block: &str,
    bugs: usize,
    most_packets: fn(&str) -> Option<u64>,
    open: Option<&[(&str, &str)]>,
) {
    let patches: Vec<PathBuf> = files(&project().join("tests/bad_rtl").join(block), "patch");
    assert_eq!(patches.len(), bugs, "a bug was lost or added");
    let (sides, failures): (Vec<_>, Vec<_>) = patches
        .par_iter()
        .map(|patch| {
            let name = patch.file_stem().and_then(|name| name.to_str()).expect("a name");
            match find(block, patch, most_packets(name)) {
                Ok(side) => (Some((name, side)), None),
                Err(failure) => (None, Some(format!("{name}: {failure}"))),
            }
        })
        .unzip();
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let sides: Vec<(&str, String)> = sides.into_iter().flatten().collect();
    let undecided: Vec<(&str, &str)> = sides
        .iter()
        .filter(|(_, side)| side != "rtl")
        .map(|(name, side)| (*name, side.as_str()))
        .collect();
    assert_eq!(undecided, open.unwrap_or(&undecided), "bugs that are not judged to be the RTL's");
}

/// The others, 80 of 94, are judged to be the RTL's. Raw pins come first in profile `spec` for bugs that legal
/// stimulus shows in other profiles or seldom.
const THREAD2_OPEN: &[(&str, &str)] = &[
    ("09-send-gated-by-wqe-valid", "raw_pins"),
    ("21-wqe-addr-latched-in-update", "raw_pins"),
    ("22-msg-offset-kept-on-error", "raw_pins"),
    // wqe_resp_ready beside a unit that is not on offer, of which no check of the scoreboard speaks.
    ("35-byte-cnt-16-bits", "undecided"),
    ("36-byte-cnt-sign-extended", "raw_pins"),
    ("44-rq-next-24-bits", "raw_pins"),
    ("46-entry-size-5-accepted", "raw_pins"),
    ("49-illegal-entry-size-in-wrap-check", "raw_pins"),
    ("54-next-wqe-addr-24-bits", "raw_pins"),
    ("59-cache-stride-9-bits", "raw_pins"),
    ("74-ack-without-status", "raw_pins"),
    ("83-no-event-after-length-error", "raw_pins"),
    ("88-f5-error-without-cqe", "raw_pins"),
    ("89-f5-status-good", "raw_pins"),
];

#[test]
fn every_bug_of_thread2_is_found() {
    find_all("thread2", 94, |_| Some(3), Some(THREAD2_OPEN));
}

#[test]
fn every_bug_of_dll_is_found() {
    // A packet is one TLP here. Most bugs need three; a full buffer needs 16, a timer that runs on more,
    // and sequence numbers roll over after 4096.
    find_all(
        "dll",
        63,
        |name| (!name.contains("modulo") && !name.contains("at-the-edge")).then_some(64),
        None,
    );
}

/// Bugs of `qp` that no three steps show. RTR takes two steps, RTS and SQD three, and what happens there one
/// more; a drain that is told wrongly takes one or two drains. Of some a step is kept because the rules of the
/// cycle in which a bug shows are part of a failure, and it has one of them.
const LATER_IN_LIFE: [&str; 19] = [
    "07-init-to-init-takes-the-service",
    "11-sqe-is-a-dead-end",
    "12-sqd-from-sqe",
    "13-sqd-to-sqd-is-illegal",
    "17-destroy-forbidden-in-rts",
    "19-parameter-permitted-on-sqd-to-sqd",
    "23-sqd-to-sqd-forgets-the-notification",
    "24-notification-survives-rts",
    "28-established-for-ud",
    "32-drained-told-each-time",
    "33-drained-told-without-notification",
    "34-send-error-always-sqe",
    "35-send-error-in-sqd",
    "36-send-error-told",
    "39-command-before-event",
    "43-packet-refused-in-sqd",
    "44-packet-refused-in-sqe",
    "57-qpn-7-bits",
    "65-events-as-a-stack",
];

/// A packet of `qp` is a step: a command, an event and a request packet that begin in one cycle. A full queue
/// has sixteen events.
fn steps_of_qp(name: &str) -> Option<u64> {
    Some(match name {
        _ if LATER_IN_LIFE.contains(&name) => 8,
        _ if name.contains("-full-") => 20,
        _ => 3,
    })
}

#[test]
fn every_bug_of_qp_is_found() {
    // Noise on idle pins hardly names a QP that could wait.
    let open = [("63-hw-ready-looks-at-idle-pins", "raw_pins")];
    find_all("qp", 69, steps_of_qp, Some(&open));
}
