//! Shrinks a failing stimulus while its [`Fingerprint`] stays the same.
//!
//! [`traffic`] shrinks the JSON of transactions. [`raw`] shrinks the bytes of the pins of each
//! cycle. Both first look for a short window before the failure that fails alone, which makes the
//! later steps cheap. What needs the types of a block is behind [`TypedCandidate`].
//!
//! Shrinking is deterministic: the budget is counted in cycles. Every candidate costs part of it,
//! even if it is rejected before it runs.

mod json;
mod raw;
mod traffic;

use crate::vector::Origin;
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{BlockInfo, CaseRng, Fingerprint, Outcome, Verdict, Watch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{Duration, Instant};
use verilated::BeforeReset;

/// Fixed cost of a candidate that runs in this process, in cycles.
pub const COST_OF_A_TRY: u64 = 100;
/// Part of the budget for the search of numbers that do not matter, in addition to the rest.
const SHARE_OF_ANY: u64 = 16;
/// Minimum time between reports of the smallest stimulus.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Reports may take at most one part in `REPORT_SHARE` of the time.
const REPORT_SHARE: u32 = 10;

/// The source of the inputs of a case, without the types of its block.
#[derive(Debug, Clone)]
pub enum PlainDrive {
    /// Transactions, as JSON.
    Traffic(Value),
    /// The bytes of the pins of each cycle.
    Cycles(Vec<Vec<u8>>),
}

/// A candidate in the types of its block.
pub trait TypedCandidate {
    /// Replaces the candidate. Returns `false` if the types of the block reject it.
    fn replace(&mut self, before_reset: BeforeReset, drive: &PlainDrive) -> bool;

    /// The source of its inputs. The JSON is that of a vector.
    fn drive(&self) -> Result<PlainDrive, Error>;

    /// Runs the candidate. `None` if it is illegal or the run is impossible.
    fn run(&mut self) -> Option<Outcome>;

    /// Whether the golden model alone completes the candidate. A smaller one must not hang by
    /// itself.
    fn is_completed(&self) -> bool;

    /// Draws a traffic of about `packets` packets. `None` if the scenario draws unconstrained
    /// stimulus.
    fn draw(&self, scenario: usize, packets: u32, rng: &mut CaseRng) -> Option<Value>;

    /// The text of a vector of the candidate.
    fn text(&self, origin: Origin, recorded: &Verdict) -> Result<String, Error>;
}

/// What to shrink, and how.
pub struct ShrinkRequest<'a> {
    pub info: &'static BlockInfo,
    /// Words in the names of delays.
    pub waits: &'static [&'static str],
    /// The origin of the vector.
    pub origin: &'a Origin,
    /// The registers of the vector before reset.
    pub before_reset: BeforeReset,
    /// The outcome of the vector.
    pub outcome: &'a Outcome,
    /// Approximate budget for all candidates, in cycles.
    pub budget: u64,
    /// Fixed cost of a candidate, in addition to its cycles.
    pub cost: u64,
    pub watch: &'a Watch,
}

/// Receives the progress of shrinking.
pub trait ShrinkProgress {
    /// A candidate was tried: the number of candidates, and how many were kept.
    fn candidate(&mut self, _tried: u64, _kept: u64) {}

    /// The smallest vector so far, at a limited rate. It is the result if the rest of the work is
    /// lost.
    fn keep_best(&mut self, _best: &dyn Fn() -> Result<ShrunkVector, Error>) {}
}

impl ShrinkProgress for () {}

/// A shrunk vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShrunkVector {
    /// Its text.
    pub text: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// Candidates tried.
    pub candidates: u64,
    /// Whether the budget ended the search.
    pub out_of_budget: bool,
    /// Whether it is smaller than the original.
    pub is_smaller: bool,
}

/// Shrinks the stimulus `typed`, which fails with the outcome of the request.
pub fn shrink(
    request: &ShrinkRequest<'_>,
    typed: &mut dyn TypedCandidate,
    progress: &mut dyn ShrinkProgress,
) -> Result<ShrunkVector, Error> {
    let fingerprint = Fingerprint::from_verdict(&request.outcome.verdict).ok_or_else(|| {
        Error::Usage(codes::NOTHING_FAILS, "the vector has no failure to shrink".to_owned())
    })?;
    let mut search = ShrinkSearch {
        request,
        keeps_legal: false,
        before_reset: request.before_reset,
        best: typed.drive()?,
        outcome: request.outcome.clone(),
        fingerprint,
        typed,
        left: request.budget,
        reserve: 0,
        finest: usize::MAX,
        candidates: 0,
        kept: 0,
        is_smaller: false,
        progress,
        next_report: Instant::now(),
    };
    search.simplify_registers();
    match search.best {
        PlainDrive::Traffic(_) => {
            // Only the registers before reset may differ from the best stimulus.
            search.keeps_legal = search.typed.is_completed();
            traffic::shrink(&mut search);
        }
        PlainDrive::Cycles(_) => raw::shrink(&mut search),
    }
    search.simplify_registers();
    let out_of_budget = search.left == 0 || request.watch.is_cancelled();
    search.left = search.left.max(request.budget / SHARE_OF_ANY);
    let any = traffic::any(&mut search)?;
    if request.watch.is_cancelled() && !search.is_smaller {
        // Do not write the unchanged vector again after an interruption.
        return Err(Error::Interrupted);
    }
    search.typed.replace(search.before_reset, &search.best);
    let ShrinkSearch { typed, outcome, candidates, is_smaller, .. } = search;
    Ok(ShrunkVector {
        out_of_budget,
        is_smaller,
        ..request.vector(typed, &outcome, candidates, any)?
    })
}

