//! Finds Verilator, and prepares the compilation of its runtime and of models: sources and compiler
//! options.
//!
//! The build script of `verilated` compiles the runtime that is linked into a program.
//! `verilated-build` compiles models, and the runtime of their libraries. This crate has what both
//! need, so that `verilated` does not depend on the code that examines RTL.
//!
//! 1. [`Verilator::find`] locates the tool and its runtime sources.
//! 2. [`write_shim`] writes the shim, a C interface of the runtime and of models.
//! 3. [`compiler`] and [`define_features`] set the compiler options.
//! 4. [`runtime_sources`] lists the sources to compile.

mod error;
mod verilator;

pub use error::Error;
pub use verilator::{MINIMUM_VERSION, Verilator};

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The waveform format of a model. A model supports at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tracing {
    /// No trace code, for the fastest model.
    #[default]
    Off,
    /// Value change dump.
    Vcd,
    /// GTKWave's compressed format.
    Fst,
}

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
    /// A model. Its headers may be precompiled.
    Model,
}

impl Of {
    /// The file of the shim that is included first.
    pub fn header(self) -> &'static str {
        match self {
            Self::Runtime => "verilated_print.h",
            Self::Model => "verilated_model.h",
        }
    }
}

/// The texts of the shim and of this crate that determine what is compiled, for content hashes.
pub fn text() -> impl Iterator<Item = &'static str> {
    SHIM_FILES.iter().map(|(_, text)| *text).chain([include_str!("lib.rs")])
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

/// A compilation without options. What one learns of the compiler all others know, since each
/// question about it starts the compiler.
pub fn compilation() -> cc::Build {
    static FIRST: LazyLock<cc::Build> = LazyLock::new(cc::Build::new);
    FIRST.clone()
}

/// A C++ compilation of the runtime of `verilator` or of a model. `shim` is the folder of
/// [`write_shim`].
///
/// Outside of a build script, set target, host and output folder before compiling.
pub fn compiler(verilator: &Verilator, shim: &Path, of: Of) -> cc::Build {
    let mut build = compilation();
    build
        .cpp(true)
        .std("gnu++17")
        // What a cycle calls is in the headers, which are part of a model.
        .opt_level(if of == Of::Model { 3 } else { 1 })
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
/// [`Error::Io`]. [`Error::UnknownRandom`] if this Verilator generates random numbers in an unknown
/// way.
pub fn runtime_sources(
    verilator: &Verilator,
    shim: &Path,
    tracing: Tracing,
) -> Result<Vec<PathBuf>, Error> {
    let include = verilator.include();
    let (original, runtime) = (include.join("verilated.cpp"), shim.join("verilated.cpp"));
    let text = fs::read_to_string(&original).map_err(Error::io(&original))?;
    let text = runtime_text(&text)
        .ok_or_else(|| Error::UnknownRandom { version: verilator.version().to_owned() })?;
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
