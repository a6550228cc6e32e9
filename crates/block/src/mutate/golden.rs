//! Injects faults into the golden model, to grade the scoreboard and the corpus.
//!
//! A comparison finds faults of the RTL, but not those of the golden model. Each fault belongs to
//! one rule and acts only where the rule applies: it skips the register update, inverts an input
//! bit, or inverts an output bit. Together, the faults of a rule break its effect, its guard and
//! its constants.

use super::kill::place;
use crate::driven::check_cycle_exact;
use crate::engine::Cases;
use crate::vector::{VectorFile, stimuli_of};
use cosim_base::error::Error;
use cosim_base::parallel;
use cosim_base::text::percent;
use cosim_harness::harness::{
    Block, BlockInfo, Case, CaseRng, Drive, Dut, Explain, Golden, Outcome, Parameters, Profile,
    Recording, Stimulus, Verdict, Watch, case_seed, follow, power_up_inputs, unreachable,
};
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use verilated::{Error as ModelError, Pins, Port};

/// Cycle limit of a faulty golden model: a multiple of the correct model's cycles, plus a constant.
const CYCLES: (u64, u64) = (2, 1_000);
/// The name of threads that run a faulty golden model and may panic. The panic hook is silent for
/// it.
const THREAD: &str = "case-golden";
/// The check that detects a fault if the golden model panics.
const PANICS: &str = "panic";

/// Parameters of the grading.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FaultRequest {
    /// The name of the profile.
    pub profile: String,
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
    /// The vectors to grade.
    pub corpus: Vec<VectorFile>,
    /// Maximum number of faults.
    pub faults: u32,
    /// Seed for choosing faults.
    pub seed: u64,
    /// Number of threads; at least 1.
    pub threads: usize,
}

/// The effect of a fault where its rule applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Kind {
    /// Registers and state keep their values.
    Skips,
    /// An input bit is inverted.
    Misreads {
        /// The input.
        port: Cow<'static, str>,
        /// The bit.
        bit: u32,
    },
    /// An output bit is inverted.
    Drives {
        /// The output.
        port: Cow<'static, str>,
        /// The bit.
        bit: u32,
    },
}

/// A fault, and what detected it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its number, from 1.
    pub id: u32,
    /// The rule where it acts.
    pub rule: String,
    /// Its effect.
    #[serde(flatten)]
    pub kind: Kind,
    /// The first case in which an output differs, if any.
    pub differs: Option<String>,
    /// The check that detects it, and the first case where it does.
    pub noticed: Option<(String, String)>,
    /// The first vector that fails.
    pub vector: Option<String>,
}

/// The faults of a profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProfileFaults {
    /// The profile.
    pub profile: String,
    /// Number of cases run.
    pub cases: usize,
    /// Number of vectors run.
    pub vectors: usize,
    /// Counts of faults.
    pub score: FaultScore,
    /// Every fault.
    pub faults: Vec<Fault>,
}

/// Counts of faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultScore {
    /// All faults.
    pub faults: u64,
    /// Faults that change an output in some case or vector, or that a check detects.
    pub seen: u64,
    /// Of `seen`: faults that the scoreboard detects without a comparison.
    pub checks: u64,
    /// Of `seen`: faults that the corpus detects.
    pub corpus: u64,
    /// Of `seen`: faults that the scoreboard or the corpus detects.
    pub either: u64,
    /// `either` in percent of `seen`.
    pub percent: f64,
}

impl Fault {
    /// A description of the fault.
    pub fn words(&self) -> String {
        let rule = &self.rule;
        match &self.kind {
            Kind::Skips => format!("{rule} stores nothing"),
            Kind::Misreads { port, bit } => format!("{rule} misreads {port}[{bit}]"),
            Kind::Drives { port, bit } => format!("{rule} drives {port}[{bit}] wrong"),
        }
    }

    /// Whether the scoreboard or the corpus detects it.
    pub fn is_noticed(&self) -> bool {
        self.noticed.is_some() || self.vector.is_some()
    }

    /// Whether it changes an output, or is detected.
    pub fn is_seen(&self) -> bool {
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

/// A golden model with a fault, used as a DUT.
struct Faulty<'k, B: Block> {
    golden: B::Golden,
    rule: usize,
    kind: &'k Kind,
    inputs: B::Inputs,
}

/// Copies `pins` with one bit of a port inverted.
fn inverted<P: Pins>(pins: &P, port: &str, bit: u32) -> P {
    let mut bytes = pins.as_bytes().to_vec();
    if let Some((byte, mask)) = place(P::PORTS, port, bit) {
        bytes[byte] ^= mask;
    }
    P::of_bytes(&bytes)
}

impl<'k, B: Block> Faulty<'k, B> {
    fn new(parameters: &Parameters, rule: usize, kind: &'k Kind) -> Self {
        Self { golden: B::Golden::new(parameters), rule, kind, inputs: B::Inputs::new_zeroed() }
    }

