//! End-to-end tests with real Verilated models, files and the program.
//!
//! One test binary: `cargo test --test e2e given_rtl::` runs the tests of one file.

#![deny(clippy::disallowed_macros)]

mod agents;
mod answers;
mod assertions;
mod bad_arguments;
mod bad_rtl;
mod before_reset;
mod cache;
mod checks;
mod ci_files;
mod close;
mod code;
mod common;
mod compare;
mod comparison;
mod config;
mod corpus;
mod coverage;
mod data_files;
mod diff;
mod documentation;
mod driving;
mod export;
mod four_values;
mod full_disk;
mod gates;
mod given_rtl;
mod harmful_rtl;
mod history;
mod judge;
mod merge;
mod mutate;
mod new;
mod outside;
mod packages;
mod parameters;
mod picorv32;
mod plans;
mod prove;
mod readme;
mod real_rtl;
mod records;
mod regression;
mod replay_run;
mod report;
mod results;
mod resume;
mod rtl;
mod scripts;
mod several_blocks;
mod shrinking;
mod signoff;
mod slurm;
mod terminal;
mod trust;
mod vector_files;
mod verdicts;
mod watch;
mod waves;
mod wrap;
