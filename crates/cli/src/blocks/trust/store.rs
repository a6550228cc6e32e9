//! The crates that the user trusts: a file for each, in a folder that only the user can write.

use cosim_base::error::{Error, codes};
use std::env;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use verilated_files::{Error as FilesError, Hash, trust};

/// Names the folder for what cosim remembers of a user.
const VARIABLE: &str = "COSIM_STATE";
const FOLDER: &str = "trusted";

/// A folder by its path, device and inode: another folder at the same path is another place.
pub struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Place {
    /// The place of a folder.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read.
    pub fn from_folder(folder: &Path) -> Result<Self, Error> {
        let unreadable = |error| Error::unreadable(folder, &error);
        let path = fs::canonicalize(folder).map_err(unreadable)?;
        let found = fs::metadata(&path).map_err(unreadable)?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    /// Whether the user trusts it.
    pub fn is_remembered(&self) -> bool {
        let Ok(file) = self.file() else { return false };
        let is_own = fs::symlink_metadata(&file).is_ok_and(|found| {
            // No other user can write into the folder; this is a second check.
            found.is_file() && trust::is_trusted(&found)
        });
        is_own && fs::read_to_string(&file).is_ok_and(|text| text == self.text())
    }

    /// Trusts it from now on.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no folder for it. [`Error::Write`].
    pub fn remember(&self) -> Result<(), Error> {
        let file = self.file()?;
        let folder = file.parent().unwrap_or(Path::new("."));
        trust::folder(folder).map_err(unsafe_folder)?;
        // Only the user can read and write such a file.
        let mut new = NamedTempFile::new_in(folder).map_err(Error::write(folder))?;
        new.write_all(self.text().as_bytes()).map_err(Error::write(&file))?;
        new.persist(&file).map_err(|error| Error::write(&file)(error.error))?;
        Ok(())
    }

    /// Trusts it no longer.
    ///
    /// # Errors
    /// As [`Place::remember`].
    pub fn remove_trust(&self) -> Result<(), Error> {
        let file = self.file()?;
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::write(&file)(error)),
            _ => Ok(()),
        }
    }

    fn file(&self) -> Result<PathBuf, Error> {
        let mut hash = Hash::default();
        hash.add(self.path.as_os_str().as_encoded_bytes());
        let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let folder = from(VARIABLE)
            .map(PathBuf::from)
            .or_else(|| Some(Path::new(&from("XDG_STATE_HOME")?).join("cosim")))
            .or_else(|| Some(Path::new(&from("HOME")?).join(".local/state/cosim")));
        let folder = folder.ok_or_else(|| {
            let message = format!("there is no folder for trusted crates; set {VARIABLE} to one");
            Error::Usage(codes::BAD_VARIABLE, message)
        })?;
        let folder = trust::folder(&folder).map_err(unsafe_folder)?;
        Ok(folder.join(FOLDER).join(hash.hex()))
    }

    fn text(&self) -> String {
        let Self { path, device, inode } = self;
        format!("{}\ndevice {device}, inode {inode}\n", path.display())
    }
}

fn unsafe_folder(error: FilesError) -> Error {
    let why = match error {
        FilesError::UnsafeCache { folder, reason } => {
            format!("{} is not safe: {reason}", folder.display())
        }
        other => other.to_string(),
    };
    let message = format!("the folder for trusted crates: {why}; set {VARIABLE} to another one");
    Error::Usage(codes::BAD_VARIABLE, message)
}
