//! Exports a hash of the sources of the library for blocks, which determine what a seed generates.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verilated_files::identity;

include!("library.rs");

/// The sources in a published package. Its manifest requires exactly this version of the other
/// crates, and a published version never changes.
const PACKAGE: [&str; 2] = ["build.rs", "src"];

fn main() -> ExitCode {
    let root = Path::new("../..");
    let checkout = library(root);
    let is_checkout = checkout.is_some();
    let sources: Vec<PathBuf> = match checkout {
        Some(parts) => parts.into_iter().map(|part| root.join(part)).collect(),
        None => PACKAGE.map(PathBuf::from).into(),
    };
    for path in &sources {
        println!("cargo:rerun-if-changed={}", path.display());
    }
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
