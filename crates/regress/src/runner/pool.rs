//! Runs the cases of a plan until the end or a limit.

use crate::worker::worker_pool::{self, Client, Completion, Launch, PoolAction};
use cosim_base::error::{Error, codes};
use cosim_block::engine::SessionSetup;
use cosim_block::worker::wire::{Answer, Work};
use cosim_formats::run::End;
use cosim_harness::harness::{Case, Outcome, Verdict};
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Number of workers; at least 1.
    pub threads: usize,
    pub max_failures: Option<u64>,
    pub max_hangs: u64,
    /// Time after which no new case begins.
    pub time: Option<Duration>,
}

/// Counts from before a run was resumed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start {
    pub failures: u64,
    pub hangs: u64,
}

/// Receives every case, in the order of the plan.
pub trait Progress {
    /// A case ended.
    ///
    /// # Errors
    /// If the result cannot be recorded. This ends the run.
    fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error>;

    /// The cases that have ended so far are reported.
    fn gathered(&mut self) {}

    /// The run was stopped, and cases follow behind one that did not end.
    fn record_gap(&mut self) {}

    /// Whether the run has reached its coverage goal and ends.
    fn is_enough(&self) -> bool {
        false
    }

    /// A worker was lost for the reason in the text, and its case is repeated.
    fn lost_worker(&mut self, _: &str) {}
}

/// Runs cases until the plan ends, a limit is reached, or `interrupted` is set.
///
/// # Errors
/// An error of `progress`, or no workers can be started.
pub fn run(
    launch: &impl Launch,
    opening: &SessionSetup,
    source: impl Iterator<Item = Case>,
    start: Start,
    limits: &Limits,
    interrupted: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<End, Error> {
    let mut cases = Cases::new(source, start, limits, interrupted, progress);
    if cases.is_over() {
        return Ok(cases.end);
    }
    worker_pool::run(launch, Some(opening), limits.threads, &mut cases)?;
    Ok(cases.end)
}

/// The client of the worker pool.
struct Cases<'a, S: Iterator<Item = Case>> {
    source: Peekable<S>,
    limits: &'a Limits,
    interrupted: &'a AtomicBool,
    progress: &'a mut dyn Progress,
    begin: Instant,
    failures: u64,
    hangs: u64,
    end: End,
}

/// Converts the result of a worker.
///
/// # Errors
/// [`Error::Environment`] if it is no result of a case.
fn outcome_of(completion: Completion) -> Result<Outcome, Error> {
    match completion {
        Completion::Answer(Answer::Case(outcome)) => Ok(*outcome),
        Completion::Lost(verdict) => Ok(Outcome::without_cycles(verdict)),
        Completion::Answer(Answer::Panicked(message)) => {
            Ok(Outcome::without_cycles(Verdict::Crashed { cycle: None, message }))
        }
        Completion::Answer(answer) => Err(Error::Environment(
            codes::WORKER_FAILED,
            format!("a worker answers a case with {answer:?}"),
        )),
    }
}

impl<S: Iterator<Item = Case>> Client for Cases<'_, S> {
    type Item = Case;

    fn next(&mut self) -> Option<(Case, Work)> {
        let case = self.source.next()?;
        Some((case.clone(), Work::Case(case)))
    }

    fn poll(&mut self) -> PoolAction {
        if self.interrupted.load(Ordering::Relaxed) {
            self.end = End::Interrupted;
            return PoolAction::Stop;
        }
        let over = self.limits.time.is_some_and(|time| self.begin.elapsed() >= time);
        if over && self.end == End::Complete && self.source.peek().is_some() {
            self.end = End::Time;
        }
        if self.end == End::Time { PoolAction::Drain } else { PoolAction::Continue }
    }

    fn landed(&mut self, case: Case, completion: Completion) -> Result<PoolAction, Error> {
        self.ended(&case, &outcome_of(completion)?)
    }

    fn gathered(&mut self) {
        self.progress.gathered();
    }

    fn record_gap(&mut self) {
        self.progress.record_gap();
    }

    fn lost_worker(&mut self, how: &str) {
        Cases::lost_worker(self, how);
    }
}

impl<'a, S: Iterator<Item = Case>> Cases<'a, S> {
    fn new(
        source: S,
        start: Start,
        limits: &'a Limits,
        interrupted: &'a AtomicBool,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let Start { failures, hangs } = start;
        let (begin, end) = (Instant::now(), End::Complete);
        let source = source.peekable();
        Self { source, limits, interrupted, progress, begin, failures, hangs, end }
    }

