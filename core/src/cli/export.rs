//! `cosim export`.

use super::options::{Choice, GivenRtl, path};
use super::replay::load;
use super::{counted, interruption, print_text};
use crate::error::Error;
use crate::files::{check_free, folder_of, write_below};
use clap::Args;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use tempfile::Builder;

/// What becomes a testbench.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The vector.
    #[arg(value_name = "VECTOR")]
    vector: PathBuf,
    /// The folder that is written, new or empty.
    #[arg(short, long, value_name = "DIR", value_parser = path)]
    out: PathBuf,
    /// The block the vector must be of [default: whichever it names].
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    rtl: GivenRtl,
}

/// Writes the testbench.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let _interrupted = interruption()?;
    let out = &arguments.out;
    check_free(out)?;
    let vector = load(&arguments.vector, arguments.block.as_deref())?;
    let (fixes, overrides) = (arguments.choice.fixes.as_deref(), arguments.choice.overrides()?);
    let profiles = vector.loaded.profiles(fixes, &overrides)?;
    let [profile] = &profiles[..] else {
        let message = "the vector names several profiles: choose one with --fixes";
        return Err(Error::Usage(message.to_owned()));
    };
    let rtl = arguments.rtl.of_vector(&arguments.vector, &*vector.loaded)?;
    vector.loaded.check_profiles(&rtl, &profiles)?;
    let testbench = vector.loaded.testbench(profile, &rtl)?;
    let around = folder_of(out);
    let temporary =
        Builder::new().prefix(".cosim-").tempdir_in(around).map_err(Error::write(around))?;
    let made = temporary.path().join("made");
    for (name, text) in &testbench.files {
        write_below(&made.join(name), text)?;
    }
    // An empty folder is taken over; one that was filled meanwhile is not.
    fs::rename(&made, out).map_err(Error::write(out))?;
    print_text(&format!(
        "wrote {}: {} of module {}, compared with the golden model of profile {}\nnext: cd {} && iverilog -g2012 -s \
         cosim_tb -o cosim_tb.vvp -c files.f && vvp -n cosim_tb.vvp; README.md has other simulators",
        out.display(),
        counted(testbench.cycles, "cycle"),
        testbench.top,
        profile.name,
        out.display(),
    ))?;
    Ok(ExitCode::SUCCESS)
}
