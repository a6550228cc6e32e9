//! Checksums of records that decide a verdict: `results.json`, `coverage.json`, `mutate.json`
//! and `answers.json`.
//!
//! Each record is a JSON object whose last member is on a line of its own: `"checksum": "…"`, the
//! BLAKE3 hash of all bytes before that line. Every reader rejects a truncated or edited record.
//! The checksum detects damage and manual edits. It does not protect against a person who
//! recomputes it.

use crate::error::{Error, codes};
use crate::files::open_input;
use blake3::Hasher;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// The beginning of the line with the checksum.
const KEY: &str = "\"checksum\": \"";
/// The end of that line and of the record.
const END: &str = "\"\n}\n";
/// Length of a checksum in hexadecimal digits.
const DIGITS: usize = 64;
/// Length of that line and of the end of the record, in bytes.
const LENGTH: usize = KEY.len() + DIGITS + END.len();
/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// The checksum of a record that is written in pieces.
#[derive(Debug, Clone, Default)]
pub struct Checksum(Hasher);

impl Checksum {
    /// The checksum of the first `length` bytes of a file, or of the whole file if it is shorter.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_first(file: &mut File, length: u64) -> io::Result<Self> {
        let mut checksum = Self::default();
        file.rewind()?;
        checksum.0.update_reader(file.take(length))?;
        Ok(checksum)
    }

    /// Adds the next piece.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all pieces, as hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }

    /// The line with the checksum and the end of the record.
    pub fn end(&self) -> String {
        format!("{KEY}{}{END}", self.hex())
    }
}

/// Appends the checksum to a record and returns both. `text` is the record without its closing
/// brace; its last line ends with a comma.
pub fn sealed(mut text: String) -> (String, String) {
    let mut checksum = Checksum::default();
    checksum.add(text.as_bytes());
    text.push_str(&checksum.end());
    (text, checksum.hex())
}

/// Verifies the record in a file, piece by piece. Returns its checksum.
///
/// # Errors
/// [`Error::File`] if the file cannot be read, has no checksum, or does not match it.
pub fn verify_file(path: &Path) -> Result<String, Error> {
    verify(path, open_input(path)?)
}

/// Verifies a record. `path` is for error messages. Returns its checksum.
///
/// # Errors
/// As [`verify_file`].
pub fn verify(path: &Path, mut record: impl Read) -> Result<String, Error> {
    let unreadable = |error| Error::unreadable(path, &error);
    let wrong = |message: &str| Error::File {
        code: codes::DAMAGED,
        path: path.to_owned(),
        message: message.to_owned(),
    };
    let (mut checksum, mut ends_line) = (Checksum::default(), false);
    // The bytes that may belong to the line with the checksum, followed by the piece read last.
    // Memory does not depend on the lines of the record.
    let mut tail = Vec::with_capacity(PIECE + LENGTH);
    loop {
        let before = tail.len();
        tail.resize(before + PIECE, 0);
        let length = match record.read(&mut tail[before..]) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                tail.truncate(before);
                continue;
            }
            Err(error) => return Err(unreadable(error)),
        };
        tail.truncate(before + length);
        if length == 0 {
            break;
        }
        let hashed = tail.len().saturating_sub(LENGTH);
        if let Some(last) = tail[..hashed].last() {
            ends_line = *last == b'\n';
            checksum.add(&tail[..hashed]);
            tail.drain(..hashed);
        }
    }
    let end = tail.strip_prefix(KEY.as_bytes()).and_then(|end| end.strip_suffix(END.as_bytes()));
    let Some(found) = end.filter(|end| ends_line && end.len() == DIGITS) else {
        return Err(wrong("is truncated: it does not end with a checksum; repeat the run"));
    };
    let expected = checksum.hex();
    if found != expected.as_bytes() {
        return Err(wrong("is damaged or edited: its checksum does not match; repeat the run"));
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn truncated_and_edited_records_are_rejected() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("record.json");
        let (whole, checksum) = sealed("{\n\"a\": 1,\n\"b\": [\n2\n],\n".to_owned());
        serde_json::from_str::<serde_json::Value>(&whole).unwrap();
        let is_valid = |text: &str| {
            fs::write(&path, text).unwrap();
            verify_file(&path).is_ok()
        };
        assert!(is_valid(&whole));
        assert_eq!(verify_file(&path).unwrap(), checksum);
        for length in 0..whole.len() {
            assert!(!is_valid(&whole[..length]), "{length} bytes");
        }
        for changed in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[changed] ^= 1;
            let text = String::from_utf8(bytes).unwrap();
            assert!(!is_valid(&text), "byte {changed}");
        }
        assert!(!is_valid(&format!("{whole}\n")), "trailing text");
        assert!(!is_valid(&format!("{whole}{whole}")), "two records");
    }
}
