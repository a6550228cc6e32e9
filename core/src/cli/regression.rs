//! A regression in steps: what `cosim run` does once, and `cosim watch` at every save.

mod code;
mod observer;
mod ready;
mod report;
mod until;

use super::is_watched;
use super::options::{ModelLimits, Sandboxing, Target, Threads, heading, of_block};
use super::plan::{PlannedRun, RunPlan};
use crate::agreement::Pair;
use crate::coverage::weights_hashes;
use crate::engine::{SessionSetup, Setup};
use crate::error::{Error, codes};
use crate::harness::{MOST_PACKETS, Profile, parse_index};
use crate::judged::{self, Judged};
use crate::models::{Built, Examined, Rtl, Simulator, View, answer_store};
use crate::program;
use crate::program::AnyBlock;
use crate::runner::{FailureHandling, Header, Limits, MOST_CASES, Plan, Shard, Waiver};
use crate::worker::{Action, Task};
use crate::worker::{Finish, OneShotWorker, Program};
use clap::Args;
use code::CodeCoverage;
use rand::RngExt;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use verilated_build::Hash;

pub use ready::{PreparedRegression, RunStart};
pub use report::{Outcome, PreviousRun, Report, UNWRITTEN};
pub use until::UntilCovered;

/// What to run, and for how long.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// Seed of the run: a number or `random` [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = heading::WHAT)]
    seed: Option<Seed>,
    /// Run N cases of each profile and scenario [default: the number of the block, see `cosim list`; unlimited with
    /// --time].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(0..MOST_CASES), help_heading = heading::WHAT)]
    cases: Option<u64>,
    /// Transactions of each case [default: drawn from its seed, 64 on average, sometimes thousands].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PACKETS)), help_heading = heading::WHAT)]
    pub packets: Option<u32>,
    /// Select a built-in scenario or a JSON file; may be repeated [default: all].
    #[arg(long, value_name = "NAME|FILE", help_heading = heading::WHAT)]
    pub scenario: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Stop after N failures.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=MOST_CASES), help_heading = heading::STOP)]
    max_failures: Option<u64>,
    /// Stop after N cases in which the model did not return.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=MOST_CASES), help_heading = heading::STOP, hide_short_help = true)]
    max_hangs: u64,
    /// Start no case after DURATION, such as 90s or 10m.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true,
          value_parser = humantime::parse_duration, help_heading = heading::STOP)]
    pub time: Option<Duration>,
    /// Keep failing vectors as they are.
    #[arg(long, help_heading = heading::OUTPUT, hide_short_help = true)]
    no_shrink: bool,
    /// Write no waves of failures.
    #[arg(long, help_heading = heading::OUTPUT, hide_short_help = true)]
    no_waves: bool,
    /// Evaluate scoreboard and coverage of every case again instead of using the results of earlier runs.
    #[arg(long, hide_short_help = true)]
    no_cache: bool,
    #[command(flatten)]
    limits: ModelLimits,
}

#[derive(Debug, Clone, Copy)]
enum Seed {
    Number(u64),
    Random,
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        text.parse()
            .map(Self::Number)
            .map_err(|_| "expected a number from 0 to 2^64 - 1, or `random`".to_owned())
    }
}

/// A case's name, taken apart.
#[derive(Debug, Clone)]
pub struct CaseName {
    block: String,
    profile: String,
    scenario: String,
    index: u64,
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

impl Options {
    /// Takes threads and sandbox from the command that resumes this one. The run directory does not choose the sandbox,
    /// because it may come from somebody else.
    pub fn resume_with(&mut self, threads: Threads, sandboxing: Sandboxing) {
        self.threads = threads.or(self.threads);
        self.limits = self.limits.with_sandbox(sandboxing);
    }

    /// The seed that `random` has drawn before, in its place: it draws profiles, too.
    pub fn set_random_seed(&mut self, drawn: u64) {
        if matches!(self.seed, Some(Seed::Random)) {
            self.seed = Some(Seed::Number(drawn));
        }
    }

