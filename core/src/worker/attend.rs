//! Listening to one worker, and noticing when it is lost.

use super::wire::{Frames, Reply, Request, frame};
use crate::error::Error;
use std::io;
use std::time::{Duration, Instant};

/// How long a worker may be busy without a model at work, as with reading a long vector, at least.
const OWN_WORK: Duration = Duration::from_secs(60);

/// How long nothing may be heard of a worker, at least; it says several times a second that it is alive.
const SILENCE: Duration = Duration::from_secs(3);

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

    /// Says how a worker ended that closed its channel; ends it if it has not.
    fn end(&mut self) -> String;

    /// Ends the worker at once.
    fn kill(&mut self);
}

/// How a worker was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// It ended by itself, as the text says.
    Died(String),
    /// It made no progress for too long, and was ended.
    Hung,
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
pub struct Attendant<L> {
    link: L,
    frames: Frames,
    stuck_after: Duration,
    /// The last sign of progress, and when it was seen.
    progress: Option<(u64, u64)>,
    since: Instant,
    /// When it was last heard of.
    heard: Instant,
    is_ready: bool,
}

impl<L: Link> Attendant<L> {
    /// Listens to `link`.
    pub fn new(link: L, stuck_after: Duration) -> Self {
        Self {
            link,
            frames: Frames::default(),
            stuck_after,
            progress: None,
            since: Instant::now(),
            heard: Instant::now(),
            is_ready: false,
        }
    }

    /// Whether what it was opened with is loaded.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Sends a message; that a worker is gone is seen when it is listened to.
    ///
    /// # Errors
    /// [`Error::Environment`] for a message too long.
    pub fn send(&mut self, request: &Request) -> Result<(), Error> {
        let bytes = frame(request).ok_or_else(|| {
            Error::Environment("a vector is too large to be handed on".to_owned())
        })?;
        let _ = self.link.send(&bytes);
        Ok(())
    }

    /// The worker has work from now on.
    pub fn begin(&mut self) {
        self.since = Instant::now();
        self.heard = self.since;
    }

    /// Waits for messages of a worker that has work.
    pub fn wait(&mut self, timeout: Duration) -> Event {
        let received = self.link.receive(self.frames.buffer(), timeout);
        let mut replies = Vec::new();
        loop {
            match self.frames.message::<Reply>() {
                Ok(None) => break,
                Ok(Some(Reply::Alive(progress))) => self.see(progress),
                Ok(Some(reply)) => {
                    self.since = Instant::now();
                    self.is_ready |= reply == Reply::Ready;
                    replies.push(reply);
                }
                Err(_) if replies.is_empty() => {
                    self.link.kill();
                    let message = "process wrote into its channel to the program".to_owned();
                    return Event::Lost(Loss::Died(message));
                }
                // What came before counts; the next look finds the same.
                Err(_) => break,
            }
        }
        if replies.is_empty() && received == Received::Closed {
            return Event::Lost(Loss::Died(self.link.end()));
        }
        let limit = match self.progress {
            Some(_) => self.stuck_after,
            None => self.stuck_after.max(OWN_WORK),
        };
        if received == Received::Bytes {
            self.heard = Instant::now();
        }
        // One that is not even alive is stopped, or starves.
        let is_silent = self.heard.elapsed() > self.stuck_after.max(SILENCE);
        if replies.is_empty() && (is_silent || self.since.elapsed() > limit) {
            self.link.kill();
            return Event::Lost(Loss::Hung);
        }
        Event::Replies(replies)
    }

    /// Ends the worker.
    pub fn kill(&mut self) {
        self.link.kill();
    }

    fn see(&mut self, progress: Option<(u64, u64)>) {
        if progress != self.progress {
            self.progress = progress;
            self.since = Instant::now();
        }
    }
}
