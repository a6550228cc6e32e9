//! Operations on vectors: replay, shrink, explain, blame and export.

use super::replay::{self, Waves};
use super::runner::{self, Runner};
use super::shrink::{self, Progress, ShrinkContext, Shrunk};
use crate::built::Built;
use crate::driven::DrivenPins;
use crate::explanation::Explanation;
use crate::observe::Record;
use crate::vector::{Origin, Vector, VectorFile, own_profiles};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    Blame, Block, Explain, Golden, Outcome, Profile, Signature, Stimulus, Verdict, Watch,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum candidates for a vector whose model ends its process: each needs a process.
const LOST_TRIES: u64 = 64;

/// A vector that a worker runs.
pub trait RunVector: Send + Sync {
    /// Runs it.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn replay(&self, profile: &str, model: &Built, watch: &Watch) -> Result<Replayed, Error>;

    /// Runs it again and writes waves.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded, or the file not be written.
    fn trace(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        waves: &Waves,
        watch: &Watch,
    ) -> Result<(), Error>;

    /// Shrinks it.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded. [`Error::File`] if the vector does not fail.
    fn shrink(
        &self,
        profile: &str,
        model: &Built,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error>;

    /// Shrinks it with a separate process per candidate, started by `run`. `lost` is the verdict of
    /// the processes. Loads no model here.
    ///
    /// # Errors
    /// [`Error::Lost`] if a process does not end with that verdict.
    fn shrink_lost(
        &self,
        profile: &str,
        lost: &Verdict,
        run: &mut dyn FnMut(VectorFile) -> Option<Outcome>,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error>;

    /// Determines which side violates the specification, by running RTL and golden model
    /// separately.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn judge(&self, profile: &str, model: &Built, watch: &Watch) -> Result<Blame, Error>;

    /// Records its pins, for the testbench of a block whose stimulus follows the RTL.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded.
    fn record(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        watch: &Watch,
    ) -> Result<DrivenPins, Error>;

    /// Explains its failure.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded.
    fn explain(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        watch: &Watch,
    ) -> Result<Explanation, Error>;
}

/// Receives the progress of shrinking.
pub trait ShrinkProgress {
    /// A candidate was tried: the number of candidates, and how many were kept.
    fn candidate(&mut self, _tried: u64, _kept: u64) {}

    /// The smallest vector so far, at a limited rate. It is the result if the rest of the work is
    /// lost.
    fn kept(&mut self, _best: &dyn Fn() -> Result<ShrunkVector, Error>) {}
}

impl ShrinkProgress for () {}

/// Converts the smallest stimuli to vectors.
pub(super) struct Reporter<'a> {
    pub profile: &'a Profile,
    pub origin: &'a Origin,
    pub before: &'a Outcome,
    pub progress: &'a mut dyn ShrinkProgress,
}

impl<B: Block> Progress<B> for Reporter<'_> {
    fn candidate(&mut self, candidates: u64, kept: u64) {
        self.progress.candidate(candidates, kept);
    }

    fn improved(&mut self, stimulus: &Stimulus<B>, outcome: &Outcome, candidates: u64) {
        let Self { profile, origin, before, .. } = *self;
        self.progress.kept(&|| {
            let (stimulus, outcome) = (stimulus.clone(), outcome.clone());
            let best = Shrunk {
                stimulus,
                outcome,
                any: Vec::new(),
                candidates,
                is_smaller: true,
                out_of_budget: true,
            };
            ShrunkVector::new(profile, origin.clone(), before, best)
        });
    }
}

/// The result of a replay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replayed {
    /// The outcome.
    pub outcome: Outcome,
    /// Whether the outcome repeats the record; `None` without a record.
    pub is_recorded: Option<bool>,
    /// Hits of each hit rule, by name.
    pub rules: BTreeMap<String, u64>,
}

impl Replayed {
    /// A replay with only a verdict.
    pub fn lost(verdict: Verdict, recorded: Option<&Verdict>) -> Self {
        let is_recorded = recorded.map(|recorded| verdict == *recorded);
        Self { outcome: Outcome::without_cycles(verdict), is_recorded, rules: BTreeMap::new() }
    }
}

/// A shrunk vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShrunkVector {
    /// Its text.
    pub text: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// Candidates tried.
    pub candidates: u64,
    /// Whether the budget ended the search.
    pub out_of_budget: bool,
}

impl ShrunkVector {
    /// Converts the result of shrinking to a vector.
    pub(super) fn new<B: Block>(
        profile: &Profile,
        mut origin: Origin,
        before: &Outcome,
        shrunk: Shrunk<B>,
    ) -> Result<Self, Error> {
        let Shrunk { stimulus, outcome, candidates, out_of_budget, .. } = shrunk;
        origin.any = shrunk.any;
        // Update the description to the new verdict.
        origin.about =
            origin.about.replace(&before.verdict.to_string(), &outcome.verdict.to_string());
        let recorded = Some(outcome.verdict.clone());
        let text = Vector::new(profile, origin, stimulus, recorded).to_text()?;
        Ok(Self { text, outcome, candidates, out_of_budget })
    }
}

/// A vector of a block.
#[derive(Debug)]
pub struct TypedVector<B: Block> {
    path: PathBuf,
    vector: Vector<B>,
}

impl<B: Explain> TypedVector<B> {
    /// Shrinks the vector, which fails with `outcome`.
    fn smaller(
        &self,
        profile: &Profile,
        outcome: &Outcome,
        tries: ShrinkContext<'_, B>,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let origin = &self.vector.origin;
        let mut reporter = Reporter { profile, origin, before: outcome, progress };
        let stimulus = self.vector.stimulus.clone();
        let parameters = &profile.parameters;
        let shrunk = shrink::shrink(stimulus, outcome, parameters, tries, watch, &mut reporter)?;
        if watch.is_cancelled() && !shrunk.is_smaller {
            // Do not write the unchanged vector again after an interruption.
            return Err(Error::Interrupted);
        }
        ShrunkVector::new(profile, origin.clone(), outcome, shrunk)
    }

