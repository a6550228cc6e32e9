//! `cosim mutate`.

mod judging;
mod only;

use super::options::{Format, Patience, Target, of_block};
use super::{INTERRUPTED, counted, interruption, is_watched, print_json, print_text};
use crate::engine::{AnyBlock, Setup};
use crate::error::Error;
use crate::harness::{Case, Profile};
use crate::models::{Built, Rtl};
use crate::mutate;
use crate::mutate::grade::{Found, Ground, Workers};
use crate::mutate::report::{Fate, Graded, Header, Report};
use crate::mutate::{Means, Mutants, Mutation};
use crate::program;
use crate::runner::{Claim, MOST_CASES, Place, Plan, Shard};
use crate::worker::Program;
use clap::Args;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

/// Mutants of a profile at most.
const MOST_MUTANTS: i64 = 100_000;
/// Cases of each scenario after which a round ends: most mutants are found by the first ones, and what is found
/// is not run again.
const ROUNDS: [u64; 5] = [1, 3, 10, 40, 150];
/// Cases of each scenario after which what is seen at once to be equivalent is taken out.
const LOOKS: usize = 10;
/// A model with fewer mutants is faster, and is made if it has at most this part of them.
const FEWER: usize = 2;

/// What to grade.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Mutants of each profile.
    #[arg(long, visible_alias = "size", value_name = "N", default_value_t = 1000,
          allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=MOST_MUTANTS))]
    mutants: u32,
    /// The seed by which mutants are chosen.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// The seed of the cases.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    run_seed: u64,
    /// Cases of each scenario that a mutant may survive [default: those of `cosim run`].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..MOST_CASES))]
    cases: Option<u64>,
    /// Packets of each case [default: drawn from its seed].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=20_000))]
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
    /// Go on with the interrupted grading of this folder, which says what is graded.
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "out", "checks_only", "mutants", "seed", "run_seed", "cases", "packets", "scenario", "block", "fixes", "parameter", "rtl"
    ])]
    resume: Option<PathBuf>,
    /// Do not ask whether anything can find what the cases do not.
    #[arg(long)]
    no_judge: bool,
    /// Compare nothing: which mutants does the scoreboard find alone, seeing the mutant? They are not judged.
    #[arg(long, conflicts_with = "only")]
    checks_only: bool,
    /// Fail if less than so many percent of the mutants that are not equivalent are killed.
    #[arg(long, value_name = "PCT", value_parser = percent)]
    min_score: Option<f64>,
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
    patience: Patience,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// Grades the bench of one block after another.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(id) = arguments.only {
        return only::execute(arguments, id);
    }
    let interrupted = interruption()?;
    let jobs = match &arguments.resume {
        Some(folder) => vec![Job::resumed(arguments, folder)?],
        None => Job::all(arguments)?,
    };
    let mut reports = Vec::new();
    let mut is_interrupted = false;
    for job in jobs {
        let Graduated { report, is_whole, folder } = job.grade(&interrupted)?;
        if arguments.format == Format::Text {
            print_text(&format!("{}{}", report.text(), folder.display()))?;
        }
        reports.push(report);
        if !is_whole {
            is_interrupted = true;
            eprintln!(
                "cosim: interrupted; to go on: {} mutate --resume {}",
                program::name(),
                folder.display()
            );
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
    let wanted = arguments.min_score.unwrap_or(0.0);
    let mut code = 0;
    for report in &reports {
        for Graded { profile, score, .. } in &report.profiles {
            let percent = score.percent_without_equivalent;
            if percent < wanted {
                code = 1;
                let block = &report.run.block;
                eprintln!("cosim: {block} {profile}: score {percent:.2} %, below {wanted} %");
            }
        }
    }
    Ok(ExitCode::from(code))
}

/// The grading of one block.
struct Job {
    block: &'static dyn AnyBlock,
    chosen: Vec<Chosen>,
    setup: Setup,
    header: Header,
    claim: Claim,
    /// What an earlier grading came to.
    before: Option<Report>,
    threads: usize,
    program: Program,
    judges: bool,
    shows_progress: bool,
}

/// A profile and the mutants that were chosen in it.
struct Chosen {
    profile: Profile,
    mutants: Mutants,
}

/// What came of it.
struct Graduated {
    report: Report,
    is_whole: bool,
    folder: PathBuf,
}

impl Job {
    /// The gradings that the arguments ask for.
    fn all(arguments: &Arguments) -> Result<Vec<Self>, Error> {
        let target = &arguments.target;
        let blocks = target.blocks()?;
        let rtl = target.rtl()?;
        let mut headers = Vec::new();
        for block in &blocks {
            let of_block = || of_block(*block, &blocks);
            let profiles = target.profiles(*block).map_err(of_block())?;
            let header = header(arguments, *block, &profiles, &rtl).map_err(of_block())?;
            let setup = Setup {
                profiles: profiles.clone(),
                scenarios: arguments.scenario.clone(),
                packets: arguments.packets,
                rtl: rtl.clone(),
            };
            block.session(&setup).map_err(of_block())?;
            let chosen = choose(*block, &setup, &header)?;
            headers.push((*block, chosen, setup, header));
        }
        let place = match &arguments.out {
            Some(folder) => Place::Named { folder: folder.clone(), replace: arguments.force },
            None => {
                Place::New { stem: format!("mutate-{}-{}", target.name(&blocks), arguments.seed) }
            }
        };
        let names: Vec<&str> = blocks.iter().map(|block| block.name()).collect();
        let places = place.of_blocks(&names)?;
        let mut jobs = Vec::new();
        for ((block, chosen, setup, header), place) in headers.into_iter().zip(places) {
            let claim = Claim::new(&place)?;
            jobs.push(Self::new(arguments, block, chosen, setup, header, claim, None)?);
        }
        Ok(jobs)
    }

    /// The grading that a folder was left with.
    fn resumed(arguments: &Arguments, folder: &std::path::Path) -> Result<Self, Error> {
        let before = Report::read(folder)?;
        let wrong = |message: String| Error::File { path: folder.to_owned(), message };
        let run = before.run.clone();
        let block = program::find(&run.block)
            .ok_or_else(|| wrong(format!("`{}` is no block of this program", run.block)))?;
        let profiles = run.profiles.iter().map(|name| {
            let found = Profile::parse(name, block.profiles());
            found.map_err(|error| wrong(error.to_string()))
        });
        let profiles = profiles.collect::<Result<Vec<Vec<Profile>>, Error>>()?.concat();
        let setup = Setup {
            profiles: profiles.clone(),
            scenarios: run.scenarios.clone(),
            packets: run.packets,
            rtl: run.given.clone(),
        };
        let now = block.examine(&run.given)?.identity.clone();
        for (what, then, now) in [
            ("RTL", run.rtl.as_str(), now.as_str()),
            ("build of the program", &run.build, program::build()),
        ] {
            if then != now {
                let message =
                    format!("was graded with another {what}, {then}; now it is {now}: grade again");
                return Err(wrong(message));
            }
        }
        let chosen = choose(block, &setup, &run)?;
        let claim = Claim::again(folder)?;
        Self::new(arguments, block, chosen, setup, run, claim, Some(before))
    }

    fn new(
        arguments: &Arguments,
        block: &'static dyn AnyBlock,
        chosen: Vec<Chosen>,
        setup: Setup,
        header: Header,
        claim: Claim,
        before: Option<Report>,
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

    /// Grades every profile. What was found until an interruption is in the folder.
    fn grade(self, interrupted: &Arc<AtomicBool>) -> Result<Graduated, Error> {
        let folder = self.claim.folder.clone();
        let mut report = Report::new(self.header.clone());
        report.profiles =
            self.before.as_ref().map_or_else(Vec::new, |report| report.profiles.clone());
        let workers = Workers { program: &self.program, threads: self.threads, interrupted };
        let mut is_whole = true;
        for (index, chosen) in self.chosen.iter().enumerate() {
            match self.profile(index, chosen, &workers, &mut report) {
                Ok(()) => {}
                // While a model is compiled it is the compiler that is interrupted.
                Err(error) if error.code() == INTERRUPTED => {
                    is_whole = false;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        report.complete = is_whole;
        report.write(&folder)?;
        self.claim.release();
        Ok(Graduated { report, is_whole, folder })
    }

    fn profile(
        &self,
        index: usize,
        Chosen { profile, mutants }: &Chosen,
        workers: &Workers<'_>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let Self { block, setup, header, .. } = self;
        let bar = match self.shows_progress {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        let fresh = Graded::new(&profile.name, &mutants.mutations);
        if report.profiles.len() <= index {
            report.profiles.push(fresh);
        } else if !has_same_mutants(&report.profiles[index], &fresh) {
            return Err(Error::Environment(format!(
                "{}: other mutants are chosen now than before, by {}; grade again",
                profile.name,
                mutate::version()?
            )));
        }
        let setup = Setup { profiles: vec![profile.clone()], ..setup.clone() };
        let session = block.session(&setup)?;
        let opening = session.opening()?;
        let plan = self.plan(profile)?;
        let cases: Vec<_> = plan.iter().collect();
        let mut made: Option<(Built, usize)> = None;
        for end in ROUNDS.into_iter().filter(|end| *end < header.cases).chain([header.cases]) {
            let graded = &mut report.profiles[index];
            let end = end as usize * plan.scenarios.len();
            let begin = graded.cases_run as usize;
            let alive = graded.alive();
            if begin >= end {
                continue;
            }
            if alive.is_empty() {
                break;
            }
            let text = format!(
                "{} {}: {} of {} left, {} of {} cases",
                header.block,
                profile.name,
                alive.len(),
                counted(graded.score.mutants, "mutant"),
                begin,
                cases.len()
            );
            bar.set_message(text);
            bar.tick();
            let is_small = |(_, size): &(_, usize)| alive.len() * FEWER > *size;
            if !made.as_ref().is_some_and(is_small) {
                made = Some((self.model(mutants, &alive)?, alive.len()));
            }
            let Some((model, _)) = &made else { continue };
            let ground = Ground {
                block: block.name(),
                profile: &profile.name,
                model,
                scenarios: &opening.scenarios,
                packets: header.packets,
                cases: &cases,
                means: header.means,
            };
            let mut hunted = alive.clone();
            // The RTL as it is: nothing may find it.
            hunted.insert(0, 0);
            let found = workers.round(&ground, begin..end, &hunted)?;
            check_green(&found, &cases)?;
            graded.set(
                found
                    .iter()
                    .map(|(id, (case, outcome))| (*id, Fate::killed(&cases[*case].name, outcome))),
            );
            // What nothing can find need not be run with all the cases that follow.
            let looked_at = LOOKS * plan.scenarios.len();
            if self.judges && begin < looked_at && looked_at <= end {
                bar.set_message(format!("{} {}: the judge looks", header.block, profile.name));
                bar.tick();
                self.judge_at_once(mutants, graded)?;
            }
            // Not before: an interruption of the judge would leave out what it has not seen.
            graded.cases_run = end as u64;
            report.write(&self.claim.folder)?;
        }
        if self.judges {
            let left = report.profiles[index].alive().len() as u64;
            let text =
                format!("{} {}: {} judged", header.block, profile.name, counted(left, "mutant"));
            bar.set_message(text);
            bar.tick();
            self.judge(profile, mutants, workers, report, index)?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The cases of a profile.
    fn plan(&self, profile: &Profile) -> Result<Plan, Error> {
        let Self { block, setup, header, .. } = self;
        let profiles = vec![profile.clone()];
        let session = block.session(&Setup { profiles: profiles.clone(), ..setup.clone() })?;
        Ok(Plan {
            block: block.name(),
            seed: header.run_seed,
            profiles,
            scenarios: session.scenarios(),
            indices: 0..header.cases,
            shard: Shard::WHOLE,
        })
    }

    /// The model with the mutations of these numbers.
    fn model(&self, mutants: &Mutants, ids: &[u32]) -> Result<Built, Error> {
        self.block.mutated(mutants, &self.mutations(mutants, ids))
    }

    /// The mutations of these numbers, which rise.
    fn mutations(&self, mutants: &Mutants, ids: &[u32]) -> Vec<Mutation> {
        let is_named = |mutation: &&Mutation| ids.binary_search(&mutation.id).is_ok();
        mutants.mutations.iter().filter(is_named).cloned().collect()
    }
}

/// Lets Yosys choose the mutants of every profile.
fn choose(block: &dyn AnyBlock, setup: &Setup, header: &Header) -> Result<Vec<Chosen>, Error> {
    let choose = |profile: &Profile| {
        let mutants = block.mutants(&setup.rtl, profile, header.mutants, header.seed)?;
        Ok(Chosen { profile: profile.clone(), mutants })
    };
    setup.profiles.iter().map(choose).collect()
}

/// Nothing may find the RTL as it is.
fn check_green(found: &BTreeMap<u32, Found>, cases: &[Case]) -> Result<(), Error> {
    let Some((case, outcome)) = found.get(&0) else { return Ok(()) };
    Err(Error::Lost(format!(
        "the bench is not green without any mutation: {}: {}; if `cosim run --case {0}` matches, Yosys reads this \
         RTL otherwise than Verilator",
        cases[*case].name, outcome.verdict
    )))
}

fn has_same_mutants(left: &Graded, right: &Graded) -> bool {
    let mutations = |graded: &Graded| -> Vec<Mutation> {
        graded.mutants.iter().map(|mutant| mutant.mutation.clone()).collect()
    };
    left.profile == right.profile && mutations(left) == mutations(right)
}

fn header(
    arguments: &Arguments,
    block: &dyn AnyBlock,
    profiles: &[Profile],
    rtl: &Rtl,
) -> Result<Header, Error> {
    let examined = block.examine(rtl)?;
    block.check_profiles(rtl, profiles)?;
    Ok(Header {
        yosys: mutate::version()?,
        tool: program::version().to_owned(),
        build: program::build().to_owned(),
        rtl: examined.identity.clone(),
        given: rtl.clone(),
        block: block.name().to_owned(),
        profiles: profiles.iter().map(|profile| profile.name.to_string()).collect(),
        seed: arguments.seed,
        means: if arguments.checks_only { Means::Checks } else { Means::Compare },
        mutants: arguments.mutants,
        run_seed: arguments.run_seed,
        cases: arguments.cases.unwrap_or_else(|| block.cases()),
        packets: arguments.packets,
        scenarios: arguments.scenario.clone(),
    })
}
