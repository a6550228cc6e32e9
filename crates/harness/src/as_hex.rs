//! Stores bytes as text, two hexadecimal digits each.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the digits.
///
/// # Errors
/// Those of `to`.
pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&encoded(bytes))
}

/// Reads the digits.
///
/// # Errors
/// If the text has another character, or an odd number of digits.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    decoded(&String::deserialize(from)?).map_err(D::Error::custom)
}

// Compiled here and not in crates that are not optimised.
#[inline(never)]
fn encoded(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

#[inline(never)]
fn decoded(text: &str) -> Result<Vec<u8>, hex::FromHexError> {
    hex::decode(text)
}