    /// The profile with this name, and its loaded model.
    fn load(profile: &str, model: &Built) -> Result<(Profile, Box<dyn Runner<B>>), Error> {
        let profile = super::profile::<B>(profile)?;
        let runner = runner::load(&profile, model)?;
        Ok((profile, runner))
    }

    /// Runs it once.
    fn run(&self, runner: &dyn Runner<B>, watch: &Watch) -> Result<Outcome, Error> {
        watch.model(|| runner.run(&self.vector.stimulus, watch))
    }

    fn check_fails(&self, outcome: &Outcome) -> Result<(), Error> {
        if Signature::of(&outcome.verdict).is_none() {
            let message = "the vector matches, so there is no failure to shrink; name the RTL and \
                 profile with which it fails";
            return Err(Error::File {
                code: codes::NOTHING_FAILS,
                path: self.path.clone(),
                message: message.to_owned(),
            });
        }
        Ok(())
    }

    /// Reads a vector.
    pub fn new(file: &VectorFile) -> Result<Self, Error> {
        let vector: Vector<B> = file.parse()?;
        own_profiles(file, &vector.fixes, &vector.parameters, B::PROFILES)?;
        Ok(Self { path: file.path.clone(), vector })
    }
}

impl<B: Explain> RunVector for TypedVector<B> {
    fn replay(&self, profile: &str, model: &Built, watch: &Watch) -> Result<Replayed, Error> {
        let (_, runner) = Self::load(profile, model)?;
        let outcome = self.run(&*runner, watch)?;
        let recorded = self.vector.recorded.as_ref();
        let is_recorded = recorded.map(|recorded| outcome.verdict == *recorded);
        let rules =
            B::Golden::RULES.iter().zip(0..).map(|(rule, bin)| (rule, outcome.hits.count(bin)));
        let rules = rules.filter(|(_, hits)| *hits > 0);
        let rules = rules.map(|(rule, hits)| (rule.name.to_owned(), hits)).collect();
        Ok(Replayed { outcome, is_recorded, rules })
    }

    fn trace(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        waves: &Waves,
        watch: &Watch,
    ) -> Result<(), Error> {
        Self::load(profile, model)?.1.trace(&self.vector.stimulus, observed, waves, watch)
    }

    fn shrink(
        &self,
        profile: &str,
        model: &Built,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let (profile, runner) = Self::load(profile, model)?;
        let outcome = self.run(&*runner, watch)?;
        self.check_fails(&outcome)?;
        let mut run = |stimulus: &Stimulus<B>| runner.run(stimulus, watch).ok();
        let cost = runner.cost_of_a_try(budget);
        let tries = ShrinkContext { run: &mut run, budget, cost };
        self.smaller(&profile, &outcome, tries, watch, progress)
    }

    fn shrink_lost(
        &self,
        profile: &str,
        lost: &Verdict,
        run: &mut dyn FnMut(VectorFile) -> Option<Outcome>,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let profile = super::profile::<B>(profile)?;
        let mut run = |stimulus: &Stimulus<B>| {
            let vector = Vector::new(&profile, Origin::default(), stimulus.clone(), None);
            run(VectorFile::from_text(vector.to_text().ok()?, &self.path).ok()?)
        };
        let outcome = run(&self.vector.stimulus)
            .filter(|outcome| Signature::of(&outcome.verdict) == Signature::of(lost));
        match outcome {
            Some(outcome) => {
                let tries = ShrinkContext { run: &mut run, budget, cost: budget / LOST_TRIES };
                self.smaller(&profile, &outcome, tries, watch, progress)
            }
            None if watch.is_cancelled() => Err(Error::Interrupted),
            None => Err(Error::Lost(
                codes::NOT_REPRODUCIBLE,
                format!("{lost}; the RTL behaves differently when the vector runs again"),
            )),
        }
    }

    fn judge(&self, profile: &str, model: &Built, watch: &Watch) -> Result<Blame, Error> {
        Self::load(profile, model)?.1.judge(&self.vector.stimulus, watch)
    }

    fn record(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        watch: &Watch,
    ) -> Result<DrivenPins, Error> {
        let (profile, kind) = super::load::<B>(profile, model)?;
        let (_, observed) = super::load::<B>(profile.name.as_ref(), observed)?;
        let stimulus = &self.vector.stimulus;
        let outcome = replay::replay(stimulus, &profile, &kind, watch)?;
        let whole = [u64::MAX, 0];
        let records = replay::record(stimulus, &profile, &observed, &outcome, whole, watch)?;
        let pins = |record: Record| (record.inputs, record.expected);
        let (inputs, outputs) = records.into_iter().map(pins).unzip();
        Ok(DrivenPins {
            inputs,
            outputs,
            open: None,
            before_reset: stimulus.before_reset,
            ends: outcome.verdict,
        })
    }

    fn explain(
        &self,
        profile: &str,
        model: &Built,
        observed: &Built,
        watch: &Watch,
    ) -> Result<Explanation, Error> {
        let runner = Self::load(profile, model)?.1;
        let explanation = runner.explain(&self.vector.stimulus, observed, watch)?;
        // Without the failure, the values were never drawn again.
        let any = match explanation.signature {
            Some(_) => self.vector.origin.any.clone(),
            None => Vec::new(),
        };
        Ok(Explanation { any, ..explanation })
    }
}
