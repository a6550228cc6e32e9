//! `cosim run`.

use super::options::{Format, Patience, Target, check_output, of_block};
use super::summary::{Detail, Summary, Unwritten};
use super::{INTERRUPTED, counted, interruption, is_watched, print_json, print_text};
use crate::engine::{Action, AnyBlock, Opening, Session, Setup, Task, Waves};
use crate::error::Error;
use crate::harness::{Case, Outcome, Profile, Verdict};
use crate::models::{Built, Examined, Rtl};
use crate::program;
use crate::runner::{
    self, End, Failures, Header, Keep, Limits, MOST_CASES, PeakMemory, Place, Plan, Progress,
    RunDirectory, Shard, Tally, Timing,
};
use crate::vector::{Origin, VectorFile};
use crate::worker::desk::Subject;
use crate::worker::{self, Desk, Finish};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rand::RngExt;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// Packets of a case at most: its vector must not be larger than vectors may be.
const MOST_PACKETS: i64 = 20_000;

/// What to run.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Seed of the run: a number, or `random`.
    #[arg(long, default_value = "1", value_name = "N", allow_negative_numbers = true)]
    seed: Seed,
    /// Cases of each profile and scenario [default: the block's, see `cosim list`; no end with --time].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(0..MOST_CASES))]
    cases: Option<u64>,
    /// Packets of each case [default: drawn from its seed, 64 on average, now and then thousands].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=MOST_PACKETS))]
    packets: Option<u32>,
    /// A scenario, built in or in a JSON file; may be given more than once [default: all].
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Vec<String>,
    /// Only this case, as in arbiter/spec/smoke/17; names block, fixes and scenario, too.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["cases", "shard", "time"])]
    case: Option<String>,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The run directory: a new or empty folder [default: runs/BLOCK-SEED-TIME; runs/latest points to it].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier run in --out.
    #[arg(long, requires = "out")]
    force: bool,
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
    time: Option<Duration>,
    /// Part I of N of the run.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Write waves of the case to this file: 50 cycles before the end and 10 after a mismatch.
    #[arg(long, value_name = "FILE.fst|FILE.vcd", requires = "case")]
    trace: Option<PathBuf>,
    /// Trace every cycle of the case.
    #[arg(long, requires = "trace")]
    trace_all: bool,
    /// Keep failing vectors as they are.
    #[arg(long)]
    no_shrink: bool,
    /// Write no waves of failures.
    #[arg(long)]
    no_waves: bool,
    /// Keep the vectors of the first N matching cases, too.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    save_vectors: u64,
    #[command(flatten)]
    patience: Patience,
    /// The build a failure was seen with; a warning tells if this one differs.
    #[arg(long, value_name = "ID")]
    build: Option<String>,
    /// How to print the summary.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print the result and the failures only.
    #[arg(long)]
    quiet: bool,
    /// Print tables of all scenarios and rules.
    #[arg(long, conflicts_with = "quiet")]
    verbose: bool,
}

impl Arguments {
    fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Result,
            (false, true) => Detail::Tables,
            (false, false) => Detail::Covered,
        }
    }
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
struct CaseName {
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
        let index = index.parse().ok().filter(|index| *index < MOST_CASES).ok_or_else(wrong)?;
        Ok(Self {
            block: block.to_owned(),
            profile: profile.to_owned(),
            scenario: scenario.to_owned(),
            index,
        })
    }
}

