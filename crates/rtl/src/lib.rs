//! Reads, compiles and exports RTL, and runs external tools on it.
//!
//! - [`models`] has what models are compiled from, and their cache.
//! - [`backend`] builds models for each simulator; [`fourvalue`] writes the testbench of those with
//!   four values.
//! - [`yosys`] runs Yosys on RTL; [`rtlil`] reads the netlists that it writes;
//!   [`gates`] synthesises one that can replace the RTL.
//! - [`changed`] compares the text of two versions.
//! - [`export`] writes a case as a testbench in plain Verilog.
//! - [`answers`] caches answers of Yosys and ABC by content.
//!
//! ```
//! use cosim_block::rtl::Rtl;
//!
//! let rtl = Rtl { paths: vec!["my-rtl".into()], ..Rtl::default() };
//! assert!(!rtl.is_built_in());
//! ```

// Printing must not panic when the reader of a pipe is gone: see `program::print_note`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod answers;
pub mod backend;
pub mod changed;
pub mod export;
pub mod fourvalue;
pub mod models;
pub mod rtlil;
pub mod yosys;
