//! Verilates the RTL of blocks and links the models into the program that a build script builds.
//!
//! ```no_run
//! use cosim_build::Block;
//!
//! fn main() -> std::process::ExitCode {
//!     cosim_build::build(&[
//!         Block::new("arbiter", "Arbiter").mask("FIXES").model([("FIXES", 0)]).model([("FIXES", 0xff)]),
//!     ])
//! }
//! ```
//!
//! For each block the ports that Verilator reports become packed structs, `Inputs` and `Outputs`, in C and,
//! through bindgen, in Rust; each model is compiled with its shim into an archive. The text of the RTL goes
//! into the program, too, so that other parameters can be compiled at run time. The crate includes what was
//! generated with `cosim_core::rtl!("arbiter")`. What did not change since the last build is not made again.

mod bindings;
mod error;
mod model;

pub use error::Error;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use verilated_build::sources::{self, Declarations};
use verilated_build::{Clock, Verilator, identity};

/// A block whose RTL is built.
#[derive(Debug, Clone)]
pub struct Block {
    name: String,
    top: String,
    clock: Clock,
    folder: PathBuf,
    include: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    defines: Vec<String>,
    mask: Option<String>,
    models: Vec<BTreeMap<String, u64>>,
}

impl Block {
    /// A block with its name on the command line and its top module. Its RTL is `rtl/<top>.v`, modules and
    /// headers it wants are looked for in `rtl`.
    pub fn new(name: &str, top: &str) -> Self {
        Self {
            name: name.to_owned(),
            top: top.to_owned(),
            clock: Clock::default(),
            folder: PathBuf::from("rtl"),
            include: Vec::new(),
            sources: Vec::new(),
            defines: Vec::new(),
            mask: None,
            models: Vec::new(),
        }
    }

    /// Another clock than `clk`: an input of one bit whose rising edge counts.
    #[must_use]
    pub fn clock(mut self, name: &str) -> Self {
        self.clock = Clock::from(name);
        self
    }

    /// Another folder than `rtl`, relative to the crate's.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Another folder with modules and headers that the block uses, relative to the crate's; may be said several
    /// times. Files of all folders have names of their own: in the program they lie beside each other.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include.push(folder.into());
        self
    }

    /// A file with RTL, in one of the folders, in place of `<top>.v`; may be said several times.
    #[must_use]
    pub fn source(mut self, file: impl Into<PathBuf>) -> Self {
        self.sources.push(file.into());
        self
    }

    /// A Verilog macro, as `NAME` or `NAME=VALUE`; may be said several times.
    #[must_use]
    pub fn define(mut self, define: &str) -> Self {
        self.defines.push(define.to_owned());
        self
    }

    /// The parameter of 8 bits that takes the mask of fixes, if the block has errata.
    #[must_use]
    pub fn mask(mut self, parameter: &str) -> Self {
        self.mask = Some(parameter.to_owned());
        self
    }

    /// A model to link in, with the value of every parameter that a profile sets, the mask included. Models
    /// with other values are compiled when they are first used. Without any the RTL's defaults are linked.
    #[must_use]
    pub fn model<const N: usize>(mut self, parameters: [(&str, u64); N]) -> Self {
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        self.models.push(parameters.into());
        self
    }

    /// The parameters of each model to link in.
    fn models(&self) -> Vec<BTreeMap<String, u64>> {
        if self.models.is_empty() { vec![BTreeMap::new()] } else { self.models.clone() }
    }

    /// A parameter's value in Verilog: the mask has a width, the others are integers.
    fn verilog(&self, name: &str, value: u64) -> String {
        match self.mask.as_deref() {
            Some(mask) if mask == name => format!("8'h{value:02x}"),
            _ => value.to_string(),
        }
    }

    /// The files Verilator is given, by their names in the folder.
    fn names(&self) -> Vec<PathBuf> {
        if self.sources.is_empty() {
            return vec![PathBuf::from(format!("{}.v", self.top))];
        }
        self.sources.clone()
    }

    /// The same with its sources in the order in which Verilator can read them. One that cannot be read declares nothing
    /// here: Verilator says what is wrong with it.
    fn in_order(&self) -> Self {
        let text = |file: PathBuf| fs::read(file).unwrap_or_default();
        let declarations = |file| Declarations::of(&String::from_utf8_lossy(&text(file)));
        let sources: Vec<Declarations> = self.files().into_iter().map(declarations).collect();
        let names = self.names();
        let sources = sources::order(&sources).into_iter().map(|place| names[place].clone());
        Self { sources: sources.collect(), ..self.clone() }
    }

    /// The folders that hold the block's RTL, its own first.
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

/// Builds the models of all blocks; the whole of a build script's `main`.
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

/// What decides how the program behaves: the crate's sources, its RTL, the versions of what it depends on.
/// Relative to the crate's folder, where build scripts run: so are Verilator's messages.
fn watched(blocks: &[Block]) -> Vec<PathBuf> {
    let mut watched: Vec<PathBuf> = ["build.rs", "src"].map(PathBuf::from).into();
    watched.extend(blocks.iter().flat_map(Block::folders).cloned());
    // The lock file is the workspace's.
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

/// Removes what was built for blocks that are no more.
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
    // In the same order every time, not in that of the threads: rustc drops its incremental cache when its arguments change.
    println!("cargo:rustc-link-search=native={}", out.display());
    for values in block.models() {
        println!("cargo:rustc-link-lib=static={}", model::prefix(block, &values));
    }
    if let [first, others @ ..] = models.as_slice() {
        if others.iter().any(|other| other.ports != first.ports) {
            return Err(Error::PortsDiffer { block: block.name.clone() });
        }
        bindings::write(block, first, out)?;
    }
    Ok(())
}
