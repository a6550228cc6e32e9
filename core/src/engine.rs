//! What commands see of a block: the contract without its types.
//!
//! [`Engine`] implements [`AnyBlock`] once for every [`Block`]. A command goes through one dynamic
//! call per case; everything inside a case is compiled for its block.

mod bench;
mod explain;
mod replay;
mod session;
mod shrink;
mod task;
mod vectors;

use crate::agreement::{self, Comparison, Found};
use crate::answers::Answers;
use crate::checks::Parts;
use crate::coverage::Group;
use crate::coverage::code::Point;
use crate::error::{Error, codes};
use crate::files::{LARGEST_INPUT, read_input_text};
use crate::gates::{self, Area};
use crate::harness::{
    self, Block, Case, Coverage, Explain, Golden, Outcome, Parameter, Parameters, Profile, Rule,
    Scenario, Scoreboard, Stimulus, Total, Verdict, WaiverFile, Watch,
};
use crate::models::{Built, Examined, Rtl, View, kept};
use crate::mutate::golden::{self, Graded};
use crate::mutate::judge::Judge;
use crate::mutate::{self, Death, Hunt, Mutants, Mutation, Trial, Tried};
use crate::prove::Prover;
use crate::vector::{self, Origin, Vector, VectorFile};
pub use bench::{BenchReport, Counted, Part, Speed};
pub use explain::{CycleLine, Difference, Explanation, InputLine, PortValue, Signal, Step};
pub use replay::Waves;
use schemars::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub(crate) use session::Cases;
use session::{BlockSession, Kind, LoadedModels, points};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
pub use task::{Action, Task};
pub use vectors::{LoadedVector, Replayed, ShrinkProgress, ShrunkVector};
use verilated::{BeforeReset, ModelKind};
use verilated_build::{Design, Kept};

/// The largest code that a state is looked for under.
const STATE_CODES: u64 = 0xff;

