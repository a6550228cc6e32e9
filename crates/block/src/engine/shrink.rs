//! Shrinks a failing stimulus while its [`Fingerprint`] stays the same.
//!
//! [`traffic`] shrinks the JSON of transactions, so it needs no code of a block. [`raw`] shrinks
//! the pins of each cycle. Both first look for a short window before the failure that fails alone,
//! which makes the later steps cheap.
//!
//! Shrinking is deterministic: the budget is counted in cycles. Every candidate costs part of it,
//! even if it is rejected before it runs.

mod json;
mod raw;
mod traffic;

use cosim_base::error::{Error, codes};
use cosim_harness::harness::{
    self, Block, Drive, Fingerprint, Outcome, Parameters, Stimulus, Traffic as _, Verdict, Watch,
};
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

/// The result of shrinking.
#[derive(Debug, Clone)]
pub struct Shrunk<B: Block> {
    /// The smallest stimulus found.
    pub stimulus: Stimulus<B>,
    /// Its outcome.
    pub outcome: Outcome,
    /// JSON pointers to the numbers of its traffic that do not matter.
    pub any: Vec<String>,
    /// Candidates tried.
    pub candidates: u64,
    /// Whether the drive became smaller. Simpler register values before reset do not count.
    pub is_smaller: bool,
    /// Whether the budget or the user ended the search.
    pub out_of_budget: bool,
}

/// Receives progress.
pub trait Progress<B: Block> {
    /// A candidate was tried: the number of candidates, and how many were kept.
    fn candidate(&mut self, candidates: u64, kept: u64);

    /// The smallest stimulus so far, with its outcome. Called at a limited rate.
    fn improved(&mut self, stimulus: &Stimulus<B>, outcome: &Outcome, candidates: u64);
}

/// How candidates run.
pub struct ShrinkContext<'a, B: Block> {
    /// Runs a candidate. `None` if that is impossible.
    pub run: &'a mut dyn FnMut(&Stimulus<B>) -> Option<Outcome>,
    /// Approximate budget for all candidates, in cycles.
    pub budget: u64,
    /// Fixed cost of a candidate, in addition to its cycles.
    pub cost: u64,
}

/// Shrinks `stimulus`, which fails with `outcome`.
pub fn shrink<B: Block>(
    stimulus: Stimulus<B>,
    outcome: &Outcome,
    parameters: &Parameters,
    tries: ShrinkContext<'_, B>,
    watch: &Watch,
    progress: &mut dyn Progress<B>,
) -> Result<Shrunk<B>, Error> {
    let fingerprint = Fingerprint::of(&outcome.verdict).ok_or_else(|| {
        Error::Usage(codes::NOTHING_FAILS, "the vector has no failure to shrink".to_owned())
    })?;
    let mut search = ShrinkSearch::<B> {
        keeps_legal: false,
        best: stimulus,
        outcome: outcome.clone(),
        fingerprint,
        parameters: *parameters,
        run: tries.run,
        cost: tries.cost,
        left: tries.budget,
        reserve: 0,
        candidates: 0,
        kept: 0,
        is_smaller: false,
        watch,
        progress,
        next_report: Instant::now(),
    };
    search.simplify_registers();
    match search.best.drive {
        Drive::Traffic(_) => {
            let is_legal = search.is_legal(&search.best);
            search.keeps_legal = is_legal;
            traffic::shrink(&mut search)?;
        }
        Drive::Cycles(_) => raw::shrink(&mut search),
    }
    search.simplify_registers();
    let out_of_budget = search.left == 0 || watch.is_cancelled();
    search.left = search.left.max(tries.budget / SHARE_OF_ANY);
    let any = traffic::any(&mut search)?;
    Ok(Shrunk {
        out_of_budget,
        any,
        stimulus: search.best,
        outcome: search.outcome,
        candidates: search.candidates,
        is_smaller: search.is_smaller,
    })
}

/// The smallest stimulus so far, and the remaining budget.
struct ShrinkSearch<'a, B: Block> {
    best: Stimulus<B>,
    outcome: Outcome,
    fingerprint: Fingerprint,
    parameters: Parameters,
    /// Whether the golden model completes the stimulus. Smaller stimuli must also be legal then.
    keeps_legal: bool,
    run: &'a mut dyn FnMut(&Stimulus<B>) -> Option<Outcome>,
    /// Fixed cost of a candidate.
    cost: u64,
    /// Remaining budget in cycles.
    left: u64,
    /// Cycles that the current step must leave for later ones.
    reserve: u64,
    candidates: u64,
    kept: u64,
    /// Whether the drive has changed.
    is_smaller: bool,
    watch: &'a Watch,
    progress: &'a mut dyn Progress<B>,
    next_report: Instant,
}

