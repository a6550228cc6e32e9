//! Icarus Verilog: four values, in a process of its own for each case.

use super::{Backend, Feature, ModelRequest};
use crate::fourvalue;
use cosim_base::error::Error;
use cosim_block::built::Built;

/// Icarus Verilog. Its simulations do not depend on the view.
pub struct Icarus;

impl Backend for Icarus {
    fn build(&self, model: &ModelRequest<'_>) -> Result<Built, Error> {
        let simulation = fourvalue::simulation(model)?;
        let icarus = verilated_build::Icarus::find()?;
        Ok(Built::Icarus(icarus.compiled(&simulation, &(model.kept)()?)?))
    }

    fn conflict(&self, _: Feature) -> Option<&'static str> {
        Some("--simulator icarus")
    }
}
