//! Regressions and mutation analysis.
//!
//! - [`program`] says which blocks a program has; [`engine`] is what commands see of a block.
//! - [`proof`] proves the properties of one block and replays counterexamples.
//! - [`regression`] is the cases of one block, with what decides whether it passed.
//! - [`runner`] runs many cases, in the processes of [`worker`]; [`merge`] makes one run of its shards.
//! - [`mutate`] grades a testbench by faults in the RTL.
//! - [`agreement`] runs two models side by side; [`judged`] keeps what earlier runs found of a case.
//! - [`checks`] has what every block's tests look for.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agreement;
pub mod checks;
pub mod engine;
pub mod judged;
pub mod merge;
pub mod mutate;
mod observe;
pub mod program;
pub mod proof;
pub mod regression;
pub mod runner;
pub mod worker;

use cosim_base::{checksum, error, files};
use cosim_formal::formal;
use cosim_formats::{coverage, vector};
use cosim_harness::harness;
use cosim_rtl::{answers, export, fourvalue, models, yosys};
pub use program::{AnyBlock, Program};
