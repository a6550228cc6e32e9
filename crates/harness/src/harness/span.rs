//! Ranges in scenario files.

use crate::value::Uint;
use serde::{Deserialize, Serialize};

/// A range of numbers of `WIDTH` bits, both ends included and none below `LEAST`; `[min, max]` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[Uint<WIDTH>; 2]", into = "[Uint<WIDTH>; 2]")]
pub struct Span<const WIDTH: u32, const LEAST: u64 = 0> {
    min: Uint<WIDTH>,
    max: Uint<WIDTH>,
}

impl<const WIDTH: u32, const LEAST: u64> Span<WIDTH, LEAST> {
    /// The range from `min` to `max`.
    ///
    /// # Panics
    /// If `min` is above `max`, or below the least.
    pub const fn new(min: u64, max: u64) -> Self {
        assert!(min <= max, "a range begins before it ends");
        assert!(LEAST <= min, "a range begins at its least number or above");
        Self { min: Uint::new(min), max: Uint::new(max) }
    }

    /// A uniform draw.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> u64 {
        use rand::RngExt;
        rng.random_range(self.min.get()..=self.max.get())
    }
}

impl<const WIDTH: u32, const LEAST: u64> TryFrom<[Uint<WIDTH>; 2]> for Span<WIDTH, LEAST> {
    type Error = String;

    fn try_from([min, max]: [Uint<WIDTH>; 2]) -> Result<Self, String> {
        let range = format!("the range [{}, {}]", min.get(), max.get());
        if min > max {
            Err(format!("{range} ends before it begins"))
        } else if min.get() < LEAST {
            Err(format!("{range} begins below the minimum of {LEAST}"))
        } else {
            Ok(Self { min, max })
        }
    }
}

impl<const WIDTH: u32, const LEAST: u64> From<Span<WIDTH, LEAST>> for [Uint<WIDTH>; 2] {
    fn from(span: Span<WIDTH, LEAST>) -> Self {
        [span.min, span.max]
    }
}
