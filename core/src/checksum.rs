//! Checksums of the records that decide a verdict.
//!
//! Such a record is a JSON object in a file whose last member stands in a line of its own and is the BLAKE3 hash of every byte
//! before that line: `"checksum": "…"`. A record that was cut off or edited is refused wherever it is read. It protects from
//! damage and from edits by hand, not from somebody who computes it again.

use crate::error::Error;
use blake3::Hasher;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

/// How the line begins.
const KEY: &str = "\"checksum\": \"";
/// How the line ends, with what closes the record.
const END: &str = "\"\n}\n";

/// The checksum of a text that is written piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Checksum(Hasher);

impl Checksum {
    /// Adds what follows.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// That of all that was added, in hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }

    /// What ends a record whose text was added: the line with the checksum, and what closes the record.
    pub fn end(&self) -> String {
        format!("{KEY}{}{END}", self.hex())
    }
}

impl Checksum {
    /// That of the first bytes of a file; of fewer if it has no more.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_first(file: &mut File, length: u64) -> io::Result<Self> {
        let mut checksum = Self::default();
        file.rewind()?;
        checksum.0.update_reader(file.take(length))?;
        Ok(checksum)
    }
}

/// The checksum of a whole text.
pub fn of(text: &str) -> String {
    let mut checksum = Checksum::default();
    checksum.add(text.as_bytes());
    checksum.hex()
}

/// A record with its checksum; `text` is the record without its closing brace, and its last line ends with a comma.
pub fn sealed(mut text: String) -> String {
    let mut checksum = Checksum::default();
    checksum.add(text.as_bytes());
    text.push_str(&checksum.end());
    text
}

/// Checks a record that is in memory; its checksum.
///
/// # Errors
/// [`Error::File`] if it has no checksum, or another text.
pub fn check<'a>(path: &Path, text: &'a str) -> Result<&'a str, Error> {
    let found = text.strip_suffix(END).and_then(|text| text.rsplit_once(KEY));
    let Some((before, found)) = found.filter(|(before, _)| before.ends_with('\n')) else {
        return Err(unsealed(path));
    };
    is_right(path, &of(before), found)?;
    Ok(found)
}

/// Checks a record in a file, however long it is.
///
/// # Errors
/// As [`check`], and [`Error::File`] if it cannot be read.
pub fn check_file(path: &Path) -> Result<(), Error> {
    let unreadable = |error| Error::unreadable(path, &error);
    let mut lines = BufReader::with_capacity(1 << 16, File::open(path).map_err(unreadable)?);
    let (mut checksum, mut line) = (Checksum::default(), Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Err(unsealed(path));
        }
        if line.starts_with(KEY.as_bytes()) {
            break;
        }
        checksum.add(&line);
    }
    // Nothing but what closes the record is behind it.
    let mut text = String::from_utf8_lossy(&line).into_owned();
    lines.read_line(&mut text).map_err(unreadable)?;
    let found = text.strip_prefix(KEY).and_then(|text| text.strip_suffix(END));
    let is_end = lines.fill_buf().map_err(unreadable)?.is_empty();
    let Some(found) = found.filter(|_| is_end) else { return Err(unsealed(path)) };
    is_right(path, &checksum.hex(), found)
}

fn is_right(path: &Path, right: &str, found: &str) -> Result<(), Error> {
    if right == found {
        return Ok(());
    }
    let message =
        "was changed after it was written: its checksum is that of another text; run it again";
    Err(Error::File { path: path.to_owned(), message: message.to_owned() })
}

fn unsealed(path: &Path) -> Error {
    let message = "is not whole: it does not end with its checksum; run it again";
    Error::File { path: path.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Is every record that was cut off or has a changed byte refused, read either way?
    #[test]
    fn a_record_that_was_cut_off_or_changed_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("record.json");
        let whole = sealed("{\n\"a\": 1,\n\"b\": [\n2\n],\n".to_owned());
        serde_json::from_str::<serde_json::Value>(&whole).unwrap();
        let verdicts = |text: &str| {
            fs::write(&path, text).unwrap();
            (check(&path, text).is_ok(), check_file(&path).is_ok())
        };
        assert_eq!(verdicts(&whole), (true, true));
        for length in 0..whole.len() {
            assert_eq!(verdicts(&whole[..length]), (false, false), "{length} bytes");
        }
        for changed in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[changed] ^= 1;
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(verdicts(&text), (false, false), "byte {changed}");
        }
        assert_eq!(verdicts(&format!("{whole}\n")), (false, false), "more text behind it");
        assert_eq!(verdicts(&format!("{whole}{whole}")), (false, false), "two records");
    }
}
