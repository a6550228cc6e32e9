//! The command line of a program with blocks: arguments, text and JSON output, progress, exit codes.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod skeleton;

pub use cli::main;
use cosim_base::{error, files, text};
use cosim_formal::prove;
use cosim_formats::{coverage, vector};
use cosim_harness::{harness, value};
use cosim_regress::{agreement, engine, merge, mutate, program, runner, worker};
use cosim_report::{history, report};
use cosim_rtl::{answers, export, models, yosys};
