//! `cosim rerun`: repeats the failed cases of a run on the RTL that the user names.

use super::options::{
    Format, Formatting, ModelLimits, Quietness, Threads, VectorRtl, find_block, path,
};
use super::regression::hash_of_weights;
use super::summary::rtl_files;
use super::{INTERRUPTED, counted, interruption, print_json, print_text};
use clap::Args;
use cosim_base::error::{Code, Error, codes};
use cosim_block::engine::SessionSetup;
use cosim_block::vector::{Origin, VectorFile};
use cosim_formats::run::{Header, Plan, RESULTS, runs_in};
use cosim_harness::harness::{Case, Signature, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::runner::{Replay, replay_all};
use cosim_regress::setup::{Session, Setup};
use cosim_regress::worker::WorkerProgram;
use cosim_report::report::{Entry, Results};
use cosim_rtl::models::Examined;
use cosim_rtl::models::RtlModels as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of vectors in memory at a time.
const AT_ONCE: usize = 64;

/// What to repeat.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directory whose failed cases to repeat.
    #[arg(value_name = "DIR", value_parser = path)]
    folder: PathBuf,
    #[command(flatten)]
    rtl: VectorRtl,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    #[command(flatten)]
    limits: ModelLimits,
}

impl Arguments {
    /// What the command reads.
    pub fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.folder)
    }
}

/// The failed cases of one run.
struct FailedRun {
    folder: PathBuf,
    header: Header,
    /// The place of each case, and the number of its signature.
    cases: Vec<(u64, u64)>,
    signatures: BTreeMap<u64, Signature>,
}

impl FailedRun {
    fn read(folder: &Path) -> Result<Self, Error> {
        let (mut cases, mut signatures) = (Vec::new(), BTreeMap::new());
        let results = Results::read(folder, |run, entry| match entry {
            Entry::Failed { place, group, verdict, .. } => {
                if let Some(signature) = Signature::of(&verdict) {
                    signatures.entry(group).or_insert(signature);
                }
                cases.push((place, group));
            }
            Entry::Row { from, groups, .. } => {
                let places = (0..).map(|number| from + number * run.step());
                cases.extend(places.zip(groups));
            }
        })?;
        Ok(Self { folder: folder.to_owned(), header: results.run, cases, signatures })
    }

    fn wrong(&self, code: Code, message: String) -> Error {
        Error::File { code, path: self.folder.join(RESULTS), message }
    }
}

/// A run whose failed cases are ready to run.
struct PreparedRerun {
    failed: FailedRun,
    session: Arc<Session>,
    opening: SessionSetup,
    examined: Arc<Examined>,
    plan: Plan,
}

impl PreparedRerun {
    fn new(failed: FailedRun, arguments: &Arguments) -> Result<Self, Error> {
        let header = &failed.header;
        let block: &'static BlockHandle = find_block(&header.block)
            .map_err(|error| failed.wrong(codes::OTHER_BLOCK, error.to_string()))?;
        let plan = Plan::of_header(header, block.info())
            .map_err(|message| failed.wrong(codes::OTHER_BUILD, message))?;
        // A scenario that is not built in is named by its file.
        let file = |name: &String| header.scenario_files.get(name).unwrap_or(name).clone();
        let scenarios = header.scenarios.iter().map(file).collect();
        let rtl = arguments.rtl.for_recorded(&failed.folder.join(RESULTS), &header.given)?;
        let profiles = plan.profiles.clone();
        let packets = header.packets;
        let setup = Setup { profiles, scenarios, packets, rtl, coverage: false };
        let session = Arc::new(Session::new(block, &setup)?);
        let examined = setup.rtl.examined(block.info())?;
        let opening = session.opening(0)?;
        if session.scenarios() != header.scenarios
            || hash_of_weights(&opening.scenarios) != header.weights
        {
            let message = "its scenarios changed, so its cases are different now; replay the \
                 vectors in failures/, or repeat the run";
            return Err(failed.wrong(codes::OTHER_BUILD, message.to_owned()));
        }
        Ok(Self { failed, session, opening, examined, plan })
    }

    /// Runs the cases. `reported` receives each in order.
    fn run(
        &self,
        program: &WorkerProgram,
        threads: usize,
        interrupted: &AtomicBool,
        reported: &mut dyn FnMut(RerunCase) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for cases in self.failed.cases.chunks(AT_ONCE) {
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
            let cases: Vec<(Case, u64, VectorFile)> = cases
                .iter()
                .map(|(place, group)| {
                    let case = self.plan.case(*place);
                    let text = self.session.vector(&case, Origin::default(), None)?;
                    let file = VectorFile::from_text(text, Path::new(&case.name))?;
                    Ok((case, *group, file))
                })
                .collect::<Result<_, Error>>()?;
            let replays: Vec<Replay<'_>> = cases
                .iter()
                .map(|(case, _, file)| {
                    let (profile, model) = self.opening.models[case.profile].clone();
                    Replay { file, recorded: None, profile, model }
                })
                .collect();
            replay_all(program, threads, &replays, interrupted, &mut |index, replayed| {
                let (case, group, _) = &cases[index];
                let was = self.failed.signatures.get(group).cloned();
                reported(RerunCase { name: case.name.clone(), was, is: replayed.outcome.verdict })
            })?;
        }
        Ok(())
    }
}

