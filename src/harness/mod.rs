//! The harness: the contract that blocks implement and the loop that runs them.

mod case;
mod contract;
mod layout;
mod noise;
pub mod raw_pins;
mod span;
mod verdict;

pub use case::{Dut, Echo, Moment, Outcome, Watch, run};
pub use contract::{
    Block, CaseRng, Environment, Golden, Objection, Profile, Rule, RuleSet, Scenario, Scoreboard,
    Stimulus, Violation,
};
pub use noise::{Noise, random_words};
pub use span::Span;
pub use verdict::{Mismatch, Signature, Verdict};
