//! `cosim replay RUN_DIR`: the vectors of a run's failures, and its failed cases, once more.
//!
//! The run directory may come from anyone. It never chooses the RTL by itself, and nothing outside
//! of it is a vector.

use super::{Arguments, CheckedVector, load};
use crate::failures::failure::explain_command;
use crate::running::summary::rtl_files;
use crate::terminal::options::{Format, find_block};
use crate::{INTERRUPTED, counted, print_json, print_text};
use cosim_base::error::{Code, Error, codes};
use cosim_base::files::{check_free, folder_of};
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::run::{Evidence, Header, Plan, RESULTS, RTL_COPY, RtlCopy, causes, commit};
use cosim_harness::harness::{Case, Overrides, Signature, Verdict};
use cosim_regress::regression::hash_of_weights;
use cosim_regress::runner::{Replay, replay_all};
use cosim_regress::setup::{Session, Setup};
use cosim_regress::worker::WorkerProgram;
use cosim_report::report::{Entry, Results};
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::models::Examined;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// The number of a cause that has none: a combination of several failures.
const UNNUMBERED: usize = usize::MAX;
/// Number of cases in memory at a time.
const AT_ONCE: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Fixed,
    Different,
    Same,
}

impl Outcome {
    fn compare_verdicts(was: &Signature, is: &Verdict) -> Self {
        match is {
            Verdict::Match => Self::Fixed,
            // Nothing was compared.
            Verdict::NoGoldenModel => Self::Different,
            is if Signature::from_verdict(is).as_ref() == Some(was) => Self::Same,
            _ => Self::Different,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Same => "still fails",
            Self::Different => "different",
        }
    }
}

struct FailedRun {
    folder: PathBuf,
    header: Header,
    /// The first failures of each kind.
    evidence: Vec<Evidence>,
    /// The failed cases: the place in the plan, and the signature.
    cases: Vec<(u64, Signature)>,
    /// The cause of each signature: its number, as `explain` takes it, and its main signature.
    causes: BTreeMap<Signature, (usize, Signature)>,
}

impl FailedRun {
    fn read(folder: &Path) -> Result<Self, Error> {
        let (mut places, mut signatures) = (Vec::new(), BTreeMap::new());
        let results = Results::read(folder, |run, entry| match entry {
            Entry::Failed { place, group, verdict, .. } => {
                if let Some(signature) = Signature::from_verdict(&verdict) {
                    signatures.entry(group).or_insert(signature);
                }
                places.push((place, group));
            }
            Entry::Row { from, groups, .. } => {
                let all = (0..).map(|number| from + number * run.step());
                places.extend(all.zip(groups));
            }
        })?;
        let wrong =
            || folder_error(folder, codes::DAMAGED, "a failed case has no signature".to_owned());
        let cases = places
            .into_iter()
            .map(|(place, group)| Ok((place, signatures.get(&group).cloned().ok_or_else(wrong)?)))
            .collect::<Result<_, Error>>()?;
        let mut of_causes = BTreeMap::new();
        let mut evidence = Vec::new();
        for (number, cause) in (1..).zip(causes(&results.failures)) {
            let known = (number, cause.main.signature.clone());
            for group in cause.groups() {
                of_causes.insert(group.signature.clone(), known.clone());
                let variants = group.variants.iter().map(|variant| &variant.first);
                for first in std::iter::once(&group.first).chain(variants) {
                    if let Some(signature) = Signature::from_verdict(&first.verdict) {
                        of_causes.entry(signature).or_insert_with(|| known.clone());
                    }
                    evidence.push(first.clone());
                }
            }
        }
        let (folder, header) = (folder.to_owned(), results.run);
        Ok(Self { folder, header, evidence, cases, causes: of_causes })
    }

    fn run_error(&self, code: Code, message: String) -> Error {
        folder_error(&self.folder, code, message)
    }

