//! `cosim worker`: runs models for the other commands.

use clap::Args;
use cosim_base::error::Error;
use cosim_regress::worker::serve::{Settings, serve};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a worker is started with. For the program itself, not for its users.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The process that started it.
    #[arg(long)]
    parent: i32,
    /// Address space in bytes.
    #[arg(long)]
    memory: Option<u64>,
    /// Put no restrictions on the process.
    #[arg(long)]
    no_sandbox: bool,
    /// A folder in which files may be written.
    #[arg(long)]
    writable: Vec<PathBuf>,
    /// Programs simulate models.
    #[arg(long)]
    simulated: bool,
}

/// Serves requests until there are no more.
///
/// # Errors
/// As [`serve`].
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { parent, memory, no_sandbox, writable, simulated } = arguments;
    serve(&Settings {
        parent: *parent,
        memory: *memory,
        no_sandbox: *no_sandbox,
        writable: writable.clone(),
        simulated: *simulated,
    })
}
