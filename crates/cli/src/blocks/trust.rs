//! `cosim trust`, and the question before a crate is built for the first time.
//!
//! Building a crate runs its build script, its macros and then its program with the user's rights.
//! A crate may come with a checkout of anyone, so the user says once that it may run.

mod inputs;
mod store;

use crate::blocks::{cargo, located};
use crate::print_text;
use crate::terminal::options::path;
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
pub use inputs::Inputs;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Place;

/// Which crate.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder of the crate, or a folder below it [default: the working directory].
    #[arg(value_name = "FOLDER", value_parser = path)]
    folder: Option<PathBuf>,
    /// Trust the crate no longer.
    #[arg(long)]
    revoke: bool,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = arguments.folder.as_deref().unwrap_or(Path::new("."));
    let from = std::fs::canonicalize(folder).map_err(|error| Error::unreadable(folder, &error))?;
    let manifest = located::manifest(&from)?.ok_or_else(|| located::no_blocks(folder))?;
    let folder = manifest.parent().unwrap_or(Path::new("."));
    if arguments.revoke {
        Place::from_folder(folder)?.remove_trust()?;
        print_text(&format!("no longer trusted: {}", text::path(folder)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let inputs = Inputs::find_inputs(folder)?;
    Place::from_folder(folder)?.remember()?;
    print_text(&format!("trusted: {}", inputs.describe()))?;
    Ok(ExitCode::SUCCESS)
}

/// What Cargo reads of a crate that the user trusts. Asks for a crate that is not trusted yet.
///
/// # Errors
/// [`Error::Usage`] if the user does not trust the crate. As [`Inputs::find_inputs`].
pub fn trusted(folder: &Path) -> Result<Inputs, Error> {
    let inputs = Inputs::find_inputs(folder)?;
    let place = Place::from_folder(folder)?;
    if place.is_remembered() {
        return Ok(inputs);
    }
    program::show(&format!(
        "The crate here was never built for you. Its build script, macros and program would run with \
         your rights:\n  {}\n",
        inputs.describe().replace('\n', "\n  ")
    ));
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        program::show("Trust it, now and later? [y/N] ");
        let mut answer = String::new();
        let read =
            crate::terminal::progress::suspended(|| io::stdin().lock().read_line(&mut answer));
        read.map_err(|error| Error::unreadable(Path::new("standard input"), &error))?;
        if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
            place.remember()?;
            return Ok(inputs);
        }
    }
    let (name, folder) = (program::name(), text::path(folder));
    let message =
        format!("{folder}: the crate is not trusted; run `{name} trust {folder}` if you trust it");
    Err(Error::Usage(codes::CRATE_UNTRUSTED, message))
}

/// Formats the sources of a crate that this program has just written as the user's toolchain does,
/// if it can, and remembers the crate.
pub fn finish_new(folder: &Path) {
    if let Ok(folder) = fs::canonicalize(folder) {
        let mut rustfmt = cargo::command("rustfmt", None);
        rustfmt.args(["--quiet", "--edition", "2024"]);
        rustfmt.args(["build.rs", "src/lib.rs"].map(|file| folder.join(file)));
        let _ = verilated_build::messages(rustfmt);
    }
    if let Err(error) = Place::from_folder(folder).and_then(|place| place.remember()) {
        program::warn(format_args!("the new crate is not trusted yet: {error}"));
    }
}
