//! A register block that PeakRDL-regblock generates from `regblock.rdl`. `README.md` says what is
//! specified where.

mod golden;
mod registers;
mod scoreboard;
pub mod types;

#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("regblock");
}

use cosim_core::agents::AddressWeights;
use cosim_core::agents::axi_lite::{self, AxiLiteManager, AxiLitePins, AxiLiteWeights};
use cosim_core::agents::fields::FieldDriver;
use cosim_core::harness::{Block, Explain, LinkedRtl, Naming, Parameters, Profile};
use cosim_core::value::Uint;
use cosim_core::verilated::{Field, Pin};
use rtl::{Inputs, Outputs};
use types::{HwifIn, HwifOut};

const AXI: AxiLitePins<Inputs, Outputs> = AxiLitePins::of("s_axil_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent axi: AxiLiteManager on AXI, with AxiLiteWeights {
        // The registers, and two addresses without one.
        addresses: AddressWeights { size: Uint::new(0x30), ..AddressWeights::default() },
        ..AxiLiteWeights::default()
    };
    agent hardware: FieldDriver[HwifIn] on Pin::of("", "hwif_in");
    unreachable "axi responses": |at, _| (at[1] == 2).then_some("errors have the response SLVERR");
}

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct Regblock;

impl Block for Regblock {
    const NAME: &'static str = "regblock";
    const TITLE: &'static str = "registers that PeakRDL-regblock generates, behind AXI4-Lite";
    const RTL: LinkedRtl<Inputs, Outputs> = rtl::RTL;
    const PROFILES: &'static [Profile] = &[Profile::new("spec", Parameters::of::<Self>(0))];
    const CASES: u64 = 200;
    const NAMING: Naming = axi_lite::NAMING;
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &[
        "s_axil_awready",
        "s_axil_wready",
        "s_axil_bvalid",
        "s_axil_bresp",
        "s_axil_arready",
        "s_axil_rvalid",
        "s_axil_rdata",
        "s_axil_rresp",
        "cpuif_access",
        "cpuif_is_write",
        "cpuif_addr",
        "cpuif_wr_data",
        "cpuif_wr_biten",
    ];

    type Inputs = Inputs;
    type Outputs = Outputs;
    type Golden = golden::Golden;
    type Traffic = Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = scoreboard::Scoreboard;
    type Weights = Weights;
    type Coverage = Coverage;

    fn fields(port: &str) -> &'static [(&'static str, Field)] {
        match port {
            "hwif_in" => HwifIn::FIELDS,
            "hwif_out" => HwifOut::FIELDS,
            _ => &[],
        }
    }
}

impl Explain for Regblock {}
