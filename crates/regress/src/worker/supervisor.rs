//! Supervises one worker, and detects its loss.

use super::loss::Loss;
use super::sandbox::ActiveSandbox;
use super::wire::{Frames, Reply, Request, frame};
use cosim_base::error::{Error, codes};
use std::io;
use std::time::{Duration, Instant};

/// How long a worker may be busy without a model at work, as with reading a long vector, at least.
const OWN_WORK: Duration = Duration::from_secs(60);

/// How long nothing may be heard of a worker, at least; it says several times a second that it is alive.
const SILENCE: Duration = Duration::from_secs(3);

/// The time without progress after which the processor time is looked at: most work has ended by then.
const SOON: Duration = Duration::from_millis(100);

/// The time that one look at a worker counts at most. Looks follow each other within milliseconds. If there is more
/// between two of them, this process was stopped or starved, and its workers may have been, too.
const STEP: Duration = Duration::from_millis(250);

/// What a link has for its listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Bytes were appended.
    Bytes,
    /// Nothing came in time.
    Quiet,
    /// Nothing will come any more.
    Closed,
}

/// A connection to a worker: a process, or a script in tests.
pub trait Link: Send {
    /// Sends a frame.
    ///
    /// # Errors
    /// If nobody takes it.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits for bytes and appends them.
    fn receive(&mut self, buffer: &mut Vec<u8>, timeout: Duration) -> Received;

    /// Returns how a worker ended that closed its channel; ends it if it has not.
    fn end(&mut self) -> Loss;

    /// The processor time that the worker has used, as far as the system says.
    fn used(&mut self) -> Duration;

    /// Whether a thread of the worker runs or waits for a processor, as far as the system says.
    fn is_runnable(&mut self) -> bool;

    /// Ends the worker at once.
    fn kill(&mut self);
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// Messages, perhaps none.
    Replies(Vec<Reply>),
    /// The worker is lost.
    Lost(Loss),
}

/// A worker and what is known of its progress.
///
/// Two clocks say whether it hangs: the time in which this process looked at it, and the processor time that it used.
/// Both stand still while all processes are stopped, and neither sees the wall clock change.
pub struct Supervisor<L> {
    link: L,
    frames: Frames,
    stuck_after: Duration,
    /// The last sign of progress.
    progress: Option<(u64, u64)>,
    /// Time without progress.
    without_progress: Duration,
    /// Time without any message.
    silent: Duration,
    /// When it was looked at last.
    looked: Instant,
    /// The processor time that it had used soon after the last sign of progress.
    used_before: Option<Duration>,
    is_ready: bool,
    sandbox: Option<ActiveSandbox>,
}

