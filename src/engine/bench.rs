//! Speed: the bare model, and the harness around it, in one run on one core.

use crate::error::Error;
use crate::harness::{
    self, Block, CaseRng, Echo, Parameters, Profile, Stimulus, Verdict, Watch, case_seed,
};
use rand::SeedableRng;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use verilated::{BeforeReset, ModelKind};

/// Cases that are measured; few enough for their inputs to stay in the cache.
const CASES: u64 = 8;
/// Packets of a case.
const PACKETS: u32 = 64;
/// Times the cases are run in one measurement.
const REPEATS: u32 = 20;
/// Measurements of each kind, taken in turns; the fastest counts.
const ROUNDS: u32 = 9;

/// Cycles per second on one core.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BenchReport {
    /// The block.
    pub block: String,
    /// The profile.
    pub fixes: String,
    /// The scenario whose cases are measured.
    pub scenario: String,
    /// Cycles in one measurement.
    pub cycles: u64,
    /// The model alone, driven from C++ with recorded inputs.
    pub bare: f64,
    /// The lock-step loop: environment, golden model, DUT, comparison, scoreboard.
    pub lock_step: f64,
    /// Whole cases: random generation and a new model for each, too.
    pub whole: f64,
}

impl BenchReport {
    /// Speed of whole cases over the bare model's.
    pub fn ratio(&self) -> f64 {
        self.whole / self.bare
    }
}

/// Measures a model of a block.
pub fn run<B: Block>(
    profile: &Profile,
    kind: ModelKind<B::Inputs, B::Outputs>,
) -> Result<BenchReport, Error> {
    let parameters = &profile.parameters;
    let scenarios = B::scenarios();
    let scenario = scenarios
        .iter()
        .find(|scenario| scenario.name == "default")
        .or(scenarios.first())
        .ok_or_else(|| Error::Usage(format!("{} has no scenario to measure", B::NAME)))?;
    let seeds: Vec<u64> = (0..CASES).map(|index| case_seed(index, "bench")).collect();
    let generate = |seed: &u64| {
        B::generate(&scenario.weights, parameters, PACKETS, &mut CaseRng::seed_from_u64(*seed))
    };
    let stimuli: Vec<Stimulus<B>> = seeds.iter().map(generate).collect();
    let recorded: Vec<Vec<B::Inputs>> =
        stimuli.iter().map(|stimulus| record::<B>(stimulus, parameters)).collect();
    let cycles: u64 = recorded.iter().map(|inputs| inputs.len() as u64).sum();

    let watch = Watch::default();
    let lock_step = |stimulus: &Stimulus<B>| -> Result<Duration, Error> {
        let mut model = kind.create(BeforeReset::Ones)?;
        let start = Instant::now();
        let outcome = harness::run::<B>(stimulus, parameters, &mut model, &watch);
        let elapsed = start.elapsed();
        match outcome.verdict {
            Verdict::Match => Ok(elapsed),
            verdict => Err(Error::Usage(format!(
                "a case does not match ({verdict:?}); run `cosim run` first"
            ))),
        }
    };
    let bare = |inputs: &Vec<B::Inputs>| -> Result<Duration, Error> {
        let mut model = kind.create(BeforeReset::Ones)?;
        let start = Instant::now();
        model.run_recorded(inputs)?;
        Ok(start.elapsed())
    };
    let whole = |seed: &u64| -> Result<Duration, Error> {
        let start = Instant::now();
        let stimulus = generate(seed);
        lock_step(&stimulus)?;
        Ok(start.elapsed())
    };

    let mut best = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        let seconds = [total(&recorded, bare)?, total(&stimuli, lock_step)?, total(&seeds, whole)?];
        for (best, seconds) in best.iter_mut().zip(seconds) {
            *best = best.min(seconds);
        }
    }
    let cycles = cycles * u64::from(REPEATS);
    let [bare, lock_step, whole] = best.map(|seconds| cycles as f64 / seconds);
    Ok(BenchReport {
        block: B::NAME.to_owned(),
        fixes: profile.name.to_string(),
        scenario: scenario.name.clone(),
        cycles,
        bare,
        lock_step,
        whole,
    })
}

/// Seconds that `measure` reports for every item, repeated.
fn total<T>(
    items: &[T],
    mut measure: impl FnMut(&T) -> Result<Duration, Error>,
) -> Result<f64, Error> {
    let mut total = Duration::ZERO;
    for _ in 0..REPEATS {
        for item in items {
            total += measure(item)?;
        }
    }
    Ok(total.as_secs_f64())
}

/// The inputs of every cycle of a case.
fn record<B: Block>(stimulus: &Stimulus<B>, parameters: &Parameters) -> Vec<B::Inputs> {
    let mut echo = Echo::<B>::new(parameters);
    harness::run::<B>(stimulus, parameters, &mut echo, &Watch::default());
    echo.into_inputs()
}
