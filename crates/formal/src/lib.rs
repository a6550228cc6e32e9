//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for all inputs.
//! - [`diff`] compares two RTLs of a block.
//! - [`close`] decides whether any input reaches a code coverage point.
//! - [`assertions`] reads `NAME_sva.sv`; [`monitor`] translates properties to Verilog around the
//!   RTL; [`invariants`] strengthens proofs by them; [`cut`] cuts memories out of a netlist.
//! - [`graph`] converts a netlist to an and-inverter graph of `cosim_aig`; a [`circuit`] is such a
//!   graph without memories and with them.
//! - [`answer`] has queries and their answers, which all of them share; [`open`] says what keeps
//!   one open. [`engine`] runs engines such as ABC within [`limits`]; [`portfolio`] lists all
//!   attempts, and [`ladder`] their order for two graphs; [`certificate`] checks their proofs, and
//!   [`judge`] compares graphs with Verilator's model.

// Printing must not panic when the reader of a pipe is gone: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// What a proof "for all inputs" leaves out: each case and each vector begins with this cycle.
pub const FIRST_CYCLE: &str = "after a first cycle in reset with all other inputs low";

pub mod answer;
pub mod assertions;
pub mod certificate;
pub mod circuit;
pub mod close;
pub mod cut;
pub mod diff;
pub mod engine;
pub mod graph;
pub mod invariants;
pub mod judge;
pub mod ladder;
pub mod limits;
pub mod monitor;
pub mod open;
pub mod portfolio;
pub mod prove;
