//! A vector as commands use it: everything but its stimulus.

use crate::blocks::BlockHandle;
use cosim_base::error::{Error, codes};
use cosim_block::driven::{DrivenPins, check_cycle_exact};
use cosim_block::engine::Query;
use cosim_block::rtl::Rtl;
use cosim_block::vector::{Origin, VectorFile, VectorHead, own_profiles};
use cosim_harness::harness::{Overrides, Profile, Verdict};
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::export::{Language, Testbench};
use cosim_rtl::models::Examined;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// A vector that its block accepts.
pub struct LoadedVector {
    block: &'static BlockHandle,
    file: VectorFile,
    head: VectorHead,
}

impl Debug for LoadedVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedVector").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl LoadedVector {
    /// Checks a vector of a block.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`].
    pub fn new(block: &'static BlockHandle, file: &VectorFile) -> Result<Self, Error> {
        block.query::<()>(&Query::Check(file.clone()))?;
        Ok(Self { block, head: file.head()?, file: file.clone() })
    }

    /// The profiles for a replay: those given, otherwise its own, with parameter overrides.
    ///
    /// # Errors
    /// [`Error::Usage`] or [`Error::File`] for an unknown profile or an illegal value.
    pub fn profiles(
        &self,
        given: Option<&str>,
        overrides: &Overrides,
    ) -> Result<Vec<Profile>, Error> {
        let VectorHead { fixes, parameters, .. } = &self.head;
        let known = self.block.info().profiles;
        let chosen = match given {
            Some(given) => Profile::parse_beside(given, parameters, known).map_err(|error| {
                Error::Usage(codes::UNKNOWN_PROFILE, format!("--fixes: {error}"))
            })?,
            None => own_profiles(&self.file, fixes, parameters, known)?,
        };
        Profile::with_overrides(&chosen, overrides, known)
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }

    pub fn block(&self) -> &'static BlockHandle {
        self.block
    }

    /// Its purpose, in one line.
    pub fn about(&self) -> &str {
        &self.head.origin.about
    }

    pub fn origin(&self) -> &Origin {
        &self.head.origin
    }

    pub fn recorded(&self) -> Option<&Verdict> {
        self.head.recorded.as_ref()
    }

    pub fn examine(&self, rtl: &Rtl) -> Result<Arc<Examined>, Error> {
        rtl.examined(self.block.info())
    }

    /// Checks that RTL which lacks a parameter is used with a single profile.
    pub fn check_profiles(&self, rtl: &Rtl, profiles: &[Profile]) -> Result<(), Error> {
        rtl.check_profiles(self.block.info(), profiles)
    }

    /// Its testbench for an RTL. `recorded` are the pins of a block whose stimulus follows the RTL.
    ///
    /// # Errors
    /// As [`Testbench::new`]. [`Error::Usage`] if there is no golden model, or if the stimulus
    /// follows the RTL and there are no recorded pins.
    pub fn testbench(
        &self,
        profile: &Profile,
        rtl: &Rtl,
        language: Language,
        recorded: Option<&DrivenPins>,
    ) -> Result<Testbench, Error> {
        let info = self.block.info();
        if !info.is_written() {
            let message = format!(
                "block {} has no golden model yet, so there are no expected outputs; {}",
                info.name,
                info.to_write()
            );
            return Err(Error::Usage(codes::NO_GOLDEN_MODEL, message));
        }
        if recorded.is_none() {
            let outputs = info.transaction_outputs;
            check_cycle_exact(info.name, outputs, "a testbench without the RTL")?;
        }
        let name = self.file.path.file_stem().unwrap_or_default().to_string_lossy();
        let title = format!("Case {name} of block {}, profile {}", info.name, profile.name);
        let examined = rtl.examined(info)?;
        let golden;
        let pins = match recorded {
            Some(pins) => pins,
            None => {
                let query = Query::Drive(self.file.clone(), profile.name.to_string());
                golden = self.block.query(&query)?;
                &golden
            }
        };
        Testbench::new(&title, info, profile, &examined, language, pins, recorded.is_some())
    }
}