    /// The RTL: what the user named, or the copy in the run directory, written to `root`.
    fn rtl(&self, arguments: &Arguments, root: &Path) -> Result<Rtl, Error> {
        let given = &self.header.given;
        if !arguments.rtl.is_recorded() {
            let (path, info) = (self.folder.join(RESULTS), find_block(&self.header.block)?.info());
            return arguments.rtl.for_recorded(&path, info, self.header.run_rtl());
        }
        let Some(copy) = RtlCopy::read(&self.folder)? else {
            let message =
                format!("has no {RTL_COPY}: the run left its RTL out; name it with --rtl");
            let (code, path) = (codes::INCOMPLETE, self.folder.clone());
            return Err(Error::File { code, path, message });
        };
        let (here, then) = (commit(), copy.commit.as_ref());
        if let Some(then) = then.filter(|then| here.as_ref() != Some(then)) {
            let here = here.map_or_else(String::new, |here| format!("; here it is {here}"));
            program::print_note(format_args!("commit of the run: {}{here}", text::line(then)));
        }
        Ok(arguments.rtl.chosen(given, copy.lay_out(root, given)?))
    }

    /// The scenarios and models, and why the cases of the run cannot be repeated, if so.
    fn session(&self, plan: &Plan, rtl: &Rtl) -> Result<(Session, Option<String>), Error> {
        let header = &self.header;
        let block = find_block(&header.block)?;
        let session = |scenarios| {
            let (profiles, packets) = (plan.profiles.clone(), header.packets);
            let rtl = rtl.clone();
            Session::new(block, &Setup { profiles, scenarios, packets, rtl, coverage: false })
        };
        // A scenario that is not built in is named by its file.
        let file = |name: &String| header.scenario_files.get(name).unwrap_or(name).clone();
        let because = match session(header.scenarios.iter().map(file).collect()) {
            Ok(session) => {
                let is_same = session.scenarios() == header.scenarios
                    && hash_of_weights(&session.scenarios_text()) == header.weights;
                if is_same {
                    return Ok((session, None));
                }
                "its scenarios changed, so its cases are different now".to_owned()
            }
            Err(error) => error.to_string(),
        };
        Ok((session(Vec::new())?, Some(because)))
    }

    /// Reads a vector, which must be that of the failure: records and vectors may be edited.
    fn vector(&self, file: &RunFile, first: &Evidence, plan: &Plan) -> Result<Job, Error> {
        let path = file.path(&self.folder);
        file.open(&self.folder).map_err(|error| Error::unreadable(&path, &error))?;
        let CheckedVector { file, loaded, .. } = load(&path, Some(&self.header.block))?;
        let was = Signature::from_verdict(&first.verdict);
        let recorded =
            loaded.recorded().filter(|recorded| Signature::from_verdict(recorded) == was);
        let own = loaded.profiles(None, &Overrides::new())?;
        let profile = plan.profiles.iter().position(|profile| own == [profile.clone()]);
        match (recorded, profile, was) {
            (Some(recorded), Some(profile), Some(was))
                if loaded.origin().case.as_ref() == Some(&first.case) =>
            {
                Ok(Job { source: Source::Vector(file, recorded.clone()), profile, was })
            }
            _ => {
                let message = format!("is not the vector of {} in {RESULTS}", first.case);
                Err(Error::File { code: codes::DAMAGED, path, message })
            }
        }
    }
}

fn folder_error(folder: &Path, code: Code, message: String) -> Error {
    Error::File { code, path: folder.join(RESULTS), message }
}

/// A vector or a case to replay.
struct Job {
    source: Source,
    /// The place of the profile in the plan.
    profile: usize,
    was: Signature,
}

enum Source {
    Vector(VectorFile, Verdict),
    Case(Case),
}

struct PreparedRun {
    failed: FailedRun,
    rtl: Rtl,
    examined: Arc<Examined>,
    session: Session,
    jobs: Vec<Job>,
    /// Number of failures that cannot be repeated.
    left: u64,
}

