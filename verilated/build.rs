//! Compiles the Verilator runtime with the shim.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use verilated_runtime::{Of, Tracing, Verilator};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for name in ["VERILATOR", "VERILATOR_ROOT"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=TEST_TARGET={}", env::var("TARGET")?);
    let shim = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("shim");
    let verilator = Verilator::find()?;
    println!("cargo:rerun-if-changed={}", verilator.include().join("verilated.cpp").display());
    verilated_runtime::write_shim(&shim)?;
    let mut runtime = verilated_runtime::compiler(&verilator, &shim, Of::Runtime);
    verilated_runtime::define_features(&mut runtime, Tracing::Off, false);
    // Warnings are off, so these are the messages of a failure.
    runtime.cargo_warnings(true);
    runtime.files(verilated_runtime::runtime_sources(&verilator, &shim, Tracing::Off)?);
    runtime.try_compile("verilated_runtime")?;
    Ok(())
}
