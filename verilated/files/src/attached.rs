//! Data files of an RTL that are attached to a compiled simulation, as comments at its end: a
//! simulation is kept as one file.

use crate::Error;
use crate::foreign::lay_out;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The beginning of a line with a file: its name and its text follow in hex digits.
const LINE: &str = "# cosim-data ";

/// Attaches files, as (name, text), to a compiled simulation.
///
/// # Errors
/// [`Error::Io`].
pub fn attach<'a>(
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
    compiled: &Path,
) -> Result<(), Error> {
    let hex = |bytes: &[u8]| {
        let mut digits = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    };
    let mut lines = String::new();
    for (name, text) in files {
        let _ = writeln!(lines, "{LINE}{} {}", hex(name.as_bytes()), hex(text));
    }
    let opened = OpenOptions::new().append(true).open(compiled);
    opened.and_then(|mut file| file.write_all(lines.as_bytes())).map_err(Error::io(compiled))
}

/// Writes the attached files into the new folder `root` and returns the working directory in which
/// the simulation finds them. `None` if there are none.
///
/// # Errors
/// [`Error::Io`]. As [`lay_out`].
pub fn detach(compiled: &Path, root: &Path) -> Result<Option<PathBuf>, Error> {
    let bytes = |digits: &str| -> Option<Vec<u8>> {
        let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        (0..digits.len()).step_by(2).map(byte).collect()
    };
    let text = fs::read(compiled).map_err(Error::io(compiled))?;
    let text = String::from_utf8_lossy(&text);
    let files = text.lines().filter_map(|line| {
        let (name, text) = line.strip_prefix(LINE)?.split_once(' ')?;
        Some((PathBuf::from(String::from_utf8(bytes(name)?).ok()?), bytes(text)?))
    });
    let files: Vec<(PathBuf, Vec<u8>)> = files.collect();
    if files.is_empty() {
        return Ok(None);
    }
    let named = files.iter().map(|(name, text)| (name.as_path(), text.as_slice()));
    lay_out(root, named).map(Some)
}
