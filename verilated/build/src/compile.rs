//! From C++ to an archive or a shared library.

use crate::{Error, Tracing, Verilator};
use std::fs;
use std::path::{Path, PathBuf};

const SHIM_FILES: [(&str, &str); 3] = [
    ("verilated_shim.h", include_str!("../shim/verilated_shim.h")),
    ("verilated_shim.hpp", include_str!("../shim/verilated_shim.hpp")),
    ("verilated_shim.cpp", include_str!("../shim/verilated_shim.cpp")),
];

/// The text of the shim, for content hashes of what is built with it.
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

/// A C++ compilation against the runtime of `verilator`; `shim` is where [`write_shim`] wrote.
///
/// Outside of a build script give it target, host and output folder before compiling.
pub fn compiler(verilator: &Verilator, shim: &Path) -> cc::Build {
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
        .flag_if_supported("-fvisibility=hidden")
        // A template static shared between two loaded models would outlive its library.
        .flag_if_supported("-fno-gnu-unique")
        .flag_if_supported("-faligned-new")
        .flag_if_supported("-w");
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

/// Defines the macros by which Verilator's sources know what they are built for.
pub fn define_features(build: &mut cc::Build, tracing: Tracing, coverage: bool) {
    let flag = |on: bool| if on { "1" } else { "0" };
    build
        .define("VM_COVERAGE", flag(coverage))
        .define("VM_TRACE", flag(tracing != Tracing::Off))
        .define("VM_TRACE_VCD", flag(tracing == Tracing::Vcd))
        .define("VM_TRACE_FST", flag(tracing == Tracing::Fst));
}

/// The runtime's sources, shim included: what every model needs, and the trace writer of
/// `tracing`.
pub fn runtime_sources(verilator: &Verilator, shim: &Path, tracing: Tracing) -> Vec<PathBuf> {
    let include = verilator.include();
    let mut sources: Vec<PathBuf> = ["verilated.cpp", "verilated_cov.cpp", "verilated_threads.cpp"]
        .iter()
        .map(|name| include.join(name))
        .collect();
    match tracing {
        Tracing::Off => {}
        Tracing::Vcd => sources.push(include.join("verilated_vcd_c.cpp")),
        Tracing::Fst => sources.push(include.join("verilated_fst_c.cpp")),
    }
    sources.push(shim.join("verilated_shim.cpp"));
    sources
}

/// Libraries a program needs that holds a model with `tracing`: newer Verilators take lz4 from
/// the system, older ones bring it along.
pub fn libraries(verilator: &Verilator, tracing: Tracing) -> Vec<&'static str> {
    match tracing {
        Tracing::Off | Tracing::Vcd => Vec::new(),
        Tracing::Fst if verilator.include().join("gtkwave/lz4.c").is_file() => vec!["z"],
        Tracing::Fst => vec!["lz4", "z"],
    }
}
