//! Commands that run regressions, and what they print.

pub mod conclude;
pub mod finished;
pub mod merge;
pub mod plan;
pub mod regression;
pub mod resume;
pub mod run;
pub mod summary;
pub mod watch;
