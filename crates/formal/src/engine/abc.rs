//! ABC, which comes with Yosys.
//!
//! A cached reply must not depend on the speed of the machine. Proofs and counterexamples do not.
//! An undecided reply may be cached only if a limit on work, and not one on time, stopped ABC.

use super::{Decider, Engine, EngineRun, Reply};
use crate::certificate::{Evidence, Invariant};
use crate::portfolio::{Attempt, SECONDS};
use cosim_base::error::Error;
use cosim_rtl::yosys::{self, YosysSession};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use verilated_build::EXCEEDED;

/// Processor seconds after which ABC is killed, at least: some of its commands have no time limit.
const MOST: u32 = 2 * SECONDS;
/// ABC's time limits are approximate, and its engines use clocks of their own. A run that took less
/// than this fraction of its limit was not stopped by the limit.
const IN_TIME: f64 = 0.75;

/// Commands of ABC that decide a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abc {
    /// Commands that reduce the network first, or empty. `scorr` and `lcorr` merge equal signals
    /// and registers (`-w` prints the registers, which a certificate needs); `dc2` rewrites logic.
    pub reduce: &'static str,
    /// The command that decides.
    pub command: Command,
}

/// A command of ABC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `bmc3`: searches for a trace from reset, frame by frame. It proves nothing.
    BoundedSearch,
    /// `ind`: an induction step. It finds no traces.
    Induction,
    /// `pdr`: property-directed reachability. It proves, or finds a trace.
    Pdr,
}

impl Command {
    const fn name(self) -> &'static str {
        match self {
            Self::BoundedSearch => "bmc3",
            Self::Induction => "ind",
            Self::Pdr => "pdr",
        }
    }
}

impl Abc {
    /// The command, as reports name it.
    fn decider(self, depth: Option<u32>) -> Decider {
        let Self { reduce, command } = self;
        let reduce = if reduce.is_empty() { String::new() } else { format!("{reduce}; ") };
        Decider { engine: format!("ABC {reduce}{}", command.name()), depth }
    }

    /// The commands with their limits.
    fn script(self, attempt: &Attempt) -> String {
        let Self { reduce, command } = self;
        let reduce = if reduce.is_empty() { String::new() } else { format!("{reduce}; ") };
        let command = command.name();
        let conflicts = attempt.conflicts.map_or_else(String::new, |most| format!(" -C {most}"));
        // It writes its invariant.
        let writes = if self.command == Command::Pdr { " -d" } else { "" };
        let Attempt { frames, seconds, .. } = attempt;
        format!("{reduce}{command} -F {frames}{conflicts} -T {seconds}{writes}")
    }
}

impl Engine for Abc {
    fn name(&self) -> &'static str {
        "ABC"
    }

    fn key(&self, attempt: &Attempt) -> Vec<Vec<u8>> {
        vec![
            b"abc".to_vec(),
            most(attempt).to_le_bytes().to_vec(),
            self.script(attempt).into_bytes(),
        ]
    }

    fn run(
        &self,
        session: &YosysSession,
        name: &str,
        file: &[u8],
        attempt: &Attempt,
    ) -> Result<EngineRun, Error> {
        let [path, trace, invariant] =
            ["aig", "trace", "pla"].map(|ending| session.path(&format!("{name}.{ending}")));
        fs::write(&path, file).map_err(Error::write(&path))?;
        // A file of an earlier attempt is not a part of this reply.
        let _ = fs::remove_file(&invariant);
        let to_file = match self.command {
            Command::Pdr => format!(" -I {}", invariant.display()),
            Command::BoundedSearch | Command::Induction => String::new(),
        };
        let commands = format!(
            "read_aiger {0}; {1}{to_file}; time; print_status; write_cex -a {2}",
            path.display(),
            self.script(attempt),
            trace.display()
        );
        let output = yosys::abc(&commands, most(attempt).into())?;
        let _ = fs::remove_file(&path);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let reply = match status(&stdout) {
            _ if !output.status.success() => not_shown(&stdout, &output),
            Some("1") => {
                let text = fs::read_to_string(&invariant).unwrap_or_default();
                Reply::Never(
                    Invariant::parse(&text).map(|invariant| invariant.with_merged(&stdout)),
                )
            }
            Some("0") => {
                let text = fs::read_to_string(&trace)
                    .map_err(|error| Error::unreadable(&trace, &error))?;
                let _ = fs::remove_file(&trace);
                Reply::Reached(text)
            }
            _ => not_shown(&stdout, &output),
        };
        let _ = fs::remove_file(&invariant);
        let is_repeatable = is_repeatable(&reply, attempt.seconds, &stdout, &output);
        let depth = match self.command {
            Command::Induction => Some(attempt.frames),
            Command::BoundedSearch | Command::Pdr => frames(&stdout),
        };
        Ok(EngineRun { reply, decider: self.decider(depth), is_repeatable })
    }

    fn evidence(&self, invariant: Option<Invariant>) -> Evidence {
        match self.command {
            Command::Pdr => {
                Evidence::Invariant { invariant, is_simplified: !self.reduce.is_empty() }
            }
            Command::BoundedSearch | Command::Induction => Evidence::Induction,
        }
    }
}

/// Processor seconds after which ABC is killed.
fn most(attempt: &Attempt) -> u32 {
    MOST.max((1.5 * attempt.seconds) as u32)
}

