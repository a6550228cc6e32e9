//! Options that mean the same everywhere.

use crate::blocks;
use crate::engine::AnyBlock;
use crate::error::Error;
use crate::models::Rtl;
use crate::runner::Fixes;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which block, under which fixes, from which RTL.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// The block [default: thread2].
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    /// Fixes of the source's errata: a profile (spec, repaired), all profiles, or a mask like 0x5a
    /// [default: all].
    #[arg(long, value_name = "PROFILE|MASK")]
    fixes: Option<String>,
    /// Another RTL of the block, compiled and loaded at run time: a Verilog file or a folder.
    #[arg(long, value_name = "DIR|FILE")]
    pub rtl: Option<PathBuf>,
}

impl Target {
    /// The block.
    pub fn block(&self) -> Result<&'static dyn AnyBlock, Error> {
        find_block(self.block.as_deref().unwrap_or("thread2"))
    }

    /// The block and the fixes of a case's name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are none of that name, or if the options say otherwise.
    pub fn of_case(
        &self,
        block: &str,
        fixes: &str,
    ) -> Result<(&'static dyn AnyBlock, Vec<Fixes>), Error> {
        let clash = |option: &str, given: &Option<String>, named: &str| match given {
            Some(given) if given != named => {
                let message =
                    format!("--case names {named}, {option} says {given}; leave {option} out");
                Err(Error::Usage(message))
            }
            _ => Ok(()),
        };
        clash("--block", &self.block, block)?;
        clash("--fixes", &self.fixes, fixes)?;
        let block = find_block(block)?;
        let fixes = Fixes::parse(fixes, block.profiles())
            .map_err(|message| Error::Usage(format!("--case: {message}")))?;
        Ok((block, fixes))
    }

    /// The fixes, as the block knows them.
    pub fn fixes(&self, block: &dyn AnyBlock) -> Result<Vec<Fixes>, Error> {
        Fixes::parse(self.fixes.as_deref().unwrap_or("all"), block.profiles())
            .map_err(|message| Error::Usage(format!("--fixes: {message}")))
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
