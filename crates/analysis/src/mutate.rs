//! Mutation analysis: injects faults into the RTL and counts those that the testbench finds.
//!
//! - [`Mutants`] are the mutations that [Yosys](cosim_rtl::yosys) selects, with their model.
//! - [`cut`](cosim_formal::cut) finds those that cannot be analysed.
//! - [`netlist`] puts all of them into one netlist, each enabled by its number.
//! - [`MutationJob`](cosim_block::mutate::MutationJob) is the work of a worker: cases, each on
//!   every mutant that is still alive.
//! - [`grade`] runs cases until each mutant is killed or all cases are run.
//! - [`equivalence`] checks survivors for equivalence.
//! - [`analysis`] combines these: cases, equivalence checks, report.
//! - [`report`] is the result.

pub mod analysis;
mod build;
pub mod equivalence;
pub mod grade;
pub mod merge;
pub mod netlist;

pub use build::Mutants;
