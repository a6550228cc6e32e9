//! What mutation analysis needs of the types of a block.

use super::golden::{self, Graded};
use super::kill::{self, AttemptResult, Kill, KillAttempt, MutationJob};
use crate::engine::{Engine, load, scenarios};
use crate::error::Error;
use crate::harness::{Explain, Watch};
use crate::models::Built;

/// A block whose cases can be run on mutants.
pub trait MutateBlock {
    /// Grades scoreboard and corpus with faults in the golden model, on cases of these scenarios; of all, if none is named.
    ///
    /// # Errors
    /// As [`golden::grade`]; [`Error::Usage`] or [`Error::Input`] for a scenario.
    fn golden_faults(
        &self,
        ask: &golden::FaultRequest<'_>,
        names: &[String],
    ) -> Result<Graded, Error>;

    /// Drives what is said to make a difference into a mutation. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        trial: &KillAttempt,
        watch: &Watch,
    ) -> Result<AttemptResult, Error>;

    /// Runs cases on mutations of the RTL. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn hunt(
        &self,
        profile: &str,
        model: &Built,
        hunt: &MutationJob,
        watch: &Watch,
    ) -> Result<Vec<Kill>, Error>;
}

impl<B: Explain> MutateBlock for Engine<B> {
    fn golden_faults(
        &self,
        ask: &golden::FaultRequest<'_>,
        names: &[String],
    ) -> Result<Graded, Error> {
        golden::grade::<B>(ask, scenarios::<B>(names)?)
    }

    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        trial: &KillAttempt,
        watch: &Watch,
    ) -> Result<AttemptResult, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        kill::attempt::<B>(trial, &profile, &kind, watch)
    }

    fn hunt(
        &self,
        profile: &str,
        model: &Built,
        hunt: &MutationJob,
        watch: &Watch,
    ) -> Result<Vec<Kill>, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        kill::hunt::<B>(hunt, profile, &kind, watch)
    }
}
