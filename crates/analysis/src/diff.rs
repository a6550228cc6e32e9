//! Compares two RTLs of a block: proves that no output differs, or shows inputs that make one.
//!
//! Cheap steps come first: the same text, the same netlist, corresponding signals, simulated cases,
//! a bounded search, and an unbounded proof at last. A difference counts only after both models
//! showed it in simulation.

mod queue;

use crate::agreement::{SEED, corpus, observe};
use crate::subject::{origin, seconds_since, vector_of};
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::agreement::{Compared, Disagreement, ModelComparison, RecordedInputs};
use cosim_block::built::Built;
use cosim_block::engine::Waves;
use cosim_block::rtl::Rtl;
use cosim_block::vector::{Origin, VectorFile};
use cosim_block::worker::task::{Action, Task};
use cosim_formal::answer::{Answer, Traffic, Undecidable};
use cosim_formal::certificate::Certificate;
use cosim_formal::diff::{Contents, Sides};
use cosim_formal::engine::Decider;
use cosim_formal::ladder::{Aim, CORRESPONDENCE, LONGER, Rung, UNBOUNDED, UNBOUNDED_EXACT};
use cosim_formal::portfolio::{DIFFERENCE, DIFFERENCE_WITH_MEMORIES, QUICK_DIFFERENCE};
use cosim_formats::answers::{
    AnswerRow, AnswerStatus, Basis, ComparisonStep, FoundInputs, Legality, OtherKind,
    ProfileAnswers, Proof, QuestionKind, ShownDifference,
};
use cosim_harness::harness::{Case, Difference, LONGEST, Profile, Verdict};
use cosim_regress::blocks::BlockHandle;
use cosim_regress::runner::SHRINK_BUDGET;
use cosim_regress::setup::{Session, Setup, cases_of};
use cosim_regress::worker::one_shot::VectorJob;
use cosim_regress::worker::{Finish, OneShotWorker};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::{RtlModels as _, View};
use cosim_rtl::changed;
use cosim_rtl::models::Examined;
use queue::{Batch, Owner, Queue};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;
use verilated::BeforeReset;
use verilated_build::activity::Activity;

/// Cases of each scenario that run on both RTLs first, and also after a proof.
const FIRST: u64 = 3;
/// Cases of each scenario before the bounded search.
const MORE: u64 = 40;
/// Cases of each scenario if nothing else decides.
const MOST: u64 = 400;
/// Cycles of each of the first cases in which the assumptions about legal traffic are checked.
const CHECKED: usize = 500;
/// Both models of memories.
const CONTENTS: [Contents; 2] = [Contents::Shared, Contents::Exact];

pub struct DiffRun<'a> {
    pub block: &'static BlockHandle,
    /// The old and the new RTL.
    pub rtl: [&'a Rtl; 2],
    pub worker: &'a OneShotWorker,
    pub answers: &'a Answers,
    pub folder: &'a Path,
    /// When no further step begins.
    pub deadline: Instant,
    pub legal_only: bool,
    pub has_waves: bool,
    pub activity: &'a Activity,
}

/// Inputs that make an output differ in simulation.
struct Found {
    by: String,
    /// The command of the search, if one found them.
    decider: Option<Decider>,
    vector: VectorFile,
    difference: Difference,
    legal: Legality,
}

/// What a step of the search for a proof or a difference found.
enum Step {
    Proved(Proof, Decider),
    Found(Found),
    Open,
}

/// The comparison under one profile.
struct Job<'a> {
    run: &'a DiffRun<'a>,
    profile: &'a Profile,
    /// Both models, once they are compiled.
    models: Option<[Built; 2]>,
    session: Session,
    steps: Vec<ComparisonStep>,
    by: Option<Decider>,
    /// Cases without a difference.
    cases: u64,
    /// Whether a search found a difference that does not show in simulation.
    is_inexact: bool,
    /// A difference with inputs that are not legal.
    illegal: Option<Found>,
    /// Whether the RTLs seem to be the same, so that any difference counts.
    is_claimed: bool,
    /// Cycles without a difference for all inputs, or for legal ones.
    cycles: Option<u32>,
    because: String,
}

