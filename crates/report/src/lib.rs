//! Reports of runs, for people and for other programs.
//!
//! - [`report`] writes the pages, JUnit and Markdown of a run directory.
//! - [`history`] keeps many runs in one file.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod conclude;
pub mod history;
pub mod report;

pub use conclude::{EarlierRuns, Known, RunReport};
use cosim_base::{error, files, text};
use cosim_formal::prove;
use cosim_formats::coverage;
use cosim_harness::{harness, value};
use cosim_regress::{engine, mutate, program, runner};
use cosim_rtl::models;
