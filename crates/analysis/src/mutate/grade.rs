//! Runs cases until every mutant is killed or all cases are run.
//!
//! A mutant is killed by the first case of the plan that finds it, independent of the order in
//! which workers finish.

use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::mutate::{Kill, KillMethod, MutationJob};
use cosim_harness::harness::{Case, Outcome, Verdict};

use cosim_block::worker::task::{Action, Task};
use cosim_block::worker::wire::{Answer, Work};
use cosim_regress::worker::WorkerProgram;
use cosim_regress::worker::loss::CORRUPTED;
use cosim_regress::worker::worker_pool::{self, Client, Completion, PoolAction};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use verilated_build::activity::Activity;

/// Maximum number of mutants of a batch, which share the recorded golden side.
const GROUP: usize = 64;
/// Batches per worker in a round. Several let all workers end at about the same time.
const PIECES: usize = 4;

/// Cases of each scenario after which a round ends. Killed mutants do not run in later rounds, and
/// the first cases kill most of them.
const ROUNDS: [u64; 5] = [1, 3, 10, 40, 150];

/// Ends of the rounds, in cases of each scenario.
pub fn rounds(cases: u64) -> impl Iterator<Item = u64> {
    ROUNDS.into_iter().filter(move |end| *end < cases).chain([cases])
}

/// The parameters that the cases of a profile share.
#[derive(Debug)]
pub struct CaseSet<'a> {
    pub block: &'a str,
    pub profile: &'a str,
    pub model: &'a Built,
    /// The scenarios, as JSON.
    pub scenarios: &'a str,
    /// Packets per case, or random if `None`.
    pub packets: Option<u32>,
    pub cases: &'a [Case],
    pub method: KillMethod,
}

#[derive(Debug, Clone, Copy)]
pub struct Workers<'a> {
    pub program: &'a WorkerProgram,
    pub threads: usize,
    pub interrupted: &'a Arc<AtomicBool>,
}

/// The case that kills a mutant, as an index into [`CaseSet::cases`], and its outcome.
pub type FirstKill = (usize, Outcome);

impl Workers<'_> {
    /// Runs some of the cases on mutants. Returns the first kill of each mutant.
    ///
    /// # Errors
    /// [`Error::Interrupted`], or no workers can be started.
    pub fn round(
        &self,
        ground: &CaseSet<'_>,
        cases: Range<usize>,
        mutations: &[u32],
    ) -> Result<BTreeMap<u32, FirstKill>, Error> {
        let jobs = batches(cases, mutations, self.threads);
        let activity = Activity::start(format!("running mutants of {}", ground.block));
        let mut round = GradingRound {
            activity: activity.counting("batches", 0, Some(jobs.len() as u64)),
            ground,
            interrupted: self.interrupted,
            batches: jobs,
            found: BTreeMap::new(),
            again: Vec::new(),
        };
        while !round.batches.is_empty() {
            worker_pool::run(self.program, None, self.threads, &mut round)?;
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            round.batches = std::mem::take(&mut round.again).into();
        }
        Ok(round.found)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MutantBatch {
    mutations: Vec<u32>,
    cases: Range<usize>,
}

fn batches(cases: Range<usize>, mutations: &[u32], threads: usize) -> VecDeque<MutantBatch> {
    let wanted = threads * PIECES;
    let group = mutations.len().div_ceil(wanted).clamp(1, GROUP);
    let groups = mutations.len().div_ceil(group).max(1);
    let share = cases.len().div_ceil(wanted.div_ceil(groups)).max(1);
    let mut all = VecDeque::new();
    for first in cases.clone().step_by(share) {
        for mutations in mutations.chunks(group) {
            let cases = first..cases.end.min(first + share);
            all.push_back(MutantBatch { mutations: mutations.to_vec(), cases });
        }
    }
    all
}

impl MutantBatch {
    /// Smaller batches to run after a worker was lost, because the mutant and the case that caused
    /// the loss are unknown.
    fn smaller_batches(&self) -> Vec<Self> {
        if self.mutations.len() > 1 {
            let part = |mutation: &u32| Self { mutations: vec![*mutation], ..self.clone() };
            return self.mutations.iter().map(part).collect();
        }
        let part = |case| Self { cases: case..case + 1, ..self.clone() };
        self.cases.clone().map(part).collect()
    }

    fn contains_kills(&self, kills: &[Kill]) -> bool {
        let is_of =
            |kill: &Kill| self.mutations.contains(&kill.mutation) && kill.case < self.cases.len();
        kills.iter().all(is_of)
    }

    fn is_whole(&self) -> bool {
        self.mutations.len() == 1 && self.cases.len() == 1
    }
}

struct GradingRound<'a> {
    activity: Activity,
    ground: &'a CaseSet<'a>,
    interrupted: &'a AtomicBool,
    batches: VecDeque<MutantBatch>,
    found: BTreeMap<u32, FirstKill>,
    /// Parts of batches whose worker was lost.
    again: Vec<MutantBatch>,
}

