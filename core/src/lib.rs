//! Co-simulation of RTL blocks against golden models: every output, every cycle.
//!
//! A crate with blocks implements [`harness::Block`] for each, builds their RTL with `cosim-build`, and is a
//! program by one line:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     cosim_core::main(cosim_core::program!(arbiter::Arbiter))
//! }
//! ```
//!
//! - [`harness`] has the contract that a block implements and the loop that runs a case.
//! - [`program`](mod@program) says which blocks a program has.
//! - [`engine`] is what commands see of a block; [`models`] says where its compiled RTL comes from.
//! - [`export`] writes a case as a testbench in plain Verilog.
//! - [`fourvalue`] runs cases with X where nothing is known.
//! - [`gates`] is what Yosys synthesises of an RTL, to be run in its place.
//! - [`skeleton`] writes a crate for a new block.
//! - [`checks`] has what every block's tests look for.
//! - [`coverage`] has what cases have hit, in one run or in many.
//! - [`mutate`] grades a bench by faults in the RTL.
//! - [`prove`] shows what a block promises, for every input.
//! - [`merge`] makes one run of its shards.
//! - [`runner`] runs many cases; [`report`] is what others read of a run, [`history`] what
//!   became of many; [`worker`] is where models are at work; [`vector`] keeps a case in a file;
//!   [`cli`] is the command line.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agreement;
pub mod answers;
pub mod checks;
mod checksum;
pub mod cli;
pub mod coverage;
pub mod engine;
pub mod error;
pub mod export;
mod files;
mod formal;
pub mod fourvalue;
pub mod gates;
pub mod history;
pub mod judged;
pub mod merge;
pub mod models;
pub mod mutate;
mod observe;
pub mod program;
pub mod prove;
pub mod report;
pub mod runner;
pub mod skeleton;
mod text;
pub mod vector;
pub mod worker;

pub use cli::main;
pub use cosim_harness::{axes, covergroups, harness, layout, rules, value, waivers};
pub use program::{AnyBlock, Program};
// For generated code and for golden models: one dependency is enough for a crate with blocks.
pub use verilated;

/// What the build script made of a block's RTL with `cosim-build`: `Inputs`, `Outputs`, `RTL` and a type
/// `BitsN` for each width. For a module of its own.
#[macro_export]
macro_rules! rtl {
    ($block:literal) => {
        include!(concat!(env!("OUT_DIR"), "/cosim/", $block, "/mod.rs"));
    };
}
