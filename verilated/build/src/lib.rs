//! Builds Verilator models behind the C interface of the `verilated` crate.
//!
//! Used twice: by build scripts, for the models linked into a program, and at run time, for models
//! that are compiled on demand and loaded from a shared library. The steps are the same:
//!
//! 1. [`Verilator::find`] locates the tool and its runtime sources.
//! 2. [`Design::verilate`] translates a Verilog top module to C++ ([`Verilated`]).
//! 3. [`Ports::read`] derives the ports from the header Verilator wrote; nobody types them.
//! 4. [`codegen`] writes the packed structs of inputs and outputs and the shim around the model.
//! 5. [`compile`] says how C++ is compiled for linking; [`LibraryCache`] makes shared libraries.

pub mod codegen;
pub mod compile;
mod error;
#[cfg(feature = "libclang")]
mod libclang;
mod library;
mod ports;
mod toolchain;
mod verilate;

pub use error::Error;
#[cfg(feature = "libclang")]
pub use libclang::load_libclang;
pub use library::{BuiltLibrary, LibraryCache};
pub use ports::{Port, Ports};
pub use toolchain::{MINIMUM_VERSION, Verilator};
pub use verilate::{Design, Tracing, Verilated};
