//! The contract of a block, and the loop that runs one case of it.
//!
//! Golden models, environments and scoreboards need this crate and `verilated` only. Regressions,
//! reports and the command line are in the crates above it.
//!
//! - [`harness`] has the traits that a block implements, the loop, and the
//!   [data](harness::BlockInfo) of a block.
//! - [`agent`] has the contract of an agent, and [`channels`] the agents of channels.
//! - [`declared`] runs the agents of a block that `declare!` declares.
//! - [`value`] has unsigned numbers whose width is part of their type.
//!
//! ```
//! use cosim_harness::value::Uint;
//!
//! let credits = Uint::<4>::new(9);
//! assert_eq!(credits.get(), 9);
//! ```

#![warn(missing_docs)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agent;
pub mod as_hex;
pub mod as_json;
pub mod channels;
pub mod declared;
pub mod harness;
pub mod json;
pub mod value;

// For the macros of this crate.
pub use verilated;
