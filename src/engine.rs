//! What commands see of a block: the contract without its types.
//!
//! [`Engine`] implements [`AnyBlock`] once for every [`Block`]. A command goes through one dynamic
//! call per case; everything inside a case is compiled for its block.

mod bench;
mod explain;
mod replay;
mod shrink;
mod vectors;

use crate::error::Error;
use crate::harness::{
    self, Block, Case, Outcome, Parameter, Parameters, Profile, Rule, Scenario, Stimulus, Verdict,
    Watch,
};
use crate::models::{Examined, Rtl};
use crate::vector::{self, Origin, Vector, VectorFile};
pub use bench::BenchReport;
pub use explain::{CycleLine, Difference, Explanation, Step};
use rayon::prelude::*;
pub use replay::Waves;
use schemars::SchemaGenerator;
use serde_json::Value;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use vectors::Reporter;
pub use vectors::{LoadedVector, Replayed, ShrinkProgress, ShrunkVector};
use verilated::ModelKind;

/// A block, as commands use it.
pub trait AnyBlock: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What the block does, in one line.
    fn title(&self) -> &'static str;

    /// The sets of parameters that are regressed by default.
    fn profiles(&self) -> &'static [Profile];

    /// The RTL's parameters beside the mask.
    fn parameters(&self) -> &'static [Parameter];

    /// The golden model's rules.
    fn rules(&self) -> &'static [Rule];

    /// Why no legal stimulus hits a rule with these parameters.
    fn unreachable(&self, rule: usize, parameters: &Parameters) -> Option<String>;

    /// What the scoreboard counts.
    fn counters(&self) -> &'static [&'static str];

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

    /// Builds or loads what a run needs.
    ///
    /// # Errors
    /// [`Error::Usage`] or [`Error::Input`] for a scenario, [`Error::Build`] or [`Error::Model`] for
    /// the RTL.
    fn session(&self, setup: &Setup) -> Result<Arc<dyn Session>, Error>;

    /// Reads a vector of this block.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`].
    fn load(&self, file: &VectorFile) -> Result<Box<dyn LoadedVector>, Error>;

    /// The JSON schema of the block's vectors.
    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value;

    /// Measures the bare model and the harness on one core.
    ///
    /// # Errors
    /// As [`AnyBlock::session`].
    fn bench(&self, profile: &Profile, rtl: &Rtl) -> Result<BenchReport, Error>;
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
}

/// A run that is ready to go.
pub trait Session: Send + Sync {
    /// Names of the scenarios, in the order of [`Case::scenario`].
    fn scenarios(&self) -> Vec<String>;

    /// Runs one case; `watch` can end it early.
    fn run(&self, case: &Case, watch: &Watch) -> Outcome;

    /// The vector of a case.
    ///
    /// # Errors
    /// [`Error::Environment`]; there is no stimulus that has no JSON.
    fn vector(
        &self,
        case: &Case,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error>;

    /// The vector of a failing case, shrunk with at most `budget` cycles; if it is cancelled, with as
    /// many as there were until then. `progress` is told of the smallest vector so far.
    ///
    /// # Errors
    /// As [`Session::vector`].
    fn shrunk(
        &self,
        case: &Case,
        outcome: &Outcome,
        origin: Origin,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error>;
}

/// The implementation of [`AnyBlock`] for a block.
#[derive(Debug, Clone, Copy)]
pub struct Engine<B>(PhantomData<fn() -> B>);

impl<B> Engine<B> {
    /// The engine; it has no state.
    pub const NEW: Self = Self(PhantomData);
}

impl<B: Block> AnyBlock for Engine<B> {
    fn name(&self) -> &'static str {
        B::NAME
    }

    fn title(&self) -> &'static str {
        B::TITLE
    }

