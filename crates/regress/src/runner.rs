//! Runs the cases of a plan on all cores, and stores the failures.

mod failures;
mod pool;
mod replays;

pub use failures::{FailureHandling, Failures, SHRINK_BUDGET};
pub use pool::{Limits, Progress, Start, run};
pub use replays::{Replay, replay_all};
