//! A FIFO, verified in four ways. Its specification is `README.md`.

mod golden;
mod scoreboard;

#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("fifo");
}

use cosim_core::harness::{
    Block, Explain, GoldenInC, InC, LinkedRtl, Parameter, Parameters, Profile, Properties, Untimed,
};
use cosim_core::verilated::CModelKind;
use golden::Golden;
use scoreboard::Scoreboard;

cosim_core::channels! {
    pins rtl::Inputs, rtl::Outputs;
    reset rst high;
    source push: Push { data: push_data[8] } on push_valid, push_ready;
    sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready
        unless |at, parameters| (at[0] == 0 && parameters.get(DEPTH) == 1)
            .then_some("a FIFO of one item needs a cycle between two items");
}

/// Index of the parameter with the number of items.
const DEPTH: usize = 0;

/// Declares a block with the pins of the FIFO.
macro_rules! fifo {
    ($block:ident, $name:literal, $title:literal, $golden:ty, $outputs:expr) => {
        #[doc = $title]
        #[derive(Debug, Clone, Copy)]
        pub struct $block;

        impl Block for $block {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
            const PARAMETERS: &'static [Parameter] = &[Parameter {
                name: "DEPTH",
                default: 4,
                least: 1,
                most: 64,
                power_of_two: false,
                about: "items",
            }];
            const PROFILES: &'static [Profile] = &[
                Profile::new("four", Parameters::of::<Self>(0)),
                Profile::new("one", Parameters::of::<Self>(0).with(DEPTH, 1)),
            ];
            const CASES: u64 = 100;
            const TRANSACTION_OUTPUTS: &'static [&'static str] = $outputs;

            type Inputs = rtl::Inputs;
            type Outputs = rtl::Outputs;
            type Golden = $golden;
            type Traffic = Traffic;
            type Environment<'a> = Environment<'a>;
            type Scoreboard<'a> = Scoreboard;
            type Weights = Weights;
            type Coverage = Coverage;

            fn properties(_: &Parameters) -> Properties {
                channel_properties()
            }
        }

        impl Explain for $block {}
    };
}

fifo!(Exact, "exact", "FIFO, every output in every cycle", Golden<false>, &[]);
fifo!(DontCare, "dont_care", "FIFO, data only while it is valid", Golden<true>, &[]);
fifo!(Cpp, "cpp", "FIFO, golden model in C++", GoldenInC<Self>, &[]);

impl InC for Cpp {
    const MODEL: CModelKind<rtl::Inputs, rtl::Outputs> = rtl::GOLDEN;
    const HAS_DONT_CARES: bool = true;
}

fifo!(
    Transactions,
    "transactions",
    "FIFO, items in order at any time",
    Untimed,
    &["push_ready", "pop_valid", "pop_data"]
);
