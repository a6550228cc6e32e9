//! The corpus of bugs in `tests/bad_rtl`, one folder per block. Default runs with three seeds find
//! each bug. Its vector is saved, shrunk, and replayed with the same signature. The vector matches
//! on the good RTL, and the RTL is blamed. Each tree of `rtl` and `src` selects a twelfth of the
//! bugs, so that all have their turn as the tree changes.

use crate::common::{blocks, checks, project};
use cosim_core::checks::Bugs;
use cosim_core::shard::Shard;
use std::env;
use std::process::Command;

const EXPECTED: [(&str, Bugs<'_>); 5] = [
    (
        "thread2",
        Bugs { most_packets: packets_of_thread2, open: Some(THREAD2_OPEN), ..Bugs::with_count(96) },
    ),
    ("dll", Bugs { most_packets: packets_of_dll, open: Some(DLL_OPEN), ..Bugs::with_count(65) }),
    ("qp", Bugs { most_packets: steps_of_qp, open: Some(QP_OPEN), ..Bugs::with_count(74) }),
    ("recv", Bugs { most_packets: packets_of_recv, open: Some(RECV_OPEN), ..Bugs::with_count(71) }),
    (
        "rx",
        Bugs {
            most_packets: packets_of_rx,
            open: None,
            reported_at: boundary_of_rx,
            ..Bugs::with_count(102)
        },
    ),
];

/// The RTL is blamed for the other 91 of 96. Raw pins find these bugs first in profile `spec`;
/// legal stimulus shows them in other profiles or seldom.
const THREAD2_OPEN: &[(&str, &str)] = &[
    ("09-send-gated-by-wqe-valid", "raw_pins"),
    ("21-wqe-addr-latched-in-update", "raw_pins"),
    ("36-byte-cnt-sign-extended", "raw_pins"),
    ("44-rq-next-24-bits", "raw_pins"),
    ("46-entry-size-5-accepted", "raw_pins"),
];

/// The RTL is blamed for the other 57 of 65. Raw pins find bugs first that need illegal DLLPs and
/// TLPs, such as numbers out of range, or a reset in the middle of traffic.
const DLL_OPEN: &[(&str, &str)] = &[
    ("03-latency-timer-not-reset", "raw_pins"),
    // An Ack overtakes a replay. No check of the scoreboard says whether the freed TLP is still
    // loaded in that cycle.
    ("07-offer-loaded-at-skip", "undecided"),
    ("14-skip-not-at-the-edge", "undecided"),
    ("17-range-up-to-next-seq", "raw_pins"),
    ("18-sent-at-this-edge-in-range", "raw_pins"),
    ("41-ahead-without-modulo", "raw_pins"),
    ("42-half-is-ahead", "raw_pins"),
    // The TLP comes some cycles late, and no check of the scoreboard says when it must be offered.
    ("64-no-offer-beside-a-write", "undecided"),
];

/// Numbers of bugs of `qp` that three steps do not show. RTR takes two steps, RTS and SQD three,
/// and activity there takes one more. A wrong drain report takes one or two drains. For some bugs,
/// shrinking keeps an extra step, because the rules of the failing cycle are part of the signature.
const LATER_IN_LIFE: [u64; 24] =
    [7, 11, 12, 13, 14, 17, 19, 20, 22, 23, 24, 28, 34, 35, 36, 39, 40, 41, 43, 44, 57, 65, 73, 74];

const MANY_STEPS: [&str; 4] = ["-full-", "-waiting-", "-drained-told-", "-idle-pins"];

/// A packet of `qp` is a step: what begins in one cycle. A full queue has sixteen events, and some
/// take two steps. A second report of a drain takes eleven.
fn steps_of_qp(name: &str) -> Option<u64> {
    let number = name.split('-').next().and_then(|number| number.parse().ok());
    Some(match name {
        _ if number.is_some_and(|number| LATER_IN_LIFE.contains(&number)) => 8,
        _ if MANY_STEPS.iter().any(|word| name.contains(word)) => 24,
        _ => 3,
    })
}

/// Noise on idle pins rarely names a QP that could be waiting.
const QP_OPEN: &[(&str, &str)] = &[
    ("07-init-to-init-takes-the-service", "raw_pins"),
    ("63-hw-ready-looks-at-idle-pins", "raw_pins"),
    ("72-withdrawn-command-acts", "raw_pins"),
];

/// The RTL is blamed for the other 66 of 71.
const RECV_OPEN: &[(&str, &str)] = &[
    ("31-wrong-kind-sticks", "undecided"),
    ("48-f0-always", "undecided"),
    ("50-f0-inverted", "undecided"),
    ("58-waits-in-proc-unexp-dp", "undecided"),
    ("69-f0-by-bit-1", "undecided"),
];

/// In profile `spec`, a low ring of `recv` needs thirteen packets, an empty one sixteen, and a
/// credit of 255 as many.
fn packets_of_recv(name: &str) -> Option<u64> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Some(match name {
        _ if has(&["255", "254", "credit-room", "alloc-count"]) => 300,
        _ if has(&["low", "refill", "credit", "empty-ring"]) => 30,
        // The rules of the failing cycle are part of the signature, and a refill is one of them.
        _ if has(&["complete-never-ends"]) => 20,
        _ => 3,
    })
}

