//! Injects faults into the golden model, to grade the scoreboard and the corpus.
//!
//! A comparison finds faults of the RTL, but not those of the golden model. Faults are injected
//! for each rule in turn, and only where the rule applies: a register is not written, an input is
//! replaced by another, or an output is wrong. So the effect, the guard and the constants of a
//! row are wrong one after another.

use super::report::{counted, percent};
use crate::engine::Cases;
use crate::runner::{Plan, Shard};
use cosim_base::error::Error;
use cosim_formats::vector::VectorFile;
use cosim_harness::harness::{
    Block, CaseRng, Drive, Dut, Golden, Profile, Recording, Scenario, Stimulus, Verdict, Watch,
    case_seed, follow, power_up_inputs,
};
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use verilated::{Error as ModelError, Pins, Port};
use zerocopy::IntoBytes;

/// The result, in a folder of its own.
pub use super::report::GOLDEN as RESULT;
/// Cycles in which a side with a fault may end its case: so many times those of the golden model, and so many more.
const CYCLES: (u64, u64) = (2, 1_000);
/// Faults that a text names one by one.
const NAMED: usize = 20;
/// The check that is said of a golden model that panics with a fault in it.
const PANICS: &str = "panic";

/// What is asked for.
#[derive(Debug)]
pub struct FaultRequest<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Faults at most.
    pub faults: u32,
    /// The seed by which they are chosen.
    pub seed: u64,
    /// Cases of each scenario.
    pub cases: u64,
    /// The seed of the cases.
    pub run_seed: u64,
    /// Packets of a case; drawn if there is no number.
    pub packets: Option<u32>,
    /// Vectors that are to notice faults.
    pub corpus: &'a [VectorFile],
    /// Set when somebody wants it to end.
    pub interrupted: &'a AtomicBool,
}

/// What a fault does where its rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Kind {
    /// Registers and state stay what they are.
    Skips,
    /// A bit of an input is taken for the other.
    Misreads {
        /// The input.
        port: &'static str,
        /// The bit.
        bit: u32,
    },
    /// A bit of an output is the other.
    Drives {
        /// The output.
        port: &'static str,
        /// The bit.
        bit: u32,
    },
}

/// A fault, and who noticed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its number, from 1.
    pub id: u32,
    /// The rule.
    pub rule: &'static str,
    /// What it does.
    #[serde(flatten)]
    pub kind: Kind,
    /// The first case in which an output differs; none if none does.
    pub differs: Option<String>,
    /// The check that notices it, and the first case in which it does.
    pub noticed: Option<(String, String)>,
    /// The first vector that it does not pass.
    pub vector: Option<String>,
}

/// A profile's faults.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileFaults {
    /// The profile.
    pub profile: String,
    /// Cases that were run.
    pub cases: usize,
    /// Vectors that were run.
    pub vectors: usize,
    /// The numbers.
    pub score: FaultScore,
    /// Every fault.
    pub faults: Vec<Fault>,
}

/// Numbers of faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct FaultScore {
    /// All of them.
    pub faults: u64,
    /// Those that make a difference in some case or vector, or that a check notices.
    pub seen: u64,
    /// Of those: that the scoreboard notices, with nothing compared.
    pub checks: u64,
    /// That the corpus notices.
    pub corpus: u64,
    /// That one of both notices.
    pub either: u64,
    /// Percent of those that are seen.
    pub percent: f64,
}

impl Fault {
    /// What it does, for a person.
    pub fn words(&self) -> String {
        let rule = self.rule;
        match self.kind {
            Kind::Skips => format!("{rule} stores nothing"),
            Kind::Misreads { port, bit } => format!("{rule} misreads {port}[{bit}]"),
            Kind::Drives { port, bit } => format!("{rule} drives {port}[{bit}] wrong"),
        }
    }

    fn is_noticed(&self) -> bool {
        self.noticed.is_some() || self.vector.is_some()
    }

    fn is_seen(&self) -> bool {
        self.differs.is_some() || self.is_noticed()
    }
}

impl FaultScore {
    fn of(faults: &[Fault]) -> Self {
        let count = |is: fn(&&Fault) -> bool| faults.iter().filter(is).count() as u64;
        let (seen, either) = (count(|fault| fault.is_seen()), count(|fault| fault.is_noticed()));
        Self {
            faults: faults.len() as u64,
            seen,
            checks: count(|fault| fault.noticed.is_some()),
            corpus: count(|fault| fault.vector.is_some()),
            either,
            percent: percent(either, seen),
        }
    }
}

