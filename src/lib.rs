//! Co-simulation of RTL blocks against golden models: every output, every cycle.
//!
//! - [`harness`] has the contract that a block implements and the loop that runs a case.
//! - [`blocks`] has the blocks.
//! - [`engine`] is what commands see of a block; [`models`] says where its compiled RTL comes from.
//! - [`runner`] runs many cases; [`worker`] is where models are at work; [`vector`] keeps a case in a file;
//!   [`cli`] is the command line.

pub mod blocks;
pub mod cli;
pub mod engine;
pub mod error;
mod files;
pub mod harness;
pub mod models;
mod observe;
pub mod runner;
pub mod value;
pub mod vector;
pub mod worker;

/// The tool's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A hash of the sources this program was built from.
pub const BUILD: &str = env!("COSIM_BUILD");
/// The Verilator the built-in models were made with.
pub const VERILATOR: &str = env!("COSIM_VERILATOR");
