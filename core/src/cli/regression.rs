//! A regression in steps: what `cosim run` does once, and `cosim watch` at every save.

mod code;
mod observer;
mod report;
mod until;

use super::is_watched;
use super::options::{Patience, Target, of_block};
use super::plan::{PlannedRun, RunPlan};
use super::summary::Unwritten;
use crate::coverage::{Database, Recorder, Run, weights_hashes};
use crate::engine::{Action, AnyBlock, Opening, Session, Setup, Task, Waves};
use crate::error::Error;
use crate::harness::{Profile, parse_index};
use crate::models::{Built, Examined};
use crate::program;
use crate::runner::{
    self, Begun, End, Exchange, Failures, Guide, Header, InOrder, Journal, Keep, Left, Limits,
    MOST_CASES, Milestones, PeakMemory, Place, Plan, Progress, RunDirectory, Shard, Start, State,
    Tally, Timing, Waiver,
};
use crate::vector::{Origin, VectorFile};
use crate::worker::desk::Subject;
use crate::worker::{Desk, Finish, Program};
use clap::Args;
use code::Counted;
use humantime::format_rfc3339_millis;
use indicatif::ProgressBar;
use observer::{Observer, progress_bar};
use rand::RngExt;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use verilated_build::Hash;

pub use report::{Earlier, Outcome, Report, UNWRITTEN};
pub use until::{MOST_OF_A_ROUND, Until, UntilCovered, percent};

/// Packets of a case at most: its vector must not be larger than vectors may be.
const MOST_PACKETS: i64 = 20_000;

/// What to run, and for how long.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// Seed of the run: a number, or `random` [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<Seed>,
    /// Cases of each profile and scenario [default: the block's, see `cosim list`; no end with --time].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(0..MOST_CASES))]
    cases: Option<u64>,
    /// Packets of each case [default: drawn from its seed, 64 on average, now and then thousands].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=MOST_PACKETS))]
    pub packets: Option<u32>,
    /// A scenario, built in or in a JSON file; may be given more than once [default: all].
    #[arg(long, value_name = "NAME|FILE")]
    pub scenario: Vec<String>,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// End after that many failures.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=MOST_CASES))]
    max_failures: Option<u64>,
    /// End after that many cases whose model did not return.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=MOST_CASES))]
    max_hangs: u64,
    /// Begin no case after that time, as in 90s or 10m.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true,
          value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// Keep failing vectors as they are.
    #[arg(long)]
    no_shrink: bool,
    /// Write no waves of failures.
    #[arg(long)]
    no_waves: bool,
    #[command(flatten)]
    patience: Patience,
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
        let wrong =
            || Error::Usage(format!("--case: `{text}` is not BLOCK/PROFILE/SCENARIO/INDEX"));
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
    /// The program that works on models, with the limits that were said.
    ///
    /// # Errors
    /// [`Error::Environment`] if it cannot be found.
    pub fn program(&self) -> Result<Program, Error> {
        self.patience.program()
    }

    /// What is to be run of each block, this one case alone if there is one.
    ///
    /// # Errors
    /// [`Error::Usage`] for what makes no sense.
    pub fn jobs(&self, case: Option<CaseName>) -> Result<Vec<Job>, Error> {
        let chosen = match &case {
            Some(case) => vec![self.target.of_case(&case.block, &case.profile)?],
            None => {
                let blocks = self.target.blocks()?;
                let profiles = |block: &&'static dyn AnyBlock| {
                    let profiles = self.target.profiles(*block);
                    Ok((*block, profiles.map_err(of_block(*block, &blocks))?))
                };
                blocks.iter().map(profiles).collect::<Result<Vec<_>, Error>>()?
            }
        };
        let seed = self.seed().unwrap_or(1);
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
            let (name, goal, until) = (run.name.clone(), run.min_coverage, run.until.clone());
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
            (None, None, None) => 0..block.cases(),
        };
        let threads = match self.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        let Self { max_failures, max_hangs, time, .. } = *self;
        Ok(Job {
            name: block.name().to_owned(),
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
            keep: Keep { shrink: !self.no_shrink, waves: !self.no_waves },
            save: 0,
            goal: None,
            until: None,
            waivers: Vec::new(),
            earlier: Earlier::default(),
            shows_progress: is_watched(),
            program: self.patience.program()?,
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
    keep: Keep,
    /// Matching cases whose vectors are kept.
    pub save: u64,
    /// What of the bins is to be hit, in percent.
    pub goal: Option<f64>,
    /// What of the bins is to be hit when the run ends, and how.
    pub until: Option<Until>,
    /// Failures that do not count until a day.
    waivers: Vec<Waiver>,
    /// The files that know earlier failures.
    pub earlier: Earlier,
    /// Whether there is a progress bar.
    pub shows_progress: bool,
    program: Program,
}

impl Job {
    /// Uses so many threads, if it is said how many, and shows its progress or not.
    pub fn set(&mut self, threads: Option<u16>, shows_progress: bool) {
        if let Some(threads) = threads {
            self.limits.threads = usize::from(threads);
        }
        self.shows_progress &= shows_progress;
    }

    /// How long it may take.
    pub fn time(&self) -> Option<Duration> {
        self.limits.time
    }

    /// Reads the RTL and builds its models. Nothing is written yet.
    ///
    /// # Errors
    /// What is wrong with scenarios or RTL.
    pub fn prepare(&self, interrupted: &Arc<AtomicBool>) -> Result<Ready<'_>, Error> {
        let Self { block, setup, .. } = self;
        self.earlier.check()?;
        let session = block.session(setup)?;
        let examined = block.examine(&setup.rtl)?;
        let opening = session.opening()?;
        let desk = Desk::new(self.program.clone(), Arc::clone(interrupted));
        let two_evaluations = check_models(&desk, &opening, &examined)?;
        let counted = match setup.coverage {
            true => {
                let is_own = setup.rtl.is_built_in();
                Some(Counted::new(*block, &desk, &opening, &examined, is_own)?)
            }
            false => None,
        };
        let mut netlists = BTreeMap::new();
        for profile in &setup.profiles {
            if let Some(area) = block.area(profile, &setup.rtl)? {
                netlists.insert(profile.name.to_string(), area);
            }
        }
        let plan = self.plan(&*session);
        if let Some(CaseName { scenario, .. }) = &self.case
            && plan.scenarios != [scenario.clone()]
        {
            let message = format!("--case names the scenario `{scenario}`, --scenario another");
            return Err(Error::Usage(message));
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
            block: block.name().to_owned(),
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
            until_coverage: self.until.as_ref().map(|until| until.percent),
            round: self.until.as_ref().and_then(|until| until.round),
            coverage: setup.coverage,
            save_vectors: self.save,
            waivers: self.waivers.clone(),
        };
        let interrupted = Arc::clone(interrupted);
        let exchange = self.exchange(&plan, &header)?;
        Ok(Ready {
            job: self,
            session,
            opening,
            desk,
            plan,
            header,
            exchange,
            counted,
            interrupted,
        })
    }
}

