//! An input without a protocol.

use crate::agent::{Agent, AgentTraffic, AgentWeights, CasePlan, Counts, Progress};
use crate::scenarios::Pace;
use crate::wide::Data;
use cosim_harness::channels::{LONGEST_SETTING, SETTINGS, Setting, SettingsOf};
use cosim_harness::harness::{Noise, Traffic, TrafficError};
use cosim_harness::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use verilated::{Pin, Pins};

/// The values of an input, one after the other; after the last comes the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputTraffic {
    /// The values, each for a number of cycles; 0 without any.
    #[serde(default)]
    pub settings: Vec<Setting<Data>>,
}

impl Traffic for InputTraffic {
    fn check(&self) -> Result<(), TrafficError> {
        cosim_harness::channels::check_settings(&self.settings)
    }
}

cosim_harness::weights! {
    /// How values of an input are drawn.
    pub struct InputWeights {
        /// Values of a case.
        settings: Uint<6> = SETTINGS,
        /// Longest time of a value in cycles.
        longest: Uint<12> = LONGEST_SETTING,
    }
}

impl AgentWeights for InputWeights {
    fn paced(self, _: &Pace) -> Self {
        self
    }
}

impl<I: Pins> AgentTraffic<Pin<I>> for InputTraffic {
    type Weights = InputWeights;

    fn of_plan(weights: &Self::Weights, pin: &Pin<I>, plan: CasePlan<'_>) -> Self {
        let setting = |_| Setting {
            cycles: Uint::new(plan.rng.random_range(1..=weights.longest.get().max(1))),
            inputs: Data::any(pin.width(), plan.rng),
        };
        Self { settings: (0..weights.settings.get()).map(setting).collect() }
    }

    fn longest_delay(&self) -> u64 {
        self.settings.iter().map(|setting| setting.cycles.get()).sum()
    }
}

/// Drives an input that belongs to no interface with random values, each for some cycles:
/// `agent mode: InputDriver on Pin::of("", "mode");`. It has no operations.
#[derive(Debug, Clone)]
pub struct InputDriver<'a, I, O> {
    pin: Pin<I>,
    settings: SettingsOf<'a, Data>,
    outputs: PhantomData<fn() -> O>,
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for InputDriver<'a, I, O> {
    type Pins = Pin<I>;
    type Traffic = InputTraffic;

    fn new(pin: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { pin, settings: SettingsOf::new(&traffic.settings), outputs: PhantomData }
    }

    #[inline]
    fn drive(&mut self, _: bool, _: &mut Noise, inputs: &mut I) {
        self.pin.set_words(inputs, &self.settings.inputs().0);
    }

    #[inline]
    fn clock(&mut self, _: bool, _: &I, _: &O) -> Progress {
        self.settings.clock();
        Progress::new(None, true, Counts::default())
    }
}
