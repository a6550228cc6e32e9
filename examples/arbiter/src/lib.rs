//! Block `arbiter`: a round-robin arbiter of four requesters. Its specification is `README.md`.

mod coverage;
mod environment;
mod generator;
mod golden;
mod rules;
mod scenarios;
mod scoreboard;
mod stimulus;

#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("arbiter");
}

use cosim_core::harness::{Block, Explain, LinkedRtl, Parameter, Parameters, Profile};

/// Number of requesters.
pub const REQUESTERS: usize = 4;

/// Index of the parameter for the number of beats after which a packet is cut.
pub const MAX_BEATS: usize = 0;

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct Arbiter;

const fn max_beats(beats: u64) -> Parameters {
    Parameters::of::<Arbiter>(0).with(MAX_BEATS, beats)
}

impl Block for Arbiter {
    const NAME: &'static str = "arbiter";
    const TITLE: &'static str = "Arbiter, round robin of four requesters with locked packets";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const PARAMETERS: &'static [Parameter] = &[Parameter {
        name: "MAX_BEATS",
        default: 8,
        least: 1,
        most: 255,
        power_of_two: false,
        about: "beats after which a packet is cut",
    }];
    const PROFILES: &'static [Profile] = &[
        Profile::new("spec", max_beats(8)),
        Profile::new("single", max_beats(1)),
        Profile::new("pairs", max_beats(2)),
    ];
    const STATE_REGISTER: Option<&'static str> = Some("state");

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = golden::Golden;
    type Traffic = stimulus::Traffic;
    type Environment<'a> = environment::Environment<'a>;
    type Scoreboard<'a> = scoreboard::Scoreboard;
    type Weights = scenarios::Weights;
    type Coverage = coverage::Coverage;
}

impl Explain for Arbiter {
    fn state_name(code: u64) -> Option<&'static str> {
        ["FREE", "LOCKED"].get(code as usize).copied()
    }

    fn words(channel: &str, _: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let end = match (outputs.out_last.get(), outputs.out_cut.get()) {
            (0, _) => "",
            (_, 0) => ", last",
            _ => ", cut",
        };
        let (data, src) = (outputs.out_data.get(), outputs.out_src.get());
        (channel == "out").then(|| format!("{data:#06x} of requester {src}{end}"))
    }

    fn in_flight(environment: &environment::Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}