impl Job {
    /// The files of scenarios that are not built in, by the scenarios' names.
    fn scenario_files(&self, names: &[String]) -> BTreeMap<String, String> {
        let built_in = self.block.scenarios();
        let is_file = |given: &String| !built_in.iter().any(|(name, _)| name == given);
        let given = names.iter().zip(&self.setup.scenarios).filter(|(_, given)| is_file(given));
        given.map(|(name, given)| (name.clone(), given.clone())).collect()
    }
}

/// One hash of what all scenarios draw, as an [`Opening`] has them.
pub fn hash_of_weights(scenarios: &str) -> String {
    let mut hash = Hash::default();
    weights_hashes(scenarios).iter().for_each(|one| hash.add(one));
    hash.short()
}

/// Refuses models with other ports before anything is written, and says by profile why one is driven with
/// two evaluations a cycle. What a model does beyond that while it is loaded is seen again with the first
/// case, and is its verdict.
fn check_models(
    desk: &Desk,
    opening: &Opening,
    examined: &Examined,
) -> Result<BTreeMap<String, String>, Error> {
    let mut reasons = BTreeMap::new();
    for (profile, model) in &opening.models {
        if *model != Built::Linked {
            let (block, profile) = (opening.block.clone(), profile.clone());
            let task = Task { block, profile, model: model.clone(), action: Action::Load };
            let name = task.profile.clone();
            if let Finish::Done(Some(reason)) = desk.have::<Option<String>>(task)? {
                reasons.insert(name, examined.text(&reason));
            }
        }
    }
    Ok(reasons)
}

/// A run directory in which a regression begins, or goes on.
pub struct Begin {
    directory: RunDirectory,
    journal: Option<Journal>,
    /// Where it was left.
    left: Option<Left>,
}

