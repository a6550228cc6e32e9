//! Operations on vectors: replay, shrink, explain, blame and export.

use super::ModelContext;
use super::replay::{self, Waves};
use super::runner::{self, Runner};
use super::shrink::{
    self, PlainDrive, ShrinkProgress, ShrinkRequest, ShrunkVector, TypedCandidate,
};
use crate::built::Built;
use crate::driven::{DrivenPins, bytes};
use crate::explanation::Explanation;
use crate::observe::Record;
use crate::vector::{Origin, Vector, VectorFile, internal, own_profiles};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    self, Blame, Block, BlockInfo, CaseRng, Drive, Explain, Golden, Outcome, Profile, Rule,
    Scenario, Signature, Stimulus, Traffic, Verdict, Watch,
};
use cosim_harness::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use verilated::{BeforeReset, Pins};

/// Maximum candidates for a vector whose model ends its process: each needs a process.
const LOST_TRIES: u64 = 64;

/// A vector that a worker runs.
pub trait RunVector: Send + Sync {
    /// Runs it.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn replay(&self, on: ModelContext<'_>) -> Result<Replayed, Error>;

    /// Runs it again and writes waves.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded, or the file not be written.
    fn trace(&self, on: ModelContext<'_>, observed: &Built, waves: &Waves) -> Result<(), Error>;

    /// Shrinks it.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded. [`Error::File`] if the vector does not fail.
    fn shrink(
        &self,
        on: ModelContext<'_>,
        budget: u64,
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
    fn judge(&self, on: ModelContext<'_>) -> Result<Blame, Error>;

    /// Records its pins, for the testbench of a block whose stimulus follows the RTL.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded.
    fn record(&self, on: ModelContext<'_>, observed: &Built) -> Result<DrivenPins, Error>;

    /// Explains its failure.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded.
    fn explain(&self, on: ModelContext<'_>, observed: &Built) -> Result<Explanation, Error>;
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
    fn new(outcome: Outcome, recorded: Option<&Verdict>, rules: &[Rule]) -> Self {
        let is_recorded = recorded.map(|recorded| outcome.verdict == *recorded);
        let named = |(bin, hits): (usize, u64)| Some((rules.get(bin)?.name.to_owned(), hits));
        let rules = outcome.hits.hit_bins().filter_map(named).collect();
        Self { outcome, is_recorded, rules }
    }

    /// A replay with only a verdict.
    pub fn lost(verdict: Verdict, recorded: Option<&Verdict>) -> Self {
        Self::new(Outcome::without_cycles(verdict), recorded, &[])
    }
}

/// A vector of a block.
#[derive(Debug)]
pub struct TypedVector<B: Block> {
    path: PathBuf,
    vector: Vector<B>,
}

struct ShrinkCandidate<'a, B: Block> {
    profile: &'a Profile,
    scenarios: Vec<Scenario<B::Weights>>,
    /// Runs a stimulus. `None` if that is impossible.
    run: &'a mut dyn FnMut(&Stimulus<B>) -> Option<Outcome>,
    watch: &'a Watch,
    stimulus: Stimulus<B>,
}

impl<B: Block> TypedCandidate for ShrinkCandidate<'_, B> {
    fn replace(&mut self, before_reset: BeforeReset, drive: &PlainDrive) -> bool {
        let drive = match drive {
            PlainDrive::Traffic(traffic) => match json::from_value(traffic) {
                Ok(traffic) => Drive::Traffic(traffic),
                Err(_) => return false,
            },
            PlainDrive::Cycles(cycles) => {
                Drive::Cycles(cycles.iter().map(|pins| B::Inputs::from_bytes(pins)).collect())
            }
        };
        self.stimulus = Stimulus { before_reset, drive };
        true
    }

    fn drive(&self) -> Result<PlainDrive, Error> {
        Ok(match &self.stimulus.drive {
            Drive::Traffic(traffic) => PlainDrive::Traffic(to_value(json::to_text(traffic))?),
            Drive::Cycles(cycles) => PlainDrive::Cycles(bytes(cycles)),
        })
    }

    fn run(&mut self) -> Option<Outcome> {
        let is_legal = match &self.stimulus.drive {
            Drive::Traffic(traffic) => traffic.check().is_ok(),
            Drive::Cycles(cycles) => !cycles.is_empty(),
        };
        if is_legal { (self.run)(&self.stimulus) } else { None }
    }

    fn is_completed(&self) -> bool {
        let golden = harness::run_golden(&self.stimulus, &self.profile.parameters, self.watch);
        golden.verdict == Verdict::Match
    }

    fn draw(&self, scenario: usize, packets: u32, rng: &mut CaseRng) -> Option<Value> {
        let weights = &self.scenarios[scenario].weights;
        match Stimulus::<B>::draw(weights, &self.profile.parameters, packets, rng).drive {
            Drive::Traffic(traffic) => to_value(json::to_text(&traffic)).ok(),
            Drive::Cycles(_) => None,
        }
    }

    fn text(&self, origin: Origin, recorded: &Verdict) -> Result<String, Error> {
        Vector::new(self.profile, origin, self.stimulus.clone(), Some(recorded.clone())).to_text()
    }
}

impl<B: Explain> TypedVector<B> {
    /// Shrinks the vector, which fails with `outcome`.
    fn smaller(
        &self,
        profile: &Profile,
        outcome: &Outcome,
        run: &mut dyn FnMut(&Stimulus<B>) -> Option<Outcome>,
        [budget, cost]: [u64; 2],
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let Vector { origin, stimulus, .. } = &self.vector;
        let (info, waits) = (BlockInfo::from_block::<B>(), B::Traffic::WAITS);
        let before_reset = stimulus.before_reset;
        let request =
            ShrinkRequest { info, waits, origin, before_reset, outcome, budget, cost, watch };
        let (scenarios, stimulus) = (B::scenarios(), stimulus.clone());
        let mut first = ShrinkCandidate { profile, scenarios, run, watch, stimulus };
        shrink::shrink(&request, &mut first, progress)
    }

    fn load(on: ModelContext<'_>) -> Result<Box<dyn Runner<B>>, Error> {
        runner::load(&super::profile::<B>(on.profile)?, on.model)
    }

    fn run(&self, runner: &dyn Runner<B>, watch: &Watch) -> Result<Outcome, Error> {
        watch.model(|| runner.run(&self.vector.stimulus, watch))
    }

    /// Reads a vector.
    pub fn new(file: &VectorFile) -> Result<Self, Error> {
        let vector: Vector<B> = file.parse()?;
        own_profiles(file, &vector.fixes, &vector.parameters, B::PROFILES)?;
        Ok(Self { path: file.path.clone(), vector })
    }
}

impl<B: Explain> RunVector for TypedVector<B> {
    fn replay(&self, on: ModelContext<'_>) -> Result<Replayed, Error> {
        let runner = Self::load(on)?;
        let outcome = self.run(&*runner, on.watch)?;
        Ok(Replayed::new(outcome, self.vector.recorded.as_ref(), B::Golden::RULES))
    }

    fn trace(&self, on: ModelContext<'_>, observed: &Built, waves: &Waves) -> Result<(), Error> {
        Self::load(on)?.trace(&self.vector.stimulus, observed, waves, on.watch)
    }

    fn shrink(
        &self,
        on: ModelContext<'_>,
        budget: u64,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let (runner, watch) = (Self::load(on)?, on.watch);
        let outcome = self.run(&*runner, watch)?;
        check_fails(&outcome, &self.path)?;
        let mut run = |stimulus: &Stimulus<B>| runner.run(stimulus, watch).ok();
        let cost = runner.cost_of_a_try(budget);
        let profile = super::profile::<B>(on.profile)?;
        self.smaller(&profile, &outcome, &mut run, [budget, cost], watch, progress)
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
        let outcome = run(&self.vector.stimulus).filter(|outcome| {
            Signature::from_verdict(&outcome.verdict) == Signature::from_verdict(lost)
        });
        match outcome {
            Some(outcome) => {
                let costs = [budget, budget / LOST_TRIES];
                self.smaller(&profile, &outcome, &mut run, costs, watch, progress)
            }
            None if watch.is_cancelled() => Err(Error::Interrupted),
            None => Err(Error::Lost(
                codes::NOT_REPRODUCIBLE,
                format!("{lost}; the RTL behaves differently when the vector runs again"),
            )),
        }
    }

    fn judge(&self, on: ModelContext<'_>) -> Result<Blame, Error> {
        Self::load(on)?.judge(&self.vector.stimulus, on.watch)
    }

    fn record(&self, on: ModelContext<'_>, observed: &Built) -> Result<DrivenPins, Error> {
        let (profile, kind) = super::load::<B>(on.profile, on.model)?;
        let (_, observed) = super::load::<B>(profile.name.as_ref(), observed)?;
        let stimulus = &self.vector.stimulus;
        let outcome = replay::replay(stimulus, &profile, &kind, on.watch)?;
        let whole = [u64::MAX, 0];
        let records = replay::record(stimulus, &profile, &observed, &outcome, whole, on.watch)?;
        let wrong = records.first().map(|record| super::explain::wrong_pins::<B>(&outcome, record));
        let pins = |record: Record| (record.inputs, record.expected);
        let (inputs, outputs) = records.into_iter().map(pins).unzip();
        Ok(DrivenPins {
            inputs,
            outputs,
            open: None,
            wrong: wrong.unwrap_or_default(),
            before_reset: stimulus.before_reset,
            ends: outcome.verdict,
        })
    }

    fn explain(&self, on: ModelContext<'_>, observed: &Built) -> Result<Explanation, Error> {
        let runner = Self::load(on)?;
        let mut explanation = runner.explain(&self.vector.stimulus, observed, on.watch)?;
        // Without the failure, the values were never drawn again.
        if explanation.signature.is_some() {
            explanation.any.clone_from(&self.vector.origin.any);
        }
        Ok(explanation)
    }
}

/// The JSON of a traffic, which was written as text.
fn to_value(text: serde_json::Result<String>) -> Result<Value, Error> {
    let value = text.and_then(|text| serde_json::from_str(&text));
    value.map_err(internal)
}

/// Checks that a vector has a failure to shrink.
fn check_fails(outcome: &Outcome, path: &Path) -> Result<(), Error> {
    if Signature::from_verdict(&outcome.verdict).is_some() {
        return Ok(());
    }
    let message = "the vector matches, so there is no failure to shrink; name the RTL and profile \
         with which it fails";
    let (path, message) = (path.to_owned(), message.to_owned());
    Err(Error::File { code: codes::NOTHING_FAILS, path, message })
}
