//! The messages between a worker and the main process.
//!
//! A message is a frame: its length in 4 bytes, little endian, and that many bytes of postcard. A
//! malformed message ends the worker that sent it.

use super::sandbox::ActiveSandbox;
use crate::engine::{Query, SessionSetup, ShrunkVector};
use crate::vector::VectorFile;
use crate::worker::task::Task;
use cosim_base::error::{Code, Error, codes};
use cosim_harness::harness::{Case, Outcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum length of a message in bytes. A vector may use a quarter of it.
pub const MAX_LENGTH: usize = 1 << 30;
/// Maximum length of a message from a worker that has no task: outcomes of cases are short.
pub const MAX_OUTCOME: usize = 1 << 26;
/// Bytes of the length field.
const HEADER_BYTES: usize = 4;

/// A message to a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Request {
    /// Open a session: the setup that the following cases share.
    Open(SessionSetup),
    /// An item of work. The worker processes items in the order of the requests.
    Work {
        /// Identifies the item; the answer repeats it.
        place: u64,
        /// The work.
        work: Work,
    },
    /// End the current work with the result so far.
    Cancel,
    /// The outcome of a [candidate](Reply::Candidate); `None` if it could not be run.
    Judged(Option<Box<Outcome>>),
}

/// An item of work for a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Work {
    /// A case of the open session.
    Case(Case),
    /// A self-contained task.
    Task(Box<Task>),
    /// A query about this block, for a worker that loads no model.
    Query(String, Box<Query>),
}

/// A message from a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The session is open.
    Ready,
    /// The session cannot be opened, or, as the first message, the worker cannot start.
    NotReady(Refusal),
    /// An item of work is complete.
    Done {
        /// The place of the request.
        place: u64,
        /// The result.
        answer: Answer,
    },
    /// Sent several times a second. While a model runs, it holds the number of cases begun and
    /// cycles run.
    Alive(Option<(u64, u64)>),
    /// Progress of a shrink.
    Shrinking {
        /// Candidates tried.
        candidates: u64,
        /// Candidates kept.
        kept: u64,
    },
    /// The smallest vector so far.
    Best(Box<ShrunkVector>),
    /// A candidate of a shrink, to run in a process of its own.
    Candidate(Box<VectorFile>),
    /// The first message, before any RTL runs: the sandbox of the process.
    Started(ActiveSandbox),
}

/// The result of an item of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The outcome of the case.
    Case(Box<Outcome>),
    /// The result of the task, as JSON.
    Task(String),
    /// The answer to the query, in postcard.
    Query(Vec<u8>),
    /// Our code or the block's panicked, with this message.
    Panicked(String),
    /// The work is impossible.
    Refused(Refusal),
}

/// An error that is no verdict on an RTL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The error code.
    pub code: Code,
    /// The message.
    pub message: String,
}

impl Refusal {
    /// Converts an error for sending.
    pub fn from_error(error: &Error) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

impl From<Refusal> for Error {
    fn from(Refusal { code, message }: Refusal) -> Self {
        if code == codes::INTERRUPTED {
            return Self::Interrupted;
        }
        Self::Worker { code, message }
    }
}

/// A message that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsendable {
    /// It has too many bytes.
    TooLong(usize),
    /// It has no encoding, for this reason.
    Unencodable(String),
}

impl fmt::Display for Unsendable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes) => {
                write!(f, "it has {bytes} bytes, more than the limit of {MAX_LENGTH}")
            }
            Self::Unencodable(reason) => f.write_str(reason),
        }
    }
}

/// Encodes a message as a frame.
///
/// # Errors
/// [`Unsendable`].
pub fn frame(message: &impl Serialize) -> Result<Vec<u8>, Unsendable> {
    let mut bytes = postcard::to_extend(message, vec![0; HEADER_BYTES])
        .map_err(|error| Unsendable::Unencodable(error.to_string()))?;
    let length = bytes.len() - HEADER_BYTES;
    let head = u32::try_from(length).ok().filter(|_| length <= MAX_LENGTH);
    let head = head.ok_or(Unsendable::TooLong(length))?;
    bytes[..HEADER_BYTES].copy_from_slice(&head.to_le_bytes());
    Ok(bytes)
}

/// The bytes read are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedMessage;

/// Extracts messages from a stream of bytes.
#[derive(Debug, Default)]
pub struct Frames {
    /// Bytes read; the part before `start` is processed.
    bytes: Vec<u8>,
    start: usize,
}

