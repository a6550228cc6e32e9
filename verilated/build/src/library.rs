//! Models compiled at run time into shared libraries, kept by content.

use crate::compile;
use crate::{Design, Error, Ports, Tracing, Verilated, Verilator, codegen};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Builds shared libraries with one model each and keeps them in a folder.
///
/// The name of a library is a hash of everything that goes into it: the text of every file that
/// Verilator read, parameters, Verilator, compiler options, shim. Which files those are is kept in a
/// list beside the libraries, one for each place a design was found in. Two processes that want the
/// same library wait for one another through a lock file; a library appears under its name only when
/// it is whole.
#[derive(Debug, Clone)]
pub struct LibraryCache {
    verilator: Verilator,
    target: String,
    folder: PathBuf,
}

/// A shared library that a [`LibraryCache`] made of a design, or found to be made of the same before.
///
/// There is no other way to one: it says that the code in the file is what Verilator and this crate
/// generated, which is why it may be loaded by safe code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltLibrary {
    path: PathBuf,
}

impl BuiltLibrary {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
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
    pub fn library(&self, design: &Design) -> Result<BuiltLibrary, Error> {
        self.built(design).map(|path| BuiltLibrary { path })
    }

    fn built(&self, design: &Design) -> Result<PathBuf, Error> {
        let place = self.place(design)?;
        if let Some(library) = self.known(design, &place) {
            return Ok(library);
        }
        let _lock = self.lock(&place)?;
        if let Some(library) = self.known(design, &place) {
            return Ok(library);
        }
        self.with_work_folder(&place, |work| {
            let verilated = design.verilate(&self.verilator, &work.join("model"))?;
            let files = verilated.files_read(&self.verilator)?;
            let library = self.folder.join(self.library_name(design, &files)?);
            if !library.is_file() {
                let unfinished = work.join("result");
                self.compile(design, &verilated, work, &unfinished)?;
                fs::rename(&unfinished, &library).map_err(Error::io(&library))?;
            }
            let list = work.join("files");
            let lines: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            write(&list, &lines.join("\n"))?;
            let kept = self.folder.join(&place);
            fs::rename(&list, &kept).map_err(Error::io(&kept))?;
            Ok(library)
        })
    }

    /// The files that Verilator read for a design whose [`library`](Self::library) was asked for.
    ///
    /// # Errors
    /// As [`library`](Self::library), if it is to be built first.
    pub fn files(&self, design: &Design) -> Result<Vec<PathBuf>, Error> {
        self.library(design)?;
        Ok(self.listed(&self.place(design)?).unwrap_or_default())
    }

    /// The library of a design as its files are now, if it was built before.
    ///
    /// The list may be that of another state of the files. A name that it leads to is right all the
    /// same: it is the one of the very files with the very texts that the library was made of.
    fn known(&self, design: &Design, place: &str) -> Option<PathBuf> {
        let name = self.library_name(design, &self.listed(place)?).ok()?;
        Some(self.folder.join(name)).filter(|library| library.is_file())
    }

    fn listed(&self, place: &str) -> Option<Vec<PathBuf>> {
        let list = fs::read_to_string(self.folder.join(place)).ok()?;
        Some(list.lines().map(PathBuf::from).collect())
    }

    /// Compiles a verilated design into a shared library.
    fn compile(
        &self,
        design: &Design,
        verilated: &Verilated,
        work: &Path,
        library: &Path,
    ) -> Result<(), Error> {
        let ports = Ports::read(verilated, &design.top)?;
        let text = codegen::model_cpp(
            verilated,
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
            let sources = compile::runtime_sources(&self.verilator, &shim, tracing)?;
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
        // With the compiler's own options: some, as those of sanitizers, name libraries.
        let mut command = compile::tool(build)?.to_command();
        // What the RTL imports and nobody defines is an error now, not when it is called.
        command.args(["-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-o"]).arg(library).args(objects);
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
        let _lock = self.lock(name)?;
        if made.is_file() {
            return Ok(made);
        }
        self.with_work_folder(name, |work| {
            let unfinished = work.join("result");
            make(work, &unfinished)?;
            fs::rename(&unfinished, &made).map_err(Error::io(&made))?;
            Ok(made.clone())
        })
    }

    /// Waits until no other process makes `name`, and keeps them waiting as long as the file lives.
    fn lock(&self, name: &str) -> Result<File, Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        let path = self.folder.join(format!("{name}.lock"));
        let lock = File::create(&path).map_err(Error::io(&path))?;
        lock.lock().map_err(Error::io(&path))?;
        Ok(lock)
    }

    fn with_work_folder<T>(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let work = self.folder.join(format!("{name}.work-{}", process::id()));
        fs::create_dir_all(&work).map_err(Error::io(&work))?;
        let result = make(&work);
        let removed = fs::remove_dir_all(&work).map_err(Error::io(&work));
        let made = result?;
        removed?;
        Ok(made)
    }

    /// The name of the list of a design's files: a hash of where they are looked for and of what is
    /// there by name, since a new file may shadow another.
    fn place(&self, design: &Design) -> Result<String, Error> {
        let mut hash = self.common_hash();
        hash.update(options(design));
        for path in design.sources.iter().chain(&design.include) {
            let path = std::path::absolute(path).map_err(Error::io(path))?;
            hash.update(path.as_os_str().as_encoded_bytes());
            hash.update([0]);
        }
        for folder in &design.include {
            let mut names = Vec::new();
            for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
                names.push(entry.map_err(Error::io(folder))?.file_name());
            }
            names.sort();
            for name in names {
                hash.update(name.as_encoded_bytes());
                hash.update([0]);
            }
        }
        Ok(format!("{}-{}.files", design.top, hex(hash)))
    }

    /// A hash of all that decides the bytes of a library.
    fn library_name(&self, design: &Design, files: &[PathBuf]) -> Result<String, Error> {
        let mut hash = self.common_hash();
        hash.update(options(design));
        for file in files {
            let text = fs::read(file).map_err(Error::io(file))?;
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        Ok(format!("{}-{}.so", design.top, hex(hash)))
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

/// What of a design is not in its files.
fn options(design: &Design) -> String {
    format!("{} {:?} {:?} {}", design.top, design.parameters, design.tracing, design.coverage)
}

/// The first half of a SHA-256 in hex: short enough for a file name, long enough never to clash.
fn hex(hash: Sha256) -> String {
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io(path))
}
