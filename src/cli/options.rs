//! Options that mean the same everywhere.

use crate::blocks;
use crate::engine::AnyBlock;
use crate::error::Error;
use crate::harness::{self, Overrides, Profile};
use crate::models::Rtl;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Under which fixes, and with which other parameters of the RTL.
#[derive(Debug, Clone, Args)]
pub struct Choice {
    /// Fixes of the source's errata, as a profile (spec, repaired, ...), all profiles, or a mask like 0x5a
    /// [default: all, or what the vector names].
    #[arg(long, value_name = "PROFILE|MASK")]
    pub fixes: Option<String>,
    /// Another value of a parameter of the RTL, in each of the profiles; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    parameter: Vec<String>,
}

impl Choice {
    /// The other values of parameters.
    ///
    /// # Errors
    /// [`Error::Usage`] if one is not NAME=VALUE.
    pub fn overrides(&self) -> Result<Overrides, Error> {
        harness::overrides(self.parameter.iter().map(String::as_str))
            .map_err(|error| Error::Usage(format!("--parameter: {error}")))
    }
}

/// Which block, under which fixes, from which RTL.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// The block [default: thread2].
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// Another RTL of the block, compiled and loaded at run time: a Verilog file or a folder.
    #[arg(long, value_name = "DIR|FILE")]
    pub rtl: Option<PathBuf>,
}

impl Target {
    /// The block.
    pub fn block(&self) -> Result<&'static dyn AnyBlock, Error> {
        find_block(self.block.as_deref().unwrap_or("thread2"))
    }

    /// The block and the profiles of a case's name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are none of that name, or if the options say otherwise.
    pub fn of_case(
        &self,
        block: &str,
        profile: &str,
    ) -> Result<(&'static dyn AnyBlock, Vec<Profile>), Error> {
        let clash = |option: &str, given: &Option<String>, named: &str| match given {
            Some(given) if given != named => {
                let message =
                    format!("--case names {named}, {option} says {given}; leave {option} out");
                Err(Error::Usage(message))
            }
            _ => Ok(()),
        };
        clash("--block", &self.block, block)?;
        clash("--fixes", &self.choice.fixes, profile)?;
        if !self.choice.parameter.is_empty() {
            let message = "--case names the parameters; leave --parameter out";
            return Err(Error::Usage(message.to_owned()));
        }
        let block = find_block(block)?;
        let profiles = Profile::parse(profile, block.profiles())
            .map_err(|error| Error::Usage(format!("--case: {error}")))?;
        Ok((block, profiles))
    }

    /// The profiles, as the block knows them.
    ///
    /// # Errors
    /// [`Error::Usage`] if it knows none of that name, or no such parameters.
    pub fn profiles(&self, block: &dyn AnyBlock) -> Result<Vec<Profile>, Error> {
        let all = block.profiles();
        let chosen = Profile::parse(self.choice.fixes.as_deref().unwrap_or("all"), all)
            .map_err(|error| Error::Usage(format!("--fixes: {error}")))?;
        Profile::with_overrides(&chosen, &self.choice.overrides()?, all)
            .map_err(|error| Error::Usage(format!("--parameter: {error}")))
    }

    /// The RTL.
    pub fn rtl(&self) -> Rtl {
        self.rtl.clone().map_or(Rtl::BuiltIn, Rtl::Path)
    }
}

/// The block of a name.
pub fn find_block(name: &str) -> Result<&'static dyn AnyBlock, Error> {
    blocks::find(name).ok_or_else(|| {
        let names: Vec<&str> = blocks::ALL.iter().map(|block| block.name()).collect();
        Error::Usage(format!("`{name}` is no block: expected {}", names.join(", ")))
    })
}

/// How long a model may take.
#[derive(Debug, Clone, Copy, Args)]
pub struct Patience {
    /// A model that does not return for so long hangs.
    #[arg(long, value_name = "DURATION", default_value = "60s",
          value_parser = humantime::parse_duration)]
    pub stuck_after: Duration,
}

/// A file that is to be written can be: checked before the work that leads to it.
///
/// # Errors
/// [`Error::File`] with the reason.
pub fn check_output(path: &Path) -> Result<(), Error> {
    let refuse =
        |message: &str| Err(Error::File { path: path.to_owned(), message: message.to_owned() });
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        return refuse("is a folder, expected the name of a file to write");
    }
    match folder {
        Some(folder) if !folder.is_dir() => refuse("cannot be written: its folder does not exist"),
        _ => Ok(()),
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}
