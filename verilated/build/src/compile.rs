//! Compiles C++ to an archive or a shared library.

use crate::{Error, Tracing, Verilator, tool};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

const SHIM_FILES: [(&str, &str); 7] = [
    ("verilated_shim.h", include_str!("../shim/verilated_shim.h")),
    ("verilated_model.h", include_str!("../shim/verilated_model.h")),
    ("verilated_print.h", include_str!("../shim/verilated_print.h")),
    ("verilated_open.h", include_str!("../shim/verilated_open.h")),
    ("verilated_shim.hpp", include_str!("../shim/verilated_shim.hpp")),
    ("verilated_points.hpp", include_str!("../shim/verilated_points.hpp")),
    ("verilated_shim.cpp", include_str!("../shim/verilated_shim.cpp")),
];

/// Replaces Verilator's writer of FST waveforms, which it includes.
const FST: (&str, &str) = ("verilated_fst.cpp", include_str!("../shim/verilated_fst.cpp"));

/// The kind of source, which selects the header that is included first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Verilator's own sources.
    Runtime,
    /// A model. Its headers may be [precompiled](precompile).
    Model,
}

impl Of {
    /// The file of the shim that is included first.
    fn header(self) -> &'static str {
        match self {
            Self::Runtime => "verilated_print.h",
            Self::Model => "verilated_model.h",
        }
    }
}

/// The text of the shim, for content hashes.
pub fn shim_text() -> impl Iterator<Item = &'static str> {
    SHIM_FILES.iter().map(|(_, text)| *text)
}

/// Writes the shim's sources into `dir` and returns the path of its C header.
///
/// # Errors
/// [`Error::Io`].
pub fn write_shim(dir: &Path) -> Result<PathBuf, Error> {
    fs::create_dir_all(dir).map_err(Error::io(dir))?;
    for (name, text) in SHIM_FILES {
        let path = dir.join(name);
        fs::write(&path, text).map_err(Error::io(path))?;
    }
    Ok(dir.join(SHIM_FILES[0].0))
}

/// A C++ compilation of the runtime of `verilator` or of a model. `shim` is the folder of
/// [`write_shim`].
///
/// Outside of a build script, set target, host and output folder before compiling.
pub fn compiler(verilator: &Verilator, shim: &Path, of: Of) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("gnu++17")
        .opt_level(3)
        .debug(false)
        .pic(true)
        .warnings(false)
        .cargo_warnings(false)
        .include(shim)
        .include(verilator.include())
        .include(verilator.include().join("vltstd"))
        .define("VERILATOR", "1")
        // Standard output belongs to the program.
        .define("VL_PRINTF", "vl_shim_printf")
        .flag("-include")
        .flag(shim.join(of.header()))
        .flag("-fvisibility=hidden")
        .flag("-w")
        // A template static shared by two loaded models would outlive its library. Only GCC creates
        // such statics. Checking further flags would start the compiler once more per model.
        .flag_if_supported("-fno-gnu-unique");
    for (name, value) in [
        ("VM_SC", "0"),
        ("VM_TIMING", "0"),
        ("VM_TRACE_SAIF", "0"),
        ("VL_USER_FINISH", "1"),
        ("VL_USER_STOP", "1"),
        ("VL_USER_FATAL", "1"),
    ] {
        build.define(name, value);
    }
    build
}

/// The additional shim text of models with `tracing`, for content hashes.
pub fn trace_shim_text(tracing: Tracing) -> &'static str {
    if tracing == Tracing::Fst { FST.1 } else { "" }
}

