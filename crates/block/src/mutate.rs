//! The part of mutation analysis that runs cases.
//!
//! [`MutationJob`] is the work of a worker: cases, each on every mutant that is still alive.

mod block;
mod kill;

pub use block::MutateBlock;
pub use kill::{AttemptResult, Kill, KillAttempt, KillMethod, MutationJob, pins};
