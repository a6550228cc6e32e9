//! `cosim new`.

use super::options::{Verilog, path};
use super::{interruption, print_text};
use crate::skeleton::{CrateName, GeneratedCrate, Reset, Skeleton, Source};
use clap::Args;
use cosim_base::error::Error;
use cosim_rtl::models::Rtl;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to write.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the crate, of its block and of the new folder.
    name: CrateName,
    /// Top module of the RTL.
    #[arg(long, value_name = "MODULE", value_parser = module)]
    top: String,
    /// Verilog files, or folders with Verilog files.
    #[arg(required_unless_present = "list", value_name = "RTL", value_parser = path)]
    rtl: Vec<PathBuf>,
    #[command(flatten)]
    verilog: Verilog,
    /// Clock input, active on its rising edge [default: clk, clk_i, clock or similar].
    #[arg(long, value_name = "NAME")]
    clock: Option<String>,
    /// Reset input and its value in reset [default: rst, reset, rst_n or similar, if any; 0 if the name ends in n].
    #[arg(long, value_name = "NAME[=VALUE]")]
    reset: Option<Reset>,
    /// Checkout of cosim on which the crate depends [default: the one of this build if it exists, else a release].
    #[arg(long, value_name = "DIR", value_parser = path)]
    cosim: Option<PathBuf>,
}

/// Parses a module name that is valid in Verilog and Rust.
fn module(text: &str) -> Result<String, String> {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_name = text.starts_with(is_letter)
        && text.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit());
    let message = "expected a module name of letters, digits and _";
    if is_name { Ok(text.to_owned()) } else { Err(message.to_owned()) }
}

/// Writes the crate.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let _interrupted = interruption()?;
    let source = arguments.cosim.as_deref().map_or_else(|| Ok(Source::own()), Source::of)?;
    let skeleton = Skeleton {
        name: arguments.name.clone(),
        top: arguments.top.clone(),
        rtl: Rtl {
            paths: arguments.rtl.clone(),
            include: arguments.verilog.include.clone(),
            defines: arguments.verilog.define.clone(),
            lists: arguments.verilog.list.clone(),
            ..Rtl::default()
        },
        source,
        clock: arguments.clock.clone(),
        reset: arguments.reset.clone(),
    };
    let GeneratedCrate { folder, ports, reset } = skeleton.write(Path::new("."))?;
    let reset = match reset {
        Some((name, is_high)) => format!("reset {name}, {} in reset", u8::from(is_high)),
        None => "no reset; see its README.md".to_owned(),
    };
    print_text(&format!(
        "wrote {}: clock {}, {reset}, {} inputs and {} outputs of module {}\n\
         next: cd {} && cargo run --release -- run; README.md says what to write",
        folder.display(),
        ports.clock,
        ports.inputs.len(),
        ports.outputs.len(),
        arguments.top,
        folder.display(),
    ))?;
    Ok(ExitCode::SUCCESS)
}
