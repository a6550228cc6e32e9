//! The worker's part of mutation analysis: runs each case on every mutant that is still alive.

use crate::engine::Cases;
use crate::vector::{Origin, Vector};
use crate::words::split;
use cosim_base::error::Error;
use cosim_harness::harness::{
    Block, Case, Drive, Outcome, Parameters, Profile, Recording, SideFailure, Stimulus, Verdict,
    Watch, first_difference, follow, follows_dut, has_masks, run_all, run_golden,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verilated::{BeforeReset, Model, ModelKind, Pins, Port};

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
    let parameters = profile.parameters;
    let cases = Cases::<B>::read(&run_job.scenarios, vec![profile], run_job.packets)?;
    let run = |case: &Case, mutations: &[u32]| {
        let stimulus = cases.stimulus(case);
        outcomes(&stimulus, &parameters, run_job.method, kind, mutations, watch)
    };
    Ok(kills(run_job, &run, watch))
}

/// Runs each case on the mutants that are still alive.
fn kills(
    run_job: &MutationJob,
    run: &dyn Fn(&Case, &[u32]) -> CaseOutcomes,
    watch: &Watch,
) -> Vec<Kill> {
    let mut alive = run_job.mutations.clone();
    let mut kills = Vec::new();
    for (index, case) in run_job.cases.iter().enumerate() {
        if alive.is_empty() || watch.is_cancelled() {
            break;
        }
        let (golden, outcomes) = run(case, &alive);
        let mut outcomes = outcomes.into_iter();
        alive.retain(|mutation| {
            let outcome = outcomes.next().flatten().unwrap_or_else(|| golden.clone());
            let is_killed = outcome.verdict.is_failure();
            if is_killed {
                kills.push(Kill { mutation: *mutation, case: index, outcome });
            }
            !is_killed
        });
    }
    kills
}

/// The outcome of the golden side of a case, and that of each mutant that differs.
type CaseOutcomes = (Outcome, Vec<Option<Outcome>>);

fn outcomes<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    method: KillMethod,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    mutations: &[u32],
    watch: &Watch,
) -> CaseOutcomes {
    let (mut models, mut outcomes) = (Vec::new(), Vec::new());
    // A mutant whose model cannot be created counts as killed.
    for mutation in mutations {
        let create = || kind.with_mutation(*mutation).create(stimulus.before_reset);
        let created = watch.model(create).map(|model| models.push(model));
        outcomes.push(created.err().map(|error| Outcome::crashed(None, error.to_string())));
    }
    let (golden, ran) = match method {
        KillMethod::Checks if !follows_dut::<B>() => {
            judged(stimulus, parameters, &mut models, watch)
        }
        // For a block with transaction outputs, the scoreboard makes the comparison.
        _ => run_all(stimulus, parameters, &mut models, watch),
    };
    let mut ran = ran.into_iter();
    for outcome in &mut outcomes {
        if outcome.is_none() {
            *outcome = ran.next().flatten();
        }
    }
    (golden, outcomes)
}

/// The verdict of the scoreboard on each mutant without comparison.
fn judged<B: Block>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    models: &mut [Model<B::Inputs, B::Outputs>],
    watch: &Watch,
) -> CaseOutcomes {
    let mut outcomes = Vec::new();
    if let Drive::Traffic(traffic) = &stimulus.drive {
        let most = CYCLES[0] * run_golden(stimulus, parameters, watch).cycles + CYCLES[1];
        for model in models {
            let followed = watch.during(|| follow::<B>(traffic, parameters, model, most, watch));
            outcomes.push(Some(Outcome::without_cycles(match followed {
                None => Verdict::Cancelled,
                Some((None, _)) => Verdict::Match,
                Some((Some(SideFailure { cycle, violation }), _)) => {
                    Verdict::CheckFailed { cycle, violation }
                }
            })));
        }
    }
    (Outcome::without_cycles(Verdict::Match), outcomes)
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
    let cycles = pins::<B>(&request.cycles);
    for before_reset in [BeforeReset::Ones, BeforeReset::Zeros, BeforeReset::Random(1)] {
        let stimulus = Stimulus::<B>::cycles(cycles.clone()).with_before_reset(before_reset);
        let recording = Recording::<B>::new(&stimulus, &profile.parameters);
        let create = |mutation| kind.with_mutation(mutation).create(before_reset);
        let run = |mutation| {
            watch.model(|| -> Result<Verdict, Error> {
                Ok(recording.run(&mut create(mutation)?, watch).verdict)
            })
        };
        if has_masks::<B>() {
            let duts = [&mut create(0)?, &mut create(request.mutation)?];
            let differs =
                first_difference(&stimulus, &profile.parameters, duts, 0, watch).is_some();
            if differs && (follows_dut::<B>() || !run(request.mutation)?.is_failure()) {
                return Ok(AttemptResult::OnlyOpen);
            }
        }
        if follows_dut::<B>() {
            // The cycles have no transactions, and pins that differ need not be wrong.
            continue;
        }
        let original = run(0)?;
        let is_red = original != Verdict::Match;
        if is_red || run(request.mutation)?.is_failure() {
            let vector = Vector::<B>::new(profile, request.origin.clone(), stimulus, None);
            let vector = vector.to_text()?;
            return Ok(match is_red {
                true => AttemptResult::Red { verdict: original.to_string(), vector },
                false => AttemptResult::Found(vector),
            });
        }
    }
    Ok(AttemptResult::NotFound)
}

/// The inputs of cycles, in which exactly these bits are 1.
pub fn pins<B: Block>(cycles: &[Vec<String>]) -> Vec<B::Inputs> {
    let mut pins = Vec::new();
    for bits in cycles {
        let mut bytes = vec![0; size_of::<B::Inputs>()];
        for (name, bit) in bits.iter().map(|name| split(name)) {
            if let Some((byte, mask)) = place(B::Inputs::PORTS, name, bit) {
                bytes[byte] |= mask;
            }
        }
        pins.push(B::Inputs::from_bytes(&bytes));
    }
    pins
}

/// The byte of a bit of a port, and the bit in that byte.
pub(super) fn place(ports: &[Port], name: &str, bit: u32) -> Option<(usize, u8)> {
    let port = ports.iter().find(|port| port.name == name && bit < port.width)?;
    Some((port.offset + bit as usize / 8, 1 << (bit % 8)))
}
