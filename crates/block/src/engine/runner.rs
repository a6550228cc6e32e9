//! The simulators of a profile's RTL: the only place of this program that tells them apart.
//!
//! A [`Runner`] runs whole cases. A command makes one dynamic call per case, so that the cycle loop
//! is compiled for its block and its kind of model. The tool builds what a runner loads: see
//! `Backend` of `cosim_rtl`.

mod compiled;
mod four_values;
mod icarus;

use super::Waves;
use crate::built::Built;
use crate::explanation::Explanation;
use compiled::Compiled;
use cosim_base::error::Error;
use cosim_harness::harness::{Blame, Explain, Outcome, Profile, Stimulus, Watch};
use icarus::Icarus;

/// Programs that runners start.
pub const PROGRAMS: [&str; 1] = [icarus::PROGRAM];

/// Loads the model of a profile.
///
/// # Errors
/// As [`Built::load`].
pub(super) fn load<B: Explain>(
    profile: &Profile,
    model: &Built,
) -> Result<Box<dyn Runner<B>>, Error> {
    Ok(match model {
        Built::Linked | Built::Library { .. } => Box::new(Compiled::load(profile, model)?),
        Built::Icarus(compiled) => Box::new(Icarus::new(profile, compiled)),
    })
}

/// A loaded model of a profile's RTL.
pub(super) trait Runner<B: Explain>: Send {
    /// Runs a case from reset to its end.
    ///
    /// # Errors
    /// [`Error::Model`] if no model can be created. [`Error::Environment`] or [`Error::Write`] if
    /// no simulation can run.
    fn run(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Outcome, Error>;

    /// Runs a case and writes waves. `observed` is the model for waves.
    ///
    /// # Errors
    /// As [`Runner::run`]. [`Error::Write`] if the file cannot be written.
    fn trace(
        &self,
        stimulus: &Stimulus<B>,
        observed: &Built,
        waves: &Waves,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Determines which side violates the specification.
    ///
    /// # Errors
    /// As [`Runner::run`].
    fn judge(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Blame, Error>;

    /// Explains how a case ends. `observed` is the model for waves.
    ///
    /// # Errors
    /// As [`Runner::run`].
    fn explain(
        &self,
        stimulus: &Stimulus<B>,
        observed: &Built,
        watch: &Watch,
    ) -> Result<Explanation, Error>;

    /// The fixed cost in cycles of a candidate, if this budget shrinks a vector.
    fn cost_of_a_try(&self, budget: u64) -> u64;

    /// Why the model needs two evaluations per cycle, if it does.
    fn two_evaluations(&self) -> Option<String>;
}
