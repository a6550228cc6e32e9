//! Block `thread2`: `ReqRecvCore_Thread_2`, the second stage of a NIC's receive path.
//!
//! Its specification is `docs/thread2.md`.

mod chaos;
mod environment;
mod generator;
mod golden;
pub mod layout;
pub mod rows;
pub mod scenarios;
mod scoreboard;
pub mod stimulus;

#[allow(missing_docs, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("thread2");
}

use cosim_core::harness::{
    Block, CaseRng, LinkedRtl, Objection, Parameters, Rule, Scenario, Stimulus,
};
use cosim_core::verilated::Field;
pub use environment::Environment;
pub use golden::Golden;
pub use scoreboard::Scoreboard;

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct Thread2;

impl Block for Thread2 {
    const NAME: &'static str = "thread2";
    const TITLE: &'static str = "ReqRecvCore_Thread_2, second stage of a NIC's receive path";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const RULES: &'static [Rule] = &rows::RULES;
    const COUNTERS: &'static [&'static str] = scoreboard::COUNTERS;

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Golden;
    type Traffic = stimulus::Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard<'a>;
    type Weights = scenarios::Weights;

    fn reset_inputs() -> rtl::Inputs {
        rtl::Inputs { rst: rtl::Bits1::new(1), ..Default::default() }
    }

    fn scenarios() -> Vec<Scenario<scenarios::Weights>> {
        scenarios::built_in()
    }

    fn generate(
        weights: &scenarios::Weights,
        parameters: &Parameters,
        packets: u32,
        rng: &mut CaseRng,
    ) -> Stimulus<Self> {
        match weights.raw_cycles_per_packet.get() as u32 {
            0 => Stimulus::traffic(generator::traffic(weights, parameters.fixes(), packets, rng)),
            cycles => Stimulus::cycles(chaos::cycles(cycles * packets, rng)),
        }
    }

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        rows::unreachable(rule, parameters.fixes())
    }

    fn check(traffic: &stimulus::Traffic) -> Result<(), Objection> {
        stimulus::check(traffic)
    }

    const STATE_REGISTER: Option<&'static str> = Some("cur_state");

    fn state_name(code: u64) -> Option<&'static str> {
        rows::State::ALL.into_iter().find(|state| *state as u64 == code).map(rows::State::name)
    }

    fn rules_between(from: &str, to: &str) -> Vec<&'static str> {
        let leads = |row: &&rows::Row| row.from.name() == from && row.to.name() == to;
        rows::ROWS.iter().filter(leads).map(|row| row.name).collect()
    }

    fn fields(port: &str) -> &'static [(&'static str, Field)] {
        layout::fields(port)
    }

    fn meaning(field: &str, value: u64) -> Option<String> {
        layout::meaning(field, value)
    }

    fn in_flight(traffic: &stimulus::Traffic, packets: u64) -> Vec<String> {
        stimulus::in_flight(traffic, packets)
    }
}
