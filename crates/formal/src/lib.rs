//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for every input.
//! - [`formal`] has the and-inverter graphs, monitors and engines that proofs and equivalence checks share.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod formal;
pub mod prove;

use cosim_base::error;
use cosim_harness::harness;
use cosim_rtl::{answers, models, yosys};