impl<B: Block> ShrinkSearch<'_, B> {
    /// Whether the current step must end.
    fn is_over(&self) -> bool {
        self.left <= self.reserve || self.watch.is_cancelled()
    }

    /// Deducts a cost from the budget.
    fn pay(&mut self, cycles: u64) {
        self.left = self.left.saturating_sub(cycles);
    }

    /// Gives one part in `parts` of the budget to a step.
    fn allow(&mut self, parts: u64) {
        self.reserve = self.left - self.left / parts;
    }

    /// Runs a candidate, if it is legal.
    fn outcome(&mut self, stimulus: &Stimulus<B>) -> Option<Outcome> {
        self.pay(self.cost);
        let legal = match &stimulus.drive {
            Drive::Traffic(traffic) => traffic.check().is_ok(),
            Drive::Cycles(cycles) => !cycles.is_empty(),
        };
        if !legal || self.is_over() {
            return None;
        }
        let outcome = (self.run)(stimulus)?;
        self.candidates += 1;
        self.pay(outcome.cycles);
        Some(outcome)
    }

    /// Whether a legal stimulus with the same register values fails in the same way. It is not
    /// kept.
    fn fails_alike(&mut self, drive: Drive<B>) -> Option<bool> {
        let stimulus = Stimulus { before_reset: self.best.before_reset, drive };
        let outcome = self.outcome(&stimulus)?;
        if self.keeps_legal {
            self.pay(outcome.cycles);
            if !self.is_legal(&stimulus) {
                return None;
            }
        }
        Some(Fingerprint::of(&outcome.verdict).as_ref() == Some(&self.fingerprint))
    }

    /// Runs a candidate. Keeps it if it fails in the same way and `is_smaller` holds for its
    /// outcome.
    fn judge(&mut self, stimulus: Stimulus<B>, is_smaller: impl Fn(&Outcome) -> bool) -> bool {
        let Some(outcome) = self.outcome(&stimulus) else { return false };
        let mut kept = Fingerprint::of(&outcome.verdict).as_ref() == Some(&self.fingerprint)
            && is_smaller(&outcome);
        if kept && self.keeps_legal {
            self.pay(outcome.cycles);
            kept = self.is_legal(&stimulus);
        }
        if kept {
            self.kept += 1;
            (self.best, self.outcome) = (stimulus, outcome);
        }
        self.progress.candidate(self.candidates, self.kept);
        kept
    }

    /// Runs a candidate with the same register values before reset. Reports it if it is kept.
    fn judge_drive(&mut self, drive: Drive<B>, is_smaller: impl Fn(&Outcome) -> bool) -> bool {
        let before_reset = self.best.before_reset;
        let kept = self.judge(Stimulus { before_reset, drive }, is_smaller);
        if kept {
            self.is_smaller = true;
            self.report();
        }
        kept
    }

    /// Prefers ones before reset, then zeros. Random values stay only if the failure needs them.
    fn simplify_registers(&mut self) {
        for before_reset in [BeforeReset::Ones, BeforeReset::Zeros] {
            if self.best.before_reset == before_reset || self.is_over() {
                return;
            }
            if self.judge(self.best.clone().with_before_reset(before_reset), |_| true) {
                return;
            }
        }
    }

    /// Reports the smallest stimulus: the first at once, later ones at a limited rate.
    fn report(&mut self) {
        let begin = Instant::now();
        if begin >= self.next_report {
            self.progress.improved(&self.best, &self.outcome, self.candidates);
            let took = begin.elapsed();
            self.next_report = Instant::now() + REPORT_EVERY.max(took * REPORT_SHARE);
        }
    }

    /// Whether the golden model alone completes a stimulus. A smaller one must not hang by itself.
    fn is_legal(&self, stimulus: &Stimulus<B>) -> bool {
        harness::run_golden(stimulus, &self.parameters, self.watch).verdict == Verdict::Match
    }
}
