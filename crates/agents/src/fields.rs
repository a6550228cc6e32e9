//! An input port with named fields and without a protocol, such as the hardware side of a register
//! block.
//!
//! [`FieldDriver`] holds the fields at drawn values for drawn times, in reset, too. There is
//! nothing to check.
//!
//! ```ignore
//! agent hardware: FieldDriver[types::HwifIn] on Pin::named("", "hwif_in");
//! ```

#[cfg(test)]
mod tests;

use cosim_harness::agent::{
    Agent, AgentTraffic, AgentWeights, CasePlan, Counts, DrawnTraffic, NoCoverage, Pace, Progress,
};
use cosim_harness::channels::SourceWeights;
use cosim_harness::harness::{Draw, Layout, Noise, Percent, Traffic, TrafficError};
use cosim_harness::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use verilated::{Field, Pin, Pins};

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldValue {
    /// The name.
    pub field: Cow<'static, str>,
    /// The value.
    pub value: Uint<64>,
}

/// Values that the fields hold for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldStep {
    /// Cycles that the values last, beyond one.
    #[serde(default)]
    pub hold_cycles: Uint<12>,
    /// The fields that are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldValue>,
}

impl fmt::Display for FieldStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return f.write_str("all fields are 0");
        }
        for (index, FieldValue { field, value }) in self.fields.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{field} is {:#x}", value.get())?;
        }
        Ok(())
    }
}

/// The struct of the fields of a port, as [`layout!`](cosim_harness::layout) declares it.
pub trait PortFields: Layout + Clone + fmt::Debug + Default + Eq + 'static {}

impl<T: Layout + Clone + fmt::Debug + Default + Eq + 'static> PortFields for T {}

/// The values of a port, one step after the other. All fields are 0 after the last step. `T` is the
/// struct of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(bound = "", rename = "FieldTraffic")]
pub struct FieldTraffic<T> {
    /// The steps.
    #[serde(default)]
    pub steps: Vec<FieldStep>,
    #[serde(skip)]
    #[schemars(skip)]
    layout: PhantomData<fn() -> T>,
}

impl<T> FieldTraffic<T> {
    /// These steps.
    pub fn new(steps: Vec<FieldStep>) -> Self {
        Self { steps, layout: PhantomData }
    }
}

/// The bits of a field.
fn place<T: Layout>(name: &str) -> Option<Field> {
    T::FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
}

impl<T: PortFields> Traffic for FieldTraffic<T> {
    fn check(&self) -> Result<(), TrafficError> {
        for (index, step) in self.steps.iter().enumerate() {
            let wrong = |path: String, message: String| {
                Err(TrafficError { path: format!("steps[{index}].{path}"), message })
            };
            for (at, FieldValue { field, value }) in step.fields.iter().enumerate() {
                let Some(place) = place::<T>(field) else {
                    return wrong(format!("fields[{at}].field"), format!("no field `{field}`"));
                };
                if value.get() > place.max() {
                    let message = format!("{:#x} has more than {} bits", value.get(), place.width);
                    return wrong(format!("fields[{at}].value"), message);
                }
            }
        }
        Ok(())
    }
}

cosim_harness::weights! {
    /// How values of fields are drawn.
    pub struct FieldWeights {
        /// Times that values last, beyond one cycle.
        hold: SourceWeights = SourceWeights::default(),
        /// Chance that a field of one bit is 1.
        high: Percent = 15,
        /// Chance that a wider field is random, else it is 0.
        random: Percent = 60,
        /// Steps for each operation of a case.
        steps_per_operation: Uint<6> = 4,
    }
}

impl AgentWeights for FieldWeights {
    fn paced(self, pace: &Pace) -> Self {
        Self { hold: pace.source.clone(), ..self }
    }
}

/// Drives a port with the fields of `T`.
#[derive(Debug, Clone)]
pub struct FieldDriver<'a, I, O, T> {
    pin: Pin<I>,
    /// The step that holds its values, and those that follow.
    rest: &'a [FieldStep],
    /// Cycles that the values last, beyond this one.
    hold: u64,
    words: Vec<u32>,
    counts: Counts,
    types: PhantomData<fn() -> (O, T)>,
}

fn write_field(words: &mut [u32], place: Field, value: u64) {
    let (first, shift) = ((place.lsb / 32) as usize, place.lsb % 32);
    let bits = u128::from(value & place.max()) << shift;
    for (index, word) in words.iter_mut().skip(first).take(3).enumerate() {
        *word |= (bits >> (32 * index)) as u32;
    }
}

impl<I, O, T: Layout> FieldDriver<'_, I, O, T> {
    /// Takes the values of the first step.
    fn load(&mut self) {
        self.words.fill(0);
        let Some(step) = self.rest.first() else { return };
        self.hold = step.hold_cycles.get();
        for FieldValue { field, value } in &step.fields {
            if let Some(place) = place::<T>(field) {
                write_field(&mut self.words, place, value.get());
            }
        }
    }
}

impl<'a, I: Pins, O: Pins, T: PortFields> Agent<'a, I, O> for FieldDriver<'a, I, O, T> {
    type Pins = Pin<I>;
    type Traffic = FieldTraffic<T>;
    type Coverage = NoCoverage;

    fn new(pin: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        let words = vec![0; pin.width().div_ceil(32) as usize];
        let (rest, counts) = (traffic.steps.as_slice(), Counts::default());
        let mut driver = Self { pin, rest, hold: 0, words, counts, types: PhantomData };
        driver.load();
        driver
    }

    #[inline]
    fn drive(&mut self, _: bool, _: &mut Noise, inputs: &mut I) {
        self.pin.set_words(inputs, &self.words);
    }

    #[inline]
    fn clock(&mut self, _: bool, _: &I, _: &O) -> Progress {
        if self.hold > 0 {
            self.hold -= 1;
        } else if let Some((_, rest)) = self.rest.split_first() {
            self.rest = rest;
            self.counts.handshakes += 1;
            self.load();
        }
        Progress::new(None, self.rest.is_empty(), self.counts)
    }

    fn in_flight(&self) -> Option<String> {
        let (first, rest) = self.rest.split_first()?;
        let left = rest.len();
        Some(format!("{first} for {} more cycles, {left} steps to come", self.hold + 1))
    }
}

impl<T: PortFields> AgentTraffic for FieldTraffic<T> {
    fn longest_delay(&self) -> u64 {
        self.steps.iter().map(|step| step.hold_cycles.get()).max().unwrap_or(0) + 1
    }
}

impl<I: Pins, T: PortFields> DrawnTraffic<Pin<I>> for FieldTraffic<T> {
    type Weights = FieldWeights;

    fn draw(weights: &Self::Weights, _: &Pin<I>, plan: CasePlan<'_>) -> Self {
        let CasePlan { operations, rng, .. } = plan;
        let mut step = || {
            let hold_cycles = rng.wait(weights.hold.gap, weights.hold.longest_gap);
            let mut fields = Vec::new();
            for (name, place) in T::FIELDS {
                let chance = if place.width == 1 { weights.high } else { weights.random };
                if rng.chance(chance) {
                    let random = rng.bits::<64>().get() & place.max();
                    let value = Uint::new(if place.width == 1 { 1 } else { random });
                    fields.push(FieldValue { field: Cow::Borrowed(name), value });
                }
            }
            FieldStep { hold_cycles, fields }
        };
        let steps = operations * weights.steps_per_operation.get() as u32;
        FieldTraffic::new((0..steps).map(|_| step()).collect())
    }
}
