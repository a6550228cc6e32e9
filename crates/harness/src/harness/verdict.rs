//! Verdicts of cases, and the signatures that group failures.

use super::scoreboard::Violation;
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
    /// A compared output or the state was X, in four-value simulation.
    Unknown(Mismatch),
    /// The golden model makes no progress.
    Hang {
        /// The cycle of the timeout; `None` if the DUT itself did not return.
        cycle: Option<u64>,
        /// The golden model's state.
        state: String,
    },
    /// A check of the scoreboard failed.
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
        /// Its message.
        message: String,
    },
    /// The block has no golden model yet: the RTL was driven, and nothing was compared.
    NoGoldenModel,
    /// The run was interrupted before the case ended.
    Cancelled,
}

impl Verdict {
    /// The verdict's name in results and summaries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch(_) => "mismatch",
            Self::Unknown(_) => "unknown",
            Self::Hang { .. } => "hang",
            Self::CheckFailed { .. } => "check failed",
            Self::Crashed { .. } => "crashed",
            Self::NoGoldenModel => "no golden model",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the case failed.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Match | Self::Cancelled)
    }

    /// The difference or the X, if an output shows one.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        match self {
            Self::Mismatch(mismatch) | Self::Unknown(mismatch) => Some(mismatch),
            _ => None,
        }
    }

    /// The failed check, if there is one.
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Self::CheckFailed { violation, .. } => Some(violation),
            _ => None,
        }
    }

    /// The cycle of the failure, if it is known.
    pub fn cycle(&self) -> Option<u64> {
        match self {
            Self::Mismatch(mismatch) | Self::Unknown(mismatch) => Some(mismatch.cycle),
            Self::CheckFailed { cycle, .. } => Some(*cycle),
            Self::Hang { cycle, .. } | Self::Crashed { cycle, .. } => *cycle,
            Self::Match | Self::NoGoldenModel | Self::Cancelled => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Match | Self::NoGoldenModel | Self::Cancelled => Ok(()),
            Self::Mismatch(mismatch) | Self::Unknown(mismatch) => {
                let Mismatch { cycle, port, expected, actual, state, rule, .. } = mismatch;
                write!(f, " at cycle {cycle} in {state}")?;
                if !rule.is_empty() {
                    write!(f, ", {rule}")?;
                }
                write!(f, ": {port} is {actual}, expected {expected}")
            }
            Self::Hang { cycle: Some(cycle), state } => {
                write!(f, " at cycle {cycle}: no progress in state {state}")
            }
            Self::Hang { cycle: None, .. } => f.write_str(": the model did not return"),
            Self::CheckFailed { cycle, violation: Violation { check, message, .. } } => {
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
    /// Every port or field that differs in that cycle and is not explained by another one: only
    /// the valids and enables if one of them differs, else only the readies; see
    /// [`Naming`](super::Naming).
    pub differs: Vec<String>,
}

/// The properties that put failures into one group: kind, state, and the differing ports and
/// fields, or the check. Cycle, values and rule are not part of it, because one bug shows under
/// several rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Signature(String);

impl Signature {
    /// The signature of a failure; `None` if the case did not fail.
    pub fn from_verdict(verdict: &Verdict) -> Option<Self> {
        let what;
        let parts: Vec<&str> = match verdict {
            Verdict::Match | Verdict::Cancelled => return None,
            Verdict::NoGoldenModel => vec!["no-golden-model"],
            Verdict::Mismatch(mismatch) | Verdict::Unknown(mismatch) => {
                what = together(&mismatch.port, &mismatch.differs);
                vec![verdict.name(), &what, &mismatch.state]
            }
            Verdict::Hang { state, .. } => vec!["hang", state],
            Verdict::CheckFailed { violation, .. } => vec!["check", &violation.check],
            // The message may contain paths and numbers that vary. Its first words are fixed.
            Verdict::Crashed { message, .. } => {
                let words = message.split(['(', ':']).next().unwrap_or("").split_whitespace();
                std::iter::once("crash").chain(words.take(5)).collect()
            }
        };
        let simple = |c: char| if c.is_ascii_alphanumeric() || "_.+".contains(c) { c } else { '-' };
        let words = parts.iter().filter(|part| !part.is_empty());
        let joined = words.map(|part| part.chars().map(simple).collect::<String>());
        Some(Self(joined.collect::<Vec<_>>().join("-")))
    }
}

/// Ports and fields, as in `rq_offset_din` or `head.key.pd+data`; `first` if there are none.
fn together(first: &str, differs: &[String]) -> String {
    let mut ports: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in differs {
        let (port, field) =
            name.split_once('.').map_or((name.as_str(), None), |(port, field)| (port, Some(field)));
        match ports.iter_mut().find(|(known, _)| *known == port) {
            Some((_, fields)) => fields.extend(field),
            None => ports.push((port, field.into_iter().collect())),
        }
    }
    if ports.is_empty() {
        return first.to_owned();
    }
    let whole = |(port, fields): &(&str, Vec<&str>)| {
        std::iter::once(*port).chain(fields.iter().copied()).collect::<Vec<_>>().join(".")
    };
    ports.iter().map(whole).collect::<Vec<_>>().join("+")
}

impl Verdict {
    /// Whether another run of the same RTL ended the same. The message of a crash names the folder
    /// of the RTL and the module around it, which are others while the RTL is observed.
    pub fn is_repeated_by(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Crashed { cycle, .. }, Self::Crashed { cycle: other, .. }) => cycle == other,
            _ => self == other,
        }
    }
}

