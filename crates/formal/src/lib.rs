//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for all inputs.
//! - [`diff`] compares two RTLs of a block.
//! - [`close`] decides whether any input reaches a code coverage point.
//! - [`assertions`] reads `NAME_sva.sv`; [`monitor`] translates properties to Verilog around the
//!   RTL; [`invariants`] strengthens proofs by them; [`cut`] cuts memories out of a netlist.
//! - [`graph`] converts a netlist to an and-inverter graph; [`aig`] has such graphs, and the miters
//!   that engines decide.
//! - [`engine`] runs engines such as ABC; [`portfolio`] lists all attempts; [`certificate`] checks
//!   their proofs, and [`judge`] compares graphs with Verilator's model.
//!
//! ```
//! use cosim_formal::aig::Aig;
//!
//! // An AND gate of two inputs.
//! let text = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n";
//! assert!(Aig::parse(text).is_some());
//! ```

// Printing must not panic when the reader of a pipe is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// What a proof "for all inputs" leaves out: each case and each vector begins with this cycle.
pub const FIRST_CYCLE: &str = "after a first cycle in reset with all other inputs low";

pub mod aig;
pub mod assertions;
pub mod certificate;
pub mod close;
pub mod cut;
pub mod diff;
pub mod engine;
pub mod graph;
pub mod invariants;
pub mod judge;
pub mod monitor;
pub mod portfolio;
pub mod prove;