    fn profiles(&self) -> &'static [Profile] {
        B::PROFILES
    }

    fn parameters(&self) -> &'static [Parameter] {
        B::PARAMETERS
    }

    fn rules(&self) -> &'static [Rule] {
        B::RULES
    }

    fn unreachable(&self, rule: usize, parameters: &Parameters) -> Option<String> {
        B::unreachable(rule, parameters)
    }

    fn counters(&self) -> &'static [&'static str] {
        B::COUNTERS
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
        let scenarios: Vec<Scenario<B::Weights>> = if setup.scenarios.is_empty() {
            B::scenarios()
        } else {
            setup.scenarios.iter().map(|name| scenario::<B>(name)).collect::<Result<_, _>>()?
        };
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        if let Some(twice) = (1..names.len()).find(|index| names[..*index].contains(&names[*index]))
        {
            let name = names[twice];
            return Err(Error::Usage(format!(
                "--scenario: two are named `{name}`, and so would be their cases; give one a name of its own"
            )));
        }
        setup.rtl.check_profiles::<B>(&setup.profiles)?;
        // In parallel: a model that is not linked in is compiled now.
        let models = setup
            .profiles
            .par_iter()
            .map(|profile| Ok((profile.clone(), setup.rtl.model::<B>(&profile.parameters)?)))
            .collect::<Result<_, Error>>()?;
        Ok(Arc::new(BlockSession::<B> { scenarios, models, packets: setup.packets }))
    }

    fn load(&self, file: &VectorFile) -> Result<Box<dyn LoadedVector>, Error> {
        Ok(Box::new(vectors::Loaded::<B>::new(file)?))
    }

    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value {
        vector::schema::<B>(generator)
    }

    fn bench(&self, profile: &Profile, rtl: &Rtl) -> Result<BenchReport, Error> {
        bench::run::<B>(profile, rtl.model::<B>(&profile.parameters)?)
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
        return Err(Error::Usage(format!(
            "`{name}` is no scenario of {}, and no file: expected {}",
            B::NAME,
            names.join(", ")
        )));
    }
    let text = fs::read_to_string(path).map_err(|error| Error::unreadable(path, &error))?;
    let scenario: Scenario<B::Weights> =
        serde_json::from_str(&text).map_err(|error| Error::json(path, &error))?;
    let simple = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if scenario.name.is_empty() || !scenario.name.chars().all(simple) {
        let message = format!(
            "the scenario's name `{}` must consist of letters, digits, - and _",
            scenario.name
        );
        return Err(Error::File { path: path.to_owned(), message });
    }
    Ok(scenario)
}

/// A profile and its model.
type ProfileModel<B> = (Profile, ModelKind<<B as Block>::Inputs, <B as Block>::Outputs>);

struct BlockSession<B: Block> {
    scenarios: Vec<Scenario<B::Weights>>,
    /// Each profile and its model.
    models: Vec<ProfileModel<B>>,
    packets: Option<u32>,
}

impl<B: Block> Session for BlockSession<B> {
    fn scenarios(&self) -> Vec<String> {
        self.scenarios.iter().map(|scenario| scenario.name.clone()).collect()
    }

    fn run(&self, case: &Case, watch: &Watch) -> Outcome {
        let (profile, kind) = &self.models[case.profile];
        let stimulus = self.stimulus(case);
        match kind.create(stimulus.before_reset) {
            Ok(mut model) => harness::run::<B>(&stimulus, &profile.parameters, &mut model, watch),
            Err(error) => Outcome::crashed(None, error.to_string(), B::RULES.len()),
        }
    }

    fn vector(
        &self,
        case: &Case,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error> {
        let profile = &self.models[case.profile].0;
        Vector::<B>::new(profile, origin, self.stimulus(case), recorded.cloned()).to_text()
    }

    fn shrunk(
        &self,
        case: &Case,
        outcome: &Outcome,
        origin: Origin,
        budget: u64,
        watch: &Watch,
        progress: &mut dyn ShrinkProgress,
    ) -> Result<ShrunkVector, Error> {
        let (profile, kind) = &self.models[case.profile];
        let stimulus = self.stimulus(case);
        let mut reporter = Reporter { profile, origin: &origin, before: outcome, progress };
        let shrunk = shrink::shrink(
            stimulus,
            outcome,
            &profile.parameters,
            kind,
            budget,
            watch,
            &mut reporter,
        )?;
        ShrunkVector::new(profile, origin, outcome, shrunk)
    }
}

impl<B: Block> BlockSession<B> {
    fn stimulus(&self, case: &Case) -> Stimulus<B> {
        let weights = &self.scenarios[case.scenario].weights;
        let parameters = &self.models[case.profile].0.parameters;
        let packets = self.packets.unwrap_or_else(|| case.packets());
        B::generate(weights, parameters, packets, &mut case.rng())
            .with_before_reset(case.before_reset())
    }
}

impl Outcome {
    /// The outcome of a case in which nothing could be compared.
    pub fn crashed(cycle: Option<u64>, message: String, rules: usize) -> Self {
        Self {
            verdict: Verdict::Crashed { cycle, message },
            cycles: 0,
            packets: 0,
            hits: vec![0; rules],
            counters: Vec::new(),
        }
    }
}
