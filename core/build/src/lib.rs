//! For each block, the ports that Verilator reports become packed structs `Inputs` and `Outputs`,
//! in C and, through bindgen, in Rust. Each model is compiled with its shim into an archive. The
//! program also contains the text of the RTL, so that models with other parameters can be compiled
//! at run time. The crate includes the generated code with `cosim_core::rtl!("arbiter")`. Unchanged
//! models are not rebuilt.

mod bindings;
mod error;
mod golden;
mod model;

pub use error::Error;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use verilated_build::sources::{self, Declarations};
use verilated_build::{Clock, Verilator, Wrapper, identity};

/// A block whose RTL is built.
#[derive(Debug, Clone)]
pub struct Block {
    name: String,
    top: String,
    clock: Clock,
    wrapper: Option<PathBuf>,
    folder: PathBuf,
    include: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    defines: Vec<String>,
    mask: Option<String>,
    golden: Option<PathBuf>,
    models: Vec<BTreeMap<String, u64>>,
}

impl Block {
    /// A block with its name on the command line and its top module. Its RTL is `rtl/<top>.v`;
    /// other modules and headers are searched for in `rtl`.
    pub fn new(name: &str, top: &str) -> Self {
        Self {
            name: name.to_owned(),
            top: top.to_owned(),
            clock: Clock::default(),
            wrapper: None,
            folder: PathBuf::from("rtl"),
            include: Vec::new(),
            sources: Vec::new(),
            defines: Vec::new(),
            mask: None,
            golden: None,
            models: Vec::new(),
        }
    }

    /// Sets the clock, a 1-bit input whose rising edge is active. Default: `clk`.
    #[must_use]
    pub fn clock(mut self, name: &str) -> Self {
        self.clock = Clock::from(name);
        self
    }

    /// A file with a module of the file's name that instantiates the top, for RTL whose ports the harness cannot drive: several
    /// clocks, arrays, interfaces. It is part of the RTL that a user gives, too. `cosim new` writes it.
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

    /// Sets the 8-bit parameter for the mask of fixes, if the block has errata.
    #[must_use]
    pub fn mask(mut self, parameter: &str) -> Self {
        self.mask = Some(parameter.to_owned());
        self
    }

    /// Sets the file of a golden model in C or C++, relative to the crate's folder. It implements the
    /// six functions of `NAME_golden.h`, which this crate generates from the ports.
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

    /// The parameters of each linked model.
    fn models(&self) -> Vec<BTreeMap<String, u64>> {
        if self.models.is_empty() { vec![BTreeMap::new()] } else { self.models.clone() }
    }

    /// A parameter's value in Verilog: the mask has a width, other parameters are integers.
    fn verilog(&self, name: &str, value: u64) -> String {
        match self.mask.as_deref() {
            Some(mask) if mask == name => format!("8'h{value:02x}"),
            _ => value.to_string(),
        }
    }

    /// The names of the files passed to Verilator, relative to their folders.
    fn names(&self) -> Vec<PathBuf> {
        let mut names = self.sources.clone();
        if names.is_empty() {
            names.push(PathBuf::from(format!("{}.v", self.top)));
        }
        names.extend(self.wrapper.iter().filter(|file| !self.sources.contains(file)).cloned());
        names
    }

