//! Compiles C++ to an archive or a shared library.

use crate::{Error, tool};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use verilated_runtime::Of;

/// Whether the compiler for `target` supports [`precompile`]. Only GCC is supported.
///
/// # Errors
/// [`Error::CompilerMissing`].
pub fn precompiles(target: &str) -> Result<bool, Error> {
    let tool = tool(&plain(target))?;
    Ok(tool.is_like_gnu() && !tool.is_like_clang())
}

/// Precompiles the headers of models into `result`. `build` must have the options of the models.
///
/// # Errors
/// [`Error::Compile`] with the compiler's message.
pub fn precompile(build: &cc::Build, shim: &Path, result: &Path) -> Result<(), Error> {
    let header = shim.join(Of::Model.header());
    let mut command = tool(build)?.to_command();
    command.args(["-x", "c++-header"]).arg(&header).arg("-o").arg(result);
    run(command, "the headers of models")
}

/// Makes models compiled against `shim` use [precompiled](precompile) headers. A compiler that
/// finds them unfit reads the headers themselves.
///
/// # Errors
/// [`Error::Io`].
pub fn use_precompiled(precompiled: &Path, shim: &Path) -> Result<(), Error> {
    let beside = shim.join(format!("{}.gch", Of::Model.header()));
    std::os::unix::fs::symlink(precompiled, &beside).map_err(Error::io(beside))
}

/// Compiles each source to an object in `out`, in parallel.
///
/// # Errors
/// [`Error::Compile`] with the compiler's message.
pub fn objects(build: &cc::Build, sources: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>, Error> {
    let tool = tool(build)?;
    let compile = |source: &PathBuf| {
        let object = out.join(source.file_name().unwrap_or_default()).with_extension("o");
        let mut command = tool.to_command();
        command.arg("-c").arg(source).arg("-o").arg(&object);
        run(command, &source.display().to_string()).map(|()| object)
    };
    thread::scope(|scope| {
        let spawn = |source| thread::Builder::new().spawn_scoped(scope, move || compile(source));
        let running: Vec<_> = sources.iter().map(spawn).collect();
        running
            .into_iter()
            .zip(sources)
            .map(|(thread, source)| {
                let name = source.display().to_string();
                let thread = thread
                    .map_err(|error| failure(&name, format!("cannot start a thread: {error}")))?;
                thread.join().map_err(|_| failure(&name, "the compiling thread died"))?
            })
            .collect()
    })
}

/// Archives objects as `lib<name>.a` in `out`.
///
/// # Errors
/// [`Error::Compile`] with the tool's message.
pub fn archive(
    mut build: cc::Build,
    objects: &[PathBuf],
    out: &Path,
    name: &str,
) -> Result<(), Error> {
    let made = build.out_dir(out).objects(objects).try_compile(name);
    made.map_err(|error| failure(&format!("lib{name}.a"), error))
}

/// Runs a compiler or linker.
///
/// # Errors
/// [`Error::Compile`] with its message, [`Error::CompilerMissing`] or [`Error::Interrupted`].
pub fn run(command: Command, what: &str) -> Result<(), Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = tool::messages(command).map_err(|error| match error {
        Error::Program { program, source } => {
            Error::CompilerMissing { tried: format!("`{program}`: {source}") }
        }
        other => other,
    })?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let message = if printed.trim().is_empty() {
        format!("`{name}` ended with {} and printed nothing", output.status)
    } else {
        printed.into_owned()
    };
    Err(failure(what, message))
}

/// Begins to identify the C++ compiler in the background, for a program that soon compiles: the
/// compiler starts three times for that.
pub fn identify_soon(target: &'static str) {
    // An error is reported when the compiler is used.
    let _ = thread::Builder::new().spawn(move || identity(target));
}

/// Identifies the C++ compiler for `target`: its path, the options from the environment, and its
/// version output. Compilers that differ in one of them may generate different code.
///
/// # Errors
/// [`Error::CompilerMissing`] or [`Error::Interrupted`].
pub fn identity(target: &str) -> Result<Vec<u8>, Error> {
    // Cached, because the compiler does not change during a command.
    static KNOWN: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(identity) = known.get(target) {
        return Ok(identity.clone());
    }
    let compiler = tool(&plain(target))?;
    let command = compiler.to_command();
    // The command's environment is that of this process and mostly irrelevant.
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut identity: Vec<u8> =
        words.flat_map(|word| [word.as_encoded_bytes(), b"\0"].concat()).collect();
    let mut command = Command::new(compiler.path());
    command.arg("--version");
    let missing = |tried: String| Error::CompilerMissing { tried };
    let output = tool::messages(command).map_err(|error| match error {
        Error::Program { program, source } => missing(format!("`{program}`: {source}")),
        other => other,
    })?;
    identity.extend(output.stdout);
    known.insert(target.to_owned(), identity.clone());
    Ok(identity)
}

/// A compilation for `target` with only the options from the environment.
fn plain(target: &str) -> cc::Build {
    let mut build = verilated_runtime::compilation();
    build.cpp(true).opt_level(3).debug(false).target(target).host(target);
    build.cargo_metadata(false).cargo_warnings(false);
    build
}

/// The C++ compiler of a build.
///
/// # Errors
/// [`Error::CompilerMissing`].
pub fn tool(build: &cc::Build) -> Result<cc::Tool, Error> {
    build.try_get_compiler().map_err(|error| Error::CompilerMissing { tried: error.to_string() })
}

fn failure(what: &str, message: impl ToString) -> Error {
    Error::Compile { what: what.to_owned(), message: message.to_string() }
}
