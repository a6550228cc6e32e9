//! Supervises one worker and detects its loss.

use super::loss::Loss;
use super::sandbox::ActiveSandbox;
use super::wire::{Frames, Reply, Request, frame};
use cosim_base::error::{Error, codes};
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

/// The result of reading from a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Bytes were appended.
    Bytes,
    /// No bytes came within the timeout.
    Quiet,
    /// The channel is closed.
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

    /// Ends the worker at once.
    fn kill(&mut self);
}

/// The result of waiting for a worker.
#[derive(Debug)]
pub enum Event {
    /// Messages, possibly none.
    Replies(Vec<Reply>),
    /// The worker is lost.
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
    /// Time without progress.
    without_progress: Duration,
    /// Time without any message.
    silent: Duration,
    /// When the worker was last polled.
    looked: Instant,
    /// The processor time that it had used [`SOON`] after the last sign of progress.
    used_before: Option<Duration>,
    is_ready: bool,
    sandbox: Option<ActiveSandbox>,
}

impl<L: Link> Supervisor<L> {
    /// Supervises the worker at the other end of `link`.
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
    /// [`Error::Environment`] if the message is too long.
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

    /// Starts the clocks when the worker gets work.
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

    /// Processes what was received. `passed` is the time since the last call.
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
                // Messages before the malformed one count. The next call finds it again.
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

    /// Kills the worker.
    pub fn kill(&mut self) {
        self.link.kill();
    }

    /// Records progress.
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

    /// A scripted worker.
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

        /// Whether the worker counts as lost after `passed`. `alive` is a report with its cycle and
        /// processor time.
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
}
