//! The harness: the contract that blocks implement and the loop that runs them.

mod case;
mod contract;
mod layout;
mod noise;
pub mod raw_pins;
mod span;

pub use case::{Dut, Mismatch, Outcome, Verdict, Watch, run};
pub use contract::{
    Block, CaseRng, Environment, Golden, Profile, Rule, RuleSet, Scenario, Scoreboard, Stimulus,
    Violation,
};
pub use noise::Noise;
pub use span::Span;