impl ProfileFaults {
    /// The table: the numbers, and what nobody noticed.
    pub fn text(&self, block: &str) -> String {
        let Self { profile, cases, vectors, score, faults } = self;
        let FaultScore { faults: all, seen, checks, corpus, either, percent } = score;
        let mut text = format!(
            "{block} {profile}: {all} faults in the golden model, {seen} change an output in \
             {cases} cases and {vectors} vectors; detected by checks {checks}, by the corpus \
             {corpus}, by either {either} ({percent:.2} %)\n"
        );
        let checks = faults.iter().filter_map(|fault| fault.noticed.as_ref());
        let by = counted(checks.map(|(check, _)| check.as_str()));
        if !by.is_empty() {
            let by: Vec<String> =
                by.iter().map(|(check, times)| format!("{check} {times}")).collect();
            let _ = writeln!(text, "  noticed by {}", by.join(", "));
        }
        let left: Vec<&Fault> =
            faults.iter().filter(|fault| fault.is_seen() && !fault.is_noticed()).collect();
        for fault in left.iter().take(NAMED) {
            let case = fault.differs.as_deref().unwrap_or_default();
            let _ = writeln!(text, "  {:>5} {}: seen in {case} only", fault.id, fault.words());
        }
        if left.len() > NAMED {
            let _ = writeln!(text, "  and {} more undetected", left.len() - NAMED);
        }
        text
    }
}

/// A golden model with a fault, in the place of a DUT.
struct Faulty<B: Block> {
    golden: B::Golden,
    rule: usize,
    kind: Kind,
    inputs: B::Inputs,
}

/// Pins with a bit of a port inverted.
fn inverted<P: Pins>(pins: &P, port: &str, bit: u32) -> P {
    let mut bytes = pins.as_bytes().to_vec();
    if let Some(port) = P::PORTS.iter().find(|known| known.name == port) {
        bytes[port.offset + bit as usize / 8] ^= 1 << (bit % 8);
    }
    P::of_bytes(&bytes)
}

impl<B: Block> Faulty<B> {
    fn new(profile: &Profile, rule: usize, kind: Kind) -> Self {
        let golden = B::Golden::new(&profile.parameters);
        Self { golden, rule, kind, inputs: B::Inputs::new_zeroed() }
    }

    /// Whether the rule applies now.
    fn applies(&self, inputs: &B::Inputs) -> bool {
        self.golden.clone().edge(inputs).iter().any(|rule| rule == self.rule)
    }

    /// Inputs as the model takes them to be.
    fn read(&self, inputs: &B::Inputs) -> B::Inputs {
        match self.kind {
            Kind::Misreads { port, bit } if self.applies(inputs) => inverted(inputs, port, bit),
            _ => *inputs,
        }
    }
}

impl<B: Block> Dut<B> for Faulty<B> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), ModelError> {
        self.golden.show(&self.read(inputs), outputs);
        if let Kind::Drives { port, bit } = self.kind
            && self.applies(inputs)
        {
            *outputs = inverted(outputs, port, bit);
        }
        self.inputs = *inputs;
        Ok(())
    }

    fn edge(&mut self) -> Result<(), ModelError> {
        let inputs = self.inputs;
        if self.kind != Kind::Skips || !self.applies(&inputs) {
            let read = self.read(&inputs);
            self.golden.edge(&read);
        }
        Ok(())
    }
}

/// Every fault of a profile, or as many of them as are asked for.
fn faults<B: Block>(ask: &FaultRequest<'_>) -> Vec<(usize, Kind)> {
    let mut rng = CaseRng::seed_from_u64(case_seed(ask.seed, "faults of the golden model"));
    let reset = B::RESET.map(|pin| pin.name_and_level().0);
    let mut all = Vec::new();
    for rule in 0..B::Golden::RULES.len() {
        if B::Golden::unreachable(rule, &ask.profile.parameters).is_some() {
            continue;
        }
        all.push((rule, Kind::Skips));
        let mut bit = |port: &Port| rng.random_range(0..port.width);
        for port in B::Inputs::PORTS.iter().filter(|port| Some(port.name) != reset) {
            all.push((rule, Kind::Misreads { port: port.name, bit: bit(port) }));
        }
        for port in B::Outputs::PORTS {
            all.push((rule, Kind::Drives { port: port.name, bit: bit(port) }));
        }
    }
    let amount = all.len().min(ask.faults as usize);
    let mut chosen = index::sample(&mut rng, all.len(), amount).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|place| all[place]).collect()
}

/// A stimulus with its name.
struct NamedStimulus<B: Block> {
    name: String,
    stimulus: Stimulus<B>,
}

/// What faults are tried on: stimulus, and what the golden model makes of it.
struct FaultStimulus<'s, B: Block> {
    name: &'s str,
    stimulus: &'s Stimulus<B>,
    recording: Recording<'s, B>,
}

