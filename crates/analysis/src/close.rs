//! Closes the coverage of a run: for each point and bin that no case hit, inputs that hit it, or a
//! proof that none do.
//!
//! Further cases of the generator come first. Engines then decide about many points of the RTL's
//! code at once: one proof shows that none of a set is reached, and a set that is undecided is
//! halved. Inputs count only after a simulation in which they hit the point.

use crate::agreement::observe;
use crate::queue::run_queries;
use crate::subject::{origin, seconds_since, vector_of};
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::agreement::{Compared, Disagreement, ModelComparison};
use cosim_block::built::Built;
use cosim_block::engine::Replayed;
use cosim_block::points::Point;
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_block::vector::{Origin, VectorFile};
use cosim_block::worker::task::{Action, Task};
use cosim_formal::answer::{Answer, Traffic};
use cosim_formal::close::{Closure, Purpose};
use cosim_formal::diff::Contents;
use cosim_formal::engine::Attempt;
use cosim_formal::limits::{LATE, is_late};
use cosim_formal::portfolio::{
    DIFFERENCE, DIFFERENCE_WITH_MEMORIES, EQUIVALENCE, FIRST_CYCLES, INDUCTION, QUICK_DIFFERENCE,
    SHORT_PROOF,
};
use cosim_formats::answers::{
    AnswerRow, AnswerStatus, FoundInputs, OtherKind, ProfileAnswers, Proof, QuestionKind,
};
use cosim_formats::coverage::Database;
use cosim_formats::coverage::code::{Sources, numbers};
use cosim_formats::run::Plan;
use cosim_harness::harness::{Case, Difference, Outcome, Profile, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::runner::{self, Limits, Progress, Start};
use cosim_regress::setup::{Session, Setup};
use cosim_regress::worker::{Finish, OneShotWorker, WorkerProgram};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::{RtlModels as _, View};
use cosim_rtl::models::Examined;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use verilated::BeforeReset;
use verilated_build::activity::Activity;

/// Cases of each scenario with which the netlist is compared.
const FIRST: u64 = 3;
/// Cycles of a case with which the netlist is compared, at most.
const LONGEST: usize = 1000;
/// Traces that take points out of a set, before traffic that is not legal is given up.
const ROUNDS: u32 = 4;
/// Sets of points inside of an instance without a proof in between, before its other points are
/// left to proofs of the whole RTL.
const FAILED_SETS: usize = 16;
/// Proofs of points: assertions make some inductive that are not so alone.
const HELPED: &[Purpose] = &[Purpose::Proof, Purpose::Assertions];
/// Sets of points up to this size get the long attempts.
const FEW: usize = 4;

pub struct CloseRun<'a> {
    pub block: &'static BlockHandle,
    pub rtl: &'a Rtl,
    pub worker: &'a OneShotWorker,
    pub program: &'a WorkerProgram,
    pub threads: usize,
    pub answers: &'a Answers,
    pub folder: &'a Path,
    /// When no further step begins.
    pub deadline: Instant,
    /// The seed of further cases.
    pub seed: u64,
    /// Further cases of each scenario.
    pub cases: u64,
    /// Selects points and bins whose name contains it.
    pub only: Option<&'a str>,
    pub interrupted: &'a AtomicBool,
    pub activity: &'a Activity,
}

struct Job<'a> {
    run: &'a CloseRun<'a>,
    profile: &'a Profile,
    session: &'a Session,
    bare: Built,
    covered: Built,
    /// All points, with names as shown to users.
    points: Vec<Point>,
    /// The points and bins without a result.
    missing: BTreeSet<usize>,
    missing_bins: BTreeSet<usize>,
    closed: BTreeMap<usize, AnswerRow>,
    closed_bins: BTreeMap<usize, AnswerStatus>,
    /// Why points are open.
    open: BTreeMap<usize, String>,
    /// The cycles from reset in which points are not reached.
    bounds: BTreeMap<usize, u32>,
    vectors: usize,
    cases: u64,
    /// Cases with the points that they reach, to compare with the netlist.
    learned: Vec<(Case, Vec<usize>)>,
}

