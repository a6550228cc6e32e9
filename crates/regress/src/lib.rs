//! Regressions.
//!
//! - [`blocks`] lists the blocks of a program; [`setup`] is the setup of a run, [`loaded`] a
//!   vector.
//! - [`regression`] runs the cases of one block and decides whether the run passed.
//! - [`runner`] runs many cases in the processes of [`worker`]; [`merge`] merges the shards of a
//!   run.
//! - [`revision`] has the RTL of a commit.
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
//!     let start = prepared.create_run(&location, &mut events)?;
//!     prepared.run(start, None, &mut events)
//! }
//! ```

// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod blocks;
pub mod loaded;
pub mod merge;
pub mod regression;
pub mod revision;
pub mod runner;
pub mod setup;
pub mod suspects;
pub mod worker;