    /// The module that Verilator is given as the top: the wrapper, if there is one.
    fn outer_top(&self) -> String {
        let stem = self.wrapper.as_ref().and_then(|file| file.file_stem());
        stem.map_or_else(|| self.top.clone(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The wrapper and what it wraps.
    fn wrapper_of_design(&self) -> Option<Wrapper> {
        let file = self.wrapper.clone()?;
        Some(Wrapper { file, module: self.top.clone() })
    }

    /// Sorts the sources so that declarations precede their uses. An unreadable source declares
    /// nothing here; Verilator reports it.
    fn in_order(&self) -> Self {
        let text = |file: PathBuf| fs::read(file).unwrap_or_default();
        let declarations = |file| Declarations::of(&String::from_utf8_lossy(&text(file)));
        let sources: Vec<Declarations> = self.files().into_iter().map(declarations).collect();
        let names = self.names();
        let sources = sources::order(&sources).into_iter().map(|place| names[place].clone());
        Self { sources: sources.collect(), ..self.clone() }
    }

    /// The folders with the block's RTL, its own first.
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.folder).chain(&self.include)
    }

    /// The file with the properties as assertions, `NAME_sva.sv` in the block's folder: its name and path.
    fn assertions(&self) -> Option<(String, PathBuf)> {
        let name = format!("{}_sva.sv", self.name.replace('-', "_"));
        let path = self.folder.join(&name);
        path.is_file().then_some((name, path))
    }

    /// The files Verilator is given.
    fn files(&self) -> Vec<PathBuf> {
        let path = |name: &PathBuf| {
            let mut paths = self.folders().map(|folder| folder.join(name));
            paths.find(|path| path.is_file()).unwrap_or_else(|| self.folder.join(name))
        };
        self.names().iter().map(path).collect()
    }
}

/// Builds the models of all blocks. This is the whole `main` of a build script.
pub fn build(blocks: &[Block]) -> ExitCode {
    match try_build(blocks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_build(blocks: &[Block]) -> Result<(), Error> {
    for name in ["VERILATOR", "VERILATOR_ROOT"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let watched = watched(blocks);
    for path in &watched {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let out = env::var_os("OUT_DIR").ok_or(Error::NoBuildScript("OUT_DIR"))?;
    let out = PathBuf::from(out).join("cosim");
    let verilator = Verilator::find()?;
    remove_others(blocks, &out)?;
    for block in blocks {
        let block = &block.in_order();
        build_block(block, &out.join(&block.name), &verilator)?;
    }
    println!("cargo:rustc-env=COSIM_IDENTITY={}", identity(&watched)?);
    println!("cargo:rustc-env=COSIM_VERILATOR={}", verilator.version());
    Ok(())
}

/// The files that determine the program's behaviour: the crate's sources, its RTL, and the versions
/// of its dependencies. Paths are relative to the crate's folder, where build scripts run, as in
/// Verilator's messages.
fn watched(blocks: &[Block]) -> Vec<PathBuf> {
    let mut watched: Vec<PathBuf> = ["build.rs", "src"].map(PathBuf::from).into();
    watched.extend(blocks.iter().flat_map(Block::folders).cloned());
    // The golden model may include files beside it.
    let golden = blocks.iter().filter_map(|block| block.golden.as_ref()?.parent());
    watched.extend(golden.filter(|folder| !folder.as_os_str().is_empty()).map(PathBuf::from));
    // The lock file is in the workspace's folder.
    let mut folder = PathBuf::new();
    let here = env::current_dir().unwrap_or_default();
    for _ in here.ancestors() {
        let lock = folder.join("Cargo.lock");
        if lock.is_file() {
            watched.push(lock);
            break;
        }
        folder.push("..");
    }
    watched.sort();
    watched.dedup();
    watched
}

/// Removes the models of blocks that no longer exist.
fn remove_others(blocks: &[Block], out: &Path) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(out) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !blocks.iter().any(|block| name.to_str() == Some(&block.name)) {
            fs::remove_dir_all(entry.path()).map_err(Error::io(entry.path()))?;
        }
    }
    Ok(())
}

/// Builds the models of a block and writes its Rust module.
fn build_block(block: &Block, out: &Path, verilator: &Verilator) -> Result<(), Error> {
    fs::create_dir_all(out).map_err(Error::io(out))?;
    let models: Vec<Result<model::Model, Error>> = thread::scope(|scope| {
        let builds: Vec<_> = block
            .models()
            .into_iter()
            .map(|values| scope.spawn(move || model::build(block, &values, out, verilator)))
            .collect();
        builds.into_iter().map(|build| build.join().expect("no build panics")).collect()
    });
    let models = models.into_iter().collect::<Result<Vec<_>, Error>>()?;
    // Keep this order independent of threads: rustc drops its incremental cache when its arguments
    // change.
    println!("cargo:rustc-link-search=native={}", out.display());
    for values in block.models() {
        println!("cargo:rustc-link-lib=static={}", model::prefix(block, &values));
    }
    if let [first, others @ ..] = models.as_slice() {
        if others.iter().any(|other| other.ports != first.ports) {
            return Err(Error::PortsDiffer { block: block.name.clone() });
        }
        bindings::write(block, first, out)?;
        if let Some(file) = &block.golden {
            golden::compile(block, file, out)?;
        }
    }
    Ok(())
}
