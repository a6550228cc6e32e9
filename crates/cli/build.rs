//! Exports a hash of the sources of the tool, and packs the library for blocks into it: an
//! installed `cosim` writes crates that build without a checkout.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};
use verilated_files::identity;

include!("../block/library.rs");

/// The sources in a checkout.
const CHECKOUT: [&str; 8] =
    ["build.rs", "src", "../new", "../regress", "../report", "../formats", "../formal", "../rtl"];
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
    fs::write(packed, packed_library(Path::new("../.."))?)?;
    let book = Path::new(&env::var("OUT_DIR")?).join("book.bin");
    Ok(fs::write(book, packed_book(Path::new("../../docs"))?)?)
}

/// The pages of the book, packed, with the parts of other files that they include.
fn packed_book(docs: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut files = Vec::new();
    if docs.is_dir() {
        println!("cargo:rerun-if-changed={}", docs.display());
        read(docs, Path::new(""), &mut files)?;
    }
    files.retain(|(path, _)| path.extension().is_some_and(|end| end == "md"));
    for (path, text) in &mut files {
        let folder = docs.join(&path).parent().map(Path::to_owned).unwrap_or_default();
        let mut page = String::new();
        for line in std::str::from_utf8(text)?.lines() {
            let include = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
            match include {
                Some(include) => page += &included(&folder, include)?,
                None => page += &format!("{line}\n"),
            }
        }
        *text = page.into_bytes();
    }
    packed(files)
}

/// The lines of a file, or of `FILE:PART` those between `ANCHOR: PART` and `ANCHOR_END: PART`.
fn included(folder: &Path, include: &str) -> Result<String, Box<dyn Error>> {
    let (file, part) = include.split_once(':').unwrap_or((include, ""));
    let file = folder.join(file);
    println!("cargo:rerun-if-changed={}", file.display());
    let text = fs::read_to_string(file)?;
    let is_mark = |line: &&str, kind: &str| line.trim_end().ends_with(&format!("{kind}: {part}"));
    let begin = text.lines().skip_while(|line| !part.is_empty() && !is_mark(line, "ANCHOR"));
    let inside = begin.skip(usize::from(!part.is_empty()));
    let inside = inside.take_while(|line| part.is_empty() || !is_mark(line, "ANCHOR_END"));
    let lines = inside.filter(|line| !line.contains(" ANCHOR"));
    Ok(lines.flat_map(|line| [line, "\n"]).collect())
}

/// The files of the library, packed. None outside of a checkout: the registry has the library then.
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
    packed(files)
}

/// The files, each with the lengths of its name and of its text, in 4 bytes each.
fn packed(mut files: Vec<(PathBuf, Vec<u8>)>) -> Result<Vec<u8>, Box<dyn Error>> {
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
