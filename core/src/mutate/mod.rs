//! Grading of a bench: faults are put into the RTL, and the harness has to find them.
//!
//! - [`build`] lets [Yosys](crate::yosys) choose the faults, and makes a model of them; [`mutation`] is one of them.
//! - [`cut`] says which of them mean something and can be judged.
//! - [`netlist`] puts all of them into one netlist, each switched on by its number.
//! - [`kill`] is what a worker does: cases, each on every fault that is still alive.
//! - [`golden`] puts them into the golden model: what does the scoreboard notice?
//! - [`grade`] hands out the cases until each fault is found, or all cases were run.
//! - [`judge`] says of those that are left whether anything can find them.
//! - [`report`] is what comes of it.

pub(crate) mod aig;
mod build;
pub(crate) mod cut;
pub mod golden;
pub mod grade;
pub mod judge;
mod kill;
pub mod merge;
mod mutation;
pub(crate) mod netlist;
pub mod report;

pub use build::Mutants;
pub(crate) use build::selectable;
pub use kill::{Death, Hunt, Means, Trial, Tried};
pub(crate) use kill::{attempt, hunt, pins};
pub use mutation::{Mode, Mutation, Source};
