//! The explanation of a failure: the sentence, the values that differ, and the surrounding cycles.

use cosim_harness::harness::{Blame, Profile, Signature, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The explanation of a failure.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The profile.
    pub fixes: String,
    /// What happened, in one sentence.
    pub sentence: String,
    /// The cycle of the failure, if it is known. A failure at the end of the case may have no line
    /// in `cycles`.
    pub cycle: Option<u64>,
    /// The pins of the port or channel whose check failed, those of its handshake first.
    pub pins: Vec<String>,
    /// The signature of the failure; `None` if nothing failed.
    pub signature: Option<String>,
    /// Which side violates the specification; `None` if nothing failed.
    pub judgement: Option<Blame>,
    /// Everything that differs in the decisive cycle.
    pub differences: Vec<Difference>,
    /// The step of the golden model in the decisive cycle.
    pub golden: Option<Step>,
    /// The step of the RTL in the decisive cycle, if its state is visible.
    pub rtl: Option<Step>,
    /// Descriptions of the stimulus in flight.
    pub in_flight: Vec<String>,
    /// JSON pointers to the numbers of the traffic that do not matter.
    #[serde(default)]
    pub any: Vec<String>,
    /// The inputs of raw pins; empty for other stimuli.
    pub inputs: Vec<InputLine>,
    /// The surrounding cycles.
    pub cycles: Vec<CycleLine>,
    /// The differing ports and their handshakes, then the channels and the other ports, over the
    /// same cycles.
    pub signals: Vec<Signal>,
}

/// A line of the RTL that may hold the cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// Why the line is suspicious.
    pub reason: String,
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, reason } = self;
        write!(f, "{file}:{line}:{column}: {reason}")
    }
}

/// The values of a port, or the items of a channel, in [`Explanation::cycles`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// The port or the channel.
    pub port: String,
    /// Its width in bits; 0 for a channel.
    pub width: u32,
    /// What the values are.
    pub kind: SignalKind,
    /// The values of an input, or the golden model's values of an output, as Verilog literals. The
    /// items that the scoreboard expects on a channel, in words; empty in other cycles.
    pub values: Vec<String>,
    /// The RTL's values of an output. The items on offer on a channel.
    pub actual: Option<Vec<String>>,
    /// The position of the cycle in which its check failed.
    pub wrong: Option<usize>,
}

/// What the values of a [`Signal`] are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// An input.
    Input,
    /// An output.
    Output,
    /// An output whose values nothing predicts: the scoreboard checks its transactions.
    Transactions,
    /// A channel.
    Channel {
        /// Whether an item is taken, for each cycle.
        taken: Vec<bool>,
    },
}

/// A differing port, or a differing field of one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Difference {
    /// The port.
    pub port: String,
    /// The field, if the port has named ones.
    pub field: Option<String>,
    /// The golden model's value.
    pub expected: String,
    /// The RTL's value.
    pub actual: String,
}

/// A transition of a state machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// The previous state.
    pub from: String,
    /// The next state, if known.
    pub to: Option<String>,
    /// The rules of the transition, each with its meaning.
    pub rules: Vec<(String, String)>,
}

/// One cycle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CycleLine {
    /// The cycle.
    pub cycle: u64,
    /// The golden model's state.
    pub golden: String,
    /// The golden model's rules.
    pub rules: String,
    /// The RTL's state, if visible.
    pub rtl: Option<String>,
    /// Handshakes of the golden side: the channel with `VR`, or with `V-` for a valid that waits,
    /// or alone if the channel has no ready. Its values follow in brackets. Also other 1-bit pins
    /// that are high.
    pub handshakes: Vec<String>,
    /// The differing ports.
    pub differing: Vec<String>,
}

/// The non-zero inputs of consecutive equal cycles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InputLine {
    /// The first cycle.
    pub cycle: u64,
    /// The last cycle.
    pub last_cycle: u64,
    /// 1-bit pins that are high.
    pub high: Vec<String>,
    /// Wider ports that are not zero.
    pub values: Vec<PortValue>,
}

/// The value of a non-zero port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortValue {
    /// The port.
    pub port: String,
    /// Its value, as a Verilog literal.
    pub value: String,
    /// Names and values of its non-zero fields.
    pub fields: Vec<(String, String)>,
}

impl Explanation {
    /// Whether a cycle is wrong: the failure is in it, or a port differs.
    pub fn is_wrong(&self, line: &CycleLine) -> bool {
        Some(line.cycle) == self.cycle || !line.differing.is_empty()
    }

    /// The explanation of a failure with only a verdict.
    pub fn lost(profile: &Profile, verdict: &Verdict) -> Self {
        Self {
            fixes: profile.name.to_string(),
            sentence: format!("The case failed: {verdict}."),
            cycle: verdict.cycle(),
            signature: Signature::from_verdict(verdict).map(|signature| signature.to_string()),
            ..Self::default()
        }
    }
}