    /// What is to be run of each block, this one case alone if there is one.
    ///
    /// # Errors
    /// [`Error::Usage`] for what makes no sense.
    pub fn jobs(&self, case: Option<CaseName>) -> Result<Vec<Job>, Error> {
        let seed = self.seed().unwrap_or(1);
        let chosen = match &case {
            Some(case) => vec![self.target.of_case(&case.block, &case.profile)?],
            None => {
                let blocks = self.target.blocks()?;
                let profiles = |block: &&'static dyn AnyBlock| {
                    let profiles = self.target.drawn_profiles(*block, seed);
                    Ok((*block, profiles.map_err(of_block(*block, &blocks))?))
                };
                blocks.iter().map(profiles).collect::<Result<Vec<_>, Error>>()?
            }
        };
        let job = |(block, profiles)| self.job(block, profiles, case.clone(), seed);
        chosen.into_iter().map(job).collect()
    }

    /// What is to be run of a plan; what the options say of seed and cases comes first.
    ///
    /// # Errors
    /// What is wrong with the plan.
    pub fn planned(&self, path: &Path) -> Result<Vec<Job>, Error> {
        let plan = RunPlan::read(path, self.seed())?;
        let job = |run: &PlannedRun| {
            let PlannedRun { block, profiles, scenarios, .. } = run.clone();
            let (cases, packets) = (self.cases.or(run.cases), run.packets);
            let options = Self { scenario: scenarios, cases, packets, ..self.clone() };
            let job = options.job(block, profiles, None, run.seed)?;
            let (name, goal, until) = (run.name.clone(), run.min_coverage, run.until_coverage);
            Ok(Job { name, goal, until, waivers: plan.waivers_of(block), ..job })
        };
        plan.runs.iter().map(job).collect()
    }

    /// The seed, if one was said.
    fn seed(&self) -> Option<u64> {
        self.seed.map(|seed| match seed {
            Seed::Number(seed) => seed,
            Seed::Random => u64::from(rand::rng().random::<u32>()),
        })
    }

    fn job(
        &self,
        block: &'static dyn AnyBlock,
        profiles: Vec<Profile>,
        case: Option<CaseName>,
        seed: u64,
    ) -> Result<Job, Error> {
        let scenarios = match &case {
            // A scenario from a file is still to be named by its file.
            Some(case) if self.scenario.is_empty() => vec![case.scenario.clone()],
            _ => self.scenario.clone(),
        };
        let indices = match (&case, self.cases, self.time) {
            (Some(case), ..) => case.index..case.index + 1,
            (None, Some(cases), _) => 0..cases,
            (None, None, Some(_)) => 0..u64::MAX,
            (None, None, None) => 0..block.info().cases,
        };
        let threads = self.threads.count();
        let Self { max_failures, max_hangs, time, .. } = *self;
        Ok(Job {
            name: block.info().name.to_owned(),
            block,
            seed,
            setup: Setup {
                profiles,
                scenarios,
                packets: self.packets,
                rtl: self.target.rtl()?,
                coverage: false,
            },
            case,
            indices,
            shard: Shard::WHOLE,
            limits: Limits { threads, max_failures, max_hangs, time },
            keep: FailureHandling { shrink: !self.no_shrink, waves: !self.no_waves },
            save: 0,
            goal: None,
            until: None,
            waivers: Vec::new(),
            earlier: PreviousRun::default(),
            shows_progress: is_watched(),
            program: self.limits.program()?,
            judges_all: self.no_cache,
        })
    }
}

/// A regression of one block that is to be run, once or more often.
pub struct Job {
    /// What it is called among others: the block, if a plan says nothing else.
    pub name: String,
    /// The block.
    pub block: &'static dyn AnyBlock,
    /// The seed.
    pub seed: u64,
    /// Profiles, scenarios and RTL.
    pub setup: Setup,
    case: Option<CaseName>,
    indices: Range<u64>,
    /// The part to run.
    pub shard: Shard,
    limits: Limits,
    keep: FailureHandling,
    /// Matching cases whose vectors are kept.
    pub save: u64,
    /// What of the bins is to be hit, in percent.
    pub goal: Option<f64>,
    /// Percent of the reachable bins of every profile at which the run ends.
    pub until: Option<f64>,
    /// Failures that do not count until a day.
    waivers: Vec<Waiver>,
    /// The files that know earlier failures.
    pub earlier: PreviousRun,
    /// Whether there is a progress bar.
    pub shows_progress: bool,
    program: Program,
    /// Whether cases that were judged before are judged again.
    judges_all: bool,
}

impl Job {
    /// How long it may take.
    pub fn time(&self) -> Option<Duration> {
        self.limits.time
    }

