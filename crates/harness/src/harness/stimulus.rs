//! The stimulus of a case: all of its inputs.

use super::block::Block;
use super::generator::Weights;
use super::parameters::Parameters;
use super::raw_pins;
use super::rng::CaseRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use verilated::BeforeReset;

/// The stimulus of a case.
#[derive(Debug, Clone)]
pub struct Stimulus<B: Block> {
    /// Contents of the DUT's registers before reset; ones if a vector does not set them.
    pub before_reset: BeforeReset,
    /// The source of the inputs.
    pub drive: Drive<B>,
}

/// The source of the inputs of a case.
#[derive(Debug, Clone)]
pub enum Drive<B: Block> {
    /// Transactions of the block.
    Traffic(B::Traffic),
    /// Unconstrained random stimulus: the values of all input pins in each cycle, without any
    /// protocol.
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

    /// Draws a stimulus of about `packets` packets.
    pub fn draw(
        weights: &B::Weights,
        parameters: &Parameters,
        packets: u32,
        rng: &mut CaseRng,
    ) -> Self {
        match raw_pins::count::<B::Inputs>(weights.raw_cycles_per_packet(), packets) {
            0 => Self::traffic(weights.traffic(parameters, packets, rng)),
            cycles => Self::cycles(B::Weights::raw_pins(cycles, parameters, rng)),
        }
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
