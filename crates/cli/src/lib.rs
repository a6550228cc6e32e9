//! The command line of a program with blocks: arguments, text and JSON output, progress, exit codes.

// A reader that has gone is no reason to end: see `program::say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod skeleton;

pub use cli::main;
