//! `cosim mutate`.

mod only;
mod resume;

use crate::running::plan::{PlannedRun, RunPlan};
use crate::terminal::options::{
    Caching, Certainty, Format, Formatting, ModelLimits, Quietness, Target, Threads, heading,
    of_block, path, percent, whole_number,
};
use crate::terminal::progress;
use crate::{INTERRUPTED, counted, interruption, print_json, print_text, worst, written};
use clap::Args;
use cosim_analysis::mutate::Mutants;
use cosim_analysis::mutate::analysis::{AnalysisEvent, ChosenMutants, MutationAnalysis};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::mutate::KillMethod;
use cosim_block::rtl::{Rtl, command_line};
use cosim_block::shard::Shard;
use cosim_formal::certificate::solver;
use cosim_formats::mutation::{ChangedLines, Header, MOST_CASES, MOST_MUTANTS, Report, RunCommand};
use cosim_formats::run::{DirectoryLock, HTML, OutputLocation};
use cosim_harness::harness::{Blocks, MOST_PACKETS, Profile};
use cosim_regress::blocks::{self, BlockHandle};
use cosim_regress::revision::named;
use cosim_regress::setup::{Session, Setup};
use cosim_report::paths::word;
use cosim_report::report::write_grading;
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::{self, Feature, RtlModels as _};
use cosim_rtl::changed::changed_lines;
use cosim_rtl::yosys;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use verilated_build::activity::Activity;

/// Default number of mutants of each profile.
const MUTANTS: u32 = 1000;

/// What to grade.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Analyse the runs of a plan that have `min_score` or `mutants`. --mutants, --cases and
    /// --run-seed override it; other options that it sets are rejected.
    #[arg(long, value_name = "FILE", value_parser = path, conflicts_with_all = [
        "block", "fixes", "parameter", "scenario", "packets", "min_score", "only"
    ], help_heading = heading::WHAT)]
    plan: Option<PathBuf>,
    /// Select N mutants of each profile [default: 1000].
    #[arg(long, visible_alias = "size", value_name = "N",
          allow_negative_numbers = true, value_parser = whole_number::<u32>(1..=u64::from(MOST_MUTANTS)), help_heading = heading::WHAT)]
    mutants: Option<u32>,
    /// Select mutants only in lines that differ from OLD, RTL as for `cosim diff`: a folder, a
    /// file, a file list (`.f`), REF:PATH of git, or `built-in`.
    #[arg(long, value_name = "OLD", help_heading = heading::WHAT)]
    in_diff: Option<String>,
    /// Seed of the selection of mutants.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole_number::<u64>(0..=u64::MAX), help_heading = heading::WHAT)]
    seed: u64,
    /// Seed of the cases [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number::<u64>(0..=u64::MAX), help_heading = heading::WHAT)]
    run_seed: Option<u64>,
    /// Analyse part I of N, every N-th mutant; see `cosim merge`.
    #[arg(long, value_name = "I/N", conflicts_with = "only", help_heading = heading::WHAT)]
    shard: Option<Shard>,
    /// Run at most N cases of each scenario on a mutant [default: as `cosim run`].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u64>(1..=MOST_CASES), help_heading = heading::WHAT)]
    cases: Option<u64>,
    /// Transactions of each case [default: drawn from its seed, 64 on average, sometimes
    /// thousands].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u32>(1..=u64::from(MOST_PACKETS)), help_heading = heading::WHAT)]
    packets: Option<u32>,
    /// Select a built-in scenario or a JSON or TOML file; may be repeated [default: all].
    #[arg(long, value_name = "NAME|FILE", help_heading = heading::WHAT)]
    scenario: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Write the result to DIR, a new or empty folder [default: runs/mutate-BLOCK-SEED-TIME].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    /// Replace an earlier result in --out.
    #[arg(long, requires = "out", help_heading = heading::OUTPUT)]
    force: bool,
    /// Skip formal equivalence checking except the structural check.
    #[arg(long, help_heading = heading::WHAT)]
    no_judge: bool,
    /// Compare no outputs: count the mutants that the scoreboard finds alone.
    #[arg(long, conflicts_with = "only", help_heading = heading::WHAT)]
    checks_only: bool,
    /// Fail if the score without equivalent mutants is below PCT in any profile.
    #[arg(long, value_name = "PCT", value_parser = percent, help_heading = heading::CHECK)]
    min_score: Option<f64>,
    #[command(flatten)]
    certainty: Certainty,
    /// Analyse the mutant ID alone: write the case that finds it, its vector, waves and
    /// explanation.
    #[arg(long, value_name = "ID", value_parser = whole_number::<u32>(1..=u64::from(MOST_MUTANTS)), conflicts_with_all = ["min_score", "accept_believed", "format"], help_heading = heading::REPRODUCE)]
    only: Option<u32>,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    #[command(flatten)]
    caching: Caching,
    #[command(flatten)]
    limits: ModelLimits,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    check(&arguments.target.rtl()?)?;
    if let Some(id) = arguments.only {
        return only::execute(arguments, id);
    }
    let interrupted = interruption()?;
    let jobs = analyses(arguments)?
        .into_iter()
        .map(|job| MutationRequest::Analysis(Box::new(job)))
        .collect();
    grade(
        jobs,
        arguments.formatting.format,
        arguments.min_score,
        arguments.quietness.quiet,
        &interrupted,
    )
}

