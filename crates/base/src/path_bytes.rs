//! Serializes a path as its bytes, for messages between processes: `#[serde(with = "path_bytes")]`.
//!
//! serde refuses a path that is not UTF-8. Records do not use this: their paths are text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Writes a path.
///
/// # Errors
/// As the serializer.
pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    path.as_os_str().as_bytes().serialize(to)
}

/// Reads a path.
///
/// # Errors
/// As the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Vec::<u8>::deserialize(from).map(|bytes| OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Named(#[serde(with = "super")] PathBuf);

    #[test]
    fn every_path_is_read_as_it_was_written() {
        for bytes in [&b"/a/b.json"[..], b"", b"x\xff\xfey", b"\"\n"] {
            let named = Named(PathBuf::from(OsString::from_vec(bytes.to_vec())));
            let text = serde_json::to_string(&named).unwrap();
            assert_eq!(serde_json::from_str::<Named>(&text).unwrap(), named);
        }
    }
}