/// A block, as commands use it.
pub trait AnyBlock: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What the block does, in one line.
    fn title(&self) -> &'static str;

    /// Cases of each profile and scenario in a run that does not say how many.
    fn cases(&self) -> u64;

    /// The sets of parameters that are regressed by default.
    fn profiles(&self) -> &'static [Profile];

    /// The RTL's parameters beside the mask.
    fn parameters(&self) -> &'static [Parameter];

    /// The golden model's rules.
    fn rules(&self) -> &'static [Rule];

    /// The transitions of the block's state machine that it tells of: from, to and the rule.
    fn transitions(&self) -> Vec<(&'static str, &'static str, &'static str)>;

    /// What is covered: the rules, then what the block declares.
    fn groups(&self) -> Vec<Group>;

    /// Why no legal stimulus hits a bin with these parameters, and whether `prove` is asked for it or it is argued; bins
    /// are numbered through all groups.
    fn unreachable(&self, bin: usize, parameters: &Parameters) -> Option<String>;

    /// What the scoreboard counts.
    fn counters(&self) -> Vec<(&'static str, Total)>;

    /// Names and purposes of the built-in scenarios.
    fn scenarios(&self) -> Vec<(String, String)>;

    /// What an RTL is made of, and its identity.
    ///
    /// # Errors
    /// As [`Examined::new`].
    fn examine(&self, rtl: &Rtl) -> Result<Arc<Examined>, Error>;

    /// RTL that lacks a parameter has the behaviour of one profile.
    ///
    /// # Errors
    /// As [`Rtl::check_profiles`].
    fn check_profiles(&self, rtl: &Rtl, profiles: &[Profile]) -> Result<(), Error>;

    /// What a run needs, models not yet built.
    ///
    /// # Errors
    /// [`Error::Usage`] or [`Error::Input`] for a scenario.
    fn session(&self, setup: &Setup) -> Result<Arc<dyn Session>, Error>;

    /// Builds a model unless it was built before; does not load it.
    ///
    /// # Errors
    /// [`Error::Build`] with Verilator's or the compiler's message.
    fn build(&self, profile: &Profile, rtl: &Rtl, view: View) -> Result<Built, Error>;

    /// How large the netlist is that runs in the RTL's place, if one does.
    ///
    /// # Errors
    /// As [`gates::netlist`].
    fn area(&self, profile: &Profile, rtl: &Rtl) -> Result<Option<Area>, Error>;

    /// Who proves what the block promises of an RTL, and asks nothing that `answers` has; the reason if nothing can be
    /// asked.
    ///
    /// # Errors
    /// As [`Prover::new`].
    fn prover(
        &self,
        rtl: &Rtl,
        profile: &Profile,
        only: Option<&str>,
        answers: &Answers,
    ) -> Result<Result<Prover, String>, Error>;

    /// A vector of raw pins: for each cycle behind the one in reset the names of the bits that are 1.
    ///
    /// # Errors
    /// [`Error::VectorTooLarge`].
    fn raw_vector(
        &self,
        profile: &Profile,
        cycles: &[Vec<String>],
        before_reset: BeforeReset,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error>;

    /// Loads a model and looks at its ports; says why it is driven with two evaluations a cycle, if it is.
    /// In a worker only, as everything that loads a model.
    ///
    /// # Errors
    /// [`Error::Model`].
    fn try_load(&self, profile: &str, model: &Built) -> Result<Option<String>, Error>;

    /// What of the RTL nothing reaches, if it is said.
    fn waivers(&self) -> Option<WaiverFile>;

    /// What is counted of the code of a model that was built for it. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be loaded.
    fn points(&self, profile: &str, model: &Built) -> Result<Vec<Point>, Error>;

    /// Loads the models of a run. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded, or has other ports.
    fn open(&self, opening: &Opening) -> Result<Box<dyn Models>, Error>;

    /// Reads a vector of this block.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`].
    fn load(&self, file: &VectorFile) -> Result<Box<dyn LoadedVector>, Error>;

    /// The JSON schema of the block's vectors.
    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value;

    /// Checks of the block's own parts.
    fn parts(&self) -> Parts;

    /// The files of the built-in RTL, as (name, text).
    fn sources(&self) -> &'static [(&'static str, &'static str)];

    /// Measures the bare model and the harness on one core. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`]; [`Error::Usage`] if the model does not match.
    fn bench(&self, profile: &str, model: &Built, plain: &Built) -> Result<BenchReport, Error>;

    /// Does each part of a bench so many times in this process, with the built-in RTL, for a program that counts its
    /// instructions; the cycles of one round.
    ///
    /// # Errors
    /// As [`AnyBlock::bench`].
    fn repeat(&self, profile: &str, rounds: [u32; Counted::ALL.len()]) -> Result<u64, Error>;

    /// Chooses so many mutations of an RTL, as `seed` says.
    ///
    /// # Errors
    /// As [`Mutants::choose`].
    fn mutants(
        &self,
        rtl: &Rtl,
        profile: &Profile,
        mutations: u32,
        seed: u64,
    ) -> Result<Mutants, Error>;

    /// Builds a model with mutations; does not load it.
    ///
    /// # Errors
    /// As [`Mutants::build`].
    fn mutated(&self, mutants: &Mutants, mutations: &[Mutation]) -> Result<Built, Error>;

    /// Builds a model of a text in which bugs can be switched on, to be compiled quickly and to run some cases; does not
    /// load it.
    ///
    /// # Errors
    /// As [`Rtl::build`].
    fn woven(&self, profile: &Profile, text: &str, kept: Kept) -> Result<Built, Error>;

    /// Builds a model of a netlist in Verilog, to run a few cases; does not load it.
    ///
    /// # Errors
    /// As [`Rtl::build`].
    fn netlist_model(&self, netlist: &str) -> Result<Built, Error>;

    /// The first case or vector in which two models of an RTL differ. In a worker only.
    ///
    /// # Errors
    /// As [`agreement::compare`]; [`Error::Model`] if a model cannot be loaded.
    fn compare(
        &self,
        profile: &str,
        models: [&Built; 2],
        comparison: &Comparison,
        watch: &Watch,
    ) -> Result<Option<Found>, Error>;

    /// A judge of mutations; the reason, if this RTL cannot be judged.
    ///
    /// # Errors
    /// As [`Judge::new`].
    fn judge<'a>(
        &self,
        mutants: &'a Mutants,
        mutations: &[Mutation],
    ) -> Result<Result<Judge<'a>, String>, Error>;

    /// Grades scoreboard and corpus with faults in the golden model, on cases of these scenarios; of all, if none is named.
    ///
    /// # Errors
    /// As [`golden::grade`]; [`Error::Usage`] or [`Error::Input`] for a scenario.
    fn golden_faults(&self, ask: &golden::Ask<'_>, scenarios: &[String]) -> Result<Graded, Error>;

    /// Drives what is said to make a difference into a mutation. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        trial: &Trial,
        watch: &Watch,
    ) -> Result<Tried, Error>;

    /// Runs cases on mutations of the RTL. In a worker only.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    fn hunt(
        &self,
        profile: &str,
        model: &Built,
        hunt: &Hunt,
        watch: &Watch,
    ) -> Result<Vec<Death>, Error>;
}

