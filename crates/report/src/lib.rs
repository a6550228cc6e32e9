//! Reports of runs, for people and for other programs.
//!
//! - [`report`] writes the pages, JUnit and Markdown of a run directory.
//! - [`history`] keeps many runs in one file.

// Printing must not fail when the reader is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod conclude;
pub mod history;
pub mod report;

pub use conclude::{EarlierRuns, Known, RunReport};
