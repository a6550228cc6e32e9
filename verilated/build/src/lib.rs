//! Builds Verilator models behind the C interface of the `verilated` crate.
//!
//! Build scripts use it for the models linked into a program. The program uses it at run time for
//! models that are compiled on demand and loaded from a shared library. The steps are the same:
//!
//! 1. [`verilated_runtime::Verilator::find`] locates the tool and its runtime sources.
//! 2. [`Design::verilate`] translates a Verilog top module to C++ ([`Verilated`]).
//! 3. [`Design::ports`] derives the ports from the header that Verilator generates, and checks
//!    them.
//! 4. [`codegen`] generates the packed structs of inputs and outputs and the shim around the model.
//! 5. [`compile`] compiles C++ for linking; [`LibraryCache`] builds shared libraries.
//!
//! [`Design::elaborate`] reports the structure of a design without translating it.

#![warn(missing_docs)]

pub mod activity;
mod before_reset;
pub mod codegen;
pub mod compile;
mod data;
mod described;
mod elaborate;
mod error;
mod expand;
mod icarus;
mod kept;
#[cfg(feature = "libclang")]
mod libclang;
mod library;
pub mod module;
mod netlist;
mod options;
mod ports;
mod provable;
pub mod registered;
mod registers;
pub mod sources;
mod templates;
mod tool;
pub mod tree;
mod verilate;

pub use data::{DataNames, Opened, opens_files};
pub use elaborate::{Elaboration, Include, Module, Preprocessed};
pub use error::Error;
pub use icarus::{Icarus, Simulation};
pub use kept::{Entry, Kept, Removed};
#[cfg(feature = "libclang")]
pub use libclang::load_libclang;
pub use library::{LibraryCache, SourceFile};
pub use options::VerilatorOption;
pub use ports::{OBSERVING_TOP, Port, Ports, own_name};
pub use provable::Unprovable;
pub use registered::{Driving, choose};
pub use registers::Register;
pub use templates::render;
pub use tool::{
    EXCEEDED, answer_within, check_interrupted, interrupt, is_crash, messages, messages_until,
    messages_within, written_text,
};
pub use verilate::{Clock, DataFile, Design, Verilated, Wrapper};

/// The texts that determine the generated code and its compilation, for content hashes.
pub fn generator_text() -> impl Iterator<Item = &'static str> {
    let own = [
        env!("CARGO_PKG_VERSION"),
        include_str!("before_reset.rs"),
        include_str!("compile.rs"),
        include_str!("described.rs"),
        include_str!("options.rs"),
        include_str!("ports.rs"),
        include_str!("verilate.rs"),
    ];
    own.into_iter()
        .chain(codegen::text())
        .chain(registered::text())
        .chain(verilated_runtime::text())
}
