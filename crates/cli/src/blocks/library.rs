//! The library for blocks, as Cargo finds it: in the checkout of this program, or unpacked from it.
//!
//! A crate of blocks names a version of the library. Which folder has that version differs between
//! machines, so it is no part of the crate: `cosim` passes it to Cargo, and `cosim new` writes it
//! to `.cargo/config.toml`, which Git ignores, for Cargo without `cosim`.

use cosim_base::error::{Error, codes};
use cosim_block::program::LIBRARY;
use cosim_new::toml_string;
use cosim_rtl::models::library_folder;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::Builder;

use walkdir::WalkDir;

/// The files of the library: see the build script.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"));
/// Digits of the hash in the name of the folder.
const DIGITS: usize = 16;
/// The crates that a crate of blocks depends on, with their folders.
const CRATES: [(&str, &str); 2] = [("cosim-core", "core"), ("cosim-build", "core/build")];
const LOCK: &str = "Cargo.lock";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    folder: PathBuf,
}

impl Library {
    /// The library of this program; `None` if only the registry has it.
    ///
    /// # Errors
    /// [`Error::Environment`] if it cannot be unpacked.
    pub fn from_program() -> Result<Option<Self>, Error> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let program = env::current_exe().unwrap_or_default();
        match checkout.filter(|checkout| program.starts_with(checkout)) {
            Some(checkout) => Self::checkout(checkout).map(Some),
            None => Self::unpacked(),
        }
    }

    /// The library of a checkout.
    ///
    /// # Errors
    /// [`Error::File`] if the folder is none.
    pub fn checkout(path: &Path) -> Result<Self, Error> {
        let wrong = |path: &Path, message: String| Error::File {
            code: codes::NOT_A_CHECKOUT,
            path: path.to_owned(),
            message,
        };
        for (_, part) in CRATES {
            if !path.join(part).join("Cargo.toml").is_file() {
                let message = format!("is not a checkout of cosim: it has no {part}/Cargo.toml");
                return Err(wrong(path, message));
            }
        }
        let folder = fs::canonicalize(path).map_err(|error| Error::unreadable(path, &error))?;
        match folder.to_str() {
            Some(_) => Ok(Self { folder }),
            None => {
                let message = "cannot be named in a file of Cargo, because its path is not UTF-8";
                Err(wrong(&folder, message.to_owned()))
            }
        }
    }

    /// The library that this program contains, below the user's cache. Its code is executed when a
    /// crate is built, so every file is compared each time.
    fn unpacked() -> Result<Option<Self>, Error> {
        let files = files(PACKED).ok_or_else(|| {
            let message = "the library in this program cannot be read".to_owned();
            Error::Environment(codes::INTERNAL, message)
        })?;
        if files.is_empty() {
            return Ok(None);
        }
        let Some(all) = library_folder()? else { return Ok(None) };
        let folder = all.join(LIBRARY.get(..DIGITS).unwrap_or(LIBRARY));
        if !is_as(&folder, &files) {
            fs::create_dir_all(&all).map_err(Error::write(&all))?;
            let new =
                Builder::new().prefix(".new-").tempdir_in(&all).map_err(Error::write(&all))?;
            for (name, text) in &files {
                let path = new.path().join(name);
                let parent = path.parent().unwrap_or(new.path());
                fs::create_dir_all(parent).map_err(Error::write(parent))?;
                fs::write(&path, text).map_err(Error::write(&path))?;
            }
            if folder.symlink_metadata().is_ok() {
                fs::remove_dir_all(&folder).map_err(Error::write(&folder))?;
            }
            // Another process may have unpacked the same files meanwhile.
            if let Err(error) = fs::rename(new.path(), &folder)
                && !is_as(&folder, &files)
            {
                return Err(Error::write(&folder)(error));
            }
        }
        Ok(Some(Self { folder }))
    }

    /// The files of a new crate that point Cargo to the library and its dependencies, by path.
    pub fn files_of_crate(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut text = "# Where this machine has the library for blocks. `cosim` wrote it, and it is no part of \
             the crate.\n[patch.crates-io]\n"
            .to_owned();
        for (name, path) in self.paths() {
            text += &format!("{name} = {{ path = {path} }}\n");
        }
        let lock = fs::read(self.folder.join(LOCK)).ok();
        let lock = lock.map(|lock| (LOCK.into(), lock));
        [(".cargo/config.toml".into(), text.into_bytes())].into_iter().chain(lock).collect()
    }

    pub fn arguments(&self) -> Vec<String> {
        let argument = |(name, path)| format!("--config=patch.crates-io.{name}.path={path}");
        self.paths().map(argument).collect()
    }

    /// The crates with their paths as TOML.
    fn paths(&self) -> impl Iterator<Item = (&'static str, String)> {
        CRATES.into_iter().map(|(name, part)| {
            let path = self.folder.join(part).to_string_lossy().into_owned();
            (name, toml_string(&path))
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

pub fn files(mut packed: &'static [u8]) -> Option<BTreeMap<PathBuf, &'static [u8]>> {
    let mut next = || -> Option<&'static [u8]> {
        let (length, rest) = packed.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        packed = rest;
        Some(bytes)
    };
    let mut files = BTreeMap::new();
    while let Some(name) = next() {
        files.insert(PathBuf::from(std::str::from_utf8(name).ok()?), next()?);
    }
    packed.is_empty().then_some(files)
}

/// Whether a folder has exactly these files. Any other file may be code, such as a build script.
fn is_as(folder: &Path, files: &BTreeMap<PathBuf, &'static [u8]>) -> bool {
    let mut found = 0;
    for entry in WalkDir::new(folder) {
        let Ok(entry) = entry else { return false };
        if entry.file_type().is_dir() {
            continue;
        }
        let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let is_same = entry.file_type().is_file()
            && files.get(name).is_some_and(|text| {
                fs::read(entry.path()).is_ok_and(|found| found.as_slice() == *text)
            });
        if !is_same {
            return false;
        }
        found += 1;
    }
    found == files.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn the_program_contains_the_library_of_its_checkout() {
        let files = files(PACKED).expect("packed files");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in ["core/src/lib.rs", "core/build/src/lib.rs", "crates/harness/Cargo.toml"] {
            let text = fs::read(root.join(name)).expect("a file of the checkout");
            assert_eq!(files.get(Path::new(name)).copied(), Some(text.as_slice()), "{name}");
        }
        assert!(!files.contains_key(Path::new("crates/cli/Cargo.toml")), "no crate of the tool");
    }

    #[test]
    fn a_changed_or_additional_file_is_seen() {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let files = BTreeMap::from([(PathBuf::from("a/b.rs"), b"text".as_slice())]);
        assert!(!is_as(folder.path(), &files), "nothing is there");
        fs::create_dir(path("a")).expect("a folder");
        fs::write(path("a/b.rs"), "text").expect("a file");
        assert!(is_as(folder.path(), &files));
        fs::write(path("a/b.rs"), "test").expect("a file");
        assert!(!is_as(folder.path(), &files), "another text");
        fs::write(path("a/b.rs"), "text").expect("a file");
        fs::write(path("build.rs"), "").expect("a file");
        assert!(!is_as(folder.path(), &files), "a build script beside it");
        fs::remove_file(path("build.rs")).expect("it is there");
        fs::rename(path("a/b.rs"), path("b.rs")).expect("it is there");
        std::os::unix::fs::symlink(path("b.rs"), path("a/b.rs")).expect("a link");
        assert!(!is_as(folder.path(), &files), "a link");
    }
}