impl CloseRun<'_> {
    /// Closes a profile of a database, which has the code coverage of this RTL.
    ///
    /// # Errors
    /// The database has other points, a tool fails, or a file cannot be written.
    pub fn profile(&self, profile: &Profile, database: &Database) -> Result<ProfileAnswers, Error> {
        let info = self.block.info();
        let name = profile.name.to_string();
        let examined = self.rtl.examined(info)?;
        let [bare, covered] = self.models(profile)?;
        let compiled = self.points(profile, &covered)?;
        let points = with_shown_names(&examined, &compiled);
        let all = database.reached();
        let code = all.iter().find(|one| one.rtl == examined.identity && one.profile == name);
        let Some(code) = code.filter(|one| one.code.points == points) else {
            let message = format!(
                "the coverage of block {} in profile {name} is not that of RTL {}; repeat the run with \
                 --coverage, and name the same RTL",
                info.name, examined.identity
            );
            return Err(Error::Usage(codes::COVERAGE_MISMATCH, message));
        };
        let bins = database.covered(&name);
        let is_selected = |name: &str| self.only.is_none_or(|only| name.contains(only));
        let missing = (0..points.len())
            .filter(|point| code.hits[*point] == 0 && is_selected(&points[*point].place()));
        let missing_bins = database.uncovered(&name, &bins).into_iter();
        let missing_bins = missing_bins
            .filter(|bin| is_selected(&database.bin_name(*bin)))
            .map(|bin| bin as usize);
        let session = self.session(profile)?;
        let mut job = Job {
            missing: missing.collect(),
            missing_bins: missing_bins.collect(),
            ..Job::new(self, profile, &session, [bare, covered], points)
        };
        match job.close(&examined, &compiled) {
            Ok(()) | Err(Error::Interrupted) => {}
            Err(_) if self.interrupted.load(Ordering::Relaxed) => {}
            Err(error) => return Err(error),
        }
        let mut answers = ProfileAnswers::new(profile);
        for (point, hits) in job.points.iter().zip(&code.hits) {
            *answers.hit.entry(point.kind.name().to_owned()).or_default() += u64::from(*hits > 0);
        }
        answers.hit.insert("bin".to_owned(), u64::from(bins.hit));
        let excluded = database.profiles.get(&name).map_or(0, |profile| profile.unreachable.len());
        (answers.excluded_bins, answers.cases) = (excluded as u64, job.cases);
        let stopped = match self.interrupted.load(Ordering::Relaxed) {
            true => "the user interrupted the command",
            false => LATE,
        };
        let all: BTreeSet<usize> = job.missing.iter().chain(job.closed.keys()).copied().collect();
        let row = |point: usize| {
            let number = point as u32;
            let is_waived = !code.code.proved.contains(&number);
            let waiver = code.code.waived.get(&number).filter(|_| is_waived).cloned();
            let row = job.closed.get(&point).cloned().unwrap_or_else(|| match &waiver {
                Some(reason) => job.row(point, AnswerStatus::Waived { reason: reason.clone() }),
                None => job.open(point, stopped),
            });
            AnswerRow { waiver, ..row }
        };
        answers.rows = all.into_iter().map(row).collect();
        let bin = |bin: usize| {
            let tried = format!("none of {} further cases hits it", job.cases);
            let status = job.closed_bins.get(&bin).cloned();
            let status = status.unwrap_or_else(|| AnswerStatus::open(tried));
            let kind = QuestionKind::Other(OtherKind::Bin);
            AnswerRow::new(kind, database.bin_name(bin as u32), status)
        };
        let all = job.missing_bins.iter().chain(job.closed_bins.keys()).copied();
        answers.rows.extend(all.collect::<BTreeSet<usize>>().into_iter().map(bin));
        Ok(answers)
    }

    /// Proves points of an earlier result again. Returns the present answer for each.
    ///
    /// # Errors
    /// As [`CloseRun::profile`], or the RTL has no such point.
    pub fn prove_again(
        &self,
        profile: &Profile,
        proved: &[&Point],
    ) -> Result<Vec<AnswerRow>, Error> {
        let examined = self.rtl.examined(self.block.info())?;
        let [bare, covered] = self.models(profile)?;
        let compiled = self.points(profile, &covered)?;
        let points = with_shown_names(&examined, &compiled);
        let missing = (0..points.len()).filter(|point| proved.contains(&&points[*point]));
        let session = self.session(profile)?;
        let mut job = Job {
            missing: missing.collect(),
            ..Job::new(self, profile, &session, [bare, covered], points)
        };
        job.close(&examined, &compiled)?;
        let row = |point: &&Point| {
            let number = job.points.iter().position(|other| other == *point);
            match number {
                None => {
                    let kind = QuestionKind::Point(point.kind);
                    let status = AnswerStatus::open("the RTL has no such point");
                    AnswerRow::new(kind, point.place(), status)
                }
                Some(number) => {
                    job.closed.get(&number).cloned().unwrap_or_else(|| job.open(number, LATE))
                }
            }
        };
        Ok(proved.iter().map(row).collect())
    }

    fn models(&self, profile: &Profile) -> Result<[Built; 2], Error> {
        self.activity.note("compiling models");
        let info = self.block.info();
        let build = |view| self.rtl.build_for_user(info, &profile.parameters, view);
        Ok([build(View::Bare)?, build(View::Covered)?])
    }

    /// The points of the RTL, as compiled.
    fn points(&self, profile: &Profile, covered: &Built) -> Result<Vec<Point>, Error> {
        self.worker.run_task(self.task(profile, covered, Action::Points))?.done()
    }

    fn session(&self, profile: &Profile) -> Result<Session, Error> {
        let setup = Setup::from_profile(profile, self.rtl.clone());
        Session::new(self.block, &Setup { coverage: true, ..setup })
    }

    fn task(&self, profile: &Profile, model: &Built, action: Action) -> Task {
        let block = self.block.info().name.to_owned();
        Task { block, profile: profile.name.to_string(), model: model.clone(), action }
    }
}

