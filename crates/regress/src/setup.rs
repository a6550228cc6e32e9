//! The scenarios, profiles and RTL of a run, without the types of its block.

use crate::blocks::BlockHandle;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_base::text;
use cosim_block::engine::{CaseVector, Query, SessionSetup};
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_block::vector::Origin;
use cosim_formats::run::Plan;
use cosim_harness::harness::{BlockInfo, Case, LONGEST, LongCases, Profile, Verdict};
use cosim_rtl::backend::{RtlModels as _, View};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fmt::{self, Debug};
use std::ops::Range;
use std::path::Path;

/// Packets of all cases up to which a model is not worth the time that it takes to optimise it, and
/// those of a case for which nobody chose them.
const FEW: u64 = 400_000;
const USUAL: u64 = 100;

#[derive(Debug, Clone)]
pub struct Setup {
    pub profiles: Vec<Profile>,
    /// Scenarios, by name or file. Empty selects all built-in ones.
    pub scenarios: Vec<String>,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
    pub rtl: Rtl,
    pub coverage: bool,
}

impl Setup {
    /// One profile with all built-in scenarios, without code coverage.
    pub fn from_profile(profile: &Profile, rtl: Rtl) -> Self {
        let (profiles, scenarios) = (vec![profile.clone()], Vec::new());
        Self { profiles, scenarios, packets: None, rtl, coverage: false }
    }
}

/// The scenarios, profiles and RTL of a run.
pub struct Session {
    block: &'static BlockHandle,
    setup: Setup,
    scenarios: Vec<SessionScenario>,
}

#[derive(Debug)]
struct SessionScenario {
    name: String,
    long: Option<LongCases>,
    /// The whole scenario, as JSON.
    text: String,
}

/// What a session reads of a scenario.
#[derive(Deserialize)]
struct ScenarioHead {
    name: String,
    #[serde(rename = "about")]
    _about: IgnoredAny,
    #[serde(rename = "weights")]
    _weights: IgnoredAny,
    #[serde(default)]
    long: Option<LongCases>,
}

impl Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("block", &self.block.info().name)
            .field("setup", &self.setup)
            .field("scenarios", &self.scenarios)
            .finish()
    }
}

impl Session {
    /// Reads the scenarios of a run. Builds no models yet.
    ///
    /// # Errors
    /// [`Error::Usage`] or [`Error::Input`] for a scenario. As [`Rtl::check_profiles`].
    pub fn new(block: &'static BlockHandle, setup: &Setup) -> Result<Self, Error> {
        let info = block.info();
        let texts: Vec<String> = match setup.scenarios.as_slice() {
            [] => info.scenarios.iter().map(|scenario| scenario.text.clone()).collect(),
            names => {
                names.iter().map(|name| scenario(block, name)).collect::<Result<_, Error>>()?
            }
        };
        let scenarios: Vec<SessionScenario> = texts
            .into_iter()
            .map(|text| {
                let ScenarioHead { name, long, .. } = parsed(&text)?;
                Ok(SessionScenario { name, long, text })
            })
            .collect::<Result<_, Error>>()?;
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        if let Some(twice) = (1..names.len()).find(|index| names[..*index].contains(&names[*index]))
        {
            let name = names[twice];
            return Err(Error::Usage(
                codes::BAD_SCENARIO,
                format!(
                    "--scenario: two scenarios have the name `{name}`, so their cases would have \
                     equal names; rename one"
                ),
            ));
        }
        setup.rtl.check_profiles(info, &setup.profiles)?;
        Ok(Self { block, setup: setup.clone(), scenarios })
    }

    /// Names of the scenarios, in the order of [`Case::scenario`].
    pub fn scenarios(&self) -> Vec<String> {
        self.scenarios.iter().map(|scenario| scenario.name.clone()).collect()
    }

    /// The number of packets of a case.
    pub fn length(&self, case: &Case) -> u32 {
        let long = self.scenarios[case.scenario].long.as_ref();
        self.setup.packets.unwrap_or_else(|| case.packets(long))
    }

    pub fn vector(
        &self,
        case: &Case,
        origin: Origin,
        recorded: Option<&Verdict>,
    ) -> Result<String, Error> {
        let query = Query::Vector(Box::new(CaseVector {
            case: case.clone(),
            profile: self.setup.profiles[case.profile].name.to_string(),
            scenario: self.scenarios[case.scenario].text.clone(),
            packets: self.setup.packets,
            origin,
            recorded: recorded.cloned(),
        }));
        self.block.query(&query)
    }

    pub fn scenarios_text(&self) -> String {
        let texts: Vec<&str> =
            self.scenarios.iter().map(|scenario| scenario.text.as_str()).collect();
        format!("[{}]", texts.join(","))
    }

    /// Builds the models and returns the setup that a worker needs to run so many cases.
    ///
    /// # Errors
    /// If a model cannot be built.
    pub fn opening(&self, cases: u64) -> Result<SessionSetup, Error> {
        let Setup { profiles, rtl, coverage, packets, .. } = &self.setup;
        let packets_of_all = cases.saturating_mul(packets.map_or(USUAL, u64::from));
        let view = match coverage {
            true => View::Covered,
            false if packets_of_all <= FEW => View::Quick,
            false => View::Bare,
        };
        // In parallel, because models that are not linked are compiled now.
        let build = |profile: &Profile| {
            let built = rtl.build_for_user(self.block.info(), &profile.parameters, view)?;
            Ok((profile.name.to_string(), built))
        };
        Ok(SessionSetup {
            block: self.block.info().name.to_owned(),
            models: profiles.par_iter().map(build).collect::<Result<_, Error>>()?,
            scenarios: self.scenarios_text(),
            packets: *packets,
        })
    }
}

/// A built-in scenario, or one from a file, as JSON.
fn scenario(block: &BlockHandle, name: &str) -> Result<String, Error> {
    let built_in = &block.info().scenarios;
    if let Some(scenario) = built_in.iter().find(|scenario| scenario.name == name) {
        return Ok(scenario.text.clone());
    }
    let text = scenario_file(block.info(), name)?;
    block.query(&Query::Scenario { path: Path::new(name).to_owned(), text })
}

fn scenario_file(info: &BlockInfo, name: &str) -> Result<String, Error> {
    let path = Path::new(name);
    if !path.is_file() {
        let names: Vec<&str> =
            info.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        return Err(Error::Usage(
            codes::UNKNOWN_SCENARIO,
            format!(
                "block {} has no scenario `{name}`, and no file has this path; expected {}{}",
                info.name,
                names.join(", "),
                text::suggestion(name, names.iter().copied())
            ),
        ));
    }
    read_input_text(path, LARGEST_INPUT)
}

fn parsed<T: DeserializeOwned>(answer: &str) -> Result<T, Error> {
    serde_json::from_str(answer).map_err(|error| {
        Error::Environment(codes::INTERNAL, format!("an answer of the block: {error}"))
    })
}

/// The first cases of a run with one profile, in the order in which they run on mutants and models.
/// Cases that take as long as hundreds of others come last: few mutants are left for them.
pub fn cases_of(
    block: &BlockInfo,
    session: &Session,
    profile: &Profile,
    seed: u64,
    indices: Range<u64>,
) -> Vec<Case> {
    let plan = Plan {
        block: block.name,
        seed,
        profiles: vec![profile.clone()],
        scenarios: session.scenarios(),
        indices,
        shard: Shard::WHOLE,
    };
    let mut cases: Vec<Case> = plan.iter().collect();
    cases.sort_by_key(|case| session.length(case) > LONGEST);
    cases
}
