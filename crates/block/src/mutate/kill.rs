//! The worker's part of mutation analysis: runs each case on every mutant that is still alive.

use crate::engine::Cases;
use crate::vector::{Origin, Vector};
use crate::words::split;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    Block, Case, Drive, Outcome, Parameters, Profile, Recording, Scenario, SideFailure, Stimulus,
    Verdict, Watch, first_difference, follow, follows_dut, has_masks, run_all, run_golden,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use verilated::{BeforeReset, Model, ModelKind, Pins};
use zerocopy::IntoBytes;

/// Cycle limit of a mutant without comparison: a multiple of the golden model's cycles, plus a
/// constant.
const CYCLES: [u64; 2] = [4, 10_000];

/// What may kill mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillMethod {
    /// Comparison of every output with the golden model in every cycle.
    Compare,
    /// The scoreboard alone. The environment follows the mutant's outputs. Unconstrained random
    /// stimulus is not used.
    Checks,
}

/// A job for a worker: cases, and the mutants that they may kill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MutationJob {
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// Mutant numbers; 0 is the unmodified RTL.
    pub mutations: Vec<u32>,
    /// How mutants are killed.
    pub method: KillMethod,
}

/// A killed mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kill {
    /// The number of the mutant.
    pub mutation: u32,
    /// The case, as an index into [`MutationJob::cases`].
    pub case: usize,
    /// How the case ended.
    pub outcome: Outcome,
}

/// Runs the cases. The golden side of a case runs once for all mutants. A mutant runs up to the
/// first case that kills it.
///
/// # Errors
/// [`Error::Environment`] if the scenarios cannot be read.
pub fn run_job<B: Block>(
    run_job: &MutationJob,
    profile: Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Vec<Kill>, Error> {
    let scenarios: Vec<Scenario<B::Weights>> = serde_json::from_str(&run_job.scenarios)
        .map_err(|error| Error::Environment(codes::WORKER_FAILED, format!("scenarios: {error}")))?;
    let parameters = profile.parameters;
    let cases = Cases::<B> { scenarios, profiles: vec![profile], packets: run_job.packets };
    let mut alive = run_job.mutations.clone();
    let mut kills = Vec::new();
    for (index, case) in run_job.cases.iter().enumerate() {
        if alive.is_empty() || watch.is_cancelled() {
            break;
        }
        let stimulus = cases.stimulus(case);
        let mut found = |mutation, outcome: Outcome| {
            let is_found = outcome.verdict.is_failure();
            if is_found {
                kills.push(Kill { mutation, case: index, outcome });
            }
            is_found
        };
        // A mutant whose model cannot be created counts as killed.
        let mut models = Vec::new();
        alive.retain(|mutation| {
            let create = || kind.with_mutation(*mutation).create(stimulus.before_reset);
            match watch.model(create) {
                Ok(model) => models.push(model),
                Err(error) => {
                    let message = error.to_string();
                    let verdict = Verdict::Crashed { cycle: None, message };
                    return !found(*mutation, Outcome::without_cycles(verdict));
                }
            }
            true
        });
        let outcomes = match run_job.method {
            KillMethod::Compare => {
                let (golden, outcomes) = run_all(&stimulus, &parameters, &mut models, watch);
                outcomes
                    .into_iter()
                    .map(|of_own| of_own.unwrap_or_else(|| golden.clone()))
                    .collect()
            }
            // For a block with transaction outputs, the scoreboard makes the comparison.
            KillMethod::Checks if follows_dut::<B>() => {
                run_all(&stimulus, &parameters, &mut models, watch)
                    .1
                    .into_iter()
                    .flatten()
                    .collect()
            }
            KillMethod::Checks => judged(&stimulus, &parameters, &mut models, watch),
        };
        let mut outcomes: VecDeque<Outcome> = outcomes;
        alive.retain(|mutation| match outcomes.pop_front() {
            Some(outcome) => !found(*mutation, outcome),
            None => true,
        });
    }
    Ok(kills)
}

/// The verdict of the scoreboard on each mutant without comparison.
fn judged<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    models: &mut [Model<B::Inputs, B::Outputs>],
    watch: &Watch,
) -> VecDeque<Outcome> {
    let Drive::Traffic(traffic) = &stimulus.drive else {
        return models.iter().map(|_| Outcome::without_cycles(Verdict::Match)).collect();
    };
    let most = CYCLES[0] * run_golden(stimulus, parameters, watch).cycles + CYCLES[1];
    let check_alone = |model| {
        let followed = watch.during(|| follow::<B>(traffic, parameters, model, most, watch));
        Outcome::without_cycles(match followed {
            None => Verdict::Cancelled,
            Some((None, _)) => Verdict::Match,
            Some((Some(SideFailure { cycle, violation }), _)) => {
                Verdict::CheckFailed { cycle, violation }
            }
        })
    };
    models.iter_mut().map(check_alone).collect()
}

