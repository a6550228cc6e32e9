//! Engines that decide whether the output of a network can be 1.
//!
//! An [`Engine`] runs a model checker or explores states. Its replies are cached in
//! [`Answers`](cosim_rtl::answers::Answers), its traces simulated, and
//! [`certify`](crate::certificate::certify) checks its proofs. The
//! [`portfolio`](crate::portfolio) lists all attempts.

pub mod abc;
pub mod states;

use crate::certificate::network::Network;
use crate::certificate::{Evidence, Invariant};
use cosim_base::error::Error;
use cosim_rtl::answers::CacheLookup;
use cosim_rtl::yosys::YosysSession;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Time limit of the longest attempts for one property or mutant, in seconds.
pub const SECONDS: u32 = 60;

/// An engine that decides whether the output of a network can be 1. Neither its proofs nor its
/// traces are trusted.
pub trait Engine: fmt::Debug + Sync {
    fn name(&self) -> &'static str;

    /// What its reply depends on, besides the network and the programs of Yosys: its commands and
    /// limits, and the version of any other program.
    fn key(&self, attempt: &Attempt) -> Vec<Vec<u8>>;

    /// Runs it on a network in binary AIGER. `name` names files of the session.
    ///
    /// # Errors
    /// [`Error::Environment`] if its program is missing; [`Error::Interrupted`].
    fn run(
        &self,
        session: &YosysSession,
        name: &str,
        file: &[u8],
        attempt: &Attempt,
    ) -> Result<EngineRun, Error>;

    /// What its proof is based on, with the invariant of the reply.
    fn evidence(&self, invariant: Option<Invariant>) -> Evidence;
}

/// One run of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    pub engine: &'static dyn Engine,
    /// Maximum number of frames.
    pub frames: u32,
    /// Maximum number of conflicts in one call of the solver.
    pub conflicts: Option<u32>,
    /// Limit of processor time in seconds.
    pub seconds: u32,
    /// The step of an induction, if the attempt is its base.
    pub step: Option<&'static Attempt>,
}

/// The result of running an engine.
#[derive(Debug, Clone)]
pub struct EngineRun {
    pub reply: Reply,
    pub decider: Decider,
    /// Whether the engine gives this reply on every machine. A reply that a time limit decided
    /// does not, so it is not cached.
    pub is_repeatable: bool,
}

/// The command of an engine that decided a query, and its depth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decider {
    /// The engine with its command, such as `ABC pdr`; `structure` if no engine was needed.
    pub engine: String,
    /// Frames of a proof, cycles of an induction, or cycles of a trace or of a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

impl Decider {
    /// No engine: the network is constant.
    pub fn structure() -> Self {
        Self { engine: "structure".to_owned(), depth: None }
    }
}

/// The reply of an engine: an answer without the names of the inputs, as it is cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The output is never 1; the invariant, if the engine wrote one.
    Never(Option<Invariant>),
    /// The output is 1 in the last cycle of this trace: a line with the initial values of the
    /// registers, and a line with the inputs of each cycle, the first of which is the reset cycle.
    /// A line ends at a blank or `#`.
    Reached(String),
    /// Undecided.
    Open {
        /// Cycles in which the output is known to be 0.
        cycles: Option<u32>,
        because: String,
    },
}

/// Cycles from reset that an induction step needs as its base.
const STEPS: u32 = 3;

/// Whether a property output can ever be 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The engine says that the output is never 1, by this evidence.
    Never(Evidence),
    /// The output is 1 after these inputs, or during them: the names of the bits that are 1, for
    /// each cycle after the reset cycle, of which there is one at least.
    Reached(Vec<Vec<String>>),
    /// Undecided.
    Open {
        /// Cycles in which the output is known to be 0.
        cycles: Option<u32>,
        because: String,
    },
}

impl Decision {
    /// Whether the engine says that the output is never 1.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Never(_))
    }

    /// Whether it is a sufficient base for an induction step.
    pub fn is_base(&self) -> bool {
        matches!(self, Self::Open { cycles: Some(cycles), .. } if *cycles >= STEPS)
    }
}

