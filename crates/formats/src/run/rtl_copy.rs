//! `rtl.json`: the RTL of a run with failures, so that `cosim replay` needs the run directory
//! alone.
//!
//! The file may come from anyone. It names no path of a machine, and [`RtlCopy::lay_out`] writes
//! below a new folder only: a name has plain parts, and none of them is hidden.

use crate::record::RecordFormat;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_base::run_file::open_plain;
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_rtl::models::{Copies, Examined, copied_data};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use verilated_files::foreign::lay_out;

pub const RTL_COPY: &str = "rtl.json";
const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-rtl", version: 1, most: 2 * LARGEST_INPUT };
const MOST_FILES: usize = 20_000;

/// The RTL that a run compiled, built-in files included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtlCopy {
    format: String,
    version: u64,
    /// The git commit of the working directory, if it has one.
    pub commit: Option<String>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    defines: Vec<String>,
    /// The folder in which files are searched, relative to that of the copy.
    folder: String,
    files: BTreeMap<String, Content>,
    #[serde(default, skip_serializing)]
    checksum: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Content {
    Text(String),
    /// Two hexadecimal digits per byte.
    #[serde(with = "cosim_harness::as_hex")]
    Hex(Vec<u8>),
}

impl Content {
    fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Hex(bytes.to_vec()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Hex(bytes) => bytes,
        }
    }
}

impl RtlCopy {
    /// The files of an RTL.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Usage`] if a copy would not find a file, as one that is included
    /// by an absolute path, or if a link leads to one outside of what the user named.
    pub fn new(examined: &Examined, commit: Option<String>) -> Result<Self, Error> {
        if let Some(path) = examined.left.first() {
            let message = "is behind a link out of the given folder, and may be private; give the \
                           RTL without the link";
            let (path, message) = (path.clone(), message.to_owned());
            return Err(Error::File { code: codes::CANNOT_COPY, path, message });
        }
        let copies = Copies::new(examined)?;
        let name = |path: &Path| path.to_string_lossy().into_owned();
        let data = copied_data(examined)?;
        let data = data.iter().map(|(file, text)| (copies.folder.join(file), *text));
        let sources = copies.files.iter().map(|(file, text)| (file.clone(), text.as_slice()));
        let files =
            sources.chain(data).map(|(file, text)| (name(&file), Content::from_bytes(text)));
        Ok(Self {
            format: FORMAT.name.to_owned(),
            version: FORMAT.version,
            commit,
            defines: examined.design.defines.clone(),
            folder: name(&copies.folder),
            files: files.collect(),
            checksum: String::new(),
        })
    }

    /// The names and the texts of the files that are text.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(name, content)| match content {
            Content::Text(text) => Some((name.as_str(), text.as_str())),
            Content::Hex(_) => None,
        })
    }

    /// Writes the file of a run directory.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, run: &Path) -> Result<(), Error> {
        FORMAT.write(&run.join(RTL_COPY), self, Sync::Lazy)
    }

    /// Reads the file of a run directory; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is a link, too large, damaged, or has a name that
    /// leads out of the copy.
    pub fn read(run: &Path) -> Result<Option<Self>, Error> {
        let path = run.join(RTL_COPY);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let plain = open_plain(run, ".", OsStr::new(RTL_COPY));
        plain.map_err(|error| Error::unreadable(&path, &error))?;
        let (copy, _) = FORMAT.read::<Self>(&path)?;
        let wrong = |message: String| {
            Err(Error::File { code: codes::DAMAGED, path: path.clone(), message })
        };
        if copy.files.is_empty() || copy.files.len() > MOST_FILES {
            return wrong(format!("has {} files, expected 1 to {MOST_FILES}", copy.files.len()));
        }
        let folder = Some(&copy.folder).filter(|folder| !folder.is_empty());
        for name in copy.files.keys().chain(folder) {
            if !is_inside(name) {
                return wrong(format!(
                    "the name {} leads out of the copy, or is hidden",
                    text::line(&format!("{name:?}"))
                ));
            }
        }
        Ok(Some(copy))
    }

    /// Writes the files into `root`, which does not exist yet, and returns the RTL. `like` has the
    /// simulator.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::File`] if that is impossible.
    pub fn lay_out(&self, root: &Path, like: &Rtl) -> Result<Rtl, Error> {
        lay_out(root, self.files.iter().map(|(name, content)| (Path::new(name), content.bytes())))?;
        let include = match &*self.folder {
            "" => Vec::new(),
            folder => vec![root.join(folder)],
        };
        let defines = self.defines.clone();
        Ok(Rtl { paths: vec![root.to_owned()], include, defines, ..like.built_in() })
    }
}

