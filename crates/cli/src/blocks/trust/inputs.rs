//! Finds what Cargo reads of a crate, and refuses what another user could have written.
//!
//! The whole tree of each package counts: a build script may read and run any file of it. Further
//! packages and files are those that a manifest or a configuration names.

use crate::blocks::cargo;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_base::program;
use cosim_base::text;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use verilated_files::trust;
use walkdir::{DirEntry, WalkDir};

const MANIFEST: &str = "Cargo.toml";
const MOST_FILES: usize = 1 << 20;
/// The mode bit for write access of everybody.
const EVERYBODY: u32 = 0o002;
const SYMLINK: u32 = 0o120_000;
const KIND: u32 = 0o170_000;
/// Keys of manifests and configurations whose folders have code.
const FOLDERS: [&str; 4] = ["path", "paths", "directory", "local-registry"];

/// What Cargo reads of a crate.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The folder of the crate, then those of the packages that it names.
    packages: Vec<PathBuf>,
    /// Configuration of Cargo, from the outermost folder on.
    configuration: Vec<PathBuf>,
    /// The file that chooses the toolchain, and the toolchain.
    toolchain: Option<(PathBuf, OsString)>,
    /// Manifests and folders that are known already.
    known: BTreeSet<PathBuf>,
}

impl Inputs {
    /// Finds and checks what Cargo reads of the crate in a folder.
    ///
    /// # Errors
    /// [`Error::File`] for a file that another user could have written. As [`read_input_text`].
    pub fn find_inputs(folder: &Path) -> Result<Self, Error> {
        let folder = fs::canonicalize(folder).map_err(|error| Error::unreadable(folder, &error))?;
        let mut inputs = Self::default();
        inputs.package(&folder)?;
        for above in folder.ancestors() {
            inputs.configured(above)?;
        }
        inputs.configuration.reverse();
        Ok(inputs)
    }

    /// The arguments with which Cargo in another folder reads the crate's configuration.
    pub fn arguments(&self) -> Vec<OsString> {
        let argument = |path: &PathBuf| ["--config".into(), path.clone().into_os_string()];
        self.configuration.iter().flat_map(argument).collect()
    }

    pub fn toolchain(&self) -> Option<&OsStr> {
        self.toolchain.as_ref().map(|(_, toolchain)| toolchain.as_os_str())
    }

    /// Lines for the user: the crate, and what of other folders counts for it.
    pub fn describe(&self) -> String {
        let packages = self.packages.iter();
        let toolchain = self.toolchain.iter().map(|(path, _)| path);
        let own = self.packages.first().cloned().unwrap_or_default();
        let others = packages.skip(1).chain(&self.configuration).chain(toolchain);
        let others = others.filter(|path| !path.starts_with(&own));
        let line = |path: &PathBuf| text::path(path).to_string();
        let lines = others.map(|path| format!("  with {}", line(path)));
        std::iter::once(line(&own)).chain(lines).collect::<Vec<String>>().join("\n")
    }

    fn package(&mut self, folder: &Path) -> Result<(), Error> {
        if !self.known.insert(folder.to_owned()) {
            return Ok(());
        }
        tree(folder)?;
        self.packages.push(folder.to_owned());
        let manifest = self.manifest(&folder.join(MANIFEST))?;
        self.workspace(folder, &manifest)
    }

    /// Checks a manifest, and adds what it names.
    fn manifest(&mut self, path: &Path) -> Result<Table, Error> {
        owned(path)?;
        let table = table(path)?;
        if self.known.insert(path.to_owned()) {
            self.named("", &Value::Table(table.clone()), path.parent().unwrap_or(path))?;
        }
        Ok(table)
    }

