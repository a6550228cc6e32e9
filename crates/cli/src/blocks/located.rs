//! Finds the program with the blocks: the one that a variable names, the crate in or above the
//! working directory, which is built first, or the program that is installed beside this one.

use crate::blocks::cargo;
use crate::blocks::library::Library;
use crate::blocks::trust::{Inputs, trusted};
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, folder_of, read_input_text};
use cosim_base::program;
use cosim_base::text;
use cosim_block::program::{PROGRAM_VARIABLE, TOOL_VARIABLE};
use cosim_regress::blocks;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use toml::{Table, Value};
use verilated_build::activity::Activity;
use verilated_files::trust::written_by_others;

const LIBRARY: &str = "cosim-core";
const BESIDE: &str = "cosim-blocks";
/// Names the profile of Cargo in which a crate is built.
const PROFILE_VARIABLE: &str = "COSIM_PROFILE";
/// The default of that variable.
const PROFILE: &str = "release";
const MANIFEST: &str = "Cargo.toml";

/// A hash of the sources of this program.
pub const SOURCES: &str = env!("COSIM_TOOL_SOURCES");

/// Where the program with the blocks comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Built(PathBuf),
    Crate(PathBuf),
    Nothing,
}

/// Sets the program with the blocks of this process.
///
/// # Errors
/// [`Error::Usage`] if there is none, or if its crate cannot be built. As [`blocks::set`].
pub fn set() -> Result<(), Error> {
    match origin()? {
        Origin::Built(path) => blocks::set(&path, SOURCES),
        Origin::Crate(manifest) => {
            let inputs = trusted(folder_of(&manifest))?;
            blocks::set(&built(&manifest, &inputs, None)?, SOURCES)
        }
        Origin::Nothing => Err(no_blocks(Path::new("this folder"))),
    }
}

pub fn no_blocks(folder: &Path) -> Error {
    let folder = text::path(folder);
    let message = format!(
        "no blocks: neither {folder} nor one above it has a crate that depends on {LIBRARY}; write \
         one with `cosim new`, or change to its folder"
    );
    Error::Usage(codes::NO_BLOCKS, message)
}

/// Builds a crate of this program's own in a folder below `target`, and sets its program. No
/// configuration of the folders above counts.
///
/// # Errors
/// As [`set`].
pub fn set_crate(folder: &Path, target: &Path) -> Result<(), Error> {
    let none = Inputs::default();
    blocks::set(&built(&folder.join(MANIFEST), &none, Some(target))?, SOURCES)
}

/// As [`set`], for commands that also work without blocks. Builds nothing.
pub fn set_if_built() {
    if let Ok(Origin::Built(path)) = origin() {
        let _ = blocks::set(&path, SOURCES);
    }
}

/// Where the program with the blocks comes from.
///
/// # Errors
/// [`Error::Usage`] for a variable with a wrong value. [`Error::Environment`] if the program beside
/// this one fails.
pub fn origin() -> Result<Origin, Error> {
    if let Some(path) = env::var_os(PROGRAM_VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        if !path.is_file() {
            let message = format!("{PROGRAM_VARIABLE}: there is no program {}", path.display());
            return Err(Error::Usage(codes::BAD_VARIABLE, message));
        }
        return Ok(Origin::Built(path));
    }
    let beside = env::current_exe().ok().map(|own| own.with_file_name(BESIDE));
    let beside = beside.filter(|path| path.is_file());
    let Some(manifest) = manifest(&env::current_dir().unwrap_or_default())? else {
        return Ok(beside.map_or(Origin::Nothing, Origin::Built));
    };
    // In the crate of the program beside this one, that program is built already.
    let folder = manifest.parent().map(Path::to_owned);
    if let Some(beside) = beside
        && let Some(of_beside) = blocks::folder(&beside)?
        && Some(of_beside) == folder
    {
        return Ok(Origin::Built(beside));
    }
    Ok(Origin::Crate(manifest))
}

/// The manifest of the nearest crate of blocks in or above a folder. One that another user could
/// have written is ignored: building a crate runs its code.
///
/// # Errors
/// As [`read_input_text`].
pub fn manifest(from: &Path) -> Result<Option<PathBuf>, Error> {
    for folder in from.ancestors() {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            continue;
        }
        let reason = written_by_others(&path);
        let is_of_blocks = match read_input_text(&path, LARGEST_INPUT) {
            Ok(text) => is_of_blocks(&text),
            // No file of others makes a command fail.
            Err(_) if reason.is_some() => false,
            Err(error) => return Err(error),
        };
        match reason {
            _ if !is_of_blocks => {}
            None => return Ok(Some(path)),
            Some(reason) => program::warn(format_args!(
                "{} is ignored: {reason}, and building its crate would run its code",
                text::path(&path)
            )),
        }
    }
    Ok(None)
}

fn library_of(manifest: &Table) -> Option<&Value> {
    let dependencies = manifest.get("dependencies")?.as_table()?;
    let is_library = |(name, value): &(&String, &Value)| {
        let package = value.get("package").and_then(Value::as_str);
        package.unwrap_or(name.as_str()) == LIBRARY
    };
    dependencies.iter().find(is_library).map(|(_, value)| value)
}

