//! The weights of a scenario, and the generator that draws with them.

use super::block::Block;
use super::checked::{Checked, checked};
use super::draw::{Draw as _, Percent};
use super::parameters::Parameters;
use super::rng::CaseRng;
use super::span::Span;
use crate::value::Uint;
use rand::RngExt as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use verilated::{Pins as _, Port};

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

    /// Cycles of unconstrained stimulus for each packet, instead of a traffic; 0: traffic.
    fn raw_cycles_per_packet(&self) -> Uint<8> {
        Uint::new(0)
    }

    /// Draws so many cycles of unconstrained stimulus: by default random values on all pins. Each
    /// case draws how often each pin of one bit is high, so some cases run free and others crawl.
    /// Resets are rare.
    fn raw_pins(cycles: u32, _parameters: &Parameters, rng: &mut CaseRng) -> Vec<B::Inputs> {
        random_pins::<B>(cycles, rng)
    }
}

fn random_pins<B: Block>(cycles: u32, rng: &mut CaseRng) -> Vec<B::Inputs> {
    let resets = || B::RESET.into_iter().chain(B::OTHER_RESETS.iter().copied());
    let level = |port: &Port| {
        let mut levels = resets().map(|pin| pin.name_and_level());
        levels.find(|(name, _)| *name == port.name)
    };
    let often: Vec<f64> = B::Inputs::PORTS
        .iter()
        .map(|port| match level(port) {
            Some((_, is_high)) => {
                let rare: f64 = rng.one_of(&[0.0, 0.01, 0.1]);
                if is_high { rare } else { 1.0 - rare }
            }
            None => rng.one_of(&[0.1, 0.5, 0.9, 1.0]),
        })
        .collect();
    let mut bytes = B::Inputs::default().as_bytes().to_vec();
    let cycle = |_| {
        rng.fill(bytes.as_mut_slice());
        for (port, often) in B::Inputs::PORTS.iter().zip(&often) {
            if port.width == 1 {
                bytes[port.offset] = u8::from(rng.random_bool(*often));
            }
        }
        B::Inputs::from_bytes(&bytes)
    };
    (0..cycles).map(cycle).collect()
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
