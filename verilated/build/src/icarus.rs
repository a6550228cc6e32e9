//! Icarus Verilog, for four-state simulation.

use crate::{DataFile, Error, Kept, SourceFile, tool};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use verilated_files::foreign::lay_out;
use verilated_files::{Hash, KeptFile, attached};

/// A simulation of files in one folder. Icarus looks for included files in its working directory
/// first, so all names begin at `folder`, where names with `..` mean files of the copy.
#[derive(Debug, Clone, Default)]
pub struct Simulation {
    /// The top module.
    pub top: String,
    /// All files.
    pub files: Vec<SourceFile>,
    /// The working directory of Icarus, in which it searches for files and modules.
    pub folder: PathBuf,
    /// The files passed to Icarus, which searches for the others. Relative to `folder`.
    pub sources: Vec<PathBuf>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Endings of files searched for modules, besides `.v` and `.sv`.
    pub extensions: Vec<String>,
    /// Files that the RTL opens by constant names at run time.
    pub data: Vec<DataFile>,
}

/// An installed Icarus Verilog.
#[derive(Debug, Clone)]
pub struct Icarus {
    program: PathBuf,
    version: String,
}

impl Icarus {
    /// The compiler named by the environment variable `IVERILOG`, otherwise `iverilog` on `PATH`.
    ///
    /// # Errors
    /// [`Error::IcarusMissing`].
    pub fn find() -> Result<Self, Error> {
        let program = env::var_os("IVERILOG").filter(|name| !name.is_empty());
        let program = program.map_or_else(|| PathBuf::from("iverilog"), PathBuf::from);
        let mut command = Command::new(&program);
        command.arg("-V");
        let output = tool::messages(command).map_err(missing)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        Ok(Self { program, version })
    }

    /// The compiled simulation as a `vvp` file. Compiles it unless it is cached.
    ///
    /// # Errors
    /// [`Error::Compile`] with Icarus's message.
    pub fn compiled(&self, simulation: &Simulation, kept: &Kept) -> Result<PathBuf, Error> {
        let Simulation { top, files, folder, sources, defines, extensions, data } = simulation;
        let mut hash = Hash::default();
        hash.add(&self.version);
        hash.add(top);
        for file in files {
            hash.add(file.name.as_os_str().as_encoded_bytes());
            hash.add(&file.text);
        }
        let lists: [Vec<OsString>; 4] = [
            vec![folder.into()],
            sources.iter().map(Into::into).collect(),
            defines.iter().map(Into::into).collect(),
            extensions.iter().map(Into::into).collect(),
        ];
        for list in &lists {
            hash.add(list.len().to_le_bytes());
            list.iter().for_each(|text| hash.add(text.as_encoded_bytes()));
        }
        hash.add(format!("{data:?}"));
        let name = format!("{top}-{}.vvp", hash.hex());
        let about = format!("{top}, {}", self.version);
        let made = kept.obtain(&name, &about, |work, result| {
            let root = lay_out(&work.join("files"), files.iter().map(SourceFile::named))?;
            let mut command = Command::new(&self.program);
            command.current_dir(root.join(folder)).args(["-g2012", "-s", top, "-o"]);
            command.arg(std::path::absolute(result).map_err(Error::io(result))?);
            command.args(["-I", ".", "-y", "."]);
            for ending in [".v", ".sv"].into_iter().chain(extensions.iter().map(String::as_str)) {
                command.arg("-Y").arg(ending);
            }
            command.args(defines.iter().map(|define| format!("-D{define}")));
            self.run(command, sources, top)?;
            let texts =
                data.iter().filter_map(|file| Some((file.name.as_str(), &**file.text.as_ref()?)));
            Ok(attached::attach(texts, result)?)
        });
        made.map(|kept: KeptFile| kept.path().to_owned())
    }

    fn run(&self, mut command: Command, sources: &[PathBuf], top: &str) -> Result<(), Error> {
        let output = tool::messages({
            // A file name may begin with `-`.
            command.args(sources.iter().map(|source| Path::new(".").join(source)));
            command
        })?;
        if output.status.success() {
            return Ok(());
        }
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::Compile { what: format!("{top} with Icarus"), message: printed })
    }
}

/// A program that cannot be run counts as missing.
fn missing(error: Error) -> Error {
    match error {
        Error::Program { program, source } => {
            Error::IcarusMissing { tried: format!("`{program}`: {source}") }
        }
        other => other,
    }
}
