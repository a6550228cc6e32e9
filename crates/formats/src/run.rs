//! The files of a run directory: results, journal, times, and who may write them.

mod cases;
mod directory;
mod end;
mod groups;
mod journal;
mod names;
mod plan;
mod reader;
mod results;
mod tally;
mod waivers;

pub use cases::{Failure, FinishedCase};
pub use directory::{CODE_QUALITY, DirectoryLock, HTML, JUNIT, MARKDOWN, OutputLocation};
pub use end::End;
pub use groups::{
    CASES_SHOWN, Evidence, Group, MOST_VARIANTS, Variant, merge as merge_groups,
    settle as settle_groups,
};
pub use journal::{InterruptedRun, JOURNAL, Journal, RunCommand, State};
pub use names::{EXPLAINED, VECTORS_PER_GROUP, file_stem};
pub use plan::{MOST_CASES, Plan, Shard};
pub use reader::{Entry, ProfileResults, Results, RunTiming};
pub use results::{
    Conclusion, FAILURES, Header, LostWorkers, Milestones, PARTIAL, PeakMemory, RESULTS,
    RESULTS_FORMAT, RESULTS_OLDEST, RESULTS_VERSION, RunDirectory, SAVED, TIMING, Timing, commit,
    results_schema, runs_in,
};
pub use tally::{ProfileTally, Tally, Totals};
pub use waivers::{Day, Waived, Waiver, WaiverUse, has_passed, uses, waive, waived};
