//! How a case ends, and what makes two failures the same.

use super::contract::Violation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Every output was equal in every cycle and every check held.
    Match,
    /// An output differed.
    Mismatch(Mismatch),
    /// The golden model waits for something that will not come.
    Hang {
        /// The cycle at which patience ended; `None` if the DUT itself did not return.
        cycle: Option<u64>,
        /// The golden model's state.
        state: String,
    },
    /// The scoreboard objects.
    CheckFailed {
        /// The cycle.
        cycle: u64,
        /// The check and its message.
        #[serde(flatten)]
        violation: Violation,
    },
    /// The DUT or the golden model stopped by itself.
    Crashed {
        /// The cycle, if it is known.
        cycle: Option<u64>,
        /// What it said.
        message: String,
    },
    /// The run was interrupted before the case ended.
    Cancelled,
}

impl Verdict {
    /// The verdict's name in results and summaries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch(_) => "mismatch",
            Self::Hang { .. } => "hang",
            Self::CheckFailed { .. } => "check failed",
            Self::Crashed { .. } => "crashed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the case failed.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Match | Self::Cancelled)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Match | Self::Cancelled => Ok(()),
            Self::Mismatch(Mismatch { cycle, port, expected, actual, state, rule }) => {
                write!(f, " at cycle {cycle} in {state}")?;
                if !rule.is_empty() {
                    write!(f, ", {rule}")?;
                }
                write!(f, ": {port} is {actual}, expected {expected}")
            }
            Self::Hang { cycle: Some(cycle), state } => {
                write!(f, " at cycle {cycle}: nothing happens any more in {state}")
            }
            Self::Hang { cycle: None, .. } => f.write_str(": the model did not return"),
            Self::CheckFailed { cycle, violation: Violation { check, message } } => {
                write!(f, " at cycle {cycle}: {check}: {message}")
            }
            Self::Crashed { cycle: Some(cycle), message } => {
                write!(f, " at cycle {cycle}: {message}")
            }
            Self::Crashed { cycle: None, message } => write!(f, ": {message}"),
        }
    }
}

/// The first difference of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first differing port.
    pub port: String,
    /// The golden model's value, as a Verilog literal.
    pub expected: String,
    /// The DUT's value, as a Verilog literal.
    pub actual: String,
    /// The golden model's state in that cycle.
    pub state: String,
    /// The golden model's rules in that cycle.
    pub rule: String,
}

/// What makes two failures the same: kind, port or check, state and rule; not cycle and values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Signature(String);

impl Signature {
    /// The signature of a failure; `None` of what is none.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let parts: Vec<&str> = match verdict {
            Verdict::Match | Verdict::Cancelled => return None,
            // Where several rules fire at once, which ones do by chance tells nothing.
            Verdict::Mismatch(Mismatch { port, state, rule, .. }) => {
                let rule = if rule.contains('+') { "" } else { rule };
                vec!["mismatch", port, state, rule]
            }
            Verdict::Hang { state, .. } => vec!["hang", state],
            Verdict::CheckFailed { violation, .. } => vec!["check", &violation.check],
            // The message may hold paths and numbers that vary; its first words do not.
            Verdict::Crashed { message, .. } => {
                let words = message.split(['(', ':']).next().unwrap_or("").split_whitespace();
                std::iter::once("crash").chain(words.take(5)).collect()
            }
        };
        let simple = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let words = parts.iter().filter(|part| !part.is_empty());
        let joined = words.map(|part| part.chars().map(simple).collect::<String>());
        Some(Self(joined.collect::<Vec<_>>().join("-")))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(cycle: u64, port: &str, actual: &str) -> Verdict {
        Verdict::Mismatch(Mismatch {
            cycle,
            port: port.to_owned(),
            expected: "8'h0".to_owned(),
            actual: actual.to_owned(),
            state: "UPDATE_RQ_s".to_owned(),
            rule: "T30".to_owned(),
        })
    }

    #[test]
    fn cycle_and_values_do_not_make_another_failure_but_the_port_does() {
        let signature = |verdict: Verdict| Signature::of(&verdict).unwrap();
        let first = signature(mismatch(3, "rq_offset_din", "8'h1"));
        assert_eq!(first.to_string(), "mismatch-rq_offset_din-UPDATE_RQ_s-T30");
        assert_eq!(first, signature(mismatch(90, "rq_offset_din", "8'h2")));
        assert_ne!(first, signature(mismatch(3, "cache_offset_din", "8'h1")));
        assert_eq!(Signature::of(&Verdict::Match), None);
    }

    #[test]
    fn a_signature_is_a_file_name() {
        let crash =
            Verdict::Crashed { cycle: None, message: "fatal error: a/b.v:3 (x) y z".to_owned() };
        assert_eq!(Signature::of(&crash).unwrap().to_string(), "crash-fatal-error");
    }
}
