//! Block `recv`: `RecvSideFsm`, the packet receive side of a message layer.
//!
//! Its specification is `docs/blocks/recv.md`.

pub(crate) mod coverage;
pub(crate) mod environment;
pub(crate) mod generator;
mod golden;
mod proof;
pub mod rules;
pub(crate) mod scoreboard;
pub mod traffic;

#[allow(missing_docs, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("recv");
}

use cosim_core::harness::{
    Block, Document, Explain, LinkedRtl, Parameter, Parameters, Profile, Properties, StableChannel,
};
pub use environment::Environment;
pub use golden::Golden;
use rules::{ROWS, RULES, State, parameters};
pub use scoreboard::Scoreboard;

#[derive(Debug, Clone, Copy)]
pub struct Recv;

impl Block for Recv {
    const NAME: &'static str = "recv";
    const TITLE: &'static str = "RecvSideFsm, packets of messages: ring, credits, copy or keep";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const SPECIFICATION: Option<Document> =
        Some(cosim_core::document!("../../docs/blocks/recv.md"));
    const PARAMETERS: &'static [Parameter] = &parameters::PARAMETERS;
    const PROFILES: &'static [Profile] = &parameters::PROFILES;
    const STATE_REGISTER: Option<&'static str> = Some("cur_state");
    /// Half the default: five profiles take as long as another block's.
    const CASES: u64 = 200;

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Golden;
    type Traffic = traffic::Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard<'a>;
    type Weights = generator::scenarios::Weights;
    type Coverage = coverage::Coverage;

    fn properties(parameters: &Parameters) -> Properties {
        Properties {
            quiescent: vec![
                "copy_valid",
                "keep_valid",
                "release_valid",
                "alloc_valid",
                "temp_alloc_valid",
                "credit_valid",
            ],
            // Credits of a later refill are added to those on offer (K1), so only the valid is
            // stable.
            stable: vec![StableChannel::valid("credit_valid")],
            illegal_states: vec![State::None.name()],
            transitions: proof::transitions(parameters),
            progress: proof::progress(parameters),
            ..Properties::default()
        }
    }
}

pub(crate) fn kind_name(kind: u64) -> &'static str {
    const NAMES: [&str; 8] =
        ["flow", "rndv_rts", "rndv_cts", "short", "eager", "rndv_data", "DP", "kind 7"];
    NAMES[kind as usize % NAMES.len()]
}

impl Explain for Recv {
    fn state_name(code: u64) -> Option<&'static str> {
        State::ALL.get(code as usize).map(|state| state.name())
    }

    fn rules_between(from: &str, to: &str) -> Vec<&'static str> {
        let leads = |row: &&rules::Row| row.from.name() == from && row.to.name() == to;
        let names = ROWS.iter().filter(leads).flat_map(|row| row.rule.iter());
        names.map(|index| RULES[index].name).collect()
    }

    fn words(channel: &str, inputs: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let packet = |id: rtl::Bits8| format!("packet {:#04x}", id.get());
        Some(match channel {
            "pkt" => {
                let (kind, id) = (kind_name(inputs.pkt_kind.get()), inputs.pkt_id.get());
                let last = if inputs.pkt_last.get() == 1 { ", last" } else { "" };
                format!("{kind} {id:#04x}{last}")
            }
            "alloc" => format!("{} buffers", outputs.alloc_count.get()),
            "credit" => format!("{} buffers", outputs.credit_count.get()),
            "copy" => format!("{}, {} bytes", packet(outputs.copy_id), outputs.copy_len.get()),
            "keep" => packet(outputs.keep_id),
            "release" => packet(outputs.release_id),
            "temp_alloc" => format!("{} bytes", outputs.temp_alloc_len.get()),
            _ => return None,
        })
    }

    fn in_flight(environment: &Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
