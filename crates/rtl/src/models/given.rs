//! Finds the files of user RTL on disk.

use super::data::REVISION;
use super::file_list::FileListContents;
use super::special;
use cosim_base::error::{Code, Error, codes};
pub use cosim_base::files::folder_of;
use cosim_block::rtl::Rtl;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use verilated_build::sources;
use walkdir::{DirEntry, WalkDir};

/// Maximum number of searched folders; each is an argument of Verilator.
const MOST_FOLDERS: usize = 4000;
/// Maximum number of folder entries to visit: stops at links to the root of a file system.
pub const MOST_ENTRIES: usize = 1 << 18;

/// The end of the name of a file with properties as assertions.
const ASSERTIONS: &str = "_sva.sv";

/// A folder that Verilator searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The path as typed, or relative to what was typed.
    pub path: PathBuf,
    /// The user gave it with `-I`, so that it comes before the others.
    pub is_explicit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserRtl {
    pub sources: Vec<PathBuf>,
    /// Folders to search, in this order.
    pub folders: Vec<Folder>,
    pub libraries: Vec<PathBuf>,
    pub defines: Vec<String>,
    /// Extensions of files that are searched for modules.
    pub extensions: Vec<String>,
    /// Files with properties as assertions, `NAME_sva.sv`. They are no part of the design.
    pub assertions: Vec<PathBuf>,
    /// Files below given folders.
    pub files: Vec<PathBuf>,
    /// The real path of the folder, if it is one with RTL of a revision.
    pub revision: Option<PathBuf>,
    pub named: Named,
    /// The canonical paths of the sources.
    known: BTreeSet<PathBuf>,
    searched: BTreeSet<PathBuf>,
}

/// The folders and files that the user named, to find files that a link leads to elsewhere. The
/// links may come with RTL of others, and a private file of the user behind one is no part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// Folders as typed, and their paths without links.
    folders: Vec<(PathBuf, PathBuf)>,
    /// Folders with files that were named, in the same way. Their other files were not named.
    around: Vec<(PathBuf, PathBuf)>,
    /// Files, without links.
    files: BTreeSet<PathBuf>,
}

impl Named {
    fn folder(&mut self, folder: &Path) {
        self.folders.extend(with_real(folder));
    }

    fn file(&mut self, file: &Path) {
        self.around.extend(with_real(folder_of(file)));
        self.files.extend(fs::canonicalize(file));
    }

    /// Whether a file that was found below a folder is elsewhere, because its path passes a link.
    pub fn is_left(&self, path: &Path) -> bool {
        let Ok(real) = fs::canonicalize(path) else { return false };
        let is_inside = |(_, folder): &(PathBuf, PathBuf)| real.starts_with(folder);
        if self.files.contains(&real) || self.folders.iter().any(is_inside) {
            return false;
        }
        // Simulators also search the working directory.
        let here = with_real(Path::new("."));
        let has_no_link = |(typed, folder): &(PathBuf, PathBuf)| {
            path.strip_prefix(typed).is_ok_and(|rest| resolved(&folder.join(rest)) == real)
        };
        !self.folders.iter().chain(&self.around).chain(&here).any(has_no_link)
    }
}

/// A folder, as paths below it begin, and its path without links.
fn with_real(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let typed = if folder == Path::new(".") { Path::new("") } else { folder };
    Some((typed.to_owned(), fs::canonicalize(folder).ok()?))
}

/// A path without `..`, as text.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            part => resolved.push(part),
        }
    }
    resolved
}

