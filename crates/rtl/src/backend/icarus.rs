//! Icarus Verilog: four values, in a process of its own for each case.

use super::{Backend, Feature, ModelRequest, RtlModels as _};
use crate::fourvalue;
use cosim_base::error::Error;
use cosim_block::built::Built;
use cosim_block::driven::check_cycle_exact;

/// Icarus Verilog. Its simulations do not depend on the view.
pub struct Icarus;

impl Backend for Icarus {
    fn build(&self, model: &ModelRequest<'_>) -> Result<Built, Error> {
        let info = model.info;
        check_cycle_exact(info.name, info.transaction_outputs, "simulation with four values")?;
        let examined = model.rtl.examined(info)?;
        let simulation = fourvalue::simulation(info, &examined, model.parameters)?;
        let icarus = verilated_build::Icarus::find()?;
        Ok(Built::Icarus(icarus.compiled(&simulation, &(model.kept)()?)?))
    }

    fn conflict(&self, _: Feature) -> Option<&'static str> {
        Some("--simulator icarus")
    }
}
