//! Compiled models, which run in this process.

use super::Runner;
use crate::built::Built;
use crate::engine::explain;
use crate::engine::replay::{self, Waves};
use crate::engine::shrink::COST_OF_A_TRY;
use crate::explanation::Explanation;
use crate::points::Points;
use cosim_base::error::Error;
use cosim_harness::harness::{self, Blame, Block, Explain, Outcome, Profile, Stimulus, Watch};
use verilated::ModelKind;

/// A compiled model.
pub struct Compiled<B: Block> {
    profile: Profile,
    kind: ModelKind<B::Inputs, B::Outputs>,
    /// The points of a model that counts code coverage.
    points: Option<Points>,
}

impl<B: Block> Compiled<B> {
    pub fn load(profile: &Profile, model: &Built) -> Result<Self, Error> {
        let mut kind = model.load::<B>(&profile.parameters)?;
        let points = if kind.covers() { Some(Points::from_model::<B>(&mut kind)?) } else { None };
        Ok(Self { profile: profile.clone(), kind, points })
    }
}

impl<B: Explain> Runner<B> for Compiled<B> {
    fn run(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Outcome, Error> {
        let mut model = self.kind.create(stimulus.before_reset)?;
        let mut outcome = harness::run::<B>(stimulus, &self.profile.parameters, &mut model, watch);
        if let Some(points) = &self.points {
            outcome.reached = points.reached(&model.counts());
        }
        Ok(outcome)
    }

    fn trace(
        &self,
        stimulus: &Stimulus<B>,
        observed: &Built,
        waves: &Waves,
        watch: &Watch,
    ) -> Result<(), Error> {
        let outcome = replay::replay(stimulus, &self.profile, &self.kind, watch)?;
        let observed = observed.load::<B>(&self.profile.parameters)?;
        replay::trace(stimulus, &self.profile, &observed, &outcome, waves, watch)
    }

    fn judge(&self, stimulus: &Stimulus<B>, watch: &Watch) -> Result<Blame, Error> {
        replay::judge(stimulus, &self.profile, &self.kind, watch)
    }

    fn explain(
        &self,
        stimulus: &Stimulus<B>,
        observed: &Built,
        watch: &Watch,
    ) -> Result<Explanation, Error> {
        let observed = observed.load::<B>(&self.profile.parameters)?;
        explain::explain(stimulus, &self.profile, &self.kind, &observed, watch)
    }

    fn cost_of_a_try(&self, _budget: u64) -> u64 {
        COST_OF_A_TRY
    }

    fn two_evaluations(&self) -> Option<String> {
        self.kind.two_evaluations()
    }
}