    /// Whether the rule applies in the current cycle.
    fn applies(&self, inputs: &B::Inputs) -> bool {
        self.golden.clone().edge(inputs).iter().any(|rule| rule == self.rule)
    }

    /// The inputs that the faulty model reads.
    fn read(&self, inputs: &B::Inputs) -> B::Inputs {
        match self.kind {
            Kind::Misreads { port, bit } if self.applies(inputs) => inverted(inputs, port, *bit),
            _ => *inputs,
        }
    }
}

impl<B: Block> Dut<B> for Faulty<'_, B> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), ModelError> {
        self.golden.show(&self.read(inputs), outputs);
        if let Kind::Drives { port, bit } = self.kind
            && self.applies(inputs)
        {
            *outputs = inverted(outputs, port, *bit);
        }
        self.inputs = *inputs;
        Ok(())
    }

    fn edge(&mut self) -> Result<(), ModelError> {
        let inputs = self.inputs;
        if *self.kind != Kind::Skips || !self.applies(&inputs) {
            let read = self.read(&inputs);
            self.golden.edge(&read);
        }
        Ok(())
    }
}

/// The faults of a profile, or a random selection if the request limits their number.
fn faults(
    info: &BlockInfo,
    request: &FaultRequest,
    unreachable: &BTreeMap<usize, String>,
) -> Vec<(usize, Kind)> {
    let mut rng = CaseRng::seed_from_u64(case_seed(request.seed, "faults of the golden model"));
    let reset = info.reset.map(|pin| pin.name_and_level().0);
    let mut all = Vec::new();
    for rule in (0..info.rules.len()).filter(|rule| !unreachable.contains_key(rule)) {
        all.push((rule, Kind::Skips));
        let mut bit = |port: &Port| rng.random_range(0..port.width);
        for port in info.inputs.iter().filter(|port| Some(port.name) != reset) {
            all.push((rule, Kind::Misreads { port: port.name.into(), bit: bit(port) }));
        }
        for port in info.outputs {
            all.push((rule, Kind::Drives { port: port.name.into(), bit: bit(port) }));
        }
    }
    let amount = all.len().min(request.faults as usize);
    let mut chosen = index::sample(&mut rng, all.len(), amount).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|place| all[place].clone()).collect()
}

/// A stimulus without the types of its block.
trait FaultStimulus: Send + Sync {
    /// Runs the golden model.
    fn record(&self, parameters: &Parameters) -> Box<dyn FaultRecording + '_>;
}

/// The golden model's recording of a stimulus, to run the model with a fault on it.
trait FaultRecording: Send + Sync {
    /// How the golden model ended.
    fn outcome(&self) -> &Outcome;

    /// Whether an output differs from the golden model's in any cycle.
    fn differs(&self, rule: usize, kind: &Kind) -> bool;

    /// The check that detects the fault without a comparison.
    fn noticed(&self, rule: usize, kind: &Kind) -> Option<String>;
}

/// A stimulus with its name.
type NamedStimulus = (String, Box<dyn FaultStimulus>);

/// A recording with the name of its stimulus.
type NamedRecording<'s> = (&'s str, Box<dyn FaultRecording + 's>);

impl<B: Block> FaultStimulus for Stimulus<B> {
    fn record(&self, parameters: &Parameters) -> Box<dyn FaultRecording + '_> {
        Box::new(Recording::new(self, parameters))
    }
}

impl<B: Block> FaultRecording for Recording<'_, B> {
    fn outcome(&self) -> &Outcome {
        self.outcome()
    }

    fn differs(&self, rule: usize, kind: &Kind) -> bool {
        let mut faulty = Faulty::<B>::new(&self.parameters, rule, kind);
        let mut outputs = B::Outputs::new_zeroed();
        let _ = faulty.settle(&power_up_inputs::<B>(), &mut outputs);
        let open = self.open();
        let cycles = self.inputs().iter().zip(self.expected());
        cycles.enumerate().any(|(cycle, (inputs, expected))| {
            let _ = faulty.settle(inputs, &mut outputs);
            if let Some(open) = open {
                outputs = outputs.select(expected, &open[cycle]);
            }
            let differs = outputs.as_bytes() != expected.as_bytes();
            let _ = faulty.edge();
            differs
        })
    }

    fn noticed(&self, rule: usize, kind: &Kind) -> Option<String> {
        let Drive::Traffic(traffic) = &self.stimulus.drive else { return None };
        let most = CYCLES.0 * self.outcome().cycles + CYCLES.1;
        let mut faulty = Faulty::<B>::new(&self.parameters, rule, kind);
        let watch = Watch::default();
        let followed = follow(traffic, &self.parameters, &mut faulty, most, &watch);
        followed?.0.map(|breach| breach.violation.check)
    }
}

