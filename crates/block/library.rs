// The library for blocks: what a crate of blocks is compiled from. The build scripts of
// cosim-block, which hashes it, and of cosim-cli, which packs it, include this file.

/// The folders of its crates in a checkout.
const CRATES: [&str; 10] = [
    "core",
    "core/build",
    "crates/agents",
    "crates/base",
    "crates/block",
    "crates/declare",
    "crates/harness",
    "verilated",
    "verilated/files",
    "verilated/runtime",
];
/// What a crate is compiled from, as far as it has it.
const PARTS: [&str; 6] = ["Cargo.toml", "build.rs", "library.rs", "src", "templates", "shim"];

/// The files and folders of the library, relative to the root of a checkout, or `None` outside of a
/// checkout.
fn library(root: &std::path::Path) -> Option<Vec<std::path::PathBuf>> {
    let crates = CRATES.map(std::path::PathBuf::from);
    if !crates.iter().all(|folder| root.join(folder).join("Cargo.toml").is_file()) {
        return None;
    }
    let parts = crates.iter().flat_map(|folder| PARTS.map(|part| folder.join(part)));
    Some(parts.filter(|part| root.join(part).exists()).collect())
}
