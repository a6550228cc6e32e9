//! Exports a hash of cosim's sources, which determine what a seed generates.

use std::path::Path;
use std::process::ExitCode;
use verilated_build::identity;

/// The sources in a checkout.
const CHECKOUT: [&str; 4] = ["build.rs", "src", "../crates", "../verilated"];
/// The sources in a published package. Its manifest requires exactly this version of the other
/// crates, and a published version never changes.
const PACKAGE: [&str; 2] = ["build.rs", "src"];

fn main() -> ExitCode {
    let is_checkout = CHECKOUT.iter().all(|path| Path::new(path).exists());
    let sources: &[&str] = if is_checkout { &CHECKOUT } else { &PACKAGE };
    for path in sources {
        println!("cargo:rerun-if-changed={path}");
    }
    let sources: Vec<_> = sources.iter().map(Into::into).collect();
    match identity(&sources) {
        Ok(identity) if is_checkout => println!("cargo:rustc-env=COSIM_LIBRARY={identity}"),
        Ok(identity) => {
            let version = env!("CARGO_PKG_VERSION");
            println!("cargo:rustc-env=COSIM_LIBRARY={version}-{identity}");
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
