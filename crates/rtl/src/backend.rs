//! The simulators of an RTL: the only place of the tool that tells them apart.
//!
//! A [`Backend`] builds models, which runners of the program with the blocks load: see
//! `engine/runner.rs` of `cosim_block`.

mod icarus;
mod verilator;

use crate::models::View;
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::rtl::{Rtl, Simulator};
use cosim_harness::harness::{BlockInfo, Parameters};
use std::fmt;
use verilated_build::Kept;

#[derive(Clone)]
pub struct ModelRequest<'a> {
    pub info: &'static BlockInfo,
    pub rtl: &'a Rtl,
    pub parameters: &'a Parameters,
    pub view: View,
    /// Opens the cache of models, which a linked model does not need.
    pub kept: &'a dyn Fn() -> Result<Kept, Error>,
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
    Coverage,
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

pub fn backend_of(rtl: &Rtl) -> Box<dyn Backend> {
    match rtl.simulator {
        Simulator::Verilator => Box::new(verilator::Verilator),
        Simulator::Icarus => Box::new(icarus::Icarus),
    }
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
        for (simulator, conflict) in
            [(Simulator::Verilator, None), (Simulator::Icarus, Some("--simulator icarus"))]
        {
            let rtl = Rtl { simulator, ..Rtl::default() };
            for feature in [Feature::Coverage, Feature::Mutants] {
                assert_eq!(backend_of(&rtl).conflict(feature), conflict, "{rtl:?}");
            }
        }
    }
}
