//! `cosim mutate`.

mod golden;
mod grading;
mod judging;
mod only;
mod resume;

use super::options::{Caching, Format, Patience, Target, of_block};
use super::plan::{PlannedRun, RunPlan};
use super::{INTERRUPTED, interruption, is_watched, print_json, print_text, regression};
use crate::answers::Answers;
use crate::engine::{AnyBlock, Setup};
use crate::error::{Error, codes};
use crate::harness::Profile;
use crate::models::Rtl;
use crate::mutate::reasons::{self, Reason};
use crate::mutate::report::{Begun, Header, MOST_CASES, MOST_MUTANTS, MOST_PACKETS, Report};
use crate::mutate::{Means, Mutants};
use crate::program;
use crate::runner::{Claim, Place, Shard};
use crate::worker::Program;
use crate::yosys;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

/// Mutants of each profile, if nothing is said.
const MUTANTS: u32 = 1000;

/// What a grading that is in a folder has said before.
const SAID_BEFORE: [&str; 23] = [
    "golden",
    "corpus",
    "block",
    "fixes",
    "parameter",
    "GivenRtl",
    "plan",
    "mutants",
    "seed",
    "run_seed",
    "shard",
    "cases",
    "packets",
    "scenario",
    "out",
    "force",
    "no_judge",
    "checks_only",
    "min_score",
    "equivalents",
    "only",
    "stuck_after",
    "memory_limit",
];

/// What to grade.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// What this file lists: the runs of a plan that have a `min_score` or `mutants`, with the first of their seeds. --mutants,
    /// --cases and --run-seed come before what it says, and what it says besides may not be said again.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "block", "fixes", "parameter", "scenario", "packets", "min_score", "only"
    ])]
    plan: Option<PathBuf>,
    /// Mutants of each profile [default: 1000].
    #[arg(long, visible_alias = "size", value_name = "N",
          allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_MUTANTS)))]
    mutants: Option<u32>,
    /// The seed by which mutants are chosen.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// The seed of the cases [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    run_seed: Option<u64>,
    /// Part I of N of the mutants, by their numbers; see `cosim merge`.
    #[arg(long, value_name = "I/N", conflicts_with = "only")]
    shard: Option<Shard>,
    /// Cases of each scenario that a mutant may survive [default: those of `cosim run`].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..=MOST_CASES))]
    cases: Option<u64>,
    /// Packets of each case [default: drawn from its seed].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PACKETS)))]
    packets: Option<u32>,
    /// A scenario, built in or in a JSON file; may be given more than once [default: all].
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Vec<String>,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder of the result: a new or empty one [default: runs/mutate-BLOCK-SEED-TIME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier result in --out.
    #[arg(long, requires = "out")]
    force: bool,
    /// Go on with the grading in this folder, which was killed or interrupted; with --threads, --no-cache, --format and --quiet alone.
    #[arg(long, value_name = "DIR", conflicts_with_all = SAID_BEFORE)]
    resume: Option<PathBuf>,
    /// Do not ask whether anything can find what the cases do not; only what is seen at once to be equivalent is taken out.
    #[arg(long)]
    no_judge: bool,
    /// Compare nothing: which mutants does the scoreboard find alone, seeing the mutant? They are not judged.
    #[arg(long, conflicts_with = "only")]
    checks_only: bool,
    /// Put the faults into the golden model, one rule after another: what do the scoreboard and the corpus notice, with
    /// nothing compared? 1000 faults of each profile, 3 cases of each scenario, if nothing else is said.
    #[arg(long, conflicts_with_all = ["plan", "shard", "no_judge", "checks_only", "only"])]
    golden: bool,
    /// Vectors that are to notice faults of the golden model: files, folders, patterns.
    #[arg(long, value_name = "VECTOR", requires = "golden", num_args = 1..)]
    corpus: Vec<PathBuf>,
    /// Fail if less than so many percent of the mutants that are not equivalent are killed.
    #[arg(long, value_name = "PCT", value_parser = regression::percent)]
    min_score: Option<f64>,
    /// What people have written of mutants that make no difference: they count as equivalent unless something shows a
    /// difference, which is a failure.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["golden", "checks_only", "only"])]
    equivalents: Option<PathBuf>,
    /// This mutant alone, by its number: the case that finds it, its vector, waves and explanation.
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "min_score", "format"])]
    only: Option<u32>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show no progress.
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    caching: Caching,
    #[command(flatten)]
    patience: Patience,
}

