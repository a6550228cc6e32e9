//! Weights that are right one by one and wrong together.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// What can be wrong with weights beyond their single values.
pub trait Checked {
    /// What is wrong and what was expected.
    fn objection(&self) -> Option<String> {
        None
    }
}

/// Reads weights that are to be right together. The error tells the line and the column where they end.
///
/// # Errors
/// What they object to.
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

/// The objection to shares of a whole that are more than the whole.
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

/// The objection to relative weights that leave nothing to draw.
pub fn nothing_to_draw(name: &str, weights: impl IntoIterator<Item = u64>) -> Option<String> {
    let is_nothing = weights.into_iter().all(|weight| weight == 0);
    is_nothing.then(|| format!("all {name} are 0, expected at least one that is drawn"))
}
