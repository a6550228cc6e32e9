//! Block `dll`: `PcieAckNak`, the Ack/Nak protocol of a PCIe data link layer.
//!
//! Its specification is `docs/blocks/dll.md`.

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
    cosim_core::rtl!("dll");
}

use cosim_core::harness::{
    Block, Document, Explain, LinkedRtl, Parameter, Parameters, Profile, Properties, StableChannel,
};
pub use environment::Environment;
pub use golden::Golden;
pub use scoreboard::Scoreboard;

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct Dll;

impl Block for Dll {
    const NAME: &'static str = "dll";
    const TITLE: &'static str = "PcieAckNak, Ack/Nak and replay of a PCIe data link layer";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const SPECIFICATION: Option<Document> = Some(cosim_core::document!("../../docs/blocks/dll.md"));
    const PARAMETERS: &'static [Parameter] = &rules::parameters::PARAMETERS;
    const PROFILES: &'static [Profile] = &rules::parameters::PROFILES;
    /// Half the default: four profiles and long cases take as long as another block's cases.
    const CASES: u64 = 200;

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Golden;
    type Traffic = traffic::Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard;
    type Weights = generator::scenarios::Weights;
    type Coverage = coverage::Coverage;

    fn properties(parameters: &Parameters) -> Properties {
        // A newer DLLP may replace the one that waits (B8, B9), so only its valid is stable.
        let stable =
            vec![StableChannel::whole("a_link_valid"), StableChannel::valid("b_dllp_valid")];
        let (transitions, progress) = (proof::transitions(parameters), proof::progress(parameters));
        Properties { stable, transitions, progress, ..Properties::default() }
    }
}

impl Explain for Dll {
    fn words(channel: &str, inputs: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let kind = |nak: rtl::Bits1| if nak.get() == 1 { "Nak" } else { "Ack" };
        let whole = |crc_ok: rtl::Bits1| if crc_ok.get() == 1 { "" } else { ", bad CRC" };
        match channel {
            "a_link" => Some(format!("TLP {}", outputs.a_link_seq.get())),
            "b_link" => {
                Some(format!("TLP {}{}", inputs.b_link_seq.get(), whole(inputs.b_link_crc_ok)))
            }
            "b_dllp" => Some(format!("{} {}", kind(outputs.b_dllp_nak), outputs.b_dllp_seq.get())),
            "a_dllp" => Some(format!(
                "{} {}{}",
                kind(inputs.a_dllp_nak),
                inputs.a_dllp_seq.get(),
                whole(inputs.a_dllp_crc_ok)
            )),
            _ => None,
        }
    }

    fn in_flight(environment: &Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