/// Whether a name has plain parts only, none of which is hidden.
fn is_inside(name: &str) -> bool {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(part) => !part.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    let path = PathBuf::from(name);
    // `a//b` and `a/.` have plain parts, too, but another form.
    let is_whole = path.components().collect::<PathBuf>().as_os_str() == name;
    !name.is_empty() && is_whole && path.components().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn copy(files: &[(&str, Content)]) -> RtlCopy {
        let files = files.iter().map(|(name, content)| ((*name).to_owned(), content.clone()));
        RtlCopy {
            format: FORMAT.name.to_owned(),
            version: FORMAT.version,
            commit: None,
            defines: vec!["A=1".to_owned()],
            folder: String::new(),
            files: files.collect(),
            checksum: String::new(),
        }
    }

    fn text(text: &str) -> Content {
        Content::Text(text.to_owned())
    }

    #[test]
    fn a_copy_has_the_bytes_of_the_files_and_their_names() {
        let folder = TempDir::new().unwrap();
        let latin = b"// caf\xe9\0";
        let written = copy(&[("a.v", text("module a;")), ("sub/b.vh", Content::from_bytes(latin))]);
        written.write(folder.path()).unwrap();
        let read = RtlCopy::read(folder.path()).unwrap().unwrap();
        assert_eq!(read.files, written.files);
        let root = folder.path().join("rtl");
        let rtl = read.lay_out(&root, &Rtl::default()).unwrap();
        assert_eq!(rtl.paths, std::slice::from_ref(&root));
        assert_eq!(rtl.defines, ["A=1"]);
        assert_eq!(fs::read(root.join("a.v")).unwrap(), b"module a;");
        assert_eq!(fs::read(root.join("sub/b.vh")).unwrap(), latin);
        // Nothing is written over.
        assert!(read.lay_out(&root, &Rtl::default()).is_err());
    }

    #[test]
    fn names_and_contents_that_no_run_writes_are_refused() {
        let folder = TempDir::new().unwrap();
        assert_eq!(RtlCopy::read(folder.path()).unwrap(), None);
        let code = |copy: &RtlCopy| {
            copy.write(folder.path()).unwrap();
            RtlCopy::read(folder.path()).map_err(|error| error.code()).err()
        };
        let good = copy(&[("a.v", text(""))]);
        assert_eq!(code(&good), None);
        let wrong = Some(codes::DAMAGED);
        for name in ["", "/a", "..", "../a", "a/../b", "./a", "a/.", "a//b", "a/", ".a", "a/.git/b"]
        {
            assert_eq!(code(&copy(&[(name, text(""))])), wrong, "{name:?}");
            let elsewhere = RtlCopy { folder: name.to_owned(), ..good.clone() };
            assert_eq!(code(&elsewhere), wrong.filter(|_| !name.is_empty()), "{name:?}");
        }
        for hex in ["0", "zz", "+1", "é"] {
            let content = serde_json::json!({ "hex": hex });
            assert!(serde_json::from_value::<Content>(content).is_err(), "{hex}");
        }
        assert_eq!(code(&copy(&[])), wrong);
        let many: Vec<String> = (0..=MOST_FILES).map(|number| number.to_string()).collect();
        let many: Vec<(&str, Content)> = many.iter().map(|name| (&**name, text(""))).collect();
        assert_eq!(code(&copy(&many)), wrong);
        // A file cannot be a folder, too.
        let both = copy(&[("a", text("")), ("a/b", text(""))]);
        assert!(both.lay_out(&folder.path().join("rtl"), &Rtl::default()).is_err());
    }
}
