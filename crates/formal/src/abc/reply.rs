//! Parses the output of ABC and decides whether the reply may be cached. The names of the graph's
//! inputs are not part of a reply.
//!
//! A cached reply must not depend on the speed of the machine. Proofs and counterexamples do not.
//! An undecided reply may be cached only if a limit on work, and not one on time, stopped ABC.

use super::MOST;
use crate::certificate::Invariant;
use crate::portfolio::SECONDS;
use serde::{Deserialize, Serialize};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use verilated_build::EXCEEDED;

/// ABC's time limits are approximate, and its engines use clocks of their own. A run that took less
/// than this fraction of its limit was not stopped by the limit.
const IN_TIME: f64 = 0.75;

/// ABC's reply to whether the output of a graph can be 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The output is never 1; the invariant, if ABC wrote one.
    Never(Option<Invariant>),
    /// The output is 1 in the last cycle of this trace, in ABC's text format.
    Seen(String),
    /// Undecided.
    Open {
        /// Cycles in which the output is known to be 0.
        cycles: Option<u32>,
        /// Why ABC did not decide.
        because: String,
    },
}

impl Reply {
    /// Parses a cached reply.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Serializes the reply for the cache.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// Whether ABC gives this reply on every machine, given its output and its time `limit` in
    /// seconds.
    pub(super) fn is_repeatable(&self, limit: f64, said: &str, output: &Output) -> bool {
        if !output.status.success() {
            return false;
        }
        match self {
            Self::Never(_) | Self::Seen(_) => true,
            Self::Open { .. } => {
                let is_undecided = status(said) == Some("-1");
                is_undecided
                    && !said.to_lowercase().contains("timeout")
                    && seconds(said).is_some_and(|seconds| seconds < limit * IN_TIME)
            }
        }
    }
}

/// The last status that ABC prints: 1 for a proof, 0 for a counterexample, -1 for undecided.
pub(super) fn status(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.split_once("Status =")?.1.split_whitespace().next())
}

/// Elapsed seconds as printed by ABC's command `time`.
fn seconds(said: &str) -> Option<f64> {
    let seconds = |line: &str| line.strip_prefix("elapse: ")?.split(' ').next()?.parse().ok();
    said.lines().rev().find_map(seconds)
}

/// An undecided reply, with the reason from ABC's output.
pub(super) fn not_shown(said: &str, output: &Output) -> Reply {
    if !output.status.success() {
        let because = match output.status.signal() {
            Some(EXCEEDED) => format!("no result within the time limit of {MOST} s"),
            _ => format!("no result: ABC ended with {}", output.status),
        };
        return Reply::Open { cycles: None, because };
    }
    let cycles = said.lines().find_map(|line| {
        line.split_once("No output asserted in ")?.1.split(' ').next()?.parse::<u32>().ok()
    });
    let mut because = match cycles {
        Some(cycles) => format!("no difference within {cycles} cycles, and no proof"),
        None => "neither a difference nor a proof was found".to_owned(),
    };
    if said.contains("timeout") {
        because += &format!(", within the time limit of {SECONDS} s");
    }
    Reply::Open { cycles, because }
}

/// The inputs of a trace in each cycle, the first of which is the reset cycle.
pub(super) fn rows(text: &str) -> impl Iterator<Item = &[u8]> {
    let rows = text.lines().map(|line| line.split(['#', ' ']).next().unwrap_or_default());
    // The first row holds the initial values of registers.
    rows.skip(1).filter(|row| !row.is_empty()).map(str::as_bytes)
}

/// The bits that are 1 in each cycle after the reset cycle; `None` if the trace is malformed.
pub(super) fn read_trace(text: &str, inputs: &[String]) -> Option<Vec<Vec<String>>> {
    let row = |row: &[u8]| -> Option<Vec<String>> {
        let bits = row.iter().zip(inputs).filter(|(bit, _)| **bit == b'1');
        (row.len() == inputs.len()).then(|| bits.map(|(_, name)| name.clone()).collect())
    };
    rows(text).skip(1).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of an ABC process with this wait status.
    fn ended(code: i32) -> Output {
        Output {
            status: std::process::ExitStatus::from_raw(code),
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }

    #[test]
    fn why_nothing_was_shown_is_said_with_what_was_done() {
        let because = |said: &str, code| match not_shown(said, &ended(code)) {
            Reply::Open { because, .. } => because,
            other => panic!("{other:?}"),
        };
        for (said, expected) in [
            (
                "No output asserted in 3 frames. Resource limit reached (conf limit 10).\nProperty UNDECIDED.",
                "no difference within 3 cycles, and no proof",
            ),
            (
                "No output asserted in 40 frames.\nReached timeout (60 seconds) in frame 3.",
                "no difference within 40 cycles, and no proof, within the time limit of 60 s",
            ),
            ("", "neither a difference nor a proof was found"),
        ] {
            assert_eq!(because(said, 0), expected);
        }
        assert!(because("", 6).starts_with("no result: ABC ended with signal: 6"));
        assert_eq!(because("", EXCEEDED), "no result within the time limit of 120 s");
    }

    /// The trace has the format that ABC writes.
    #[test]
    fn a_trace_begins_behind_the_cycle_in_reset() {
        let inputs = ["rst", "a[0]", "a[1]"].map(str::to_owned);
        let text = "000000\n100\n010\n011# DONE\n";
        let expected: [&[&str]; 2] = [&["a[0]"], &["a[0]", "a[1]"]];
        assert_eq!(read_trace(text, &inputs).unwrap(), expected);
        assert_eq!(read_trace("0\n1000\n0000\n", &inputs), None);
    }

    /// The messages are copied from ABC.
    #[test]
    fn a_reply_that_a_limit_of_time_ended_is_not_repeatable() {
        const FRAMES: &str = "No output asserted in 2 frames. Resource limit reached";
        const LAST: &str = "Status = -1  Frames = 1   Cex is not defined.";
        let is_repeatable = |limit: &str, elapse: &str, code| {
            let said = format!("{FRAMES} ({limit}). Time = 1.00 sec\n{elapse}\n{LAST}\n");
            let output = ended(code);
            not_shown(&said, &output).is_repeatable(10.0, &said, &output)
        };
        let conflicts = "conf limit 200";
        assert!(is_repeatable(conflicts, "elapse: 7.40 seconds, total: 7.40 seconds", 0));
        for (limit, elapse, code) in [
            ("timeout 10 sec", "elapse: 1.00 seconds, total: 1.00 seconds", 0),
            (conflicts, "elapse: 9.93 seconds, total: 9.93 seconds", 0),
            (conflicts, "", 0),
            (conflicts, "elapse: 1.00 seconds, total: 1.00 seconds", EXCEEDED),
            (conflicts, "elapse: 1.00 seconds, total: 1.00 seconds", 9),
        ] {
            assert!(!is_repeatable(limit, elapse, code), "{limit} {elapse} {code}");
        }
        let silent = not_shown("", &ended(0));
        assert!(!silent.is_repeatable(10.0, "", &ended(0)), "it did not even read the graph");
        let proved = Reply::Never(None);
        assert!(proved.is_repeatable(2.0, "elapse: 9.00 seconds", &ended(0)));
    }

    #[test]
    fn a_reply_is_kept_without_the_names_of_inputs() {
        let seen = Reply::Seen("0\n10\n01\n".to_owned());
        let kept = Reply::from_bytes(&seen.to_bytes().unwrap()).unwrap();
        assert_eq!(kept, seen);
        assert_eq!(Reply::from_bytes(b"{}"), None);
    }
}
