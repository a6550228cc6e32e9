//! The runner: plans cases, runs them on all cores, and writes what they did.

mod cases;
mod directory;
mod failures;
mod groups;
mod journal;
mod plan;
mod pool;
mod replays;
mod results;
mod tally;
mod waivers;

pub use cases::{Failure, FinishedCase};
pub use directory::{CODE_QUALITY, DirectoryLock, HTML, JUNIT, MARKDOWN, OutputLocation};
pub use failures::{EXPLAINED, FailureHandling, Failures, SHRINK_BUDGET, file_stem};
pub use groups::{
    CASES_SHOWN, Evidence, Group, Variant, merge as merge_groups, settle as settle_groups,
};
pub use journal::{InterruptedRun, JOURNAL, Journal, RunCommand, State};
pub use plan::{MOST_CASES, Plan, Shard};
pub use pool::{End, Limits, Progress, Start, run};
pub use replays::{Replay, replay_all};
pub use results::{
    Conclusion, FAILURES, Header, LostWorkers, Milestones, PARTIAL, PeakMemory, RESULTS,
    RESULTS_FORMAT, RESULTS_OLDEST, RESULTS_VERSION, RunDirectory, SAVED, TIMING, Timing, commit,
    results_schema, runs_in,
};
pub use tally::{ProfileTally, Tally, Totals};
pub use waivers::{Day, Waived, Waiver, WaiverUse, has_passed, uses, waive, waived};
