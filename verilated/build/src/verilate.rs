//! Translates Verilog to C++ with Verilator.

use crate::options::{TURNED_ON, of_newer};
use crate::tool::{self, ALL, Keep};
use crate::{Error, VerilatorOption, before_reset};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use verilated_runtime::{Error as RuntimeError, Tracing, Verilator};

/// The widest signal in bits, and the largest memory in words, that a trace contains.
const TRACED: &str = "4096";

/// The version that counts `cover` statements also without assertions.
const COVERS_WITHOUT_ASSERTIONS: &str = "5.006";
/// Kinds of coverage that newer versions of Verilator count, most first.
const NEWER_COVERAGE: [&[&str]; 2] = [&["--coverage-expr", "--coverage-fsm"], &["--coverage-fsm"]];

/// The name of a design's clock, a 1-bit input whose rising edge is active. Default: `clk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock(String);

impl Default for Clock {
    fn default() -> Self {
        Self::from("clk")
    }
}

impl From<&str> for Clock {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file that RTL opens by a constant name. The model embeds its text, so that it reads the hashed
/// text in any working directory.
#[derive(Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its name in the RTL.
    pub name: String,
    /// Its text, or `None` if the file does not exist.
    pub text: Option<Arc<[u8]>>,
}

impl fmt::Debug for DataFile {
    /// Shows a hash instead of the text, because designs are hashed by their debug output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.text.as_ref().map(Sha256::digest);
        f.debug_struct("DataFile").field("name", &self.name).field("hash", &hash).finish()
    }
}

/// A Verilog design and the options for its translation.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The top module.
    pub top: String,
    /// The top's clock.
    pub clock: Clock,
    /// The wrapper, if the top is one.
    pub wrapper: Option<Wrapper>,
    /// Source files passed to Verilator, which searches `include` for further modules.
    pub sources: Vec<PathBuf>,
    /// Folders searched for included files and for modules.
    pub include: Vec<PathBuf>,
    /// Library files, whose modules are used if nothing else declares them.
    pub libraries: Vec<PathBuf>,
    /// Endings of files searched for modules, besides Verilator's own; for example `.vlib`.
    pub extensions: Vec<String>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Further options of Verilator.
    pub options: Vec<VerilatorOption>,
    /// Files that the RTL opens by constant names at run time. The model embeds them.
    pub data: Vec<DataFile>,
    /// The folder for relative paths, or the working directory if `None`.
    pub folder: Option<PathBuf>,
    /// Parameters of the top module, as (name, Verilog literal).
    pub parameters: Vec<(String, String)>,
    /// Class name of the C++ model, unique in a program.
    pub prefix: String,
    /// Waveform format.
    pub tracing: Tracing,
    /// Whether to count lines, branches and toggles.
    pub coverage: bool,
    /// Whether assertions are checked: one that fails stops the model.
    pub assertions: bool,
    /// Whether inputs are to be registered in a top around it, if it behaves the same then.
    pub registered: bool,
    /// Whether to compile fast at the expense of simulation speed: for models of a few cases.
    pub quick: bool,
}

/// A wrapper: its ports are those of the module inside, so a difference between both is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// Its file.
    pub file: PathBuf,
    /// The module that it instantiates.
    pub module: String,
}

impl Wrapper {
    /// The message of Verilator about a connection that does not fit. Elsewhere such a message is a
    /// warning, because RTL has many; a wrapper is generated, and a port of another width would be
    /// cut silently.
    pub fn misfit(&self, messages: &str) -> Option<Error> {
        const KINDS: [&str; 6] = [
            "-WIDTH:",
            "-WIDTHTRUNC:",
            "-WIDTHEXPAND:",
            "-WIDTHXZEXPAND:",
            "-PINMISSING:",
            "-PINNOTFOUND:",
        ];
        let name = self.file.file_name()?.to_str()?;
        let line = messages.lines().find(|line| {
            let is_kind = KINDS.iter().any(|kind| line.contains(kind))
                || (line.starts_with("%Error") && line.contains("in not found: "));
            line.starts_with('%') && is_kind && line.contains(&format!("{name}:"))
        })?;
        let (_, message) = line.split_once(&format!("{name}:"))?;
        let message = message.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim();
        let ports = ["port connection '", "missing pin: '", "in not found: '"];
        let port = ports.iter().find_map(|before| message.split_once(before)?.1.split('\'').next());
        let port = port.map_or_else(String::new, |port| format!("{port}: "));
        let differences = format!("  {port}{message} ({name} connects it)");
        Some(Error::Ports { top: self.module.clone(), differences })
    }
}

