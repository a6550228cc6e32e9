//! For build scripts: which RTL becomes models of a program with blocks.
//!
//! The ports that Verilator reports become packed structs `Inputs` and `Outputs`, in C and, through
//! bindgen, in Rust. Each model is compiled into an archive. The program also contains the text of
//! the RTL, so that models with other parameters can be compiled at run time. The crate includes
//! the generated code with `cosim_core::rtl!("arbiter")`.
//!
//! `cosim` does all of that: this crate only says what to build, so that a crate of blocks does not
//! compile the code that reads RTL.

#![warn(missing_docs)]

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// The first word of the command of `cosim` that builds models.
pub const COMMAND: &str = "build-models";
/// The version of this crate, which `cosim` must have, too.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Names the program `cosim`.
const TOOL_VARIABLE: &str = "COSIM_TOOL";

/// What `cosim` is asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`].
    pub version: String,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// A block whose RTL is built.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Block {
    /// The name on the command line.
    pub name: String,
    /// The top module.
    pub top: String,
    /// The clock.
    pub clock: String,
    /// The file of the module around the top.
    pub wrapper: Option<PathBuf>,
    /// The RTL folder.
    pub folder: PathBuf,
    /// Further folders of modules and headers.
    pub include: Vec<PathBuf>,
    /// The files that Verilator is given; none: `<top>.v`.
    pub sources: Vec<PathBuf>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Options of Verilator.
    pub verilator_options: Vec<String>,
    /// The parameter for the mask of fixes.
    pub mask: Option<String>,
    /// The file of a golden model in C or C++.
    pub golden: Option<PathBuf>,
    /// The parameters of each linked model; none: the defaults of the RTL.
    pub models: Vec<BTreeMap<String, u64>>,
}

impl Block {
    /// A block with its name on the command line and its top module. Its RTL is `rtl/<top>.v`;
    /// other modules and headers are searched for in `rtl`.
    pub fn new(name: &str, top: &str) -> Self {
        Self {
            name: name.to_owned(),
            top: top.to_owned(),
            clock: "clk".to_owned(),
            wrapper: None,
            folder: PathBuf::from("rtl"),
            include: Vec::new(),
            sources: Vec::new(),
            defines: Vec::new(),
            verilator_options: Vec::new(),
            mask: None,
            golden: None,
            models: Vec::new(),
        }
    }

    /// Sets the clock, a 1-bit input whose rising edge is active. Default: `clk`.
    #[must_use]
    pub fn clock(mut self, name: &str) -> Self {
        self.clock = name.to_owned();
        self
    }

    /// A file with a module of the file's name that instantiates the top, for RTL whose ports the
    /// harness cannot drive: several clocks, arrays, interfaces. It is part of the RTL that a user
    /// gives, too. `cosim new` writes it.
    #[must_use]
    pub fn wrapper(mut self, file: impl Into<PathBuf>) -> Self {
        self.wrapper = Some(file.into());
        self
    }

    /// Sets the RTL folder, relative to the crate's folder. Default: `rtl`.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Adds a folder of modules and headers, relative to the crate's folder. File names must be
    /// unique across folders, because the program stores the files in one folder.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include.push(folder.into());
        self
    }

    /// Adds an RTL file in one of the folders, replacing the default `<top>.v`.
    #[must_use]
    pub fn source(mut self, file: impl Into<PathBuf>) -> Self {
        self.sources.push(file.into());
        self
    }

    /// Defines a Verilog macro, as `NAME` or `NAME=VALUE`.
    #[must_use]
    pub fn define(mut self, define: &str) -> Self {
        self.defines.push(define.to_owned());
        self
    }

    /// Passes an option to Verilator, with a value behind a space, as in `--unroll-count 512`.
    /// Limits, languages and warnings are accepted; user RTL of the block is compiled with them,
    /// too.
    #[must_use]
    pub fn verilator_option(mut self, option: &str) -> Self {
        self.verilator_options.push(option.to_owned());
        self
    }

    /// Sets the 8-bit parameter for the mask of fixes, if the block has errata.
    #[must_use]
    pub fn mask(mut self, parameter: &str) -> Self {
        self.mask = Some(parameter.to_owned());
        self
    }

    /// Sets the file of a golden model in C or C++, relative to the crate's folder. It implements
    /// the five functions of `NAME_golden.h`, which this crate generates from the ports.
    #[must_use]
    pub fn golden(mut self, file: impl Into<PathBuf>) -> Self {
        self.golden = Some(file.into());
        self
    }

    /// Links a model with these parameter values: every parameter that a profile sets, including
    /// the mask. Other models are compiled on first use. Without this call, the RTL's defaults are
    /// linked.
    #[must_use]
    pub fn model<const N: usize>(mut self, parameters: [(&str, u64); N]) -> Self {
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        self.models.push(parameters.into());
        self
    }
}

/// Builds the models of all blocks. This is the whole `main` of a build script.
pub fn build(blocks: &[Block]) -> ExitCode {
    let tool = env::var_os(TOOL_VARIABLE).filter(|name| !name.is_empty());
    let tool = tool.unwrap_or_else(|| "cosim".into());
    match verilated_by(&tool, blocks) {
        Ok(true) => ExitCode::SUCCESS,
        // `cosim` has said why.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!(
                "error[E0912]: cannot run {}, which builds the models: {error}; install it with \
                 `cargo install cosim --version {VERSION}`, or set {TOOL_VARIABLE} to it",
                PathBuf::from(tool).display()
            );
            ExitCode::FAILURE
        }
    }
}

/// Asks `cosim` for the models. It inherits the environment and standard output, where Cargo reads
/// its instructions.
fn verilated_by(tool: &std::ffi::OsStr, blocks: &[Block]) -> io::Result<bool> {
    let request = Request { version: VERSION.to_owned(), blocks: blocks.to_vec() };
    let request = serde_json::to_vec(&request)?;
    let mut child = Command::new(tool).arg(COMMAND).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that ends early says why, and its exit code counts.
        let _ = stdin.write_all(&request);
    }
    Ok(child.wait()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// Have models been built only if the tool ends by itself and says so?
    #[test]
    fn a_tool_that_fails_or_is_killed_has_built_nothing() {
        let tool = env::temp_dir().join(format!("cosim-tool-{}", std::process::id()));
        for (line, is_built) in [("exit 0", true), ("exit 3", false), ("kill -9 $$", false)] {
            fs::write(&tool, format!("#!/bin/sh\n{line}\n")).unwrap();
            fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(verilated_by(tool.as_os_str(), &[]).unwrap(), is_built, "{line}");
        }
        fs::remove_file(tool).unwrap();
    }
}
