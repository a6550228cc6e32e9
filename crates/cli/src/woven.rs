//! `cosim woven-bugs`: finds bugs of an RTL that share one model.

use super::options::{ModelLimits, Target, path};
use super::print_json;
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_regress::woven::find_bugs;
use std::path::PathBuf;
use std::process::ExitCode;

/// The bugs.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Patches of the RTL, each with a bug.
    #[arg(required = true, value_parser = path)]
    patches: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    limits: ModelLimits,
}

/// Prints what the default cases say of each bug, as JSON.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let blocks = arguments.target.blocks()?;
    let [block] = blocks.as_slice() else {
        let message = "expected one block; name it with --block".to_owned();
        return Err(Error::Usage(codes::CHOOSE_ONE, message));
    };
    let found = find_bugs(block, &arguments.patches, arguments.limits.program()?);
    let found =
        found.map_err(|failures| Error::Lost(codes::MODEL_CRASHED, failures.to_string()))?;
    print_json(&found)?;
    Ok(ExitCode::SUCCESS)
}