impl<B: Block> FaultStimulus<'_, B> {
    /// Whether the rule applies in it at all.
    fn hits(&self, rule: usize) -> bool {
        self.recording.outcome().hits.get(rule).is_some_and(|hits| *hits > 0)
    }

    /// Whether an output differs from the golden model's.
    fn differs(&self, mut faulty: Faulty<B>) -> bool {
        let mut outputs = B::Outputs::new_zeroed();
        let run = || {
            let _ = faulty.settle(&power_up_inputs::<B>(), &mut outputs);
            self.recording.inputs().iter().zip(self.recording.expected()).any(
                |(inputs, expected)| {
                    let _ = faulty.settle(inputs, &mut outputs);
                    let differs = outputs.as_bytes() != expected.as_bytes();
                    let _ = faulty.edge();
                    differs
                },
            )
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or(true)
    }

    /// The check that objects to it, with nothing compared.
    fn noticed(&self, mut faulty: Faulty<B>, profile: &Profile) -> Option<String> {
        let Drive::Traffic(traffic) = &self.stimulus.drive else { return None };
        let most = CYCLES.0 * self.recording.outcome().cycles + CYCLES.1;
        let watch = Watch::default();
        let run = || follow(traffic, &profile.parameters, &mut faulty, most, &watch);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(followed) => followed?.0.map(|breach| breach.violation.check),
            Err(_) => Some(PANICS.to_owned()),
        }
    }
}

/// Runs the golden model on each, and keeps those that end well.
fn grounds<'s, B: Block>(
    all: &'s [NamedStimulus<B>],
    profile: &Profile,
) -> Vec<FaultStimulus<'s, B>> {
    let ground = |NamedStimulus { name, stimulus }: &'s NamedStimulus<B>| {
        let recording = Recording::new(stimulus, &profile.parameters);
        FaultStimulus { name, stimulus, recording }
    };
    let ends_well =
        |ground: &FaultStimulus<'_, B>| ground.recording.outcome().verdict == Verdict::Match;
    all.par_iter().map(ground).filter(ends_well).collect()
}

/// The cases of the default run, as far as they are asked for.
fn cases<B: Block>(
    ask: &FaultRequest<'_>,
    scenarios: Vec<Scenario<B::Weights>>,
) -> Vec<NamedStimulus<B>> {
    let plan = Plan {
        block: B::NAME,
        seed: ask.run_seed,
        profiles: vec![ask.profile.clone()],
        scenarios: scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        indices: 0..ask.cases,
        shard: Shard::WHOLE,
    };
    let cases = Cases::<B> { scenarios, profiles: plan.profiles.clone(), packets: ask.packets };
    plan.iter()
        .map(|case| NamedStimulus { stimulus: cases.stimulus(&case), name: case.name.clone() })
        .collect()
}

/// The vectors that are of the profile.
fn vectors<B: Block>(ask: &FaultRequest<'_>) -> Result<Vec<NamedStimulus<B>>, Error> {
    let mut all = Vec::new();
    for file in ask.corpus.iter().filter(|file| file.block == B::NAME) {
        let vector = file.parse::<B>()?;
        let profiles = Profile::parse_beside(&vector.fixes, &vector.parameters, B::PROFILES);
        let is_of_it = |profiles: Vec<Profile>| profiles.contains(ask.profile);
        if profiles.is_ok_and(is_of_it) {
            let name = file.path.display().to_string();
            all.push(NamedStimulus { name, stimulus: vector.stimulus });
        }
    }
    Ok(all)
}

/// Grades scoreboard and corpus of a profile.
///
/// # Errors
/// [`Error::Interrupted`]; what is wrong with a vector.
pub fn grade<B: Block>(
    ask: &FaultRequest<'_>,
    scenarios: Vec<Scenario<B::Weights>>,
) -> Result<ProfileFaults, Error> {
    let (cases, vectors) = (cases::<B>(ask, scenarios), vectors::<B>(ask)?);
    let (cases, vectors) = (grounds(&cases, ask.profile), grounds(&vectors, ask.profile));
    let one = |(place, (rule, kind)): (usize, (usize, Kind))| {
        if ask.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let faulty = || Faulty::<B>::new(ask.profile, rule, kind);
        let differs = |all: &[FaultStimulus<'_, B>]| {
            let mut all = all.iter().filter(|ground| ground.hits(rule));
            all.find(|ground| ground.differs(faulty())).map(|ground| ground.name.to_owned())
        };
        let noticed = cases.iter().filter(|ground| ground.hits(rule)).find_map(|ground| {
            Some((ground.noticed(faulty(), ask.profile)?, ground.name.to_owned()))
        });
        Ok(Fault {
            id: place as u32 + 1,
            rule: B::Golden::RULES[rule].name,
            kind,
            differs: differs(&cases),
            noticed,
            vector: differs(&vectors),
        })
    };
    let faults = faults::<B>(ask).into_par_iter().enumerate().map(one);
    let faults = faults.collect::<Result<Vec<Fault>, Error>>()?;
    Ok(ProfileFaults {
        profile: ask.profile.name.to_string(),
        cases: cases.len(),
        vectors: vectors.len(),
        score: FaultScore::of(&faults),
        faults,
    })
}
