//! Reports of runs, for people and for other programs.
//!
//! - [`report`] writes `report.html`, `junit.xml` and `summary.md` of a run directory.
//! - [`paths`] writes paths into pages and commands.
//! - [`book`] is the documents as one page.
//! - [`history`] keeps many runs in one file.
//!
//! ```no_run
//! use cosim_report::history::History;
//!
//! let history = History::existing("runs.jsonl".as_ref())?;
//! println!("{} runs", history.runs(None).len());
//! # Ok::<(), cosim_base::error::Error>(())
//! ```

// Printing must not panic when the reader of a pipe is gone: see `program::add`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod book;
pub mod history;
pub mod paths;
pub mod report;