/// What a run is to be done with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Profiles.
    pub profiles: Vec<Profile>,
    /// Scenarios, by name or file; all built-in ones if empty.
    pub scenarios: Vec<String>,
    /// Packets of a case; drawn for each if there is no number.
    pub packets: Option<u32>,
    /// The RTL.
    pub rtl: Rtl,
    /// Whether it is counted what of its code cases reach.
    pub coverage: bool,
}

/// What a run consists of: its scenarios, profiles and RTL.
pub trait Session: Send + Sync {
    /// Names of the scenarios, in the order of [`Case::scenario`].
    fn scenarios(&self) -> Vec<String>;

    /// Packets of a case.
    fn length(&self, case: &Case) -> u32;

    /// The vector of a case.
    ///
    /// # Errors
    /// [`Error::VectorTooLarge`].
    fn vector(
        &self,
        case: &Case,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error>;

    /// The scenarios, as a worker reads them.
    ///
    /// # Errors
    /// [`Error::Environment`].
    fn scenarios_text(&self) -> Result<String, Error>;

    /// Builds the models; gives what a worker needs to run cases.
    ///
    /// # Errors
    /// As [`AnyBlock::build`].
    fn opening(&self) -> Result<Opening, Error>;
}

/// What the cases of a run have in common, for a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// The block.
    pub block: String,
    /// Names of the profiles, with their models.
    pub models: Vec<(String, Built)>,
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// Packets of a case, if they are not drawn.
    pub packets: Option<u32>,
}

impl Opening {
    /// Whether a program simulates a model of it, which a worker has to start.
    pub fn is_simulated(&self) -> bool {
        self.models.iter().any(|(_, model)| model.is_simulated())
    }
}

/// Loaded models of a run.
pub trait Models: Send {
    /// Runs one case; `watch` sees how far it is. A match of a case whose golden side was judged before may come without
    /// hits and counters.
    fn run(&self, case: &Case, is_judged: bool, watch: &Watch) -> Outcome;
}

/// The implementation of [`AnyBlock`] for a block.
#[derive(Debug, Clone, Copy)]
pub struct Engine<B>(PhantomData<fn() -> B>);

impl<B> Engine<B> {
    /// The engine; it has no state.
    pub const NEW: Self = Self(PhantomData);
}

