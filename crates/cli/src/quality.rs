//! Commands that judge a testbench: coverage, mutants, rules.

pub mod cover;
pub mod mutate;
pub mod signoff;
