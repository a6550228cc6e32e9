//! `cosim replay`.

mod failures;

use crate::failures::failure::{NumberedRun, is_number};
use crate::running::summary::rtl_files;
use crate::terminal::options::{
    Format, Formatting, ModelLimits, Quietness, Threads, TraceOptions, VectorRtl, VectorTarget,
    check_output, find_block, heading, path,
};
use crate::{INTERRUPTED, at_once, counted, interruption, print_json, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::built::Built;
use cosim_block::engine::{Replayed, Waves};
use cosim_block::rtl::Rtl;
use cosim_block::vector::VectorFile;
use cosim_formats::run::{EXPLAINED, JOURNAL, RESULTS, runs_in};
use cosim_harness::harness::{Overrides, Profile, Signature, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::loaded::LoadedVector;
use cosim_regress::runner::{Replay, replay_all};
use cosim_regress::worker::one_shot::VectorJob;
use cosim_regress::worker::{Finish, OneShotWorker};
use cosim_rtl::backend::{RtlModels as _, View};
use cosim_rtl::models::{Examined, unwalkable};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use walkdir::WalkDir;

/// Vectors, or the failures of a run, to run again.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Vector files, folders with .json files, patterns like 'vectors/*/t1*.json', or numbers of
    /// failures of the latest run; or a run directory, whose failures all run again.
    #[arg(required = true, value_name = "VECTOR|N|RUN_DIR", value_parser = path)]
    pub vectors: Vec<PathBuf>,
    #[command(flatten)]
    run: NumberedRun,
    #[command(flatten)]
    target: VectorTarget,
    #[command(flatten)]
    rtl: VectorRtl,
    /// Keep the recorded RTL of a run directory in DIR, a new folder, to work on it.
    #[arg(long, value_name = "DIR", value_parser = path, requires = "recorded_rtl", help_heading = heading::OUTPUT)]
    rtl_out: Option<PathBuf>,
    #[command(flatten)]
    tracing: TraceOptions,
    /// Succeed only if each vector does what it records; a vector without a record must match.
    #[arg(long, help_heading = heading::CHECK)]
    expect_recorded: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    #[command(flatten)]
    limits: ModelLimits,
}

pub struct CheckedVector {
    pub block: &'static BlockHandle,
    pub file: VectorFile,
    pub loaded: LoadedVector,
}

/// Reads a vector, whose block must be `expected` if given. After [`interruption`], a signal ends
/// the process at once.
pub fn load(path: &Path, expected: Option<&str>) -> Result<CheckedVector, Error> {
    at_once(|| read(path, expected))
}

fn read(path: &Path, expected: Option<&str>) -> Result<CheckedVector, Error> {
    expected.map(find_block).transpose()?;
    let file = VectorFile::read(path)?;
    let wrong =
        |message: String| Error::File { code: codes::OTHER_BLOCK, path: path.to_owned(), message };
    let block = find_block(&file.block).map_err(|error| wrong(format!("block: {error}")))?;
    if let Some(expected) = expected
        && expected != file.block
    {
        return Err(wrong(format!("is a vector of block {}, not of {expected}", file.block)));
    }
    let loaded = LoadedVector::new(block, &file)?;
    Ok(CheckedVector { block, file, loaded })
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(trace) = &arguments.tracing.trace {
        Waves::format(trace)?;
        check_output(trace)?;
    }
    let interrupted = interruption()?;
    if let Some(runs) = runs(arguments)? {
        return failures::execute(arguments, &runs, &interrupted);
    }
    // Read all vectors before running the first, so that an invalid one has no effect.
    let mut runs = Vec::new();
    let mut summary = Summary::default();
    let named = arguments.vectors.iter().map(|word| arguments.run.vector(word));
    let paths = expand(&named.collect::<Result<Vec<_>, Error>>()?)?;
    for path in &paths {
        let vector = load(path, arguments.target.block.as_deref())?;
        let (fixes, overrides) =
            (arguments.target.choice.fixes.as_deref(), arguments.target.choice.overrides()?);
        let profiles = vector.loaded.profiles(fixes, &overrides)?;
        let profiles: Vec<Profile> = if arguments.expect_recorded {
            // The record belongs to the vector's own profiles and does not apply to others.
            let own = vector.loaded.profiles(None, &Overrides::new())?;
            profiles.into_iter().filter(|profile| own.contains(profile)).collect()
        } else {
            profiles
        };
        summary.vectors += u64::from(!profiles.is_empty());
        summary.skipped += u64::from(profiles.is_empty());
        let rtl = arguments.rtl.of_vector(path, &vector.loaded)?;
        vector.loaded.check_profiles(&rtl, &profiles)?;
        for profile in profiles {
            let recorded = vector.loaded.recorded().cloned();
            runs.push(Run {
                path,
                block: vector.block,
                file: vector.file.clone(),
                recorded,
                profile,
                rtl: rtl.clone(),
            });
        }
    }
    if arguments.tracing.trace.is_some() && runs.len() != 1 {
        let message = "--trace takes one vector and one profile: choose with --fixes";
        return Err(Error::Usage(codes::CHOOSE_ONE, message.to_owned()));
    }
    let waves = arguments
        .tracing
        .trace
        .clone()
        .map(|path| Waves { path, all: arguments.tracing.trace_all });

    let mut reports = Vec::new();
    let examined: Vec<Arc<Examined>> =
        runs.iter().map(|run| run.rtl.examined(run.block.info())).collect::<Result<_, Error>>()?;
    let replays = prepare(&runs)?;
    let program = arguments.limits.program()?;
    replay_all(
        &program,
        arguments.threads.count(),
        &replays,
        &interrupted,
        &mut |index, replayed| {
            let Run { path, profile, recorded, .. } = &runs[index];
            let ok = if arguments.expect_recorded {
                match recorded {
                    None => replayed.outcome.verdict == Verdict::Match,
                    Some(recorded) => {
                        replayed.is_recorded.unwrap_or(*recorded == replayed.outcome.verdict)
                    }
                }
            } else {
                replayed.outcome.verdict == Verdict::Match
            };
            summary.replays += 1;
            summary.as_expected += u64::from(ok);
            match arguments.formatting.format {
                Format::Json => {
                    reports.push(report(path, &profile.name, &replayed, ok, &examined[index]));
                }
                Format::Text if ok && arguments.quietness.quiet => {}
                Format::Text => print_text(&line(path, &profile.name, &replayed, ok))?,
            }
            Ok(())
        },
    )?;
    let mut written = None;
    if let (Some(waves), [Run { block, file, profile, rtl, .. }]) = (&waves, &runs[..]) {
        let worker = OneShotWorker::new(program, Arc::clone(&interrupted));
        let subject = VectorJob { block, vector: file, profile, rtl };
        match worker.trace(&subject, waves.clone())? {
            Finish::Done(()) => written = Some(&waves.path),
            Finish::Lost(verdict) => {
                return Err(Error::Lost(codes::MODEL_CRASHED, format!("no waves: {verdict}")));
            }
            Finish::Interrupted => {}
        }
    }
    let interrupted = interrupted.load(Ordering::Relaxed);
    if arguments.formatting.format == Format::Text && !arguments.quietness.quiet {
        let mut shown: Vec<&Rtl> = Vec::new();
        for (Run { rtl, .. }, examined) in runs.iter().zip(&examined) {
            if !rtl.is_built_in() && !shown.contains(&rtl) {
                print_text(&format!("RTL {}, {}", examined.identity, rtl_files(&examined.files)))?;
                shown.push(rtl);
            }
        }
    }
    if arguments.formatting.format == Format::Json {
        print_json(&reports)?;
    } else {
        if let Some(path) = written {
            print_text(&format!("waves: {}", path.display()))?;
        }
        print_text(&summary.line(interrupted, arguments.expect_recorded))?;
    }
    Ok(ExitCode::from(if interrupted { INTERRUPTED } else { u8::from(!summary.passed()) }))
}

/// The runs whose failures are replayed, if the argument is a run directory.
///
/// # Errors
/// [`Error::File`] if a run is not complete. [`Error::Usage`] for other arguments beside it.
fn runs(arguments: &Arguments) -> Result<Option<Vec<PathBuf>>, Error> {
    let is_run = |path: &&PathBuf| {
        !is_number(path) && runs_in(path, &[RESULTS, JOURNAL]).is_ok_and(|runs| !runs.is_empty())
    };
    let conflict = |message: &str| Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
    let Arguments { vectors, target: VectorTarget { choice, .. }, .. } = arguments;
    let Some(folder) = vectors.iter().find(is_run) else {
        return match arguments.rtl_out {
            Some(_) => conflict("--rtl-out takes a run directory, which has a copy of its RTL"),
            None => Ok(None),
        };
    };
    if vectors.len() > 1 {
        let message = format!("{} is a run directory; name it alone", text::path(folder));
        return Err(Error::Usage(codes::CHOOSE_ONE, message));
    }
    arguments.run.check_unused(folder)?;
    if arguments.tracing.trace.is_some()
        || choice.fixes.is_some()
        || !choice.overrides()?.is_empty()
    {
        return conflict("--trace, --fixes and --parameter take a vector, not a run directory");
    }
    let runs = runs_in(folder, &[RESULTS])?;
    if runs.is_empty() {
        let message = "is not a complete run; wait for its end, or continue it with `resume`";
        let (code, path) = (codes::NOT_A_RUN, folder.clone());
        return Err(Error::File { code, path, message: message.to_owned() });
    }
    Ok(Some(runs))
}

/// Maximum number of folder entries to search, in case a link leads to the root of a file system.
const MAX_ENTRIES: usize = 1 << 20;
/// Endings of known files beside vectors: their schema, and explanations in `failures/` of a run.
const BESIDE_VECTORS: [&str; 2] = ["schema.json", EXPLAINED];

/// The vectors among the arguments: files, all .json files below folders, and matches of patterns.
/// Links are followed. Known files that are no vectors are skipped and listed.
///
/// # Errors
/// [`Error::File`] if an argument does not exist, cannot be read or contains no vector.
pub fn expand(given: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = VectorFiles::default();
    for given in given {
        let wrong =
            |message: String| Error::File { code: codes::NO_VECTORS, path: given.clone(), message };
        let text = given.to_string_lossy();
        let before = found.vectors.len();
        if given.symlink_metadata().is_err() && text.contains(['*', '?', '[']) {
            for path in glob::glob(&text).map_err(|error| wrong(error.to_string()))? {
                found.add(&path.map_err(|error| wrong(error.to_string()))?)?;
            }
        } else {
            found.add(given)?;
        }
        if found.vectors.len() == before && !found.beside.contains(given) {
            return Err(wrong("contains no vectors; expected .json files".to_owned()));
        }
    }
    let VectorFiles { vectors, beside } = found;
    if let (true, Some(path)) = (vectors.is_empty(), beside.first()) {
        let message = "is not a vector; name the vector beside it".to_owned();
        return Err(Error::File { code: codes::NO_VECTORS, path: path.clone(), message });
    }
    if !beside.is_empty() {
        let names: Vec<String> = beside.iter().map(|path| text::path(path)).collect();
        let files = counted(beside.len() as u64, "file");
        program::print_note(format_args!("skipped {files}, not vectors: {}", names.join(", ")));
    }
    Ok(vectors)
}

#[derive(Default)]
struct VectorFiles {
    vectors: Vec<PathBuf>,
    beside: Vec<PathBuf>,
}

impl VectorFiles {
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        if path.to_str().is_none() {
            let message = "has a name that is not UTF-8; rename it".to_owned();
            return Err(Error::File { code: codes::NO_VECTORS, path: path.to_owned(), message });
        }
        if path.is_dir() {
            return self.walk(path);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_beside = BESIDE_VECTORS.iter().any(|ending| name.ends_with(ending));
        if is_beside { &mut self.beside } else { &mut self.vectors }.push(path.to_owned());
        Ok(())
    }

    fn walk(&mut self, folder: &Path) -> Result<(), Error> {
        let walk = WalkDir::new(folder).follow_links(true).sort_by_file_name();
        for (count, entry) in walk.into_iter().enumerate() {
            let entry = entry.map_err(|error| Error::File {
                code: codes::FILE_UNREADABLE,
                path: error.path().unwrap_or(folder).to_owned(),
                message: unwalkable(&error),
            })?;
            if count == MAX_ENTRIES {
                let message = format!("has more than {MAX_ENTRIES} files below it");
                return Err(Error::File {
                    code: codes::TOO_LARGE,
                    path: folder.to_owned(),
                    message,
                });
            }
            let ending = entry.path().extension().unwrap_or_default();
            if ending.eq_ignore_ascii_case("json") && !entry.file_type().is_dir() {
                self.add(entry.path())?;
            }
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Summary {
    vectors: u64,
    replays: u64,
    as_expected: u64,
    /// Vectors without a record for the selected fixes.
    skipped: u64,
}

impl Summary {
    /// Whether at least one vector ran and all were as expected.
    fn passed(&self) -> bool {
        self.replays > 0 && self.as_expected == self.replays
    }

    fn line(&self, interrupted: bool, expect_recorded: bool) -> String {
        let result = match interrupted {
            true => "INTERRUPTED",
            false if self.passed() => "PASS",
            false => "FAIL",
        };
        let done = if expect_recorded { "as expected" } else { "matched" };
        let mut line = format!(
            "{result}  {}, {}: {} {done}, {} not",
            counted(self.vectors, "vector"),
            counted(self.replays, "replay"),
            self.as_expected,
            self.replays - self.as_expected,
        );
        if self.skipped > 0 {
            line += &format!("; skipped, made for other fixes: {}", self.skipped);
        }
        line
    }
}

struct Run<'a> {
    path: &'a Path,
    block: &'static BlockHandle,
    file: VectorFile,
    recorded: Option<Verdict>,
    profile: Profile,
    rtl: Rtl,
}

/// Builds each model once, in parallel.
fn prepare<'a>(runs: &'a [Run<'a>]) -> Result<Vec<Replay<'a>>, Error> {
    let key =
        |run: &Run<'_>| (run.block.info().name, run.profile.name.to_string(), run.rtl.clone());
    let distinct: BTreeMap<_, &Run<'_>> = runs.iter().map(|run| (key(run), run)).collect();
    let models: BTreeMap<_, Built> = distinct
        .into_par_iter()
        .map(|(key, run)| {
            Ok((
                key,
                run.rtl.build_for_user(run.block.info(), &run.profile.parameters, View::Quick)?,
            ))
        })
        .collect::<Result<_, Error>>()?;
    let replay = |run: &'a Run<'a>| {
        let (recorded, profile) = (run.recorded.as_ref(), run.profile.name.to_string());
        Replay { file: &run.file, recorded, profile, model: models[&key(run)].clone() }
    };
    Ok(runs.iter().map(replay).collect())
}

fn report(path: &Path, fixes: &str, replayed: &Replayed, ok: bool, rtl: &Examined) -> Value {
    json!({
        "vector": path.to_string_lossy(),
        "fixes": fixes,
        "ok": ok,
        "outcome": replayed.outcome.verdict,
        "signature": Signature::from_verdict(&replayed.outcome.verdict),
        "is_recorded": replayed.is_recorded,
        "cycles": replayed.outcome.cycles,
        "rules": replayed.rules,
        "rtl": rtl.identity,
        "rtl_files": rtl.files,
    })
}

fn line(path: &Path, fixes: &str, replayed: &Replayed, ok: bool) -> String {
    let recorded = match replayed.is_recorded {
        None => "",
        Some(true) => " (as recorded)",
        Some(false) => " (not what was recorded)",
    };
    format!(
        "{}  {} {fixes}: {}{recorded}, {} cycles",
        if ok { "ok  " } else { "FAIL" },
        text::path(path),
        replayed.outcome.verdict,
        replayed.outcome.cycles,
    )
}
