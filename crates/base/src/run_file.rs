//! Names of files inside a run directory.
//!
//! Results name the files that belong to them: vectors, waves and explanations. Results may come
//! from another person, so such a name is a type that cannot lead out of the run directory:
//! `FOLDER/NAME` with a known folder and a name of letters, digits, `-`, `_` and `.`. Files are
//! opened without following symbolic links.

use crate::error::{Error, codes};
use crate::files::{Sync, make_whole, write_whole};
use rustix::fs::{Mode, OFlags, openat};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use verilated_files::Hash;

/// Maximum length of a file stem in bytes. File systems allow 255, with extensions and partial
/// names.
const LONGEST_STEM: usize = 160;
/// Maximum length of a name in bytes.
const LONGEST_NAME: usize = 255;

/// A folder of a run directory with files that results name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFolder {
    /// Vectors, waves and explanations of failures.
    Failures,
    /// Vectors of matching cases.
    Saved,
    /// Vectors that kill mutants.
    Mutants,
}

impl RunFolder {
    const ALL: [Self; 3] = [Self::Failures, Self::Saved, Self::Mutants];

    /// The folder's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Saved => "saved",
            Self::Mutants => "mutants",
        }
    }
}

/// The name of a file inside a run directory: `FOLDER/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunFile(String);

impl RunFile {
    /// The file in `folder` that belongs to `text`, such as the name of a case. `ending` is the
    /// file's ending without its dot.
    pub fn new(folder: RunFolder, text: &str, ending: &'static str) -> Self {
        Self(format!("{}/{}.{ending}", folder.name(), file_stem(text)))
    }

    /// The file beside this one with another ending, without its dot.
    #[must_use]
    pub fn beside(&self, ending: &'static str) -> Self {
        let stem = self.0.rsplit_once('.').map_or(self.0.as_str(), |(stem, _)| stem);
        Self(format!("{stem}.{ending}"))
    }

    /// The name, relative to the run directory.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the file in a run directory.
    pub fn path(&self, run: &Path) -> PathBuf {
        run.join(self)
    }

    /// Opens the file of a run directory. Refuses symbolic links, pipes and devices.
    ///
    /// # Errors
    /// The system's error, or that the path is no file.
    pub fn open(&self, run: &Path) -> io::Result<File> {
        let (folder, name) = self.0.split_once('/').unwrap_or_default();
        open_plain(run, folder, OsStr::new(name))
    }

    /// Whether a run directory has the file, and it is no symbolic link.
    pub fn is_in(&self, run: &Path) -> bool {
        self.open(run).is_ok()
    }

    /// Writes the file of a run directory, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, run: &Path, content: &[u8], sync: Sync) -> Result<(), Error> {
        let path = self.path(run);
        make_parent(&path)?;
        write_whole(&path, content, sync)
    }

    /// Copies the file of one run directory into another one, under the name `to`.
    ///
    /// # Errors
    /// [`Error::File`] if the file is missing or is a symbolic link. [`Error::Write`].
    pub fn copy(&self, from: &Path, to: &Self, out: &Path) -> Result<(), Error> {
        let source = self.path(from);
        let mut file = self.open(from).map_err(|error| Error::File {
            code: if error.kind() == ErrorKind::NotFound {
                codes::INCOMPLETE
            } else {
                codes::FILE_UNREADABLE
            },
            path: source.clone(),
            message: match error.kind() {
                ErrorKind::NotFound => {
                    "does not exist, but the results name it; copy the whole run directory"
                        .to_owned()
                }
                _ => error.to_string(),
            },
        })?;
        let path = to.path(out);
        make_parent(&path)?;
        make_whole(&path, |partial| {
            let mut copy = File::create(partial).map_err(Error::write(&path))?;
            io::copy(&mut file, &mut copy).map(drop).map_err(Error::write(&path))
        })
    }
}

/// Converts a text to a file stem of letters, digits, `-`, `_` and `.` with limited length, which
/// does not begin with a dot. A truncated stem gets a hash, so that it stays unique.
pub fn file_stem(text: &str) -> String {
    let simple = |c: char| if is_plain(c) { c } else { '-' };
    let mut name: String = text.chars().map(simple).collect();
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '-');
    }
    if name.len() <= LONGEST_STEM {
        return name;
    }
    let mut hash = Hash::default();
    hash.add(text);
    let hash = hash.short();
    format!("{}-{hash}", &name[..LONGEST_STEM - hash.len() - 1])
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

/// Opens the file `below/name` of a folder. `folder` may be a link; nothing below it may be one.
///
/// # Errors
/// The system's error, or that the path is no file.
pub fn open_plain(folder: &Path, below: &str, name: &OsStr) -> io::Result<File> {
    let linked = |error: rustix::io::Errno| match error {
        rustix::io::Errno::LOOP => io::Error::other("is a symbolic link, expected a file"),
        rustix::io::Errno::NOTDIR => io::Error::other("is not in a folder of the run directory"),
        error => error.into(),
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let top = rustix::fs::open(folder, flags | OFlags::DIRECTORY, Mode::empty())?;
    let inner = openat(top, below, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    // A blocking open would wait for the writer of a pipe.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = openat(inner.map_err(linked)?, name, flags, Mode::empty()).map_err(linked)?;
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("is a folder, a pipe or a device, expected a file")),
    }
}

