//! `cosim suspects`: the suspicious lines of failing vectors, for `scripts/suspects`.

use super::options::{ModelLimits, VectorRtl, VectorTarget, path};
use super::replay::load;
use super::{interruption, print_json};
use clap::Args;
use cosim_base::error::Error;
use cosim_regress::suspects::suspicious_lines;
use cosim_regress::worker::OneShotWorker;
use cosim_regress::worker::one_shot::VectorJob;
use std::path::PathBuf;
use std::process::ExitCode;

/// The vector.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A vector that fails.
    #[arg(value_name = "VECTOR", value_parser = path)]
    vector: PathBuf,
    #[command(flatten)]
    target: VectorTarget,
    #[command(flatten)]
    rtl: VectorRtl,
    #[command(flatten)]
    limits: ModelLimits,
}

/// Prints the lines as JSON, for each profile of the vector.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let vector = load(&arguments.vector, arguments.target.block.as_deref())?;
    let rtl = arguments.rtl.of_vector(&arguments.vector, &vector.loaded)?;
    let choice = &arguments.target.choice;
    let profiles = vector.loaded.profiles(choice.fixes.as_deref(), &choice.overrides()?)?;
    let worker = OneShotWorker::new(arguments.limits.program()?, interruption()?);
    let (block, file) = (vector.block, &vector.file);
    let lines =
        |profile| suspicious_lines(&worker, &VectorJob { block, vector: file, profile, rtl: &rtl });
    print_json(&profiles.iter().map(lines).collect::<Result<Vec<_>, _>>()?)?;
    Ok(ExitCode::SUCCESS)
}
