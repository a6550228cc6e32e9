//! Block `qp`: `QpStateCtrl`, the QP state controller.
//!
//! Its specification is `docs/blocks/qp.md`.

pub(crate) mod coverage;
mod environment;
pub(crate) mod generator;
mod golden;
mod proof;
pub mod rules;
pub(crate) mod scoreboard;
pub mod traffic;

#[allow(missing_docs, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("qp");
}

use cosim_core::harness::{
    Block, Document, Explain, LinkedRtl, Parameters, Profile, Properties, StableChannel,
};
pub use environment::Environment;
pub use golden::Golden;
use rules::{DESTROY, State};
pub use scoreboard::Scoreboard;

#[derive(Debug, Clone, Copy)]
pub struct Qp;

impl Block for Qp {
    const NAME: &'static str = "qp";
    const TITLE: &'static str = "QpStateCtrl, states of queue pairs: Modify QP, events, packets";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const SPECIFICATION: Option<Document> = Some(cosim_core::document!("../../docs/blocks/qp.md"));
    /// The source has no erratum, and the RTL has no parameters.
    const PROFILES: &'static [Profile] =
        &[Profile::new("spec", Parameters::with_fixes::<Self>(0x00))];

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Golden;
    type Traffic = traffic::Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard;
    type Weights = generator::scenarios::Weights;
    type Coverage = coverage::Coverage;

    fn properties(_parameters: &Parameters) -> Properties {
        Properties {
            quiescent: vec!["rsp_valid", "evt_valid"],
            // The payload is in a memory, which a proof abstracts.
            stable: vec![StableChannel::valid("evt_valid")],
            transitions: proof::transitions(),
            word_abstractions: vec![proof::MEANING],
            progress: proof::progress(),
            ..Properties::default()
        }
    }
}

fn name_of(state: u64) -> &'static str {
    State::from_code(state).map_or("no state", State::name)
}

const SERVICES: [&str; 8] = ["RC", "UC", "RD", "UD", "CNP", "XRC", "service 6", "service 7"];
const KINDS: [&str; 4] = ["first request packet", "SQ drained", "send error", "fatal error"];
const ANSWERS: [&str; 4] = ["done", "illegal transition", "parameter not permitted", "no answer"];
const EVENTS: [&str; 4] = ["SQ drained", "communication established", "QP fatal", "no event"];

impl Explain for Qp {
    fn words(channel: &str, inputs: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let of = |qpn: rtl::Bits8, what: &str| Some(format!("QP {} {what}", qpn.get()));
        let named = |names: &[&'static str], code: u64| names[code as usize];
        match channel {
            "cmd" => {
                let what = match inputs.cmd_next.get() {
                    next if next == u64::from(DESTROY) => "destroy".to_owned(),
                    next => format!("to {}", name_of(next)),
                };
                let service = named(&SERVICES, inputs.cmd_service.get());
                let notify = if inputs.cmd_notify.is_high() { ", notify" } else { "" };
                of(inputs.cmd_qpn, &format!("{what} ({service}{notify})"))
            }
            "rsp" => of(outputs.rsp_qpn, named(&ANSWERS, outputs.rsp_code.get())),
            "hw" => of(inputs.hw_qpn, named(&KINDS, inputs.hw_kind.get())),
            "msg" if inputs.msg_error.is_high() => of(inputs.msg_qpn, "packet, error"),
            "msg" => of(inputs.msg_qpn, "packet"),
            "evt" => of(outputs.evt_qpn, named(&EVENTS, outputs.evt_code.get())),
            _ => None,
        }
    }

    fn in_flight(environment: &Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
