//! Models compiled at run time into shared libraries, kept by content.

use crate::compile;
use crate::{Design, Error, Ports, Tracing, Verilator, codegen};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Builds shared libraries with one model each and keeps them in a folder.
///
/// The name of a library is a hash of everything that goes into it: RTL text, parameters,
/// Verilator, compiler options, shim. Two processes that want the same library wait for one
/// another through a lock file; a library appears under its name only when it is whole.
#[derive(Debug, Clone)]
pub struct LibraryCache {
    verilator: Verilator,
    target: String,
    folder: PathBuf,
}

impl LibraryCache {
    /// A cache in `folder`, for the platform `target` (a Rust target triple).
    pub fn new(
        verilator: Verilator,
        target: impl Into<String>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self { verilator, target: target.into(), folder: folder.into() }
    }

    /// The library of `design`, built if it is not there yet.
    ///
    /// # Errors
    /// Whatever [`Design::verilate`] and [`Ports::read`] return; [`Error::Compile`].
    pub fn library(&self, design: &Design) -> Result<PathBuf, Error> {
        let key = self.key(design)?;
        self.once(&format!("{}-{key}.so", design.top), |work, library| {
            let verilated = design.verilate(&self.verilator, &work.join("model"))?;
            let ports = Ports::read(&verilated, &design.top)?;
            let text = codegen::model_cpp(
                &verilated,
                &ports,
                &design.top,
                design.tracing,
                design.coverage,
                codegen::LIBRARY_SYMBOL,
            );
            let source = verilated.dir.join("model_in_library.cc");
            write(&source, &text)?;
            write(&verilated.dir.join("pins.h"), &codegen::c_header(&ports))?;
            let runtime = self.runtime(design.tracing)?;
            let shim = work.join("shim");
            compile::write_shim(&shim)?;
            let mut build = self.compiler(&shim, work);
            compile::define_features(&mut build, design.tracing, design.coverage);
            build.include(&verilated.dir);
            let objects = compile::objects(&build, &[source], work)?;
            self.link(&build, objects.iter().chain([&runtime]), design.tracing, library)
        })
    }

    /// The runtime as one relocatable object.
    fn runtime(&self, tracing: Tracing) -> Result<PathBuf, Error> {
        let mut hash = self.common_hash();
        hash.update(format!("{tracing:?}"));
        let name = format!("runtime-{}.o", hex(hash));
        self.once(&name, |work, object| {
            let shim = work.join("shim");
            compile::write_shim(&shim)?;
            let mut build = self.compiler(&shim, work);
            compile::define_features(&mut build, tracing, false);
            let sources = compile::runtime_sources(&self.verilator, &shim, tracing);
            let objects = compile::objects(&build, &sources, work)?;
            let mut command = Command::new(compile::tool(&build)?.path());
            command.args(["-r", "-nostdlib", "-o"]).arg(object).args(objects);
            compile::run(command, "the Verilator runtime")
        })
    }

    fn link<'a>(
        &self,
        build: &cc::Build,
        objects: impl Iterator<Item = &'a PathBuf>,
        tracing: Tracing,
        library: &Path,
    ) -> Result<(), Error> {
        let mut command = Command::new(compile::tool(build)?.path());
        command.args(["-shared", "-Wl,-Bsymbolic", "-o"]).arg(library).args(objects);
        for name in compile::libraries(&self.verilator, tracing) {
            command.arg(format!("-l{name}"));
        }
        command.arg("-pthread");
        compile::run(command, "the model's library")
    }

    fn compiler(&self, shim: &Path, out: &Path) -> cc::Build {
        let mut build = compile::compiler(&self.verilator, shim);
        build.target(&self.target).host(&self.target).out_dir(out).cargo_metadata(false);
        build
    }

    /// Makes the file `name` with `make` unless it exists; `make` gets a work folder and the path
    /// to write.
    fn once(
        &self,
        name: &str,
        make: impl FnOnce(&Path, &Path) -> Result<(), Error>,
    ) -> Result<PathBuf, Error> {
        let made = self.folder.join(name);
        if made.is_file() {
            return Ok(made);
        }
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        let lock_path = self.folder.join(format!("{name}.lock"));
        let lock = File::create(&lock_path).map_err(Error::io(&lock_path))?;
        lock.lock().map_err(Error::io(&lock_path))?;
        if made.is_file() {
            return Ok(made);
        }
        let work = self.folder.join(format!("{name}.work-{}", process::id()));
        let unfinished = work.join("result");
        fs::create_dir_all(&work).map_err(Error::io(&work))?;
        let result = make(&work, &unfinished)
            .and_then(|()| fs::rename(&unfinished, &made).map_err(Error::io(&made)));
        let removed = fs::remove_dir_all(&work).map_err(Error::io(&work));
        result?;
        removed?;
        Ok(made)
    }

    /// A hash of all that decides the bytes of a library.
    fn key(&self, design: &Design) -> Result<String, Error> {
        let mut hash = self.common_hash();
        hash.update(format!(
            "{} {:?} {:?} {}",
            design.top, design.parameters, design.tracing, design.coverage
        ));
        let mut files = design.sources.clone();
        for folder in &design.include {
            files.extend(verilog_files(folder)?);
        }
        files.sort();
        files.dedup();
        for file in files {
            let text = fs::read(&file).map_err(Error::io(&file))?;
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        Ok(hex(hash))
    }

    fn common_hash(&self) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.verilator.version());
        hash.update(self.verilator.root().as_os_str().as_encoded_bytes());
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(include_str!("codegen.rs"));
        hash.update(include_str!("compile.rs"));
        hash.update(include_str!("verilate.rs"));
        for text in compile::shim_text() {
            hash.update(text);
        }
        hash
    }
}

/// The Verilog files directly in `folder`, headers included.
///
/// # Errors
/// [`Error::Io`].
pub fn verilog_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let verilog = ["v", "vh", "sv", "svh"];
        if path.extension().and_then(OsStr::to_str).is_some_and(|e| verilog.contains(&e)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The first half of a SHA-256 in hex: short enough for a file name, long enough never to clash.
fn hex(hash: Sha256) -> String {
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io(path))
}