impl UserRtl {
    /// Finds the files that `rtl` names.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] for a file that is missing or unusable.
    pub fn find(rtl: &Rtl) -> Result<Self, Error> {
        let mut listed = FileListContents::default();
        for list in &rtl.lists {
            listed.read(list)?;
        }
        let mut given = Self {
            defines: rtl.defines.iter().chain(&listed.defines).cloned().collect(),
            extensions: listed.extensions,
            revision: match &rtl.paths[..] {
                [path] if path.join(REVISION).is_dir() => {
                    Some(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
                }
                _ => None,
            },
            ..Self::default()
        };
        for folder in rtl.include.iter().chain(&listed.include) {
            if !folder.is_dir() {
                return Err(refuse(
                    codes::RTL_NOT_FOUND,
                    folder,
                    "is not a folder; expected a folder to search for files",
                ));
            }
            given.named.folder(folder);
            given.search(folder, true);
        }
        for path in &rtl.paths {
            if path.is_dir() {
                given.walk(path)?;
            } else {
                let message = "is neither a Verilog file nor a folder that contains one";
                given.file(path, message)?;
            }
        }
        for path in &listed.sources {
            given.file(path, "is named in a file list but is not a file; a file list has paths and options of Verilator")?;
        }
        for path in listed.libraries {
            readable(&path, "is named by -v in a file list but is not a file")?;
            given.named.file(&path);
            given.libraries.push(path);
        }
        given.search_parents();
        if given.folders.len() > MOST_FOLDERS {
            let message = format!(
                "has more than {MOST_FOLDERS} folders with files; name the folder of the RTL, \
                 single files, or a file list (-f)"
            );
            let path = rtl.paths.first().cloned().unwrap_or_default();
            return Err(Error::File { code: codes::BAD_RTL_PATH, path, message });
        }
        special::check(&given)?;
        Ok(given)
    }

    /// Adds a file. Its folder is searched for what it includes and instantiates.
    fn file(&mut self, path: &Path, message: &str) -> Result<(), Error> {
        readable(path, message)?;
        self.named.file(path);
        self.source(path);
        self.search(folder_of(path), false);
        Ok(())
    }

    /// Adds a folder: every Verilog file below it is a source, and every subfolder with files is
    /// searched. Hidden entries are skipped.
    fn walk(&mut self, root: &Path) -> Result<(), Error> {
        let is_hidden = |entry: &DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let real = fs::canonicalize(root).map_err(|error| Error::unreadable(root, &error))?;
        // What a link inside of the folder leads to is found without it, and what is around the
        // folder was not named.
        let leads_inside = |entry: &DirEntry| {
            let target = || {
                let linked = entry.path_is_symlink() && entry.depth() > 0;
                let target = linked.then(|| fs::canonicalize(entry.path()).ok())??;
                if real.starts_with(&target) {
                    return Some(true);
                }
                let inside = target.strip_prefix(&real).ok()?;
                let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
                Some(!inside.iter().any(is_hidden))
            };
            entry.file_type().is_dir() && target() == Some(true)
        };
        let mut walked = BTreeSet::new();
        // A folder that several links lead to is walked once.
        let is_new = |entry: &DirEntry, walked: &mut BTreeSet<PathBuf>| {
            !entry.file_type().is_dir()
                || fs::canonicalize(entry.path()).is_ok_and(|real| walked.insert(real))
        };
        let walk = WalkDir::new(root).follow_links(true).sort_by_file_name();
        let mut found = false;
        self.named.folder(root);
        self.search(root, false);
        let is_kept = |entry: &DirEntry| {
            !is_hidden(entry) && !leads_inside(entry) && is_new(entry, &mut walked)
        };
        let entries = walk.into_iter().filter_entry(is_kept);
        for (count, entry) in entries.enumerate() {
            verilated_build::check_interrupted()?;
            let entry = match entry {
                // A link to a folder around it, or to nothing.
                Err(error) if is_idle_link(&error) => continue,
                other => other.map_err(|error| Error::File {
                    code: codes::FILE_UNREADABLE,
                    path: error.path().unwrap_or(root).to_owned(),
                    message: unwalkable(&error),
                })?,
            };
            if count == MOST_ENTRIES {
                let message = "contains too many files; name the folder of the RTL";
                return Err(refuse(codes::TOO_LARGE, root, message));
            }
            let path = entry.path();
            if !entry.file_type().is_file() {
                special::check_entry(path, &[])?;
                continue;
            }
            self.search(folder_of(path), false);
            self.files.push(path.to_owned());
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            if extension == "v" || extension == "sv" {
                readable(path, "is not a file")?;
                self.source(path);
                found = true;
            }
        }
        if found {
            Ok(())
        } else {
            Err(refuse(codes::RTL_NOT_FOUND, root, "has no Verilog file (.v, .sv)"))
        }
    }

    /// Also searches folders from which the files below given folders are included by a path, as
    /// `inc` for `include "pkg/types.svh"` and a file `inc/pkg/types.svh`.
    fn search_parents(&mut self) {
        const HEADERS: [&str; 6] = ["vh", "svh", "h", "inc", "svi", "vinc"];
        let is_header = |path: &&PathBuf| {
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            HEADERS.iter().any(|header| extension == **header)
        };
        let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
        for path in self.sources.iter().chain(self.files.iter().filter(is_header)) {
            let Ok(text) = fs::read(path) else { continue };
            let text = String::from_utf8_lossy(&text);
            let below = sources::includes(&text).map(PathBuf::from).filter(|name| {
                let mut parts = name.components();
                parts.all(|part| matches!(part, Component::Normal(_))) && name.iter().count() > 1
            });
            wanted.extend(below);
        }
        for name in &wanted {
            let is_it = |path: &&PathBuf| path.ends_with(name);
            let found: Vec<PathBuf> = self.files.iter().filter(is_it).cloned().collect();
            for path in found {
                if let Some(parent) = path.ancestors().nth(name.iter().count()) {
                    let parent = if parent == Path::new("") { Path::new(".") } else { parent };
                    self.search(parent, false);
                }
            }
        }
    }

    fn source(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_design = !name.ends_with(ASSERTIONS);
        // The same file twice is one file.
        if self.known.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())) {
            let files = if is_design { &mut self.sources } else { &mut self.assertions };
            files.push(path.to_owned());
        }
    }

    fn search(&mut self, path: &Path, is_explicit: bool) {
        if self.searched.insert(path.to_owned()) {
            self.folders.push(Folder { path: path.to_owned(), is_explicit });
        }
    }
}