    /// Adds the root of the workspace: Cargo reads the manifest of each folder above until it finds
    /// it, so others must not be able to add one.
    fn workspace(&mut self, folder: &Path, manifest: &Table) -> Result<(), Error> {
        if manifest.contains_key("workspace") {
            return Ok(());
        }
        let named = manifest.get("package").and_then(|package| package.get("workspace")?.as_str());
        if let Some(named) = named {
            return self.manifest(&folder.join(named).join(MANIFEST)).map(drop);
        }
        for above in folder.ancestors().skip(1) {
            let found = fs::metadata(above).map_err(|error| Error::unreadable(above, &error))?;
            if !trust::is_trusted(&found) {
                let (folder, above) = (text::path(folder), text::path(above));
                return Err(of_others(
                    &Path::new(&folder.to_string()).join(MANIFEST),
                    &format!(
                        "Cargo looks for a workspace in {above}, where others can write one; add an \
                     empty table `[workspace]`"
                    ),
                ));
            }
            let path = above.join(MANIFEST);
            if path.is_file() {
                let table = self.manifest(&path)?;
                let root = table.get("workspace");
                if root.is_some_and(|root| root.get("exclude").is_none()) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds the configuration and the toolchain in a folder. A file that others could have written
    /// does not count: Cargo does not look for it.
    fn configured(&mut self, folder: &Path) -> Result<(), Error> {
        let usable = |name: &&str| {
            let path = folder.join(name);
            let reason = path.is_file().then(|| trust::written_by_others(&path))?;
            if let Some(reason) = &reason {
                program::warn(format_args!("{} is ignored: {reason}", text::path(&path)));
            }
            reason.is_none().then_some(path)
        };
        let is_of_user = cargo::home().is_some_and(|home| home == folder.join(".cargo"));
        // Cargo and rustup read the first of two.
        let config = [".cargo/config", ".cargo/config.toml"];
        if !is_of_user && let Some(path) = config.iter().find_map(usable) {
            self.named("", &Value::Table(table(&path)?), folder)?;
            self.configuration.push(path);
        }
        if self.toolchain.is_none() {
            let path = ["rust-toolchain", "rust-toolchain.toml"].iter().find_map(usable);
            self.toolchain = path.and_then(|path| toolchain(&path).map(|name| (path, name)));
        }
        Ok(())
    }

    /// Adds what the values of a manifest or a configuration name.
    fn named(&mut self, key: &str, value: &Value, base: &Path) -> Result<(), Error> {
        match value {
            Value::Table(table) => {
                table.iter().try_for_each(|(key, value)| self.named(key, value, base))
            }
            Value::Array(values) => {
                values.iter().try_for_each(|value| self.named(key, value, base))
            }
            Value::String(name) => {
                let Ok(path) = fs::canonicalize(base.join(name)) else { return Ok(()) };
                if path.is_file() {
                    return if path.starts_with(base) { Ok(()) } else { owned(&path) };
                }
                if !FOLDERS.contains(&key) {
                    return Ok(());
                }
                match path.join(MANIFEST).is_file() {
                    true => self.package(&path),
                    false if path.starts_with(base) => Ok(()),
                    false => tree(&path),
                }
            }
            _ => Ok(()),
        }
    }
}

/// The table in a file; an empty one if it is not TOML, which Cargo reports.
fn table(path: &Path) -> Result<Table, Error> {
    Ok(toml::from_str(&read_input_text(path, LARGEST_INPUT)?).unwrap_or_default())
}

/// The toolchain that a file of rustup chooses: a table, or its name alone.
fn toolchain(path: &Path) -> Option<OsString> {
    let text = read_input_text(path, LARGEST_INPUT).ok()?;
    let Ok(table) = toml::from_str::<Table>(&text) else {
        let name = text.trim();
        return (!name.is_empty() && name.lines().count() == 1).then(|| name.into());
    };
    let own = |key: &str| table.get("toolchain")?.get(key)?.as_str();
    let folder = own("path").map(|name| path.with_file_name(name).into_os_string());
    own("channel").map(OsString::from).or(folder)
}

/// Checks a file and the folders that decide what it is.
fn owned(path: &Path) -> Result<(), Error> {
    trust::written_by_others(path).map_or(Ok(()), |reason| Err(of_others(path, &reason)))
}

/// Checks each file and folder below a folder.
fn tree(folder: &Path) -> Result<(), Error> {
    // Git checks its own folder.
    let is_kept = |entry: &DirEntry| entry.file_name() != ".git";
    let entries = WalkDir::new(folder).follow_links(true).into_iter().filter_entry(is_kept);
    for (count, entry) in entries.enumerate() {
        if count == MOST_FILES {
            let message = format!("has more than {MOST_FILES} files; move others out of the crate");
            let (code, path) = (codes::TOO_LARGE, folder.to_owned());
            return Err(Error::File { code, path, message });
        }
        // A link to nothing or to a folder around it, or a folder that this user cannot read.
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        let link = if entry.path_is_symlink() { fs::symlink_metadata(path).ok() } else { None };
        for found in link.into_iter().chain(entry.metadata().ok()) {
            if let Some(reason) = reason(&found) {
                return Err(of_others(path, &reason));
            }
        }
        // The walk reaches the other files below the folder without the link.
        let leads_out = || !fs::canonicalize(path).is_ok_and(|real| real.starts_with(folder));
        if entry.path_is_symlink() && leads_out() {
            owned(path)?;
        }
    }
    Ok(())
}

/// Why another user could have written a file or a folder. A group counts as the user's own: many
/// systems let it write what a user creates.
fn reason(found: &Metadata) -> Option<String> {
    if ![geteuid().as_raw(), 0].contains(&found.uid()) {
        return Some(format!("it belongs to user {}", found.uid()));
    }
    let can_all = found.mode() & EVERYBODY != 0 && found.mode() & KIND != SYMLINK;
    can_all.then(|| "all users can write to it".to_owned())
}

fn of_others(path: &Path, reason: &str) -> Error {
    let message = format!("{reason}; building the crate would run code of others");
    Error::File { code: codes::CRATE_OF_OTHERS, path: path.to_owned(), message }
}
