//! Co-simulation of RTL blocks with golden models: every output in every cycle.
//!
//! A crate with blocks implements [`harness::Block`] for each block and builds the RTL with
//! `cosim-build`. One line makes it a program, which `cosim` runs:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     cosim_core::main(cosim_core::program!(arbiter::Arbiter))
//! }
//! ```
//!
//! Such a crate depends on this crate only. It exports items of the crates below `crates/`.

#![warn(missing_docs)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "agents")]
pub use cosim_agents as agents;
pub use cosim_base::error;
pub use cosim_base::program::Identity;
pub use cosim_block::blocks::Program;
pub use cosim_block::program::{LIBRARY, main};
pub use cosim_block::{checks, engine, shard, vector};
pub use cosim_declare::declare;
pub use cosim_harness::{
    agent, channels, check_names, coverage, declared, document, harness, layout, rules, traffic,
    value, weights,
};
// Generated code and golden models need these crates through this one dependency.
pub use verilated;

/// Includes the generated code of a block: `Inputs`, `Outputs`, `RTL` and a type `BitsN` for each
/// width. Use it in a module of its own.
#[macro_export]
macro_rules! rtl {
    ($block:literal) => {
        include!(concat!(env!("OUT_DIR"), "/cosim/", $block, "/mod.rs"));
    };
}

/// A reference to the [`Program`] of the calling crate with these types of blocks. The build script
/// of the crate must call `cosim_build::build`.
///
/// What runs the blocks is compiled where this stands. `program!(join queue::PROGRAM, ..)` is a
/// program with the blocks of several crates, each with a static `PROGRAM`: nothing is compiled
/// again, and the calling crate needs no build script.
#[macro_export]
macro_rules! program {
    (join $($program:expr),+ $(,)?) => {
        $crate::Program::joined(env!("CARGO_MANIFEST_DIR"), &[$($program),+])
    };
    ($($block:ty),+ $(,)?) => {{
        static PROGRAM: $crate::Program = $crate::Program {
            identity: $crate::Identity {
                sources: env!("COSIM_IDENTITY"),
                library: $crate::LIBRARY,
                verilator: env!("COSIM_VERILATOR"),
            },
            folder: env!("CARGO_MANIFEST_DIR"),
            blocks: &[$(&$crate::engine::BlockEngine::<$block>::NEW),+],
        };
        &PROGRAM
    }};
}
