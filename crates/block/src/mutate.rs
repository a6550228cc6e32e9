//! The part of mutation analysis that runs cases.
//!
//! - [`MutationJob`] is the work of a worker: cases, each on every mutant that is still alive.
//! - [`golden`] injects faults into the golden model, to grade the scoreboard.

mod block;
pub mod golden;
mod kill;

pub use block::MutateBlock;
pub use kill::{AttemptResult, Kill, KillAttempt, KillMethod, MutationJob, pins};
