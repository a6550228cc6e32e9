//! Why a file cannot be used.

use std::io;
use std::path::PathBuf;

/// A failure of a file or of a cache folder. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cache folder is not writable.
    #[error(
        "cannot write compiled models to {folder}: {source}; set COSIM_CACHE to another folder"
    )]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Other users could replace compiled models in the cache, which are executed.
    #[error(
        "{folder} is not safe for compiled models: {reason}; set COSIM_CACHE to a folder that only you can write"
    )]
    UnsafeCache {
        /// The folder.
        folder: PathBuf,
        /// Who could write it.
        reason: String,
    },
    /// A file changed while it was used.
    #[error("{path} changed while it was being compiled; run the command again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file of the RTL cannot be copied under its name.
    #[error("{name}: {reason}")]
    Name {
        /// The name, as the RTL has it.
        name: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// An [`Error::Io`] for `path`, for use with `map_err`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