impl<B: Explain> AnyBlock for Engine<B> {
    fn name(&self) -> &'static str {
        B::NAME
    }

    fn title(&self) -> &'static str {
        B::TITLE
    }

    fn cases(&self) -> u64 {
        B::CASES
    }

    fn profiles(&self) -> &'static [Profile] {
        B::PROFILES
    }

    fn parameters(&self) -> &'static [Parameter] {
        B::PARAMETERS
    }

    fn rules(&self) -> &'static [Rule] {
        B::Golden::RULES
    }

    fn transitions(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let states: Vec<&str> = (0..=STATE_CODES).filter_map(B::state_name).collect();
        let pairs = states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to)));
        let rules =
            |(from, to)| B::rules_between(from, to).into_iter().map(move |rule| (from, to, rule));
        pairs.flat_map(rules).collect()
    }

    fn groups(&self) -> Vec<Group> {
        let declared = B::Coverage::GROUPS.iter().map(Group::of);
        std::iter::once(Group::of_rules(B::Golden::RULES)).chain(declared).collect()
    }

    fn unreachable(&self, bin: usize, parameters: &Parameters) -> Option<String> {
        let reason = harness::unreachable::<B>(bin, parameters)?;
        let rule = B::Golden::RULES.get(bin).map(|rule| rule.name);
        // What `prove` asks of such a rule is that it never applies.
        let is_asked = rule
            .is_some_and(|rule| B::promises(parameters).rules.iter().any(|says| says.rule == rule));
        let how = if is_asked { "proof: `cosim prove`" } else { "argued" };
        Some(format!("{reason} ({how})"))
    }

    fn counters(&self) -> Vec<(&'static str, Total)> {
        let counters = B::Scoreboard::<'static>::counters();
        counters.iter().map(|counter| (counter.name, counter.total)).collect()
    }

    fn scenarios(&self) -> Vec<(String, String)> {
        B::scenarios().into_iter().map(|scenario| (scenario.name, scenario.about)).collect()
    }

    fn examine(&self, rtl: &Rtl) -> Result<Arc<Examined>, Error> {
        rtl.examined::<B>()
    }

    fn check_profiles(&self, rtl: &Rtl, profiles: &[Profile]) -> Result<(), Error> {
        rtl.check_profiles::<B>(profiles)
    }

    fn session(&self, setup: &Setup) -> Result<Arc<dyn Session>, Error> {
        let scenarios = scenarios::<B>(&setup.scenarios)?;
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        if let Some(twice) = (1..names.len()).find(|index| names[..*index].contains(&names[*index]))
        {
            let name = names[twice];
            return Err(Error::Usage(
                codes::BAD_SCENARIO,
                format!(
                    "--scenario: two are named `{name}`, and so would be their cases; give one a name of its own"
                ),
            ));
        }
        setup.rtl.check_profiles::<B>(&setup.profiles)?;
        let Setup { profiles, packets, rtl, coverage, .. } = setup.clone();
        let view = if coverage { View::Covered } else { View::Bare };
        let cases = Cases { scenarios, profiles, packets };
        Ok(Arc::new(BlockSession::<B> { cases, rtl, view }))
    }

    fn build(&self, profile: &Profile, rtl: &Rtl, view: View) -> Result<Built, Error> {
        rtl.build_for_user::<B>(&profile.parameters, view)
    }

    fn area(&self, profile: &Profile, rtl: &Rtl) -> Result<Option<Area>, Error> {
        if !rtl.netlist {
            return Ok(None);
        }
        let examined = rtl.examined::<B>()?;
        Ok(Some(gates::netlist::<B>(&examined, &profile.parameters, &kept()?)?.area))
    }

    fn prover(
        &self,
        rtl: &Rtl,
        profile: &Profile,
        only: Option<&str>,
        answers: &Answers,
    ) -> Result<Result<Prover, String>, Error> {
        Prover::new::<B>(&*rtl.examined::<B>()?, &profile.parameters, only, answers)
    }

    fn raw_vector(
        &self,
        profile: &Profile,
        cycles: &[Vec<String>],
        before_reset: BeforeReset,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error> {
        let cycles = cycles.iter().map(|bits| mutate::pins::<B>(bits)).collect();
        let stimulus = Stimulus::<B>::cycles(cycles).with_before_reset(before_reset);
        Vector::new(profile, origin, stimulus, recorded.cloned()).to_text()
    }

    fn try_load(&self, profile: &str, model: &Built) -> Result<Option<String>, Error> {
        match model {
            Built::Icarus(_) => Ok(None),
            model => load::<B>(profile, model).map(|(_, kind)| kind.two_evaluations()),
        }
    }

    fn waivers(&self) -> Option<WaiverFile> {
        B::Coverage::WAIVERS
    }

    fn points(&self, profile: &str, model: &Built) -> Result<Vec<Point>, Error> {
        let (_, mut kind) = load::<B>(profile, model)?;
        Ok(points::<B>(&mut kind)?.all)
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Models>, Error> {
        let scenarios = serde_json::from_str(&opening.scenarios).map_err(|error| {
            Error::Environment(codes::WORKER_FAILED, format!("scenarios: {error}"))
        })?;
        let models = opening.models.iter();
        let profiles =
            models.clone().map(|(name, _)| profile::<B>(name)).collect::<Result<_, Error>>()?;
        let kind = |(name, model): &(String, Built)| match model {
            Built::Icarus(compiled) => Ok(Kind::Icarus(compiled.clone())),
            model => {
                let (_, mut kind) = load::<B>(name, model)?;
                if !kind.covers() {
                    return Ok(Kind::Model(kind));
                }
                let points = points::<B>(&mut kind)?;
                Ok(Kind::Covered(kind, points))
            }
        };
        let kinds = models.map(kind).collect::<Result<_, Error>>()?;
        let packets = opening.packets;
        Ok(Box::new(LoadedModels::<B> { cases: Cases { scenarios, profiles, packets }, kinds }))
    }

    fn load(&self, file: &VectorFile) -> Result<Box<dyn LoadedVector>, Error> {
        Ok(Box::new(vectors::Loaded::<B>::new(file)?))
    }

    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value {
        vector::schema::<B>(generator)
    }

    fn parts(&self) -> Parts {
        Parts::of::<B>()
    }

    fn sources(&self) -> &'static [(&'static str, &'static str)] {
        B::RTL.sources
    }

    fn bench(&self, profile: &str, model: &Built, plain: &Built) -> Result<BenchReport, Error> {
        let (profile, kind) = load::<B>(profile, model)?;
        bench::run::<B>(&profile, kind, plain.load::<B>(&profile.parameters)?)
    }

    fn repeat(&self, profile: &str, rounds: [u32; Counted::ALL.len()]) -> Result<u64, Error> {
        let (profile, kind) = load::<B>(profile, &Built::Linked)?;
        bench::repeat::<B>(&profile, &kind, rounds)
    }

    fn mutants(
        &self,
        rtl: &Rtl,
        profile: &Profile,
        mutations: u32,
        seed: u64,
    ) -> Result<Mutants, Error> {
        Mutants::choose::<B>(rtl, &profile.parameters, mutations, seed)
    }

    fn mutated(&self, mutants: &Mutants, mutations: &[Mutation]) -> Result<Built, Error> {
        mutants.build::<B>(mutations)
    }

    fn woven(&self, profile: &Profile, text: &str, kept: Kept) -> Result<Built, Error> {
        let parameters = profile.parameters.verilog(B::RTL.mask_parameter);
        let design = Design { parameters, quick: true, ..Design::default() };
        mutate::selectable::<B>(text, design, kept)
    }

    fn netlist_model(&self, netlist: &str) -> Result<Built, Error> {
        mutate::selectable::<B>(netlist, Design { quick: true, ..Design::default() }, kept()?)
    }

    fn compare(
        &self,
        profile: &str,
        [rtl, netlist]: [&Built; 2],
        comparison: &Comparison,
        watch: &Watch,
    ) -> Result<Option<Found>, Error> {
        let (profile, rtl) = watch.model(|| load::<B>(profile, rtl))?;
        let netlist = watch.model(|| netlist.load::<B>(&profile.parameters))?;
        agreement::compare::<B>(comparison, &profile, &rtl, netlist, watch)
    }

    fn judge<'a>(
        &self,
        mutants: &'a Mutants,
        mutations: &[Mutation],
    ) -> Result<Result<Judge<'a>, String>, Error> {
        Judge::new::<B>(&mutants.workshop, &mutants.parameters, mutations)
    }

    fn golden_faults(&self, ask: &golden::Ask<'_>, scenarios: &[String]) -> Result<Graded, Error> {
        golden::grade::<B>(ask, self::scenarios::<B>(scenarios)?)
    }

    fn attempt(
        &self,
        profile: &str,
        model: &Built,
        trial: &Trial,
        watch: &Watch,
    ) -> Result<Tried, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        mutate::attempt::<B>(trial, &profile, &kind, watch)
    }

    fn hunt(
        &self,
        profile: &str,
        model: &Built,
        hunt: &Hunt,
        watch: &Watch,
    ) -> Result<Vec<Death>, Error> {
        let (profile, kind) = watch.model(|| load::<B>(profile, model))?;
        mutate::hunt::<B>(hunt, profile, &kind, watch)
    }
}