    /// Reads the RTL and builds its models. Nothing is written yet.
    ///
    /// # Errors
    /// What is wrong with scenarios or RTL.
    pub fn prepare(&self, interrupted: &Arc<AtomicBool>) -> Result<PreparedRegression<'_>, Error> {
        let Self { block, setup, .. } = self;
        self.earlier.check()?;
        let session = block.session(setup)?;
        let examined = setup.rtl.examined(block.info())?;
        let opening = session.opening()?;
        let worker = OneShotWorker::new(self.program.clone(), Arc::clone(interrupted));
        let two_evaluations = check_models(&worker, &opening, &examined)?;
        let counted = match setup.coverage {
            true => {
                let is_own = setup.rtl.is_built_in();
                Some(CodeCoverage::new(*block, &worker, &opening, &examined, is_own)?)
            }
            false => None,
        };
        let mut netlists = BTreeMap::new();
        for profile in &setup.profiles {
            if let Some(area) = setup.rtl.area(block.info(), &profile.parameters)? {
                netlists.insert(profile.name.to_string(), area);
            }
        }
        if self.case.is_none() {
            check_netlists(*block, setup, &worker)?;
        }
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
                "--case names the scenario `{scenario}`, and --scenario another \
                 one; leave --scenario out"
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
            netlists,
            block: block.info().name.to_owned(),
            seed: self.seed,
            packets: setup.packets,
            shard: self.shard,
            cases: (plan.indices.end < u64::MAX).then(|| plan.indices.end - plan.indices.start),
            first: plan.indices.start,
            profiles: plan.profiles.iter().map(|profile| profile.name.to_string()).collect(),
            scenarios: plan.scenarios.clone(),
            scenario_files: self.scenario_files(&plan.scenarios),
            weights: hash_of_weights(&opening.scenarios),
            min_coverage: self.goal,
            until_coverage: self.until,
            round: None,
            coverage: setup.coverage,
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
            learns: judged::is_trusted(&examined, &setup.rtl.defines),
        })
    }
}

/// Compares netlists with the RTL. A run of one case skips this, so that the user can look into a difference.
fn check_netlists(
    block: &'static dyn AnyBlock,
    setup: &Setup,
    worker: &OneShotWorker,
) -> Result<(), Error> {
    if !setup.rtl.netlist {
        return Ok(());
    }
    let of = |netlist| Rtl { netlist, simulator: Simulator::Verilator, ..setup.rtl.clone() };
    let check = |profile: &Profile| {
        let rtl = of(false).build_for_user(block.info(), &profile.parameters, View::Bare)?;
        let netlist = of(true).build_for_user(block.info(), &profile.parameters, View::Bare)?;
        Pair { block, profile, rtl: &rtl, netlist: &netlist }.check(worker)
    };
    setup.profiles.par_iter().map(check).collect()
}

impl Job {
    /// The cases that were judged before, unless every case is to be judged.
    fn judged(
        &self,
        opening: &SessionSetup,
        profiles: &[Profile],
        learns: bool,
    ) -> Result<Judged, Error> {
        let store = if self.judges_all { None } else { answer_store()? };
        Ok(store.map_or_else(Judged::none, |store| Judged::open(store, opening, profiles, learns)))
    }

    /// The files of scenarios that are not built in, by the scenarios' names.
    fn scenario_files(&self, names: &[String]) -> BTreeMap<String, String> {
        let built_in = (self.block.info().scenarios)();
        let is_file = |given: &String| !built_in.iter().any(|(name, _)| name == given);
        let given = names.iter().zip(&self.setup.scenarios).filter(|(_, given)| is_file(given));
        given.map(|(name, given)| (name.clone(), given.clone())).collect()
    }
}

/// One hash of what all scenarios draw, as an [`SessionSetup`] has them.
pub fn hash_of_weights(scenarios: &str) -> String {
    let mut hash = Hash::default();
    weights_hashes(scenarios).iter().for_each(|one| hash.add(one));
    hash.short()
}

/// Refuses models with other ports before anything is written, and says by profile why one is driven with
/// two evaluations a cycle. What a model does beyond that while it is loaded is seen again with the first
/// case, and is its verdict.
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
            if let Finish::Done(Some(reason)) = worker.have::<Option<String>>(task)? {
                reasons.insert(name, examined.text(&reason));
            }
        }
    }
    Ok(reasons)
}
