//! The harness: the contract that blocks implement and the loop that runs them.

mod batch;
mod blame;
mod block;
mod built_in;
mod case;
mod checked;
pub mod clocks;
mod comparison;
mod coverage;
mod delays;
mod draw;
mod drawn;
mod driven;
mod environment;
mod explain;
mod generator;
mod golden;
mod hits;
mod in_c;
mod info;
mod layout;
mod leaked;
mod naming;
mod noise;
mod pace;
mod parameters;
mod properties;
mod random_sets;
pub mod raw_pins;
mod reset;
mod ring;
mod rng;
mod rule_set;
mod rules;
mod same;
mod sampler;
mod scoreboard;
mod side_by_side;
mod span;
mod stimulus;
mod tally;
mod traffic_types;
mod transfer;
mod verdict;
mod weights;

pub use batch::{Recording, run_all, run_golden};
pub(crate) use coverage::group_bins;
pub(crate) use same::is_same;

pub use crate::require;
pub use blame::is_of_the_harness;
pub use blame::{Blame, Culprit, GoldenDut, SideFailure, follow, judge};
pub use block::{Block, CycleOf, Document, LinkedRtl, ResetPin, power_up_inputs, reset_inputs};
pub use built_in::{BuiltInRtl, Wrapper};
pub use case::run_uncovered;
pub use case::{CycleView, Dut, Outcome, Watch, run};
pub use checked::{Checked, beyond_all, checked, nothing_to_draw, without_objection};
pub use comparison::{
    COMPARED, COMPARED_TRANSACTIONS, Comparison, Untimed, bit_name, follows_dut, has_masks,
    is_written,
};
pub use coverage::{
    Axis, Bin, Bins, CORNERS, Coverage, Covergroup, Edge, MOST_AXES, Place, RULES, Unreachable,
    Value,
};
pub use coverage::{class, corner_class};
pub use delays::Delays;
pub use draw::{Draw, Percent};
pub use drawn::{Case, LONGEST, MOST_CASES, MOST_PACKETS, case_seed, parse_index};
pub use driven::{GoldenTraffic, UndrivenPin, environment_at, undriven};
pub use environment::{Environment, Traffic, TrafficError, check_part};
pub use explain::Explain;
pub use generator::{LongCases, Scenario, Weights};
pub use golden::{Golden, Unwritten, unwritten};
pub use hits::Hits;
pub use in_c::{GoldenInC, InC};
pub use info::{Answers, BlockInfo, Blocks, Facts, GroupInfo, ScenarioInfo};
pub use layout::Layout;
pub use naming::{Naming, Role};
pub use noise::{CycleNoise, IdleBits, Noise};
pub use pace::{Pace, longest, longest_reset};
pub use parameters::{Overrides, Parameter, Parameters, Profile, ProfileError, overrides};
pub use properties::{
    KnownDeadlock, Progress, Properties, StableChannel, TransitionProperty, WordAbstraction,
};
pub use reset::{Reset, ResetTimer};
pub use ring::Ring;
pub use rng::CaseRng;
pub use rule_set::{Rule, RuleSet};
pub use sampler::{bin_name, bins, unreachable};
pub use scoreboard::{
    Counter, Scoreboard, Total, Violation, check_list, in_reset, require_equal, require_idle,
};
pub use side_by_side::{Difference, first_difference, first_difference_from_power_on};
pub use span::Span;
pub use stimulus::{BeforeResetText, Drive, Stimulus, before_reset_in_words};
pub use traffic_types::check_resets;
pub use transfer::{Transfer, in_words};
pub use verdict::{Fingerprint, Mismatch, Signature, Verdict};
pub use weights::{Weight, scenario_from, scenarios_from};
