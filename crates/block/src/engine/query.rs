//! Questions that need the types of a block but none of its models.
//!
//! The tool asks them of the program with the block: what a scenario file means, the stimulus of a
//! case, whether a vector is legal, and how the golden side runs alone. An answer is postcard.

use super::session::Cases;
use super::vectors::TypedVector;
use super::{profile, scenario_in_file};
use crate::driven::DrivenPins;
use crate::mutate;
use crate::vector::{Origin, Vector, VectorFile, internal};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    BeforeResetText, Case, Explain, Facts, Overrides, Parameters, Recording, Scenario, Stimulus,
    Verdict, power_up_inputs,
};
use cosim_harness::json;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use verilated::BeforeReset;

/// A query about a block. Each variant names its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Query {
    /// Checks a scenario file; returns the JSON of the scenario with the defaults of all weights.
    Scenario {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
    },
    /// Draws the stimulus of a case; returns the text of its vector.
    Vector(Box<CaseVector>),
    /// Writes a vector of inputs; returns its text.
    RawVector(Box<RawVector>),
    /// Checks a vector; returns nothing.
    Check(VectorFile),
    /// Runs the golden side of a vector alone, under the profile of this name; returns
    /// [`DrivenPins`].
    Drive(VectorFile, String),
    /// What the block says of these parameters; returns [`Facts`].
    Facts {
        /// The mask of fixes.
        fixes: u8,
        /// All other parameters.
        values: Overrides,
    },
    /// What a value of this port means; returns an optional text.
    Meaning(String, u64),
}

/// The vector of a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseVector {
    /// The case.
    pub case: Case,
    /// The name of its profile.
    pub profile: String,
    /// Its scenario, as JSON.
    pub scenario: String,
    /// Packets of the case, or random if `None`.
    pub packets: Option<u32>,
    /// The origin.
    #[serde(with = "cosim_harness::as_json")]
    pub origin: Origin,
    /// The verdict that the vector records.
    #[serde(with = "cosim_harness::as_json")]
    pub recorded: Option<Verdict>,
}

/// A vector of inputs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RawVector {
    /// The name of the profile.
    pub profile: String,
    /// The names of the bits that are 1, for each cycle after reset.
    pub cycles: Vec<Vec<String>>,
    /// What registers hold before reset.
    #[serde(with = "BeforeResetText")]
    pub before_reset: BeforeReset,
    /// The origin.
    #[serde(with = "cosim_harness::as_json")]
    pub origin: Origin,
    /// The verdict that the vector records.
    #[serde(with = "cosim_harness::as_json")]
    pub recorded: Option<Verdict>,
}

/// Answers a query in postcard.
pub(super) fn answer<B: Explain>(query: &Query) -> Result<Vec<u8>, Error> {
    match query {
        Query::Scenario { path, text } => {
            packed(&json::to_text(&scenario_in_file::<B>(path, text)?).map_err(internal)?)
        }
        Query::Vector(wanted) => packed(&case_vector::<B>(wanted)?),
        Query::RawVector(wanted) => packed(&raw_vector::<B>(wanted)?),
        Query::Check(file) => packed(&TypedVector::<B>::new(file).map(drop)?),
        Query::Drive(file, name) => {
            let Vector { stimulus, .. } = file.parse::<B>()?;
            let recording = Recording::new(&stimulus, &profile::<B>(name)?.parameters);
            packed(&DrivenPins::from_recording(&recording, stimulus.before_reset))
        }
        Query::Facts { fixes, values } => {
            let parameters = Parameters::with_fixes::<B>(*fixes).with_overrides(values);
            let parameters = parameters
                .map_err(|error| Error::Usage(codes::BAD_PARAMETER, error.to_string()))?;
            packed(&Facts::from_block::<B>(&parameters))
        }
        Query::Meaning(port, value) => packed(&B::meaning(port, *value)),
    }
}

fn case_vector<B: Explain>(wanted: &CaseVector) -> Result<String, Error> {
    let CaseVector { case, profile: name, scenario, packets, origin, recorded } = wanted;
    let scenario: Scenario<B::Weights> = json::from_text(scenario).map_err(|error| {
        Error::Environment(codes::WORKER_FAILED, format!("a scenario: {error}"))
    })?;
    let profile = profile::<B>(name)?;
    let case = Case { profile: 0, scenario: 0, ..case.clone() };
    let (scenarios, profiles) = (vec![scenario], vec![profile.clone()]);
    let stimulus = Cases::<B> { scenarios, profiles, packets: *packets }.stimulus(&case);
    Vector::<B>::new(&profile, origin.clone(), stimulus, recorded.clone()).to_text()
}

fn raw_vector<B: Explain>(wanted: &RawVector) -> Result<String, Error> {
    let RawVector { profile: name, cycles, before_reset, origin, recorded } = wanted;
    let mut cycles = mutate::pins::<B>(cycles);
    // A trace that ends in the cycle in reset, with which each case begins, has no cycles after it,
    // but a vector has one: the inputs stay idle.
    if cycles.is_empty() {
        cycles.push(power_up_inputs::<B>());
    }
    let stimulus = Stimulus::<B>::cycles(cycles).with_before_reset(*before_reset);
    Vector::new(&profile::<B>(name)?, origin.clone(), stimulus, recorded.clone()).to_text()
}

fn packed(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    postcard::to_allocvec(value).map_err(internal)
}
