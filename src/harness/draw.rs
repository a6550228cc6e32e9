//! What generators draw, beside what the `rand` crate has.

use super::contract::CaseRng;
use crate::value::Uint;
use rand::RngExt;
use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};

/// A chance in percent; [`percent`] reads it.
pub type Percent = Uint<7>;

/// Reads a chance in percent.
///
/// # Errors
/// If it is above 100, as a scenario's author would hardly mean.
pub fn percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Percent, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number > 100 {
        let expected = &"a percentage from 0 to 100";
        return Err(D::Error::invalid_value(Unexpected::Unsigned(number), expected));
    }
    Ok(Percent::new(number))
}

/// Draws of numbers whose width is part of the type.
pub trait Draw {
    /// True that often. Draws nothing for 0.
    fn chance(&mut self, percent: Percent) -> bool;

    /// Any number.
    fn bits<const WIDTH: u32>(&mut self) -> Uint<WIDTH>;

    /// A wait of 1 to `longest` cycles that often, else none.
    fn wait(&mut self, chance: Percent, longest: Uint<12>) -> Uint<12>;

    /// Any words, for a port or as the beginning of one.
    fn words<const N: usize>(&mut self) -> [u32; N];
}

impl Draw for CaseRng {
    #[inline]
    fn chance(&mut self, percent: Percent) -> bool {
        percent.get() > 0 && (u64::from(self.random::<u32>()) * 100) >> 32 < percent.get()
    }

    #[inline]
    fn bits<const WIDTH: u32>(&mut self) -> Uint<WIDTH> {
        Uint::new(self.random())
    }

    #[inline]
    fn wait(&mut self, chance: Percent, longest: Uint<12>) -> Uint<12> {
        if longest.get() > 0 && self.chance(chance) {
            Uint::new(self.random_range(1..=longest.get()))
        } else {
            Uint::new(0)
        }
    }

    // A plain loop: the standard library's way to fill an array is not inlined where it counts.
    #[inline]
    fn words<const N: usize>(&mut self) -> [u32; N] {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.random();
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::dll::scenarios as dll;
    use crate::blocks::thread2::scenarios::Weights;
    use crate::harness::{Checked, Scenario};
    use rand::SeedableRng;

    #[test]
    fn chances_are_as_often_as_they_say() {
        let mut rng = CaseRng::seed_from_u64(1);
        let mut often = |percent| (0..10_000).filter(|_| rng.chance(Uint::new(percent))).count();
        assert_eq!(often(0), 0);
        assert_eq!(often(100), 10_000);
        assert!((2_300..2_700).contains(&often(25)));
    }

    #[test]
    fn a_percentage_above_100_is_refused_where_it_stands() {
        let read = |text: &str| serde_json::from_str::<Scenario<Weights>>(text);
        let scenario = |gap: u32| {
            format!("{{\"name\": \"x\", \"about\": \"\",\n\"weights\": {{\"gap\": {gap}}}}}")
        };
        assert_eq!(read(&scenario(100)).unwrap().weights.gap.get(), 100);
        // 101 to 127 fit the type and meant "always"; 128 does not fit.
        for wrong in [101, 127, 128] {
            let error = read(&scenario(wrong)).unwrap_err();
            // The number ends before column 23.
            assert_eq!((error.line(), error.column()), (2, 23), "{error}");
            assert!(error.to_string().contains("a percentage from 0 to 100"), "{error}");
        }
    }

    /// The message for weights in the second line, and that it names that line.
    fn objection<W: serde::de::DeserializeOwned + Checked>(weights: &str) -> String {
        let text = format!("{{\"name\": \"x\", \"about\": \"\",\n\"weights\": {{{weights}}}}}");
        match serde_json::from_str::<Scenario<W>>(&text) {
            Ok(_) => String::new(),
            Err(error) => {
                assert_eq!(error.line(), 2, "{error}");
                assert!((13..=14 + weights.len()).contains(&error.column()), "{error}");
                error.to_string()
            }
        }
    }

    #[test]
    fn weights_that_are_wrong_together_are_refused_where_they_stand() {
        let none = r#""operations": {"send": 0, "long_send": 0, "write": 0, "long_write": 0, "read": 0, "unknown": 0}"#;
        assert!(objection::<Weights>(none).contains("all operations are 0"));
        assert_eq!(objection::<Weights>(&none.replace("\"read\": 0", "\"read\": 1")), "");
        let none = r#""services": {"rc": 0, "uc": 0, "rd": 0, "ud": 0, "cnp": 0, "xrc": 0, "reserved": 0}"#;
        assert!(objection::<Weights>(none).contains("all services are 0"));
        let sum = objection::<Weights>(r#""empty": 60, "jumbo": 41"#);
        assert!(sum.contains("empty and jumbo exclude each other and are 101 percent"), "{sum}");
        assert_eq!(objection::<Weights>(r#""empty": 60, "jumbo": 40"#), "");
        for direction in ["tlps", "acks", "naks"] {
            let weights = format!(r#""{direction}": {{"lost": 100, "damaged": 20}}"#);
            let sum = objection::<dll::Weights>(&weights);
            assert!(
                sum.contains("lost and damaged exclude each other and are 120 percent"),
                "{sum}"
            );
        }
    }

    #[test]
    fn ranges_of_what_is_needed_begin_at_one() {
        for name in ["qps", "units"] {
            assert!(
                objection::<Weights>(&format!(r#""{name}": [0, 0]"#)).contains("begins below 1")
            );
            assert_eq!(objection::<Weights>(&format!(r#""{name}": [1, 1]"#)), "");
        }
        assert!(objection::<Weights>(r#""message_packets": [1, 4]"#).contains("begins below 2"));
        assert_eq!(objection::<Weights>(r#""payload": [0, 0]"#), "", "packets may be empty");
        assert!(
            objection::<dll::Weights>(r#""tlps_per_packet": [0, 0]"#).contains("begins below 1")
        );
        let blackout = r#""tlps": {"blackout_length": [0, 3]}"#;
        assert!(objection::<dll::Weights>(blackout).contains("begins below 1"));
        assert_eq!(objection::<dll::Weights>(r#""untroubled_tlps": [0, 0]"#), "");
    }

    #[test]
    fn waits_stay_within_their_limit_and_reach_it() {
        let mut rng = CaseRng::seed_from_u64(1);
        let waits: Vec<u64> =
            (0..1000).map(|_| rng.wait(Uint::new(50), Uint::new(3)).get()).collect();
        assert_eq!(waits.iter().max(), Some(&3));
        assert_eq!(waits.iter().min(), Some(&0));
        assert_eq!(rng.wait(Uint::new(100), Uint::new(0)).get(), 0);
    }
}
