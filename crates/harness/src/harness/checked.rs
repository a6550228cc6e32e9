//! Checks of weights that are legal one by one but contradict each other.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// A check of all weights of a scenario together.
pub trait Checked {
    /// What is wrong and what was expected; `None` if the weights are consistent.
    fn objection(&self) -> Option<String> {
        None
    }
}

/// Reads weights and checks them together. The error names the line and column where they end.
///
/// # Errors
/// The objection of [`Checked::objection`].
pub fn checked<'de, D: Deserializer<'de>, W: Deserialize<'de> + Checked>(
    deserializer: D,
) -> Result<W, D::Error> {
    without_objection(W::deserialize(deserializer)?)
}

/// The same weights, if they are right together.
///
/// # Errors
/// What they object to.
pub fn without_objection<W: Checked, E: Error>(weights: W) -> Result<W, E> {
    weights.objection().map_or(Ok(weights), |objection| Err(E::custom(objection)))
}

/// The objection to percentages that exclude each other and add up to more than 100.
pub fn beyond_all(shares: &[(&str, super::Percent)]) -> Option<String> {
    let sum: u64 = shares.iter().map(|(_, share)| share.get()).sum();
    let names: Vec<&str> = shares.iter().map(|(name, _)| *name).collect();
    (sum > 100).then(|| {
        format!(
            "{} exclude each other and are {sum} percent, expected at most 100",
            names.join(" and ")
        )
    })
}

/// The objection to relative weights that are all 0.
pub fn nothing_to_draw(name: &str, weights: impl IntoIterator<Item = u64>) -> Option<String> {
    let is_nothing = weights.into_iter().all(|weight| weight == 0);
    is_nothing.then(|| format!("all weights of {name} are 0, expected at least one above 0"))
}
