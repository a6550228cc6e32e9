//! The user's selection of RTL.

use cosim_base::error::{Error, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The simulator.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Simulator {
    /// Two values, in compiled models. The fastest.
    #[default]
    Verilator,
    /// Four values: registers are X before reset, and so is payload without its valid.
    Icarus,
}

impl Simulator {
    /// All simulators.
    pub const ALL: [Self; 2] = [Self::Verilator, Self::Icarus];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verilator => "verilator",
            Self::Icarus => "icarus",
        }
    }

    /// Whether it is the default.
    pub fn is_verilator(&self) -> bool {
        *self == Self::Verilator
    }
}

/// The user RTL, as typed; the default is the built-in RTL.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Rtl {
    /// Verilog files, and folders of them (`--rtl`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Folders searched first for included files and for modules (`-I`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<PathBuf>,
    /// Macros, as `NAME` or `NAME=VALUE` (`-D`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defines: Vec<String>,
    /// Verilog file lists (`-f`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<PathBuf>,
    /// The simulator (`--simulator`).
    #[serde(default, skip_serializing_if = "Simulator::is_verilator")]
    pub simulator: Simulator,
    /// Whether the assertions of `NAME_sva.sv` and of the RTL are checked (`--assertions`).
    #[serde(default, skip_serializing_if = "is_off")]
    pub assertions: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_off(value: &bool) -> bool {
    !value
}

impl Rtl {
    /// The word that names the built-in RTL on the command line.
    pub const BUILT_IN: &str = "built-in";

    /// Whether the sources are the unchanged built-in RTL.
    pub fn is_built_in(&self) -> bool {
        let Self { paths, include, defines, lists, simulator: _, assertions: _ } = self;
        paths.is_empty() && include.is_empty() && defines.is_empty() && lists.is_empty()
    }

    /// Whether it is the built-in RTL, simulated by Verilator.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The command-line arguments that select it.
    pub fn arguments(&self) -> Vec<String> {
        // `--rtl=PATH` is one word, so that a path may begin with `-`.
        let long = |option: &str, path: &Path| format!("{option}={}", path.display());
        let plain = |path: &PathBuf| {
            let text = path.display().to_string();
            if text.starts_with('-') {
                vec![long("--rtl", path)]
            } else {
                vec!["--rtl".to_owned(), text]
            }
        };
        let mut words: Vec<String> = self.paths.iter().flat_map(plain).collect();
        words.extend(self.lists.iter().map(|path| format!("-f{}", path.display())));
        words.extend(self.include.iter().map(|path| format!("-I{}", path.display())));
        words.extend(self.defines.iter().map(|define| format!("-D{define}")));
        if !self.simulator.is_verilator() {
            words.extend(["--simulator".to_owned(), self.simulator.name().to_owned()]);
        }
        if self.assertions {
            words.push("--assertions".to_owned());
        }
        words
    }

    /// [`Rtl::arguments`], quoted for a shell.
    pub fn command_line(&self) -> String {
        command_line(&self.arguments())
    }

    /// The built-in RTL with the same simulator.
    #[must_use]
    pub fn built_in(&self) -> Self {
        let Self { simulator, assertions, .. } = *self;
        Self { simulator, assertions, ..Self::default() }
    }

    /// Checks that all named files still exist.
    ///
    /// # Errors
    /// [`Error::File`] for the first that does not.
    pub fn check_there(&self) -> Result<(), Error> {
        let named = self.paths.iter().chain(&self.include).chain(&self.lists);
        match named.into_iter().find(|path| !path.exists()) {
            Some(path) => Err(Error::File {
                code: codes::RTL_NOT_FOUND,
                path: path.clone(),
                message: "does not exist".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// Joins arguments to a command line, quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
