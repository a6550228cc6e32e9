//! Formal verification of RTL, with Yosys and ABC.
//!
//! - [`prove`] proves the properties of a block for every input.
//! - [`monitor`] is the Verilog that watches the RTL; [`cut`] takes memories out of its netlist ([`rtlil`]).
//! - [`aig`] is a netlist as and-inverter graph, with the question that is put to ABC.
//! - [`abc`] asks ABC; [`portfolio`] has all attempts that are made.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod abc;
pub mod aig;
pub mod cut;
pub mod monitor;
pub mod portfolio;
pub mod prove;
pub mod rtlil;