/// The properties that shrinking preserves: the signature and the golden model's rule. A smaller
/// stimulus with another fingerprint probably shows another bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    signature: Signature,
    /// Empty if several rules fired at once or the failure is not a mismatch.
    pub rule: String,
}

impl Fingerprint {
    /// The fingerprint of a failure; `None` if the case did not fail.
    pub fn from_verdict(verdict: &Verdict) -> Option<Self> {
        let rule = verdict.mismatch().map(|mismatch| mismatch.rule.clone());
        // If several rules fire at once, their combination is accidental.
        let rule = rule.filter(|rule| !rule.contains('+')).unwrap_or_default();
        Some(Self { signature: Signature::from_verdict(verdict)?, rule })
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
            differs: vec![port.to_owned()],
        })
    }

    /// A mismatch in several places under a rule.
    fn wide(differs: &[&str], rule: &str) -> Verdict {
        let Verdict::Mismatch(mismatch) = mismatch(3, differs[0], "8'h1") else { unreachable!() };
        let differs = differs.iter().map(|name| (*name).to_owned()).collect();
        Verdict::Mismatch(Mismatch { differs, rule: rule.to_owned(), ..mismatch })
    }

    #[test]
    fn cycle_and_values_do_not_make_another_failure_but_the_port_does() {
        let signature = |verdict: Verdict| Signature::from_verdict(&verdict).unwrap();
        let first = signature(mismatch(3, "rq_offset_din", "8'h1"));
        assert_eq!(first.to_string(), "mismatch-rq_offset_din-UPDATE_RQ_s");
        assert_eq!(first, signature(mismatch(90, "rq_offset_din", "8'h2")));
        assert_ne!(first, signature(mismatch(3, "cache_offset_din", "8'h1")));
        assert_eq!(Signature::from_verdict(&Verdict::Match), None);
    }

    #[test]
    fn the_rule_makes_another_fingerprint_but_no_other_group() {
        let (one, other) = (wide(&["rq_offset_din"], "T30"), wide(&["rq_offset_din"], "T31"));
        assert_eq!(Signature::from_verdict(&one), Signature::from_verdict(&other));
        assert_ne!(Fingerprint::from_verdict(&one), Fingerprint::from_verdict(&other));
        let (one, other) = (wide(&["a_next_seq"], "A1+B2"), wide(&["a_next_seq"], "A1+B3"));
        assert_eq!(Fingerprint::from_verdict(&one), Fingerprint::from_verdict(&other));
    }

    #[test]
    fn another_field_of_the_same_port_makes_another_group() {
        let key = Signature::from_verdict(&wide(&["head.key"], "T33")).unwrap();
        let both = Signature::from_verdict(&wide(&["head.key", "head.pd", "data"], "T33")).unwrap();
        assert_ne!(key, both);
        assert_eq!(both.to_string(), "mismatch-head.key.pd+data-UPDATE_RQ_s");
    }

    #[test]
    fn a_signature_is_a_file_name() {
        let crash =
            Verdict::Crashed { cycle: None, message: "fatal error: a/b.v:3 (x) y z".to_owned() };
        assert_eq!(Signature::from_verdict(&crash).unwrap().to_string(), "crash-fatal-error");
    }
}
