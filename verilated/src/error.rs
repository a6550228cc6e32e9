//! What can go wrong with a model at run time.

use crate::PortDifference;
use std::path::PathBuf;

/// A failure of a model or of its library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model stopped by itself: `$fatal`, `$stop`, `$finish`, or a loop that does not settle.
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
        /// Each difference, by port.
        differences: Vec<PortDifference>,
    },
    /// A shared library could not be loaded, or it is none of ours.
    #[error("{path}: {reason}")]
    Library {
        /// The library.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
}

fn list(differences: &[PortDifference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}