/// The points with names of files as shown to users.
fn with_shown_names(examined: &Examined, compiled: &[Point]) -> Vec<Point> {
    let mut points = compiled.to_vec();
    Sources::new(&examined.texts, &[points.clone()]).rename(&mut points);
    points
}

/// Why no proof holds for an RTL that was compared with itself, if it differs.
fn unstable(compared: &Compared) -> Option<String> {
    let Disagreement { name, difference } = compared.disagreement.as_ref()?;
    let Difference { cycle, port, values: [first, second] } = difference;
    let port = port.as_deref().unwrap_or("the model");
    Some(format!(
        "the RTL behaves differently when it runs again, so that no proof counts: {name}, cycle \
         {cycle}, {port}: {first}, then {second}"
    ))
}

/// Finds the cases that hit what is missing.
struct Finder<'j, 'a> {
    job: &'j mut Job<'a>,
    /// Cases that hit something new, with what they hit.
    found: Vec<(Case, Verdict, Vec<usize>, Vec<usize>)>,
    points: BTreeSet<usize>,
    bins: BTreeSet<usize>,
    scenarios: u64,
}

impl Progress for Finder<'_, '_> {
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
        self.job.cases += 1;
        if case.place / self.scenarios < FIRST && outcome.verdict == Verdict::Match {
            self.job.learned.push((case.clone(), numbers(&outcome.reached).collect()));
        }
        let points: Vec<usize> =
            numbers(&outcome.reached).filter(|point| self.points.contains(point)).collect();
        let bins: Vec<usize> =
            self.bins.iter().copied().filter(|bin| outcome.hits.count(*bin) > 0).collect();
        if points.is_empty() && bins.is_empty() {
            return Ok(());
        }
        self.points.retain(|point| !points.contains(point));
        self.bins.retain(|bin| !bins.contains(bin));
        self.found.push((case.clone(), outcome.verdict.clone(), points, bins));
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.points.is_empty() && self.bins.is_empty() && self.job.cases >= FIRST * self.scenarios
    }
}

impl<'a> Job<'a> {
    /// A job without points and bins.
    fn new(
        run: &'a CloseRun<'a>,
        profile: &'a Profile,
        session: &'a Session,
        [bare, covered]: [Built; 2],
        points: Vec<Point>,
    ) -> Self {
        Self {
            run,
            profile,
            session,
            bare,
            covered,
            points,
            missing: BTreeSet::new(),
            missing_bins: BTreeSet::new(),
            closed: BTreeMap::new(),
            closed_bins: BTreeMap::new(),
            open: BTreeMap::new(),
            bounds: BTreeMap::new(),
            vectors: 0,
            cases: 0,
            learned: Vec::new(),
        }
    }

