//! Measures speed on one core: the bare model, the harness around it, and each part alone.

use super::{BlockEngine, load};
use crate::built::Built;
use crate::driven::check_cycle_exact;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    self, Block, CaseRng, Drive, Environment, Explain, Golden, Outcome, Parameters, Profile,
    Recording, Scoreboard, Stimulus, Verdict, Watch, Weights as _, case_seed,
};
use rand::SeedableRng;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::hint::black_box;
use std::time::Duration;
use verilated::{BatchEnd, BeforeReset, ModelKind};

/// Number of measured cases, small enough for their inputs to stay in the cache.
const CASES: usize = 8;
/// Packets per case.
const PACKETS: u32 = 64;
/// Rounds in which every case is measured in each way. Ratios are medians over the rounds.
const ROUNDS: usize = 61;
/// Number of RTLs that reuse a recorded golden side.
const REUSES: u32 = 8;

/// A block whose speed can be measured.
pub trait MeasureBlock {
    /// Measures the bare model and the harness on one core. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`], or [`Error::Usage`] if the model does not match.
    fn bench(&self, profile: &str, model: &Built, plain: &Built) -> Result<BenchReport, Error>;

    /// Runs each part this many times in this process on the built-in RTL, for counting
    /// instructions. Returns the cycles of one round.
    ///
    /// # Errors
    /// As [`MeasureBlock::bench`].
    fn repeat(
        &self,
        profile: &str,
        rounds: [u32; InstructionScope::ALL.len()],
    ) -> Result<u64, Error>;
}

impl<B: Explain> MeasureBlock for BlockEngine<B> {
    fn bench(&self, profile: &str, model: &Built, plain: &Built) -> Result<BenchReport, Error> {
        let (profile, kind) = load::<B>(profile, model)?;
        run::<B>(&profile, kind, plain.load::<B>(&profile.parameters)?)
    }

    fn repeat(
        &self,
        profile: &str,
        rounds: [u32; InstructionScope::ALL.len()],
    ) -> Result<u64, Error> {
        let (profile, kind) = load::<B>(profile, &Built::Linked)?;
        repeat::<B>(&profile, &kind, rounds)
    }
}

/// Speeds on one core. Ratios are relative to the bare model with two evaluations per cycle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BenchReport {
    /// The block.
    pub block: String,
    /// The profile.
    pub fixes: String,
    /// The scenario of the measured cases.
    pub scenario: String,
    /// Cycles of one round.
    pub cycles: u64,
    /// Why the harness drives this model with two evaluations per cycle, if it does.
    pub two_evaluations: Option<String>,
    /// The bare model: two evaluations per cycle, recorded inputs, outputs ignored. This is the
    /// loop that a user would write in C++.
    pub bare: Speed,
    /// The bare model, driven as by the harness.
    pub driven: Speed,
    /// Environment, golden model, DUT, comparison, scoreboard, coverage.
    pub lock_step: Speed,
    /// The share of lock-step speed that functional coverage costs, as a median over all rounds;
    /// 0.05 is 5 %.
    pub coverage_cost: f64,
    /// Whole cases, including random generation and creating a model.
    pub whole: Speed,
    /// Cases with a golden side that was recorded once, on one RTL after another, including
    /// creating models.
    pub reused: Speed,
    /// The time of each part alone.
    pub parts: Vec<PartTiming>,
}

/// A speed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Speed {
    /// Cycles per second, the median over all rounds.
    pub cycles_per_second: f64,
    /// Speed relative to the bare model in the same round, as a median over all rounds.
    pub ratio: f64,
}

/// The time of a part that runs alone on recorded pins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartTiming {
    /// The part.
    pub name: String,
    /// Nanoseconds per cycle, as a median over all rounds.
    pub nanoseconds: f64,
}

/// The scope of an instruction count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionScope {
    /// Environment, golden model, scoreboard and coverage.
    GoldenSide,
    /// The model and the comparison of its outputs.
    Model,
    /// Golden side and model.
    LockStep,
}

impl InstructionScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::GoldenSide, Self::Model, Self::LockStep];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::GoldenSide => "golden side",
            Self::Model => "model and comparison",
            Self::LockStep => "lock-step",
        }
    }
}

/// Runs the case with this index and returns the time it took.
type CaseTimer<'a> = &'a dyn Fn(usize) -> Result<Duration, Error>;

fn weights<B: Block>() -> Result<B::Weights, Error> {
    let (block, name) = (B::NAME, B::Weights::BENCH);
    for scenario in B::scenarios() {
        if scenario.name == name {
            return Ok(scenario.weights);
        }
    }
    Err(Error::Usage(
        codes::UNKNOWN_SCENARIO,
        format!(
            "block {block} has no scenario `{name}`; set `Weights::BENCH` to one of its scenarios"
        ),
    ))
}

