//! File formats of cosim: each with its version, its schema, its reader and its writer.
//!
//! - [`vector`] is one case in a file.
//! - [`run`] is a run directory: results, journal, times.
//! - [`mutation`] is the result of a mutation analysis, [`answers`] that of commands that ask the
//!   provers: about properties, uncovered points, or two RTLs.
//! - [`started`] tells own run directories from those of other people.
//! - [`coverage`] is a coverage database of one or several runs.
//! - [`record`] reads and writes records, each with one version and a checksum.
//!
//! ```no_run
//! use cosim_block::vector::VectorFile;
//!
//! let vector = VectorFile::read("vectors/qp/c1-reset-to-init.json".as_ref())?;
//! assert_eq!(vector.block, "qp");
//! # Ok::<(), cosim_base::error::Error>(())
//! ```

// Printing must not panic when the reader of a pipe is gone: see `program::print_note`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod answers;
pub mod coverage;
pub mod mutation;
pub mod record;
pub mod run;
pub mod started;
