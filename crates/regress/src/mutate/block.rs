//! The part of mutation analysis that needs the types of a block.

use super::golden::{self, ProfileFaults};
use super::kill::{self, AttemptResult, Kill, KillAttempt, MutationJob};
use crate::engine::{Engine, load, scenarios};
use cosim_base::error::Error;
use cosim_harness::harness::{Explain, Watch};
use cosim_rtl::models::Built;

/// A block whose cases can be run on mutants.
pub trait MutateBlock {
    /// Grades scoreboard and corpus with faults in the golden model, on cases of the named
    /// scenarios, or of all scenarios if `names` is empty.
    ///
    /// # Errors
    /// As [`golden::grade`]. [`Error::Usage`] or [`Error::Input`] for a scenario.
    fn golden_faults(
        &self,
        ask: &golden::FaultRequest<'_>,
        names: &[String],
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

impl<B: Explain> MutateBlock for Engine<B> {
    fn golden_faults(
        &self,
        ask: &golden::FaultRequest<'_>,
        names: &[String],
    ) -> Result<ProfileFaults, Error> {
        golden::grade::<B>(ask, scenarios::<B>(names)?)
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