impl PreparedRun {
    fn new(failed: FailedRun, arguments: &Arguments, root: &Path) -> Result<Self, Error> {
        let header = &failed.header;
        let named = arguments.target.block.as_ref().filter(|named| **named != header.block);
        let block = find_block(named.unwrap_or(&header.block));
        let block =
            block.map_err(|error| failed.run_error(codes::OTHER_BLOCK, error.to_string()))?;
        if let Some(named) = named {
            let message = format!("is a run of block {}, not of {named}", header.block);
            return Err(failed.run_error(codes::OTHER_BLOCK, message));
        }
        let plan = Plan::from_header(header, block.info())
            .map_err(|message| failed.run_error(codes::OTHER_BUILD, message))?;
        let vectors = failed
            .evidence
            .iter()
            .filter_map(|first| Some(failed.vector(first.vector.as_ref()?, first, &plan)));
        let mut jobs = vectors.collect::<Result<Vec<_>, Error>>()?;
        let rtl = failed.rtl(arguments, root)?;
        let examined = rtl.examined(block.info())?;
        let (then, now) = (text::line(&header.rtl), &examined.identity);
        if arguments.rtl.is_recorded() && *now != header.rtl {
            program::warn(format_args!("the RTL of the run was {then}, and its copy is {now}"));
        }
        let (session, because) = failed.session(&plan, &rtl)?;
        // The check of what is recorded needs no case that has a vector.
        let without = failed.evidence.iter().filter(|first| first.vector.is_none());
        let mut without: BTreeSet<&str> = without.map(|first| first.case.as_str()).collect();
        let mut cases: Vec<Job> = Vec::new();
        for (place, was) in &failed.cases {
            let case = plan.case(*place);
            if without.remove(case.name.as_str()) || !arguments.expect_recorded {
                let (profile, was) = (case.profile, was.clone());
                cases.push(Job { source: Source::Case(case), profile, was });
            }
        }
        let mut left = without.len() as u64;
        match because.filter(|_| !cases.is_empty()) {
            None => jobs.extend(cases),
            Some(because) => {
                left += cases.len() as u64;
                program::warn(format_args!("failed cases are not repeated: {because}"));
            }
        }
        Ok(Self { rtl, examined, session, jobs, left, failed })
    }

    /// Replays vectors and cases. `each` receives the results in order, with names.
    fn run(
        &self,
        program: &WorkerProgram,
        arguments: &Arguments,
        interrupted: &AtomicBool,
        each: &mut dyn FnMut(&str, &Signature, &Verdict, Outcome),
    ) -> Result<(), Error> {
        let models = self.session.opening(self.jobs.len() as u64)?.models;
        for jobs in self.jobs.chunks(AT_ONCE) {
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
            let file = |job: &Job| match &job.source {
                Source::Vector(file, _) => Ok(file.clone()),
                Source::Case(case) => {
                    let text = self.session.vector(case, Origin::default(), None)?;
                    VectorFile::from_text(text, Path::new(&case.name))
                }
            };
            let files = jobs.iter().map(file).collect::<Result<Vec<_>, Error>>()?;
            let replay = |(file, job): (_, &'_ Job)| {
                let (profile, model) = models[job.profile].clone();
                Replay { file, recorded: None, profile, model }
            };
            let replays: Vec<Replay<'_>> = files.iter().zip(jobs).map(replay).collect();
            let threads = arguments.threads.count();
            replay_all(program, threads, &replays, interrupted, &mut |index, replayed| {
                let Job { source, was, .. } = &jobs[index];
                let is = replayed.outcome.verdict;
                let mut outcome = Outcome::compare_verdicts(was, &is);
                if let Source::Vector(_, recorded) = source
                    && arguments.expect_recorded
                    && !replayed.is_recorded.unwrap_or(is == *recorded)
                {
                    outcome = Outcome::Different;
                }
                each(&text::path(&files[index].path), was, &is, outcome);
                Ok(())
            })?;
        }
        Ok(())
    }
}

type Counts = BTreeMap<Outcome, u64>;

fn count(counts: &Counts, outcome: Outcome) -> u64 {
    counts.get(&outcome).copied().unwrap_or(0)
}

fn words(counts: &Counts) -> String {
    let words = counts.iter().map(|(outcome, count)| format!("{count} {}", outcome.word()));
    words.collect::<Vec<_>>().join(", ")
}