    /// Records a case that has ended. Returns whether to continue.
    ///
    /// # Errors
    /// If the result cannot be recorded.
    fn ended(&mut self, case: &Case, outcome: &Outcome) -> Result<PoolAction, Error> {
        self.progress.case(case, outcome)?;
        self.failures += u64::from(outcome.verdict.is_failure());
        self.hangs += u64::from(matches!(outcome.verdict, Verdict::Hang { cycle: None, .. }));
        if self.end == End::Interrupted {
            // After an interruption, results that exist are still recorded.
            return Ok(PoolAction::Continue);
        }
        Ok(if self.is_over() { PoolAction::Abandon } else { PoolAction::Continue })
    }

    fn lost_worker(&mut self, how: &str) {
        self.progress.lost_worker(how);
    }

    /// Whether a limit or the goal of the run is reached.
    fn is_over(&mut self) -> bool {
        if self.limits.max_failures.is_some_and(|most| self.failures >= most) {
            self.end = End::MaxFailures;
        } else if self.hangs >= self.limits.max_hangs {
            self.end = End::MaxHangs;
        } else if self.progress.is_enough() {
            self.end = End::Covered;
        } else {
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::Loss;
    use crate::worker::supervisor::{Link, Received};
    use cosim_block::shard::Shard;
    use cosim_block::worker::sandbox::ActiveSandbox;
    use cosim_block::worker::wire::{Frames, MAX_LENGTH, Reply, Request, frame};
    use cosim_formats::run::Plan;
    use cosim_harness::harness::{Parameters, Profile};
    use std::collections::{BTreeSet, VecDeque};
    use std::io;
    use std::ops::Range;
    use std::sync::atomic::AtomicU64;
    use std::sync::{Arc, Mutex};

    const PANICS: u64 = 3;
    const HANGS_BY_VERDICT: u64 = 5;
    const EXITS: u64 = 7;
    const EXITS_AFTER_OTHERS: u64 = 9;
    const WRITES_NONSENSE: u64 = 11;
    const HANGS_ONCE: u64 = 2_000_001;
    const IS_KILLED_ONCE: u64 = 2_000_003;
    const IS_SIGNALLED_ONCE: u64 = 2_000_005;
    const IS_ALWAYS_KILLED: u64 = 3_000_001;
    const NEVER_RETURNS: u64 = 1_000_000;

    /// Starts scripted workers. The place of a case selects its behaviour; no model or process is
    /// involved.
    #[derive(Default)]
    struct Scripts {
        started: AtomicU64,
        ended: Arc<AtomicU64>,
        lost_before: Arc<Mutex<BTreeSet<u64>>>,
    }

    impl Launch for Scripts {
        type Link = Script;

        fn launch(&self, _: bool) -> Result<Script, Error> {
            self.started.fetch_add(1, Ordering::Relaxed);
            Ok(Script {
                ended: Arc::clone(&self.ended),
                lost_before: Arc::clone(&self.lost_before),
                requests: Frames::default(),
                work: VecDeque::new(),
                done: 0,
                replies: [Reply::Started(ActiveSandbox::Off)].into(),
                is_alive: true,
                is_lost: false,
            })
        }

        /// Scripts answer at once or never.
        fn stuck_after(&self) -> Duration {
            Duration::ZERO
        }
    }

    struct Script {
        ended: Arc<AtomicU64>,
        lost_before: Arc<Mutex<BTreeSet<u64>>>,
        requests: Frames,
        work: VecDeque<(u64, Case)>,
        done: u64,
        replies: VecDeque<Reply>,
        is_alive: bool,
        is_lost: bool,
    }

    impl Script {
        /// Whether this is the first worker that gets the case.
        fn is_lost_now(&mut self, place: u64) -> bool {
            self.is_lost |= self.lost_before.lock().unwrap().insert(place);
            self.is_lost
        }
    }

    impl Link for Script {
        fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.requests.buffer().extend(bytes);
            while let Some(request) =
                self.requests.message::<Request>(MAX_LENGTH).expect("requests")
            {
                match request {
                    Request::Open(_) => self.replies.push_back(Reply::Ready),
                    Request::Work { place, work: Work::Case(case) } => {
                        self.work.push_back((place, case))
                    }
                    other => panic!("{other:?}"),
                }
            }
            Ok(())
        }

        fn receive(&mut self, buffer: &mut Vec<u8>, _: Duration) -> Received {
            if let Some(reply) = self.replies.pop_front() {
                buffer.extend(frame(&reply).expect("a frame"));
                return Received::Bytes;
            }
            let Some((number, case)) = self.work.front() else { return Received::Quiet };
            let (number, place) = (*number, case.place);
            let mut outcome = Outcome::without_cycles(Verdict::Match);
            outcome.cycles = place;
            let answer = match place {
                EXITS => return Received::Closed,
                EXITS_AFTER_OTHERS if self.done > 0 => return Received::Closed,
                // The first worker that gets the case is lost.
                HANGS_ONCE if self.is_lost_now(place) => {
                    let alive = Reply::Alive(Some((1, 0)));
                    buffer.extend(frame(&alive).expect("a frame"));
                    return Received::Bytes;
                }
                IS_KILLED_ONCE | IS_SIGNALLED_ONCE if self.is_lost_now(place) => {
                    return Received::Closed;
                }
                IS_ALWAYS_KILLED => return Received::Closed,
                NEVER_RETURNS => {
                    let alive = Reply::Alive(Some((1, 0)));
                    buffer.extend(frame(&alive).expect("a frame"));
                    return Received::Bytes;
                }
                WRITES_NONSENSE => {
                    buffer.extend([0xff; 8]);
                    return Received::Bytes;
                }
                PANICS => Answer::Panicked(format!("case {place} breaks")),
                HANGS_BY_VERDICT => {
                    outcome.verdict = Verdict::Hang { cycle: Some(1), state: "s".to_owned() };
                    Answer::Case(Box::new(outcome))
                }
                _ => Answer::Case(Box::new(outcome)),
            };
            self.work.pop_front();
            self.done += 1;
            buffer.extend(frame(&Reply::Done { place: number, answer }).expect("a frame"));
            Received::Bytes
        }

        fn end(&mut self) -> Loss {
            self.kill();
            match self.work.front().map(|(_, case)| case.place) {
                Some(IS_KILLED_ONCE | IS_ALWAYS_KILLED) => Loss::Killed("killed".to_owned()),
                Some(IS_SIGNALLED_ONCE) => Loss::Signalled("terminated".to_owned()),
                _ => Loss::Died("process exited with code 0".to_owned()),
            }
        }

        fn used(&mut self) -> Duration {
            Duration::ZERO
        }

        fn is_runnable(&mut self) -> bool {
            false
        }

        fn kill(&mut self) {
            if std::mem::take(&mut self.is_alive) {
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[derive(Default)]
    struct Log(Vec<(u64, String)>, Vec<String>);

    impl Progress for Log {
        fn case(&mut self, case: &Case, outcome: &Outcome) -> Result<(), Error> {
            self.0.push((case.place, outcome.verdict.to_string()));
            Ok(())
        }

        fn lost_worker(&mut self, how: &str) {
            self.1.push(how.to_owned());
        }
    }

    fn plan(indices: Range<u64>) -> Plan {
        Plan {
            block: "b",
            seed: 1,
            profiles: vec![Profile::new("spec", Parameters::NONE)],
            scenarios: vec!["s".to_owned()],
            indices,
            shard: Shard::WHOLE,
        }
    }

    fn run_script(indices: Range<u64>, limits: Limits, interrupted: bool) -> (End, Log) {
        let (end, log) = try_script(indices, limits, interrupted);
        (end.unwrap(), log)
    }

    fn try_script(
        indices: Range<u64>,
        limits: Limits,
        interrupted: bool,
    ) -> (Result<End, Error>, Log) {
        let (scripts, mut log) = (Scripts::default(), Log::default());
        let opening = SessionSetup {
            block: "b".to_owned(),
            models: Vec::new(),
            scenarios: String::new(),
            packets: Some(1),
        };
        let interrupted = AtomicBool::new(interrupted);
        let end = run(
            &scripts,
            &opening,
            plan(indices).iter(),
            Start::default(),
            &limits,
            &interrupted,
            &mut log,
        );
        let [started, ended] =
            [&scripts.started, &*scripts.ended].map(|n| n.load(Ordering::Relaxed));
        assert_eq!(started, ended, "no worker is left behind");
        (end, log)
    }

    const LIMITS: Limits = Limits { threads: 2, max_failures: None, max_hangs: 10, time: None };

    #[test]
    fn cases_arrive_in_order_and_each_lost_worker_is_one_verdict() {
        for threads in [1, 2, 5] {
            let (end, Log(log, _)) = run_script(0..200, Limits { threads, ..LIMITS }, false);
            assert_eq!(end, End::Complete);
            let places: Vec<u64> = log.iter().map(|(place, _)| *place).collect();
            assert_eq!(places, (0..200).collect::<Vec<_>>());
            let failures: Vec<&(u64, String)> =
                log.iter().filter(|(_, verdict)| verdict != "match").collect();
            let of = |place: u64| log[place as usize].1.as_str();
            assert_eq!(of(PANICS), "crashed: case 3 breaks");
            assert_eq!(of(EXITS), "crashed: process exited with code 0");
            assert_eq!(
                of(WRITES_NONSENSE),
                "crashed: process corrupted its channel to the program"
            );
            // With several workers, the case may be the first of its worker.
            if threads == 1 {
                assert_eq!(
                    of(EXITS_AFTER_OTHERS),
                    "crashed: process exited with code 0; it did not happen again when the case ran alone"
                );
                assert_eq!(failures.len(), 5, "{failures:?}");
            }
        }
    }

    #[test]
    fn a_run_ends_at_the_same_failure_whatever_the_threads() {
        for threads in [1, 2, 5] {
            let limits = Limits { threads, max_failures: Some(2), ..LIMITS };
            let (end, Log(log, _)) = run_script(0..200, limits, false);
            assert_eq!(log.last().map(|(place, _)| *place), Some(5), "{threads} threads");
            assert_eq!(end, End::MaxFailures);
        }
    }

    #[test]
    fn a_hung_model_does_not_stop_other_cases() {
        let limits = Limits { threads: 1, ..LIMITS };
        let (end, Log(log, _)) = run_script(NEVER_RETURNS - 1..NEVER_RETURNS + 10, limits, false);
        assert_eq!(end, End::Complete);
        assert_eq!(log.len(), 11);
        assert_eq!(log[1].1, "hang: the model did not return");
        assert_eq!(log[10].1, "match");
    }

    #[test]
    fn too_many_hangs_end_the_run() {
        let limits = Limits { max_hangs: 1, ..LIMITS };
        let (end, Log(log, _)) = run_script(NEVER_RETURNS..NEVER_RETURNS + 10, limits, false);
        assert_eq!((end, log.len()), (End::MaxHangs, 1));
    }

    /// Losing workers to external signals changes no verdict, and the run reports the losses.
    #[test]
    fn a_case_whose_worker_is_lost_to_a_signal_is_repeated() {
        for threads in [1, 3] {
            let limits = Limits { threads, ..LIMITS };
            let (end, Log(log, mut lost)) =
                run_script(HANGS_ONCE - 1..IS_SIGNALLED_ONCE + 2, limits, false);
            assert_eq!(end, End::Complete);
            assert_eq!(log.len(), 7);
            assert!(log.iter().all(|(_, verdict)| verdict == "match"), "{log:?}");
            lost.sort();
            let expected = [
                (HANGS_ONCE, "process made no progress"),
                (IS_KILLED_ONCE, "killed"),
                (IS_SIGNALLED_ONCE, "terminated"),
            ];
            assert_eq!(lost, expected.map(|(case, how)| format!("b/spec/s/{case}: {how}")));
        }
    }

    #[test]
    fn a_case_whose_worker_is_always_killed_ends_the_run() {
        let (end, Log(log, _)) = try_script(IS_ALWAYS_KILLED..IS_ALWAYS_KILLED + 1, LIMITS, false);
        let error = end.unwrap_err();
        assert_eq!(error.code().exit(), 3);
        assert!(error.to_string().contains(&IS_ALWAYS_KILLED.to_string()), "{error}");
        assert!(log.is_empty());
    }

    #[test]
    fn an_interrupted_run_ends() {
        let (end, Log(log, _)) = run_script(10..1000, LIMITS, true);
        assert_eq!((end, log.len()), (End::Interrupted, 0));
    }

    #[test]
    fn the_time_limit_ends_an_endless_run() {
        let limits = Limits { time: Some(Duration::from_secs(1)), ..LIMITS };
        let (end, Log(log, _)) = run_script(20..u64::MAX, limits, false);
        assert_eq!(end, End::Time);
        assert!(!log.is_empty());
    }
}
