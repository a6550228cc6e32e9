//! The runner: plans cases, runs them on all cores, and writes what they did.

mod directory;
mod failures;
mod plan;
mod pool;
mod replays;
mod results;
mod tally;

pub use directory::{CODE_QUALITY, Claim, HTML, JUNIT, MARKDOWN, Place};
pub use failures::{CASES_SHOWN, Evidence, Failures, Group, Keep, SHRINK_BUDGET, Variant};
pub use plan::{MOST_CASES, Plan, Shard};
pub use pool::{End, Limits, Progress, run};
pub use replays::{Replay, replay_all};
pub use results::{
    Header, Milestones, PeakMemory, RESULTS, RESULTS_FORMAT, RESULTS_VERSION, RunDirectory, TIMING,
    Timing, commit, results_schema,
};
pub use tally::{ProfileTally, Tally, Totals};
