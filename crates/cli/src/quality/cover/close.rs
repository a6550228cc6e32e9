//! `cosim cover close`: what no case hit gets a vector or a proof.

use super::{merged, reached_code};
use crate::proofs::answers::ProverOptions;
use crate::terminal::options::{
    Threads, UserRtlOptions, duration, find_block, heading, path, whole_number,
};
use crate::{INTERRUPTED, interruption, print_text};
use clap::Args;
use cosim_analysis::close::CloseRun;
use cosim_analysis::subject::{subject, subject_rtl};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::points::Point;
use cosim_block::rtl::Rtl;
use cosim_formal::certificate::BELIEVED;
use cosim_formats::answers::{AnswerRecord, AnswerRow, ProverCommand, Subject, UNDECIDED};
use cosim_formats::run::DirectoryLock;
use cosim_harness::harness::Profile;
use cosim_regress::blocks::BlockHandle;
use cosim_regress::worker::{OneShotWorker, WorkerProgram};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::{self, Feature, RtlModels as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use verilated_build::activity::Activity;

/// What is to be closed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Coverage databases or run directories, of runs with --coverage; several are merged.
    #[arg(value_parser = path, required_unless_present = "check")]
    databases: Vec<PathBuf>,
    /// Prove the proofs of FILE again, without a cache: a result of `cover close`.
    #[arg(long, value_name = "FILE|DIR", value_parser = path, conflicts_with_all = ["databases", "only", "cases"], help_heading = heading::WHAT)]
    check: Option<PathBuf>,
    /// Close only the profile of this name; may be repeated [default: all of the runs].
    #[arg(long, value_name = "NAME", help_heading = heading::WHAT)]
    profile: Vec<String>,
    /// Close only the points and bins whose name contains TEXT.
    #[arg(long, value_name = "TEXT", help_heading = heading::WHAT)]
    only: Option<String>,
    #[command(flatten)]
    rtl: UserRtlOptions,
    /// Try N further cases of each scenario first.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole_number::<u64>(0..=1 << 20), help_heading = heading::WHAT)]
    cases: u64,
    /// Begin no further step of a profile after DURATION.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, help_heading = heading::STOP)]
    time: Duration,
    /// List every point, and not only those that are open.
    #[arg(long, help_heading = heading::OUTPUT)]
    details: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    options: ProverOptions,
}

struct Shared {
    rtl: Rtl,
    program: WorkerProgram,
    worker: OneShotWorker,
    interrupted: Arc<AtomicBool>,
    answers: Answers,
}

impl Shared {
    fn new(arguments: &Arguments) -> Result<Self, Error> {
        let interrupted = interruption()?;
        let rtl = arguments.rtl.named()?.unwrap_or_default();
        backend::check(&rtl, Feature::Proofs)?;
        let program = arguments.options.limits.program()?;
        let worker = OneShotWorker::new(program.clone(), Arc::clone(&interrupted));
        let answers = match arguments.check {
            Some(_) => Answers::none(),
            None => arguments.options.caching.answers()?,
        };
        Ok(Self { rtl, program, worker, interrupted, answers })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs `each` for a profile of a block, with the name of each step in the progress display.
    fn of_profile<T>(
        &self,
        arguments: &Arguments,
        block: &'static BlockHandle,
        profile: &Profile,
        folder: &Path,
        seed: u64,
        each: impl FnOnce(&CloseRun<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let activity = Activity::start(format!("closing {}, {}", block.info().name, profile.name));
        each(&CloseRun {
            block,
            rtl: &self.rtl,
            worker: &self.worker,
            program: &self.program,
            threads: arguments.threads.count(),
            answers: &self.answers,
            folder,
            deadline: Instant::now() + arguments.time,
            seed,
            cases: arguments.cases,
            only: arguments.only.as_deref(),
            interrupted: &self.interrupted,
            activity: &activity,
        })
    }
}

fn profile_of(block: &BlockHandle, name: &str) -> Result<Profile, Error> {
    let found = Profile::parse(name, block.info().profiles).map_err(|error| {
        Error::Usage(codes::UNKNOWN_PROFILE, format!("profile {name}: {error}"))
    })?;
    let one = <[Profile; 1]>::try_from(found).ok();
    one.map(|[profile]| profile).ok_or_else(|| {
        let message = format!("`{name}` is not one profile; name one of the runs");
        Error::Usage(codes::UNKNOWN_PROFILE, message)
    })
}

/// The selected names, which must exist.
fn selected<'n>(
    names: impl Iterator<Item = &'n String>,
    wanted: &[String],
) -> Result<Vec<&'n String>, Error> {
    let all: Vec<&String> = names.collect();
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        let known: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
        let message =
            format!("--profile: no run has the profile `{unknown}`; expected {}", known.join(", "));
        return Err(Error::Usage(codes::UNKNOWN_PROFILE, message));
    }
    Ok(all.into_iter().filter(|name| wanted.is_empty() || wanted.contains(name)).collect())
}

