//! Why the models of a program could not be built.

use std::io;
use std::path::PathBuf;

/// A failure of a build script. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The build script was not started by cargo.
    #[error("{0} is not set; call this from a build script, which cargo runs")]
    NoBuildScript(&'static str),
    /// Verilator or the C++ compiler failed.
    #[error(transparent)]
    Build(#[from] verilated_build::Error),
    /// Verilator is missing, or its runtime cannot be used.
    #[error(transparent)]
    Verilator(#[from] verilated_runtime::Error),
    /// A file cannot be hashed.
    #[error(transparent)]
    Files(#[from] verilated_files::Error),
    /// bindgen failed.
    #[error("the ports could not be bound: {0}")]
    Bindings(#[from] bindgen::BindgenError),
    /// The models of a block have different ports.
    #[error(
        "{block}: the ports depend on the parameters; write a separate block for each set of ports"
    )]
    PortsDiffer { block: String },
    /// Verilator read a file outside the block's folder.
    #[error(
        "{block}: {file} is not in {folder}, which holds the RTL that goes into the program; move it there, or add its folder with `include` in build.rs"
    )]
    Outside { block: String, file: PathBuf, folder: PathBuf },
    /// Two folders of a block contain files with the same name.
    #[error("{block}: {file} and {other} have the same name; rename one of them")]
    SameName { block: String, file: PathBuf, other: PathBuf },
    /// The RTL opens a file outside the block's folder at run time.
    #[error(
        "{block}: {at}: the RTL reads {name:?}, which is not in {folder}; move it there, and use \
         its path inside that folder in the RTL"
    )]
    Data {
        block: String,
        /// The file name in the RTL.
        name: String,
        /// The place in the RTL.
        at: String,
        folder: PathBuf,
    },
    /// The golden model in C or C++ cannot be compiled.
    #[error(
        "{file}: the golden model cannot be compiled; the compiler's messages are above ({message})"
    )]
    Golden {
        file: PathBuf,
        /// How the compiler failed.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
