//! Supervises one worker and detects its loss.
//!
//! C++ of RTL can write to the worker's channel. Every message of a worker must be one that it was
//! asked for, in the order of the requests: [`Expected`]. Any other one is the loss of the worker.
//! So RTL with C++ can forge its own verdict, and no other one.

use super::loss::{CORRUPTED, Loss};
use cosim_base::error::{Error, codes};
use cosim_block::worker::sandbox::ActiveSandbox;
use cosim_block::worker::task::Action;
use cosim_block::worker::wire::{
    Answer, Frames, MAX_LENGTH, MAX_OUTCOME, Reply, Request, Work, frame,
};
use cosim_harness::harness::{Outcome, Verdict};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// Minimum time that a worker may be busy without running a model, such as reading a long vector.
const OWN_WORK: Duration = Duration::from_secs(60);

/// Minimum time without any message before a worker counts as silent. It reports several times a
/// second that it is alive.
const SILENCE: Duration = Duration::from_secs(3);

/// Time without progress after which the supervisor reads the processor time. Most work ends before
/// that.
const SOON: Duration = Duration::from_millis(100);

/// Time that one poll counts at most. Polls follow each other within milliseconds. A longer gap
/// means that this process was stopped or starved, and its workers may have been, too.
const STEP: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    Bytes,
    /// No bytes came within the timeout.
    Quiet,
    Closed,
}

/// A connection to a worker: a process, or a script in tests.
pub trait Link: Send {
    /// Sends a frame.
    ///
    /// # Errors
    /// If the worker does not read it.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits for bytes and appends them.
    fn receive(&mut self, buffer: &mut Vec<u8>, timeout: Duration) -> Received;

    /// Returns how a worker that closed its channel ended. Ends it if it still runs.
    fn end(&mut self) -> Loss;

    /// Processor time that the worker has used, or zero if unknown.
    fn used(&mut self) -> Duration;

    /// Whether a thread of the worker runs or waits for a processor.
    fn is_runnable(&mut self) -> bool;

    fn kill(&mut self);
}

/// What a worker may send before the result of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskProgress {
    Nothing,
    Shrinks,
    /// The progress of a shrink whose candidates this process runs.
    ShrinksLost,
}

