//! Exports a hash of the sources of the tool, and packs the library for blocks into it: an
//! installed `cosim` writes crates that build without a checkout.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};
use verilated_files::identity;

include!("../block/library.rs");

/// The sources in a checkout.
const CHECKOUT: [&str; 7] =
    ["build.rs", "src", "../regress", "../report", "../formats", "../formal", "../rtl"];
/// The sources in a published package. Its manifest requires exactly this version of the other
/// crates, and a published version never changes.
const PACKAGE: [&str; 2] = ["build.rs", "src"];

fn main() -> Result<(), Box<dyn Error>> {
    let is_checkout = CHECKOUT.iter().all(|path| Path::new(path).exists());
    let sources: &[&str] = if is_checkout { &CHECKOUT } else { &PACKAGE };
    for path in sources {
        println!("cargo:rerun-if-changed={path}");
    }
    let sources: Vec<_> = sources.iter().map(Into::into).collect();
    let identity = identity(&sources)?;
    let version = env!("CARGO_PKG_VERSION");
    let identity = if is_checkout { identity } else { format!("{version}-{identity}") };
    println!("cargo:rustc-env=COSIM_TOOL_SOURCES={identity}");
    let packed = Path::new(&env::var("OUT_DIR")?).join("library.bin");
    Ok(fs::write(packed, packed_library(Path::new("../.."))?)?)
}

/// The files of the library, each with the lengths of its name and of its text, in 4 bytes each.
/// None outside of a checkout: the registry has the library then.
fn packed_library(root: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let Some(parts) = library(root) else { return Ok(Vec::new()) };
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for part in parts {
        println!("cargo:rerun-if-changed={}", root.join(&part).display());
        read(root, &part, &mut files)?;
    }
    println!("cargo:rerun-if-changed={}", root.join("Cargo.lock").display());
    files.push(("Cargo.lock".into(), fs::read(root.join("Cargo.lock"))?));
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    files.push(("Cargo.toml".into(), workspace(&manifest)?.into_bytes()));
    files.sort();
    let mut packed = Vec::new();
    for (name, text) in files {
        let name = name.to_str().ok_or("a name that is not UTF-8")?;
        for bytes in [name.as_bytes(), &text] {
            packed.extend(u32::try_from(bytes.len())?.to_le_bytes());
            packed.extend(bytes);
        }
    }
    Ok(packed)
}

/// Reads a file, or all files below a folder.
fn read(
    root: &Path,
    path: &Path,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(), Box<dyn Error>> {
    if !root.join(path).is_dir() {
        files.push((path.to_owned(), fs::read(root.join(path))?));
        return Ok(());
    }
    for entry in fs::read_dir(root.join(path))? {
        read(root, &path.join(entry?.file_name()), files)?;
    }
    Ok(())
}

/// The manifest of a workspace of the library's crates: what those of the checkout share.
fn workspace(manifest: &str) -> Result<String, Box<dyn Error>> {
    println!("cargo:rerun-if-changed=../../Cargo.toml");
    let (shared, _) = manifest.split_once("[package]").ok_or("no [package] in Cargo.toml")?;
    let members = shared.lines().find(|line| line.starts_with("members = "));
    let members = members.ok_or("no line of members in Cargo.toml")?;
    let own: Vec<String> = CRATES.iter().map(|name| format!("{name:?}")).collect();
    Ok(shared.replace(members, &format!("members = [{}]", own.join(", "))))
}