fn note(found: &mut BTreeMap<u32, FirstKill>, mutation: u32, case: usize, outcome: Outcome) {
    match found.get(&mutation) {
        Some((earlier, _)) if *earlier <= case => {}
        _ => drop(found.insert(mutation, (case, outcome))),
    }
}

impl Client for GradingRound<'_> {
    type Item = MutantBatch;

    fn next(&mut self) -> Option<(MutantBatch, Work)> {
        loop {
            let mut batch = self.batches.pop_front()?;
            // An earlier case may have killed the mutant meanwhile.
            let found = &self.found;
            let is_open = |mutation: &u32| {
                found.get(mutation).is_none_or(|(case, _)| *case >= batch.cases.start)
            };
            batch.mutations.retain(is_open);
            if batch.mutations.is_empty() {
                continue;
            }
            let CaseSet { block, profile, model, scenarios, packets, cases, method } = self.ground;
            let run_job = MutationJob {
                scenarios: (*scenarios).to_owned(),
                packets: *packets,
                cases: cases[batch.cases.clone()].to_vec(),
                mutations: batch.mutations.clone(),
                method: *method,
            };
            let task = Task {
                block: (*block).to_owned(),
                profile: (*profile).to_owned(),
                model: (*model).clone(),
                action: Action::MutationJob(run_job),
            };
            return Some((batch, Work::Task(Box::new(task))));
        }
    }

    fn poll(&mut self) -> PoolAction {
        if self.interrupted.load(Ordering::Relaxed) {
            PoolAction::Stop
        } else {
            PoolAction::Continue
        }
    }

    fn landed(&mut self, batch: MutantBatch, completion: Completion) -> Result<PoolAction, Error> {
        self.activity.advance();
        let lost = match completion {
            Completion::Answer(Answer::Task(json)) => {
                let kills: Option<Vec<Kill>> = serde_json::from_str(&json).ok();
                if let Some(kills) = kills.filter(|kills| batch.contains_kills(kills)) {
                    for Kill { mutation, case, outcome } in kills {
                        note(&mut self.found, mutation, batch.cases.start + case, outcome);
                    }
                    return Ok(PoolAction::Continue);
                }
                Verdict::Crashed { cycle: None, message: CORRUPTED.to_owned() }
            }
            Completion::Answer(Answer::Panicked(message)) => {
                Verdict::Crashed { cycle: None, message }
            }
            Completion::Lost(verdict) => verdict,
            Completion::Answer(answer) => {
                return Err(Error::Environment(
                    codes::WORKER_FAILED,
                    format!("a worker answers a task with {answer:?}"),
                ));
            }
        };
        if batch.is_whole() {
            let outcome = Outcome::without_cycles(lost);
            note(&mut self.found, batch.mutations[0], batch.cases.start, outcome);
        } else {
            self.again.extend(batch.smaller_batches());
        }
        Ok(PoolAction::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_every_mutant_with_every_case_once() {
        for (cases, mutations, threads) in
            [(0..1, 1, 1), (3..20, 1, 2), (0..9, 300, 2), (5..6, 7, 4)]
        {
            let list: Vec<u32> = (1..=mutations).collect();
            let mut seen = BTreeMap::new();
            for batch in batches(cases.clone(), &list, threads) {
                for (mutation, case) in
                    batch.mutations.iter().flat_map(|m| batch.cases.clone().map(move |c| (*m, c)))
                {
                    *seen.entry((mutation, case)).or_insert(0) += 1;
                }
            }
            assert_eq!(seen.len(), cases.len() * list.len(), "{cases:?} {mutations} {threads}");
            assert!(seen.values().all(|times| *times == 1));
        }
    }

    /// Workers end in any order.
    #[test]
    fn a_mutant_is_killed_by_the_first_case_of_the_plan() {
        let mut found = BTreeMap::new();
        let outcome = || Outcome::without_cycles(Verdict::Match);
        [7, 3, 5].into_iter().for_each(|case| note(&mut found, 4, case, outcome()));
        assert_eq!(found, BTreeMap::from([(4, (3, outcome()))]));
    }

    #[test]
    fn a_kill_is_of_its_batch() {
        let batch = MutantBatch { mutations: vec![4, 9], cases: 3..6 };
        let outcome = Outcome::without_cycles(Verdict::Match);
        let kill = |mutation, case| Kill { mutation, case, outcome: outcome.clone() };
        assert!(batch.contains_kills(&[kill(9, 2), kill(4, 0)]) && batch.contains_kills(&[]));
        assert!(!batch.contains_kills(&[kill(9, 2), kill(5, 0)]), "another mutant");
        assert!(!batch.contains_kills(&[kill(4, 3)]), "another case");
    }

    #[test]
    fn a_lost_batch_is_split_down_to_one_case_of_one_mutant() {
        let batch = MutantBatch { mutations: vec![4, 9], cases: 3..6 };
        let parts = batch.smaller_batches();
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.smaller_batches().iter().all(MutantBatch::is_whole)));
    }
}
