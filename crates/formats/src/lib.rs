//! File formats of cosim: each with its version, its schema, its reader and its writer.
//!
//! - [`vector`] is one case in a file.
//! - [`run`] is the directory of a run: results, journal, times.
//! - [`mutation`] is what a mutation analysis found, [`proof`] what a proof has shown.
//! - [`coverage`] is what cases have hit, in one run or in many.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod coverage;
pub mod mutation;
pub mod proof;
pub mod run;
pub mod vector;
