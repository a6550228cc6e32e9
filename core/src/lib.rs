//! Co-simulation of RTL blocks with golden models: every output in every cycle.
//!
//! A crate with blocks implements [`harness::Block`] for each block and builds the RTL with
//! `cosim-build`. One line makes it a program:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     cosim_core::main(cosim_core::program!(arbiter::Arbiter))
//! }
//! ```
//!
//! Such a crate depends on this crate only. It exports items of the crates below `crates/`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub use cosim_agents as agents;
pub use cosim_base::error;
pub use cosim_base::program::Identity;
pub use cosim_cli::main;
pub use cosim_formal::prove;
pub use cosim_formats::{coverage, run, vector};
pub use cosim_harness::{
    axes, case_table, channel_block, channels, check_names, coverage, covergroups, delivery,
    document, generated, grants, harness, items, layout, paced, protocol, rules, states, table,
    traffic, transactions, transitions, value, waivers, weights,
};
pub use cosim_regress::{AnyBlock, Program};
pub use cosim_regress::{blocks, checks, engine, merge, mutate, runner, worker};
pub use cosim_rtl::{answers, export, fourvalue, models};
// Generated code and golden models need these crates through this one dependency.
pub use verilated;

/// A hash of the sources of cosim's own crates.
pub const LIBRARY: &str = env!("COSIM_LIBRARY");

/// Includes the generated code of a block: `Inputs`, `Outputs`, `RTL` and a type `BitsN` for each
/// width. Use it in a module of its own.
#[macro_export]
macro_rules! rtl {
    ($block:literal) => {
        include!(concat!(env!("OUT_DIR"), "/cosim/", $block, "/mod.rs"));
    };
}

/// A [`Program`] of the calling crate with these types of blocks. The build script of the crate
/// must call `cosim_build::build`.
#[macro_export]
macro_rules! program {
    ($($block:ty),+ $(,)?) => {
        $crate::Program {
            identity: $crate::Identity {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
                sources: env!("COSIM_IDENTITY"),
                library: $crate::LIBRARY,
                verilator: env!("COSIM_VERILATOR"),
            },
            blocks: &[$(&$crate::engine::Engine::<$block>::NEW),+],
        }
    };
}