fn readable(path: &Path, message: &str) -> Result<(), Error> {
    if !path.is_file() {
        return Err(refuse(codes::RTL_NOT_FOUND, path, message));
    }
    fs::File::open(path).map_err(|error| Error::unreadable(path, &error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(|c: char| c == '"' || c == '\\' || c == '\u{fffd}' || c.is_control()) {
        return Err(refuse(
            codes::BAD_RTL_PATH,
            path,
            "has a name that Verilator does not accept; rename it",
        ));
    }
    Ok(())
}

fn refuse(code: Code, path: &Path, message: &str) -> Error {
    Error::File { code, path: path.to_owned(), message: message.to_owned() }
}

/// Whether a folder cannot be walked because of a link that adds nothing to it.
fn is_idle_link(error: &walkdir::Error) -> bool {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    error.loop_ancestor().is_some()
        || error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound)
            && error.depth() > 0
            && error.path().is_some_and(is_link)
}

pub fn unwalkable(error: &walkdir::Error) -> String {
    match (error.loop_ancestor(), error.io_error()) {
        (Some(ancestor), _) => format!(
            "is a symbolic link to {}, which contains it; remove the \
             link",
            ancestor.display()
        ),
        (None, Some(error)) => format!("cannot be read: {error}"),
        (None, None) => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn a_link_out_of_what_the_user_named_leaves_it() {
        let root = TempDir::new().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["rtl/sub", "inc", "one", "private"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["rtl/a.v", "inc/b.vh", "one/c.v", "one/d.v", "private/key"] {
            fs::write(at(file), "module m; endmodule").unwrap();
        }
        for (target, link) in [
            ("../private/key", "rtl/key.hex"),
            ("../private", "rtl/folder"),
            ("a.v", "rtl/again.v"),
            ("../inc/b.vh", "rtl/b.vh"),
            ("../../rtl", "rtl/sub/loop"),
            ("../private/key", "one/key.hex"),
            ("../private/key", "one/named.v"),
            ("rtl", "linked"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let paths = vec![at("linked"), at("one/d.v"), at("one/named.v")];
        let include = vec![at("inc")];
        let named = UserRtl::find(&Rtl { paths, include, ..Rtl::default() }).unwrap().named;
        for (name, is_left) in [
            ("linked/a.v", false),
            ("linked/again.v", false),
            ("linked/sub/loop/a.v", false),
            ("linked/b.vh", false),
            ("linked/../inc/b.vh", false),
            ("linked/../one/c.v", false),
            ("one/c.v", false),
            ("one/d.v", false),
            ("one/named.v", false),
            ("linked/missing", false),
            // The file behind the link was named as `one/named.v`.
            ("linked/key.hex", false),
        ] {
            assert_eq!(named.is_left(&at(name)), is_left, "{name}");
        }
        fs::write(at("private/other"), "").unwrap();
        symlink("../private/other", at("rtl/other.hex")).unwrap();
        symlink("../private/other", at("one/other.hex")).unwrap();
        for name in ["linked/other.hex", "linked/folder/other", "one/other.hex"] {
            assert!(named.is_left(&at(name)), "{name}");
        }
    }
}
