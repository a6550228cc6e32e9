//! The files of a run directory: results, journal, times and the lock.

mod cases;
mod causes;
mod directory;
mod end;
mod groups;
mod header;
mod journal;
mod layout;
mod moment;
mod names;
mod passed;
mod plan;
mod reader;
mod results;
mod rtl_copy;
mod tally;
mod timing;
mod waivers;

pub use cases::{Failure, FinishedCase};
pub use causes::{Cause, causes, is_explained};
pub use directory::{DirectoryLock, OutputLocation};
pub use end::End;
pub use groups::{
    CASES_SHOWN, Evidence, Group, MOST_LOCATED, MOST_VARIANTS, Variant, merge as merge_groups,
    settle as settle_groups,
};
pub use header::Header;
pub use journal::{InterruptedRun, Journal, RunCommand, State};
pub use layout::{
    CODE_QUALITY, FAILURES, HTML, JOURNAL, JUNIT, MARKDOWN, PARTIAL, RESULTS, RESULTS_FORMAT,
    SAVED, TIMING,
};
pub use moment::Moment;
pub use names::{EXPLAINED, VECTORS_PER_GROUP};
pub use passed::{WaiverUse, has_passed, uses, waive, waived};
pub use plan::{MOST_CASES, Plan};
pub use reader::{Entry, EntryCheck, LONGEST_LINE, ProfileResults, Results};
pub use results::{Conclusion, RunDirectory, results_schema, runs_in};
pub use rtl_copy::{RTL_COPY, RtlCopy};
pub use tally::{ProfileTally, Tally, Totals};
pub use timing::{LostWorkers, PeakMemory, Timing, commit};
pub use waivers::{Day, Waived, Waiver};
