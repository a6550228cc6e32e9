//! Files whose names come from RTL, below one folder.
//!
//! RTL names files in an `include` or a `$readmemh`, with as many `..` as its author likes. Every
//! tool that needs such files gets a copy of them in a new folder, and [`lay_out`] is the only
//! function that makes one. It creates one level of folders for each `..` that the names need, so
//! that all of them mean a file in the copy. It walks from folder to folder with open descriptors,
//! never follows a link and never opens an existing file, so no name can lead elsewhere.

use crate::Error;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// The name of a folder above those of the files, which a leading `..` reaches.
const ABOVE: &str = "x";

/// A relative name after its `.` and `..` are resolved as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignName {
    /// Number of leading `..`.
    pub ups: usize,
    /// The other components. None of them is `.` or `..`.
    pub parts: PathBuf,
}

impl ForeignName {
    /// Resolves a name; `None` if it is absolute or means no file.
    pub fn new(name: &Path) -> Option<Self> {
        let mut resolved = Self { ups: 0, parts: PathBuf::new() };
        for part in name.components() {
            match part {
                Component::Normal(part) => resolved.parts.push(part),
                Component::ParentDir if resolved.parts.pop() => {}
                Component::ParentDir => resolved.ups += 1,
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        let is_file = matches!(name.components().next_back(), Some(Component::Normal(_)));
        is_file.then_some(resolved)
    }

    /// The name as seen from a root, if names are relative to the folder `inside` of that root;
    /// `None` if it leaves the root.
    pub fn below(&self, inside: &Path) -> Option<PathBuf> {
        let folders: Vec<Component<'_>> = inside.components().collect();
        let kept = folders.len().checked_sub(self.ups)?;
        Some(folders[..kept].iter().collect::<PathBuf>().join(&self.parts))
    }
}

/// Writes files into `root`, which must not exist yet, and returns the folder inside of it that
/// their names are relative to. A file with an absolute name stays where it is.
///
/// # Errors
/// [`Error::Name`] if a name means no file, or the same file as another name with another text.
/// [`Error::Changed`] if an absolute name does not hold its text any more. [`Error::Io`].
pub fn lay_out<'a>(
    root: &Path,
    files: impl IntoIterator<Item = (&'a Path, &'a [u8])>,
) -> Result<PathBuf, Error> {
    let files: Vec<(&Path, &[u8])> = files.into_iter().collect();
    let ups = files.iter().filter_map(|(name, _)| Some(ForeignName::new(name)?.ups)).max();
    let inside = PathBuf::from_iter(vec![ABOVE; ups.unwrap_or_default()]);
    fs::create_dir(root).map_err(Error::io(root))?;
    let mut copy = Copy { root, inside: &inside, placed: BTreeMap::new() };
    copy.folder(&inside).map_err(Error::io(root))?;
    for (name, text) in files {
        if name.is_relative() {
            copy.add(name, text)?;
        } else if !holds(name, text) {
            return Err(Error::Changed { path: name.to_owned() });
        }
    }
    Ok(root.join(inside))
}

/// Whether a file has this text.
fn holds(path: &Path, text: &[u8]) -> bool {
    let read = || {
        let mut found = Vec::new();
        File::open(path)?.take(text.len() as u64 + 1).read_to_end(&mut found)?;
        io::Result::Ok(found)
    };
    read().is_ok_and(|found| found == text)
}

/// The files that are written.
struct Copy<'a> {
    root: &'a Path,
    /// The folder that names are relative to, relative to `root`.
    inside: &'a Path,
    /// Texts by their place below `root`.
    placed: BTreeMap<PathBuf, &'a [u8]>,
}

impl<'a> Copy<'a> {
    fn add(&mut self, name: &Path, text: &'a [u8]) -> Result<(), Error> {
        let refuse =
            |reason: &str| Error::Name { name: name.to_owned(), reason: reason.to_owned() };
        let place = ForeignName::new(name).and_then(|resolved| resolved.below(self.inside));
        let place = place.ok_or_else(|| refuse("is not the name of a file"))?;
        let (Some(folder), Some(file)) = (place.parent(), place.file_name()) else {
            return Err(refuse("is not the name of a file"));
        };
        let collides = "would be the same file as another one with other contents; rename one";
        match self.placed.get(&place) {
            Some(other) if *other == text => return Ok(()),
            Some(_) => return Err(refuse(collides)),
            None => {}
        }
        let failed = |error: Errno| match error {
            Errno::EXIST | Errno::NOTDIR | Errno::LOOP => refuse(collides),
            other => Error::io(name)(other.into()),
        };
        self.passed(name).map_err(failed)?;
        let folder = self.folder_at(folder).map_err(failed)?;
        let mut file = create(&folder, file).map_err(failed)?;
        file.write_all(text).map_err(Error::io(name))?;
        self.placed.insert(place, text);
        Ok(())
    }

    /// Creates the folders that a name passes through and leaves again: `a/../b` needs `a`.
    fn passed(&self, name: &Path) -> Result<(), Errno> {
        let mut place = self.inside.to_owned();
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            let leaves = matches!(parts.peek(), Some(Component::ParentDir));
            match part {
                Component::ParentDir => drop(place.pop()),
                Component::Normal(part) => place.push(part),
                _ => {}
            }
            if leaves && part != Component::ParentDir {
                self.folder_at(&place)?;
            }
        }
        Ok(())
    }

    /// Opens a folder below the root, and creates it and those above it.
    fn folder_at(&self, place: &Path) -> Result<OwnedFd, Errno> {
        let mut folder = openat(CWD, self.root, FOLDER, Mode::empty())?;
        for part in place.components() {
            // Only plain names: no descriptor of a folder above the root is ever opened.
            let Component::Normal(part) = part else { return Err(Errno::INVAL) };
            match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            folder = openat(&folder, part, FOLDER, Mode::empty())?;
        }
        Ok(folder)
    }

    fn folder(&self, place: &Path) -> io::Result<()> {
        self.folder_at(place).map(drop).map_err(Into::into)
    }
}

