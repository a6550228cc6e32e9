//! From Verilog to C++.

use crate::{Error, Verilator};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The waveform format a model is built for; a model carries at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tracing {
    /// No trace code: the fastest model.
    #[default]
    Off,
    /// Value change dump.
    Vcd,
    /// GTKWave's compressed format.
    Fst,
}

/// A Verilog design and how it is to be translated.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The top module.
    pub top: String,
    /// Source files given to Verilator; further modules are found in `include`.
    pub sources: Vec<PathBuf>,
    /// Folders searched for `include`d files and for modules.
    pub include: Vec<PathBuf>,
    /// Parameters of the top module, as (name, Verilog literal).
    pub parameters: Vec<(String, String)>,
    /// Class name of the C++ model; distinct for each model in one program.
    pub prefix: String,
    /// Waveform format.
    pub tracing: Tracing,
    /// Line, toggle and user coverage counters.
    pub coverage: bool,
}

/// C++ sources of one model, as Verilator wrote them.
#[derive(Debug, Clone)]
pub struct Verilated {
    /// The folder with all of them.
    pub dir: PathBuf,
    /// The model's class.
    pub prefix: String,
    /// Every C++ file of the model, sorted.
    pub sources: Vec<PathBuf>,
    /// Warnings Verilator printed; empty if none.
    pub warnings: String,
}

impl Verilated {
    /// The header with the model's class.
    pub fn header(&self) -> PathBuf {
        self.dir.join(format!("{}.h", self.prefix))
    }

    /// Every file of the design that Verilator read, included ones too, as absolute paths; not
    /// those of Verilator itself.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn files_read(&self, verilator: &Verilator) -> Result<Vec<PathBuf>, Error> {
        let path = self.dir.join(format!("{}__verFiles.dat", self.prefix));
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let mut files = Vec::new();
        // A source's line is `S <size> <inode> <times> "<path>"`, with a hash before the path in newer
        // versions.
        for line in text.lines().filter(|line| line.starts_with('S')) {
            let Some(file) = line.rsplit('"').nth(1) else { continue };
            let file = std::path::absolute(file).map_err(Error::io(Path::new(file)))?;
            let is_tool = file.file_name().is_some_and(|name| name == "verilator_bin");
            if !is_tool && !file.starts_with(verilator.root()) {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }
}

impl Design {
    /// Translates the design into `dir`, which is emptied first.
    ///
    /// Registers hold what the context's random-reset mode says until they are reset
    /// (`--x-initial unique`), so that a missing reset is seen. Delays are ignored.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message; [`Error::Io`].
    pub fn verilate(&self, verilator: &Verilator, dir: &Path) -> Result<Verilated, Error> {
        if dir.exists() {
            fs::remove_dir_all(dir).map_err(Error::io(dir))?;
        }
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let mut command = Command::new(verilator.program());
        command
            .args(["--cc", "-O3", "--no-timing", "--x-assign", "fast", "--x-initial", "unique"])
            .args(["-Wno-fatal", "--top-module", &self.top, "--prefix", &self.prefix, "--Mdir"])
            .arg(dir);
        match self.tracing {
            Tracing::Off => {}
            Tracing::Vcd => drop(command.arg("--trace")),
            Tracing::Fst => drop(command.arg("--trace-fst")),
        }
        if self.coverage {
            command.arg("--coverage");
        }
        for (name, value) in &self.parameters {
            command.arg(format!("-G{name}={value}"));
        }
        for folder in &self.include {
            command.arg(format!("-I{}", folder.display()));
        }
        let output =
            command.args(&self.sources).output().map_err(Error::io(verilator.program()))?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            let output = if messages.trim().is_empty() {
                format!("Verilator ended with {} and said nothing", output.status)
            } else {
                messages
            };
            return Err(Error::Verilate { top: self.top.clone(), output });
        }
        Ok(Verilated {
            dir: dir.to_owned(),
            prefix: self.prefix.clone(),
            sources: cpp_files(dir)?,
            warnings: messages,
        })
    }
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
