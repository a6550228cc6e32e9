//! Regressions: runs the cases of one block and decides whether it passed.
//!
//! [`Regression::prepare`] reads the RTL and builds its models. [`PreparedRegression::create_run`]
//! creates a run directory. [`PreparedRegression::run`] runs the cases and reports [`Event`]s.
//! [`Outcome::conclude`] decides whether the run passed and writes `results.json`. Nothing is
//! printed here.

mod code;
mod collector;
mod event;
mod outcome;
mod prepared;

use crate::blocks::BlockHandle;
use crate::runner::{FailureHandling, Limits};
use crate::setup::{Session, Setup};
use crate::worker::{Finish, OneShotWorker, WorkerProgram};
use code::CodeCoverage;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::built::Built;
use cosim_block::engine::SessionSetup;
use cosim_block::shard::Shard;
use cosim_block::worker::task::{Action, Task};
use cosim_formats::answers::AnswerRecord;
use cosim_formats::coverage::weights_hashes;
use cosim_formats::run::{Header, Plan, Waiver};
use cosim_harness::harness::{BlockInfo, Comparison, parse_index};
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::models::Examined;
use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use verilated_files::Hash;

pub use event::{Event, Events};
pub use outcome::{FinishedRun, Goal, NOT_WRITTEN, Outcome, WriteFailures};
pub use prepared::{PreparedRegression, RunStart};

#[derive(Debug, Clone)]
pub struct CaseName {
    pub block: String,
    pub profile: String,
    pub scenario: String,
    pub index: u64,
}

impl FromStr for CaseName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts: Vec<&str> = text.split('/').collect();
        let wrong = || {
            Error::Usage(
                codes::BAD_CASE_NAME,
                format!("--case: `{text}` is not BLOCK/PROFILE/SCENARIO/INDEX"),
            )
        };
        let [block, profile, scenario, index] = parts[..] else { return Err(wrong()) };
        let index = parse_index(index).ok_or_else(wrong)?;
        Ok(Self {
            block: block.to_owned(),
            profile: profile.to_owned(),
            scenario: scenario.to_owned(),
            index,
        })
    }
}

/// A regression of one block. It can run several times.
pub struct Regression {
    /// The name of its run directory: the block, unless a plan names it.
    pub name: String,
    pub block: &'static BlockHandle,
    pub seed: u64,
    pub setup: Setup,
    pub case: Option<CaseName>,
    /// Indices of the cases of each profile and scenario.
    pub indices: Range<u64>,
    pub shard: Shard,
    pub limits: Limits,
    pub keep: FailureHandling,
    /// Matching cases whose vectors are kept.
    pub save: u64,
    /// Coverage that every profile must reach, in percent of the reachable bins.
    pub goal: Option<f64>,
    /// Coverage of reachable bins at which the run ends, in percent in every profile.
    pub until: Option<f64>,
    /// Proofs that coverage points are unreachable, by the name of their file.
    pub closed: Vec<(String, Arc<AnswerRecord>)>,
    pub waivers: Vec<Waiver>,
    pub program: WorkerProgram,
}

impl Regression {
    /// The input bits whose values the planned cases cover, if they are all cases of a block that
    /// numbers its input vectors.
    fn exhaustive(&self, plan: &Plan) -> Option<u32> {
        let info = self.block.info();
        let is_all = plan.indices.start == 0 && plan.indices.end >= info.cases;
        let is_drawn = plan.scenarios.iter().any(|scenario| scenario == "default");
        info.exhaustive.filter(|_| self.case.is_none() && is_all && is_drawn)
    }

    /// The time limit of the run.
    pub fn time(&self) -> Option<Duration> {
        self.limits.time
    }