/// A counterexample of the equivalence checker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KillAttempt {
    /// The mutation.
    pub mutation: u32,
    /// The names of the bits that are 1, such as `data[3]`, for each cycle after reset.
    pub cycles: Vec<Vec<String>>,
    /// The origin recorded in the vector.
    #[serde(with = "cosim_harness::as_json")]
    pub origin: Origin,
}

/// The result of replaying a counterexample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AttemptResult {
    /// It kills the mutant, and the unmodified RTL matches the golden model. Holds the vector.
    Found(String),
    /// It does not kill the mutant.
    NotFound,
    /// The pins differ, but only in bits or in timing that the comparison leaves open.
    OnlyOpen,
    /// The unmodified RTL differs from the golden model.
    Red {
        /// The verdict on the RTL.
        verdict: String,
        /// The failing vector.
        vector: String,
    },
}

/// Replays a counterexample on the unmodified RTL and on the mutant.
///
/// # Errors
/// [`Error::Model`] if a model cannot be created, or [`Error::VectorTooLarge`].
pub fn attempt<B: Block>(
    request: &KillAttempt,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<AttemptResult, Error> {
    let cycles: Vec<B::Inputs> = request.cycles.iter().map(|bits| pins::<B>(bits)).collect();
    for before_reset in [BeforeReset::Ones, BeforeReset::Zeros, BeforeReset::Random(1)] {
        let stimulus = Stimulus::<B>::cycles(cycles.clone()).with_before_reset(before_reset);
        if has_masks::<B>() && is_only_open::<B>(request, &stimulus, profile, kind, watch)? {
            return Ok(AttemptResult::OnlyOpen);
        }
        if follows_dut::<B>() {
            // The cycles have no transactions, and pins that differ need not be wrong.
            continue;
        }
        let recording = Recording::<B>::new(&stimulus, &profile.parameters);
        let run = |mutation| {
            watch.model(|| -> Result<Outcome, Error> {
                let mut model = kind.with_mutation(mutation).create(before_reset)?;
                Ok(recording.run(&mut model, watch))
            })
        };
        let vector =
            |stimulus| Vector::<B>::new(profile, request.origin.clone(), stimulus, None).to_text();
        let original = run(0)?.verdict;
        if original != Verdict::Match {
            return Ok(AttemptResult::Red {
                verdict: original.to_string(),
                vector: vector(stimulus)?,
            });
        }
        if run(request.mutation)?.verdict.is_failure() {
            return vector(stimulus).map(AttemptResult::Found);
        }
    }
    Ok(AttemptResult::NotFound)
}

/// Whether pins of the unmodified RTL and the mutant differ, but not in a compared bit.
fn is_only_open<B: Block>(
    request: &KillAttempt,
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<bool, Error> {
    let (parameters, before_reset) = (&profile.parameters, stimulus.before_reset);
    let create = |mutation| kind.with_mutation(mutation).create(before_reset);
    let (mut original, mut mutant) = (create(0)?, create(request.mutation)?);
    let duts = [&mut original, &mut mutant];
    if first_difference(stimulus, parameters, duts, 0, watch).is_none() {
        return Ok(false);
    }
    if follows_dut::<B>() {
        return Ok(true);
    }
    let mut mutant = create(request.mutation)?;
    let recording = Recording::<B>::new(stimulus, parameters);
    Ok(!recording.run(&mut mutant, watch).verdict.is_failure())
}

/// The inputs in which exactly these bits are 1.
pub fn pins<B: Block>(bits: &[String]) -> B::Inputs {
    let mut bytes = B::Inputs::default().as_bytes().to_vec();
    bytes.fill(0);
    for (name, bit) in bits.iter().map(|name| split(name)) {
        let port = B::Inputs::PORTS.iter().find(|port| port.name == name);
        if let Some(port) = port.filter(|port| bit < port.width) {
            bytes[port.offset + bit as usize / 8] |= 1 << (bit % 8);
        }
    }
    B::Inputs::of_bytes(&bytes)
}