/// Runs a regression, of one block after another.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let case: Option<CaseName> = arguments.case.as_deref().map(str::parse).transpose()?;
    let chosen = match &case {
        Some(case) => vec![arguments.target.of_case(&case.block, &case.profile)?],
        None => {
            let blocks = arguments.target.blocks()?;
            let profiles = |block: &&'static dyn AnyBlock| {
                let profiles = arguments.target.profiles(*block);
                Ok((*block, profiles.map_err(of_block(*block, &blocks))?))
            };
            blocks.iter().map(profiles).collect::<Result<Vec<_>, Error>>()?
        }
    };
    if let Some(trace) = &arguments.trace {
        Waves::format(trace)?;
        check_output(trace)?;
        if !matches!(chosen.as_slice(), [(_, profiles)] if profiles.len() == 1) {
            let message = "--trace takes one case: name one profile in --case";
            return Err(Error::Usage(message.to_owned()));
        }
    }
    let seed = match arguments.seed {
        Seed::Number(seed) => seed,
        Seed::Random => u64::from(rand::rng().random::<u32>()),
    };
    let threads = match arguments.threads {
        Some(threads) => usize::from(threads),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    warn_of_other_build(arguments.build.as_deref());

    let interrupted = interruption()?;
    let program = arguments.patience.program()?;
    let desk = Desk::new(program.clone(), Arc::clone(&interrupted));
    let rtl = arguments.target.rtl()?;
    let regression = Regression { arguments, case, seed, threads, rtl, interrupted, program, desk };

    // Whatever does not fit is refused before anything is written.
    let blocks: Vec<&dyn AnyBlock> = chosen.iter().map(|(block, _)| *block).collect();
    let prepared = chosen
        .iter()
        .map(|(block, profiles)| {
            let prepared = regression.prepare(*block, profiles.clone());
            prepared.map_err(of_block(*block, &blocks))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let place = match &arguments.out {
        Some(folder) => Place::Named { folder: folder.clone(), replace: arguments.force },
        None => Place::New { stem: format!("{}-{seed}", arguments.target.name(&blocks)) },
    };
    let names: Vec<&str> = blocks.iter().map(|block| block.name()).collect();
    let begun = place.of_blocks(&names)?.into_iter().zip(prepared);
    let begun = begun
        .map(|(place, prepared)| {
            let directory = RunDirectory::begin(&place, &prepared.header, &prepared.plan)?;
            Ok((prepared, directory))
        })
        .collect::<Result<Vec<_>, Error>>()?;

    let mut done = Done::default();
    let began = Instant::now();
    let mut left = begun.len() as u32;
    for (prepared, directory) in begun {
        // Each of the blocks that are left has as much of the time.
        let time = arguments.time.map(|time| time.saturating_sub(began.elapsed()) / left);
        left -= 1;
        let name = prepared.block.name();
        let ended = regression.run(prepared, directory, time)?;
        done.blocks.push((name, ended.code));
        if arguments.format == Format::Text {
            print_text(&ended.text)?;
            if names.len() > 1 {
                print_text("")?;
            }
        }
        done.summaries.push(ended.json);
        if ended.code == INTERRUPTED {
            break;
        }
    }
    match (arguments.format, done.summaries.as_slice()) {
        (Format::Json, [summary]) if names.len() == 1 => print_json(summary)?,
        (Format::Json, summaries) => print_json(&summaries)?,
        (Format::Text, _) if names.len() > 1 => print_text(&done.text(&names))?,
        _ => {}
    }
    Ok(ExitCode::from(done.code()))
}

/// What came of the blocks that were run.
#[derive(Default)]
struct Done {
    blocks: Vec<(&'static str, u8)>,
    summaries: Vec<serde_json::Value>,
}

impl Done {
    /// The exit code of all: the gravest.
    fn code(&self) -> u8 {
        let gravest = [INTERRUPTED, 1, UNWRITTEN];
        let is_there = |code: &u8| self.blocks.iter().any(|(_, other)| other == code);
        gravest.into_iter().find(is_there).unwrap_or(0)
    }

    /// What came of all of `names`, in one line.
    fn text(&self, names: &[&str]) -> String {
        let verdict = match self.code() {
            INTERRUPTED => "INTERRUPTED",
            1 => "FAIL",
            _ => "PASS",
        };
        let word = |name: &&str| {
            let code = self.blocks.iter().find(|(other, _)| other == name).map(|(_, code)| *code);
            let word = match code {
                Some(0) => "passed",
                Some(UNWRITTEN) => "passed, not all is written",
                Some(INTERRUPTED) => "interrupted",
                Some(_) => "failed",
                None => "not run",
            };
            format!("{name} {word}")
        };
        let words: Vec<String> = names.iter().map(word).collect();
        format!("{verdict}  {}: {}", counted(names.len() as u64, "block"), words.join(", "))
    }
}

/// What the runs of all blocks have in common.
struct Regression<'a> {
    arguments: &'a Arguments,
    case: Option<CaseName>,
    seed: u64,
    threads: usize,
    rtl: Rtl,
    interrupted: Arc<AtomicBool>,
    program: worker::Program,
    desk: Desk,
}

/// A block's run, before anything is written.
struct Prepared {
    block: &'static dyn AnyBlock,
    session: Arc<dyn Session>,
    opening: Opening,
    header: Header,
    plan: Plan,
}

/// What came of a block's run.
struct Ended {
    code: u8,
    text: String,
    json: serde_json::Value,
}

impl Regression<'_> {
    fn prepare(
        &self,
        block: &'static dyn AnyBlock,
        profiles: Vec<Profile>,
    ) -> Result<Prepared, Error> {
        let arguments = self.arguments;
        let scenarios = match &self.case {
            // A scenario from a file is still to be named by its file.
            Some(case) if arguments.scenario.is_empty() => vec![case.scenario.clone()],
            _ => arguments.scenario.clone(),
        };
        let indices = match (&self.case, arguments.cases, arguments.time) {
            (Some(case), ..) => case.index..case.index + 1,
            (None, Some(cases), _) => 0..cases,
            (None, None, Some(_)) => 0..u64::MAX,
            (None, None, None) => 0..block.cases(),
        };
        let rtl = self.rtl.clone();
        let setup = Setup { profiles, scenarios, packets: arguments.packets, rtl: rtl.clone() };
        let session = block.session(&setup)?;
        let examined = block.examine(&rtl)?;
        let opening = session.opening()?;
        let two_evaluations = check_models(&self.desk, &opening, &examined)?;
        let plan = Plan {
            block: block.name(),
            seed: self.seed,
            profiles: setup.profiles,
            scenarios: session.scenarios(),
            indices,
            shard: arguments.shard.unwrap_or(Shard::WHOLE),
        };
        if let Some(case) = &self.case
            && plan.scenarios != [case.scenario.clone()]
        {
            let message =
                format!("--case names the scenario `{}`, --scenario another", case.scenario);
            return Err(Error::Usage(message));
        }
        let header = Header {
            version: program::version(),
            build: program::build(),
            verilator: program::verilator(),
            rtl: examined.identity.clone(),
            given: rtl,
            rtl_files: examined.files.clone(),
            two_evaluations,
            block: block.name(),
            seed: self.seed,
            packets: arguments.packets,
            shard: plan.shard.to_string(),
            profiles: plan.profiles.iter().map(|profile| profile.name.to_string()).collect(),
            scenarios: plan.scenarios.clone(),
        };
        Ok(Prepared { block, session, opening, header, plan })
    }

    fn run(
        &self,
        prepared: Prepared,
        directory: RunDirectory,
        time: Option<Duration>,
    ) -> Result<Ended, Error> {
        let Prepared { block, session, opening, header, plan } = prepared;
        let Self { arguments, rtl, desk, .. } = self;
        let reproduce = Reproduce::new(arguments, block, rtl, self.seed);
        let origin = Origin {
            seed: Some(self.seed),
            build: Some(program::build().to_owned()),
            rtl: Some(header.rtl.clone()),
            given: rtl.clone(),
            ..Origin::default()
        };
        let keep = Keep { shrink: !arguments.no_shrink, waves: !arguments.no_waves };
        let folder = directory.folder().to_owned();
        let mut observer = Observer {
            tally: Tally::new(block, &plan),
            directory,
            failures: Failures::new(
                block,
                session.clone(),
                rtl.clone(),
                &folder,
                origin.clone(),
                keep,
                desk.clone(),
            ),
            session: session.clone(),
            profiles: plan.profiles.clone(),
            origin,
            save: arguments.save_vectors,
            unwritten: Unwritten::default(),
            aside: Duration::ZERO,
            bar: progress_bar(&plan, arguments.quiet),
        };
        let limits = Limits {
            threads: self.threads,
            max_failures: arguments.max_failures,
            max_hangs: arguments.max_hangs,
            time,
        };
        let begin = Instant::now();
        let (program, interrupted) = (&self.program, &self.interrupted);
        let end = runner::run(program, &opening, &plan, &limits, interrupted, &mut observer)?;
        let elapsed = begin.elapsed().saturating_sub(observer.aside);
        observer.bar.finish_and_clear();

        let Observer { tally, directory, mut failures, mut unwritten, aside, .. } = observer;
        failures.settle();
        failures.unwritten().iter().for_each(|error| unwritten.add(error));
        let timing = Timing {
            command: env::args().collect(),
            threads: self.threads,
            seconds: elapsed.as_secs_f64(),
            failures_seconds: aside.as_secs_f64(),
            cycles_per_second: tally.totals.cycles as f64 / elapsed.as_secs_f64(),
            peak_memory: PeakMemory::now(),
        };
        let results = match directory.finish(&tally, failures.groups(), end, &timing) {
            Ok(results) => Some(results),
            Err(error) => {
                unwritten.add(&error);
                None
            }
        };
        let summary = Summary {
            header: &header,
            tally: &tally,
            failures: failures.groups(),
            command: &|case| reproduce.command(case),
            folder: &folder,
            end,
            timing: &timing,
            results,
            unwritten: &unwritten,
        };
        let mut text = summary.text(arguments.detail());
        if let (Some(path), Some(case)) = (&arguments.trace, plan.iter().next()) {
            let vector = session.vector(&case, Origin::default(), None)?;
            let vector = VectorFile::from_text(vector, Path::new(&case.name))?;
            let profile = &plan.profiles[case.profile];
            let subject = Subject { block, vector: &vector, profile, rtl };
            let waves = Waves { path: path.clone(), all: arguments.trace_all };
            desk.trace(&subject, waves)?.done()?;
            text = format!("{}\nwaves: {}", text.trim_end(), path.display());
        }
        let code = match end {
            End::Interrupted => INTERRUPTED,
            _ if !tally.totals.passed() => 1,
            _ if unwritten.count > 0 => UNWRITTEN,
            _ => 0,
        };
        Ok(Ended { code, text, json: summary.json() })
    }
}

/// Exit code of a run that matched and could not be written down.
const UNWRITTEN: u8 = 3;

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

fn warn_of_other_build(build: Option<&str>) {
    if let Some(build) = build
        && build != program::build()
    {
        eprintln!(
            "cosim: warning: this is build {}, the failure was seen with build {build}",
            program::build()
        );
    }
}

/// Collects what the run does.
struct Observer {
    tally: Tally,
    directory: RunDirectory,
    failures: Failures,
    session: Arc<dyn Session>,
    profiles: Vec<Profile>,
    origin: Origin,
    /// Vectors of matching cases still to be saved.
    save: u64,
    unwritten: Unwritten,
    /// Time spent on failures.
    aside: Duration,
    bar: ProgressBar,
}

impl Progress for Observer {
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        // A case cut short by the user has no verdict; it counts nowhere and is written nowhere.
        if outcome.verdict == Verdict::Cancelled {
            return Ok(());
        }
        self.tally.add(case, outcome);
        self.bar.inc(1);
        self.bar.set_message(format!("{:.1} M cycles", self.tally.totals.cycles as f64 / 1e6));
        if outcome.verdict.is_failure() {
            self.bar.set_message(format!("shrinking {}", case.name));
            let begin = Instant::now();
            self.failures.add(case, &self.profiles[case.profile], outcome)?;
            self.aside += begin.elapsed();
        } else if self.save > 0 && outcome.verdict == Verdict::Match {
            self.save -= 1;
            let about = format!("{}: everything matches", case.name);
            let origin = Origin { about, case: Some(case.name.clone()), ..self.origin.clone() };
            let text = self.session.vector(case, origin, None);
            if let Err(error) = text.and_then(|text| self.directory.save(case, &text)) {
                self.unwritten.add(&error);
            }
        }
        if let Err(error) = self.directory.case(case, outcome) {
            // Said at once: a long run goes on without.
            eprintln!("cosim: warning: results are lost: {error}");
        }
        Ok(())
    }
}