impl DiffRun<'_> {
    /// Compares the RTLs under a profile.
    ///
    /// # Errors
    /// A tool fails, an RTL cannot be used, or a file cannot be written.
    pub fn profile(&self, profile: &Profile) -> Result<ProfileAnswers, Error> {
        let info = self.block.info();
        let started = Instant::now();
        let examined = [self.rtl[0].examined(info)?, self.rtl[1].examined(info)?];
        self.activity.note("comparing the preprocessed text");
        let is_same = same_text([&examined[0], &examined[1]])?;
        let mut job = Job {
            run: self,
            profile,
            models: None,
            session: Session::new(self.block, &Setup::from_profile(profile, Rtl::default()))?,
            steps: vec![step("preprocessed text", if is_same { "the same" } else { "differs" })],
            by: None,
            cases: 0,
            is_inexact: false,
            illegal: None,
            is_claimed: false,
            cycles: None,
            because: "the time limit ended the comparison".to_owned(),
        };
        // Compilers run beside Yosys and ABC.
        let build = |rtl: &&Rtl| rtl.build_for_user(info, &profile.parameters, View::Quick);
        let (models, sides) = rayon::join(
            || self.rtl.par_iter().map(build).collect::<Result<Vec<Built>, Error>>(),
            || if is_same { Ok(None) } else { job.netlists([&examined[0], &examined[1]]) },
        );
        job.models = <[Built; 2]>::try_from(models?).ok();
        let sides = job.judged(sides?)?;
        let status = if is_same { job.answer_same(Basis::Text, None)? } else { job.decide(sides)? };
        let (kind, named_query) = (QuestionKind::Other(OtherKind::Outputs), "no output differs");
        let row = AnswerRow::new(kind, named_query.to_owned(), status);
        let rows = vec![AnswerRow { by: job.by, seconds: seconds_since(started), ..row }];
        let (steps, cases) = (job.steps, job.cases);
        Ok(ProfileAnswers { steps, cases, rows, ..ProfileAnswers::new(profile) })
    }
}

fn step(step: &str, result: impl Into<String>) -> ComparisonStep {
    ComparisonStep { step: step.to_owned(), result: result.into() }
}

/// Whether both RTLs have the same tokens after preprocessing, and the same data files.
fn same_text([old, new]: [&Examined; 2]) -> Result<bool, Error> {
    let data = |examined: &Examined| -> Vec<_> {
        examined.design.data.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
    };
    let texts = [old.expanded()?, new.expanded()?];
    Ok(changed::is_same(&texts[0], &texts[1]) && data(old) == data(new))
}

