//! Stores a value as JSON inside postcard. Postcard cannot hold types that are self-describing,
//! such as tagged enums.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the value's JSON.
///
/// # Errors
/// If the value cannot be written as JSON.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(value).map_err(S::Error::custom)?;
    to.serialize_str(&text)
}

/// Reads the value's JSON.
///
/// # Errors
/// If the text is not the JSON of the value.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
}
