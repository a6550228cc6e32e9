//! Checks the parts of a block without RTL.

use super::reference::run_reference;
use super::{CheckFailures, Result};
use crate::engine::Cases;
use cosim_base::parallel;
use cosim_harness::harness::{
    Block, Case, CaseRng, Drive, Environment, Golden, Parameters, Profile, Scenario, Stimulus,
    Traffic as _, Verdict, bin_name, bins, case_seed, reset_inputs, undriven, unreachable,
};
use cosim_harness::json::{self, MisreadText};
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use verilated::Pins as _;

/// The default seed of a run.
const SEED: u64 = 1;
/// Number of readable scenarios with changed numbers to test, and the maximum number of unreadable
/// ones.
const CHANGED: usize = 150;
const UNREADABLE: usize = 900;
/// Maximum packets per case of a changed scenario, because some make long packets.
const FEW_PACKETS: u32 = 4;
/// Cases of each profile and scenario whose pins are checked, with their packets and maximum
/// cycles.
const PIN_CASES: u64 = 4;
const PIN_PACKETS: u32 = 40;
const PIN_CYCLES: u64 = 20_000;
/// Number of cycles in which an environment runs against a wrong block.
const WRONG_CYCLES: u64 = 2_000;

pub fn scenarios_can_be_read_again<B: Block>() -> Result {
    let unreadable = |scenario: &Scenario<B::Weights>| {
        let read = json::to_text(scenario)
            .map_err(|error| error.to_string())
            .and_then(|text| read_scenario::<B>(&text).map_err(|error| error.to_string()));
        read.err().map(|error| format!("scenario {}: {error}", scenario.name))
    };
    CheckFailures::from_lines(B::scenarios().iter().filter_map(unreadable).collect())
}

fn read_scenario<B: Block>(text: &str) -> std::result::Result<Scenario<B::Weights>, MisreadText> {
    json::from_text(text)
}

