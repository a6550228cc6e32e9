//! Compiles the Verilator runtime with the shim, and generates bindings of the shim's C header.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use verilated_build::{Tracing, Verilator, compile, load_libclang};

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
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    println!("cargo:rustc-env=TEST_TARGET={}", env::var("TARGET")?);
    let verilator = Verilator::find()?;
    println!("cargo:rerun-if-changed={}", verilator.include().join("verilated.cpp").display());
    let shim = out.join("shim");
    let header = compile::write_shim(&shim)?;
    let mut runtime = compile::compiler(&verilator, &shim, compile::Of::Runtime);
    compile::define_features(&mut runtime, Tracing::Off, false);
    let sources = compile::runtime_sources(&verilator, &shim, Tracing::Off)?;
    let objects = compile::objects(&runtime, &sources, &out)?;
    runtime.objects(objects).try_compile("verilated_runtime")?;
    load_libclang()?;
    bindgen::builder()
        .header(header.display().to_string())
        .allowlist_type("vl_(context|model|port|point|runtime_api|model_api)")
        .allowlist_var("VL_SHIM_ABI|VL_TEXT_WORDS")
        .allowlist_function("vl_runtime")
        .derive_default(false)
        .generate()?
        .write_to_file(out.join("shim.rs"))?;
    Ok(())
}