/// Opens a folder, but no link to one.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Creates a file, which must not exist.
fn create(folder: &OwnedFd, name: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::from_raw_mode(0o666)).map(File::from)
}

/// The last `count` folders of a path, so that a name with as many `..` stays below the first of
/// them. A folder whose name needs quotes, or that does not exist, is called `rtl`.
pub fn last_folders(path: &Path, count: usize) -> PathBuf {
    let is_plain = |name: &OsStr| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        name.as_encoded_bytes().iter().all(is_plain)
    };
    let mut names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) if is_plain(name) => Some(name.to_owned()),
        Component::Normal(_) => Some(OsString::from("rtl")),
        _ => None,
    });
    let name = |_| names.next().unwrap_or_else(|| "rtl".into());
    let mut last: Vec<OsString> = (0..count).map(name).collect();
    last.reverse();
    last.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn laid_out(root: &Path, names: &[&str]) -> Result<PathBuf, Error> {
        lay_out(root, names.iter().map(|name| (Path::new(*name), name.as_bytes())))
    }

    /// All files below a folder.
    fn all_files(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { found.extend(all_files(&path)) } else { found.push(path) }
        }
        found.sort();
        found
    }

    #[test]
    fn a_name_is_resolved_as_text() {
        for (name, expected) in [
            ("a/b.v", Some((0, "a/b.v"))),
            ("./a/./b.v", Some((0, "a/b.v"))),
            ("a/../b.v", Some((0, "b.v"))),
            ("a/../../b.v", Some((1, "b.v"))),
            ("../../b.v", Some((2, "b.v"))),
            ("../a/../../b.v", Some((2, "b.v"))),
            ("/a/b.v", None),
            ("a/..", None),
            ("..", None),
            ("", None),
        ] {
            let expected = expected.map(|(ups, parts)| ForeignName { ups, parts: parts.into() });
            assert_eq!(ForeignName::new(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn no_name_leaves_the_root() {
        let outside = TempDir::new().unwrap();
        let victim = outside.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        // As many `..` as lead from any temporary folder to the root of the file system.
        let far = format!("@rtl/{}{}", "../".repeat(40), &victim.to_str().unwrap()[1..]);
        let root = outside.path().join("copy");
        let names = ["../a.v", "@rtl/../../b.v", "@rtl/sub/../c.v", "d/e.v", &far];
        let folder = laid_out(&root, &names).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(all_files(outside.path()).len(), names.len() + 1, "nothing else was written");
        assert_eq!(all_files(&root).len(), names.len(), "all is below the root");
        for name in names {
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), name, "as a tool reads it");
        }
    }

    #[test]
    fn two_texts_never_share_a_file() {
        let folder = TempDir::new().unwrap();
        let root = |name: &str| folder.path().join(name);
        for (at, names) in [
            ("same", ["a/../b.v", "b.v"]),
            ("folder", ["a", "a/b.v"]),
            ("file", ["a/b.v", "a"]),
            ("none", ["a/..", "b.v"]),
        ] {
            let error = laid_out(&root(at), &names).unwrap_err();
            assert!(matches!(error, Error::Name { .. }), "{names:?}: {error}");
        }
        let text: &[u8] = b"text";
        let twice = ["a/../b.v", "b.v"].map(|name| (Path::new(name), text));
        lay_out(&root("equal"), twice).unwrap();
    }

    #[test]
    fn links_and_existing_folders_are_refused() {
        let folder = TempDir::new().unwrap();
        let (root, other) = (folder.path().join("root"), folder.path().join("other"));
        fs::create_dir(&other).unwrap();
        symlink(&other, &root).unwrap();
        assert!(matches!(laid_out(&root, &["a.v"]), Err(Error::Io { .. })));
        // A link that appears in the copy while it is made.
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&other, real.join("a")).unwrap();
        symlink(other.join("c.v"), real.join("c.v")).unwrap();
        let mut copy = Copy { root: &real, inside: Path::new(""), placed: BTreeMap::new() };
        for name in ["a/b.v", "c.v"] {
            assert!(matches!(copy.add(Path::new(name), b""), Err(Error::Name { .. })), "{name}");
        }
        assert_eq!(all_files(&other), [] as [PathBuf; 0]);
    }

    #[test]
    fn an_absolute_name_is_read_in_place() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("a.vh");
        fs::write(&file, "text").unwrap();
        let copied = |at: &str, text: &str| {
            lay_out(&folder.path().join(at), [(file.as_path(), text.as_bytes())]).map(drop)
        };
        copied("same", "text").unwrap();
        assert!(matches!(copied("other", "other"), Err(Error::Changed { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    }

    #[test]
    fn folders_of_the_sources_are_kept() {
        for (path, count, expected) in [
            ("/home/u/proj/rtl", 0, ""),
            ("/home/u/proj/rtl", 1, "rtl"),
            ("/home/u/my proj/rtl", 2, "rtl/rtl"),
            ("/rtl", 3, "rtl/rtl/rtl"),
        ] {
            assert_eq!(last_folders(Path::new(path), count), Path::new(expected), "{path}");
        }
        let inside = last_folders(Path::new("/home/u/proj/core"), 1);
        let place = |name| ForeignName::new(Path::new(name)).unwrap().below(&inside);
        assert_eq!(place("../inc/x.vh"), Some("inc/x.vh".into()));
        assert_eq!(place("top.v"), Some("core/top.v".into()));
        assert_eq!(place("../../x.vh"), None);
    }
}
