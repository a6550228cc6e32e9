//! Regressions and mutation analysis.
//!
//! - [`blocks`] lists the blocks of a program; [`setup`] is the setup of a run, [`loaded`] a
//!   vector.
//! - [`proof`] proves the properties of one block and replays counterexamples.
//! - [`regression`] runs the cases of one block and decides whether the run passed.
//! - [`runner`] runs many cases in the processes of [`worker`]; [`merge`] merges the shards of a
//!   run.
//! - [`mutate`] grades a testbench by faults that it injects into the RTL.
//! - [`agreement`] compares two models of an RTL.
//! - [`close`] closes the coverage of a run by vectors and proofs.
//! - [`diff`] compares two RTLs, which may be those of a [`revision`].
//! - [`suspects`] finds suspicious lines of the RTL for a failing vector.
//!
//! ```no_run
//! use cosim_base::error::Error;
//! use cosim_regress::regression::{Event, FinishedRun, Regression};
//! use cosim_formats::run::OutputLocation;
//! use std::sync::Arc;
//!
//! fn run(regression: &Regression) -> Result<FinishedRun, Error> {
//!     let mut events = |event: Event<'_>| println!("{event:?}");
//!     let prepared = regression.prepare(&Arc::default(), &mut events)?;
//!     let location = OutputLocation::New { stem: "nightly".to_owned() };
//!     let start = prepared.begin(&location, &mut events)?;
//!     prepared.run(start, None, &mut events)
//! }
//! ```

// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agreement;
pub mod blocks;
pub mod close;
pub mod diff;
pub mod loaded;
pub mod merge;
pub mod mutate;
pub mod proof;
pub mod regression;
pub mod revision;
pub mod runner;
pub mod setup;
pub mod subject;
pub mod suspects;
pub mod worker;
