//! A register block that PeakRDL-regblock generates from `regblock.rdl`. `README.md` says what is
//! specified where.

mod golden;
mod registers;
mod scoreboard;
pub mod types;

use cosim_core::agents::AddressWeights;
use cosim_core::agents::axi_lite::{self, AxiLiteManager, AxiLiteWeights};
use cosim_core::agents::fields::FieldDriver;
use cosim_core::value::Uint;
use types::{HwifIn, HwifOut};

cosim_core::declare! {
    rtl "regblock";
    reset rst high;
    agent axi: AxiLiteManager on "s_axil_"
        with AxiLiteWeights {
            // The registers, and two addresses without one.
            addresses: AddressWeights { size: Uint::new(0x30), ..AddressWeights::default() },
            ..AxiLiteWeights::default()
        }
        unless "responses" |at, _| (at[1] == 2).then_some("errors have the response SLVERR");
    agent hardware: FieldDriver[HwifIn] on hwif_in;
    golden golden::Golden;
    scoreboard scoreboard::Scoreboard;
    transactions
        s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_bresp, s_axil_arready, s_axil_rvalid,
        s_axil_rdata, s_axil_rresp, cpuif_access, cpuif_is_write, cpuif_addr, cpuif_wr_data,
        cpuif_wr_biten;
    naming axi_lite::NAMING;
    fields hwif_in = HwifIn::FIELDS, hwif_out = HwifOut::FIELDS;
    cases 200;
    block Regblock =
        "regblock": "registers that PeakRDL-regblock generates, behind AXI4-Lite";
}
