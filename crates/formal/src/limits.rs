//! Limits of time: when a search ends, and when a prover is ended.

use cosim_base::error::{Error, codes};
use std::time::{Duration, Instant};

/// Whether no further attempt is made before a deadline.
pub fn is_late(deadline: Instant) -> bool {
    deadline.saturating_duration_since(Instant::now()) < Duration::from_secs(1)
}

/// Why a query is open that was not asked any more.
pub const LATE: &str = "the time limit ended the search";

/// Seconds of any time within which a prover must have used its processor time, at least.
const SECONDS: u64 = 300;

/// When a prover with so much processor time, in seconds, is ended whatever it has used of it: its
/// answer would depend on what else runs on the machine.
pub(crate) fn guard(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs((10 * seconds).max(SECONDS))
}

/// A prover was ended by its [`guard`].
pub(crate) fn starved(name: &str, seconds: u64) -> Error {
    let message = format!("{name} has not got {seconds} s of processor time in ten times as long");
    Error::Environment(codes::PROVER_STARVED, message)
}
