//! The runner: runs the cases of a plan on all cores, and keeps what failed.

mod failures;
mod pool;
mod replays;

pub use cosim_formats::run::*;
pub use failures::{FailureHandling, Failures, SHRINK_BUDGET};
pub use pool::{Limits, Progress, Start, run};
pub use replays::{Replay, replay_all};
