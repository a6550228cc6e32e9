//! RTL as users give it, and the tools that read it.
//!
//! - [`models`] examines RTL with Verilator and compiles models of it, or takes them from the cache.
//! - [`yosys`] runs Yosys on RTL; [`gates`] is the netlist that it synthesises, to be run in the RTL's place.
//! - [`fourvalue`] runs RTL in Icarus, with X where nothing is known.
//! - [`export`] writes a case as a testbench in plain Verilog.
//! - [`answers`] keeps answers of Yosys and ABC by content.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod answers;
pub mod export;
pub mod fourvalue;
pub mod gates;
pub mod models;
pub mod yosys;