/// Whether ABC gives this reply on every machine, given its output and its time `limit` in seconds.
fn is_repeatable(reply: &Reply, limit: f64, stdout: &str, output: &Output) -> bool {
    if !output.status.success() {
        return false;
    }
    match reply {
        Reply::Never(_) | Reply::Reached(_) => true,
        Reply::Open { .. } => {
            let is_undecided = status(stdout) == Some("-1");
            is_undecided
                && !stdout.to_lowercase().contains("timeout")
                && seconds(stdout).is_some_and(|seconds| seconds < limit * IN_TIME)
        }
    }
}

/// The last status that ABC prints: 1 for a proof, 0 for a counterexample, -1 for undecided.
fn status(stdout: &str) -> Option<&str> {
    last(stdout, "Status =")
}

/// The number of frames that ABC prints last.
fn frames(stdout: &str) -> Option<u32> {
    last(stdout, "Frames =")?.parse().ok()
}

/// The word after the last `name`.
fn last<'a>(stdout: &'a str, name: &str) -> Option<&'a str> {
    stdout.lines().rev().find_map(|line| line.split_once(name)?.1.split_whitespace().next())
}

/// Elapsed seconds as printed by ABC's command `time`.
fn seconds(stdout: &str) -> Option<f64> {
    let seconds = |line: &str| line.strip_prefix("elapse: ")?.split(' ').next()?.parse().ok();
    stdout.lines().rev().find_map(seconds)
}

/// An undecided reply, with the reason from ABC's output.
fn not_shown(stdout: &str, output: &Output) -> Reply {
    if !output.status.success() {
        let because = match output.status.signal() {
            Some(EXCEEDED) => "no result within the time limit".to_owned(),
            _ => format!("no result: ABC ended with {}", output.status),
        };
        return Reply::Open { cycles: None, because };
    }
    let cycles = stdout.lines().find_map(|line| {
        line.split_once("No output asserted in ")?.1.split(' ').next()?.parse::<u32>().ok()
    });
    let mut because = match cycles {
        Some(cycles) => format!("no difference within {cycles} cycles, and no proof"),
        None => "neither a difference nor a proof was found".to_owned(),
    };
    if stdout.contains("timeout") {
        because += ", within the time limit";
    }
    Reply::Open { cycles, because }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::{FIRST_CYCLES, INDUCTION_STEP, LONG_PROOF};

    /// The output of an ABC process with this wait status.
    fn ended(code: i32) -> Output {
        Output {
            status: std::process::ExitStatus::from_raw(code),
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }

    #[test]
    fn an_engine_without_a_result_names_its_reason_and_its_work() {
        let because = |stdout: &str, code| match not_shown(stdout, &ended(code)) {
            Reply::Open { because, .. } => because,
            other => panic!("{other:?}"),
        };
        for (stdout, expected) in [
            (
                "No output asserted in 3 frames. Resource limit reached (conf limit 10).\nProperty UNDECIDED.",
                "no difference within 3 cycles, and no proof",
            ),
            (
                "No output asserted in 40 frames.\nReached timeout (60 seconds) in frame 3.",
                "no difference within 40 cycles, and no proof, within the time limit",
            ),
            ("", "neither a difference nor a proof was found"),
        ] {
            assert_eq!(because(stdout, 0), expected);
        }
        assert!(because("", 6).starts_with("no result: ABC ended with signal: 6"));
        assert_eq!(because("", EXCEEDED), "no result within the time limit");
    }

    /// The messages are copied from ABC.
    #[test]
    fn a_reply_that_a_limit_of_time_ended_is_not_repeatable() {
        const FRAMES: &str = "No output asserted in 2 frames. Resource limit reached";
        const LAST: &str = "Status = -1  Frames = 1   Cex is not defined.";
        let is_kept = |limit: &str, elapse: &str, code| {
            let stdout = format!("{FRAMES} ({limit}). Time = 1.00 sec\n{elapse}\n{LAST}\n");
            let output = ended(code);
            is_repeatable(&not_shown(&stdout, &output), 10.0, &stdout, &output)
        };
        let conflicts = "conf limit 200";
        assert!(is_kept(conflicts, "elapse: 7.40 seconds, total: 7.40 seconds", 0));
        for (limit, elapse, code) in [
            ("timeout 10 sec", "elapse: 1.00 seconds, total: 1.00 seconds", 0),
            (conflicts, "elapse: 9.93 seconds, total: 9.93 seconds", 0),
            (conflicts, "", 0),
            (conflicts, "elapse: 1.00 seconds, total: 1.00 seconds", EXCEEDED),
            (conflicts, "elapse: 1.00 seconds, total: 1.00 seconds", 9),
        ] {
            assert!(!is_kept(limit, elapse, code), "{limit} {elapse} {code}");
        }
        let silent = not_shown("", &ended(0));
        assert!(!is_repeatable(&silent, 10.0, "", &ended(0)), "it did not even read the graph");
        let proved = Reply::Never(None);
        assert!(is_repeatable(&proved, 2.0, "elapse: 9.00 seconds", &ended(0)));
    }

    #[test]
    fn an_attempt_is_a_script() {
        let script = |attempt: Attempt| {
            String::from_utf8(attempt.engine.key(&attempt).pop().unwrap()).unwrap()
        };
        assert_eq!(script(FIRST_CYCLES), "bmc3 -F 6 -C 20000 -T 10");
        assert_eq!(script(LONG_PROOF), "scorr -w; dc2; pdr -F 200 -C 5000 -T 60 -d");
        let unlimited = Attempt { conflicts: None, seconds: 0.5, ..INDUCTION_STEP };
        assert_eq!(script(unlimited), "ind -F 2 -T 0.5");
    }
}
