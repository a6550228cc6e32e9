//! The RTL that is built into a program of blocks.

use super::leaked;
use super::parameters::Parameters;
use serde::{Deserialize, Serialize};

/// The RTL that is built into the program.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct BuiltInRtl {
    /// The top module.
    pub top: &'static str,
    /// Its clock, as the build script names it.
    pub clock: &'static str,
    /// The wrapper, if the top is one.
    pub wrapper: Option<Wrapper>,
    /// The 8-bit parameter for the mask of fixes; `None` for a block without errata.
    pub mask_parameter: Option<&'static str>,
    /// The files, as (name, text).
    #[serde(deserialize_with = "leaked::list")]
    pub sources: &'static [(&'static str, &'static str)],
    /// The files that the RTL reads while it runs, as (name in the RTL, text).
    #[serde(deserialize_with = "leaked::list")]
    pub data: &'static [(&'static str, &'static [u8])],
    /// The names of the sources on Verilator's command line, in that order. Verilator finds the
    /// others.
    #[serde(deserialize_with = "leaked::list")]
    pub roots: &'static [&'static str],
    /// Macros, as `NAME` or `NAME=VALUE`.
    #[serde(deserialize_with = "leaked::list")]
    pub defines: &'static [&'static str],
    /// Options of Verilator, as in build.rs.
    #[serde(deserialize_with = "leaked::list")]
    pub options: &'static [&'static str],
    /// The file with the properties as assertions, `NAME_sva.sv`, as (name, text). It is no part of
    /// the design.
    pub assertions: Option<(&'static str, &'static str)>,
    /// All parameters of each linked model by name, including the mask.
    #[serde(deserialize_with = "leaked::lists")]
    pub embedded: &'static [&'static [(&'static str, u64)]],
}

/// A module around the one that a user may replace, with ports that the harness can drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapper {
    /// Its file among the sources, which has the name of the module.
    pub file: &'static str,
    /// The module inside.
    pub module: &'static str,
}

impl BuiltInRtl {
    /// The index in `embedded` of the linked model with these parameters, if there is one.
    pub fn linked(&self, parameters: &Parameters) -> Option<usize> {
        let mask = self.mask_parameter.map(|name| (name, u64::from(parameters.fixes())));
        let wanted = || mask.into_iter().chain(parameters.values());
        let is_it = |embedded: &&[(&str, u64)]| {
            embedded.len() == wanted().count() && wanted().all(|value| embedded.contains(&value))
        };
        self.embedded.iter().position(is_it)
    }
}
