//! `cosim bisect`.

use super::options::{Choice, Format, Formatting, ModelLimits, Target, heading, path};
use super::replay::load;
use super::{INTERRUPTED, counted, interruption, print_json, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::run::Plan;
use cosim_harness::harness::{Profile, Verdict};
use cosim_regress::bisect::{Bisection, Commit, CommitResult, History};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::loaded::LoadedVector;
use cosim_regress::regression::CaseName;
use cosim_regress::revision::Named;
use cosim_regress::runner::{Replay, replay_all};
use cosim_regress::setup::{Session, Setup};
use cosim_rtl::models::{RtlModels as _, View};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use tempfile::TempDir;
use verilated_build::activity::Activity;

/// A history of RTL, and a vector that fails at its end.
#[derive(Debug, Args)]
pub struct Arguments {
    /// RTL at an older commit, at which the vector passes: REF:PATH of git.
    #[arg(value_name = "GOOD")]
    good: String,
    /// RTL at a newer commit, at which the vector fails: REF, or REF with the same PATH.
    #[arg(value_name = "BAD")]
    bad: String,
    /// Vector file, or the name of a case: BLOCK/PROFILE/SCENARIO/INDEX.
    #[arg(value_name = "VECTOR")]
    vector: String,
    #[command(flatten)]
    choice: Choice,
    /// Seed of the run with the case [default: 1].
    #[arg(long, value_name = "SEED", default_value_t = 1, hide_default_value = true, help_heading = heading::WHAT)]
    seed: u64,
    /// Search DIR first for included files and modules; may be repeated.
    #[arg(short = 'I', value_name = "DIR", allow_hyphen_values = true, value_parser = path, help_heading = heading::RTL)]
    include: Vec<PathBuf>,
    /// Define a Verilog macro; may be repeated.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = heading::RTL)]
    define: Vec<String>,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    limits: ModelLimits,
}

/// A vector, its block and the profiles under which it runs.
struct Subject {
    block: &'static BlockHandle,
    file: VectorFile,
    loaded: LoadedVector,
    profiles: Vec<Profile>,
}

impl Subject {
    /// Reads a vector, or makes the one of a case.
    fn new(arguments: &Arguments) -> Result<Self, Error> {
        let Arguments { vector: named, choice, seed, .. } = arguments;
        let path = Path::new(named);
        if path.exists() {
            let vector = load(path, None)?;
            let profiles = vector.loaded.profiles(choice.fixes.as_deref(), &choice.overrides()?)?;
            return Ok(Self {
                block: vector.block,
                file: vector.file,
                loaded: vector.loaded,
                profiles,
            });
        }
        let case: CaseName = named.parse().map_err(|_| Error::File {
            code: codes::NO_VECTORS,
            path: path.to_owned(),
            message: "is neither a file nor the name of a case, BLOCK/PROFILE/SCENARIO/INDEX"
                .to_owned(),
        })?;
        let target = Target::of(&[], choice);
        let (block, profiles) = target.of_case(&case.block, &case.profile)?;
        let setup = Setup {
            profiles: profiles.clone(),
            scenarios: vec![case.scenario.clone()],
            packets: None,
            rtl: Rtl::default(),
            coverage: false,
        };
        let session = Session::new(block, &setup)?;
        let plan = Plan {
            block: block.info().name,
            seed: *seed,
            profiles: profiles.clone(),
            scenarios: session.scenarios(),
            indices: case.index..case.index + 1,
            shard: Shard::WHOLE,
            only: None,
        };
        let none = || Error::Usage(codes::BAD_CASE_NAME, format!("{named}: no such case"));
        let drawn = plan.iter().next().ok_or_else(none)?;
        let text = session.vector(&drawn, Origin::default(), None)?;
        let file = VectorFile::from_text(text, Path::new(&drawn.name))?;
        let loaded = LoadedVector::new(block, &file)?;
        Ok(Self { block, file, loaded, profiles })
    }
}

/// Finds the first commit at which a vector fails. Exit code 0 if it is known, and 4 if commits
/// that cannot be tested leave several.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let history = History::new(&arguments.good, &arguments.bad)?;
    let mut subject = Subject::new(arguments)?;
    let program = arguments.limits.program()?;
    let like = Rtl {
        include: arguments.include.clone(),
        defines: arguments.define.clone(),
        ..Rtl::default()
    };
    let info = subject.block.info();
    let mut replayed = |named: &Named, below: &Path| -> Result<CommitResult, Error> {
        let rtl = named.rtl(below, &like)?;
        subject.loaded.check_profiles(&rtl, &subject.profiles)?;
        let models = subject.profiles.iter().map(|profile| {
            let model = rtl.build_for_user(info, &profile.parameters, View::Quick)?;
            Ok((profile.name.to_string(), model))
        });
        let models = models.collect::<Result<Vec<_>, Error>>()?;
        let replays: Vec<Replay<'_>> = models
            .into_iter()
            .map(|(profile, model)| Replay { file: &subject.file, recorded: None, profile, model })
            .collect();
        let mut failed = None;
        replay_all(&program, replays.len(), &replays, &interrupted, &mut |index, replayed| {
            let verdict = replayed.outcome.verdict;
            if verdict != Verdict::Match && failed.is_none() {
                failed = Some((index, format!("{}: {verdict}", replays[index].profile)));
            }
            Ok(())
        })?;
        let Some((index, verdict)) = failed else { return Ok(CommitResult::Passes) };
        // The newest commit comes first. Its first failing profile is the one to follow.
        subject.profiles = vec![subject.profiles.swap_remove(index)];
        Ok(CommitResult::Fails(verdict))
    };
    let found = history.bisect(&mut |commit, named| {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let short = short(commit);
        let _activity = Activity::begin(format!("testing commit {short}"));
        let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let below = folder.path().join("rtl");
        let result = match replayed(named, &below) {
            _ if interrupted.load(Ordering::Relaxed) => return Err(Error::Interrupted),
            Ok(result) => result,
            Err(error) if matches!(error.code().exit(), 1 | 2) => {
                let message = error.to_string();
                let line = message.lines().next().unwrap_or_default();
                let line = line.replace(&below.display().to_string(), &text::path(history.path()));
                CommitResult::Unusable(text::line(&line).into_owned())
            }
            Err(error) => return Err(error),
        };
        if arguments.formatting.format == Format::Text {
            let (word, more) = match &result {
                CommitResult::Passes => ("passes", ""),
                CommitResult::Fails(verdict) => ("fails", &**verdict),
                CommitResult::Unusable(reason) => ("skipped", &**reason),
            };
            print_text(format!("{short}  {word}  {more}").trim_end())?;
        }
        Ok(result)
    });
    let found = match found {
        Err(Error::Interrupted) => return Ok(ExitCode::from(INTERRUPTED)),
        other => other?,
    };
    match arguments.formatting.format {
        Format::Json => print_json(&found)?,
        Format::Text => print_text(&report(&found))?,
    }
    Ok(ExitCode::from(if found.first.len() == 1 { 0 } else { UNDECIDED }))
}

/// Exit code if several commits may be the first one.
const UNDECIDED: u8 = 4;

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn report(found: &Bisection) -> String {
    let line =
        |commit: &Commit| format!("{}  {}  {}\n", short(&commit.hash), commit.date, commit.subject);
    let mut text = match &found.first[..] {
        [first] => format!("first failing commit: {}", line(first)),
        several => {
            let lines: Vec<String> = several.iter().map(|one| format!("  {}", line(one))).collect();
            format!("one of these is the first failing commit:\n{}", lines.concat())
        }
    };
    text += &format!("  {}\n", found.verdict);
    text += &format!(
        "  {} between both ends change the RTL; {} tested\n",
        counted(found.commits as u64, "commit"),
        counted(found.tested as u64, "RTL"),
    );
    for (commit, reason) in &found.skipped {
        text += &format!("  skipped {}    {reason}\n", line(commit).replace('\n', "\n  "));
    }
    text + "\n" + found.patch.trim_end()
}
