//! The part of mutation analysis that needs the types of a block.

use super::golden::{self, ProfileFaults};
use super::kill::{self, AttemptResult, Kill, KillAttempt, MutationJob};
use crate::built::Built;
use crate::engine::{BlockEngine, load, profile};
use cosim_base::error::Error;
use cosim_harness::harness::{Explain, Watch};

/// A block whose cases can be run on mutants.
pub trait MutateBlock {
    /// Grades scoreboard and corpus with faults in the golden model.
    ///
    /// # Errors
    /// As [`golden::grade`].
    fn golden_faults(
        &self,
        request: &golden::FaultRequest,
        watch: &Watch,
    ) -> Result<ProfileFaults, Error>;

    /// Drives a counterexample into a mutant. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        request: &KillAttempt,
        watch: &Watch,
    ) -> Result<AttemptResult, Error>;

    /// Runs cases on mutants of the RTL. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn run_job(
        &self,
        profile: &str,
        model: &Built,
        run_job: &MutationJob,
        watch: &Watch,
    ) -> Result<Vec<Kill>, Error>;
}

impl<B: Explain> MutateBlock for BlockEngine<B> {
    fn golden_faults(
        &self,
        request: &golden::FaultRequest,
        watch: &Watch,
    ) -> Result<ProfileFaults, Error> {
        golden::grade::<B>(request, &profile::<B>(&request.profile)?, watch)
    }

    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        request: &KillAttempt,
        watch: &Watch,
    ) -> Result<AttemptResult, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        kill::attempt::<B>(request, &profile, &kind, watch)
    }

    fn run_job(
        &self,
        profile: &str,
        model: &Built,
        run_job: &MutationJob,
        watch: &Watch,
    ) -> Result<Vec<Kill>, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        kill::run_job::<B>(run_job, profile, &kind, watch)
    }
}
