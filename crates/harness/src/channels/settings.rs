//! Inputs that belong to no channel: each holds a value for some cycles, then another one.

use super::port::FieldValue;
use crate::agent::AgentTraffic;
use crate::harness::{CaseRng, Traffic, TrafficError};
use crate::value::Uint;
use rand::RngExt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Settings of a case, unless its weights say otherwise.
pub const SETTINGS: u64 = 8;
/// Largest number of cycles of a setting, unless the weights say otherwise.
pub const LONGEST_SETTING: u64 = 60;

/// The values of these inputs.
pub trait Settings:
    Copy + Debug + Default + Eq + Send + Sync + Serialize + DeserializeOwned + JsonSchema
{
    /// The inputs of the block.
    type Inputs;

    /// Drives the inputs with these values.
    fn drive_inputs(&self, inputs: &mut Self::Inputs);

    /// Random values.
    fn any(rng: &mut CaseRng) -> Self;

    /// The values after these, with their number from 1.
    #[must_use]
    fn next(&self, number: usize, rng: &mut CaseRng) -> Self;
}

/// Values of these inputs for a number of cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting<T> {
    /// Cycles, at least 1.
    pub cycles: Uint<12>,
    /// The values.
    pub inputs: T,
}

/// The next value of the input at a place. All values of up to three single bits come in eight
/// settings, so an enable that is unknown as such does not stop the block in all of them.
#[doc(hidden)]
pub fn next_value<F: FieldValue>(first: F, place: usize, number: usize, rng: &mut CaseRng) -> F {
    first.next(number >> (place % 3) & 1 == 1, rng)
}

/// Draws `count` settings, each of at most `longest` cycles.
pub fn draw<T: Settings>(count: Uint<6>, longest: Uint<12>, rng: &mut CaseRng) -> Vec<Setting<T>> {
    let first = T::any(rng);
    let count = count.get().max(1) as usize;
    let setting = |number| Setting {
        inputs: if number == 0 { first } else { first.next(number, rng) },
        cycles: Uint::new(rng.random_range(1..=longest.get().max(1))),
    };
    (0..count).map(setting).collect()
}

impl<T: Settings> Traffic for Vec<Setting<T>> {
    fn check(&self) -> Result<(), TrafficError> {
        match self.iter().position(|setting| setting.cycles.get() == 0) {
            Some(at) => Err(TrafficError {
                path: format!("[{at}].cycles"),
                message: "0; a setting lasts at least one cycle".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

impl<T: Settings> AgentTraffic for Vec<Setting<T>> {
    /// The time of all settings is part of the end of a case.
    fn longest_delay(&self) -> u64 {
        0
    }
}

/// The settings of a case, one after the other; after the last comes the first.
#[derive(Debug, Clone)]
pub struct SettingsOf<'a, T> {
    all: &'a [Setting<T>],
    at: usize,
    left: u64,
}

impl<'a, T: Copy + Default> SettingsOf<'a, T> {
    /// At the first one.
    pub fn new(all: &'a [Setting<T>]) -> Self {
        Self { all, at: 0, left: all.first().map_or(0, |first| first.cycles.get()) }
    }

    /// The values in this cycle; zeros without any setting.
    #[inline]
    pub fn inputs(&self) -> T {
        self.all.get(self.at).map_or_else(T::default, |setting| setting.inputs)
    }

    /// Takes the edge of a cycle.
    #[inline]
    pub fn clock(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.at = if self.at + 1 < self.all.len() { self.at + 1 } else { 0 };
            self.left = self.all.get(self.at).map_or(0, |setting| setting.cycles.get());
        }
    }
}

/// Cycles until each setting has come once.
pub fn cycles<T>(settings: &[Setting<T>]) -> u64 {
    settings.iter().map(|setting| setting.cycles.get()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    struct Pins([Uint<1>; 3], Uint<8>);

    impl Settings for Pins {
        type Inputs = ();

        fn drive_inputs(&self, (): &mut ()) {}

        fn any(rng: &mut CaseRng) -> Self {
            Self([0; 3].map(|_| FieldValue::any(rng)), FieldValue::any(rng))
        }

        fn next(&self, number: usize, rng: &mut CaseRng) -> Self {
            let bit = |place| next_value(self.0[place], place, number, rng);
            Self([0, 1, 2].map(bit), next_value(self.1, 3, number, rng))
        }
    }

    #[test]
    fn eight_settings_have_all_values_of_three_bits() {
        let mut rng = CaseRng::seed_from_u64(5);
        let all = draw::<Pins>(Uint::new(8), Uint::new(9), &mut rng);
        let bits: BTreeSet<_> = all.iter().map(|setting| setting.inputs.0).collect();
        assert_eq!((bits.len(), all.len()), (8, 8));
        let bytes: BTreeSet<_> = all.iter().map(|setting| setting.inputs.1).collect();
        assert!(bytes.len() > 4, "{bytes:?}");
        assert!(all.iter().all(|setting| (1..=9).contains(&setting.cycles.get())));
        assert_eq!(draw::<Pins>(Uint::new(0), Uint::new(0), &mut rng).len(), 1);
    }

    #[test]
    fn settings_follow_one_another_and_begin_again() {
        let setting = |value, cycles| Setting { cycles: Uint::new(cycles), inputs: value };
        let all = [setting('a', 2), setting('b', 1)];
        let mut settings = SettingsOf::new(&all);
        let seen: String = (0..7)
            .map(|_| {
                let value = settings.inputs();
                settings.clock();
                value
            })
            .collect();
        assert_eq!((seen.as_str(), cycles(&all)), ("aabaaba", 3));
        let mut none = SettingsOf::<u8>::new(&[]);
        none.clock();
        assert_eq!(none.inputs(), 0);
        let never = vec![Setting { cycles: Uint::new(0), inputs: Pins::default() }];
        assert_eq!(never.check().unwrap_err().path, "[0].cycles");
    }
}
