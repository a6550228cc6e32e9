//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for all inputs.
//! - [`formal`] has the and-inverter graphs, monitors and engines that proofs and equivalence checks share.

// Printing must not fail when the reader is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod formal;
pub mod prove;

use cosim_base::error;
use cosim_harness::harness;
use cosim_rtl::{answers, models, yosys};
