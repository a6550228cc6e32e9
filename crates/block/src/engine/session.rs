//! The cases and models of a run, for one block.

use super::Models;
use super::runner::Runner;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{Block, Case, Explain, Outcome, Profile, Scenario, Stimulus, Watch};
use cosim_harness::json;

/// The parameters that determine the stimulus of a case.
pub struct Cases<B: Block> {
    /// By [`Case::scenario`].
    pub scenarios: Vec<Scenario<B::Weights>>,
    /// By [`Case::profile`].
    pub profiles: Vec<Profile>,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
}

impl<B: Block> Cases<B> {
    /// The cases of scenarios, which are JSON.
    ///
    /// # Errors
    /// [`Error::Environment`] if the scenarios cannot be read.
    pub fn read(
        scenarios: &str,
        profiles: Vec<Profile>,
        packets: Option<u32>,
    ) -> Result<Self, Error> {
        let scenarios = json::from_text(scenarios).map_err(|error| {
            Error::Environment(codes::WORKER_FAILED, format!("scenarios: {error}"))
        })?;
        Ok(Self { scenarios, profiles, packets })
    }

    /// The stimulus of a case.
    pub fn stimulus(&self, case: &Case) -> Stimulus<B> {
        let Scenario { weights, long, .. } = &self.scenarios[case.scenario];
        let parameters = &self.profiles[case.profile].parameters;
        let packets = self.packets.unwrap_or_else(|| case.packets(long.as_ref()));
        Stimulus::<B>::draw(weights, parameters, packets, &mut case.rng())
            .with_before_reset(case.before_reset())
    }
}

/// The cases of a run, and its loaded models.
pub(super) struct LoadedModels<B: Block> {
    pub(super) cases: Cases<B>,
    /// By profile.
    pub(super) runners: Vec<Box<dyn Runner<B>>>,
}

impl<B: Explain> Models for LoadedModels<B> {
    fn run(&self, case: &Case, watch: &Watch) -> Outcome {
        self.runners[case.profile]
            .run(&self.cases.stimulus(case), watch)
            .unwrap_or_else(|error| Outcome::crashed(None, error.to_string()))
    }
}