/// The C++ sources that Verilator generated for one model.
#[derive(Debug, Clone)]
pub struct Verilated {
    /// Their folder.
    pub dir: PathBuf,
    /// The model's class.
    pub prefix: String,
    /// Every C++ file of the model, sorted.
    pub sources: Vec<PathBuf>,
    /// Verilator's warnings, or an empty string.
    pub warnings: String,
}

impl Verilated {
    /// The header with the model's class.
    pub fn header(&self) -> PathBuf {
        self.dir.join(format!("{}.h", self.prefix))
    }

    /// Every file of the design that Verilator read, including included ones, as named by
    /// Verilator. Excludes Verilator's own files.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn names_read(&self, verilator: &Verilator) -> Result<Vec<PathBuf>, Error> {
        let path = self.dir.join(format!("{}__verFiles.dat", self.prefix));
        let text = tool::written_text(&path)?;
        let mut files = Vec::new();
        // A source's line is `S <size> <inode> <times> "<path>"`. Newer versions add a quoted hash
        // before the path.
        for line in text.lines().filter(|line| line.starts_with('S')) {
            let Some((_, file)) = line.strip_suffix('"').and_then(|line| line.split_once(" \""))
            else {
                continue;
            };
            let file = PathBuf::from(file.split_once("\" \"").map_or(file, |(_, file)| file));
            let is_tool = file.file_name().is_some_and(|name| name == "verilator_bin");
            if !is_tool && !file.starts_with(verilator.root()) {
                files.push(file);
            }
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// As [`names_read`](Self::names_read), as absolute paths.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn files_read(&self, verilator: &Verilator) -> Result<Vec<PathBuf>, Error> {
        let names = self.names_read(verilator)?.into_iter();
        names.map(|file| std::path::absolute(&file).map_err(Error::io(file))).collect()
    }
}

impl Design {
    /// Translates the design into `dir`, which is emptied first.
    ///
    /// Registers start with values according to the context's random-reset mode (`--x-initial
    /// unique`), so that a missing reset shows. Random bits depend on the register's hierarchical
    /// name, not on the surroundings of the design. Delays are ignored.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message, or [`Error::Io`].
    pub fn verilate(&self, verilator: &Verilator, dir: &Path) -> Result<Verilated, Error> {
        if dir.exists() {
            fs::remove_dir_all(dir).map_err(Error::io(dir))?;
        }
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let mut command = self.command(verilator);
        command
            .args(["--cc", "-O3", "--x-assign", "fast", "--x-initial", "unique"])
            .args(["--prefix", &self.prefix, "--Mdir"])
            .arg(dir);
        match self.tracing {
            Tracing::Off => {}
            Tracing::Vcd => drop(command.arg("--trace")),
            Tracing::Fst => drop(command.arg("--trace-fst")),
        }
        if self.tracing != Tracing::Off {
            // By default, Verilator omits signals above 256 bits and memories above 32 words.
            command.args(["--trace-max-width", TRACED, "--trace-max-array", TRACED]);
        }
        command.args(self.semantics());
        let misfit = |messages: &str| self.wrapper.as_ref()?.misfit(messages);
        let messages = match self.counting(verilator, command, dir) {
            Err(Error::Verilate { top, output }) => {
                let other = || Error::Verilate { top, output: output.clone() };
                return Err(misfit(&output).unwrap_or_else(other));
            }
            other => other?,
        };
        if let Some(error) = misfit(&messages) {
            return Err(error);
        }
        let verilated = Verilated {
            dir: dir.to_owned(),
            prefix: self.prefix.clone(),
            sources: cpp_files(dir)?,
            warnings: messages,
        };
        before_reset::name_draws(&verilated, &self.top)?;
        Ok(verilated)
    }

    /// Runs Verilator with the kinds of coverage that it has. Some versions know expressions but
    /// fail with an internal error when an element of a memory is written.
    fn counting(
        &self,
        verilator: &Verilator,
        mut command: Command,
        dir: &Path,
    ) -> Result<String, Error> {
        if !self.coverage {
            return self.run(command);
        }
        // A block that is split may test what a function returns before the call: points are lost.
        command.args(["--coverage-line", "--coverage-toggle", "-fno-split"]);
        // Newer versions leave out `cover` statements together with assertions.
        if self.assertions || verilator.version() == COVERS_WITHOUT_ASSERTIONS {
            command.arg("--coverage-user");
        }
        let words: Vec<OsString> = command.get_args().map(OsString::from).collect();
        for more in NEWER_COVERAGE {
            let mut with = Command::new(command.get_program());
            if let Some(folder) = command.get_current_dir() {
                with.current_dir(folder);
            }
            let known = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
            with.envs(known).args(&words).args(more);
            match self.run(with) {
                Err(Error::Verilate { .. } | Error::VerilatorFailed { .. }) => {
                    // What the failed run wrote is no part of the model.
                    fs::remove_dir_all(dir).map_err(Error::io(dir))?;
                    fs::create_dir_all(dir).map_err(Error::io(dir))?;
                }
                other => return other,
            }
        }
        self.run(command)
    }

