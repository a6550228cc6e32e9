//! What a worker does: it runs cases, each on every mutation that no case before has found.

use crate::engine::Cases;
use crate::error::Error;
use crate::harness::{Block, Case, Outcome, Profile, Recording, Scenario, Verdict, Watch};
use serde::{Deserialize, Serialize};
use verilated::ModelKind;

/// Cases, and the mutations that they are to find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hunt {
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// Packets of a case, if they are not drawn.
    pub packets: Option<u32>,
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// Numbers of mutations; 0 is the RTL as it is.
    pub mutations: Vec<u32>,
}

/// A mutation that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Death {
    /// Its number.
    pub mutation: u32,
    /// The case, as an index into [`Hunt::cases`].
    pub case: usize,
    /// How the case ended.
    pub outcome: Outcome,
}

/// Runs the cases, the golden side of each once. A mutation is run up to the first case that finds it.
///
/// # Errors
/// [`Error::Environment`] for scenarios that cannot be read.
pub fn hunt<B: Block>(
    hunt: &Hunt,
    profile: Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Vec<Death>, Error> {
    let scenarios: Vec<Scenario<B::Weights>> = serde_json::from_str(&hunt.scenarios)
        .map_err(|error| Error::Environment(format!("scenarios: {error}")))?;
    let parameters = profile.parameters;
    let cases = Cases::<B> { scenarios, profiles: vec![profile], packets: hunt.packets };
    let mut alive = hunt.mutations.clone();
    let mut deaths = Vec::new();
    for (index, case) in hunt.cases.iter().enumerate() {
        if alive.is_empty() || watch.is_cancelled() {
            break;
        }
        let stimulus = cases.stimulus(case);
        let recording = Recording::<B>::new(&stimulus, &parameters);
        alive.retain(|mutation| {
            let run = || match kind.with_mutation(*mutation).create(stimulus.before_reset) {
                Ok(mut model) => recording.run(&mut model, watch),
                Err(error) => Outcome::without_cycles(Verdict::Crashed {
                    cycle: None,
                    message: error.to_string(),
                }),
            };
            let outcome = watch.model(run);
            let is_found = outcome.verdict.is_failure();
            if is_found {
                deaths.push(Death { mutation: *mutation, case: index, outcome });
            }
            !is_found
        });
    }
    Ok(deaths)
}