/// Records the golden model on each stimulus, and keeps the ones without failure.
fn recordings<'s>(
    threads: usize,
    all: &'s [NamedStimulus],
    profile: &Profile,
    watch: &Watch,
) -> Vec<NamedRecording<'s>> {
    let all: Vec<&'s NamedStimulus> = all.iter().collect();
    let recordings = parallel::map_on(threads, THREAD, &all, |(name, stimulus)| {
        (name.as_str(), watch.during(|| stimulus.record(&profile.parameters)))
    });
    let ends_well =
        |(_, recording): &NamedRecording<'_>| recording.outcome().verdict == Verdict::Match;
    recordings.into_iter().filter(ends_well).collect()
}

/// The cases, drawn, and the vectors of the profile.
fn stimuli<B: Block>(
    request: &FaultRequest,
    profile: &Profile,
) -> Result<[Vec<NamedStimulus>; 2], Error> {
    let cases = Cases::<B>::read(&request.scenarios, vec![profile.clone()], request.packets)?;
    let [mut drawn, mut vectors]: [Vec<NamedStimulus>; 2] = Default::default();
    for case in &request.cases {
        drawn.push((case.name.clone(), Box::new(cases.stimulus(case))));
    }
    for (name, stimulus) in stimuli_of::<B>(&request.corpus, profile)? {
        vectors.push((name, Box::new(stimulus)));
    }
    Ok([drawn, vectors])
}

/// Grades the scoreboard and corpus of a profile.
///
/// # Errors
/// [`Error::Interrupted`], or an error in a vector.
pub fn grade<B: Explain>(
    request: &FaultRequest,
    profile: &Profile,
    watch: &Watch,
) -> Result<ProfileFaults, Error> {
    check_cycle_exact(B::NAME, B::TRANSACTION_OUTPUTS, "mutation analysis of the golden model")?;
    let stimuli = stimuli::<B>(request, profile)?;
    let unreachable = unreachable::<B>(&profile.parameters);
    graded(BlockInfo::of::<B>(), request, &stimuli, &unreachable, profile, watch)
}

fn graded(
    info: &BlockInfo,
    request: &FaultRequest,
    stimuli: &[Vec<NamedStimulus>; 2],
    unreachable: &BTreeMap<usize, String>,
    profile: &Profile,
    watch: &Watch,
) -> Result<ProfileFaults, Error> {
    let threads = request.threads;
    let cases = recordings(threads, &stimuli[0], profile, watch);
    let vectors = recordings(threads, &stimuli[1], profile, watch);
    let one = |(place, (rule, kind)): &(usize, (usize, Kind))| {
        let rule = *rule;
        if watch.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let hits =
            move |(_, recording): &&NamedRecording<'_>| recording.outcome().hits.count(rule) > 0;
        let differs = |all: &[NamedRecording<'_>]| {
            let differs = |(_, recording): &&NamedRecording<'_>| {
                let run = || recording.differs(rule, kind);
                catch_unwind(AssertUnwindSafe(run)).unwrap_or(true)
            };
            all.iter().filter(hits).find(differs).map(|(name, _)| (*name).to_owned())
        };
        let noticed = cases.iter().filter(hits).find_map(|(name, recording)| {
            let run = || recording.noticed(rule, kind);
            let check = catch_unwind(AssertUnwindSafe(run));
            Some((check.unwrap_or_else(|_| Some(PANICS.to_owned()))?, (*name).to_owned()))
        });
        Ok(Fault {
            id: *place as u32 + 1,
            rule: info.rules[rule].name.to_owned(),
            differs: differs(&cases),
            noticed,
            vector: differs(&vectors),
            kind: kind.clone(),
        })
    };
    let faults: Vec<_> = faults(info, request, unreachable).into_iter().enumerate().collect();
    let faults = parallel::map_on(threads, THREAD, &faults, |fault| watch.during(|| one(fault)));
    let faults = faults.into_iter().collect::<Result<Vec<Fault>, Error>>()?;
    Ok(ProfileFaults {
        profile: profile.name.to_string(),
        cases: cases.len(),
        vectors: vectors.len(),
        score: FaultScore::of(&faults),
        faults,
    })
}
