//! The simulators of an RTL: the only place of the tool that tells them apart.
//!
//! A [`Backend`] builds models, which runners of the program with the blocks load: see
//! `engine/runner.rs` of `cosim_block`. The netlist of an RTL has a backend of its own, which hands
//! the netlist to the simulator.

mod icarus;
mod netlist;
mod verilator;

use crate::models::{Examined, RtlModels as _, View};
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::rtl::{Rtl, Simulator};
use cosim_harness::harness::{BlockInfo, Parameters};
pub(crate) use netlist::netlist;
use std::fmt;
use std::sync::Arc;
use verilated_build::Kept;

/// The model that a backend builds.
#[derive(Clone)]
pub struct ModelRequest<'a> {
    /// The block.
    pub info: &'static BlockInfo,
    /// The RTL.
    pub rtl: &'a Rtl,
    /// Its parameters.
    pub parameters: &'a Parameters,
    /// How it is built.
    pub view: View,
    /// Opens the cache of models, which a linked model does not need.
    pub kept: &'a dyn Fn() -> Result<Kept, Error>,
    /// The netlist that replaces the RTL.
    pub netlist: Option<Arc<Examined>>,
}

impl ModelRequest<'_> {
    /// The RTL that is simulated: itself, or its netlist.
    pub(crate) fn simulated(&self) -> Result<Arc<Examined>, Error> {
        self.netlist.as_ref().map_or_else(|| self.rtl.examined(self.info), |it| Ok(Arc::clone(it)))
    }
}

/// A simulator of an RTL.
pub trait Backend {
    /// Builds a model, unless it is linked in or cached. It is not loaded.
    ///
    /// # Errors
    /// As [`RtlModels::build`](crate::models::RtlModels::build).
    fn build(&self, model: &ModelRequest<'_>) -> Result<Built, Error>;

    /// The option to leave out for this feature; `None` if it is supported.
    fn conflict(&self, feature: Feature) -> Option<&'static str>;
}

/// A feature that not every backend supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Assertions that are checked during simulation.
    Assertions,
    /// Code coverage.
    Coverage,
    /// Mutants of the RTL.
    Mutants,
    /// Proofs, which are independent of the simulator.
    Proofs,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Assertions => "--assertions",
            Self::Coverage => "--coverage",
            Self::Mutants => "mutation analysis",
            Self::Proofs => "proofs",
        })
    }
}

/// The backend that simulates an RTL.
pub fn backend_of(rtl: &Rtl) -> Box<dyn Backend> {
    let simulator: Box<dyn Backend> = match rtl.simulator {
        Simulator::Verilator => Box::new(verilator::Verilator),
        Simulator::Icarus => Box::new(icarus::Icarus),
    };
    if rtl.netlist { Box::new(netlist::Netlist(simulator)) } else { simulator }
}

/// Rejects an RTL whose backend does not support a feature.
///
/// # Errors
/// [`Error::Usage`] with the option to leave out.
pub fn check(rtl: &Rtl, feature: Feature) -> Result<(), Error> {
    backend_of(rtl).conflict(feature).map_or(Ok(()), |option| {
        let message = format!("{option} does not work with {feature}; leave it out");
        Err(Error::Usage(codes::OPTIONS_CONFLICT, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_names_the_option_to_leave_out() {
        let (icarus, netlist) = (Some("--simulator icarus"), Some("--netlist"));
        for (simulator, is_netlist, conflicts) in [
            (Simulator::Verilator, false, [None, None]),
            (Simulator::Icarus, false, [icarus, icarus]),
            (Simulator::Verilator, true, [None, netlist]),
            (Simulator::Icarus, true, [icarus, icarus]),
        ] {
            let rtl = Rtl { simulator, netlist: is_netlist, ..Rtl::default() };
            let found = [Feature::Coverage, Feature::Mutants]
                .map(|feature| backend_of(&rtl).conflict(feature));
            assert_eq!(found, conflicts, "{rtl:?}");
        }
    }
}
