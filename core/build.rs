//! Names the sources this library was built from: they decide what a seed means.

use std::env;
use std::process::ExitCode;
use verilated_build::identity;

fn main() -> ExitCode {
    let watched = ["build.rs", "src", "../crates", "../verilated"];
    for path in watched {
        println!("cargo:rerun-if-changed={path}");
    }
    match identity(&watched.map(Into::into)) {
        Ok(identity) => println!("cargo:rustc-env=COSIM_CORE_IDENTITY={identity}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!("cargo:rustc-env=COSIM_TARGET={}", env::var("TARGET").unwrap_or_default());
    ExitCode::SUCCESS
}