/// Whether the text of a manifest is that of a crate that depends on the library.
fn is_of_blocks(text: &str) -> bool {
    toml::from_str::<Table>(text)
        .is_ok_and(|manifest| manifest.contains_key("package") && library_of(&manifest).is_some())
}

/// Whether a crate names the folder of the library.
fn has_path(manifest: &Table) -> bool {
    library_of(manifest).is_some_and(|library| library.get("path").is_some())
}

/// What this program reads of Cargo's messages.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Builds a crate, in its own folder unless `target` names one, and returns its program.
fn built(manifest: &Path, inputs: &Inputs, target: Option<&Path>) -> Result<PathBuf, Error> {
    let folder = folder_of(manifest);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = read_input_text(manifest, LARGEST_INPUT)?;
    let table: Table =
        toml::from_str(&text).map_err(|error| Error::toml(manifest, &text, None, &error))?;
    // A crate that names a path has chosen its library.
    let library = match has_path(&table) {
        true => Vec::new(),
        false => Library::from_program()?.map_or_else(Vec::new, |library| library.arguments()),
    };
    // Cargo leaves in the lock file of such a crate what it needs, and the crate itself.
    let crates = || {
        let lock = read_input_text(&folder.join("Cargo.lock"), LARGEST_INPUT).ok()?;
        (!has_path(&table)).then(|| lock.matches("[[package]]").count().saturating_sub(1) as u64)
    };
    let activity = Activity::start(format!("building the crate {name}"));
    activity.note("the library once for this machine");
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = env::var(PROFILE_VARIABLE).ok().filter(|profile| !profile.is_empty());
    let failed = |error| {
        let message = format!("cannot run `cargo`, which builds {name}: {error}");
        Error::Environment(codes::PROGRAM_FAILED, message)
    };
    let mut cargo = cargo::command(program, inputs.toolchain())
        .args(["build", "--quiet", "--message-format", "json-render-diagnostics", "--profile"])
        .arg(profile.as_deref().unwrap_or(PROFILE))
        .arg("--manifest-path")
        .arg(manifest)
        .args(inputs.arguments())
        .args(library)
        .args(
            target.map(|target| [OsStr::new("--target-dir"), target.as_os_str()]).iter().flatten(),
        )
        .env(TOOL_VARIABLE, env::current_exe().unwrap_or_else(|_| "cosim".into()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(failed)?;
    let (mut own, mut built, mut total) = (Vec::new(), BTreeSet::new(), None);
    for line in cargo.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let Ok(message) = serde_json::from_str::<Message>(&line.map_err(failed)?) else { continue };
        if message.reason != "compiler-artifact" {
            continue;
        }
        if message.manifest_path == manifest {
            own.push(message);
        } else if built.insert(message.manifest_path) {
            activity.count("crates", built.len() as u64, *total.get_or_insert_with(crates));
        }
    }
    let status = cargo.wait().map_err(failed)?;
    drop(activity);
    if !status.success() {
        let message = format!("{}: the crate of the blocks does not compile", text::path(folder));
        return Err(Error::Usage(codes::CRATE_UNBUILT, message));
    }
    let programs: Vec<(String, PathBuf)> = own
        .into_iter()
        .filter_map(|Message { executable, target, .. }| {
            let target = target.filter(|target| target.kind.iter().any(|kind| kind == "bin"))?;
            Some((target.name, executable?))
        })
        .collect();
    let package = table.get("package").and_then(|package| package.get("name")?.as_str());
    let package = package.unwrap_or_default();
    // A crate with a tool of its own name, as cosim itself is, has its blocks beside it.
    let beside = format!("{package}-blocks");
    let with_name = |wanted: &str| programs.iter().find(|(name, _)| name == wanted);
    let named = with_name(&beside).or_else(|| with_name(package));
    match (named, programs.as_slice()) {
        (Some((_, path)), _) | (None, [(_, path)]) => Ok(path.clone()),
        (None, []) => Err(Error::Usage(
            codes::CRATE_UNBUILT,
            format!("{}: the crate has no program; add src/main.rs", text::path(folder)),
        )),
        (None, _) => Err(Error::Usage(
            codes::CRATE_UNBUILT,
            format!(
                "{}: the crate has several programs, and none is called {package}; set \
                 {PROGRAM_VARIABLE} to one",
                text::path(folder)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_of_blocks_depends_on_the_library() {
        let package = "[package]\nname = \"a\"\n[dependencies]\n";
        for (dependency, expected) in [
            ("cosim-core = \"0.1\"", true),
            ("cosim = { package = \"cosim-core\", path = \"x\" }", true),
            ("cosim-core = { package = \"other\" }", false),
            ("serde = \"1\"", false),
        ] {
            assert_eq!(is_of_blocks(&format!("{package}{dependency}")), expected, "{dependency}");
        }
        assert!(!is_of_blocks("[dependencies]\ncosim-core = \"0.1\""), "no package");
        assert!(!is_of_blocks("[package"), "no TOML");
    }
}