impl Job<'_> {
    fn netlists(&mut self, examined: [&Examined; 2]) -> Result<Option<Sides>, Error> {
        let info = self.run.block.info();
        self.show_step("netlists of Yosys");
        let DiffRun { answers, deadline, .. } = self.run;
        let sides = Sides::new(info, examined, &self.profile.parameters, answers, *deadline);
        let sides = match sides.map_err(Undecidable::because_of_yosys) {
            Ok(sides) => Some(sides),
            Err(because) => self.without_proof("netlist", because?),
        };
        if let Some(sides) = &sides {
            self.steps.push(step("netlist", if sides.is_same() { "the same" } else { "differs" }));
        }
        Ok(sides)
    }

    /// The netlists, if both do what Verilator's models do.
    fn judged(&mut self, sides: Option<Sides>) -> Result<Option<Sides>, Error> {
        let (Some(found), Some(models)) = (&sides, &self.models) else { return Ok(sides) };
        self.show_step("comparing the netlists with Verilator's models");
        for (side, name) in ["old", "new"].into_iter().enumerate() {
            let recorded = observe(self.run.block, self.profile, &models[side], self.run.worker)?;
            let info = self.run.block.info();
            let doubt = recorded.map_or_else(Some, |cases| found.find_doubt(info, side, &cases));
            if let Some(because) = doubt {
                return Ok(self.without_proof("netlist", format!("{name} RTL: {because}")));
            }
        }
        Ok(sides)
    }

    fn decide(&mut self, sides: Option<Sides>) -> Result<AnswerStatus, Error> {
        let sides = sides.as_ref();
        if sides.is_some_and(Sides::is_same) {
            return self.answer_same(Basis::Netlist, sides);
        }
        // Cases show most differences at once, and a proof would run to its limits first.
        if let Some(found) = self.simulate("first cases", 0..FIRST, sides)? {
            let found = self.shorter(found, sides)?;
            return self.different(found, sides);
        }
        if let Some(sides) = sides.filter(|_| self.illegal.is_none()) {
            let contents = if sides.is_shared() { Contents::Shared } else { Contents::Exact };
            let (traffic, basis) = (self.widest(), Basis::Correspondence);
            let name = "correspondence";
            if let Step::Proved(proof, by) =
                self.proof(sides, name, contents, traffic, basis, CORRESPONDENCE)?
            {
                return Ok(self.answer_proved(proof, by));
            }
        }
        // Nothing shrinks a case without a golden model, and the search finds the shortest inputs.
        if !self.run.block.info().is_written()
            && let Some(sides) = sides.filter(|_| self.illegal.is_none())
            && let Step::Found(found) = self.search(sides, &CONTENTS, self.widest(), false)?
        {
            return self.different(found, Some(sides));
        }
        if let Some(found) = self.simulate("cases", FIRST..MORE, sides)? {
            return self.different(found, sides);
        }
        if let Some(sides) = sides {
            let result = self.formal(sides)?;
            match result {
                Step::Proved(proof, by) => return Ok(self.answer_proved(proof, by)),
                Step::Found(found) => return self.different(found, Some(sides)),
                Step::Open => {}
            }
        }
        if let Some(found) = self.simulate("further cases", MORE..MOST, sides)? {
            return self.different(found, sides);
        }
        if let Some(mut found) = self.illegal.take() {
            let within = self.cycles.map_or(String::new(), |cycles| {
                format!(", no difference within {cycles} cycles from reset")
            });
            let otherwise = format!("undecided: {}{within}", self.because);
            found.legal.otherwise.get_or_insert(otherwise);
            return self.different(found, sides);
        }
        let more = sides.map_or(Ok(None), |sides| sides.because(self.widest()))?;
        let because = [Some(self.because.clone()), more].into_iter().flatten().collect::<Vec<_>>();
        Ok(AnswerStatus::Open { cycles: self.cycles, because: because.join("; ") })
    }

    fn widest(&self) -> Traffic {
        if self.run.legal_only { Traffic::Legal } else { Traffic::Any }
    }

    fn show_step(&self, name: &str) {
        self.run.activity.note(name);
    }

    fn without_proof(&mut self, name: &str, because: String) -> Option<Sides> {
        self.steps.push(step(name, because.clone()));
        self.because = because;
        None
    }

    /// Adds the block's assertions to what is known of the old RTL; returns their number.
    fn strengthen(&self, sides: &Sides) -> Result<usize, Error> {
        // The graph with memories as registers does not have them.
        if !sides.is_shared() {
            return Ok(0);
        }
        self.show_step("assertions of the old RTL");
        let known = sides.strengthen(self.run.block.info(), &self.profile.parameters);
        match known {
            Err(Error::Environment(code, _)) if code == codes::YOSYS_ENDED => Ok(0),
            known => known,
        }
    }

    /// Searches for a difference, and for a proof that there is none.
    fn formal(&mut self, sides: &Sides) -> Result<Step, Error> {
        let contents: &[Contents] = match sides.has_memories() {
            true => &[Contents::Shared, Contents::Exact],
            false => &[Contents::Shared],
        };
        let traffics = match self.run.legal_only || !sides.has_offers() {
            true => vec![self.widest()],
            false => vec![Traffic::Legal, Traffic::Any],
        };
        // Most differences show soon, and a proof of what differs ends at its limit.
        for long in [false, true] {
            for traffic in &traffics {
                // A difference with inputs that are not legal is there already.
                if *traffic == Traffic::Any && self.illegal.is_some() {
                    continue;
                }
                if let Step::Found(found) = self.search(sides, contents, *traffic, long)? {
                    if found.legal.is_legal {
                        return Ok(Step::Found(found));
                    }
                    self.illegal.get_or_insert(found);
                }
            }
            let traffic = match self.illegal {
                Some(_) => Traffic::Legal,
                None => self.widest(),
            };
            // Without a channel there is no other traffic.
            if self.illegal.is_some() && !sides.has_offers() {
                break;
            }
            let name = match long {
                true => "longer proof".to_owned(),
                false => match self.strengthen(sides)? {
                    0 => "unbounded proof".to_owned(),
                    1 => "unbounded proof with an invariant".to_owned(),
                    number => format!("unbounded proof with {number} invariants"),
                },
            };
            for contents in contents {
                if *contents == Contents::Exact && !self.is_inexact && sides.is_shared() {
                    continue;
                }
                let rungs = match contents {
                    _ if long => LONGER,
                    Contents::Shared => UNBOUNDED,
                    Contents::Exact => UNBOUNDED_EXACT,
                };
                if let Step::Proved(proof, by) =
                    self.proof(sides, &name, *contents, traffic, Basis::Proof, rungs)?
                {
                    return Ok(match self.illegal.take() {
                        None => Step::Proved(proof, by),
                        Some(mut found) => {
                            let word = proof.certificate.word("equivalent, proved");
                            found.legal.otherwise = Some(word.to_owned());
                            Step::Found(found)
                        }
                    });
                }
            }
        }
        Ok(Step::Open)
    }

    /// Tries to prove that no output differs.
    fn proof(
        &mut self,
        sides: &Sides,
        name: &str,
        contents: Contents,
        traffic: Traffic,
        basis: Basis,
        rungs: &[Rung],
    ) -> Result<Step, Error> {
        let label = labelled(name, contents, traffic, sides);
        self.show_step(&label);
        let answer = match sides.prove(contents, traffic, rungs) {
            Ok(answer) => answer,
            Err(reason) => return Ok(self.open(&label, reason.because_of_yosys()?)),
        };
        match answer {
            Answer::Never { certificate, by } => {
                self.steps.push(step(&label, "no output differs"));
                let proof = Proof::new(traffic, certificate);
                Ok(Step::Proved(Proof { basis: Some(basis), ..proof }, by))
            }
            other => Ok(self.open(&label, other.because().unwrap_or_default().to_owned())),
        }
    }

    fn open(&mut self, label: &str, because: String) -> Step {
        self.steps.push(step(label, because.clone()));
        self.because = because;
        Step::Open
    }

    /// Searches for inputs that make an output differ, and drives them into both models.
    fn search(
        &mut self,
        sides: &Sides,
        contents: &[Contents],
        traffic: Traffic,
        long: bool,
    ) -> Result<Step, Error> {
        for contents in contents {
            let label = labelled("bounded search", *contents, traffic, sides);
            self.show_step(&label);
            let named_queries = match sides.named_queries(*contents, traffic, Aim::Search) {
                Ok(named_queries) => named_queries,
                Err(reason) => {
                    self.steps.push(step(&label, reason.because_of_yosys()?));
                    continue;
                }
            };
            let attempt = match (long, contents) {
                (false, _) => QUICK_DIFFERENCE,
                (true, Contents::Shared) => DIFFERENCE,
                (true, Contents::Exact) => DIFFERENCE_WITH_MEMORIES,
            };
            let [named_query, ..] = &named_queries[..] else { continue };
            match sides.run_attempt(named_query, attempt)? {
                Answer::Reached { trace, by } => {
                    if let Some(found) = self.confirmed(&trace, sides)? {
                        self.steps.push(step(&label, "a difference"));
                        return Ok(Step::Found(Found { decider: Some(by), ..found }));
                    }
                    self.is_inexact = true;
                    let result = "a difference that does not show in simulation";
                    self.steps.push(step(&label, result));
                    self.because = format!("the {label} shows {result}");
                }
                Answer::Never { .. } | Answer::Disputed { .. } => {
                    self.steps.push(step(&label, "no difference"));
                    break;
                }
                Answer::Open { cycles, because, .. } => {
                    if traffic == self.widest() || self.illegal.is_some() {
                        self.cycles = self.cycles.max(cycles);
                    }
                    let within =
                        cycles.map_or(because, |cycles| format!("none in {cycles} cycles"));
                    self.steps.push(step(&label, within));
                    // Shared memories return any data, so exact ones show nothing more.
                    break;
                }
            }
        }
        Ok(Step::Open)
    }

    /// Drives a trace into both models, with registers that hold zeros or ones before reset.
    fn confirmed(&self, cycles: &[Vec<String>], sides: &Sides) -> Result<Option<Found>, Error> {
        for before_reset in [BeforeReset::Zeros, BeforeReset::Ones] {
            let origin = self.origin("a bounded search", Origin::default())?;
            let block = self.run.block;
            let text = vector_of(block, self.profile, cycles, before_reset, origin, None)?;
            let vector = VectorFile::from_text(text, &self.file().path(self.run.folder))?;
            let compared = self.compare(Vec::new(), vec![vector.clone()], false)?;
            if let Some(Disagreement { difference, .. }) = compared.disagreement {
                let legal = self.legality(&compared.recorded, sides);
                let by = "bounded search".to_owned();
                return Ok(Some(Found { by, decider: None, vector, difference, legal }));
            }
        }
        Ok(None)
    }

    /// Whether the last recorded inputs are legal.
    fn legality(&self, recorded: &[RecordedInputs], sides: &Sides) -> Legality {
        let last = recorded.split_last().map_or(&[][..], |(last, _)| std::slice::from_ref(last));
        match sides.withdrawn(self.run.block.info(), last).first() {
            None => Legality::yes(),
            Some((what, violation)) => Legality {
                is_legal: false,
                because: Some(format!("{what} in cycle {}", violation.cycle)),
                otherwise: None,
            },
        }
    }

    fn compare(
        &self,
        cases: Vec<Case>,
        vectors: Vec<VectorFile>,
        is_recorded: bool,
    ) -> Result<Compared, Error> {
        let Some([old, new]) = &self.models else {
            return Err(Error::Environment(codes::INTERNAL, "no models to compare".to_owned()));
        };
        let task = Task {
            block: self.run.block.info().name.to_owned(),
            profile: self.profile.name.to_string(),
            model: old.clone(),
            action: Action::Compare(
                new.clone(),
                ModelComparison {
                    scenarios: self.session.scenarios_text(),
                    cases,
                    vectors,
                    from_power_on: None,
                    first: 1,
                    is_recorded,
                    recorded_outputs: 0,
                },
            ),
        };
        self.run.worker.run_task::<Compared>(task)?.done()
    }

    /// Runs cases, and the corpus before the first of them, on both RTLs. Returns the first legal
    /// difference.
    fn simulate(
        &mut self,
        name: &str,
        indices: std::ops::Range<u64>,
        sides: Option<&Sides>,
    ) -> Result<Option<Found>, Error> {
        let info = self.run.block.info();
        self.show_step(name);
        let is_first = indices.start == 0;
        let mut cases = cases_of(info, &self.session, self.profile, SEED, indices);
        cases.retain(|case| self.session.length(case) <= LONGEST);
        let vectors = if is_first { corpus(info.name)? } else { Vec::new() };
        let mut queue = Queue::new(&cases, vectors);
        let before = self.cases;
        let (mut result, mut illegal) = (None, None);
        while result.is_none() && !queue.is_empty() {
            // The first cases run whatever the limit of time is.
            if !is_first && Instant::now() >= self.run.deadline {
                break;
            }
            let batches = queue.next(rayon::current_num_threads());
            let all = batches.into_par_iter().map(|batch| {
                let Batch { cases, vectors } = batch.clone();
                Ok((self.compare(cases, vectors, is_first)?, batch))
            });
            let all = all.collect::<Result<Vec<_>, Error>>()?;
            for (Compared { disagreement, cases: ran, recorded }, batch) in all {
                if let Some(sides) = sides.filter(|_| is_first) {
                    self.check_assumptions(sides, &recorded)?;
                }
                self.cases += ran;
                let Some(Disagreement { name, difference }) = disagreement else { continue };
                self.cases -= 1;
                let owner = batch.owner(&name)?;
                let is_raw = recorded.last().is_some_and(|last| last.is_raw);
                let legal = match sides {
                    Some(sides) => self.legality(&recorded, sides),
                    None if is_raw => Legality {
                        is_legal: false,
                        because: Some("the inputs are unconstrained".to_owned()),
                        otherwise: None,
                    },
                    None => Legality::yes(),
                };
                let (by, vector) = match owner {
                    Owner::Case(case) => {
                        let origin = Origin {
                            case: Some(name.clone()),
                            seed: Some(SEED),
                            ..Origin::default()
                        };
                        let by = format!("case {name}");
                        let text = self.session.vector(case, self.origin(&by, origin)?, None)?;
                        (by, VectorFile::from_text(text, &self.file().path(self.run.folder))?)
                    }
                    Owner::Vector(vector) => (format!("vector {name}"), vector.clone()),
                };
                let found = Found { by, decider: None, vector, difference, legal };
                if found.legal.is_legal {
                    result = Some(found);
                    break;
                }
                queue.continue_behind(&batch, &owner);
                illegal.get_or_insert(found);
            }
        }
        let ran = self.cases - before;
        self.steps.push(step(
            name,
            match (&result, &illegal) {
                (Some(found), _) => format!("{} differs", found.by),
                (None, Some(found)) => format!("{} differs, and is not legal traffic", found.by),
                (None, None) => format!("{ran} without a difference"),
            },
        ));
        if let Some(found) = illegal.filter(|_| !self.run.legal_only || self.is_claimed) {
            self.illegal.get_or_insert(found);
        }
        Ok(result)
    }

    /// Checks the assumptions about legal traffic against the block's own stimulus.
    fn check_assumptions(&self, sides: &Sides, recorded: &[RecordedInputs]) -> Result<(), Error> {
        let info = self.run.block.info();
        if !sides.has_offers() {
            return Ok(());
        }
        let size = info.power_up.len();
        let begin = |case: &RecordedInputs| {
            let mut case = case.clone();
            case.cycles.truncate(CHECKED * size);
            case
        };
        let drawn: Vec<RecordedInputs> =
            recorded.iter().filter(|case| !case.is_raw).map(begin).collect();
        match sides.withdrawn(info, &drawn).first() {
            None => Ok(()),
            Some((what, violation)) => Err(Error::Usage(
                codes::ASSUMPTION_VIOLATED,
                format!(
                    "block {}, profile {}: case {} shows {what} in cycle {}; correct Block::NAMING or the \
                     environment",
                    info.name, self.profile.name, violation.case, violation.cycle
                ),
            )),
        }
    }

    /// The vector in the folder of the result.
    fn file(&self) -> RunFile {
        let name = format!("{}-{}", self.run.block.info().name, self.profile.name);
        RunFile::new(RunFolder::Failures, &name, "json")
    }

    fn origin(&self, by: &str, Origin { case, seed, .. }: Origin) -> Result<Origin, Error> {
        let about = format!("two RTLs differ, found by cosim diff with {by}");
        Ok(Origin { case, seed, ..origin(self.run.block, self.run.rtl[1], about)? })
    }

    /// Equal texts or netlists, if the first cases do not differ. They may: data files and tools
    /// are no part of the text, and a simulator may read it in another way than Yosys.
    fn answer_same(&mut self, basis: Basis, sides: Option<&Sides>) -> Result<AnswerStatus, Error> {
        self.is_claimed = true;
        let found = self.simulate("first cases", 0..FIRST, sides)?;
        if let Some(mut found) = found.or_else(|| self.illegal.take()) {
            found.by += match basis {
                Basis::Text => ", although the text is the same: data files or tools differ",
                _ => {
                    ", although the netlists are equivalent: simulation and synthesis read the \
                     RTL differently"
                }
            };
            return self.different(found, sides);
        }
        let proof = Proof::new(Traffic::Any, Certificate::Structure);
        Ok(self.answer_proved(Proof { basis: Some(basis), ..proof }, Decider::structure()))
    }

    /// A proof counts only beside cases on both models: it is about netlists.
    fn answer_proved(&mut self, proof: Proof, by: Decider) -> AnswerStatus {
        if self.cases == 0 {
            let because = "no case ran on both models".to_owned();
            return AnswerStatus::Open { cycles: self.cycles, because };
        }
        self.by = Some(by);
        AnswerStatus::from_proof(proof)
    }

    /// A shorter difference for a block without a golden model, for which nothing shrinks a case.
    fn shorter(&mut self, found: Found, sides: Option<&Sides>) -> Result<Found, Error> {
        let is_written = self.run.block.info().is_written();
        let Some(sides) = sides.filter(|_| !is_written) else { return Ok(found) };
        let traffic = if sides.has_offers() { Traffic::Legal } else { self.widest() };
        Ok(match self.search(sides, &CONTENTS, traffic, false)? {
            Step::Found(shorter) if shorter.legal.is_legal => shorter,
            _ => found,
        })
    }

    /// Shrinks what was found, and asks the golden model.
    fn different(&mut self, found: Found, sides: Option<&Sides>) -> Result<AnswerStatus, Error> {
        let Found { by, decider, mut vector, mut difference, mut legal } = found;
        self.by = decider;
        self.show_step("shrinking the difference");
        let mut verdicts = self.verdicts(&vector)?;
        let is_failure = |verdict: &Result<Verdict, String>| match verdict {
            Ok(Verdict::NoGoldenModel) | Err(_) => None,
            Ok(verdict) => Some(verdict.is_failure()),
        };
        let failing =
            [1, 0].into_iter().find(|side: &usize| is_failure(&verdicts[*side]) == Some(true));
        if let Some(side) = failing {
            let job = VectorJob { rtl: self.run.rtl[side], ..self.job(&vector) };
            let shrunk = self.run.worker.shrink(&job, SHRINK_BUDGET, &mut ());
            if let Ok(Finish::Done(shrunk)) = shrunk {
                let small = VectorFile::from_text(shrunk.text, &self.file().path(self.run.folder))?;
                let compared = self.compare(Vec::new(), vec![small.clone()], false)?;
                // It shows the same failure of the golden model's comparison, and another
                // difference only in rare cases.
                let now_legal = sides.map(|sides| self.legality(&compared.recorded, sides));
                let stays = |now: &Legality| now.is_legal || !legal.is_legal;
                if let Some(now) = compared.disagreement
                    && now_legal.as_ref().is_none_or(stays)
                {
                    (vector, difference) = (small, now.difference);
                    verdicts = self.verdicts(&vector)?;
                    match now_legal {
                        Some(now) if now.is_legal => legal = now,
                        Some(now) => legal.because = now.because,
                        None => {}
                    }
                }
            }
        }
        let file = self.file();
        let text = vector.text().to_owned();
        file.write(self.run.folder, text.as_bytes(), Sync::OnDisk)?;
        let right = match verdicts.each_ref().map(is_failure) {
            [Some(false), Some(true)] => "OLD is right, NEW differs from it",
            [Some(true), Some(false)] => "NEW is right, OLD differs from it",
            [Some(true), Some(true)] => "both differ from it",
            [Some(false), Some(false)] => "it accepts both",
            _ => "there is none that decides",
        };
        let mut right = right.to_owned();
        if let Some(side) = failing
            && legal.is_legal
        {
            let job = VectorJob { rtl: self.run.rtl[side], ..self.job(&vector) };
            if let Ok(Finish::Done(blame)) = self.run.worker.judge(&job)
                && blame.is_decided()
            {
                let side = ["OLD", "NEW"][side];
                right = format!("{right}; scoreboard, {side}: {}", blame.lines()[0]);
            }
        }
        let waves = if self.run.has_waves { self.waves(&vector)? } else { Vec::new() };
        if !legal.is_legal && legal.otherwise.is_none() {
            legal.otherwise = Some("not decided".to_owned());
        }
        let Difference { cycle, port, values } = difference;
        let text = |verdict: Result<Verdict, String>| match verdict {
            Ok(verdict) => verdict.to_string(),
            Err(message) => message,
        };
        let verdicts = verdicts.map(text);
        let difference = ShownDifference { cycle, port, values, legal, verdicts, waves };
        Ok(AnswerStatus::Failing(FoundInputs {
            found_by: by,
            verdict: right,
            vector: file,
            difference: Some(Box::new(difference)),
        }))
    }

    fn job<'a>(&'a self, vector: &'a VectorFile) -> VectorJob<'a> {
        let [old, _] = self.run.rtl;
        VectorJob { block: self.run.block, vector, profile: self.profile, rtl: old }
    }

    /// The verdicts of both RTLs against the golden model, or why there is none.
    fn verdicts(&self, vector: &VectorFile) -> Result<[Result<Verdict, String>; 2], Error> {
        let verdict = |rtl| -> Result<Result<Verdict, String>, Error> {
            let job = VectorJob { rtl, ..self.job(vector) };
            match self.run.worker.replay(&job) {
                Ok(Finish::Done(replayed)) => Ok(Ok(replayed.outcome.verdict)),
                Ok(Finish::Lost(verdict)) => Ok(Ok(verdict)),
                Ok(Finish::Interrupted) | Err(Error::Interrupted) => Err(Error::Interrupted),
                Err(error) => Ok(Err(error.to_string())),
            }
        };
        let [old, new] = self.run.rtl;
        Ok([verdict(old)?, verdict(new)?])
    }

    fn waves(&self, vector: &VectorFile) -> Result<Vec<RunFile>, Error> {
        let mut all = Vec::new();
        for (side, rtl) in ["old", "new"].into_iter().zip(self.run.rtl) {
            self.show_step(&format!("writing waves of the {side} RTL"));
            let name = format!("{}-{}-{side}", self.run.block.info().name, self.profile.name);
            let file = RunFile::new(RunFolder::Failures, &name, "fst");
            let job = VectorJob { rtl, ..self.job(vector) };
            let waves = Waves { path: file.path(self.run.folder), all: false };
            if let Finish::Done(()) = self.run.worker.trace(&job, waves)? {
                all.push(file);
            }
        }
        Ok(all)
    }
}

/// The name of a step with its model of memories and its traffic.
fn labelled(name: &str, contents: Contents, traffic: Traffic, sides: &Sides) -> String {
    let traffic = if traffic == Traffic::Legal { ", legal traffic" } else { "" };
    let contents = match contents {
        Contents::Shared => "",
        Contents::Exact if sides.has_memories() => ", memories as registers",
        Contents::Exact => "",
    };
    format!("{name}{traffic}{contents}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_rtl::yosys::verilog;
    use verilated_build::DataFile;

    #[test]
    fn a_text_is_the_same_only_with_the_same_data_files() {
        let with = |data: &str| {
            let mut examined = verilog("module top; reg a; endmodule");
            let text = Some(data.as_bytes().into());
            examined.design.data = vec![DataFile { name: "table.hex".to_owned(), text }];
            examined
        };
        let is_same = |old, new| same_text([&with(old), &with(new)]).unwrap();
        assert!(is_same("1", "1") && !is_same("1", "2"));
    }
}
