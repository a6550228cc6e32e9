//! Runs cases in parallel and delivers them in the order of the plan.
//!
//! Memory does not grow with the run: a bounded number of cases is in flight, and what a case leaves
//! behind is given away as soon as all before it are done.

use super::plan::Plan;
use crate::engine::Session;
use crate::error::Error;
use crate::harness::{Case, Outcome, Verdict, Watch};
use rayon::{ThreadPool, ThreadPoolBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Cases in flight or waiting for an earlier one, per thread.
const AHEAD: usize = 32;
/// How often the runner looks at interruption and stuck cases.
const TICK: Duration = Duration::from_millis(100);

/// How long the runner lets cases land before it looks at them: to be woken by each of them would cost
/// the cases as much as their models' creation.
const NAP: Duration = Duration::from_micros(500);

/// When a run ends before its plan does.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Threads; at least 1.
    pub threads: usize,
    /// Failures after which the run ends.
    pub max_failures: Option<u64>,
    /// Time after which no new case begins.
    pub time: Option<Duration>,
    /// Time after which a case that makes no progress hangs.
    pub stuck_after: Duration,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every case of the plan was run.
    Complete,
    /// `--time` was over.
    Time,
    /// `--max-failures` was reached.
    MaxFailures,
    /// The user stopped it.
    Interrupted,
}

/// Told of every case, in the order of the plan.
pub trait Progress {
    /// A case ended.
    ///
    /// # Errors
    /// If it cannot be written down; the run ends then.
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error>;
}

/// A case that was handed to the pool.
struct Flight {
    case: Case,
    watch: Arc<Watch>,
    started: Arc<AtomicBool>,
    /// Cycles at the last look, and when they last changed.
    seen: (u64, Instant),
}

type Landing = (u64, Outcome);

/// Runs the plan's cases until its end, a limit, or `interrupted`.
///
/// # Errors
/// What `progress` returns, or if no thread can be made.
pub fn run(
    session: &Arc<dyn Session>,
    plan: &Plan,
    limits: &Limits,
    interrupted: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<End, Error> {
    let (sender, landings) = mpsc::channel();
    let mut runner = Runner {
        session,
        pool: pool(limits.threads)?,
        sender,
        landings,
        flights: BTreeMap::new(),
        landed: BTreeMap::new(),
    };
    let result = runner.drive(plan, limits, interrupted, progress);
    for flight in runner.flights.values() {
        flight.watch.cancel();
    }
    // Dropping a pool does not wait for a model that never returns.
    drop(runner);
    result
}

fn pool(threads: usize) -> Result<ThreadPool, Error> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("case-{index}"))
        .build()
        .map_err(|error| Error::Environment(format!("no threads: {error}")))
}

struct Runner<'a> {
    session: &'a Arc<dyn Session>,
    pool: ThreadPool,
    sender: Sender<Landing>,
    landings: Receiver<Landing>,
    /// Handed out, by place.
    flights: BTreeMap<u64, Flight>,
    /// Done, but an earlier one is not.
    landed: BTreeMap<u64, (Case, Outcome)>,
}