/// The profile of a name.
fn profile<B: Block>(name: &str) -> Result<Profile, Error> {
    let found = Profile::parse(name, B::PROFILES);
    let found = found.map_err(|error| Error::Usage(codes::UNKNOWN_PROFILE, error.to_string()))?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| Error::Usage(codes::UNKNOWN_PROFILE, format!("`{name}` is no profile")))
}

/// A profile of a name, and its model.
fn load<B: Block>(name: &str, model: &Built) -> Result<ProfileModel<B>, Error> {
    let profile = profile::<B>(name)?;
    let kind = model.load::<B>(&profile.parameters)?;
    Ok((profile, kind))
}

/// The scenarios of these names, or in these files; the built-in ones if there are none.
fn scenarios<B: Block>(names: &[String]) -> Result<Vec<Scenario<B::Weights>>, Error> {
    match names {
        [] => Ok(B::scenarios()),
        names => names.iter().map(|name| scenario::<B>(name)).collect(),
    }
}

/// The scenario of a name, or the one in a file.
fn scenario<B: Block>(name: &str) -> Result<Scenario<B::Weights>, Error> {
    let built_in = B::scenarios();
    if let Some(scenario) = built_in.iter().find(|scenario| scenario.name == name) {
        return Ok(scenario.clone());
    }
    let path = Path::new(name);
    if !path.is_file() {
        let names: Vec<&str> = built_in.iter().map(|scenario| scenario.name.as_str()).collect();
        return Err(Error::Usage(
            codes::UNKNOWN_SCENARIO,
            format!(
                "block {} has no scenario `{name}`, and no file has this path; expected {}",
                B::NAME,
                names.join(", ")
            ),
        ));
    }
    let text = read_input_text(path, LARGEST_INPUT)?;
    let scenario: Scenario<B::Weights> =
        serde_json::from_str(&text).map_err(|error| Error::json(path, &error))?;
    let simple = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if scenario.name.is_empty() || !scenario.name.chars().all(simple) {
        let message = format!(
            "the scenario's name `{}` must consist of letters, digits, - and _",
            scenario.name
        );
        return Err(Error::File { code: codes::BAD_SCENARIO, path: path.to_owned(), message });
    }
    Ok(scenario)
}

/// A profile and its model.
type ProfileModel<B> = (Profile, ModelKind<<B as Block>::Inputs, <B as Block>::Outputs>);
