//! The files and folders of user RTL, to detect changes.

use super::given::{MOST_ENTRIES, UserRtl, folder_of};
use super::special::ENDINGS;
use cosim_block::rtl::Rtl;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::{DirEntry, WalkDir};

/// Detects that a file was written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    /// Changes when another file is renamed into its place.
    inode: u64,
}

/// A snapshot of the files that may belong to an RTL. Two snapshots differ if a file was saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnDisk {
    files: BTreeMap<PathBuf, FileStamp>,
    folders: BTreeSet<PathBuf>,
}

impl OnDisk {
    /// Takes a snapshot of the files of `rtl` and of those that Verilator `read` before. A missing
    /// file is not an error: it may be created later.
    pub fn snapshot(rtl: &Rtl, read: &[PathBuf]) -> Self {
        let mut now = Self::default();
        for path in rtl.paths.iter().chain(&rtl.include).chain(&rtl.lists).chain(read) {
            // The replacement of a whole folder is visible in its parent.
            now.folders.insert(folder_of(path).to_owned());
            now.file(path);
            if path.is_dir() {
                now.walk(path);
            }
        }
        if let Ok(given) = UserRtl::find(rtl) {
            for folder in &given.folders {
                now.folder(&folder.path);
            }
            for path in given.sources.iter().chain(&given.libraries) {
                now.folders.insert(folder_of(path).to_owned());
                now.file(path);
            }
        }
        now
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path).filter(|folder| folder.is_dir())
    }

    fn walk(&mut self, root: &Path) {
        let is_hidden = |entry: &DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let walk = WalkDir::new(root).follow_links(true).into_iter();
        let entries = walk.filter_entry(|entry| !is_hidden(entry)).take(MOST_ENTRIES);
        for entry in entries.flatten() {
            if entry.file_type().is_dir() {
                self.folder(entry.path());
            }
        }
    }

    /// The Verilog files directly in a folder.
    fn folder(&mut self, folder: &Path) {
        self.folders.insert(folder.to_owned());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
            if !is_hidden && ENDINGS.iter().any(|known| ending == *known) {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path)
            && metadata.is_file()
        {
            let (modified, length) = (metadata.modified().ok(), metadata.len());
            let stamp = FileStamp { modified, length, inode: metadata.ino() };
            self.files.insert(path.to_owned(), stamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(folder_of(path)).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_counts_as_a_save() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let rtl = Rtl { paths: vec![at("rtl")], ..Rtl::default() };
        let now = |read: &[PathBuf]| OnDisk::snapshot(&rtl, read);
        write(&at("rtl/a.v"), "module a; endmodule");
        let saved = |change: &dyn Fn()| {
            let before = now(&[]);
            change();
            before != now(&[])
        };
        assert!(!saved(&|| ()), "nothing");
        assert!(saved(&|| write(&at("rtl/a.v"), "module a; wire b; endmodule")), "written");
        assert!(
            saved(&|| {
                write(&at("new"), "module a; wire c; endmodule");
                fs::rename(at("new"), at("rtl/a.v")).unwrap();
            }),
            "replaced by a file of the same length"
        );
        assert!(saved(&|| write(&at("rtl/sub/b.svh"), "")), "a new file in a new folder");
        assert!(saved(&|| fs::remove_file(at("rtl/sub/b.svh")).unwrap()), "removed");
        for name in ["rtl/.a.v.swp", "rtl/a.v~", "rtl/#a.v#", "rtl/4913", "rtl/.git/b.v", "other.v"]
        {
            assert!(!saved(&|| write(&at(name), "")), "{name} is no part of the RTL");
        }
        let before = now(&[at("table.hex")]);
        write(&at("table.hex"), "1f");
        assert!(before != now(&[at("table.hex")]), "a file that Verilator read, whatever its name");
    }

    #[test]
    fn a_folder_that_is_gone_is_waited_for() {
        let folder = TempDir::new().unwrap();
        let rtl = Rtl { paths: vec![folder.path().join("rtl")], ..Rtl::default() };
        let before = OnDisk::snapshot(&rtl, &[]);
        assert_eq!(before.folders().collect::<Vec<_>>(), [folder.path()]);
        write(&folder.path().join("rtl/a.v"), "");
        assert!(before != OnDisk::snapshot(&rtl, &[]));
    }
}
