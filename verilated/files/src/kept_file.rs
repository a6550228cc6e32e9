//! Open files of a cache, whose content is verified.

use crate::{Error, trust};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open cached file that only this user or root can have written. Its content is what was
/// hashed, whatever happens to its path.
#[derive(Debug, Clone)]
pub struct KeptFile {
    path: PathBuf,
    blake3: String,
    file: Arc<File>,
}

impl KeptFile {
    /// Hashes a file that was [opened](open) at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or if its owner or mode is not trusted.
    pub fn new(path: PathBuf, file: File) -> io::Result<Self> {
        if !trust::is_trusted(&file.metadata()?) {
            return Err(io::Error::other("another user could have written it"));
        }
        Ok(Self { path, blake3: blake3_of(&file)?, file: Arc::new(file) })
    }

    /// Opens a cached file that another process obtained, by its path and hash.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such file, if its owner or mode is not trusted, or if its hash
    /// differs.
    pub fn reopen(path: PathBuf, blake3: &str) -> Result<Self, Error> {
        let kept = open(&path).and_then(|file| Self::new(path.clone(), file));
        kept.and_then(|kept| match kept.blake3 == blake3 {
            true => Ok(kept),
            false => {
                let message = "it changed after it was compiled; run the command again";
                Err(io::Error::other(message))
            }
        })
        .map_err(Error::io(path))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// BLAKE3 of the bytes, in hex.
    pub fn blake3(&self) -> &str {
        &self.blake3
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }
}

/// Opens a file for reading, without following links or blocking on pipes.
///
/// # Errors
/// If the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn blake3_of(mut file: &File) -> io::Result<String> {
    let mut hash = blake3::Hasher::new();
    file.rewind()?;
    hash.update_reader(file)?;
    Ok(hash.finalize().to_hex().to_string())
}
