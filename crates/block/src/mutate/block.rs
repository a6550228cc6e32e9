//! The part of mutation analysis that needs the types of a block.

use super::kill::{self, AttemptResult, Kill, KillAttempt, MutationJob};
use crate::engine::{BlockEngine, ModelContext};
use cosim_base::error::Error;
use cosim_harness::harness::Explain;

/// A block whose cases can be run on mutants.
pub trait MutateBlock {
    /// Drives a counterexample into a mutant. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn attempt(&self, on: ModelContext<'_>, request: &KillAttempt) -> Result<AttemptResult, Error>;

    /// Runs cases on mutants of the RTL. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn run_job(&self, on: ModelContext<'_>, job: &MutationJob) -> Result<Vec<Kill>, Error>;
}

impl<B: Explain> MutateBlock for BlockEngine<B> {
    fn attempt(&self, on: ModelContext<'_>, request: &KillAttempt) -> Result<AttemptResult, Error> {
        let (profile, kind) = on.load::<B>()?;
        kill::attempt::<B>(request, &profile, &kind, on.watch)
    }

    fn run_job(&self, on: ModelContext<'_>, job: &MutationJob) -> Result<Vec<Kill>, Error> {
        let (profile, kind) = on.load::<B>()?;
        kill::run_job::<B>(job, profile, &kind, on.watch)
    }
}
