//! JSON inside postcard, for what says by itself how it is to be read.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the value's JSON.
///
/// # Errors
/// If it has none.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(value).map_err(S::Error::custom)?;
    to.serialize_str(&text)
}

/// Reads the value's JSON.
///
/// # Errors
/// If it is none.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
}
