//! The harness: the contract that blocks implement and the loop that runs them.

mod case;
mod contract;
mod draw;
mod layout;
mod noise;
pub mod raw_pins;
mod reset;
mod span;
mod verdict;

pub use case::{Dut, Echo, Moment, Outcome, Watch, run};
pub use contract::{
    Block, CaseRng, Environment, Golden, LinkedRtl, Objection, Profile, Rule, RuleSet, Scenario,
    Scoreboard, Stimulus, Violation,
};
pub use draw::{Draw, Percent};
pub use noise::Noise;
pub use reset::{Reset, ResetTimer};
pub use span::Span;
pub use verdict::{Mismatch, Signature, Verdict};
