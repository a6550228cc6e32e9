//! Builds the models of a program with blocks, in the process of a build script or for one.
//! Unchanged models are not rebuilt.

mod bindings;
mod error;
mod golden;
mod model;

pub use error::Error;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use verilated_build::sources::{self, Declarations};
use verilated_build::{VerilatorOption, Wrapper};
use verilated_files::identity;
use verilated_runtime::Verilator;

/// A block whose RTL is built.
#[derive(Debug, Clone)]
struct Block(cosim_build::Block);

impl Deref for Block {
    type Target = cosim_build::Block;

    fn deref(&self) -> &cosim_build::Block {
        &self.0
    }
}

impl Block {
    /// The parameters of each linked model.
    fn models(&self) -> Vec<BTreeMap<String, u64>> {
        if self.models.is_empty() { vec![BTreeMap::new()] } else { self.models.clone() }
    }

    /// The options of Verilator, if all are of accepted kinds.
    fn options(&self) -> Result<Vec<VerilatorOption>, verilated_build::Error> {
        self.verilator_options.iter().map(|option| option.parse()).collect()
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

    fn wrapper_of_design(&self) -> Option<Wrapper> {
        let file = self.wrapper.clone()?;
        Some(Wrapper { file, module: self.top.clone() })
    }

    /// Sorts the sources so that declarations precede their uses. An unreadable source declares
    /// nothing here; Verilator reports it.
    fn in_order(&self) -> Self {
        let text = |file: PathBuf| fs::read(file).unwrap_or_default();
        let declarations = |file| Declarations::scan_text(&String::from_utf8_lossy(&text(file)));
        let sources: Vec<Declarations> = self.files().into_iter().map(declarations).collect();
        let names = self.names();
        let sources = sources::order(&sources).into_iter().map(|place| names[place].clone());
        let sources = sources.collect();
        Self(cosim_build::Block { sources, ..self.0.clone() })
    }

    /// The folders with the block's RTL, its own first.
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.folder).chain(&self.include)
    }

    /// The file with the properties as assertions, `NAME_sva.sv` in the block's folder: its name
    /// and path.
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

/// Builds the models of all blocks, in a build script or with its environment. Prints instructions
/// for Cargo.
pub fn build(blocks: &[cosim_build::Block]) -> ExitCode {
    let blocks: Vec<Block> = blocks.iter().cloned().map(Block).collect();
    match try_build(&blocks) {
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
    for folder in golden {
        match folder.components().all(|part| part == Component::CurDir) {
            // The crate's own folder also holds what is built.
            true => watched.extend(files_in(Path::new("."))),
            false => watched.push(folder.to_owned()),
        }
    }
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

/// The names of the files in a folder, without those in folders below it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|entry| PathBuf::from(entry.file_name())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests run in the folder of this crate.
    #[test]
    fn a_golden_model_is_watched_with_the_files_beside_it() {
        let watched_with = |golden: &str| {
            watched(&[Block(cosim_build::Block::new("block", "Block").golden(golden))])
        };
        assert!(watched_with("golden/block.c").contains(&PathBuf::from("golden")));
        for golden in ["block.c", "./block.c"] {
            let watched = watched_with(golden);
            assert!(watched.contains(&PathBuf::from("Cargo.toml")), "{watched:?}");
            assert!(!watched.iter().any(|path| path == Path::new(".") || path == Path::new("")));
        }
    }
}