    fn close(&mut self, examined: &Examined, compiled: &[Point]) -> Result<(), Error> {
        if self.missing.is_empty() && self.missing_bins.is_empty() {
            return Ok(());
        }
        self.more_cases()?;
        if self.missing.is_empty() {
            return Ok(());
        }
        self.show_step("netlist of Yosys");
        let info = self.run.block.info();
        let parameters = &self.profile.parameters;
        let CloseRun { answers, deadline, .. } = self.run;
        let closure = Closure::new(info, examined, parameters, compiled, answers, *deadline);
        let decided = closure.and_then(|closure| {
            self.show_step("comparing the netlist with Verilator's model");
            let recorded = observe(self.run.block, self.profile, &self.bare, self.run.worker)?;
            if let Some(because) = closure.find_doubt(info, &recorded?) {
                return Err(because.into());
            }
            Ok(self.decide(closure)?)
        });
        decided.or_else(|reason| self.without_netlist(reason.because_of_yosys()?))
    }

    fn without_netlist(&mut self, because: String) -> Result<(), Error> {
        for point in &self.missing {
            self.open.insert(*point, because.clone());
        }
        Ok(())
    }

    fn row(&self, point: usize, status: AnswerStatus) -> AnswerRow {
        let point = self.points[point].clone();
        let row = AnswerRow::new(QuestionKind::Point(point.kind), point.place(), status);
        AnswerRow { point: Some(point), ..row }
    }

    /// The answer for a point that is neither proved nor reached. `stopped` says why if no step
    /// decided about it.
    fn open(&self, point: usize, stopped: &str) -> AnswerRow {
        let cycles = self.bounds.get(&point).copied().filter(|cycles| *cycles > 0);
        let because = self.open.get(&point).map_or(stopped, String::as_str).to_owned();
        self.row(point, AnswerStatus::Open { cycles, because })
    }

    fn show_step(&self, step: &str) {
        self.run.activity.note(format!("{step}; {} points left", self.missing.len()));
    }

