//! Mutation analysis: injects faults into the RTL and counts those that the testbench finds.
//!
//! - [`build`] lets [Yosys](cosim_rtl::yosys) choose the faults, and makes a model of them; [`mutation`] is one of them.
//! - [`cut`] says which of them mean something and can be judged.
//! - [`netlist`] puts all of them into one netlist, each switched on by its number.
//! - [`kill`] is what a worker does: cases, each on every fault that is still alive.
//! - [`golden`] puts them into the golden model: what does the scoreboard notice?
//! - [`grade`] hands out the cases until each fault is found, or all cases were run.
//! - [`equivalence`] says of those that are left whether anything can find them.
//! - [`analysis`] is the whole of it: cases, equivalence checking, report.
//! - [`report`] is what comes of it.

pub mod analysis;
mod block;
mod build;
pub mod equivalence;
pub mod golden;
pub mod grade;
mod kill;
pub mod merge;
pub mod netlist;

pub use block::MutateBlock;
pub use build::Mutants;
pub use build::{netlist_model, woven_model};
pub use cosim_formats::mutation as report;
pub use cosim_formats::mutation::{KillMethod, Mode, Mutation, Source};
pub use kill::pins;
pub use kill::{AttemptResult, Kill, KillAttempt, MutationJob};