pub fn execute(
    arguments: &Arguments,
    runs: &[PathBuf],
    interrupted: &AtomicBool,
) -> Result<ExitCode, Error> {
    let failed = runs.iter().map(|run| FailedRun::read(run)).collect::<Result<Vec<_>, Error>>()?;
    let has_failures = |run: &FailedRun| !run.cases.is_empty() || !run.evidence.is_empty();
    let failed: Vec<FailedRun> = failed.into_iter().filter(has_failures).collect();
    if failed.is_empty() {
        let message = "no case failed in it, so there is nothing to replay".to_owned();
        let path = arguments.vectors[0].clone();
        return Err(Error::File { code: codes::NOTHING_FAILS, path, message });
    }
    if let Some(out) = &arguments.rtl_out {
        check_free(out)?;
        // An empty folder is as good as none.
        let _ = fs::remove_dir(out);
    }
    let temporary = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let root = arguments.rtl_out.clone().unwrap_or_else(|| temporary.path().join("rtl"));
    let several = failed.len() > 1;
    let around = if several { &root } else { folder_of(&root) };
    fs::create_dir_all(around).map_err(Error::write(around))?;
    let prepare = |failed: FailedRun| {
        let root = if several { root.join(&failed.header.block) } else { root.clone() };
        PreparedRun::new(failed, arguments, &root)
    };
    let prepared: Vec<PreparedRun> =
        failed.into_iter().map(prepare).collect::<Result<_, Error>>()?;
    let expected = if arguments.expect_recorded { Outcome::Same } else { Outcome::Fixed };
    let is_text = arguments.formatting.format == Format::Text;
    let program = arguments.limits.program()?;
    let (mut totals, mut left, mut reports) = (Counts::new(), 0, Vec::new());
    for run in &prepared {
        let PreparedRun { failed, examined, .. } = run;
        if is_text && !arguments.quietness.quiet {
            let (then, now) = (&failed.header.rtl, &examined.identity);
            let same = if then == now { "the same".to_owned() } else { format!("it was {then}") };
            print_text(&format!("RTL {now}, {same}; {}", rtl_files(&examined.files)))?;
        }
        left += run.left + run.jobs.len() as u64;
        let mut causes: BTreeMap<(usize, Signature), (Counts, String)> = BTreeMap::new();
        run.run(&program, arguments, interrupted, &mut |name, was, is, outcome| {
            left -= 1;
            *totals.entry(outcome).or_default() += 1;
            let cause = failed.causes.get(was).cloned();
            let (counts, first) =
                causes.entry(cause.unwrap_or((UNNUMBERED, was.clone()))).or_default();
            *counts.entry(outcome).or_default() += 1;
            if outcome != expected && first.is_empty() {
                *first = format!("; {name}: {is}");
            }
            if !is_text {
                let (block, result, now) =
                    (&failed.header.block, outcome.word(), Signature::from_verdict(is));
                reports.push(json!({ "block": block, "name": name, "result": result, "was": was,
                    "is": now, "outcome": is }));
            }
        })?;
        for ((number, signature), (counts, first)) in causes.iter().filter(|_| is_text) {
            if arguments.quietness.quiet && first.is_empty() {
                continue;
            }
            let unexpected = counts.keys().rev().find(|outcome| **outcome != expected);
            let word = unexpected.unwrap_or(&expected).word();
            let number = if *number == UNNUMBERED { String::new() } else { format!("{number}. ") };
            let line = format!("{word:<11}  {number}{signature}: {}{first}", words(counts));
            print_text(&text::line(&line))?;
        }
        if arguments.rtl_out.is_some() && is_text {
            let next = explain_command(1, &failed.folder, &failed.header, &run.rtl);
            print_text(&format!("next: {}", text::line(&next)))?;
        }
    }
    let interrupted = interrupted.load(Ordering::Relaxed);
    // Something ran, nothing is left, and everything did what is expected.
    let passed = left == 0 && totals.keys().eq([&expected]);
    if is_text {
        let result = match (interrupted, passed) {
            (true, _) => "INTERRUPTED",
            (_, true) => "PASS",
            (_, false) => "FAIL",
        };
        let all = counted(totals.values().sum(), "replay");
        print_text(&format!("{result}  {all}: {}; {left} not run", words(&totals)))?;
    } else {
        print_json(&json!({
            "passed": passed,
            "fixed": count(&totals, Outcome::Fixed),
            "still_fails": count(&totals, Outcome::Same),
            "different": count(&totals, Outcome::Different),
            "not_run": left,
            "replays": reports,
        }))?;
    }
    Ok(ExitCode::from(if interrupted { INTERRUPTED } else { u8::from(!passed) }))
}
