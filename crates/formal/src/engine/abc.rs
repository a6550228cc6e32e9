//! ABC, which comes with Yosys.
//!
//! A cached reply must not depend on the speed of the machine. Proofs and counterexamples do not.
//! An undecided reply may be cached only if a limit on work, and not one on time, stopped ABC.
//! ABC's own limits of time are those of a clock, so it gets none, and is killed after its
//! processor time.

use super::{Attempt, Decider, Engine, EngineRun, Reply, SECONDS};
use crate::certificate::{Evidence, Invariant};
use crate::limits::{LATE, guard, starved};
use cosim_base::error::Error;
use cosim_rtl::yosys::{self, YosysSession};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use verilated_build::EXCEEDED;

/// Commands of ABC that decide a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abc {
    /// Commands that reduce the network first, or empty. `scorr` and `lcorr` merge equal signals
    /// and registers (`-w` prints the registers, which a certificate needs); `dc2` rewrites logic.
    pub reduce: &'static str,
    pub command: Command,
}

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

    /// Processor seconds after which ABC is killed. What reduces a network has no limit of its own.
    fn seconds(self, attempt: &Attempt) -> u64 {
        let reduces = if self.reduce.is_empty() { 0 } else { SECONDS };
        u64::from(attempt.seconds + reduces)
    }

    /// The commands with their limits.
    fn script(self, attempt: &Attempt) -> String {
        let Self { reduce, command } = self;
        let reduce = if reduce.is_empty() { String::new() } else { format!("{reduce}; ") };
        let command = command.name();
        let conflicts = attempt.conflicts.map_or_else(String::new, |most| format!(" -C {most}"));
        let writes = match self.command {
            // Its invariant.
            Command::Pdr => " -d",
            // Each frame when it is decided, which is known if ABC is killed.
            Command::BoundedSearch => " -v",
            Command::Induction => "",
        };
        format!("{reduce}{command} -F {}{conflicts}{writes}", attempt.frames)
    }
}

impl Engine for Abc {
    fn name(&self) -> &'static str {
        "ABC"
    }

    fn key(&self, attempt: &Attempt) -> Vec<Vec<u8>> {
        vec![
            b"abc".to_vec(),
            self.seconds(attempt).to_le_bytes().to_vec(),
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
            "read_aiger {0}; {1}{to_file}; print_status; write_cex -a {2}",
            path.display(),
            self.script(attempt),
            trace.display()
        );
        let seconds = self.seconds(attempt);
        let (guard, until) = (guard(seconds), session.deadline());
        let deadline = until.map_or(guard, |until| until.min(guard));
        let output = yosys::abc(&commands, seconds, deadline)?;
        let _ = fs::remove_file(&path);
        let Some(output) = output else {
            if deadline == guard {
                return Err(starved(self.name(), seconds));
            }
            let reply = Reply::Open { cycles: None, because: LATE.to_owned() };
            return Ok(EngineRun { reply, decider: self.decider(None), is_repeatable: false });
        };
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
        let is_repeatable = is_repeatable(&reply, &stdout, &output);
        let depth = match self.command {
            Command::Induction => Some(attempt.frames),
            Command::BoundedSearch | Command::Pdr => {
                last(&stdout, "Frames =").and_then(|frames| frames.parse().ok())
            }
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

/// Whether ABC gives this reply on every machine, given its output.
fn is_repeatable(reply: &Reply, stdout: &str, output: &Output) -> bool {
    let is_undecided = status(stdout) == Some("-1");
    output.status.success() && (is_undecided || !matches!(reply, Reply::Open { .. }))
}

/// The last status that ABC prints: 1 for a proof, 0 for a counterexample, -1 for undecided.
fn status(stdout: &str) -> Option<&str> {
    last(stdout, "Status =")
}

/// The word after the last `name`.
fn last<'a>(stdout: &'a str, name: &str) -> Option<&'a str> {
    stdout.lines().rev().find_map(|line| line.split_once(name)?.1.split_whitespace().next())
}

/// An undecided reply, with the reason from ABC's output.
fn not_shown(stdout: &str, output: &Output) -> Reply {
    let is_over = output.status.signal() == Some(EXCEEDED);
    if !output.status.success() && !is_over {
        let because = format!("no result: ABC ended with {}", output.status);
        return Reply::Open { cycles: None, because };
    }
    let cycles = stdout.lines().rev().find_map(decided_frames);
    let mut because = match cycles {
        Some(cycles) => format!("no difference within {cycles} cycles, and no proof"),
        None => "neither a difference nor a proof was found".to_owned(),
    };
    if is_over {
        because += ", within the limit of processor time";
    }
    Reply::Open { cycles, because }
}

/// The number of frames that a line of a bounded search says to be decided: `  7 + : Var = ...`
/// for frame 7, the first of which is 0, or at the end `No output asserted in 8 frames.`
fn decided_frames(line: &str) -> Option<u32> {
    if let Some((_, frames)) = line.split_once("No output asserted in ") {
        return frames.split(' ').next()?.parse().ok();
    }
    let (frame, _) = line.split_once(" + : Var =")?;
    frame.trim().parse::<u32>().ok()?.checked_add(1)
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

    /// The messages are copied from ABC.
    #[test]
    fn an_engine_without_a_result_names_its_reason_and_its_work() {
        let because = |stdout: &str, code| match not_shown(stdout, &ended(code)) {
            Reply::Open { because, .. } => because,
            other => panic!("{other:?}"),
        };
        const WORK: &str = "   0 + : Var =       1. Cla =        0. Conf =      0. Learn =      0.";
        let frames = format!("{WORK}\n{}", WORK.replace(" 0 +", " 2 +"));
        for (stdout, code, expected) in [
            (
                "No output asserted in 3 frames. Resource limit reached (conf limit 10).",
                0,
                "no difference within 3 cycles, and no proof",
            ),
            (
                &*frames,
                EXCEEDED,
                "no difference within 3 cycles, and no proof, within the limit of processor time",
            ),
            ("", 0, "neither a difference nor a proof was found"),
        ] {
            assert_eq!(because(stdout, code), expected);
        }
        assert!(because("", 6).starts_with("no result: ABC ended with signal: 6"));
    }

    #[test]
    fn a_reply_that_a_limit_of_time_ended_is_not_repeatable() {
        let is_kept = |stdout: &str, code| {
            let output = ended(code);
            is_repeatable(&not_shown(stdout, &output), stdout, &output)
        };
        let last = "Status = -1  Frames = 1   Cex is not defined.";
        assert!(is_kept(last, 0));
        for (stdout, code) in [(last, EXCEEDED), (last, 9), ("it did not read the graph", 0)] {
            assert!(!is_kept(stdout, code), "{stdout} {code}");
        }
        assert!(is_repeatable(&Reply::Never(None), "", &ended(0)));
    }

    #[test]
    fn an_attempt_is_a_script() {
        let script = |attempt: Attempt| {
            String::from_utf8(attempt.engine.key(&attempt).pop().unwrap()).unwrap()
        };
        assert_eq!(script(FIRST_CYCLES), "bmc3 -F 6 -C 20000 -v");
        assert_eq!(script(LONG_PROOF), "scorr -w; dc2; pdr -F 200 -C 5000 -d");
        assert_eq!(script(Attempt { conflicts: None, ..INDUCTION_STEP }), "ind -F 2");
    }
}
