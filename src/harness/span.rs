//! Ranges in scenario files.

use crate::value::Uint;
use serde::{Deserialize, Serialize};

/// A range of numbers of `WIDTH` bits, both ends included; `[min, max]` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[Uint<WIDTH>; 2]", into = "[Uint<WIDTH>; 2]")]
pub struct Span<const WIDTH: u32> {
    min: Uint<WIDTH>,
    max: Uint<WIDTH>,
}

impl<const WIDTH: u32> Span<WIDTH> {
    /// The range from `min` to `max`.
    ///
    /// # Panics
    /// If `min` is above `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        assert!(min <= max, "a range begins before it ends");
        Self { min: Uint::new(min), max: Uint::new(max) }
    }

    /// A uniform draw.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> u64 {
        use rand::RngExt;
        rng.random_range(self.min.get()..=self.max.get())
    }
}

impl<const WIDTH: u32> TryFrom<[Uint<WIDTH>; 2]> for Span<WIDTH> {
    type Error = String;

    fn try_from([min, max]: [Uint<WIDTH>; 2]) -> Result<Self, String> {
        if min <= max {
            Ok(Self { min, max })
        } else {
            Err(format!("the range [{}, {}] ends before it begins", min.get(), max.get()))
        }
    }
}

impl<const WIDTH: u32> From<Span<WIDTH>> for [Uint<WIDTH>; 2] {
    fn from(span: Span<WIDTH>) -> Self {
        [span.min, span.max]
    }
}