impl Begin {
    /// Cases that had ended when it was left.
    pub fn cases(&self) -> u64 {
        self.left.as_ref().map_or(0, |left| left.state.totals.cases + left.cases.len() as u64)
    }
}

/// A regression whose models are built.
pub struct Ready<'a> {
    job: &'a Job,
    session: Arc<dyn Session>,
    opening: Opening,
    desk: Desk,
    plan: Plan,
    header: Header,
    exchange: Option<Exchange>,
    /// What is counted of the RTL's code, if it is.
    counted: Option<Counted>,
    interrupted: Arc<AtomicBool>,
}

impl Ready<'_> {
    /// Makes a place the run's own.
    ///
    /// # Errors
    /// If it is no place for a run.
    pub fn begin(&self, place: &Place) -> Result<Begin, Error> {
        let directory = RunDirectory::begin(place, &self.header)?;
        let mut state = State { save: self.job.save, ..State::default() };
        directory.stand(&mut state);
        let begun = Begun {
            command: env::args().collect(),
            folder: env::current_dir().unwrap_or_default(),
            header: self.identity(),
        };
        let journal = Journal::begin(directory.folder(), begun, &state);
        let journal = journal.map_err(|error| {
            program::say(format_args!(
                "warning: if it is killed the run cannot be gone on with: {error}"
            ));
        });
        Ok(Begin { directory, journal: journal.ok(), left: None })
    }

    /// Goes on with a run that was left in a folder.
    ///
    /// # Errors
    /// [`Error::File`] if it was another one, or is being written.
    pub fn again(&self, folder: &Path, left: Left) -> Result<Begin, Error> {
        let now = self.identity();
        let then = &left.begun.header;
        let keys = [&now, then].into_iter().flat_map(|header| header.as_object());
        for key in keys.flat_map(|header| header.keys()) {
            let (then, value) = (&then[key], &now[key]);
            if then != value {
                let message = format!(
                    "cannot be gone on with: {key} was {then}, now it is {value}; run it again with --force"
                );
                return Err(Error::File { path: folder.to_owned(), message });
            }
        }
        let directory = RunDirectory::again(folder, &left.state)?;
        Ok(Begin { directory, journal: None, left: Some(left) })
    }

    /// What identifies the run, as `results.json` has it.
    fn identity(&self) -> Value {
        serde_json::to_value(&self.header).unwrap_or_default()
    }

    /// Runs the cases and writes the directory; begins no case after a `time`.
    ///
    /// # Errors
    /// If there can be no workers. What cannot be written is in the report.
    pub fn run(&self, place: Begin, time: Option<Duration>) -> Result<Report, Error> {
        let Begin { directory, journal, left } = place;
        let mut observer = self.observer(directory);
        observer.journal = journal;
        let Self { job, opening, plan, interrupted, .. } = self;
        let (mut start, mut place) = (Start::default(), 0);
        if let Some(left) = left {
            let begun = left.begun.clone();
            place = observer.restore(job.block, left)?;
            start.failures = observer.tally.totals.failures();
            start.hangs = observer.hangs;
            let state = observer.state(place);
            observer.journal = Some(Journal::begin(observer.directory.folder(), begun, &state)?);
        }
        let before = Duration::from_secs_f64(observer.before.0);
        let time = time.map(|time| time.saturating_sub(before));
        let limits = Limits { time, ..job.limits };
        let (program, observed) = (&job.program, &mut observer);
        let end = match (observed.guide.clone(), &self.exchange) {
            (Some(mut guide), Some(exchange)) => {
                let limits = (&limits, &**interrupted);
                runner::run_part(program, opening, (&mut guide, start), exchange, limits, observed)?
            }
            (Some(mut guide), None) => {
                runner::run(program, opening, (&mut guide, start), &limits, interrupted, observed)?
            }
            (None, _) => {
                let mut cases = InOrder::new(plan.from(place));
                runner::run(program, opening, (&mut cases, start), &limits, interrupted, observed)?
            }
        };
        let (seconds, failures_seconds) = observer.seconds();
        observer.bar.finish_and_clear();

        let Observer { tally, directory, milestones, mut failures, mut unwritten, .. } = observer;
        // The failures of a part of a run are put together with those of the others first.
        if plan.shard.is_whole() {
            failures.settle();
        }
        failures.unwritten().iter().for_each(|error| unwritten.add(error));
        let timing = Timing {
            ended: format_rfc3339_millis(SystemTime::now()).to_string(),
            command: env::args().collect(),
            threads: job.limits.threads,
            seconds,
            failures_seconds,
            cycles_per_second: tally.totals.cycles as f64 / seconds,
            peak_memory: PeakMemory::now(),
            commit: runner::commit(),
            progress: milestones.into_points(),
        };
        let coverage = match plan.shard.is_whole() {
            true => tally.coverage.database(),
            false => tally.coverage.part(),
        };
        let (header, failures) = (self.header.clone(), failures.groups().to_vec());
        let sources = self.counted.as_ref().map(|counted| counted.sources.clone());
        let outcome =
            Outcome { header, tally, coverage, sources, failures, end, timing, unwritten };
        Ok(outcome.conclude(directory, &job.earlier))
    }

    /// Who collects what the run does.
    fn observer(&self, directory: RunDirectory) -> Observer {
        let Self { job, session, desk, plan, header, .. } = self;
        let origin = Origin {
            seed: Some(job.seed),
            build: Some(program::build().to_owned()),
            rtl: Some(header.rtl.clone()),
            given: job.setup.rtl.clone(),
            ..Origin::default()
        };
        let folder = directory.folder().to_owned();
        Observer {
            tally: Tally::new(job.block, plan, self.recorder()),
            directory,
            failures: Failures::new(
                job.block,
                Arc::clone(session),
                job.setup.rtl.clone(),
                &folder,
                origin.clone(),
                job.keep,
                desk.clone(),
            ),
            session: Arc::clone(session),
            profiles: plan.profiles.clone(),
            origin,
            save: job.save,
            unwritten: Unwritten::default(),
            aside: Duration::ZERO,
            began: Instant::now(),
            milestones: Milestones::default(),
            bar: if job.shows_progress { progress_bar(plan) } else { ProgressBar::hidden() },
            journal: None,
            hangs: 0,
            before: (0.0, 0.0),
            guide: job.until.as_ref().map(|until| {
                let guide = self.guide(plan.clone(), until.percent, true);
                let guide = guide.with_rounds_of(until.round_of());
                Rc::new(RefCell::new(guide))
            }),
        }
    }

    /// Who chooses the cases until so much is covered, if it `leans` towards what opens bins.
    fn guide(&self, plan: Plan, goal: f64, leans: bool) -> Guide {
        Guide::new(plan, &self.nothing_covered(), goal, leans)
    }

    /// Runs cases until all is covered, chosen ones or all in order; writes nothing.
    ///
    /// # Errors
    /// As [`runner::run`].
    pub fn cover(&self, seed: u64, leans: bool, progress: &mut dyn Progress) -> Result<End, Error> {
        let Job { program, limits, .. } = self.job;
        let mut guide = self.guide(Plan { seed, ..self.plan.clone() }, 100.0, leans);
        let source = (&mut guide, Start::default());
        runner::run(program, &self.opening, source, limits, &self.interrupted, progress)
    }

    /// What can be covered.
    pub fn nothing_covered(&self) -> Database {
        let mut database = Database::new(self.job.block, &self.plan.profiles);
        if let Some(counted) = &self.counted {
            database.code.clone_from(&counted.code);
        }
        database
    }

    /// Names of the profiles, in order.
    pub fn profiles(&self) -> impl Iterator<Item = &str> {
        self.plan.profiles.iter().map(|profile| &*profile.name)
    }

    /// Who collects what is covered.
    fn recorder(&self) -> Recorder {
        let Self { job, plan, header, opening, .. } = self;
        let run = Run {
            build: program::build().to_owned(),
            rtl: header.rtl.clone(),
            seed: job.seed,
            packets: job.setup.packets,
        };
        let profiles = plan.profiles.iter().map(|profile| profile.name.to_string()).collect();
        let weights = weights_hashes(&opening.scenarios);
        let scenarios = plan.scenarios.iter().cloned().zip(weights).collect();
        Recorder::new(self.nothing_covered(), run, profiles, scenarios)
    }

    /// Writes waves of the first case.
    ///
    /// # Errors
    /// If they cannot be made or written.
    pub fn trace(&self, waves: Waves) -> Result<(), Error> {
        let Some(case) = self.plan.iter().next() else { return Ok(()) };
        let text = self.session.vector(&case, Origin::default(), None)?;
        let vector = VectorFile::from_text(text, Path::new(&case.name))?;
        let (block, rtl) = (self.job.block, &self.job.setup.rtl);
        let profile = &self.plan.profiles[case.profile];
        self.desk.trace(&Subject { block, vector: &vector, profile, rtl }, waves)?.done()?;
        Ok(())
    }
}
