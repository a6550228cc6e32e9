//! Exports a hash of cosim's sources, which determine what a seed generates.

use std::process::ExitCode;
use verilated_build::identity;

fn main() -> ExitCode {
    let watched = ["build.rs", "src", "../crates", "../verilated"];
    for path in watched {
        println!("cargo:rerun-if-changed={path}");
    }
    match identity(&watched.map(Into::into)) {
        Ok(identity) => println!("cargo:rustc-env=COSIM_LIBRARY={identity}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