fn draw<B: Block>(weights: &B::Weights, parameters: &Parameters, case: usize) -> Stimulus<B> {
    let mut rng = CaseRng::seed_from_u64(case_seed(case as u64, "bench"));
    Stimulus::<B>::draw(weights, parameters, PACKETS, &mut rng)
}

fn stimuli<B: Block>(weights: &B::Weights, parameters: &Parameters) -> Vec<Stimulus<B>> {
    (0..CASES).map(|case| draw(weights, parameters, case)).collect()
}

fn recordings<'s, B: Block>(
    stimuli: &'s [Stimulus<B>],
    parameters: &Parameters,
) -> Vec<Recording<'s, B>> {
    stimuli.iter().map(|stimulus| Recording::new(stimulus, parameters)).collect()
}

fn cycles<B: Block>(recordings: &[Recording<'_, B>]) -> u64 {
    recordings.iter().map(|recording| recording.inputs().len() as u64).sum()
}

/// Runs each part this many times, for counting the instructions of this process. Returns the
/// cycles of one round.
pub fn repeat<B: Block>(
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    rounds: [u32; InstructionScope::ALL.len()],
) -> Result<u64, Error> {
    let (parameters, watch) = (&profile.parameters, Watch::default());
    let stimuli = stimuli::<B>(&weights::<B>()?, parameters);
    let recordings = recordings(&stimuli, parameters);
    for (scope, rounds) in InstructionScope::ALL.into_iter().zip(rounds) {
        for _ in 0..rounds {
            for case in 0..CASES {
                let (stimulus, recording) = (&stimuli[case], &recordings[case]);
                // The golden side alone has no model.
                let model = || kind.create(BeforeReset::Ones);
                let outcome = match scope {
                    InstructionScope::GoldenSide => {
                        harness::run_golden(stimulus, parameters, &watch)
                    }
                    InstructionScope::Model => recording.run(&mut model()?, &watch),
                    InstructionScope::LockStep => {
                        harness::run::<B>(stimulus, parameters, &mut model()?, &watch)
                    }
                };
                matches(&outcome)?;
            }
        }
    }
    Ok(cycles(&recordings))
}

/// Measures the model of a profile and the plain one.
pub fn run<B: Block>(
    profile: &Profile,
    kind: ModelKind<B::Inputs, B::Outputs>,
    plain: ModelKind<B::Inputs, B::Outputs>,
) -> Result<BenchReport, Error> {
    check_cycle_exact(B::NAME, B::TRANSACTION_OUTPUTS, "cosim bench")?;
    let (parameters, watch) = (&profile.parameters, Watch::default());
    let weights = weights::<B>()?;
    let stimuli = stimuli::<B>(&weights, parameters);
    let recordings = recordings(&stimuli, parameters);
    let generate = |case| draw::<B>(&weights, parameters, case);
    let create = || kind.create(BeforeReset::Ones);
    let lock_step = |stimulus: &Stimulus<B>| {
        let mut model = create()?;
        timed(&mut || matches(&harness::run(stimulus, parameters, &mut model, &watch)))
    };
    let covered = |case: usize| lock_step(&stimuli[case]);
    let uncovered = |case: usize| {
        let (stimulus, mut model) = (&stimuli[case], create()?);
        timed(&mut || matches(&harness::run_uncovered(stimulus, parameters, &mut model, &watch)))
    };
    let ways: [(&str, CaseTimer<'_>); 12] = [
        ("bare", &|case| bare(&plain, &recordings[case])),
        ("driven", &|case| bare(&kind, &recordings[case])),
        ("lock-step", &covered),
        ("whole", &|case| timed(&mut || lock_step(&generate(case)).map(drop))),
        ("reused", &|case| {
            let elapsed = timed(&mut || {
                for _ in 0..REUSES {
                    matches(&recordings[case].run(&mut create()?, &watch))?;
                }
                Ok(())
            });
            elapsed.map(|elapsed| elapsed / REUSES)
        }),
        // Each part of a case alone, on recorded pins.
        ("model and comparison", &|case| {
            let (recording, mut model) = (&recordings[case], create()?);
            let (inputs, expected) = (recording.inputs(), recording.expected());
            model.settle(&harness::power_up_inputs::<B>(), &mut B::Outputs::default())?;
            timed(&mut || match model.run_batch(inputs, expected, recording.open()) {
                BatchEnd::Equal => Ok(()),
                _ => Err(unequal(&"the outputs differ")),
            })
        }),
        ("golden side", &|case| {
            timed(&mut || matches(&harness::run_golden(&stimuli[case], parameters, &watch)))
        }),
        ("  golden model", &|case| {
            timed(&mut || {
                let mut golden = B::Golden::new(parameters);
                let mut outputs = B::Outputs::default();
                for inputs in recordings[case].inputs() {
                    black_box(golden.step(inputs, &mut outputs));
                    black_box(&outputs);
                }
                Ok(())
            })
        }),
        ("  environment", &|case| {
            let Drive::Traffic(traffic) = &stimuli[case].drive else { return Ok(Duration::ZERO) };
            timed(&mut || {
                let mut environment = B::Environment::new(traffic, parameters);
                let mut inputs = B::Inputs::default();
                for expected in &recordings[case].expected()[1..] {
                    environment.drive(&mut inputs);
                    environment.clock(black_box(&inputs), expected);
                    black_box(environment.finished());
                }
                Ok(())
            })
        }),
        ("  scoreboard", &|case| {
            let Drive::Traffic(traffic) = &stimuli[case].drive else { return Ok(Duration::ZERO) };
            timed(&mut || {
                let mut scoreboard = B::Scoreboard::new(traffic, parameters);
                let pins = recordings[case].inputs().iter().zip(recordings[case].expected());
                for (inputs, expected) in pins.skip(1) {
                    let judged = scoreboard.observe(inputs, expected);
                    black_box(&judged);
                }
                Ok(())
            })
        }),
        ("creation", &|_| {
            timed(&mut || {
                black_box(create()?);
                Ok(())
            })
        }),
        ("generation", &|case| {
            timed(&mut || {
                black_box(generate(case));
                Ok(())
            })
        }),
    ];
    let (names, cycles) = ([B::NAME, B::Weights::BENCH], cycles(&recordings));
    measure(names, profile, cycles, kind.two_evaluations(), &ways, [&covered, &uncovered])
}

/// Measures all ways, the first of which is the bare model, and the cost of coverage.
fn measure(
    [block, scenario]: [&str; 2],
    profile: &Profile,
    cycles: u64,
    two_evaluations: Option<String>,
    ways: &[(&str, CaseTimer<'_>)],
    coverage: [CaseTimer<'_>; 2],
) -> Result<BenchReport, Error> {
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        let mut round = vec![Duration::ZERO; ways.len()];
        for case in 0..CASES {
            for ((_, way), total) in ways.iter().zip(&mut round) {
                *total += way(case)?;
            }
        }
        for (all, total) in rounds.iter_mut().zip(round) {
            all.push(total.as_secs_f64());
        }
    }
    let [covered, uncovered] = compare(coverage)?;
    let speed = |way: usize| Speed {
        cycles_per_second: median(rounds[way].iter().map(|seconds| cycles as f64 / seconds)),
        ratio: median(rounds[0].iter().zip(&rounds[way]).map(|(bare, seconds)| bare / seconds)),
    };
    let part = |way: usize| PartTiming {
        name: ways[way].0.to_owned(),
        nanoseconds: median(rounds[way].iter().map(|seconds| 1e9 * seconds / cycles as f64)),
    };
    Ok(BenchReport {
        block: block.to_owned(),
        fixes: profile.name.to_string(),
        scenario: scenario.to_owned(),
        cycles,
        two_evaluations,
        bare: speed(0),
        driven: speed(1),
        lock_step: speed(2),
        coverage_cost: median(
            covered.iter().zip(&uncovered).map(|(with, without)| 1.0 - without / with),
        ),
        whole: speed(3),
        reused: speed(4),
        parts: (5..ways.len()).map(part).collect(),
    })
}

/// The seconds of each round for two ways to run the cases. The ways alternate, so that both find
/// the same cache state.
fn compare(ways: [CaseTimer<'_>; 2]) -> Result<[Vec<f64>; 2], Error> {
    let mut rounds = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let mut totals = [Duration::ZERO; 2];
        for case in 0..CASES {
            ways[round % 2](case)?;
            for turn in [round + 1, round] {
                totals[turn % 2] += ways[turn % 2](case)?;
            }
        }
        for (all, total) in rounds.iter_mut().zip(totals) {
            all.push(total.as_secs_f64());
        }
    }
    Ok(rounds)
}

/// The loop that a user would write: recorded inputs, driven from C++.
fn bare<B: Block>(
    kind: &ModelKind<B::Inputs, B::Outputs>,
    recording: &Recording<'_, B>,
) -> Result<Duration, Error> {
    let mut model = kind.create(BeforeReset::Ones)?;
    timed(&mut || {
        black_box(model.run_recorded(recording.inputs())?);
        Ok(())
    })
}

/// The processor time of `work` on this thread, which depends little on the load of the machine.
fn timed(work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    let start = processor_time();
    work()?;
    Ok(processor_time().saturating_sub(start))
}

fn processor_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel's clock is not negative, and its nanoseconds are below one second.
    Duration::new(tv_sec.unsigned_abs(), tv_nsec.unsigned_abs() as u32)
}

fn matches(Outcome { verdict, .. }: &Outcome) -> Result<(), Error> {
    if *verdict == Verdict::Match { Ok(()) } else { Err(unequal(verdict)) }
}

fn unequal(verdict: &dyn Display) -> Error {
    Error::Usage(
        codes::CASE_FAILS,
        format!(
            "a case fails ({verdict}), so speed cannot be measured; find the failure with \
             `cosim run`"
        ),
    )
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