/// Collects JSON pointers to the numbers in a value.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(list) => {
            (0..list.len()).for_each(|i| numbers(&list[i], &format!("{at}/{i}"), found));
        }
        Value::Object(map) => {
            map.iter().for_each(|(name, part)| numbers(part, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

/// A random number, often an edge case of its type or meaning.
fn number(rng: &mut CaseRng) -> u64 {
    const EDGES: [u64; 10] = [0, 1, 2, 100, 101, 255, 256, 4095, 65_535, u64::MAX];
    match rng.random_range(0..3) {
        0 => EDGES[rng.random_range(0..EDGES.len())],
        1 => rng.random_range(0..=100),
        _ => u64::from(rng.random::<u16>()),
    }
}

/// The text of a built-in scenario with up to five numbers changed.
fn changed<B: Block>(rng: &mut CaseRng) -> Result<String> {
    let scenarios = B::scenarios();
    if scenarios.is_empty() {
        return Err(CheckFailures::from_line(format!("{} has no scenario", B::NAME)));
    }
    let scenario = &scenarios[rng.random_range(0..scenarios.len())];
    let mut json: Value =
        json::to_text(scenario).and_then(|text| serde_json::from_str(&text)).map_err(|error| {
            CheckFailures::from_line(format!("scenario {}: {error}", scenario.name))
        })?;
    let mut places = Vec::new();
    numbers(&json["weights"], "/weights", &mut places);
    for _ in 0..rng.random_range(0..6) {
        let place = places.get(rng.random_range(0..places.len().max(1)));
        if let Some(part) = place.and_then(|place| json.pointer_mut(place)) {
            *part = Value::from(number(rng));
        }
    }
    Ok(json.to_string())
}

/// The error in the stimulus of a scenario in a profile.
fn illegal<B: Block>(
    scenario: &Scenario<B::Weights>,
    profile: &Profile,
    packets: u32,
    rng: &mut CaseRng,
) -> Option<String> {
    let draw = || Stimulus::<B>::draw(&scenario.weights, &profile.parameters, packets, rng);
    match catch_unwind(AssertUnwindSafe(draw)).map(|stimulus| stimulus.drive) {
        Err(_) => Some("the generator panics".to_owned()),
        Ok(Drive::Traffic(traffic)) => {
            traffic.check().err().map(|wrong| format!("{}: {}", wrong.path, wrong.message))
        }
        Ok(Drive::Cycles(cycles)) => cycles.is_empty().then(|| "no cycle was drawn".to_owned()),
    }
}

pub fn weights_draw_legal_stimulus<B: Block>() -> Result {
    let mut rng = CaseRng::seed_from_u64(case_seed(SEED, "numbers of scenarios"));
    let (mut read, mut unreadable, mut wrong) = (0, 0, Vec::new());
    while read < CHANGED && unreadable < UNREADABLE {
        // Parse from text, as from a file.
        let text = changed::<B>(&mut rng)?;
        let Ok(scenario) = read_scenario::<B>(&text) else {
            unreadable += 1;
            continue;
        };
        read += 1;
        let packets = rng.random_range(1..=FEW_PACKETS);
        for profile in B::PROFILES {
            if let Some(message) = illegal::<B>(&scenario, profile, packets, &mut rng) {
                wrong.push(format!(
                    "profile {}, {packets} packets: {message}: {text}",
                    profile.name
                ));
            }
        }
    }
    if read < CHANGED {
        let accepted = format!("{read} scenarios with other numbers were accepted");
        wrong.push(format!("{accepted}, {unreadable} were not"));
    }
    CheckFailures::from_lines(wrong)
}

pub fn environment_drives_every_pin<B: Block>() -> Result {
    let mut wrong = Vec::new();
    for scenario in B::scenarios() {
        for profile in B::PROFILES {
            let parameters = &profile.parameters;
            let undriven = (0..PIN_CASES).find_map(|seed| {
                let mut rng = CaseRng::seed_from_u64(seed);
                let stimulus =
                    Stimulus::<B>::draw(&scenario.weights, parameters, PIN_PACKETS, &mut rng);
                let Drive::Traffic(traffic) = stimulus.drive else { return None };
                undriven::<B, B::Environment<'_>>(&traffic, parameters, PIN_CYCLES)
            });
            if let Some(pin) = undriven {
                wrong.push(format!(
                    "profile {}, scenario {}: {} is not driven in cycle {}",
                    profile.name, scenario.name, pin.port, pin.cycle
                ));
            }
        }
    }
    CheckFailures::from_lines(wrong)
}

#[derive(Debug, Clone, Copy)]
enum FaultyOutput {
    Zeros,
    Ones,
    Noise,
    /// The golden model's outputs, with one byte changed in some cycles.
    Seldom,
}

/// The cycle in which an environment panics, if it does.
fn breaks<B: Block>(
    traffic: &B::Traffic,
    parameters: &Parameters,
    wrong: FaultyOutput,
    rng: &mut CaseRng,
) -> Option<u64> {
    let mut cycle = 0;
    let run = AssertUnwindSafe(|| {
        let mut environment = B::Environment::new(traffic, parameters);
        let mut golden = B::Golden::new(parameters);
        let (mut inputs, mut outputs) = (reset_inputs::<B>(), B::Outputs::new_zeroed());
        while cycle < WRONG_CYCLES {
            environment.drive(&mut inputs);
            golden.step(&inputs, &mut outputs);
            let mut bytes = outputs.as_bytes().to_vec();
            match wrong {
                FaultyOutput::Zeros => bytes.fill(0),
                FaultyOutput::Ones => bytes.fill(0xff),
                FaultyOutput::Noise => rng.fill(&mut bytes[..]),
                FaultyOutput::Seldom if rng.random_range(0..4) == 0 => {
                    let at = rng.random_range(0..bytes.len());
                    bytes[at] = rng.random();
                }
                FaultyOutput::Seldom => {}
            }
            // Clears bits beyond a port's width.
            environment.clock(&inputs, &B::Outputs::from_bytes(&bytes));
            environment.finished();
            cycle += 1;
        }
    });
    catch_unwind(run).err().map(|_| cycle)
}

pub fn environment_bears_any_outputs<B: Block>() -> Result {
    let mut wrong = Vec::new();
    let mut rng = CaseRng::seed_from_u64(case_seed(SEED, "outputs of faulty blocks"));
    for scenario in B::scenarios() {
        for profile in B::PROFILES {
            let parameters = &profile.parameters;
            let stimulus =
                Stimulus::<B>::draw(&scenario.weights, parameters, PIN_PACKETS, &mut rng);
            let Drive::Traffic(traffic) = stimulus.drive else { continue };
            for kind in
                [FaultyOutput::Zeros, FaultyOutput::Ones, FaultyOutput::Noise, FaultyOutput::Seldom]
            {
                if let Some(cycle) = breaks::<B>(&traffic, parameters, kind, &mut rng) {
                    wrong.push(format!(
                        "profile {}, scenario {}: the environment panics in cycle {cycle} ({kind:?})",
                        profile.name, scenario.name
                    ));
                }
            }
        }
    }
    CheckFailures::from_lines(wrong)
}

pub fn rules_are_hit<B: Block>() -> Result {
    let wrong = parallel::map(B::PROFILES, |profile| rules_of::<B>(profile));
    CheckFailures::from_lines(wrong.into_iter().flatten().collect())
}

/// Runs the golden model on a traffic. Returns the number of hits of each hit bin by name. For
/// tests of a block's [`Coverage`](cosim_harness::harness::Coverage).
///
/// # Errors
/// If the golden model does not complete the case.
pub fn bins_hit<B: Block>(
    traffic: B::Traffic,
    parameters: &Parameters,
) -> Result<BTreeMap<String, u64>> {
    let outcome = run_reference(&Stimulus::<B>::traffic(traffic), parameters)?;
    if outcome.verdict != Verdict::Match {
        return Err(CheckFailures::from_line(outcome.verdict.to_string()));
    }
    Ok(outcome.hits.hit_bins().map(|(bin, hits)| (bin_name::<B>(bin), hits)).collect())
}

/// The problems of the rules and bins of a profile.
fn rules_of<B: Block>(profile: &Profile) -> Vec<String> {
    let scenarios = B::scenarios();
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let columns = names.len() as u64;
    let case = |place: u64| {
        let scenario = (place % columns) as usize;
        let (profile, scenario) = ((0, &*profile.name), (scenario, names[scenario].as_str()));
        Case::of_run(SEED, B::NAME, place, profile, scenario, place / columns)
    };
    let cases = Cases::<B> { scenarios, profiles: vec![profile.clone()], packets: None };
    let reasons = unreachable::<B>(&profile.parameters);
    let mut hits = vec![0; bins::<B>()];
    let mut wrong = Vec::new();
    for place in 0..columns * B::CASES {
        let case = case(place);
        // Run every scenario at least once, even if the first ones hit everything.
        let all_hit = (0..hits.len()).all(|bin| reasons.contains_key(&bin) || hits[bin] > 0);
        if all_hit && place >= columns {
            break;
        }
        // Hitting an unreachable bin is a failure, too.
        let outcome = match run_reference(&cases.stimulus(&case), &profile.parameters) {
            Ok(outcome) => outcome,
            Err(error) => return vec![error.to_string()],
        };
        if outcome.verdict.is_failure() {
            wrong.push(format!("{}: {}", case.name, outcome.verdict));
        }
        for (bin, more) in outcome.hits.hit_bins() {
            hits[bin] += more;
        }
    }
    let missed = (0..hits.len()).filter(|bin| !reasons.contains_key(bin) && hits[*bin] == 0);
    wrong.extend(missed.map(|bin| {
        let (profile, name) = (&profile.name, bin_name::<B>(bin));
        format!("profile {profile}: no case of a default run hits `{name}`")
    }));
    wrong
}