/// Grades the bench of one block after another.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.golden {
        return golden::execute(arguments);
    }
    check(&arguments.target.rtl()?)?;
    if let Some(id) = arguments.only {
        return only::execute(arguments, id);
    }
    let interrupted = interruption()?;
    let jobs = match &arguments.resume {
        Some(folder) => resume::jobs(arguments, folder)?,
        None => Job::all(arguments)?.into_iter().map(|job| Todo::Job(Box::new(job))).collect(),
    };
    let are_several = jobs.len() > 1;
    let mut reports = Vec::new();
    let mut is_interrupted = false;
    for job in jobs {
        let Graduated { report, is_whole, folder } = match job {
            Todo::Job(job) => job.grade(&interrupted)?,
            Todo::Ended(graduated) => *graduated,
        };
        if arguments.format == Format::Text {
            print_text(&format!("{}{}", report.text(), folder.display()))?;
        }
        reports.push(report);
        if !is_whole {
            is_interrupted = true;
            // That of one of several blocks lies in the folder of all.
            let all = folder.parent().filter(|_| are_several).unwrap_or(&folder);
            program::say(format_args!(
                "interrupted; to go on: {} mutate --resume {}",
                program::name(),
                all.display()
            ));
            break;
        }
    }
    if arguments.format == Format::Json {
        match reports.as_slice() {
            [report] => print_json(report)?,
            reports => print_json(&reports)?,
        }
    }
    if is_interrupted {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let mut code = 0;
    let wanted = |one: &Report| arguments.min_score.or(one.run.min_score);
    for line in reports.iter().flat_map(|one| one.failures(wanted(one))) {
        code = 1;
        program::say(format_args!("{line}"));
    }
    Ok(ExitCode::from(code))
}

/// Mutations have models of their own.
fn check(rtl: &Rtl) -> Result<(), Error> {
    let wrong = |message: &str| Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    if !rtl.simulator.is_verilator() {
        return wrong(
            "--simulator icarus: mutations are graded with models of Verilator; leave it out",
        );
    }
    if rtl.netlist {
        return wrong(
            "--netlist: mutations are put into a netlist of their own, before synthesis; leave it out",
        );
    }
    Ok(())
}

/// The grading of one block.
struct Job {
    block: &'static dyn AnyBlock,
    chosen: Vec<Chosen>,
    setup: Setup,
    header: Header,
    claim: Claim,
    /// What it came to so far.
    before: Report,
    threads: usize,
    program: Program,
    judges: bool,
    shows_progress: bool,
}

/// What is graded, before a folder is taken for it.
struct Prepared {
    /// The name of its folder, if there are several.
    name: String,
    block: &'static dyn AnyBlock,
    chosen: Vec<Chosen>,
    setup: Setup,
    header: Header,
}

impl Prepared {
    /// What the arguments ask for of one of some blocks.
    fn new(
        arguments: &Arguments,
        block: &'static dyn AnyBlock,
        blocks: &[&'static dyn AnyBlock],
    ) -> Result<Self, Error> {
        let profiles = arguments.target.profiles(block).map_err(of_block(block, blocks))?;
        let wanted = PlannedRun {
            name: block.name().to_owned(),
            block,
            profiles,
            scenarios: arguments.scenario.clone(),
            cases: None,
            packets: arguments.packets,
            seed: 1,
            min_coverage: None,
            until: None,
            min_score: arguments.min_score,
            mutants: None,
        };
        Self::wanted(arguments, wanted).map_err(of_block(block, blocks))
    }

    /// What is wanted; what the arguments say of cases, mutants and the cases' seed comes first.
    fn wanted(arguments: &Arguments, wanted: PlannedRun) -> Result<Self, Error> {
        let rtl = arguments.target.rtl()?;
        let header = header(arguments, &wanted, &rtl)?;
        let PlannedRun { name, block, profiles, scenarios, packets, .. } = wanted;
        let setup = Setup { profiles, scenarios, packets, rtl, coverage: false };
        block.session(&setup)?;
        let chosen = choose(block, &setup, &header, &arguments.caching.answers()?)?;
        Ok(Self { name, block, chosen, setup, header })
    }
}

/// A profile and the mutants that were chosen in it.
struct Chosen {
    profile: Profile,
    mutants: Mutants,
}

/// A grading that is asked for.
enum Todo {
    /// It is to be done, or gone on with.
    Job(Box<Job>),
    /// It had ended before.
    Ended(Box<Graduated>),
}

/// What came of it.
struct Graduated {
    report: Report,
    is_whole: bool,
    folder: PathBuf,
}

impl Job {
    /// The gradings that the arguments ask for, each in a folder of its own.
    fn all(arguments: &Arguments) -> Result<Vec<Self>, Error> {
        let prepared: Vec<Prepared> = match &arguments.plan {
            Some(path) => {
                let wanted = gradings(path)?.into_iter();
                wanted.map(|run| Prepared::wanted(arguments, run)).collect::<Result<_, Error>>()?
            }
            None => {
                let blocks = arguments.target.blocks()?;
                let of = |block: &&'static dyn AnyBlock| Prepared::new(arguments, *block, &blocks);
                blocks.iter().map(of).collect::<Result<_, Error>>()?
            }
        };
        Self::claimed(arguments, prepared)
    }

