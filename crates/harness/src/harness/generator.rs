//! The weights of a scenario, and the generator that draws with them.

use super::block::Block;
use super::checked::{Checked, checked};
use super::draw::Percent;
use super::parameters::Parameters;
use super::rng::CaseRng;
use super::span::Span;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The weights of a scenario, and the stimulus drawn with them.
pub trait Weights<B: Block<Weights = Self>>:
    Checked + Serialize + DeserializeOwned + Clone + Debug + Send + Sync
{
    /// The scenario that `cosim bench` measures: typical traffic.
    const BENCH: &'static str = "default";

    /// The built-in scenarios.
    fn scenarios() -> Vec<Scenario<Self>>;

    /// Draws a traffic of about `packets` packets that is legal under `parameters`.
    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> B::Traffic;

    /// Draws unconstrained stimulus of that length instead of a traffic, if the weights select
    /// it.
    fn raw_pins(
        &self,
        _parameters: &Parameters,
        _packets: u32,
        _rng: &mut CaseRng,
    ) -> Option<Vec<B::Inputs>> {
        None
    }
}

/// A named set of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "W: Deserialize<'de> + Checked"))]
pub struct Scenario<W> {
    /// The name on the command line.
    pub name: String,
    /// What it is for, in one line.
    pub about: String,
    /// The weights.
    #[serde(deserialize_with = "checked")]
    pub weights: W,
    /// The share of long cases, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongCases>,
}

/// A share of long cases in a scenario, because some bugs need many packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongCases {
    /// Their share of the cases, in percent.
    pub percent: Percent,
    /// Packets of a long case.
    pub packets: Span<20, 1>,
}

impl<W> Scenario<W> {
    /// A scenario with cases of ordinary length.
    pub fn new(name: &str, about: &str, weights: W) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), weights, long: None }
    }

    /// The same scenario with a share of long cases.
    #[must_use]
    pub fn with_long(self, percent: u64, packets: Span<20, 1>) -> Self {
        Self { long: Some(LongCases { percent: Percent::new(percent), packets }), ..self }
    }
}
