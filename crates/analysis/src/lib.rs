//! What asks the provers about RTL, and what mutates it.
//!
//! - [`proof`] proves the properties of one block and replays counterexamples.
//! - [`close`] closes the coverage of a run by vectors and proofs.
//! - [`diff`] compares two RTLs.
//! - [`mutate`] grades a testbench by faults that it injects into the RTL.
//! - [`agreement`] compares two models of an RTL; [`subject`] describes what queries are about.

// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agreement;
pub mod close;
pub mod diff;
pub mod mutate;
pub mod proof;
mod queue;
pub mod subject;