    fn more_cases(&mut self) -> Result<(), Error> {
        self.show_step("further cases");
        let scenarios = self.session.scenarios();
        let count = scenarios.len() as u64;
        let plan = Plan {
            block: self.run.block.info().name,
            seed: self.run.seed,
            profiles: vec![self.profile.clone()],
            scenarios,
            indices: 0..self.run.cases.max(FIRST),
            shard: Shard::WHOLE,
        };
        let left = self.run.deadline.saturating_duration_since(Instant::now());
        let limits = Limits {
            threads: self.run.threads,
            max_failures: None,
            max_hangs: 10,
            // Proofs need the rest.
            time: Some((left / 3).max(Duration::from_secs(1))),
        };
        let opening = self.session.opening(self.run.cases.max(FIRST).saturating_mul(count))?;
        let (points, bins) = (self.missing.clone(), self.missing_bins.clone());
        let (program, interrupted) = (self.run.program, self.run.interrupted);
        let mut finder = Finder { job: self, found: Vec::new(), points, bins, scenarios: count };
        runner::run(
            program,
            &opening,
            plan.iter(),
            Start::default(),
            &limits,
            interrupted,
            &mut finder,
        )?;
        let found = finder.found;
        for (case, verdict, points, bins) in found {
            let by = format!("case {}, seed {}", case.name, self.run.seed);
            let mut origin = self.origin(&by, &points, &bins)?;
            origin.case = Some(case.name.clone());
            origin.seed = Some(self.run.seed);
            let text = self.session.vector(&case, origin, None)?;
            self.record_vector(&by, &text, &verdict, &points, &bins)?;
        }
        if self.run.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    fn origin(&self, by: &str, points: &[usize], bins: &[usize]) -> Result<Origin, Error> {
        let what = match (points, bins) {
            ([point, ..], _) => self.points[*point].place(),
            _ => "a bin".to_owned(),
        };
        let others = match (points.len() + bins.len()).saturating_sub(1) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let about = format!("hits {what}{others}, found by cosim cover close with {by}");
        origin(self.run.block, self.run.rtl, about)
    }

    /// Keeps a vector that hits points and bins.
    fn record_vector(
        &mut self,
        by: &str,
        text: &str,
        verdict: &Verdict,
        points: &[usize],
        bins: &[usize],
    ) -> Result<(), Error> {
        self.vectors += 1;
        let (block, profile) = (self.run.block.info().name, &self.profile.name);
        let vector =
            RunFile::new(RunFolder::Saved, &format!("{block}-{profile}-{}", self.vectors), "json");
        vector.write(self.run.folder, text.as_bytes(), Sync::OnDisk)?;
        let (found_by, text) = (by.to_owned(), verdict.to_string());
        let found = FoundInputs { found_by, verdict: text, vector, difference: None };
        let status = match verdict {
            Verdict::Match | Verdict::NoGoldenModel => AnswerStatus::Reached(found),
            _ => AnswerStatus::Failing(found),
        };
        for point in points {
            self.missing.remove(point);
            self.closed.insert(*point, self.row(*point, status.clone()));
        }
        for bin in bins {
            self.missing_bins.remove(bin);
            self.closed_bins.insert(*bin, status.clone());
        }
        Ok(())
    }

    /// Decides about points with the netlist.
    fn decide(&mut self, mut closure: Closure) -> Result<(), Error> {
        self.learn(&mut closure)?;
        let mut left = Vec::new();
        for point in self.missing.clone() {
            match closure.without(point) {
                Some(because) => drop(self.open.insert(point, because.to_owned())),
                None if self.open.contains_key(&point) => {}
                None => left.push(point),
            }
        }
        // Constants need no engine.
        self.show_step("constants");
        let provable: Vec<usize> =
            left.iter().copied().filter(|point| closure.is_provable(*point)).collect();
        let constants = closure.constants(&provable);
        if !constants.is_empty() {
            self.prove(&closure, &constants, Traffic::Any, &[Purpose::Proof], FIRST_CYCLES)?;
        }
        left.retain(|point| self.missing.contains(point));
        let held = closure.find_held_registers(&left);
        if !held.is_empty() {
            self.prove(&closure, &held, Traffic::Any, &[Purpose::Held], INDUCTION)?;
        }
        left.retain(|point| self.missing.contains(point));
        let provable: Vec<usize> =
            left.iter().copied().filter(|point| closure.is_provable(*point)).collect();
        for place in closure.instances() {
            self.show_step(&format!("deciding inside of {}", closure.instance(place)));
            // The module around an instance may depend on it more than on others.
            for points in [closure.inside(place, &provable), closure.around(place, &provable)] {
                self.prove_inside_instance(&closure, points, place, &mut 0)?;
            }
        }
        let traffics: &[Traffic] = match closure.has_offers() {
            true => &[Traffic::Any, Traffic::Legal],
            false => &[Traffic::Any],
        };
        for traffic in traffics {
            let is_last = traffics.last() == Some(traffic);
            left.retain(|point| self.missing.contains(point));
            let (provable, others): (Vec<usize>, Vec<usize>) =
                left.iter().partition(|point| closure.is_provable(**point));
            let provable = self.by_induction(&closure, provable, *traffic)?;
            self.by_engines(&closure, provable, *traffic, is_last)?;
            for point in others {
                if is_last && self.missing.contains(&point) {
                    self.search_one(&closure, point, *traffic)?;
                }
            }
        }
        Ok(())
    }

    /// Compares the netlist with the first cases. A kind of points about which it and Verilator
    /// disagree is not decided.
    fn learn(&mut self, closure: &mut Closure) -> Result<(), Error> {
        self.show_step("comparing the netlist with cases");
        let (cases, reached): (Vec<Case>, Vec<Vec<usize>>) =
            std::mem::take(&mut self.learned).into_iter().unzip();
        let task = self.run.task(
            self.profile,
            &self.bare,
            Action::Compare(
                self.bare.clone(),
                ModelComparison {
                    scenarios: self.session.scenarios_text(),
                    cases,
                    vectors: Vec::new(),
                    from_power_on: None,
                    first: 0,
                    is_recorded: true,
                    recorded_outputs: 0,
                },
            ),
        );
        let compared = self.run.worker.run_task::<Compared>(task)?.done()?;
        if let Some(because) = unstable(&compared) {
            return self.without_netlist(because);
        }
        let recorded = compared.recorded;
        let info = self.run.block.info();
        let size = info.power_up.len();
        let is_short = |cycles: usize| cycles <= LONGEST * size.max(1);
        let (recorded, reached): (Vec<_>, Vec<_>) = recorded
            .into_iter()
            .zip(reached)
            .filter(|(recorded, _)| is_short(recorded.cycles.len()))
            .unzip();
        let wrong = closure.learn(info.inputs, size, &recorded, &reached);
        for point in self.missing.clone() {
            let kind = self.points[point].kind;
            let disputed = wrong.iter().find(|(other, _)| self.points[*other].kind == kind);
            if let Some((other, case)) = disputed {
                let because = format!(
                    "Verilator counts {} in case {}, but the netlist does not reach it, so that no proof \
                     about a {} counts",
                    self.points[*other].place(),
                    recorded[*case].case,
                    kind.name()
                );
                self.open.insert(point, because);
            }
        }
        Ok(())
    }

    /// Tries to prove that none of the points is reached. Returns whether that is shown.
    fn prove(
        &mut self,
        closure: &Closure,
        points: &[usize],
        traffic: Traffic,
        purposes: &[Purpose],
        attempt: Attempt,
    ) -> Result<bool, Error> {
        let answer = never(closure, points, traffic, purposes, attempt)?;
        Ok(self.record(points, traffic, answer))
    }

    /// Records that none of the points is reached, if that is the answer.
    fn record(&mut self, points: &[usize], traffic: Traffic, answer: (Answer, f64)) -> bool {
        let (Answer::Never { certificate, by }, seconds) = answer else { return false };
        let others = points.len().saturating_sub(1);
        let proof = Proof { others, ..Proof::new(traffic, certificate) };
        for point in points {
            self.missing.remove(point);
            let row = self.row(*point, AnswerStatus::from_proof(proof.clone()));
            let row = AnswerRow { by: Some(by.clone()), seconds, ..row };
            self.closed.insert(*point, row);
        }
        true
    }

    /// Tries to prove that points inside of an instance are not reached, whatever drives it. That
    /// shows more than needed, of a much smaller network.
    fn prove_inside_instance(
        &mut self,
        closure: &Closure,
        mut points: Vec<usize>,
        place: usize,
        failed: &mut usize,
    ) -> Result<(), Error> {
        let (bare, helped) = (Purpose::Alone(place), Purpose::AloneAssertions(place));
        // Assertions make points inductive that are not so alone.
        let attempts = [(bare, INDUCTION), (helped, INDUCTION), (bare, SHORT_PROOF)];
        points.retain(|point| self.missing.contains(point));
        let mut left = attempts.iter();
        while let (false, Some((purpose, attempt))) =
            (points.is_empty() || *failed > FAILED_SETS, left.next())
        {
            let (answer, seconds) = never(closure, &points, Traffic::Any, &[*purpose], *attempt)?;
            match answer {
                Answer::Never { .. } => {
                    *failed = 0;
                    self.record(&points, Traffic::Any, (answer, seconds));
                    return Ok(());
                }
                Answer::Reached { trace, .. } => {
                    let shared = Contents::Shared;
                    let reached = closure.reached_by(&points, shared, *purpose, &trace)?;
                    if !reached.is_empty() {
                        points.retain(|point| !reached.contains(point));
                        left = attempts.iter();
                    } else if *purpose == bare {
                        break;
                    }
                }
                Answer::Open { .. } | Answer::Disputed { .. } => {}
            }
        }
        *failed += 1;
        if points.len() > 1 && *failed <= FAILED_SETS {
            let second = points.split_off(points.len() / 2);
            self.prove_inside_instance(closure, points, place, failed)?;
            self.prove_inside_instance(closure, second, place, failed)?;
        }
        Ok(())
    }

    /// Tries quick inductions: about all points, and about those of each signal or line. Returns
    /// the others.
    fn by_induction(
        &mut self,
        closure: &Closure,
        mut points: Vec<usize>,
        traffic: Traffic,
    ) -> Result<Vec<usize>, Error> {
        if points.is_empty() || self.prove(closure, &points, traffic, HELPED, INDUCTION)? {
            return Ok(Vec::new());
        }
        let mut groups: BTreeMap<(&str, u32), Vec<usize>> = BTreeMap::new();
        for point in &points {
            let Point { file, line, .. } = &self.points[*point];
            groups.entry((file, *line)).or_default().push(*point);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        self.show_step("induction");
        let CloseRun { threads, activity, .. } = *self.run;
        run_queries(
            &groups,
            threads,
            activity,
            |group| never(closure, group, traffic, HELPED, INDUCTION),
            |group, answer| {
                self.record(group, traffic, answer);
                Ok(())
            },
        )?;
        points.retain(|point| self.missing.contains(point));
        Ok(points)
    }

    /// Decides about a set of points: proves that none is reached, takes those away that a trace
    /// reaches, or halves the set.
    fn by_engines(
        &mut self,
        closure: &Closure,
        mut points: Vec<usize>,
        traffic: Traffic,
        is_last: bool,
    ) -> Result<(), Error> {
        let (mut unproved, mut rounds) = (Vec::new(), 0);
        loop {
            points.retain(|point| self.missing.contains(point));
            if points.is_empty() || is_late(self.run.deadline) {
                break;
            }
            self.show_step(&format!("deciding about {} points", points.len()));
            // A trace takes points away; otherwise a proof is tried.
            let mut searches = vec![FIRST_CYCLES, QUICK_DIFFERENCE];
            if is_last && points.len() <= FEW {
                searches.push(DIFFERENCE);
            }
            let mut step = Step::Undecided;
            for (place, search) in searches.into_iter().enumerate() {
                step = self.search(closure, &points, traffic, search)?;
                if !matches!(step, Step::Undecided) {
                    break;
                }
                let proofs: &[Attempt] = match place {
                    0 => &[INDUCTION, SHORT_PROOF],
                    1 if is_last && points.len() <= FEW => &[EQUIVALENCE],
                    _ => &[],
                };
                for attempt in proofs {
                    if self.prove(closure, &points, traffic, HELPED, *attempt)? {
                        return Ok(());
                    }
                }
            }
            match step {
                // What illegal traffic reaches is decided for legal traffic.
                Step::Reached(_) if !is_last && rounds == ROUNDS => return Ok(()),
                Step::Reached(reached) => {
                    rounds += 1;
                    points.retain(|point| !reached.contains(point));
                    unproved.extend(reached.into_iter().filter(|one| self.missing.contains(one)));
                }
                Step::Undecided if points.len() > 1 => {
                    let second = points.split_off(points.len() / 2);
                    self.by_engines(closure, points, traffic, is_last)?;
                    self.by_engines(closure, second, traffic, is_last)?;
                    break;
                }
                Step::Undecided => {
                    if is_last {
                        for point in &points {
                            let mut because = "neither a proof nor inputs were found".to_owned();
                            if let Some(more) = closure.because(*point, traffic)? {
                                because = format!("{because}; {more}");
                            }
                            self.open.insert(*point, because);
                        }
                    }
                    break;
                }
            }
        }
        if is_last {
            for point in unproved {
                if self.missing.contains(&point) {
                    self.search_one(closure, point, traffic)?;
                }
            }
        }
        Ok(())
    }

    /// Searches for inputs that reach one of the points.
    fn search(
        &mut self,
        closure: &Closure,
        points: &[usize],
        traffic: Traffic,
        attempt: Attempt,
    ) -> Result<Step, Error> {
        let (contents, purpose) = (Contents::Shared, Purpose::Search);
        match closure.query_points(points, contents, traffic, purpose, attempt)? {
            Answer::Reached { trace, .. } => {
                let reached = closure.reached_by(points, contents, purpose, &trace)?;
                if closure.is_legal(contents, purpose, &trace)? {
                    self.simulate(&trace)?;
                }
                Ok(if reached.is_empty() { Step::Undecided } else { Step::Reached(reached) })
            }
            Answer::Open { cycles, .. } => {
                self.record_bound(points, cycles);
                Ok(Step::Undecided)
            }
            Answer::Never { .. } | Answer::Disputed { .. } => Ok(Step::Undecided),
        }
    }

    /// Records that no legal inputs reach points in so many cycles.
    fn record_bound(&mut self, points: &[usize], cycles: Option<u32>) {
        for point in points {
            let bound = self.bounds.entry(*point).or_default();
            *bound = (*bound).max(cycles.unwrap_or_default());
        }
    }

    /// Searches for inputs that reach one point, with exact memories and with a change of the bit
    /// if its value alone does not show in simulation.
    fn search_one(
        &mut self,
        closure: &Closure,
        point: usize,
        traffic: Traffic,
    ) -> Result<(), Error> {
        self.show_step("searching for a point");
        let mut because = "the netlist reaches it, but the simulation does not".to_owned();
        for purpose in [Purpose::Search, Purpose::Change] {
            let contents = closure.exact();
            let attempt = match contents {
                Contents::Shared => QUICK_DIFFERENCE,
                Contents::Exact => DIFFERENCE_WITH_MEMORIES,
            };
            match closure.query_points(&[point], contents, traffic, purpose, attempt)? {
                Answer::Reached { trace, .. } if closure.is_legal(contents, purpose, &trace)? => {
                    self.simulate(&trace)?;
                    if !self.missing.contains(&point) {
                        return Ok(());
                    }
                }
                Answer::Reached { .. } | Answer::Never { .. } => {}
                Answer::Disputed { because: reason } => because = reason,
                Answer::Open { cycles, because: reason, .. } => {
                    self.record_bound(&[point], cycles);
                    because = reason;
                }
            }
        }
        self.open.insert(point, because);
        Ok(())
    }

    /// Drives a trace into the RTL, with registers that hold zeros or ones before reset, and keeps
    /// it if it hits something.
    fn simulate(&mut self, trace: &[Vec<String>]) -> Result<(), Error> {
        let by = "a bounded search";
        for before_reset in [BeforeReset::Zeros, BeforeReset::Ones] {
            let text =
                |origin| vector_of(self.run.block, self.profile, trace, before_reset, origin, None);
            let path = self.run.folder.join("vector.json");
            let vector = VectorFile::from_text(text(Origin::default())?, &path)?;
            let task = self.run.task(self.profile, &self.covered, Action::Replay(vector));
            let outcome = match self.run.worker.run_task::<Replayed>(task)? {
                Finish::Done(replayed) => replayed.outcome,
                Finish::Lost(verdict) => Outcome::without_cycles(verdict),
                Finish::Interrupted => return Err(Error::Interrupted),
            };
            let hit: Vec<usize> =
                numbers(&outcome.reached).filter(|point| self.missing.contains(point)).collect();
            if !hit.is_empty() {
                let text = text(self.origin(by, &hit, &[])?)?;
                return self.record_vector(by, &text, &outcome.verdict, &hit, &[]);
            }
        }
        Ok(())
    }
}

/// Asks for a proof that none of the points is reached, for one purpose after another. Returns the
/// seconds that it took, too.
fn never(
    closure: &Closure,
    points: &[usize],
    traffic: Traffic,
    purposes: &[Purpose],
    attempt: Attempt,
) -> Result<(Answer, f64), Error> {
    let started = Instant::now();
    let mut answer = Answer::open(LATE);
    for purpose in purposes {
        answer = closure.query_points(points, Contents::Shared, traffic, *purpose, attempt)?;
        if answer.is_never() {
            break;
        }
    }
    Ok((answer, seconds_since(started)))
}

/// What a search found.
enum Step {
    /// A trace that reaches these points of the netlist.
    Reached(Vec<usize>),
    Undecided,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rtl_that_differs_from_itself_is_not_decided() {
        let compared = |disagreement| Compared { disagreement, cases: 1, recorded: Vec::new() };
        assert_eq!(unstable(&compared(None)), None);
        let values = ["0".to_owned(), "1".to_owned()];
        let difference = Difference { cycle: 7, port: Some("q".to_owned()), values };
        let name = "b/p/s/3".to_owned();
        let because = unstable(&compared(Some(Disagreement { name, difference }))).unwrap();
        assert!(["b/p/s/3", "cycle 7", "q: 0"].iter().all(|part| because.contains(part)));
    }
}
