//! File formats of cosim: each with its version, its schema, its reader and its writer.
//!
//! - [`vector`] is one case in a file.
//! - [`run`] is a run directory: results, journal, times.
//! - [`mutation`] is the result of a mutation analysis, [`proof`] that of a proof.
//! - [`coverage`] is a coverage database of one or several runs.

// Printing must not fail when the reader is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod coverage;
pub mod mutation;
pub mod proof;
pub mod run;
pub mod vector;
