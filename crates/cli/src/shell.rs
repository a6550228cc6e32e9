//! `cosim completions` and `cosim man`: completions of shells, and manual pages.

use super::options::{heading, path};
use super::{command, print_text};
use clap::Args;
use clap_complete::Shell;
use cosim_base::error::Error;
use cosim_base::program;
use std::path::PathBuf;
use std::process::ExitCode;

/// The shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell that completes the commands.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions.
pub fn completions(arguments: &Completions) -> Result<ExitCode, Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), program::name(), &mut text);
    print_text(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Where manual pages go.
#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for each command into DIR, a folder that exists [default: print the page of the
    /// program].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

/// Prints or writes manual pages.
pub fn man(arguments: &Man) -> Result<ExitCode, Error> {
    let command = command();
    match &arguments.out {
        None => print_text(&page(command)?)?,
        Some(folder) => {
            clap_mangen::generate_to(command, folder).map_err(Error::write(folder))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a command in the format of man.
fn page(command: clap::Command) -> Result<String, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text).map_err(Error::write("standard output"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