    /// Reads the RTL and builds its models. Writes no results yet.
    ///
    /// # Errors
    /// An error in scenarios or RTL.
    pub fn prepare(
        &self,
        interrupted: &Arc<AtomicBool>,
        events: &mut Events<'_>,
    ) -> Result<PreparedRegression<'_>, Error> {
        let Self { block, setup, .. } = self;
        let session = Arc::new(Session::new(block, setup)?);
        let examined = setup.rtl.examined(block.info())?;
        let cases = match self.case {
            Some(_) => 1,
            None => {
                let lists = setup.profiles.len() * session.scenarios().len();
                (self.indices.end - self.indices.start).saturating_mul(lists as u64)
            }
        };
        let opening = session.opening(cases)?;
        let worker = OneShotWorker::new(self.program.clone(), Arc::clone(interrupted));
        let two_evaluations = check_models(&worker, &opening, &examined)?;
        let counted = match setup.coverage {
            true => {
                let is_own = setup.rtl.is_built_in();
                let mut counted =
                    CodeCoverage::new(block, &worker, &opening, &examined, is_own, events)?;
                counted.close(block.info(), &setup.profiles, &self.closed)?;
                Some(counted)
            }
            false => None,
        };
        let plan = Plan {
            block: block.info().name,
            seed: self.seed,
            profiles: setup.profiles.clone(),
            scenarios: session.scenarios(),
            indices: self.indices.clone(),
            shard: self.shard,
        };
        if let Some(CaseName { scenario, .. }) = &self.case
            && plan.scenarios != [scenario.clone()]
        {
            let message = format!(
                "--case names the scenario `{scenario}`, and --scenario another one; leave --scenario out"
            );
            return Err(Error::Usage(codes::BAD_CASE_NAME, message));
        }
        let header = Header {
            version: program::version().to_owned(),
            build: program::build().to_owned(),
            verilator: program::verilator().to_owned(),
            rtl: examined.identity.clone(),
            given: setup.rtl.clone(),
            rtl_files: examined.files.clone(),
            two_evaluations,
            comparison: comparisons(block.info()),
            block: block.info().name.to_owned(),
            seed: self.seed,
            packets: setup.packets,
            shard: self.shard,
            cases: (plan.indices.end < u64::MAX).then(|| plan.indices.end - plan.indices.start),
            first: plan.indices.start,
            exhaustive: self.exhaustive(&plan),
            profiles: plan.profiles.iter().map(|profile| profile.name.to_string()).collect(),
            scenarios: plan.scenarios.clone(),
            scenario_files: self.scenario_files(&plan.scenarios),
            weights: hash_of_weights(&opening.scenarios),
            min_coverage: self.goal,
            until_coverage: self.until,
            coverage: setup.coverage,
            closed: counted.as_ref().map_or_else(Vec::new, |counted| counted.closed.clone()),
            save_vectors: self.save,
            waivers: self.waivers.clone(),
        };
        let interrupted = Arc::clone(interrupted);
        Ok(PreparedRegression {
            job: self,
            session,
            opening,
            worker,
            plan,
            header,
            counted,
            interrupted,
        })
    }
}

impl Regression {
    /// The scenarios that are not built in: their files by name.
    fn scenario_files(&self, names: &[String]) -> BTreeMap<String, String> {
        let built_in = &self.block.info().scenarios;
        let is_file = |given: &String| !built_in.iter().any(|known| known.name == *given);
        let given = names.iter().zip(&self.setup.scenarios).filter(|(_, given)| is_file(given));
        given.map(|(name, given)| (name.clone(), given.clone())).collect()
    }
}

/// One hash over the weights of all scenarios, given as in [`SessionSetup`].
pub fn hash_of_weights(scenarios: &str) -> String {
    let mut hash = Hash::default();
    weights_hashes(scenarios).iter().for_each(|one| hash.add(one));
    hash.short()
}

/// Refuses models with wrong ports before anything is written. Returns by profile why a model needs
/// two evaluations per cycle. Other failures while loading repeat with the first case and become
/// its verdict.
fn check_models(
    worker: &OneShotWorker,
    opening: &SessionSetup,
    examined: &Examined,
) -> Result<BTreeMap<String, String>, Error> {
    let mut reasons = BTreeMap::new();
    for (profile, model) in &opening.models {
        if *model != Built::Linked {
            let (block, profile) = (opening.block.clone(), profile.clone());
            let task = Task { block, profile, model: model.clone(), action: Action::Load };
            let name = task.profile.clone();
            if let Finish::Done(Some(reason)) = worker.run_task::<Option<String>>(task)? {
                reasons.insert(name, examined.text(&reason));
            }
        }
    }
    Ok(reasons)
}

fn comparisons(info: &BlockInfo) -> BTreeMap<Comparison, Vec<String>> {
    let names = |outputs: Vec<&str>| outputs.into_iter().map(str::to_owned).collect();
    info.comparisons().into_iter().map(|(kind, outputs)| (kind, names(outputs))).collect()
}
