//! Block `rx`: `RxSystem`, the receive path made of several blocks.
//!
//! Its specification is `docs/blocks/rx.md`. The golden models, environments and generators of the
//! inner blocks are reused. Only the top-level logic between them is here.

#[macro_use]
pub mod rules;

mod coverage;
mod environment;
mod generator;
mod golden;
mod proof;
mod scoreboard;
pub mod traffic;

#[allow(missing_docs, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("rx");
}

use crate::blocks::thread2::rules::layout;
use crate::blocks::{dll, qp, recv};
use cosim_core::harness::{
    Block, Document, Explain, LinkedRtl, Naming, Parameter, Parameters, Profile, Properties,
};
use cosim_core::verilated::Field;
pub use environment::Environment;
pub use golden::Golden;
use rules::{parameters, pins};
pub use scoreboard::Scoreboard;

#[derive(Debug, Clone, Copy)]
pub struct Rx;

/// Boundaries 1 to 12 of section 8 of the specification.
const BOUNDARIES: &[&[&str]] = &[
    &["a_tlp_", "x_a_tlp_", "x_credits_used"],
    &["a_"],
    &["b_"],
    &["x_b_deliver_"],
    &["x_fifo_", "fetch_"],
    &["x_msg_", "x_query_qpn", "x_hw_"],
    &["x_msg_accept", "x_msg_take_wqe", "x_msg_ack", "x_msg_nak", "x_hw_ready", "qp_"],
    &["x_cxt_"],
    &["x_cxt_ready", "t2_"],
    &["x_pkt_"],
    &["x_pkt_ready", "rv_"],
    &["req_"],
];

impl Block for Rx {
    const NAME: &'static str = "rx";
    const TITLE: &'static str = "RxSystem, the receive path: link, QP states, requests, messages";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const SPECIFICATION: Option<Document> = Some(cosim_core::document!("../../docs/blocks/rx.md"));
    const PARAMETERS: &'static [Parameter] = &parameters::PARAMETERS;
    const PROFILES: &'static [Profile] = &parameters::PROFILES;
    /// A case is as long as one case of each inner block.
    const CASES: u64 = 100;
    const NAMING: Naming = Naming {
        boundaries: BOUNDARIES,
        looked_at: &["t2_wqe_resp_data", "t2_wqe_resp_last"],
        ..Naming::DEFAULT
    };

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
        match port {
            "cxt_head" | "x_cxt_head" => layout::Context::FIELDS,
            "cxt_data" | "x_cxt_data" => layout::Header::FIELDS,
            _ => port.strip_prefix("t2_").map_or(&[], layout::fields),
        }
    }
}

impl Explain for Rx {
    fn meaning(field: &str, value: u64) -> Option<String> {
        layout::meaning(field, value)
    }

    fn words(channel: &str, inputs: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let (to_dll, from_dll) = pins::dll(inputs, outputs);
        let (to_qp, from_qp) = pins::qp(inputs, outputs);
        let (to_recv, from_recv) = pins::recv(inputs, outputs);
        let of_recv = |channel: &str| recv::Recv::words(channel, &to_recv, &from_recv);
        let of_qp = |channel: &str| qp::Qp::words(channel, &to_qp, &from_qp);
        match channel {
            "a_tlp" | "x_a_tlp" => Some(environment::words(inputs.a_tlp_data)),
            "x_b_deliver" => Some(environment::words(outputs.x_b_deliver_data)),
            "fetch" => Some(environment::words(outputs.x_fifo_head)),
            "x_msg" => of_qp("msg"),
            "x_hw" => of_qp("hw"),
            "qp_hw" => {
                let (to, from) = pins::software(inputs, outputs);
                qp::Qp::words("hw", &to, &from)
            }
            "x_pkt" => of_recv("pkt"),
            "req" => {
                let fate =
                    ["taken", "refused", "dropped", "no fate"][outputs.req_fate.get() as usize];
                let (handle, qpn) = (outputs.req_handle.get(), outputs.req_qpn.get());
                Some(format!("request {handle:#04x} for QP {qpn} {fate}"))
            }
            _ => match channel.split_once('_') {
                Some(("rv", channel)) => of_recv(channel),
                Some(("qp", channel)) => of_qp(channel),
                _ => dll::Dll::words(channel, &to_dll, &from_dll),
            },
        }
    }

    fn in_flight(environment: &Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