    /// The options that change what a model does, besides those of [`command`](Self::command).
    pub(crate) fn semantics(&self) -> Vec<String> {
        let parameters = self.parameters.iter().map(|(name, value)| format!("-G{name}={value}"));
        // Newer Verilators compile assertions unless an option says no.
        let assertions = if self.assertions { "--assert" } else { "--no-assert" };
        std::iter::once(assertions.to_owned()).chain(parameters).collect()
    }

    /// Verilator with the options that every use needs. [`run`](Self::run) adds the sources.
    pub(crate) fn command(&self, verilator: &Verilator) -> Command {
        let mut command = Command::new(verilator.started().unwrap_or(verilator.program()));
        // The options of the design come first: those that cosim relies on win.
        command.args(self.options.iter().flat_map(VerilatorOption::words));
        if !self.options.is_empty() {
            command.args(TURNED_ON);
        }
        command.args(["--no-timing", "-Wno-fatal", "--top-module", &self.top]);
        command.args(of_newer());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for define in &self.defines {
            command.arg(format!("-D{define}"));
        }
        for folder in &self.include {
            command.arg(option("-I", folder));
        }
        for extension in &self.extensions {
            command.arg(format!("+libext+{extension}"));
        }
        for library in &self.libraries {
            command.arg("-v").arg(library);
        }
        command
    }

    /// Runs Verilator on the sources and returns its messages.
    pub(crate) fn run(&self, command: Command) -> Result<String, Error> {
        // A warning may say that a wrapper does not fit.
        let stderr = if self.wrapper.is_some() { ALL } else { Keep::Ends };
        let output = self.output(command, [Keep::Ends, stderr])?;
        Ok(tool::text(output.stderr))
    }

    /// Runs Verilator on the sources and returns its output, if it succeeds.
    pub(crate) fn output(&self, mut command: Command, keep: [Keep; 2]) -> Result<Output, Error> {
        let program = command.get_program().to_owned();
        command.args(&self.sources);
        let output = tool::with_large_stack(command, keep).map_err(|error| match error {
            Error::Program { program, source } => {
                RuntimeError::VerilatorMissing { tried: format!("`{program}`: {source}") }.into()
            }
            other => other,
        })?;
        if output.status.success() {
            return Ok(output);
        }
        let mut messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let top = self.top.clone();
        // Verilator's script says so in other words.
        let fault = output.status.signal().filter(|signal| FAULTS.contains(signal));
        if let Some(signal) = fault {
            messages += &match messages.contains("bad_alloc") {
                true => "%Error: Verilator needs more than half of the memory of the machine\n"
                    .to_owned(),
                false => format!("%Error: Verilator failed, with signal {signal}\n"),
            };
        }
        if messages.trim().is_empty() {
            let output =
                format!("{} ended with {} and printed nothing", program.display(), output.status);
            return Err(Error::VerilatorFailed { top, output });
        }
        if output.status.code().is_none() && fault.is_none()
            || MACHINE.iter().any(|words| messages.contains(words))
        {
            return Err(Error::VerilatorFailed { top, output: messages });
        }
        Err(Error::Verilate { top, output: messages })
    }
}

/// Signals of a fault in Verilator: SIGILL, SIGABRT, SIGFPE and SIGSEGV.
const FAULTS: [i32; 4] = [4, 6, 8, 11];

/// Messages of Verilator and the system about the machine instead of the RTL.
const MACHINE: [&str; 5] =
    ["Can't write", "Cannot write", "Cannot create", "No space left on device", "File too large"];

/// Joins an option and its value without a space.
fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

fn cpp_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        if path.extension().is_some_and(|extension| extension == "cpp") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::DataFile;

    #[test]
    fn designs_with_different_data_differ() {
        let shown =
            |text: &[u8]| format!("{:?}", DataFile { name: "a".into(), text: Some(text.into()) });
        assert_eq!(shown(b"1"), shown(b"1"));
        assert_ne!(shown(b"1"), shown(b"2"));
    }
}