/// Closes coverage. Exit code 0 if all is closed, 1 if the RTL fails with inputs that were found,
/// and 4 if something is open or only believed.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(path) = &arguments.check {
        return check(arguments, path);
    }
    let database = merged(&arguments.databases)?;
    let block = find_block(&database.block)?;
    let info = block.info();
    let shared = Shared::new(arguments)?;
    let names = selected(database.profiles.keys(), &arguments.profile)?;
    let profiles: Vec<Profile> =
        names.into_iter().map(|name| profile_of(block, name)).collect::<Result<_, Error>>()?;
    reached_code(&database)?;
    shared.rtl.check_profiles(info, &profiles)?;
    let place = arguments.options.location(format!("close-{}", info.name));
    let subject = Subject {
        only: arguments.only.clone(),
        accept_believed: arguments.options.certainty.accept_believed,
        ..subject(ProverCommand::Close, block, subject_rtl(block, &shared.rtl)?)?
    };
    let claim = DirectoryLock::new(&place)?;
    let seeds = database.parts.iter().map(|part| part.run.seed);
    let seed = seeds.max().unwrap_or_default().wrapping_add(1);
    let mut closed = AnswerRecord::new(subject, Vec::new());
    for profile in &profiles {
        let folder = claim.folder.as_path();
        let result = shared.of_profile(arguments, block, profile, folder, seed, |run| {
            run.profile(profile, &database)
        });
        match result {
            Ok(result) => closed.profiles.push(result),
            // What is known so far stays.
            Err(_) if shared.is_interrupted() => break,
            Err(error) => return Err(error),
        }
        // What is known so far stays if a later profile fails.
        closed.write(&claim.folder)?;
        if shared.is_interrupted() {
            break;
        }
    }
    if shared.is_interrupted() {
        let (done, all) = (closed.profiles.len(), profiles.len());
        program::warn(format_args!("interrupted: {done} of {all} profiles have a result"));
    }
    let exit = closed.exit();
    arguments.options.finish(claim, &closed, arguments.details)?;
    arguments.options.print(&[closed])?;
    Ok(ExitCode::from(if shared.is_interrupted() { INTERRUPTED } else { exit }))
}

/// Proves the proofs of a file again, certified ones and others. Exit code 0 if all of them are
/// proved again, else 4.
fn check(arguments: &Arguments, path: &Path) -> Result<ExitCode, Error> {
    let closed = AnswerRecord::read_of(ProverCommand::Close, path)?;
    let block = find_block(&closed.subject.block)?;
    let shared = Shared::new(arguments)?;
    let now = shared.rtl.examined(block.info())?.identity.clone();
    if now != closed.subject.rtl.identity {
        let message = format!(
            "is about RTL {}, and this is RTL {now}; name the RTL with --rtl, or close the coverage \
             again",
            closed.subject.rtl.identity
        );
        return Err(Error::File { code: codes::OTHER_RUN, path: path.to_owned(), message });
    }
    let names = selected(closed.profiles.iter().map(|one| &one.profile), &arguments.profile)?;
    let [mut confirmed, mut believed, mut not] = [0_u64; 3];
    let mut text = String::new();
    for one in closed.profiles.iter().filter(|one| names.contains(&&one.profile)) {
        let profile = profile_of(block, &one.profile)?;
        let proved = one.rows.iter().filter(|row| row.status.proof().is_some());
        let proved: Vec<&Point> = proved.filter_map(|row| row.point.as_ref()).collect();
        let folder = tempfile::tempdir().map_err(Error::write("a temporary folder"))?;
        let results = shared.of_profile(arguments, block, &profile, folder.path(), 1, |run| {
            run.prove_again(&profile, &proved)
        })?;
        for AnswerRow { question, status, .. } in results {
            if status.is_proved() {
                confirmed += 1;
            } else {
                match status.proof() {
                    Some(_) => believed += 1,
                    None => not += 1,
                }
                let (name, words) = (&one.profile, status.words());
                text += &format!("  not proved: {question}, profile {name}: {words}\n");
            }
        }
    }
    let is_good = not == 0 && (believed == 0 || arguments.options.certainty.accept_believed);
    let word = match not {
        0 if is_good => "PASS",
        0 => "BELIEVED",
        _ => "FAIL",
    };
    print_text(&format!(
        "{word}  {}: {confirmed} proofs confirmed, {believed} {BELIEVED}, {not} not\n{}",
        text::path(path),
        text.trim_end()
    ))?;
    Ok(ExitCode::from(if is_good { 0 } else { UNDECIDED }))
}