/// The result of a repeated case.
struct RerunCase {
    name: String,
    was: Option<Signature>,
    is: Verdict,
}

/// The change of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RerunOutcome {
    Fixed,
    Red,
    Different,
}

impl RerunOutcome {
    fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Red => "still red",
            Self::Different => "different",
        }
    }
}

impl RerunCase {
    fn outcome(&self) -> RerunOutcome {
        match &self.is {
            Verdict::Match => RerunOutcome::Fixed,
            verdict if Signature::of(verdict) == self.was => RerunOutcome::Red,
            _ => RerunOutcome::Different,
        }
    }

    fn line(&self) -> String {
        let Self { name, is, .. } = self;
        let was = self.was.as_ref().map(Signature::to_string).unwrap_or_default();
        match self.outcome() {
            RerunOutcome::Different => format!("different  {name}: was {was}, now {is}"),
            RerunOutcome::Red => format!("still red  {name}: {is}"),
            RerunOutcome::Fixed => format!("fixed      {name}: was {was}"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "case": self.name,
            "fate": self.outcome().word(),
            "was": self.was,
            "is": Signature::of(&self.is),
            "outcome": self.is,
        })
    }
}

/// The totals of all cases.
#[derive(Default)]
struct RerunTotals {
    reported: BTreeMap<RerunOutcome, u64>,
    left: u64,
}

impl RerunTotals {
    fn of(&self, outcome: RerunOutcome) -> u64 {
        self.reported.get(&outcome).copied().unwrap_or(0)
    }

    fn all_fixed(&self) -> bool {
        self.left == 0 && self.of(RerunOutcome::Red) + self.of(RerunOutcome::Different) == 0
    }

    fn line(&self, interrupted: bool) -> String {
        let result = match interrupted {
            true => "INTERRUPTED",
            false if self.all_fixed() => "PASS",
            false => "FAIL",
        };
        let cases: u64 = self.reported.values().sum();
        let [fixed, red, different] =
            [RerunOutcome::Fixed, RerunOutcome::Red, RerunOutcome::Different]
                .map(|outcome| self.of(outcome));
        let mut line = format!(
            "{result}  {} that failed, run again: {fixed} fixed, {red} still red, {different} different",
            counted(cases, "case")
        );
        if self.left > 0 {
            line += &format!("; {} not run", self.left);
        }
        line
    }
}

/// Repeats the failed cases of a folder. Writes nothing.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = &arguments.folder;
    let interrupted = interruption()?;
    let failed = find(folder)?;
    let mut totals = RerunTotals {
        left: failed.iter().map(|run| run.cases.len() as u64).sum(),
        ..RerunTotals::default()
    };
    if totals.left == 0 {
        let message = "no case failed in it, so there is nothing to run again".to_owned();
        return Err(Error::File { code: codes::NOTHING_FAILS, path: folder.clone(), message });
    }
    let failed = failed.into_iter().filter(|run| !run.cases.is_empty());
    let prepared: Vec<PreparedRerun> =
        failed.map(|run| PreparedRerun::new(run, arguments)).collect::<Result<_, Error>>()?;
    let threads = arguments.threads.count();
    let program = arguments.limits.program()?;
    let mut cases = Vec::new();
    for run in &prepared {
        let PreparedRerun { examined, failed, .. } = run;
        if arguments.formatting.format == Format::Text && !arguments.quietness.quiet {
            let (was, now) = (&failed.header.rtl, &examined.identity);
            let same = if was == now { "the same".to_owned() } else { format!("it was {was}") };
            print_text(&format!("RTL {now}, {same}; {}", rtl_files(&examined.files)))?;
        }
        run.run(&program, threads, &interrupted, &mut |reported| {
            *totals.reported.entry(reported.outcome()).or_default() += 1;
            totals.left -= 1;
            match arguments.formatting.format {
                Format::Json => cases.push(reported.json()),
                Format::Text
                    if arguments.quietness.quiet && reported.outcome() == RerunOutcome::Fixed => {}
                Format::Text => print_text(&reported.line())?,
            }
            Ok(())
        })?;
    }
    let interrupted = interrupted.load(Ordering::Relaxed);
    match arguments.formatting.format {
        Format::Json => print_json(&json!({
            "passed": totals.all_fixed(),
            "fixed": totals.of(RerunOutcome::Fixed),
            "still_red": totals.of(RerunOutcome::Red),
            "different": totals.of(RerunOutcome::Different),
            "not_run": totals.left,
            "cases": cases,
        }))?,
        Format::Text => print_text(&totals.line(interrupted))?,
    }
    Ok(ExitCode::from(if interrupted { INTERRUPTED } else { u8::from(!totals.all_fixed()) }))
}

/// The failed cases of the run in a folder, or of the runs of several blocks below it.
fn find(folder: &Path) -> Result<Vec<FailedRun>, Error> {
    let folders = runs_in(folder, &[RESULTS])?;
    if folders.is_empty() {
        let message = format!(
            "is not a complete run directory: it has no {RESULTS}; wait for its \
             end, or continue it with `resume`"
        );
        return Err(Error::File { code: codes::NOT_A_RUN, path: folder.to_owned(), message });
    }
    folders.iter().map(|folder| FailedRun::read(folder)).collect()
}
