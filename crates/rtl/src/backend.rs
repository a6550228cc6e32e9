//! The simulators of an RTL: the only place of the tool that tells them apart.
//!
//! [`RtlModels`] examines an RTL. A [`Backend`] builds models of it, which runners of the program
//! with the blocks load: see `engine/runner.rs` of `cosim_block`.

mod icarus;
mod verilator;

use crate::models::{Examined, model_cache};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::built::Built;
use cosim_block::rtl::{Rtl, Simulator};
use cosim_harness::harness::{BlockInfo, Parameters, Profile};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use verilated_build::Kept;
use verilated_build::activity::Activity;
use verilated_runtime::Tracing;

/// How a model is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// For regressions: inputs are registered where that makes no difference.
    Bare,
    /// For a few cases: `Bare`, if it is there, and else a model that behaves like it, compiled in
    /// half the time and slower.
    Quick,
    /// Verilator's model of the unchanged RTL with two evaluations per cycle: the reference.
    Plain,
    /// As `Bare`, with counters of line, branch and toggle coverage.
    Covered,
    /// Inside a top that also holds the golden model's outputs, state and rules, with waves of
    /// both.
    Observed(Tracing),
}

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
    /// As [`RtlModels::build`].
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

/// Results of examining RTL with Verilator, by block and RTL.
type Known = BTreeMap<(&'static str, Rtl), Arc<Examined>>;
static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());

/// Forgets all results of Verilator: the RTL files may have changed.
pub fn forget_examined() {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// What the tool does with a user's RTL.
pub trait RtlModels {
    /// Examines this RTL with Verilator, once: a whole command uses the files as they were then.
    ///
    /// # Errors
    /// As [`Examined::new`].
    fn examined(&self, info: &'static BlockInfo) -> Result<Arc<Examined>, Error>;

    /// A hash of the names and texts of all files of the RTL, including included ones. A copy of
    /// the built-in RTL has the same hash as the original.
    ///
    /// # Errors
    /// As [`Rtl::examined`].
    fn identity(&self, info: &'static BlockInfo) -> Result<String, Error>;

    /// Rejects profiles that differ in a parameter that the RTL does not have.
    ///
    /// # Errors
    /// [`Error::Usage`] if they differ in one; as [`Rtl::examined`].
    fn check_profiles(&self, info: &'static BlockInfo, profiles: &[Profile]) -> Result<(), Error>;

    /// Builds a model of this RTL, unless it is linked in or cached in `kept`. It is not loaded.
    ///
    /// # Errors
    /// [`Error::Build`] with Verilator's or the compiler's message, or if the ports differ from
    /// those that the program was built with.
    fn build(
        &self,
        info: &'static BlockInfo,
        parameters: &Parameters,
        view: View,
        kept: &Kept,
    ) -> Result<Built, Error>;

    /// As [`Rtl::build`], with the cache of the user.
    ///
    /// # Errors
    /// As [`Rtl::build`] and [`model_cache`].
    fn build_for_user(
        &self,
        info: &'static BlockInfo,
        parameters: &Parameters,
        view: View,
    ) -> Result<Built, Error>;
}

impl RtlModels for Rtl {
    fn examined(&self, info: &'static BlockInfo) -> Result<Arc<Examined>, Error> {
        // The lock is held while Verilator runs, so that other threads wait for its result.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (info.name, self.clone());
        if let Some(examined) = known.get(&key) {
            return Ok(Arc::clone(examined));
        }
        let _activity = Activity::start(format!("reading the RTL of {}", info.name));
        let mut examined = Examined::new(info, self)?;
        if self.assertions {
            check(self, Feature::Assertions)?;
            examined = examined.with_assertions(info.name)?;
        }
        let examined = Arc::new(examined);
        for place in &examined.computed {
            program::warn(format_args!(
                "{place}: the RTL computes the name of a file that it opens, so the \
                 contents of that file are not part of the RTL's identity"
            ));
        }
        known.insert(key, Arc::clone(&examined));
        Ok(examined)
    }

    fn identity(&self, info: &'static BlockInfo) -> Result<String, Error> {
        Ok(self.examined(info)?.identity.clone())
    }

    fn check_profiles(&self, info: &'static BlockInfo, profiles: &[Profile]) -> Result<(), Error> {
        let examined = self.examined(info)?;
        let values = |profile: &Profile| profile.parameters.verilog(info.rtl.mask_parameter);
        let Some(first) = profiles.first().map(values) else { return Ok(()) };
        for (index, (name, value)) in first.iter().enumerate() {
            let is_same = |profile: &Profile| values(profile)[index].1 == *value;
            if !examined.parameters.contains(name) && !profiles.iter().all(is_same) {
                let names: Vec<&str> = profiles.iter().map(|profile| &*profile.name).collect();
                return Err(Error::Usage(
                    codes::NO_SUCH_PARAMETER,
                    format!(
                        "module {} of this RTL has no parameter {name}, so it has one behavior; \
                         select the profile that it implements with --fixes: {}, or a mask",
                        info.rtl.top,
                        names.join(", ")
                    ),
                ));
            }
        }
        Ok(())
    }

    fn build(
        &self,
        info: &'static BlockInfo,
        parameters: &Parameters,
        view: View,
        kept: &Kept,
    ) -> Result<Built, Error> {
        let (rtl, kept) = (self, &|| Ok(kept.clone()));
        backend_of(rtl).build(&ModelRequest { info, rtl, parameters, view, kept })
    }

    fn build_for_user(
        &self,
        info: &'static BlockInfo,
        parameters: &Parameters,
        view: View,
    ) -> Result<Built, Error> {
        let (rtl, kept) = (self, &model_cache);
        backend_of(rtl).build(&ModelRequest { info, rtl, parameters, view, kept })
    }
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