impl TaskProgress {
    const fn from_action(action: &Action) -> Self {
        match action {
            Action::Shrink(..) => Self::Shrinks,
            Action::ShrinkLost(..) => Self::ShrinksLost,
            _ => Self::Nothing,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Opening,
    /// The outcome of the case at this place.
    Case(u64),
    /// The result of the task at this place, and its progress before it.
    Task {
        place: u64,
        progress: TaskProgress,
    },
    /// The answer to the query at this place.
    Query(u64),
}

/// More cycles, packets or hits than any case has. Sums of such numbers do not overflow.
const MOST: u64 = 1 << 40;

fn is_possible(outcome: &Outcome) -> bool {
    let Outcome { cycles, packets, hits, .. } = outcome;
    hits.hit_bins().all(|(_, count)| count <= MOST) && [cycles, packets].iter().all(|n| **n <= MOST)
}

/// The result of waiting for a worker.
#[derive(Debug)]
pub enum Event {
    /// Messages, possibly none.
    Replies(Vec<Reply>),
    Lost(Loss),
}

/// A worker and the state of its progress.
///
/// Two clocks determine whether it hangs: the time in which this process polled it, and the
/// processor time that it used. Both stand still while all processes are stopped, and neither
/// depends on the wall clock.
pub struct Supervisor<L> {
    link: L,
    frames: Frames,
    stuck_after: Duration,
    /// Cases and cycles at the last sign of progress.
    progress: Option<(u64, u64)>,
    without_progress: Duration,
    /// Time without any message.
    silent: Duration,
    /// When the worker was last polled.
    looked: Instant,
    /// The processor time that it had used [`SOON`] after the last sign of progress.
    used_before: Option<Duration>,
    is_ready: bool,
    sandbox: Option<ActiveSandbox>,
    /// The replies that are outstanding, in the order in which they come.
    expected: VecDeque<Expected>,
    is_cancelled: bool,
    /// Whether the worker sent something that it was not asked for.
    is_corrupt: bool,
}

impl<L: Link> Supervisor<L> {
    pub fn new(link: L, stuck_after: Duration) -> Self {
        Self {
            link,
            frames: Frames::default(),
            stuck_after,
            progress: None,
            without_progress: Duration::ZERO,
            silent: Duration::ZERO,
            looked: Instant::now(),
            used_before: None,
            is_ready: false,
            sandbox: None,
            expected: VecDeque::new(),
            is_cancelled: false,
            is_corrupt: false,
        }
    }

    /// Whether its session is loaded.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// The active sandbox of the worker, once it has reported it.
    pub fn sandbox(&self) -> Option<ActiveSandbox> {
        self.sandbox
    }

    /// Sends a message. A failure to send shows when the channel is read.
    ///
    /// # Errors
    /// [`Error::Environment`] if the message has no frame.
    pub fn send(&mut self, request: &Request) -> Result<(), Error> {
        let bytes = frame(request).map_err(|error| {
            let message = format!("cannot send work to a worker: {error}");
            Error::Environment(codes::INTERNAL, message)
        })?;
        match request {
            Request::Open(_) => self.expected.push_back(Expected::Opening),
            Request::Work { place, work: Work::Case(_) } => {
                self.expected.push_back(Expected::Case(*place));
            }
            Request::Work { place, work: Work::Task(task) } => {
                let progress = TaskProgress::from_action(&task.action);
                self.expected.push_back(Expected::Task { place: *place, progress });
            }
            Request::Work { place, work: Work::Query(..) } => {
                self.expected.push_back(Expected::Query(*place));
            }
            Request::Cancel => self.is_cancelled = true,
            Request::Judged(_) => {}
        }
        let _ = self.link.send(&bytes);
        Ok(())
    }

    /// Starts the clocks when the worker gets work.
    pub fn start_clocks(&mut self) {
        self.looked = Instant::now();
        self.silent = Duration::ZERO;
        self.advance();
    }

    /// Waits for messages of a worker that has work.
    pub fn wait(&mut self, timeout: Duration) -> Event {
        let received = self.link.receive(self.frames.buffer(), timeout);
        let now = Instant::now();
        let passed = now.duration_since(self.looked);
        self.looked = now;
        self.process(received, passed)
    }

    /// Processes what was received. `passed` is the time since the last call.
    fn process(&mut self, received: Received, passed: Duration) -> Event {
        let step = passed.min(STEP);
        self.without_progress += step;
        self.silent += step;
        let mut replies = Vec::new();
        while !self.is_corrupt {
            let reply = match self.frames.message::<Reply>(self.longest()) {
                Ok(None) => break,
                Ok(Some(reply)) if self.accepts(&reply) => reply,
                Ok(Some(_)) | Err(_) => {
                    self.is_corrupt = true;
                    break;
                }
            };
            // A message that is not complete is silence.
            self.silent = Duration::ZERO;
            match reply {
                Reply::Alive(progress) => {
                    if progress != self.progress {
                        self.progress = progress;
                        self.advance();
                    }
                }
                Reply::Started(sandbox) => self.sandbox = Some(sandbox),
                reply => {
                    self.advance();
                    self.is_ready |= reply == Reply::Ready;
                    replies.push(reply);
                }
            }
        }
        // Messages before the wrong one count. The next call ends the worker.
        if replies.is_empty() && self.is_corrupt {
            self.link.kill();
            return Event::Lost(Loss::Died(CORRUPTED.to_owned()));
        }
        if replies.is_empty() && received == Received::Closed {
            return Event::Lost(self.link.end());
        }
        if replies.is_empty() && self.is_stuck() {
            self.link.kill();
            return Event::Lost(Loss::Hung);
        }
        Event::Replies(replies)
    }

    /// The length of the longest message that may come.
    fn longest(&self) -> usize {
        match self.expected.front() {
            Some(Expected::Task { .. } | Expected::Query(_)) => MAX_LENGTH,
            _ => MAX_OUTCOME,
        }
    }

    /// Whether the worker was asked for this reply. The first message says which sandbox it has;
    /// no RTL runs before it.
    fn accepts(&mut self, reply: &Reply) -> bool {
        let expected = self.expected.front().copied();
        let has_started = self.sandbox.is_some();
        let is_complete = match (reply, expected) {
            (Reply::Started(_), _) => return !has_started,
            (Reply::NotReady(_), _) if !has_started => return true,
            _ if !has_started => return false,
            (Reply::Alive(_), _) => return true,
            (
                Reply::Shrinking { .. } | Reply::Best(_),
                Some(Expected::Task {
                    progress: TaskProgress::Shrinks | TaskProgress::ShrinksLost,
                    ..
                }),
            ) => return true,
            (
                Reply::Candidate(_),
                Some(Expected::Task { progress: TaskProgress::ShrinksLost, .. }),
            ) => return true,
            (Reply::Ready | Reply::NotReady(_), Some(Expected::Opening)) => true,
            (Reply::Done { place, answer }, Some(Expected::Case(requested))) => {
                *place == requested
                    && match answer {
                        Answer::Case(outcome) => {
                            is_possible(outcome)
                                && (outcome.verdict != Verdict::Cancelled || self.is_cancelled)
                        }
                        Answer::Panicked(_) | Answer::Refused(_) => true,
                        Answer::Task(_) | Answer::Query(_) => false,
                    }
            }
            (Reply::Done { place, answer }, Some(Expected::Task { place: requested, .. })) => {
                *place == requested && !matches!(answer, Answer::Case(_) | Answer::Query(_))
            }
            (Reply::Done { place, answer }, Some(Expected::Query(requested))) => {
                *place == requested && !matches!(answer, Answer::Case(_) | Answer::Task(_))
            }
            _ => false,
        };
        if is_complete {
            self.expected.pop_front();
        }
        is_complete
    }

    /// Whether the worker seems to hang. It may still be starved or stopped, so its work is
    /// repeated before the hang becomes a verdict.
    fn is_stuck(&mut self) -> bool {
        let limit = match self.progress {
            Some(_) => self.stuck_after,
            None => self.stuck_after.max(OWN_WORK),
        };
        if self.without_progress < SOON {
            return false;
        }
        let link = &mut self.link;
        let used_before = *self.used_before.get_or_insert_with(|| link.used());
        // A worker cannot report that it is alive while it loads a library that does not return.
        let silence = self.stuck_after.max(SILENCE);
        let limit = if self.silent > silence { limit.min(silence) } else { limit };
        if self.without_progress <= limit {
            return false;
        }
        // A worker that waits for a processor gets the limit in processor time.
        link.used().saturating_sub(used_before) + SOON > limit || !link.is_runnable()
    }

    pub fn kill(&mut self) {
        self.link.kill();
    }

    fn advance(&mut self) {
        self.without_progress = Duration::ZERO;
        self.used_before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_block::built::Built;
    use cosim_block::engine::SessionSetup;
    use cosim_block::vector::VectorFile;
    use cosim_block::worker::task::Task;
    use cosim_block::worker::wire::Refusal;
    use cosim_harness::harness::{Case, Hits};
    use std::path::Path;

    const LIMIT: Duration = Duration::from_secs(10);
    const SECOND: Duration = Duration::from_secs(1);

    #[derive(Default)]
    struct Script {
        replies: VecDeque<Vec<u8>>,
        used: Duration,
        is_runnable: bool,
    }

    impl Link for Script {
        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn receive(&mut self, buffer: &mut Vec<u8>, _: Duration) -> Received {
            let Some(reply) = self.replies.pop_front() else { return Received::Quiet };
            buffer.extend(reply);
            Received::Bytes
        }

        fn end(&mut self) -> Loss {
            unreachable!()
        }

        fn kill(&mut self) {}

        fn used(&mut self) -> Duration {
            self.used
        }

        fn is_runnable(&mut self) -> bool {
            self.is_runnable
        }
    }

    fn supervised(mut link: Script) -> Supervisor<Script> {
        link.replies.push_back(frame(&STARTED).unwrap());
        let mut worker = Supervisor::new(link, LIMIT);
        assert!(
            matches!(worker.wait(Duration::ZERO), Event::Replies(replies) if replies.is_empty())
        );
        worker
    }

    const STARTED: Reply = Reply::Started(ActiveSandbox::Off);

    /// A worker whose model is in its first case.
    struct Observed(Supervisor<Script>);

    impl Observed {
        fn new(is_runnable: bool) -> Self {
            let mut observed = Self(supervised(Script { is_runnable, ..Script::default() }));
            assert!(!observed.is_lost(Duration::ZERO, Some((0, Duration::ZERO))));
            observed
        }

        /// Whether the worker counts as lost after `passed`. `alive` is a report with its cycle and
        /// processor time.
        fn is_lost(&mut self, passed: Duration, alive: Option<(u64, Duration)>) -> bool {
            if let Some((cycle, used)) = alive {
                self.0.link.used = used;
                let alive = Reply::Alive(Some((1, cycle)));
                self.0.link.replies.push_back(frame(&alive).unwrap());
            }
            let received = self.0.link.receive(self.0.frames.buffer(), Duration::ZERO);
            match self.0.process(received, passed) {
                Event::Lost(loss) => {
                    assert_eq!(loss, Loss::Hung);
                    true
                }
                Event::Replies(_) => false,
            }
        }

        /// When the worker counts as lost if it is polled every 200 ms, up to one minute.
        fn lost_after(
            &mut self,
            alive: impl Fn(Duration) -> Option<(u64, Duration)>,
        ) -> Option<Duration> {
            let tick = Duration::from_millis(200);
            (1..=300).map(|look| tick * look).find(|time| self.is_lost(tick, alive(*time)))
        }
    }

    #[test]
    fn a_model_that_uses_its_processor_and_makes_no_progress_hangs() {
        let lost = Observed::new(true).lost_after(|time| Some((0, time)));
        assert!(lost.is_some_and(|time| time > LIMIT && time < LIMIT + SECOND), "{lost:?}");
        let lost = Observed::new(true).lost_after(|time| Some((time.as_millis() as u64, time)));
        assert_eq!(lost, None, "it makes progress");
    }

    /// On a busy machine, a model that gets a tenth of a processor has ten times as long.
    #[test]
    fn a_model_that_waits_for_a_processor_gets_its_limit_in_processor_time() {
        let lost = Observed::new(true).lost_after(|time| Some((0, time / 10)));
        assert_eq!(lost, None);
        let lost = Observed::new(true).lost_after(|time| Some((0, time / 2)));
        assert!(lost.is_some_and(|time| time > 2 * LIMIT), "{lost:?}");
    }

    #[test]
    fn a_sleeping_model_hangs() {
        let lost = Observed::new(false).lost_after(|_| Some((0, Duration::ZERO)));
        assert!(lost.is_some_and(|time| time > LIMIT && time < LIMIT + SECOND), "{lost:?}");
        let lost = Observed::new(false).lost_after(|_| None);
        assert!(lost.is_some_and(|time| time > LIMIT && time < LIMIT + SECOND), "{lost:?}");
    }

    /// All processes were stopped, the machine slept, or the clock jumped: the supervisor did not
    /// poll.
    #[test]
    fn time_between_distant_polls_does_not_count() {
        let mut observed = Observed::new(false);
        for _ in 0..30 {
            assert!(!observed.is_lost(Duration::from_secs(3600), None));
        }
    }

    fn case(place: u64) -> Request {
        let (name, seed) = (place.to_string(), place);
        let case = Case { place, profile: 0, scenario: 0, name, seed };
        Request::Work { place, work: Work::Case(case) }
    }

    fn task(place: u64, action: Action) -> Request {
        let (block, profile) = ("b".to_owned(), "p".to_owned());
        let task = Task { block, profile, model: Built::Linked, action };
        Request::Work { place, work: Work::Task(Box::new(task)) }
    }

    fn shrink() -> Action {
        let text = r#"{"format":"cosim-vector","version":1,"block":"b"}"#.to_owned();
        let vector = VectorFile::from_text(text, Path::new("v.json")).unwrap();
        Action::Shrink(vector, 1)
    }

    fn reply_of(place: u64, answer: Answer) -> Reply {
        Reply::Done { place, answer }
    }

    fn outcome(verdict: Verdict) -> Answer {
        Answer::Case(Box::new(Outcome::without_cycles(verdict)))
    }

    fn opening() -> Request {
        let (models, scenarios) = (Vec::new(), String::new());
        Request::Open(SessionSetup { block: "b".to_owned(), models, scenarios, packets: None })
    }

    /// The replies that count until the worker is lost, if it is, after these requests.
    fn replies(requests: &[Request], replies: &[Reply]) -> (Vec<Reply>, bool) {
        let mut worker = supervised(Script::default());
        requests.iter().for_each(|request| worker.send(request).unwrap());
        // All come at once, as from C++ that writes them before any work.
        let bytes = replies.iter().flat_map(|reply| frame(reply).unwrap()).collect();
        worker.link.replies.push_back(bytes);
        let mut taken = Vec::new();
        for _ in 0..2 {
            match worker.wait(Duration::ZERO) {
                Event::Replies(replies) => taken.extend(replies),
                Event::Lost(loss) => {
                    assert_eq!(loss, Loss::Died(CORRUPTED.to_owned()));
                    return (taken, true);
                }
            }
        }
        (taken, false)
    }

    #[test]
    fn replies_that_were_expected_count() {
        let answers = [
            Reply::Ready,
            reply_of(3, outcome(Verdict::Match)),
            reply_of(4, Answer::Panicked("x".to_owned())),
            Reply::Shrinking { candidates: 1, kept: 1 },
            reply_of(5, Answer::Task("1".to_owned())),
        ];
        let requests = [opening(), case(3), case(4), task(5, shrink())];
        assert_eq!(replies(&requests, &answers), (answers.to_vec(), false));
        let refusal = Refusal { code: codes::SYSTEM, message: String::new() };
        let refused = [Reply::NotReady(refusal)];
        assert_eq!(replies(&[opening()], &refused), (refused.to_vec(), false));
    }

    #[test]
    fn a_reply_that_was_not_expected_ends_the_worker() {
        let matches = || outcome(Verdict::Match);
        let json = || Answer::Task("1".to_owned());
        let refusal = Refusal { code: codes::SYSTEM, message: String::new() };
        let long = Outcome { cycles: u64::MAX, ..Outcome::without_cycles(Verdict::Match) };
        let hits = Outcome {
            hits: Hits::from_counts(&[1, u64::MAX]),
            ..Outcome::without_cycles(Verdict::Match)
        };
        for (requests, wrong) in [
            // Before any work, another place, and too early.
            (vec![], reply_of(0, matches())),
            (vec![case(3)], reply_of(4, matches())),
            (vec![case(3), case(4)], reply_of(4, matches())),
            (vec![opening(), case(3)], reply_of(3, matches())),
            // Of another kind.
            (vec![case(3)], reply_of(3, json())),
            (vec![task(3, Action::Load)], reply_of(3, matches())),
            (vec![task(3, Action::Load)], Reply::Shrinking { candidates: 1, kept: 1 }),
            (vec![case(3)], Reply::Shrinking { candidates: 1, kept: 1 }),
            (vec![], Reply::Ready),
            (vec![case(3)], Reply::Ready),
            (vec![case(3)], Reply::NotReady(refusal)),
            (vec![case(3)], STARTED),
            // No case has such an outcome.
            (vec![case(3)], reply_of(3, outcome(Verdict::Cancelled))),
            (vec![case(3)], reply_of(3, Answer::Case(Box::new(long)))),
            (vec![case(3)], reply_of(3, Answer::Case(Box::new(hits)))),
        ] {
            assert_eq!(
                replies(&requests, std::slice::from_ref(&wrong)),
                (vec![], true),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_repeated_reply_is_not_the_one_to_the_next_request() {
        let first = reply_of(3, outcome(Verdict::Match));
        let (taken, is_lost) = replies(&[case(3), case(4)], &[first.clone(), first.clone()]);
        assert_eq!((taken, is_lost), (vec![first], true));
    }

    #[test]
    fn nothing_comes_before_the_first_message() {
        for early in [Reply::Alive(None), Reply::Ready, reply_of(3, outcome(Verdict::Match))] {
            let replies = [frame(&early).unwrap()].into();
            let mut worker = Supervisor::new(Script { replies, ..Script::default() }, LIMIT);
            worker.send(&case(3)).unwrap();
            let event = worker.wait(Duration::ZERO);
            assert!(matches!(event, Event::Lost(Loss::Died(_))), "{early:?}: {event:?}");
        }
    }

    /// C++ writes the head of a long message, and then a byte now and then. A worker that loads a
    /// model has more time, but not for this.
    #[test]
    fn a_message_that_does_not_end_is_silence() {
        for is_loading in [false, true] {
            let mut observed = match is_loading {
                true => Observed(supervised(Script::default())),
                false => Observed::new(false),
            };
            observed.0.send(&task(3, Action::Load)).unwrap();
            if is_loading {
                observed.0.start_clocks();
            }
            observed.0.link.replies.push_back((MAX_LENGTH as u32).to_le_bytes().to_vec());
            let tick = Duration::from_millis(200);
            let lost = (1..=300).map(|look| tick * look).find(|_| {
                observed.0.link.replies.push_back(vec![0]);
                observed.is_lost(tick, None)
            });
            let is_in_time = |time: Duration| (is_loading || time > LIMIT) && time < LIMIT + SECOND;
            assert!(lost.is_some_and(is_in_time), "{lost:?}");
        }
    }

    #[test]
    fn a_long_message_of_a_case_ends_the_worker() {
        let mut worker = supervised(Script::default());
        worker.send(&case(3)).unwrap();
        worker.link.replies.push_back((MAX_OUTCOME as u32 + 1).to_le_bytes().to_vec());
        assert!(matches!(worker.wait(Duration::ZERO), Event::Lost(Loss::Died(_))));
    }
}
