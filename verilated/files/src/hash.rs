//! Content hashes.

use crate::Error;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Hex digits of a hash for display.
const SHORT: usize = 12;

/// SHA-256 of a sequence of texts. The sequence `ab`, `c` differs from `a`, `bc`.
#[derive(Debug, Clone, Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Adds a text.
    pub fn add(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// Adds the content of a file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add_file(&mut self, path: &Path) -> Result<(), Error> {
        self.add(fs::read(path).map_err(Error::io(path))?);
        Ok(())
    }

    /// Adds the names of all files below a folder, sorted.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add_names(&mut self, folder: &Path) -> Result<(), Error> {
        for file in files_below(folder)? {
            self.add(file.as_os_str().as_encoded_bytes());
        }
        Ok(())
    }

    /// All digits in hex.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first digits, for display.
    pub fn short(self) -> String {
        let mut hex = self.hex();
        hex.truncate(SHORT);
        hex
    }
}

/// A hash of the names and contents of files and of all files in folders.
///
/// # Errors
/// [`Error::Io`].
pub fn identity(paths: &[PathBuf]) -> Result<String, Error> {
    let mut hash = Hash::default();
    for path in paths {
        for file in files_below(path)? {
            hash.add(file.as_os_str().as_encoded_bytes());
            hash.add_file(&file)?;
        }
    }
    Ok(hash.hex())
}

/// The file, or all files below the folder, sorted. Skips build output and hidden files.
fn files_below(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(Error::io(path))? {
        let entry = entry.map_err(Error::io(path))?;
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            names.push(entry.path());
        }
    }
    names.sort();
    for name in names {
        found.extend(files_below(&name)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundaries_of_texts_count() {
        let of = |texts: &[&str]| {
            let mut hash = Hash::default();
            texts.iter().for_each(|text| hash.add(text));
            hash.short()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_eq!(of(&[]), "e3b0c44298fc", "SHA-256 of nothing");
    }

    #[test]
    fn an_identity_changes_with_any_name_and_any_text() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let now = || identity(&[folder.path().to_owned()]).unwrap();
        write("a.v", "module a;");
        let first = now();
        write("a.v", "module b;");
        let second = now();
        write("b.v", "");
        let third = now();
        assert!(first != second && second != third && first != third);
        fs::create_dir(folder.path().join("target")).unwrap();
        write("target/x", "built");
        assert_eq!(now(), third, "what was built is no source");
    }
}