/// Defines the feature macros of Verilator's sources.
pub fn define_features(build: &mut cc::Build, tracing: Tracing, coverage: bool) {
    let flag = |on: bool| if on { "1" } else { "0" };
    build
        .define("VM_COVERAGE", flag(coverage))
        .define("VM_TRACE", flag(tracing != Tracing::Off))
        .define("VM_TRACE_VCD", flag(tracing == Tracing::Vcd))
        .define("VM_TRACE_FST", flag(tracing == Tracing::Fst));
}

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
        let running: Vec<_> =
            sources.iter().map(|source| scope.spawn(move || compile(source))).collect();
        running
            .into_iter()
            .zip(sources)
            .map(|(thread, source)| {
                let died = |_| failure(&source.display().to_string(), "the compiling thread died");
                thread.join().map_err(died)?
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
    let said = String::from_utf8_lossy(&output.stderr);
    let message = if said.trim().is_empty() {
        format!("`{name}` ended with {} and printed nothing", output.status)
    } else {
        said.into_owned()
    };
    Err(failure(what, message))
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
    let mut build = cc::Build::new();
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

/// The definition of the random number generator in Verilator's runtime, and the code inserted to
/// use the generator of the running model instead. Verilator's own is per thread and restarts
/// whenever any thread seeds a context, so `$random` would depend on other threads.
const RANDOM: [(&str, &str); 2] = [
    // Before Verilator had a class for it.
    (
        "uint64_t vl_rand64() VL_MT_SAFE {",
        "if (vl_shim_current) return vl_shim_generator<vl_shim_random>().next();",
    ),
    (
        "VlRNG& VlRNG::vl_thread_rng() VL_MT_SAFE {",
        "if (vl_shim_current) return vl_shim_generator<VlRNG>();",
    ),
];
/// The same for seeding.
const SEED: (&str, &str) = (
    "void VerilatedContext::randSeed(int val) VL_MT_SAFE {",
    "if (vl_shim_current == this) return vl_shim_current->reseed(val);",
);

/// The shim's header is included after this line.
const LAST_INCLUDE: &str = "#include \"verilated_imp.h\"";

/// Redirects the opening of files. It comes first, because the runtime's headers open files, too.
const OPEN: &str = "#include \"verilated_open.h\"\n";

/// Verilator's `verilated.cpp`, changed to use random numbers and files of the model.
fn runtime_text(original: &str) -> Option<String> {
    let (definition, body) = RANDOM.iter().find(|(definition, _)| original.contains(definition))?;
    let text = insert_code(original, definition, body)?;
    let text = insert_code(&text, SEED.0, SEED.1)?;
    // This header gives Verilator's sources access to each other's private members.
    let (before, after) = text.split_once(LAST_INCLUDE)?;
    Some(format!("{OPEN}{before}{LAST_INCLUDE}\n#include \"verilated_shim.hpp\"{after}"))
}

/// Inserts code at the beginning of a function with exactly one definition.
fn insert_code(text: &str, definition: &str, code: &str) -> Option<String> {
    let mut parts = text.split(definition);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(after), None) => Some(format!("{before}{definition} {code}{after}")),
        _ => None,
    }
}

/// The sources of the runtime with the shim, including the waveform writer for `tracing`.
///
/// # Errors
/// [`Error::Io`]. [`Error::Compile`] if this Verilator generates random numbers in an unknown way.
pub fn runtime_sources(
    verilator: &Verilator,
    shim: &Path,
    tracing: Tracing,
) -> Result<Vec<PathBuf>, Error> {
    let include = verilator.include();
    let (original, runtime) = (include.join("verilated.cpp"), shim.join("verilated.cpp"));
    let text = fs::read_to_string(&original).map_err(Error::io(&original))?;
    let text = runtime_text(&text).ok_or_else(|| {
        let reason = format!(
            "Verilator {} draws random numbers in an unsupported way; set VERILATOR to a version \
             from 5.006 to 5.48",
            verilator.version()
        );
        failure("the Verilator runtime", reason)
    })?;
    fs::write(&runtime, text).map_err(Error::io(&runtime))?;
    let mut sources = vec![runtime];
    sources.extend(["verilated_cov.cpp", "verilated_threads.cpp"].map(|name| include.join(name)));
    match tracing {
        Tracing::Off => {}
        Tracing::Vcd => sources.push(include.join("verilated_vcd_c.cpp")),
        Tracing::Fst => {
            let writer = shim.join(FST.0);
            fs::write(&writer, FST.1).map_err(Error::io(&writer))?;
            sources.push(writer);
        }
    }
    sources.push(shim.join("verilated_shim.cpp"));
    Ok(sources)
}

/// The system libraries of a model with `tracing`. Newer Verilators use the system's lz4, older
/// ones bundle it.
pub fn libraries(verilator: &Verilator, tracing: Tracing) -> Vec<&'static str> {
    match tracing {
        Tracing::Off | Tracing::Vcd => Vec::new(),
        Tracing::Fst if verilator.include().join("gtkwave/lz4.c").is_file() => vec!["z"],
        Tracing::Fst => vec!["lz4", "z"],
    }
}
