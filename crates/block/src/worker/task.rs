//! A task on a vector for a worker, and its result.

use crate::agreement::ModelComparison;
use crate::blocks::Program;
use crate::built::Built;
use crate::engine::{ModelContext, RunVector, ShrinkProgress, Waves};
use crate::mutate::{KillAttempt, MutationJob};
use crate::vector::{VectorFile, internal};
use cosim_base::error::Error;
use cosim_harness::harness::{Outcome, Verdict, Watch};
use serde::{Deserialize, Serialize};

/// A self-contained unit of work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The block.
    pub block: String,
    /// Name of the profile.
    pub profile: String,
    /// The model.
    pub model: Built,
    /// The operation.
    pub action: Action,
}

/// The operation of a task, with the type of its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Action {
    /// Load the model and check its ports. Returns why the model needs two evaluations per cycle,
    /// if it does.
    Load,
    /// List the code coverage points of the model; returns a list of
    /// [`Point`](crate::points::Point).
    Points,
    /// Run a vector; returns a [`Replayed`](crate::engine::Replayed).
    Replay(VectorFile),
    /// Record the pins of a vector with this observed model; returns a
    /// [`DrivenPins`](crate::driven::DrivenPins).
    Record(VectorFile, Built),
    /// Determine which side of a vector violates the specification; returns a
    /// [`Blame`](cosim_harness::harness::Blame).
    Judge(VectorFile),
    /// Write a waveform of a vector; returns nothing.
    Trace(VectorFile, Built, Waves),
    /// Shrink a vector within this budget of cycles; returns a
    /// [`ShrunkVector`](crate::engine::ShrunkVector).
    Shrink(VectorFile, u64),
    /// Shrink a vector whose model ends its process, as the verdict says, within this budget. Loads
    /// no model: it asks the tool to run each candidate in a process of its own. Returns a
    /// [`ShrunkVector`](crate::engine::ShrunkVector).
    ShrinkLost(VectorFile, #[serde(with = "cosim_harness::as_json")] Verdict, u64),
    /// Explain the failure of a vector; returns an
    /// [`Explanation`](crate::explanation::Explanation).
    Explain(VectorFile, Built),
    /// Measure the speed of the model and of this bare one; returns a
    /// [`BenchReport`](crate::engine::BenchReport).
    Bench(Built),
    /// Run cases on mutants of the RTL; returns a list of [`Kill`](crate::mutate::Kill).
    MutationJob(MutationJob),
    /// Compare with another model; returns a [`Compared`](crate::agreement::Compared).
    Compare(Built, ModelComparison),
    /// Drive a counterexample of the equivalence checker into a mutant; returns an
    /// [`AttemptResult`](crate::mutate::AttemptResult).
    Try(KillAttempt),
}

impl Task {
    /// Runs the task and returns its result as JSON. `run` runs a candidate of a shrink in a
    /// process of its own.
    ///
    /// # Errors
    /// Errors of the operation.
    pub fn run(
        &self,
        program: &Program,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
        run: &mut dyn FnMut(VectorFile) -> Option<Outcome>,
    ) -> Result<String, Error> {
        let block = program.find(&self.block)?;
        let load = |file: &VectorFile| -> Result<Box<dyn RunVector>, Error> { block.typed(file) };
        let (profile, model) = (self.profile.as_str(), &self.model);
        let on = ModelContext { profile, model, watch };
        match &self.action {
            Action::Load => watch.model(|| block.try_load(profile, model)).and_then(to_json),
            Action::Points => watch.model(|| block.points(profile, model)).and_then(to_json),
            Action::Replay(file) => load(file)?.replay(on).and_then(to_json),
            Action::Judge(file) => load(file)?.judge(on).and_then(to_json),
            Action::Record(file, observed) => load(file)?.record(on, observed).and_then(to_json),
            Action::Trace(file, observed, waves) => {
                load(file)?.trace(on, observed, waves).and_then(to_json)
            }
            Action::Shrink(file, budget) => {
                load(file)?.shrink(on, *budget, progress).and_then(to_json)
            }
            Action::ShrinkLost(file, lost, budget) => {
                let vector = load(file)?;
                vector.shrink_lost(profile, lost, run, *budget, watch, progress).and_then(to_json)
            }
            Action::Explain(file, observed) => load(file)?.explain(on, observed).and_then(to_json),
            Action::MutationJob(job) => block.run_job(on, job).and_then(to_json),
            Action::Try(attempt) => block.attempt(on, attempt).and_then(to_json),
            Action::Compare(other, comparison) => {
                block.compare(on, other, comparison).and_then(to_json)
            }
            Action::Bench(plain) => block.bench(profile, model, plain).and_then(to_json),
        }
    }
}

fn to_json(value: impl Serialize) -> Result<String, Error> {
    serde_json::to_string(&value).map_err(internal)
}