impl ShrinkRequest<'_> {
    /// The vector of the candidate `typed`, the smallest so far.
    fn vector(
        &self,
        typed: &dyn TypedCandidate,
        outcome: &Outcome,
        candidates: u64,
        any: Vec<String>,
    ) -> Result<ShrunkVector, Error> {
        let verdict = &outcome.verdict;
        // Update the description to the new verdict.
        let about =
            self.origin.about.replace(&self.outcome.verdict.to_string(), &verdict.to_string());
        let text = typed.text(Origin { about, any, ..self.origin.clone() }, verdict)?;
        Ok(ShrunkVector {
            text,
            outcome: outcome.clone(),
            candidates,
            out_of_budget: true,
            is_smaller: true,
        })
    }
}

/// The smallest stimulus so far, and the remaining budget.
struct ShrinkSearch<'a> {
    request: &'a ShrinkRequest<'a>,
    before_reset: BeforeReset,
    best: PlainDrive,
    outcome: Outcome,
    fingerprint: Fingerprint,
    /// Whether the golden model completes the stimulus. Smaller stimuli must also be legal then.
    keeps_legal: bool,
    typed: &'a mut dyn TypedCandidate,
    /// Remaining budget in cycles.
    left: u64,
    /// Cycles that the current step must leave for later ones.
    reserve: u64,
    /// Maximum number of parts into which a list or a set of numbers of the traffic is divided.
    finest: usize,
    candidates: u64,
    kept: u64,
    /// Whether the drive has changed. Simpler register values before reset do not count.
    is_smaller: bool,
    progress: &'a mut dyn ShrinkProgress,
    next_report: Instant,
}

impl ShrinkSearch<'_> {
    /// Whether the current step must end.
    fn is_over(&self) -> bool {
        self.left <= self.reserve || self.request.watch.is_cancelled()
    }

    fn pay(&mut self, cycles: u64) {
        self.left = self.left.saturating_sub(cycles);
    }

    /// Gives one part in `parts` of the budget to a step.
    fn allow(&mut self, parts: u64) {
        self.reserve = self.left - self.left / parts;
    }

    /// Runs a candidate, if it is legal.
    fn outcome(&mut self, before_reset: BeforeReset, drive: &PlainDrive) -> Option<Outcome> {
        if !self.typed.replace(before_reset, drive) {
            return None;
        }
        self.pay(self.request.cost);
        if self.is_over() {
            return None;
        }
        let outcome = self.typed.run()?;
        self.candidates += 1;
        self.pay(outcome.cycles);
        Some(outcome)
    }

    /// Whether a legal stimulus with the same register values fails in the same way. It is not
    /// kept.
    fn fails_alike(&mut self, drive: &PlainDrive) -> Option<bool> {
        let outcome = self.outcome(self.before_reset, drive)?;
        if self.keeps_legal {
            self.pay(outcome.cycles);
            if !self.typed.is_completed() {
                return None;
            }
        }
        Some(Fingerprint::from_verdict(&outcome.verdict).as_ref() == Some(&self.fingerprint))
    }

    /// Runs a candidate. Keeps it if it fails in the same way and `is_smaller` holds for its
    /// outcome.
    fn judge(
        &mut self,
        before_reset: BeforeReset,
        drive: PlainDrive,
        is_smaller: impl Fn(&Outcome) -> bool,
    ) -> bool {
        let Some(outcome) = self.outcome(before_reset, &drive) else { return false };
        let mut kept = Fingerprint::from_verdict(&outcome.verdict).as_ref()
            == Some(&self.fingerprint)
            && is_smaller(&outcome);
        if kept && self.keeps_legal {
            self.pay(outcome.cycles);
            kept = self.typed.is_completed();
        }
        if kept {
            self.kept += 1;
            (self.before_reset, self.best, self.outcome) = (before_reset, drive, outcome);
        }
        self.progress.candidate(self.candidates, self.kept);
        kept
    }

    /// Runs a candidate with the same register values before reset. Reports it if it is kept.
    fn judge_drive(&mut self, drive: PlainDrive, is_smaller: impl Fn(&Outcome) -> bool) -> bool {
        let kept = self.judge(self.before_reset, drive, is_smaller);
        if kept {
            self.is_smaller = true;
            self.report();
        }
        kept
    }

    /// Prefers ones before reset, then zeros. Random values stay only if the failure needs them.
    fn simplify_registers(&mut self) {
        for before_reset in [BeforeReset::Ones, BeforeReset::Zeros] {
            if self.before_reset == before_reset
                || self.is_over()
                || self.judge(before_reset, self.best.clone(), |_| true)
            {
                return;
            }
        }
    }

    /// Reports the candidate as the smallest stimulus: the first at once, later ones at a limited
    /// rate.
    fn report(&mut self) {
        let begin = Instant::now();
        if begin >= self.next_report {
            self.progress.keep_best(&|| {
                self.request.vector(self.typed, &self.outcome, self.candidates, Vec::new())
            });
            let took = begin.elapsed();
            self.next_report = Instant::now() + REPORT_EVERY.max(took * REPORT_SHARE);
        }
    }
}