/// A packet of `dll` is one TLP. Most bugs need three. A full buffer needs 16, a timer that keeps
/// running needs more, and sequence numbers wrap after 4096.
fn packets_of_dll(name: &str) -> Option<u64> {
    (!name.contains("modulo") && !name.contains("at-the-edge")).then_some(64)
}

/// Three packets of `thread2` show all bugs except those of messages of a gigabyte, because a
/// packet has at most 64 KiB.
fn packets_of_thread2(name: &str) -> Option<u64> {
    (!name.contains("30-bits")).then_some(3)
}

/// A packet of `rx` is a descriptor. Credits run out after sixteen. Two events that must meet at
/// one edge took up to 135.
fn packets_of_rx(_: &str) -> Option<u64> {
    Some(160)
}

/// A bug in a block inside `rx` shows at the outputs of that block, not further down the data path.
fn boundary_of_rx(name: &str) -> &'static [&'static str] {
    match name.split('-').nth(1) {
        Some("dll") => &["a_", "x_a_tlp_ready", "b_", "x_b_deliver_"],
        Some("qp") => {
            &["x_msg_accept", "x_msg_take_wqe", "x_msg_ack", "x_msg_nak", "x_hw_ready", "qp_"]
        }
        Some("thread2") => &["x_cxt_ready", "t2_"],
        Some("recv") => &["x_pkt_ready", "rv_"],
        _ => &[],
    }
}

/// The folders are checked in `corpus`.
#[test]
fn bugs_are_expected_of_each_block() {
    assert!(blocks().eq(EXPECTED.map(|(block, _)| block)));
}

/// The share of bugs to check: each 12th, from an offset that depends on the files of `rtl` and
/// `src`, or `COSIM_TEST_BUGS`. `scripts/test bugs` selects all of them, which takes longer than
/// all other tests together.
fn part() -> Shard {
    let part = env::var("COSIM_TEST_BUGS").unwrap_or_else(|_| {
        let mut git = Command::new("git");
        let files = git.args(["ls-files", "-s", "rtl", "src"]).current_dir(project()).output();
        let hash = blake3::hash(&files.unwrap().stdout);
        format!("{}/12", hash.as_bytes()[0] % 12 + 1)
    });
    part.parse().unwrap_or_else(|error| panic!("COSIM_TEST_BUGS: {error}"))
}

/// Checks that the bugs of a block are found. Each block has its own test, so that they run in
/// parallel.
fn are_found(block: &str) {
    let (_, bugs) = EXPECTED.into_iter().find(|(name, _)| *name == block).unwrap();
    let bugs = Bugs { part: part(), ..bugs };
    let folder = project().join("tests/bad_rtl").join(block);
    let found = checks(block).bugs_are_found(folder, &bugs);
    found.unwrap_or_else(|failed| panic!("{block}: {failed}"));
}

#[test]
fn bugs_of_thread2_are_found() {
    are_found("thread2");
}

#[test]
fn bugs_of_dll_are_found() {
    are_found("dll");
}

#[test]
fn bugs_of_qp_are_found() {
    are_found("qp");
}

#[test]
fn bugs_of_recv_are_found() {
    are_found("recv");
}

#[test]
fn bugs_of_rx_are_found() {
    are_found("rx");
}
