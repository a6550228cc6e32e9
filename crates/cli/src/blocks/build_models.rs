//! `cosim build-models`: builds the models of a crate of blocks, for its build script.

use cosim_base::error::{Error, codes};
use cosim_build::{Request, VERSION};
use std::io::{self, Read as _};
use std::process::ExitCode;

/// Largest request in bytes.
const MOST: u64 = 1 << 20;

/// Builds what standard input asks for. Standard output is for Cargo, and the environment is that
/// of a build script.
pub fn execute() -> Result<ExitCode, Error> {
    let wrong = |why: String| {
        let message = format!("`{}` is for build scripts only: {why}", cosim_build::COMMAND);
        Error::Usage(codes::COMMAND_LINE, message)
    };
    let mut text = String::new();
    let read = io::stdin().take(MOST).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    let request: Request = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if request.version != VERSION {
        let message = format!(
            "the crate has cosim-build {}, and this is cosim {VERSION}; change the version in its \
             Cargo.toml, or install the other `cosim`",
            request.version
        );
        return Err(Error::Environment(codes::VERSIONS_DIFFER, message));
    }
    Ok(cosim_models::build(&request.blocks))
}
