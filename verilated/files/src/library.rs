//! Shared libraries with models.

use crate::{Error, KeptFile};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of hex digits of the hash in a library's name, `TOP-HASH.so`.
pub const HASH_DIGITS: usize = 32;

/// A shared library from the cache of `verilated-build`.
///
/// It guarantees that Verilator and that crate generated the code in the file, so safe code may
/// load it. The file is open, so the verified bytes are the ones that are loaded. Another process
/// of the program opens the same file with [`BuiltLibrary::reopen`].
#[derive(Debug, Clone)]
pub struct BuiltLibrary {
    kept: KeptFile,
}

impl BuiltLibrary {
    /// The library in a file of the cache. It is for `verilated-build`, which knows that it made
    /// the file.
    ///
    /// # Errors
    /// [`Error::Io`] if its name is not one of a library.
    pub fn new(kept: KeptFile) -> Result<Self, Error> {
        let name = kept.path().file_name().unwrap_or_default().to_string_lossy();
        let hash = name.strip_suffix(".so").and_then(|name| name.rsplit_once('-'));
        let is_ours = hash.is_some_and(|(_, hash)| {
            hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        if is_ours {
            return Ok(Self { kept });
        }
        Err(Error::io(kept.path())(io::Error::new(
            io::ErrorKind::NotFound,
            "is not a model library of this program",
        )))
    }

    /// Opens a library that another process built, by its path and the hash of its bytes.
    ///
    /// # Errors
    /// As [`KeptFile::reopen`] and [`BuiltLibrary::new`].
    pub fn reopen(path: PathBuf, blake3: &str) -> Result<Self, Error> {
        Self::new(KeptFile::reopen(path, blake3)?)
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        self.kept.path()
    }

    /// BLAKE3 of its bytes, in hex.
    pub fn blake3(&self) -> &str {
        self.kept.blake3()
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        self.kept.file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn only_the_name_of_a_library_and_its_bytes_are_accepted() {
        let folder = TempDir::new().unwrap();
        let of = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "bytes").unwrap();
            BuiltLibrary::new(KeptFile::new(path.clone(), fs::File::open(path).unwrap()).unwrap())
        };
        let hash = "0123456789abcdef".repeat(2);
        let library = of(&format!("top-{hash}.so")).unwrap();
        for name in [format!("top-{hash}"), format!("top-{hash}0.so"), format!("{hash}.so")] {
            assert!(of(&name).is_err(), "{name}");
        }
        let again = |hash: &str| BuiltLibrary::reopen(library.path().to_owned(), hash);
        assert_eq!(again(library.blake3()).unwrap().blake3(), library.blake3());
        assert!(again(&hash).is_err());
        fs::write(library.path(), "other").unwrap();
        assert!(again(library.blake3()).is_err());
    }
}