/// Makes command lines that show one case again.
struct Reproduce {
    before: Vec<String>,
    after: Vec<String>,
    /// The scenarios' files, in the order of the scenarios; `None` for one that is built in.
    files: Vec<Option<String>>,
}

impl Reproduce {
    fn new(arguments: &Arguments, block: &dyn AnyBlock, rtl: &Rtl, seed: u64) -> Self {
        let program = env::args().next().unwrap_or_else(|| "cosim".to_owned());
        let before = vec![program, "run".to_owned(), "--seed".to_owned(), seed.to_string()];
        let mut after = Vec::new();
        if let Some(packets) = arguments.packets {
            after.extend(["--packets".to_owned(), packets.to_string()]);
        }
        after.extend(rtl.arguments());
        after.extend(["--build".to_owned(), program::build().to_owned()]);
        // A scenario's file is not in the case's name.
        let built_in = block.scenarios();
        let is_file = |given: &String| !built_in.iter().any(|(name, _)| name == given);
        let files = arguments.scenario.iter().map(|given| is_file(given).then(|| given.clone()));
        Self { before, after, files: files.collect() }
    }

    fn command(&self, case: &Case) -> String {
        let mut words = self.before.clone();
        words.extend(["--case".to_owned(), case.name.clone()]);
        if let Some(Some(file)) = self.files.get(case.scenario) {
            words.extend(["--scenario".to_owned(), file.clone()]);
        }
        words.extend(self.after.iter().cloned());
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    }
}

fn progress_bar(plan: &Plan, quiet: bool) -> ProgressBar {
    if quiet || !is_watched() {
        return ProgressBar::hidden();
    }
    let endless = plan.indices.end == u64::MAX;
    let (length, template) = if endless {
        (None, "{spinner} {pos} cases, {msg}, {elapsed}")
    } else {
        (Some(plan.len()), "{bar:30} {pos}/{len} cases, {msg}, {eta} left")
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
