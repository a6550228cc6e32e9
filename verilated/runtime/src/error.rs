//! Why Verilator's runtime cannot be used.

use std::io;
use std::path::PathBuf;

/// A missing or unsuitable Verilator. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The Verilator program is missing or does not run.
    #[error(
        "Verilator was not found ({tried}); install it with `apt-get install verilator`, or set \
         VERILATOR to the program"
    )]
    VerilatorMissing {
        /// The program that was tried, with the system's error.
        tried: String,
    },
    /// Verilator runs, but its runtime sources are missing.
    #[error(
        "Verilator `{program}` has no runtime sources: {root} has no include/verilated.h; set \
         VERILATOR_ROOT to the folder that has"
    )]
    RootMissing {
        /// The program that was asked.
        program: PathBuf,
        /// The folder that Verilator reported.
        root: PathBuf,
    },
    /// Verilator is older than [`MINIMUM_VERSION`](crate::MINIMUM_VERSION).
    #[error("Verilator {found} is too old; install {minimum} or newer, or set VERILATOR to it")]
    VerilatorTooOld {
        /// The version found.
        found: String,
        /// The oldest version that works.
        minimum: String,
    },
    /// The random number generator of the runtime cannot be replaced.
    #[error(
        "compiling the Verilator runtime failed:\nVerilator {version} draws random numbers in an \
         unsupported way; set VERILATOR to a version from 5.006 to 5.48"
    )]
    UnknownRandom {
        /// Verilator's version.
        version: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
