//! The stimulus of a case: all of its inputs.

use super::contract::Block;
use super::raw_pins;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use verilated::{BeforeReset, Pins};

/// The stimulus of a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "", try_from = "StimulusText<B>")]
pub struct Stimulus<B: Block> {
    /// Contents of the DUT's registers before reset; ones if a vector does not set them.
    #[serde(with = "BeforeResetText", skip_serializing_if = "are_ones")]
    pub before_reset: BeforeReset,
    /// The source of the inputs.
    #[serde(flatten)]
    pub drive: Drive<B>,
}

/// The source of the inputs of a case.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", bound = "")]
pub enum Drive<B: Block> {
    /// Transactions of the block.
    Traffic(B::Traffic),
    /// Unconstrained random stimulus: the values of all input pins in each cycle, without any
    /// protocol.
    #[serde(serialize_with = "raw_pins::serialize")]
    Cycles(Vec<B::Inputs>),
}

impl<B: Block> Stimulus<B> {
    /// Transactions, with registers that hold ones before reset.
    pub fn traffic(traffic: B::Traffic) -> Self {
        Self { before_reset: BeforeReset::Ones, drive: Drive::Traffic(traffic) }
    }

    /// Raw pins, with registers that hold ones before reset.
    pub fn cycles(cycles: Vec<B::Inputs>) -> Self {
        Self { before_reset: BeforeReset::Ones, drive: Drive::Cycles(cycles) }
    }

    /// The same inputs with other register contents before reset.
    #[must_use]
    pub fn with_before_reset(self, before_reset: BeforeReset) -> Self {
        Self { before_reset, ..self }
    }
}

/// The JSON form of the register contents before reset.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "BeforeReset", rename_all = "snake_case")]
pub enum BeforeResetText {
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
    /// Random bits from this seed, which also seeds `$random`.
    Random(u32),
}

fn are_ones(before_reset: &BeforeReset) -> bool {
    *before_reset == BeforeReset::Ones
}

fn ones() -> BeforeReset {
    BeforeReset::Ones
}

/// The register contents in words; `None` for ones, the default.
pub fn before_reset_in_words(before_reset: BeforeReset) -> Option<Cow<'static, str>> {
    match before_reset {
        BeforeReset::Ones => None,
        BeforeReset::Zeros => Some("registers hold zeros before reset".into()),
        BeforeReset::Random(seed) => {
            Some(format!("registers hold random bits before reset, from the seed {seed}").into())
        }
    }
}

/// The JSON form of a stimulus, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct StimulusText<B: Block> {
    #[serde(with = "BeforeResetText", default = "ones")]
    before_reset: BeforeReset,
    #[serde(default = "none")]
    traffic: Option<B::Traffic>,
    #[serde(default = "none", deserialize_with = "some_cycles")]
    cycles: Option<Vec<B::Inputs>>,
}

fn none<T>() -> Option<T> {
    None
}

fn some_cycles<'de, P: Pins, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<P>>, D::Error> {
    raw_pins::deserialize(deserializer).map(Some)
}

impl<B: Block> TryFrom<StimulusText<B>> for Stimulus<B> {
    type Error = &'static str;

    fn try_from(parts: StimulusText<B>) -> Result<Self, Self::Error> {
        let StimulusText { before_reset, traffic, cycles } = parts;
        match (traffic, cycles) {
            (Some(traffic), None) => Ok(Self::traffic(traffic)),
            (None, Some(cycles)) => Ok(Self::cycles(cycles)),
            (None, None) => Err("missing field `traffic` or `cycles`"),
            (Some(_), Some(_)) => Err("has both `traffic` and `cycles`, expected one of them"),
        }
        .map(|stimulus: Self| stimulus.with_before_reset(before_reset))
    }
}
