//! Queries about graphs, and answers that count: a second solver confirmed the proof, or a
//! simulation the trace.

use crate::certificate::{Certificate, certify};
use crate::engine::{Attempt, Decider, Decision, decide};
use crate::limits::{LATE, is_late};
use cosim_aig::EquivalenceQuery;
use cosim_base::error::Error;
use cosim_rtl::rtlil::Unknown;
use cosim_rtl::yosys::YosysSession;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The inputs that count.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// Any inputs.
    Any,
    /// Inputs that do not withdraw or change an offer.
    Legal,
}

/// Whether an output of a graph can be 1.
#[derive(Debug)]
pub struct NamedQuery {
    /// Names files of the session.
    pub name: String,
    pub query: EquivalenceQuery,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The output is never 1.
    Never {
        /// How a second solver certified the proof, or why it did not.
        certificate: Certificate,
        by: Decider,
    },
    /// The output is 1 after these inputs, or during them.
    Reached {
        /// The names of the bits that are 1, for each cycle after the reset cycle, of which there
        /// is one at least.
        trace: Vec<Vec<String>>,
        by: Decider,
    },
    /// Undecided.
    Open {
        /// Cycles in which the output is known to be 0.
        cycles: Option<u32>,
        because: String,
        /// What shows that for these cycles.
        by: Option<Decider>,
    },
    /// The engine reports a proof that the second solver contradicts.
    Disputed { because: String },
}

impl Answer {
    pub fn open(because: impl Into<String>) -> Self {
        Self::Open { cycles: None, because: because.into(), by: None }
    }

    /// Whether the output is never 1, with a certificate or without.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Never { .. })
    }

    /// Why it is undecided, if it is.
    pub fn because(&self) -> Option<&str> {
        match self {
            Self::Open { because, .. } | Self::Disputed { because } => Some(because),
            Self::Never { .. } | Self::Reached { .. } => None,
        }
    }

    pub fn by(&self) -> Option<&Decider> {
        match self {
            Self::Never { by, .. } | Self::Reached { by, .. } => Some(by),
            Self::Open { by, .. } => by.as_ref(),
            Self::Disputed { .. } => None,
        }
    }

    pub fn certificate(self) -> Option<Certificate> {
        match self {
            Self::Never { certificate, .. } => Some(certificate),
            _ => None,
        }
    }
}

impl NamedQuery {
    /// Runs an engine, and checks its proof.
    ///
    /// # Errors
    /// [`Error::Environment`] if ABC is missing, or [`Error::Interrupted`].
    pub fn run_attempt(&self, session: &YosysSession, attempt: Attempt) -> Result<Answer, Error> {
        let EquivalenceQuery::Open { file, inputs, .. } = &self.query else {
            let (certificate, by) = (Certificate::Structure, Decider::structure());
            return Ok(Answer::Never { certificate, by });
        };
        if session.deadline().is_some_and(is_late) {
            return Ok(Answer::open(LATE));
        }
        let (mut decision, mut by) = decide(session, &self.name, file, inputs, attempt)?;
        if let Some(step) = attempt.step.filter(|_| decision.is_base()) {
            let (found, decider) = decide(session, &self.name, file, inputs, *step)?;
            // An induction step that fails refutes nothing: it may begin in a state that is never
            // reached.
            if found.is_never() {
                (decision, by) = (found, decider);
            }
        }
        Ok(match decision {
            Decision::Never(evidence) => match certify(session, &self.name, file, &evidence)? {
                Ok(certificate) => Answer::Never { certificate, by },
                Err(flaw) => Answer::Disputed {
                    because: format!(
                        "an engine reports a proof, but CaDiCaL shows that it is wrong: {flaw}"
                    ),
                },
            },
            Decision::Reached(trace) => Answer::Reached { trace, by },
            Decision::Open { cycles, because } => {
                Answer::Open { cycles, because, by: cycles.map(|_| by) }
            }
        })
    }
}

/// Why nothing can be decided about an RTL, or no query asked.
#[derive(Debug)]
pub enum Undecidable {
    /// The RTL is such that no answer would count, for this reason.
    Because(String),
    Failed(Error),
}

impl Undecidable {
    /// The reason.
    ///
    /// # Errors
    /// A tool failed.
    pub fn because(self) -> Result<String, Error> {
        match self {
            Self::Because(because) => Ok(because),
            Self::Failed(error) => Err(error),
        }
    }

    /// The reason, also if Yosys failed on the RTL.
    ///
    /// # Errors
    /// Another tool failed.
    pub fn because_of_yosys(self) -> Result<String, Error> {
        self.because().or_else(Error::of_yosys)
    }
}

impl From<Error> for Undecidable {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<String> for Undecidable {
    fn from(because: String) -> Self {
        Self::Because(because)
    }
}

impl From<&str> for Undecidable {
    fn from(because: &str) -> Self {
        Self::Because(because.to_owned())
    }
}

impl From<Unknown> for Undecidable {
    fn from(Unknown(because): Unknown) -> Self {
        Self::Because(because)
    }
}
