//! The program with the blocks.
//!
//! A crate of blocks links this library. Its program loads models, runs cases and answers queries
//! for the tool `cosim`, which is another program: see [`worker`] for the pipe between them.
//!
//! - [`engine`] runs a block without its types.
//! - [`vector`] is one case in a file; [`explanation`] says why one fails.
//! - [`mutate`] runs cases on mutants of the RTL and of the golden model; [`agreement`] compares
//!   two models of an RTL.
//! - [`checks`] are the generic tests of a block's own parts.

#![warn(missing_docs)]
// `println!` panics when the reader of a pipe is gone; `program::print_note` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agreement;
pub mod blocks;
pub mod built;
pub mod checks;
pub mod driven;
pub mod engine;
pub mod explanation;
pub mod mutate;
mod observe;
pub mod points;
pub mod program;
pub mod rtl;
pub mod shard;
pub mod vector;
pub mod words;
pub mod worker;
