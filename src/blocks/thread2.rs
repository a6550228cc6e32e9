//! Block `thread2`: `ReqRecvCore_Thread_2`, the second stage of a NIC's receive path.
//!
//! Its specification is `docs/blocks/thread2.md`.

mod coverage;
pub(crate) mod environment;
pub mod generator;
mod golden;
mod proof;
pub mod rules;
pub(crate) mod scoreboard;
pub mod traffic;

#[allow(missing_docs, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("thread2");
}

use cosim_core::harness::{Block, Document, Explain, LinkedRtl, Naming, Parameters, Properties};
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
    const SPECIFICATION: Option<Document> =
        Some(cosim_core::document!("../../docs/blocks/thread2.md"));
    const STATE_REGISTER: Option<&'static str> = Some("cur_state");
    // DATA_UNIT_s is ready for a used-up unit, whether one is on offer or not. MR_FOR_SEND_s uses
    // the unit that was on offer without looking at its valid again.
    const NAMING: Naming =
        Naming { looked_at: &["wqe_resp_data", "wqe_resp_last"], ..Naming::DEFAULT };

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Golden;
    type Traffic = traffic::Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard<'a>;
    type Weights = generator::scenarios::Weights;
    type Coverage = coverage::Coverage;

    fn properties(parameters: &Parameters) -> Properties {
        proof::properties(parameters)
    }

    fn fields(port: &str) -> &'static [(&'static str, Field)] {
        rules::layout::fields(port)
    }
}

impl Explain for Thread2 {
    fn state_name(code: u64) -> Option<&'static str> {
        rules::State::ALL.into_iter().find(|state| *state as u64 == code).map(rules::State::name)
    }

    fn rules_between(from: &str, to: &str) -> Vec<&'static str> {
        let all = rules::ROWS.iter().zip(rules::RULES);
        let leads = all.filter(|(row, _)| row.from.name() == from && row.to.name() == to);
        leads.map(|(_, rule)| rule.name).collect()
    }

    fn meaning(field: &str, value: u64) -> Option<String> {
        rules::layout::meaning(field, value)
    }

    fn in_flight(environment: &Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
