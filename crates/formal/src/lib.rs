//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for all inputs.
//! - [`formal`] has the and-inverter graphs, monitors and engines that proofs and equivalence checks share.
//!
//! ```
//! use cosim_formal::formal::aig::Aig;
//!
//! // An AND gate of two inputs.
//! let text = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n";
//! assert!(Aig::parse(text).is_some());
//! ```

// Printing must not fail when the reader is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod formal;
pub mod prove;

use cosim_base::error;
use cosim_harness::harness;
use cosim_rtl::{answers, models, yosys};