/// Resumes the analyses in a folder with their original options.
///
/// # Errors
/// If there is nothing to resume, or if RTL, program or Yosys have changed.
pub fn resume(now: &crate::running::resume::Arguments, folder: &Path) -> Result<ExitCode, Error> {
    if now.output.details {
        let message = "--details applies to a run, and this is a mutation analysis; leave it out";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    let interrupted = interruption()?;
    let jobs = resume::jobs(now, folder)?;
    grade(jobs, now.output.format(), None, now.output.is_quiet(), &interrupted)
}

/// Runs the analyses and prints their results.
fn grade(
    jobs: Vec<MutationRequest>,
    format: Format,
    min_score: Option<f64>,
    is_quiet: bool,
    interrupted: &Arc<AtomicBool>,
) -> Result<ExitCode, Error> {
    if is_quiet {
        progress::hush();
    }
    let are_several = jobs.len() > 1;
    let mut reports = Vec::new();
    let mut is_interrupted = false;
    for job in jobs {
        let GradingResult { report, is_whole, folder } = match job {
            MutationRequest::Analysis(job) => {
                let mut renderer = Renderer::default();
                let result = job.run(interrupted, &mut |event| renderer.show(event))?;
                let folder = result.lock.folder.clone();
                write_grading(&folder, &result.report, Blocks(&blocks::infos()))?;
                result.lock.release();
                GradingResult { report: result.report, is_whole: result.is_whole, folder }
            }
            MutationRequest::Finished(graduated) => *graduated,
        };
        if format == Format::Text {
            let end = written(&folder.join(HTML), &["open", &word(&folder)]);
            print_text(&format!("{}{end}", report.text()))?;
        }
        reports.push(report);
        if !is_whole {
            is_interrupted = true;
            // Name the common folder if there are several blocks.
            let all = folder.parent().filter(|_| are_several).unwrap_or(&folder);
            program::print_note(format_args!(
                "interrupted; to continue: {} resume {}",
                program::called(),
                command_line(&[word(all)])
            ));
            break;
        }
    }
    if format == Format::Json {
        match reports.as_slice() {
            [report] => print_json(report)?,
            reports => print_json(&reports)?,
        }
    }
    if is_interrupted {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let wanted = |one: &Report| min_score.or(one.run.min_score);
    Ok(ExitCode::from(concluded(&reports, wanted)))
}

/// The exit code of complete analyses. Prints why they fail.
pub(crate) fn concluded(reports: &[Report], wanted: impl Fn(&Report) -> Option<f64>) -> u8 {
    for report in reports {
        report
            .failures(wanted(report))
            .iter()
            .for_each(|line| program::fail(format_args!("{line}")));
        if report.score().believed > 0 {
            Certainty::warn_without(report.run.solver.as_deref());
        }
    }
    worst(reports.iter().map(|report| report.exit(wanted(report))))
}

/// Refuses options that conflict with mutants, which need models of their own.
fn check(rtl: &Rtl) -> Result<(), Error> {
    backend::check(rtl, Feature::Mutants)?;
    if rtl.assertions {
        let message = "--assertions: mutation analysis counts what cases find; leave it out";
        return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    }
    Ok(())
}

/// An analysis before its folder is created.
struct PreparedGrading {
    /// The name of its folder, if there are several.
    name: String,
    block: &'static BlockHandle,
    chosen: Vec<ChosenMutants>,
    setup: Setup,
    header: Header,
}

impl PreparedGrading {
    fn new(
        arguments: &Arguments,
        block: &'static BlockHandle,
        blocks: &[&'static BlockHandle],
    ) -> Result<Self, Error> {
        let profiles = arguments.target.profiles(block).map_err(of_block(block, blocks))?;
        let wanted = PlannedRun {
            name: block.info().name.to_owned(),
            block,
            profiles,
            scenarios: arguments.scenario.clone(),
            cases: None,
            packets: arguments.packets,
            seed: 1,
            min_coverage: None,
            until_coverage: None,
            min_score: arguments.min_score,
            mutants: None,
        };
        Self::wanted(arguments, wanted).map_err(of_block(block, blocks))
    }

    /// The analysis of a planned run. Options for cases, mutants and the seed of the cases take
    /// precedence.
    fn wanted(arguments: &Arguments, wanted: PlannedRun) -> Result<Self, Error> {
        let rtl = arguments.target.rtl()?;
        let header = header(arguments, &wanted, &rtl)?;
        let PlannedRun { name, block, profiles, scenarios, packets, .. } = wanted;
        let setup = Setup { profiles, scenarios, packets, rtl, coverage: false };
        Session::new(block, &setup)?;
        let _activity = Activity::start(format!("choosing mutants of {}", block.info().name));
        let chosen = choose(block, &setup, &header, &arguments.caching.answers()?)?;
        Ok(Self { name, block, chosen, setup, header })
    }
}

enum MutationRequest {
    /// To be started or resumed.
    Analysis(Box<MutationAnalysis>),
    Finished(Box<GradingResult>),
}

struct GradingResult {
    report: Report,
    is_whole: bool,
    folder: PathBuf,
}

#[derive(Default)]
struct Renderer {
    profile: Option<Activity>,
}

impl Renderer {
    fn show(&mut self, event: AnalysisEvent<'_>) {
        if let AnalysisEvent::Profile { block, profile } = event {
            self.profile = Some(Activity::start(format!("mutating {block} {profile}")));
        }
        let Some(now) = &self.profile else { return };
        match event {
            AnalysisEvent::Profile { .. } => {}
            AnalysisEvent::Round { alive, mutants, run, cases } => {
                now.count("cases", run, Some(cases));
                now.note(format!("{alive} of {} left", counted(mutants, "mutant")));
            }
            AnalysisEvent::Sorting => {
                now.count("", 0, None);
                now.note("sorting out equivalent mutants");
            }
            AnalysisEvent::Equivalence { left } => {
                // The cases have run; checks of equivalence have counts of their own.
                now.count("", 0, None);
                now.note(format!("{} survived", counted(left, "mutant")));
            }
            AnalysisEvent::Ended => self.profile = None,
        }
    }
}

/// The analyses from the arguments, each in its own folder.
fn analyses(arguments: &Arguments) -> Result<Vec<MutationAnalysis>, Error> {
    let prepared: Vec<PreparedGrading> = match &arguments.plan {
        Some(path) => {
            let wanted = gradings(path)?.into_iter();
            wanted
                .map(|run| PreparedGrading::wanted(arguments, run))
                .collect::<Result<_, Error>>()?
        }
        None => {
            let blocks = arguments.target.blocks()?;
            let of = |block: &&'static BlockHandle| PreparedGrading::new(arguments, block, &blocks);
            blocks.iter().map(of).collect::<Result<_, Error>>()?
        }
    };
    let has_mutants = |one: &PreparedGrading| {
        let some = one.chosen.iter().any(|chosen| !chosen.mutants.mutations.is_empty());
        if !some && arguments.in_diff.is_some() {
            program::print_note(format_args!("{}: no mutant is in a changed line", one.name));
        }
        some || arguments.in_diff.is_none()
    };
    let prepared: Vec<_> = prepared.into_iter().filter(has_mutants).collect();
    if prepared.is_empty() { Ok(Vec::new()) } else { claimed(arguments, prepared) }
}

/// Creates the folders.
fn claimed(
    arguments: &Arguments,
    prepared: Vec<PreparedGrading>,
) -> Result<Vec<MutationAnalysis>, Error> {
    let place = match &arguments.out {
        Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: arguments.force },
        None => {
            let plan = arguments.plan.as_ref().and_then(|plan| plan.file_stem());
            let blocks: Vec<&BlockHandle> = prepared.iter().map(|one| one.block).collect();
            let name = match plan {
                Some(plan) => plan.to_string_lossy().into_owned(),
                None => arguments.target.name(&blocks),
            };
            OutputLocation::New { stem: format!("mutate-{name}-{}", arguments.seed) }
        }
    };
    let names: Vec<&str> = prepared.iter().map(|one| one.name.as_str()).collect();
    let places = place.of_blocks(&names)?;
    let job = |(prepared, place): (PreparedGrading, OutputLocation)| {
        let lock = DirectoryLock::new(&place)?;
        // From now on, the analysis can be resumed.
        let mut report = Report::new(prepared.header.clone());
        report.run_command = Some(RunCommand::from_process(&report.run.given));
        report.write(&lock.folder)?;
        analysis(arguments, prepared, lock, report)
    };
    prepared.into_iter().zip(places).map(job).collect()
}

fn analysis(
    arguments: &Arguments,
    PreparedGrading { block, chosen, setup, header, .. }: PreparedGrading,
    lock: DirectoryLock,
    before: Report,
) -> Result<MutationAnalysis, Error> {
    let checks_equivalence = !arguments.no_judge && header.means == KillMethod::Compare;
    Ok(MutationAnalysis {
        block,
        chosen,
        setup,
        header,
        lock,
        before,
        threads: arguments.threads.count(),
        program: arguments.limits.program()?,
        checks_equivalence,
    })
}

/// Lets Yosys choose the mutants of every profile.
fn choose(
    block: &BlockHandle,
    setup: &Setup,
    header: &Header,
    answers: &Answers,
) -> Result<Vec<ChosenMutants>, Error> {
    let choose = |profile: &Profile| {
        let mutants = Mutants::choose(
            block.info(),
            &setup.rtl,
            &profile.parameters,
            header.mutants,
            header.seed,
            header.in_diff.as_ref(),
        )?;
        Ok(ChosenMutants {
            profile: profile.clone(),
            mutants: mutants.with_answers(answers.clone()),
        })
    };
    setup.profiles.iter().map(choose).collect()
}

/// The runs of a plan with a mutation analysis, each with its first seed.
fn gradings(path: &Path) -> Result<Vec<PlannedRun>, Error> {
    let mut runs = RunPlan::gradings(path)?;
    runs.retain(|run| run.min_score.is_some() || run.mutants.is_some());
    if runs.is_empty() {
        let message = "no [[run]] has `min_score` or `mutants`, so there is no mutation analysis to run; add \
             one of them";
        return Err(Error::File {
            code: codes::BAD_PLAN,
            path: path.to_owned(),
            message: message.to_owned(),
        });
    }
    Ok(runs)
}

/// The lines of an RTL that differ from RTL before a change.
fn changed_since(
    named_old: &str,
    block: &'static BlockHandle,
    rtl: &Rtl,
) -> Result<ChangedLines, Error> {
    let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let like = Rtl { lists: Vec::new(), ..rtl.clone() };
    let old = named(named_old)?.rtl(&folder.path().join("rtl"), &like)?.examined(block.info())?;
    let new = rtl.examined(block.info())?;
    let lines = changed_lines(&old, &new)?.into_iter();
    let lines = lines.map(|line| new.typed(&line)).collect();
    Ok(ChangedLines { old: named_old.to_owned(), lines })
}

fn header(arguments: &Arguments, wanted: &PlannedRun, rtl: &Rtl) -> Result<Header, Error> {
    let PlannedRun { block, profiles, .. } = wanted;
    let cases = arguments.cases.or(wanted.cases).unwrap_or_else(|| block.info().cases);
    if !(1..=MOST_CASES).contains(&cases) {
        let message = format!(
            "{cases} cases per scenario: mutation analysis takes 1 to {MOST_CASES}; choose \
                 with --cases"
        );
        return Err(Error::Usage(codes::COMMAND_LINE, message));
    }
    let examined = rtl.examined(block.info())?;
    rtl.check_profiles(block.info(), profiles)?;
    Ok(Header {
        yosys: yosys::version()?,
        solver: solver::version(),
        tool: program::version().to_owned(),
        build: program::build().to_owned(),
        rtl: examined.identity.clone(),
        given: rtl.clone(),
        block: block.info().name.to_owned(),
        profiles: profiles.iter().map(|profile| profile.name.to_string()).collect(),
        seed: arguments.seed,
        means: if arguments.checks_only { KillMethod::Checks } else { KillMethod::Compare },
        mutants: arguments.mutants.or(wanted.mutants).unwrap_or(MUTANTS),
        run_seed: arguments.run_seed.unwrap_or(wanted.seed),
        cases,
        packets: wanted.packets,
        scenarios: wanted.scenarios.clone(),
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        in_diff: arguments
            .in_diff
            .as_deref()
            .map(|old| changed_since(old, block, rtl))
            .transpose()?,
        no_judge: arguments.no_judge,
        min_score: wanted.min_score,
        accept_believed: arguments.certainty.accept_believed,
    })
}