/// Decides with an engine, or from the cache, whether the output of a network can be 1. `name`
/// names files. A proof is what the engine says: [`certify`](crate::certificate::certify) checks
/// it. A trace that does not make the output 1 decides nothing.
///
/// # Errors
/// [`Error::Environment`] if the engine is missing; [`Error::Interrupted`].
pub(crate) fn decide(
    session: &YosysSession,
    name: &str,
    file: &[u8],
    inputs: &[String],
    attempt: Attempt,
) -> Result<(Decision, Decider), Error> {
    let engine = attempt.engine;
    let key = engine.key(&attempt);
    let parts: Vec<&[u8]> = key.iter().map(Vec::as_slice).chain([file]).collect();
    let read = |kept: &[u8]| serde_json::from_slice::<(Reply, Decider)>(kept).ok();
    let with_depth = |answer: Decision, decider: Decider| {
        let depth = match &answer {
            Decision::Never(_) => decider.depth,
            Decision::Reached(cycles) => u32::try_from(cycles.len()).ok(),
            Decision::Open { cycles, .. } => *cycles,
        };
        (answer, Decider { depth, ..decider })
    };
    let slot = match session.answers().look_up(&parts, read) {
        CacheLookup::Found((reply, decider)) => {
            return Ok(with_depth(answer(reply, file, inputs, engine), decider));
        }
        CacheLookup::Missing(slot) => slot,
    };
    let EngineRun { reply, decider, is_repeatable } = engine.run(session, name, file, &attempt)?;
    let answer = answer(reply.clone(), file, inputs, engine);
    // A trace that is wrong or cannot be parsed may be truncated: do not cache it.
    let is_understood =
        matches!(reply, Reply::Reached(_)) == matches!(answer, Decision::Reached(_));
    if is_understood
        && is_repeatable
        && let Ok(bytes) = serde_json::to_vec(&(&reply, &decider))
    {
        slot.keep(&bytes);
    }
    Ok(with_depth(answer, decider))
}

/// The answer of a reply, with the evidence for a proof. A trace is simulated.
fn answer(reply: Reply, file: &[u8], inputs: &[String], engine: &dyn Engine) -> Decision {
    let wrong = |flaw: &str| Decision::Open {
        cycles: None,
        because: format!("{}'s trace {flaw}", engine.name()),
    };
    match reply {
        Reply::Open { cycles, because } => Decision::Open { cycles, because },
        Reply::Never(invariant) => Decision::Never(engine.evidence(invariant)),
        Reply::Reached(trace) => {
            let is_violated = |network: Network| match inputs {
                // Its rows are empty, and it has one course only.
                [] => network.is_violated_by(trace.lines().map(|_| &[][..])),
                _ => network.is_violated_by(rows(&trace)),
            };
            match read_trace(&trace, inputs) {
                None => wrong("is not understood"),
                Some(_) if !Network::parse(file).is_some_and(is_violated) => {
                    wrong("does not violate the property")
                }
                // What the reset cycle shows has no other inputs, and a vector has a cycle.
                Some(cycles) if cycles.is_empty() => Decision::Reached(vec![Vec::new()]),
                Some(cycles) => Decision::Reached(cycles),
            }
        }
    }
}

/// The inputs of a trace in each cycle, the first of which is the reset cycle.
fn rows(text: &str) -> impl Iterator<Item = &[u8]> {
    let rows = text.lines().map(|line| line.split(['#', ' ']).next().unwrap_or_default());
    // The first row holds the initial values of registers.
    rows.skip(1).filter(|row| !row.is_empty()).map(str::as_bytes)
}

/// The bits that are 1 in each cycle after the reset cycle; `None` if the trace is malformed.
fn read_trace(text: &str, inputs: &[String]) -> Option<Vec<Vec<String>>> {
    let row = |row: &[u8]| -> Option<Vec<String>> {
        let bits = row.iter().zip(inputs).filter(|(bit, _)| **bit == b'1');
        (row.len() == inputs.len()).then(|| bits.map(|(_, name)| name.clone()).collect())
    };
    rows(text).skip(1).map(row).collect()
}

#[cfg(test)]
mod tests;
