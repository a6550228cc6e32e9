//! The contract of a block, and the loop that runs a case.
//!
//! A golden model, its environment and its scoreboard need this crate and `verilated`, and nothing of what commands need.
//!
//! - [`harness`] has the traits that a block implements, the loop, and the [data](harness::BlockInfo) of a block.
//! - [`value`] has numbers of so many bits.
//!
//! ```
//! use cosim_harness::value::Uint;
//!
//! let credits = Uint::<4>::new(9);
//! assert_eq!(credits.get(), 9);
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod as_json;
pub mod harness;
pub mod value;

// For the macros of this crate.
pub use verilated;
