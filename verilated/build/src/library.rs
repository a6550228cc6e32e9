//! Compiles models at run time into shared libraries, cached by content.

use crate::described::Described;
use crate::registered::{self, choose};
use crate::{Design, Error, Kept, Ports, Verilated, codegen, compile};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use verilated_files::foreign::{ForeignName, lay_out};
use verilated_files::{BuiltLibrary, HASH_DIGITS, KeptFile};
use verilated_runtime::{Of, Tracing, Verilator};

/// A file of a design. Verilator reads this text, even if the file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name in the design: absolute, or relative to the design's folder.
    pub name: PathBuf,
    /// Its text.
    pub text: Arc<[u8]>,
}

impl SourceFile {
    /// Its name and its text.
    pub fn named(&self) -> (&Path, &[u8]) {
        (&self.name, &self.text)
    }
}

/// Builds shared libraries with one model each and caches them in a folder.
///
/// The name of a library is a hash of everything that determines it: name and text of every file,
/// parameters, Verilator, compiler options, shim. The texts are written to a temporary folder and
/// compiled there, so that the hashed text is what is compiled.
#[derive(Debug, Clone)]
pub struct LibraryCache {
    verilator: Verilator,
    target: String,
    kept: Kept,
}

/// What Verilator makes of a design.
struct Translated {
    plain: Verilated,
    described: Result<Described, Error>,
    /// The design in a top that registers its inputs, if that was asked for.
    registered: Option<Result<Verilated, Error>>,
}

impl LibraryCache {
    /// A cache in `kept` for the platform `target` (a Rust target triple).
    pub fn new(verilator: Verilator, target: impl Into<String>, kept: Kept) -> Self {
        Self { verilator, target: target.into(), kept }
    }

    /// The library of `design`, compiled unless it is cached. All paths of the design are names of
    /// `files` or of folders that contain them. If `ports` are given, a model with other ports is
    /// refused before compilation.
    ///
    /// # Errors
    /// Errors of [`Design::verilate`] and [`Design::ports`], [`Error::Ports`], [`Error::Compile`],
    /// or [`Error::Changed`] if Verilator read a file that is not in `files`.
    pub fn library(
        &self,
        design: &Design,
        files: &[SourceFile],
        ports: Option<&Ports>,
    ) -> Result<BuiltLibrary, Error> {
        let name = self.library_name(design, files, ports)?;
        let waves = match design.tracing {
            Tracing::Off => String::new(),
            tracing => format!(", waves in {tracing:?}"),
        };
        let parameters: Vec<String> =
            design.parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let version = self.verilator.version();
        let about = format!("{}{}{waves}, Verilator {version}", design.top, parameters.concat());
        let kept = self.kept.obtain(&name, &about, |work, library| {
            let folder = lay_out(&work.join("files"), files.iter().map(SourceFile::named))?;
            let design = Design { folder: Some(folder.clone()), ..design.clone() };
            let translated = self.translate(&design, ports, work)?;
            self.check_read(&translated.plain, files, &folder)?;
            self.compile(&design, translated, ports, work, library)
        })?;
        Ok(BuiltLibrary::new(kept)?)
    }

    /// The library of `design`, or that of the same with [`Design::quick`], if only that one is
    /// cached, or none of them.
    ///
    /// # Errors
    /// As [`LibraryCache::library`].
    pub fn any_library(
        &self,
        design: &Design,
        files: &[SourceFile],
        ports: Option<&Ports>,
    ) -> Result<BuiltLibrary, Error> {
        match self.kept.find_file(&self.library_name(design, files, ports)?)? {
            Some(kept) => Ok(BuiltLibrary::new(kept)?),
            None => self.library(&Design { quick: true, ..design.clone() }, files, ports),
        }
    }

    /// Checks that Verilator read only the given files, and that absolute ones have not changed.
    fn check_read(
        &self,
        verilated: &Verilated,
        files: &[SourceFile],
        folder: &Path,
    ) -> Result<(), Error> {
        for name in verilated.names_read(&self.verilator)? {
            let path = folder.join(&name);
            // Older Verilators also list names that they only searched for.
            if !path.is_file() {
                continue;
            }
            let same = |file: &&SourceFile| is_same(&file.name, &name);
            let as_given =
                |file: &SourceFile| fs::read(&path).is_ok_and(|text| *text == *file.text);
            if !files.iter().find(same).is_some_and(as_given) {
                return Err(verilated_files::Error::Changed { path: name }.into());
            }
        }
        Ok(())
    }