impl Frames {
    /// The buffer to append bytes to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..std::mem::take(&mut self.start));
        &mut self.bytes
    }

    /// The next message, once it is complete. It has at most `most` bytes.
    ///
    /// # Errors
    /// [`MalformedMessage`]. The rest of the stream is unusable.
    pub fn message<M: DeserializeOwned>(
        &mut self,
        most: usize,
    ) -> Result<Option<M>, MalformedMessage> {
        let rest = &self.bytes[self.start..];
        let Some((head, rest)) = rest.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > most {
            return Err(MalformedMessage);
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let (message, left) = postcard::take_from_bytes(body).map_err(|_| MalformedMessage)?;
        if !left.is_empty() {
            return Err(MalformedMessage);
        }
        self.start += HEADER_BYTES + length;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::{Hits, Mismatch, Verdict, Violation};
    use proptest::prelude::*;

    fn reply_of(place: u64, verdict: Verdict) -> Reply {
        let (hits, counters) = (Hits::from_counts(&[1, 0, 1 << 40]), vec![7]);
        let reached = vec![5, 0];
        let outcome = Outcome { verdict, cycles: 300, packets: 4, hits, counters, reached };
        Reply::Done { place, answer: Answer::Case(Box::new(outcome)) }
    }

    fn read_all(frames: &mut Frames) -> Vec<Reply> {
        std::iter::from_fn(|| frames.message(MAX_LENGTH).expect("frames")).collect()
    }

    #[test]
    fn every_verdict_arrives_as_it_was_sent() {
        let violation = Violation::new("order", "late");
        let verdicts = [
            Verdict::Match,
            Verdict::Mismatch(Mismatch {
                cycle: 3,
                port: "p".to_owned(),
                expected: "1'h0".to_owned(),
                actual: "1'h1".to_owned(),
                state: "s".to_owned(),
                rule: String::new(),
                differs: vec!["p".to_owned()],
            }),
            Verdict::Hang { cycle: None, state: "unknown".to_owned() },
            Verdict::CheckFailed { cycle: 9, violation },
            Verdict::Crashed { cycle: Some(1), message: "a \"b\"\n".to_owned() },
            Verdict::Cancelled,
        ];
        let mut frames = Frames::default();
        for (place, verdict) in verdicts.iter().enumerate() {
            let reply = reply_of(place as u64, verdict.clone());
            frames.buffer().extend(frame(&reply).unwrap());
        }
        let replies = read_all(&mut frames);
        let expected: Vec<Reply> = verdicts
            .into_iter()
            .enumerate()
            .map(|(place, verdict)| reply_of(place as u64, verdict))
            .collect();
        assert_eq!(replies, expected);
    }

    #[test]
    fn a_frame_may_arrive_in_pieces() {
        let sent = [
            Reply::Ready,
            Reply::Alive(Some((1, 2048))),
            Reply::Shrinking { candidates: 300, kept: 2 },
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(|reply| frame(reply).unwrap()).collect();
        let mut frames = Frames::default();
        let mut received = Vec::new();
        for byte in bytes {
            frames.buffer().push(byte);
            received.extend(read_all(&mut frames));
        }
        assert_eq!(received, sent);
    }

    #[test]
    fn malformed_messages_are_errors() {
        // An unknown kind, a length above the maximum, and a message with trailing bytes.
        let unknown = [1, 0, 0, 0, 99];
        let long = u32::MAX.to_le_bytes();
        let ready_and_more = [2, 0, 0, 0, 0, 0];
        for bytes in [&unknown[..], &long, &ready_and_more] {
            let mut frames = Frames::default();
            frames.buffer().extend(bytes);
            assert_eq!(frames.message::<Reply>(MAX_LENGTH), Err(MalformedMessage), "{bytes:?}");
        }
    }

    #[test]
    fn a_message_has_a_limit() {
        let bytes = frame(&reply_of(1, Verdict::Match)).unwrap();
        let mut frames = Frames::default();
        frames.buffer().extend(&bytes);
        let length = bytes.len() - HEADER_BYTES;
        assert_eq!(frames.message::<Reply>(length - 1), Err(MalformedMessage));
        assert_eq!(frames.message::<Reply>(length), Ok(Some(reply_of(1, Verdict::Match))));
    }

    #[test]
    fn a_message_that_cannot_be_sent_says_why() {
        struct Never;
        impl Serialize for Never {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq((0..2).filter(|_| true))
            }
        }
        // postcard needs the length of a list first.
        let error = frame(&Never).unwrap_err();
        assert!(matches!(&error, Unsendable::Unencodable(why) if !why.is_empty()), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut frames = Frames::default();
            frames.buffer().extend(bytes);
            while let Ok(Some(_)) = frames.message::<Reply>(MAX_LENGTH) {}
        }
    }
}