impl<L: Link> Supervisor<L> {
    /// Listens to `link`.
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
        }
    }

    /// Whether what it was opened with is loaded.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// The restrictions under which the worker runs, once it has said so.
    pub fn sandbox(&self) -> Option<ActiveSandbox> {
        self.sandbox
    }

    /// Sends a message; that a worker is gone is seen when it is listened to.
    ///
    /// # Errors
    /// [`Error::Environment`] for a message too long.
    pub fn send(&mut self, request: &Request) -> Result<(), Error> {
        let bytes = frame(request).ok_or_else(|| {
            Error::Environment(
                codes::INTERNAL,
                "the vector is too large to send to a worker".to_owned(),
            )
        })?;
        let _ = self.link.send(&bytes);
        Ok(())
    }

    /// The worker has work from now on.
    pub fn begin(&mut self) {
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
        self.take(received, passed)
    }

    /// Takes what was received; so much time has passed since that was done last.
    fn take(&mut self, received: Received, passed: Duration) -> Event {
        let step = passed.min(STEP);
        self.without_progress += step;
        self.silent += step;
        if received == Received::Bytes {
            self.silent = Duration::ZERO;
        }
        let mut replies = Vec::new();
        loop {
            match self.frames.message::<Reply>() {
                Ok(None) => break,
                Ok(Some(Reply::Alive(progress))) => {
                    if progress != self.progress {
                        self.progress = progress;
                        self.advance();
                    }
                }
                Ok(Some(Reply::Started(sandbox))) => self.sandbox = Some(sandbox),
                Ok(Some(reply)) => {
                    self.advance();
                    self.is_ready |= reply == Reply::Ready;
                    replies.push(reply);
                }
                Err(_) if replies.is_empty() => {
                    self.link.kill();
                    let message = "process corrupted its channel to the program".to_owned();
                    return Event::Lost(Loss::Died(message));
                }
                // What came before counts; the next look finds the same.
                Err(_) => break,
            }
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

    /// Whether it seems to hang. It may be starved or stopped all the same, so its work is done again before that is a
    /// verdict.
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
        // While a library is loaded that does not return, the worker cannot even say that it is alive.
        let silence = self.stuck_after.max(SILENCE);
        let limit = if self.silent > silence { limit.min(silence) } else { limit };
        if self.without_progress <= limit {
            return false;
        }
        // One that waits for a processor is given the time of one.
        link.used().saturating_sub(used_before) + SOON > limit || !link.is_runnable()
    }

    /// Ends the worker.
    pub fn kill(&mut self) {
        self.link.kill();
    }

    /// There is progress.
    fn advance(&mut self) {
        self.without_progress = Duration::ZERO;
        self.used_before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const LIMIT: Duration = Duration::from_secs(10);
    const SECOND: Duration = Duration::from_secs(1);

    /// Says what a test puts in.
    #[derive(Default)]
    struct Script {
        replies: VecDeque<Reply>,
        used: Duration,
        is_runnable: bool,
    }

    impl Link for Script {
        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn receive(&mut self, buffer: &mut Vec<u8>, _: Duration) -> Received {
            let Some(reply) = self.replies.pop_front() else { return Received::Quiet };
            buffer.extend(frame(&reply).unwrap());
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

    /// A worker whose model is in its first case.
    struct Observed(Supervisor<Script>);

    impl Observed {
        fn new(is_runnable: bool) -> Self {
            let link = Script { is_runnable, ..Script::default() };
            let mut observed = Self(Supervisor::new(link, LIMIT));
            assert!(!observed.is_lost(Duration::ZERO, Some((0, Duration::ZERO))));
            observed
        }

        /// Whether it is taken for lost after `passed` and perhaps a sign of life with its cycle and processor time.
        fn is_lost(&mut self, passed: Duration, alive: Option<(u64, Duration)>) -> bool {
            if let Some((cycle, used)) = alive {
                self.0.link.used = used;
                self.0.link.replies.push_back(Reply::Alive(Some((1, cycle))));
            }
            let received = self.0.link.receive(self.0.frames.buffer(), Duration::ZERO);
            match self.0.take(received, passed) {
                Event::Lost(loss) => {
                    assert_eq!(loss, Loss::Hung);
                    true
                }
                Event::Replies(_) => false,
            }
        }

        /// The time after which it is lost, as seen by a process that looks every 200 ms; a minute at most.
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

    /// On a busy machine a model gets a tenth of a processor: it is given ten times the time.
    #[test]
    fn a_model_that_waits_for_a_processor_is_given_the_time_of_one() {
        let lost = Observed::new(true).lost_after(|time| Some((0, time / 10)));
        assert_eq!(lost, None);
        let lost = Observed::new(true).lost_after(|time| Some((0, time / 2)));
        assert!(lost.is_some_and(|time| time > 2 * LIMIT), "{lost:?}");
    }

    #[test]
    fn a_model_that_waits_for_nothing_hangs() {
        let lost = Observed::new(false).lost_after(|_| Some((0, Duration::ZERO)));
        assert!(lost.is_some_and(|time| time > LIMIT && time < LIMIT + SECOND), "{lost:?}");
        let lost = Observed::new(false).lost_after(|_| None);
        assert!(lost.is_some_and(|time| time > LIMIT && time < LIMIT + SECOND), "{lost:?}");
    }

    /// All processes were stopped, the machine slept, or the clock jumped: this process has not looked meanwhile.
    #[test]
    fn time_in_which_nobody_looked_does_not_count() {
        let mut observed = Observed::new(false);
        for _ in 0..30 {
            assert!(!observed.is_lost(Duration::from_secs(3600), None));
        }
    }
}