    /// Takes the folders.
    fn claimed(arguments: &Arguments, prepared: Vec<Prepared>) -> Result<Vec<Self>, Error> {
        let place = match &arguments.out {
            Some(folder) => Place::Named { folder: folder.clone(), replace: arguments.force },
            None => {
                let plan = arguments.plan.as_ref().and_then(|plan| plan.file_stem());
                let blocks: Vec<&dyn AnyBlock> = prepared.iter().map(|one| one.block).collect();
                let name = match plan {
                    Some(plan) => plan.to_string_lossy().into_owned(),
                    None => arguments.target.name(&blocks),
                };
                Place::New { stem: format!("mutate-{name}-{}", arguments.seed) }
            }
        };
        let names: Vec<&str> = prepared.iter().map(|one| one.name.as_str()).collect();
        let places = place.of_blocks(&names)?;
        let job = |(prepared, place): (Prepared, Place)| {
            let claim = Claim::new(&place)?;
            // From here on it can be gone on with.
            let mut report = Report::new(prepared.header.clone());
            report.begun = Some(Begun::now());
            report.write(&claim.folder)?;
            Self::new(arguments, prepared, claim, report)
        };
        prepared.into_iter().zip(places).map(job).collect()
    }

    fn new(
        arguments: &Arguments,
        Prepared { block, chosen, setup, header, .. }: Prepared,
        claim: Claim,
        before: Report,
    ) -> Result<Self, Error> {
        let threads = match arguments.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        let judges = !arguments.no_judge && header.means == Means::Compare;
        Ok(Self {
            block,
            chosen,
            setup,
            header,
            claim,
            before,
            threads,
            program: arguments.patience.program()?,
            judges,
            shows_progress: is_watched() && !arguments.quiet,
        })
    }
}

/// Lets Yosys choose the mutants of every profile.
fn choose(
    block: &dyn AnyBlock,
    setup: &Setup,
    header: &Header,
    answers: &Answers,
) -> Result<Vec<Chosen>, Error> {
    let choose = |profile: &Profile| {
        let mutants = block.mutants(&setup.rtl, profile, header.mutants, header.seed)?;
        Ok(Chosen { profile: profile.clone(), mutants: mutants.with_answers(answers.clone()) })
    };
    setup.profiles.iter().map(choose).collect()
}

/// The runs of a plan whose bench is graded, each with the first of its seeds.
fn gradings(path: &Path) -> Result<Vec<PlannedRun>, Error> {
    let mut runs = RunPlan::gradings(path)?;
    runs.retain(|run| run.min_score.is_some() || run.mutants.is_some());
    if runs.is_empty() {
        let message =
            "none of its [[run]] has a `min_score` or `mutants`: there is nothing to grade";
        return Err(Error::File {
            code: codes::BAD_PLAN,
            path: path.to_owned(),
            message: message.to_owned(),
        });
    }
    Ok(runs)
}

fn header(arguments: &Arguments, wanted: &PlannedRun, rtl: &Rtl) -> Result<Header, Error> {
    let PlannedRun { block, profiles, .. } = wanted;
    let cases = arguments.cases.or(wanted.cases).unwrap_or_else(|| block.cases());
    if !(1..=MOST_CASES).contains(&cases) {
        let message =
            format!("{cases} cases of each scenario: a grading has 1 to {MOST_CASES}; say --cases");
        return Err(Error::Usage(codes::COMMAND_LINE, message));
    }
    let examined = block.examine(rtl)?;
    block.check_profiles(rtl, profiles)?;
    let yosys = yosys::version()?;
    Ok(Header {
        equivalents: match &arguments.equivalents {
            None => Vec::new(),
            Some(path) => written(path, block.name(), &examined.identity, &yosys)?,
        },
        yosys,
        tool: program::version().to_owned(),
        build: program::build().to_owned(),
        rtl: examined.identity.clone(),
        given: rtl.clone(),
        block: block.name().to_owned(),
        profiles: profiles.iter().map(|profile| profile.name.to_string()).collect(),
        seed: arguments.seed,
        means: if arguments.checks_only { Means::Checks } else { Means::Compare },
        mutants: arguments.mutants.or(wanted.mutants).unwrap_or(MUTANTS),
        run_seed: arguments.run_seed.unwrap_or(wanted.seed),
        cases,
        packets: wanted.packets,
        scenarios: wanted.scenarios.clone(),
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        min_score: wanted.min_score,
    })
}

/// What is written in a file of mutations of a block with this RTL. What is written of another RTL is told.
fn written(path: &Path, block: &str, rtl: &str, yosys: &str) -> Result<Vec<Reason>, Error> {
    let mut reasons = reasons::read(path)?;
    reasons.retain(|reason| {
        if reason.block != block {
            return false;
        }
        let is_of_it = reason.rtl == rtl && reason.yosys == yosys;
        if !is_of_it {
            program::say(format_args!(
                "{}: {} of {block} is about RTL {} by {}: not used for RTL {rtl} by {yosys}",
                path.display(),
                reason.cell,
                reason.rtl,
                reason.yosys
            ));
        }
        is_of_it
    });
    Ok(reasons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options_beside;

    #[test]
    fn what_a_grading_in_a_folder_has_said_is_not_said_again() {
        assert_eq!(
            options_beside::<Arguments>("resume"),
            ["format", "help", "no_cache", "no_sandbox", "quiet", "threads"]
        );
    }
}
