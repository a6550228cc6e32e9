//! A block without its types: [`BlockEngine`] implements [`RunBlock`] once for every [`Block`].
//!
//! A command makes one dynamic call per case; the code inside a case is compiled for its block.
//! Each feature that needs the types of a block has its own trait, which `BlockEngine` also
//! implements. [`AnyBlock`](crate::blocks::AnyBlock) combines them.

mod bench;
mod explain;
mod query;
mod replay;
mod runner;
mod session;
mod shrink;
mod vectors;

use crate::built::Built;
use crate::points::{Point, Points};
use crate::vector::{self, VectorFile};
pub use bench::{BenchReport, InstructionScope, MeasureBlock, PartTiming, Speed};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    Block, BlockInfo, Case, Explain, Outcome, Profile, Scenario, Watch, scenario_from,
};
use cosim_harness::json;
pub use query::{CaseVector, Query, RawVector};
pub use replay::Waves;
pub use runner::PROGRAMS;
use schemars::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use session::Cases;
use session::LoadedModels;
pub use shrink::{ShrinkProgress, ShrunkVector};
use std::marker::PhantomData;
use std::path::Path;
pub use vectors::{Replayed, RunVector};
use verilated::ModelKind;

/// A block whose cases can run and whose vectors can be read. Other features have separate traits.
pub trait RunBlock: Sync {
    /// The block as data.
    fn info(&self) -> &'static BlockInfo;

    /// Answers a query in postcard. Loads no model.
    ///
    /// # Errors
    /// Errors of the query.
    fn answer(&self, query: &Query) -> Result<Vec<u8>, Error>;

    /// The JSON schema of the block's vectors. Blocks of one program share definitions.
    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value;

    /// Loads a model and checks its ports. Returns why it needs two evaluations per cycle, if it
    /// does. Call it only in a worker, like everything that loads a model.
    ///
    /// # Errors
    /// [`Error::Model`].
    fn try_load(&self, profile: &str, model: &Built) -> Result<Option<String>, Error>;

    /// The code coverage points of a model built with coverage. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be loaded.
    fn points(&self, profile: &str, model: &Built) -> Result<Vec<Point>, Error>;

    /// Loads the models of a run. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Model`] if a model cannot be loaded or has wrong ports.
    fn open(&self, opening: &SessionSetup) -> Result<Box<dyn Models>, Error>;

    /// A vector of this block, to run it. Call it only in a worker.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`].
    fn typed(&self, file: &VectorFile) -> Result<Box<dyn RunVector>, Error>;
}

/// The setup that all cases of a run share, for a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSetup {
    /// The block.
    pub block: String,
    /// Names of the profiles, with their models.
    pub models: Vec<(String, Built)>,
    /// The scenarios, as JSON.
    pub scenarios: String,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
}

impl SessionSetup {
    /// Whether the worker must start a simulator program for a model.
    pub fn is_simulated(&self) -> bool {
        self.models.iter().any(|(_, model)| model.is_simulated())
    }
}

/// The model that an operation runs.
#[derive(Debug, Clone, Copy)]
pub struct ModelContext<'a> {
    /// The name of the profile.
    pub profile: &'a str,
    /// The model.
    pub model: &'a Built,
    /// Receives the progress, and cancels the operation.
    pub watch: &'a Watch,
}

impl ModelContext<'_> {
    /// The profile, and its loaded model.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be loaded.
    pub fn load<B: Block>(&self) -> Result<ProfileModel<B>, Error> {
        self.watch.model(|| load::<B>(self.profile, self.model))
    }
}

/// The loaded models of a run.
pub trait Models: Send {
    /// Runs one case and reports its progress to `watch`.
    fn run(&self, case: &Case, watch: &Watch) -> Outcome;
}

/// The implementation of [`RunBlock`] for a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockEngine<B>(PhantomData<fn() -> B>);

impl<B> BlockEngine<B> {
    /// The engine, which has no state.
    pub const NEW: Self = Self(PhantomData);
}

impl<B: Explain> RunBlock for BlockEngine<B> {
    fn info(&self) -> &'static BlockInfo {
        BlockInfo::from_block::<B>()
    }

    fn answer(&self, query: &Query) -> Result<Vec<u8>, Error> {
        query::answer::<B>(query)
    }

    fn vector_schema(&self, generator: &mut SchemaGenerator) -> Value {
        vector::schema::<B>(generator)
    }

    fn try_load(&self, profile: &str, model: &Built) -> Result<Option<String>, Error> {
        Ok(runner::load::<B>(&self::profile::<B>(profile)?, model)?.two_evaluations())
    }

    fn points(&self, profile: &str, model: &Built) -> Result<Vec<Point>, Error> {
        let (_, mut kind) = load::<B>(profile, model)?;
        Ok(Points::from_model::<B>(&mut kind)?.all)
    }

    fn open(&self, opening: &SessionSetup) -> Result<Box<dyn Models>, Error> {
        let mut cases = Cases::<B>::read(&opening.scenarios, Vec::new(), opening.packets)?;
        let mut runners = Vec::new();
        for (name, model) in &opening.models {
            let profile = profile::<B>(name)?;
            runners.push(runner::load::<B>(&profile, model)?);
            cases.profiles.push(profile);
        }
        Ok(Box::new(LoadedModels::<B> { cases, runners }))
    }

    fn typed(&self, file: &VectorFile) -> Result<Box<dyn RunVector>, Error> {
        Ok(Box::new(vectors::TypedVector::<B>::new(file)?))
    }
}

/// The profile with this name.
///
/// # Errors
/// [`Error::Usage`] if there is none.
pub fn profile<B: Block>(name: &str) -> Result<Profile, Error> {
    let unknown = |message| Error::Usage(codes::UNKNOWN_PROFILE, message);
    let found = Profile::parse(name, B::PROFILES).map_err(|error| unknown(error.to_string()))?;
    let first = found.into_iter().next();
    first.ok_or_else(|| unknown(format!("no profile has the name `{name}`")))
}

/// The profile with this name, and its model.
pub fn load<B: Block>(name: &str, model: &Built) -> Result<ProfileModel<B>, Error> {
    let profile = profile::<B>(name)?;
    let kind = model.load::<B>(&profile.parameters)?;
    Ok((profile, kind))
}

fn scenario_in_file<B: Block>(path: &Path, text: &str) -> Result<Scenario<B::Weights>, Error> {
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let scenario: Scenario<B::Weights> = match is_toml {
        true => scenario_from(text).map_err(|error| Error::toml(path, text, None, &error))?,
        false => json::from_text(text)
            .map_err(|misread| Error::json_at(path, &misread.place, &misread.error))?,
    };
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
pub type ProfileModel<B> = (Profile, ModelKind<<B as Block>::Inputs, <B as Block>::Outputs>);