    /// Starts Verilator at once for all that is needed of it: its start takes most of the time.
    fn translate(
        &self,
        design: &Design,
        expected: Option<&Ports>,
        work: &Path,
    ) -> Result<Translated, Error> {
        let verilator = &self.verilator;
        // Verilator runs in the folder of the design.
        let work = &std::path::absolute(work).map_err(Error::io(work))?;
        thread::scope(|scope| {
            let thread = || thread::Builder::new();
            let described = || design.described(verilator, &work.join("described"));
            let described = thread().spawn_scoped(scope, described).map_err(Error::io(work))?;
            // With other ports than expected, there is no model at all.
            let registered = expected.filter(|_| design.registered).map(|ports| {
                let registered = move || registered::translate(design, ports, work, verilator);
                thread().spawn_scoped(scope, registered).map_err(Error::io(work))
            });
            let registered = registered.transpose()?;
            // Errors of the compiler are reported when it is used.
            let known = || compile::tool(&self.model_compiler(design, work, work));
            let _known = thread().spawn_scoped(scope, known);
            let plain = design.verilate(verilator, &work.join("model"));
            let died = || Error::io(work)(io::Error::other("a thread died"));
            Ok(Translated {
                plain: plain?,
                described: described.join().unwrap_or_else(|_| Err(died())),
                registered: registered.map(|it| it.join().unwrap_or_else(|_| Err(died()))),
            })
        })
    }

    /// Compiles a verilated design into a shared library.
    fn compile(
        &self,
        design: &Design,
        translated: Translated,
        expected: Option<&Ports>,
        work: &Path,
        library: &Path,
    ) -> Result<(), Error> {
        let Translated { plain, described, registered } = translated;
        let ports = design.checked_ports(&plain, described)?;
        if let Some(expected) = expected {
            let differences = expected.differences(&ports);
            if !differences.is_empty() {
                return Err(Error::Ports { top: design.top.clone(), differences });
            }
        }
        let (verilated, driving) = choose(design, plain, registered, &ports, &self.verilator)?;
        let model = codegen::ModelFile {
            verilated: &verilated,
            ports: &ports,
            top: &design.top,
            tracing: design.tracing,
            coverage: design.coverage,
            assertions: design.assertions,
            driving: &driving,
            data: &design.data,
            symbol: codegen::LIBRARY_SYMBOL,
        };
        let sources = model.write("model_in_library")?;
        let runtime = self.runtime(design.tracing)?;
        let shim = work.join("shim");
        verilated_runtime::write_shim(&shim)?;
        if let Some(headers) = self.headers(design)? {
            compile::use_precompiled(&headers, &shim)?;
        }
        let mut build = self.model_compiler(design, &shim, work);
        build.include(&verilated.dir);
        let objects = compile::objects(&build, &sources, work)?;
        self.link(&build, objects.iter().chain([&runtime]), design.tracing, library)
    }

    /// The precompiled headers for models like this one, if the compiler supports them. Reading the
    /// headers takes more than half of the time to compile a small model.
    fn headers(&self, design: &Design) -> Result<Option<PathBuf>, Error> {
        if !compile::precompiles(&self.target)? {
            return Ok(None);
        }
        let Design { tracing, coverage, quick, .. } = design;
        let mut hash = self.common_hash(*tracing)?;
        hash.update(format!("{tracing:?} {coverage} {quick}"));
        let name = format!("headers-{}.gch", hex(hash));
        let about = format!("headers of models, Verilator {}", self.verilator.version());
        let made = self.kept.obtain(&name, &about, |work, headers| {
            let shim = work.join("shim");
            verilated_runtime::write_shim(&shim)?;
            compile::precompile(&self.model_compiler(design, &shim, work), &shim, headers)
        });
        made.map(|kept: KeptFile| Some(kept.path().to_owned()))
    }

    /// The runtime as one relocatable object.
    fn runtime(&self, tracing: Tracing) -> Result<PathBuf, Error> {
        let mut hash = self.common_hash(tracing)?;
        hash.update(format!("{tracing:?}"));
        let name = format!("runtime-{}.o", hex(hash));
        let about = format!("Verilator's runtime, {}", self.verilator.version());
        let made = self.kept.obtain(&name, &about, |work, object| {
            let shim = work.join("shim");
            verilated_runtime::write_shim(&shim)?;
            let mut build = self.compiler(&shim, Of::Runtime, work);
            verilated_runtime::define_features(&mut build, tracing, false);
            let sources = verilated_runtime::runtime_sources(&self.verilator, &shim, tracing)?;
            let objects = compile::objects(&build, &sources, work)?;
            let mut command = Command::new(compile::tool(&build)?.path());
            command.args(["-r", "-nostdlib", "-o"]).arg(object).args(objects);
            compile::run(command, "the Verilator runtime")
        });
        made.map(|kept: KeptFile| kept.path().to_owned())
    }

