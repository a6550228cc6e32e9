//! The netlist that Yosys synthesises, in place of the RTL.

use super::{Backend, Feature, ModelRequest};
use crate::gates;
use crate::models::RtlModels as _;
use cosim_base::error::Error;
use cosim_block::built::Built;
use cosim_block::rtl::Rtl;
use cosim_harness::harness::{BlockInfo, Parameters};
use std::sync::Arc;
use verilated_build::Kept;

/// The simulator of the netlist.
pub struct Netlist(pub Box<dyn Backend>);

impl Backend for Netlist {
    fn build(&self, model: &ModelRequest<'_>) -> Result<Built, Error> {
        let netlist = netlist(model.info, model.rtl, model.parameters, &(model.kept)()?)?;
        self.0.build(&ModelRequest { netlist: Some(Arc::new(netlist.examined())), ..model.clone() })
    }

    fn conflict(&self, feature: Feature) -> Option<&'static str> {
        self.0.conflict(feature).or(match feature {
            Feature::Coverage => None,
            Feature::Assertions | Feature::Mutants | Feature::Proofs => Some("--netlist"),
        })
    }
}

/// Synthesises an RTL, or finds its netlist in the cache.
///
/// # Errors
/// As [`Rtl::examined`](crate::models::RtlModels::examined) and [`gates::netlist`].
pub fn netlist(
    info: &'static BlockInfo,
    rtl: &Rtl,
    parameters: &Parameters,
    kept: &Kept,
) -> Result<gates::Netlist, Error> {
    gates::netlist(info, &*rtl.examined(info)?, parameters, kept)
}
