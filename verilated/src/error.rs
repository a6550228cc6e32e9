//! Errors of models at run time.

use crate::PortDifference;
use std::path::PathBuf;

/// A failure of a model or of its library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model stopped: `$fatal`, `$stop`, `$finish`, or a loop that does not settle.
    #[error("{0}")]
    Stopped(String),
    /// An assertion failed in a model that checks assertions.
    #[error("assertion {label} does not hold ({place})")]
    Assertion {
        /// Its label.
        label: String,
        /// File and line.
        place: String,
    },
    /// The model's ports are not those the program was built with.
    #[error("the ports of {top} differ from those this program was built with:{}", list(.differences))]
    Ports {
        /// The top module.
        top: String,
        /// The differences.
        differences: Vec<PortDifference>,
    },
    /// A shared library cannot be loaded, or was not built by cosim.
    #[error("{path}: {reason}")]
    Library {
        /// The library.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

fn list(differences: &[PortDifference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}
