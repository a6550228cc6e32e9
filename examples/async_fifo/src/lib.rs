//! A FIFO between two clocks. Its specification is `README.md`.
//!
//! The handshakes may come at any time, so the scoreboard checks their items. The counters of both
//! domains are compared in every step.

mod golden;
mod scoreboard;

#[allow(missing_docs, non_snake_case, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("async_fifo");
}

use cosim_core::harness::{Block, Explain, LinkedRtl, Parameters, Profile, ResetPin};

cosim_core::channels! {
    pins rtl::Inputs, rtl::Outputs;
    clocks wclk, rclk;
    reset wrst_n low;
    reset rrst_n low;
    source push: Push { data: push_data[8] } on push_valid, push_ready at wclk;
    sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready at rclk;
}

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct AsyncFifo;

impl Block for AsyncFifo {
    const NAME: &'static str = "async_fifo";
    const TITLE: &'static str = "FIFO between two clocks";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const PROFILES: &'static [Profile] = &[Profile::new("spec", Parameters::NONE)];
    const CASES: u64 = 200;
    const RESET: Option<ResetPin> = Some(ResetPin::low("wrst_n"));
    const OTHER_RESETS: &'static [ResetPin] = &[ResetPin::low("rrst_n")];
    const CLOCKS: &'static [&'static str] = &["wclk", "rclk"];
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &["push_ready", "pop_valid", "pop_data"];

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = golden::Golden;
    type Traffic = Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = scoreboard::Scoreboard;
    type Weights = Weights;
    type Coverage = Coverage;
}

impl Explain for AsyncFifo {}