impl Runner<'_> {
    fn drive(
        &mut self,
        plan: &Plan,
        limits: &Limits,
        interrupted: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<End, Error> {
        let begin = Instant::now();
        let mut cases = plan.iter().peekable();
        let mut failures = 0;
        let mut end = End::Complete;
        loop {
            if interrupted.load(Ordering::Relaxed) && end != End::Interrupted {
                end = End::Interrupted;
                self.flights.values().for_each(|flight| flight.watch.cancel());
            }
            let over = limits.time.is_some_and(|time| begin.elapsed() >= time);
            if over && end == End::Complete && cases.peek().is_some() {
                end = End::Time;
            }
            while end == End::Complete
                && self.flights.len() + self.landed.len() < limits.threads * AHEAD
            {
                let Some(case) = cases.next() else { break };
                self.launch(case);
            }
            if self.flights.is_empty() && self.landed.is_empty() {
                return Ok(end);
            }
            match self.landings.recv_timeout(TICK) {
                Ok(landing) => {
                    self.land(landing);
                    thread::sleep(NAP);
                    while let Ok(landing) = self.landings.try_recv() {
                        self.land(landing);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.look_for_stuck_cases(limits)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(end),
            }
            while let Some((case, outcome)) = self.next_in_order() {
                progress.case(&case, &outcome)?;
                failures += u64::from(outcome.verdict.is_failure());
                if limits.max_failures.is_some_and(|most| failures >= most) {
                    return Ok(End::MaxFailures);
                }
            }
        }
    }

    fn launch(&mut self, case: Case) {
        let watch = Arc::new(Watch::default());
        let started = Arc::new(AtomicBool::new(false));
        self.spawn(case.clone(), &watch, &started);
        let seen = (0, Instant::now());
        self.flights.insert(case.place, Flight { case, watch, started, seen });
    }

    fn spawn(&self, case: Case, watch: &Arc<Watch>, started: &Arc<AtomicBool>) {
        let session = Arc::clone(self.session);
        let sender = self.sender.clone();
        let (watch, started) = (Arc::clone(watch), Arc::clone(started));
        self.pool.spawn(move || {
            started.store(true, Ordering::Relaxed);
            let run = AssertUnwindSafe(|| session.run(&case, &watch));
            let outcome = catch_unwind(run).unwrap_or_else(|payload| {
                Outcome::crashed(None, panic_message(payload.as_ref()), 0)
            });
            // Nobody listens any more once the run has ended.
            let _ = sender.send((case.place, outcome));
        });
    }

    fn land(&mut self, (place, outcome): Landing) {
        // A case that was given up as stuck may still come back.
        if let Some(flight) = self.flights.remove(&place) {
            self.landed.insert(place, (flight.case, outcome));
        }
    }

    /// The next case of the plan, if it is done.
    fn next_in_order(&mut self) -> Option<(Case, Outcome)> {
        let (first, _) = self.landed.first_key_value()?;
        if self.flights.first_key_value().is_some_and(|(flying, _)| flying < first) {
            return None;
        }
        self.landed.pop_first().map(|(_, landing)| landing)
    }

    /// A case whose model does not return hangs. Its thread is lost, so the rest gets a new pool.
    fn look_for_stuck_cases(&mut self, limits: &Limits) -> Result<(), Error> {
        let now = Instant::now();
        let mut stuck = Vec::new();
        for (place, flight) in &mut self.flights {
            let cycles = flight.watch.cycles();
            if !flight.started.load(Ordering::Relaxed) || cycles != flight.seen.0 {
                flight.seen = (cycles, now);
            } else if now - flight.seen.1 > limits.stuck_after {
                stuck.push(*place);
            }
        }
        if stuck.is_empty() {
            return Ok(());
        }
        self.pool = pool(limits.threads)?;
        for place in stuck {
            let mut outcome = Outcome::crashed(None, String::new(), 0);
            outcome.verdict = Verdict::Hang { cycle: None, state: "unknown".to_owned() };
            self.land((place, outcome));
        }
        // Those the lost threads never began.
        for flight in self.flights.values() {
            if !flight.started.load(Ordering::Relaxed) {
                self.spawn(flight.case.clone(), &flight.watch, &flight.started);
            }
        }
        Ok(())
    }
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::dll::Dll;
    use crate::engine::ShrunkVector;
    use crate::harness::Block;
    use crate::runner::Shard;
    use crate::vector::Origin;

    /// A session whose cases do what their index says; no model is involved.
    struct Script;

    impl Session for Script {
        fn scenarios(&self) -> Vec<String> {
            vec!["s".to_owned()]
        }

        fn run(&self, case: &Case, watch: &Watch) -> Outcome {
            let index = case.place;
            let mut outcome = Outcome::crashed(None, String::new(), 0);
            outcome.cycles = index;
            outcome.verdict = match index {
                3 => panic!("case {index} breaks"),
                5 => Verdict::Hang { cycle: Some(1), state: "s".to_owned() },
                1_000_000 => loop {
                    // A model that never returns, until the test is over.
                    std::thread::sleep(Duration::from_millis(1));
                    if watch.cycles() > 0 {
                        break Verdict::Match;
                    }
                },
                _ => Verdict::Match,
            };
            // Later cases tend to be done first.
            std::thread::sleep(Duration::from_micros(500 / (index % 7 + 1)));
            outcome
        }

        fn vector(&self, _: &Case, _: Origin, _: Option<&Verdict>) -> Result<String, Error> {
            unreachable!("the pool writes no vectors")
        }

        fn shrunk(
            &self,
            _: &Case,
            _: &Outcome,
            _: Origin,
            _: u64,
            _: &Watch,
            _: &mut dyn crate::engine::ShrinkProgress,
        ) -> Result<ShrunkVector, Error> {
            unreachable!("the pool shrinks nothing")
        }
    }

    #[derive(Default)]
    struct Log(Vec<(u64, String)>);

    impl Progress for Log {
        fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
            self.0.push((case.place, outcome.verdict.to_string()));
            Ok(())
        }
    }

    fn plan(indices: std::ops::Range<u64>) -> Plan {
        Plan {
            block: "b",
            seed: 1,
            profiles: Dll::PROFILES[..1].to_vec(),
            scenarios: vec!["s".to_owned()],
            indices,
            shard: Shard::WHOLE,
        }
    }

    fn run_script(indices: std::ops::Range<u64>, limits: Limits) -> Vec<(u64, String)> {
        let session: Arc<dyn Session> = Arc::new(Script);
        let mut log = Log::default();
        run(&session, &plan(indices), &limits, &AtomicBool::new(false), &mut log).unwrap();
        log.0
    }

    const LIMITS: Limits =
        Limits { threads: 2, max_failures: None, time: None, stuck_after: Duration::from_secs(60) };

    #[test]
    fn cases_arrive_in_order_and_a_crash_is_a_verdict() {
        let log = run_script(0..200, LIMITS);
        assert_eq!(
            log.iter().map(|(place, _)| *place).collect::<Vec<_>>(),
            (0..200).collect::<Vec<_>>()
        );
        assert_eq!(log[3].1, "crashed: case 3 breaks");
        assert_eq!(log.iter().filter(|(_, verdict)| verdict == "match").count(), 198);
    }

    #[test]
    fn a_run_ends_at_the_same_failure_whatever_the_threads() {
        for threads in [1, 2, 5] {
            let limits = Limits { threads, max_failures: Some(2), ..LIMITS };
            let log = run_script(0..200, limits);
            assert_eq!(log.last().map(|(place, _)| *place), Some(5), "{threads} threads");
        }
    }

    #[test]
    fn a_model_that_does_not_return_hangs_and_the_others_go_on() {
        let limits = Limits { threads: 1, stuck_after: Duration::from_millis(300), ..LIMITS };
        let log = run_script(999_999..1_000_010, limits);
        assert_eq!(log.len(), 11);
        assert_eq!(log[1].1, "hang: the model did not return");
        assert_eq!(log[10].1, "match");
    }

    #[test]
    fn an_interrupted_run_ends() {
        let session: Arc<dyn Session> = Arc::new(Script);
        let mut log = Log::default();
        run(&session, &plan(10..1000), &LIMITS, &AtomicBool::new(true), &mut log).unwrap();
        assert_eq!(log.0, []);
    }

    #[test]
    fn time_ends_a_run_without_end() {
        let limits = Limits { time: Some(Duration::from_millis(50)), ..LIMITS };
        let log = run_script(10..u64::MAX, limits);
        assert!(!log.is_empty());
    }
}