    fn link<'a>(
        &self,
        build: &cc::Build,
        objects: impl Iterator<Item = &'a PathBuf>,
        tracing: Tracing,
        library: &Path,
    ) -> Result<(), Error> {
        // Use the compiler's own options, because some, such as sanitizers, link libraries.
        let mut command = compile::tool(build)?.to_command();
        // Report undefined imports of the RTL at link time instead of at the first call.
        command.args(["-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-o"]).arg(library).args(objects);
        for name in verilated_runtime::libraries(&self.verilator, tracing) {
            command.arg(format!("-l{name}"));
        }
        command.arg("-pthread");
        compile::run(command, "the model's library")
    }

    fn model_compiler(&self, design: &Design, shim: &Path, out: &Path) -> cc::Build {
        let mut build = self.compiler(shim, Of::Model, out);
        verilated_runtime::define_features(&mut build, design.tracing, design.coverage);
        if design.quick {
            build.opt_level(1);
        }
        build
    }

    fn compiler(&self, shim: &Path, of: Of, out: &Path) -> cc::Build {
        let mut build = verilated_runtime::compiler(&self.verilator, shim, of);
        build.target(&self.target).host(&self.target).out_dir(out).cargo_metadata(false);
        build
    }

    /// A hash of everything that determines the bytes of a library.
    fn library_name(
        &self,
        design: &Design,
        files: &[SourceFile],
        ports: Option<&Ports>,
    ) -> Result<String, Error> {
        let mut hash = self.common_hash(design.tracing)?;
        hash.update(format!("{design:?} {ports:?}"));
        for SourceFile { name, text } in files {
            let name = name.as_os_str().as_encoded_bytes();
            for part in [name, &**text] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
        }
        Ok(format!("{}-{}.so", design.top, hex(hash)))
    }

    fn common_hash(&self, tracing: Tracing) -> Result<Sha256, Error> {
        let mut hash = Sha256::new();
        hash.update(verilated_runtime::trace_shim_text(tracing));
        // The compiler and its environment variables (CXX, CXXFLAGS, ...).
        let compiler = compile::identity(&self.target)?;
        hash.update(compiler.len().to_le_bytes());
        hash.update(compiler);
        hash.update(self.verilator.version());
        hash.update(self.verilator.root().as_os_str().as_encoded_bytes());
        for text in crate::generator_text() {
            hash.update(text);
        }
        Ok(hash)
    }
}

/// The first half of a SHA-256 in hex: short for a file name, and practically free of collisions.
fn hex(hash: Sha256) -> String {
    hash.finalize()[..HASH_DIGITS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two names mean the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let resolved = |name: &Path| ForeignName::new(name.strip_prefix("/").unwrap_or(name));
    one.is_absolute() == other.is_absolute() && resolved(one) == resolved(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Port;
    use tempfile::TempDir;

    #[test]
    fn a_name_is_the_same_however_it_is_written() {
        for (one, other, expected) in [
            ("a/b.v", "./a/./b.v", true),
            ("b.v", "a/../b.v", true),
            ("../b.v", "a/../../b.v", true),
            ("../b.v", "../../b.v", false),
            ("/b.v", "/a/../b.v", true),
            ("/b.v", "b.v", false),
        ] {
            assert_eq!(is_same(Path::new(one), Path::new(other)), expected, "{one} {other}");
        }
    }

    /// RTL in a deep folder that includes a file by a name that means another one from the work
    /// folder.
    #[test]
    fn a_compiled_design_writes_no_file_of_others() {
        let folder = TempDir::new().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let far = format!("@rtl/{}{}", "../".repeat(40), &victim.to_str().unwrap()[1..]);
        let text = format!(
            "`include \"{}\"\nmodule m(input clk, a, output b); assign b = a; endmodule\n",
            &far["@rtl/".len()..]
        );
        let file =
            |name: &str, text: &str| SourceFile { name: name.into(), text: text.as_bytes().into() };
        let files = [file("@rtl/m.v", &text), file(&far, "// not mine\n")];
        let design = Design {
            top: "m".to_owned(),
            sources: vec!["@rtl/m.v".into()],
            include: vec!["@rtl".into()],
            prefix: "Vm".to_owned(),
            ..Design::default()
        };
        // Other ports are refused before the slow part, the C++ compiler.
        let port = |name: &str| Port { name: name.to_owned(), width: 9 };
        let other = Ports { inputs: vec![port("other")], ..Ports::default() };
        let kept = Kept::new(folder.path().join("cache"), 1 << 30);
        let cache = LibraryCache::new(Verilator::find().unwrap(), "x86_64-unknown-linux-gnu", kept);
        let error = cache.library(&design, &files, Some(&other)).unwrap_err();
        assert!(matches!(error, Error::Ports { .. }), "the file is found in the copy: {error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }
}
