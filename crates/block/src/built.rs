//! Models that the tool has built.

use cosim_base::error::{Error, codes};
use cosim_harness::harness::{Block, Parameters};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use verilated::{Library, ModelKind};
use verilated_files::BuiltLibrary;

/// A model that is built but not loaded. The supervisor sends it to workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Built {
    /// Linked into the program.
    Linked,
    /// A shared library.
    Library {
        /// Path of the library.
        #[serde(with = "cosim_base::path_bytes")]
        path: PathBuf,
        /// BLAKE3 hash of its bytes. A library with another hash is not loaded.
        blake3: String,
    },
    /// A file compiled by Icarus, which runs in a process of its own.
    Icarus(#[serde(with = "cosim_base::path_bytes")] PathBuf),
}

impl Built {
    /// A shared library.
    pub fn library(library: &BuiltLibrary) -> Self {
        Self::Library { path: library.path().to_owned(), blake3: library.blake3().to_owned() }
    }

    /// Whether it runs in a separate process, which a worker starts.
    pub fn is_simulated(&self) -> bool {
        match self {
            Self::Linked | Self::Library { .. } => false,
            Self::Icarus(_) => true,
        }
    }

    /// Loads a compiled model into this process, which from then on runs code of the RTL.
    ///
    /// # Errors
    /// [`Error::Usage`] if it runs in a process of its own. [`Error::Model`] if it cannot be
    /// loaded, or if its ports differ from those that the program was built with.
    pub fn load<B: Block>(
        &self,
        parameters: &Parameters,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        match self {
            Self::Linked => B::RTL.linked(parameters).ok_or_else(|| {
                Error::Environment(
                    codes::INTERNAL,
                    "this program has no model with these \
                     parameters; choose a profile of `cosim list`"
                        .to_owned(),
                )
            }),
            Self::Icarus(_) => Err(Error::Usage(
                codes::OPTIONS_CONFLICT,
                "--simulator icarus works with run, replay, shrink and explain only; leave it out"
                    .to_owned(),
            )),
            Self::Library { path, blake3 } => {
                let library = BuiltLibrary::reopen(path.clone(), blake3)?;
                Ok(Library::load(&library)?.kind()?)
            }
        }
    }
}