fn make_parent(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::write(folder))
}

impl TryFrom<String> for RunFile {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_name = |name: &str| {
            (1..=LONGEST_NAME).contains(&name.len())
                && !name.starts_with('.')
                && name.chars().all(is_plain)
        };
        let is_folder = |name: &str| RunFolder::ALL.iter().any(|folder| folder.name() == name);
        match text.split_once('/') {
            Some((folder, name)) if is_folder(folder) && is_name(name) => Ok(Self(text)),
            _ => Err(format!(
                "{text:?} is not the name of a file in a run directory; expected failures/NAME, \
                 saved/NAME or mutants/NAME, with letters, digits, `-`, `_` and `.`"
            )),
        }
    }
}

impl From<RunFile> for String {
    fn from(file: RunFile) -> Self {
        file.0
    }
}

impl AsRef<Path> for RunFile {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for RunFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for RunFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RunFile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^(failures|saved|mutants)/[A-Za-z0-9_-][A-Za-z0-9._-]*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn named(text: &str) -> Result<RunFile, serde_json::Error> {
        serde_json::from_value(text.into())
    }

    #[test]
    fn a_name_stays_in_the_run_directory() {
        for good in ["failures/a.json", "saved/x-1_2.json", "mutants/spec-7.json", "failures/-"] {
            assert_eq!(named(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "a.json",
            "failures",
            "failures/",
            "failures/..",
            "failures/.cosim-x",
            "failures/../../x",
            "failures/a/b",
            "failures//a",
            "/failures/a",
            "../failures/a",
            "/etc/passwd",
            "sources/a.v",
            "javascript:alert(1)",
            "javascript:alert(1)//failures/a",
            "failures/javascript:x",
            "failures/a b",
            "failures/a\n",
            "failures/\u{e9}",
            "failures/a\\b",
        ] {
            assert!(named(bad).is_err(), "{bad}");
        }
        assert!(named(&format!("failures/{}", "a".repeat(256))).is_err());
    }

    #[test]
    fn what_the_program_names_can_be_read_again() {
        for text in ["mismatch-a-S0-b/p/s/0", "", ".", "..", ".x", "a\u{e9} \n\0*", "x/../y"] {
            let file = RunFile::new(RunFolder::Saved, text, "json");
            assert_eq!(named(file.as_str()).unwrap(), file, "{text}");
        }
        let long = RunFile::new(RunFolder::Failures, &"x".repeat(5000), "original.json");
        assert_eq!(named(long.as_str()).unwrap(), long);
    }

    #[test]
    fn stems_are_legal_bounded_and_different() {
        assert_eq!(file_stem("hang-S0-thread2/spec/smoke/0"), "hang-S0-thread2-spec-smoke-0");
        assert_eq!(file_stem("a\u{e9} \n\0*"), "a-----");
        let long = |last: &str| file_stem(&format!("{}/{last}", "x".repeat(5000)));
        assert_eq!(long("1").len(), LONGEST_STEM);
        assert_ne!(long("1"), long("2"));
    }

    #[test]
    fn links_are_not_followed() {
        let folder = TempDir::new().unwrap();
        let [run, out] = ["run", "out"].map(|name| folder.path().join(name));
        let file = RunFile::new(RunFolder::Failures, "a", "json");
        file.write(&run, b"text", Sync::Lazy).unwrap();
        file.copy(&run, &file, &out).unwrap();
        assert_eq!(fs::read(file.path(&out)).unwrap(), b"text");

        let secret = folder.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let linked = RunFile::new(RunFolder::Failures, "b", "json");
        symlink(&secret, linked.path(&run)).unwrap();
        let error = linked.copy(&run, &linked, &out).unwrap_err();
        assert_eq!(error.code(), codes::FILE_UNREADABLE, "{error}");
        assert!(!linked.path(&out).exists());

        // The folder is a link.
        let of_link = folder.path().join("of-link");
        fs::create_dir(&of_link).unwrap();
        symlink(run.join("failures"), of_link.join("failures")).unwrap();
        assert!(!file.is_in(&of_link));
        // The run directory itself may be one: the user named it.
        let link = folder.path().join("link");
        symlink(&run, &link).unwrap();
        assert!(file.is_in(&link));
    }

    #[test]
    fn a_pipe_and_a_missing_file_are_errors() {
        let folder = TempDir::new().unwrap();
        let file = RunFile::new(RunFolder::Mutants, "a", "json");
        let missing = file.copy(folder.path(), &file, folder.path()).unwrap_err();
        assert_eq!(missing.code(), codes::INCOMPLETE);
        fs::create_dir(folder.path().join("mutants")).unwrap();
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, file.path(folder.path()), kind, Mode::RUSR, 0)
            .unwrap();
        assert!(!file.is_in(folder.path()));
    }
}
