//! The stimulus of a case: everything from outside that decides what it does.

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
    /// What the DUT's registers hold until they are reset; ones if a vector does not say it.
    #[serde(with = "BeforeResetText", skip_serializing_if = "are_ones")]
    pub before_reset: BeforeReset,
    /// What drives the inputs.
    #[serde(flatten)]
    pub drive: Drive<B>,
}

/// What drives the inputs of a case.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", bound = "")]
pub enum Drive<B: Block> {
    /// Transactions in the block's own terms.
    Traffic(B::Traffic),
    /// Raw pins, one set per cycle; nothing is guaranteed of them.
    #[serde(serialize_with = "raw_pins::serialize")]
    Cycles(Vec<B::Inputs>),
}

impl<B: Block> Stimulus<B> {
    /// Transactions, with registers that hold ones before they are reset.
    pub fn traffic(traffic: B::Traffic) -> Self {
        Self { before_reset: BeforeReset::Ones, drive: Drive::Traffic(traffic) }
    }

    /// Raw pins, with registers that hold ones before they are reset.
    pub fn cycles(cycles: Vec<B::Inputs>) -> Self {
        Self { before_reset: BeforeReset::Ones, drive: Drive::Cycles(cycles) }
    }

    /// The same inputs with other registers.
    #[must_use]
    pub fn with_before_reset(self, before_reset: BeforeReset) -> Self {
        Self { before_reset, ..self }
    }
}

/// How a vector says what registers hold before they are reset.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "BeforeReset", rename_all = "snake_case")]
pub enum BeforeResetText {
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
    /// Random bits from this seed, which decides what `$random` gives, too.
    Random(u32),
}

fn are_ones(before_reset: &BeforeReset) -> bool {
    *before_reset == BeforeReset::Ones
}

fn ones() -> BeforeReset {
    BeforeReset::Ones
}

/// What a vector says, for a person; nothing for ones, which is the rule.
pub fn before_reset_in_words(before_reset: BeforeReset) -> Option<Cow<'static, str>> {
    match before_reset {
        BeforeReset::Ones => None,
        BeforeReset::Zeros => Some("registers hold zeros before reset".into()),
        BeforeReset::Random(seed) => {
            Some(format!("registers hold random bits before reset, from the seed {seed}").into())
        }
    }
}

/// A stimulus as it is read.
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
