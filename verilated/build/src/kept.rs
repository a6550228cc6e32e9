//! Files that are kept because making them takes long: whole, checked, of a trusted owner, and not more than a limit.

use crate::{Error, tool, trust};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tempfile::Builder;

/// The only value of a record's `format`.
const FORMAT: &str = "cosim-kept-3";
/// Endings of the files beside a kept one: its record, the lock of who makes it, where it is made.
const RECORD: &str = "kept";
const LOCK: &str = "lock";
const WORK: &str = "work";

/// Files this process uses: open and locked, so that nobody removes them.
static IN_USE: Mutex<BTreeMap<PathBuf, KeptFile>> = Mutex::new(BTreeMap::new());

/// What is known of a kept file; it lies beside it, and its time of change is when the file was last
/// used.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    format: String,
    /// The name of the file: one that was moved to another name is not the file of that name.
    name: String,
    about: String,
    size: u64,
    blake3: String,
}

/// A kept file that is open: what is read from it is what was checked, whatever happens to its name.
#[derive(Debug, Clone)]
pub struct KeptFile {
    path: PathBuf,
    blake3: String,
    file: Arc<File>,
}

impl KeptFile {
    /// A kept file that another process obtained, by its path and hash.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such file, if its owner or mode is not trusted, or if its hash differs.
    pub fn again(path: PathBuf, blake3: String) -> Result<Self, Error> {
        let open = || -> io::Result<Arc<File>> {
            let mut file = open(&path)?;
            if !trust::is_trusted(&file.metadata()?) {
                return Err(io::Error::other("another user could have written it"));
            }
            if measure(&mut file)?.1 != blake3 {
                return Err(io::Error::other(
                    "it changed after it was compiled; run the command \
                     again",
                ));
            }
            Ok(Arc::new(file))
        };
        let file = open().map_err(Error::io(&path))?;
        Ok(Self { path, blake3, file })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// BLAKE3 of the bytes, in hex.
    pub fn blake3(&self) -> &str {
        &self.blake3
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }
}

/// A kept file, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub about: String,
    /// Bytes.
    pub size: u64,
    /// When it was last asked for.
    pub used: SystemTime,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that stay since a process uses them.
    pub in_use: u64,
}

/// A folder of kept files.
///
/// A file appears under its name only when it is whole, and its size and hash are checked whenever it
/// is asked for: one that was cut off, or decayed, is made again. Two processes that want the same
/// file wait for one another. When the files are larger than the limit, those that were not used for
/// longest go, but none that a living process asked for.
///
/// A kept file is code that is executed, so it is used only if its owner is this user or root and if nobody else can
/// write it; else it is made again. The same holds of the folder. In a folder that everybody may write and that is
/// sticky, as /tmp is, each user has a subfolder. Any other folder that others may write is refused. So users share
/// files only in a folder of root that they cannot write.
#[derive(Debug, Clone)]
pub struct Kept {
    folder: PathBuf,
    limit: u64,
}

impl Kept {
    /// The kept files of `folder`, `limit` bytes of them.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self { folder: folder.into(), limit }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The file `name`, made by `make` unless it is there and whole. `make` gets a folder to work in and
    /// the path to write.
    ///
    /// # Errors
    /// What `make` returns; [`Error::Cache`] if nothing can be written; [`Error::Interrupted`].
    pub fn obtain<E: From<Error>>(
        &self,
        name: &str,
        about: &str,
        make: impl FnOnce(&Path, &Path) -> Result<(), E>,
    ) -> Result<KeptFile, E> {
        let path = trust::folder(&self.folder)?.join(name);
        if let Some(kept) = claim(&path) {
            return Ok(kept);
        }
        let _making = self.lock(&path)?;
        if let Some(kept) = claim(&path) {
            return Ok(kept);
        }
        let work = beside(&path, WORK);
        // Left by a process that was killed.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(self.unwritable())?;
        let unfinished = work.join("result");
        let made = make(&work, &unfinished)
            .and_then(|()| self.put(&path, &unfinished, about).map_err(E::from));
        let removed = fs::remove_dir_all(&work).map_err(Error::io(&work));
        made?;
        removed?;
        let Some(kept) = claim(&path) else { return Err(Error::Changed { path }.into()) };
        self.limit_size()?;
        Ok(kept)
    }

    /// Every kept file, the one used last first.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be read; one that is not there has none.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for record_path in self.with_ending(RECORD)? {
            let path = record_path.with_extension("");
            let (Some(record), Ok(data)) = (Record::read(&path), fs::metadata(&path)) else {
                continue;
            };
            let used = fs::metadata(&record_path).and_then(|data| data.modified());
            let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
            entries.push(Entry { path, about: record.about, size: data.len(), used });
        }
        entries.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        Ok(entries)
    }

    /// Removes every kept file that no living process uses, and what killed processes left. Files of
    /// others are not touched.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn clear(&self) -> Result<Removed, Error> {
        let mut removed = Removed::default();
        for path in self.with_ending(RECORD)? {
            self.remove(&path.with_extension(""), &mut removed)?;
        }
        for path in self.with_ending(LOCK)? {
            let made = path.with_extension("");
            // Who makes something has its lock.
            let Ok(lock) = File::open(&path) else { continue };
            if lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(beside(&made, WORK));
                gone(fs::remove_file(&path)).map_err(Error::io(&path))?;
            }
        }
        Ok(removed)
    }

    fn limit_size(&self) -> Result<(), Error> {
        let entries = self.entries()?;
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        for entry in entries.iter().rev() {
            if total <= self.limit {
                break;
            }
            let mut removed = Removed::default();
            self.remove(&entry.path, &mut removed)?;
            total -= removed.bytes;
        }
        Ok(())
    }

    fn remove(&self, path: &Path, removed: &mut Removed) -> Result<(), Error> {
        match File::open(path) {
            Ok(file) => {
                // Only this process's own use is known without asking the system.
                match file.try_lock() {
                    Ok(()) => {}
                    Err(TryLockError::WouldBlock) => {
                        removed.in_use += 1;
                        return Ok(());
                    }
                    Err(TryLockError::Error(error)) => return Err(Error::io(path)(error)),
                }
                removed.files += 1;
                removed.bytes += file.metadata().map_or(0, |data| data.len());
                gone(fs::remove_file(path)).map_err(Error::io(path))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path)(error)),
        }
        let record = beside(path, RECORD);
        gone(fs::remove_file(&record)).map_err(Error::io(&record))
    }

    /// Moves a finished file to its name, then its record.
    fn put(&self, path: &Path, unfinished: &Path, about: &str) -> Result<(), Error> {
        let mut file = File::open(unfinished).map_err(Error::io(unfinished))?;
        let (size, blake3) = measure(&mut file).map_err(Error::io(unfinished))?;
        // The umask may let the group write.
        let mode = file.metadata().map_err(Error::io(unfinished))?.mode() & 0o777 & !trust::OTHERS;
        file.set_permissions(Permissions::from_mode(mode)).map_err(Error::io(unfinished))?;
        file.sync_all().map_err(Error::io(unfinished))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let about = about.to_owned();
        let record = Record { format: FORMAT.to_owned(), name, about, size, blake3 };
        let text = serde_json::to_string(&record)
            .map_err(|error| Error::io(path)(io::Error::other(error)))?;
        // Whoever may read the file may read its record: the umask decides about both.
        let mut note = Builder::new()
            .permissions(Permissions::from_mode(0o666 & !trust::OTHERS))
            .tempfile_in(path.parent().unwrap_or(&self.folder))
            .map_err(self.unwritable())?;
        note.write_all(text.as_bytes()).map_err(self.unwritable())?;
        fs::rename(unfinished, path).map_err(self.unwritable())?;
        note.persist(beside(path, RECORD)).map_err(|error| self.unwritable()(error.error))?;
        Ok(())
    }

    /// Waits until no other process makes the file, and keeps them waiting as long as the result lives.
    fn lock(&self, path: &Path) -> Result<File, Error> {
        let name = beside(path, LOCK);
        tool::wait(|| {
            let lock = File::options().create(true).append(true).open(&name);
            let lock = lock.map_err(self.unwritable())?;
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(self.unwritable()(error)),
                Ok(()) => {}
            }
            // Whoever cleared the cache meanwhile removed the name: others would lock another file.
            let ours = lock.metadata().map_err(Error::io(&name))?.ino();
            let named = fs::metadata(&name).map(|data| data.ino()).ok();
            Ok((named == Some(ours)).then_some(lock))
        })
    }

    fn with_ending(&self, ending: &str) -> Result<Vec<PathBuf>, Error> {
        let entries = match fs::read_dir(trust::folder(&self.folder)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::io(&self.folder))?,
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(Error::io(&self.folder))?.path();
            if path.extension().is_some_and(|extension| extension == ending) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    fn unwritable(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        let folder = self.folder.clone();
        move |source| Error::Cache { folder, source }
    }
}

/// The file, if it is there, whole and trusted; it is this process's until its end then.
fn claim(path: &Path) -> Option<KeptFile> {
    let mut file = open(path).ok()?;
    file.lock_shared().ok()?;
    let record = Record::read(path)?;
    let (size, blake3) = measure(&mut file).ok()?;
    let metadata = file.metadata().ok()?;
    // Removed between opening and locking, it has no name any more.
    let is_whole = size == record.size && blake3 == record.blake3 && metadata.nlink() > 0;
    if !is_whole || !trust::is_trusted(&metadata) {
        return None;
    }
    // It was used now; in a folder that cannot be written nobody removes it either.
    if let Ok(record) = File::options().append(true).open(beside(path, RECORD)) {
        let _ = record.set_modified(SystemTime::now());
    }
    let kept = KeptFile { path: path.to_owned(), blake3, file: Arc::new(file) };
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.insert(path.to_owned(), kept.clone());
    Some(kept)
}

/// Opens a file for reading. No link is followed, and a pipe does not make it wait.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

impl Record {
    fn read(path: &Path) -> Option<Self> {
        let file = open(&beside(path, RECORD)).ok()?;
        if !trust::is_trusted(&file.metadata().ok()?) {
            return None;
        }
        let record: Self = serde_json::from_reader(io::BufReader::new(file)).ok()?;
        let is_of_file = path.file_name().is_some_and(|name| *name == *record.name);
        (record.format == FORMAT && is_of_file).then_some(record)
    }
}

/// The file beside a kept one: its name, with an ending more.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Size and hash of an open file.
fn measure(file: &mut File) -> io::Result<(u64, String)> {
    let mut hash = blake3::Hasher::new();
    file.rewind()?;
    hash.update_reader(file)?;
    Ok((hash.count(), hash.finalize().to_hex().to_string()))
}

/// What is not there need not be removed.
fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;
    use tempfile::TempDir;

    const ALL: u64 = u64::MAX;

    fn obtain(kept: &Kept, name: &str, text: &str, made: &Cell<u32>) -> PathBuf {
        let make = |_: &Path, result: &Path| {
            made.set(made.get() + 1);
            fs::write(result, text).map_err(Error::io(result))
        };
        kept.obtain(name, "for a test", make).unwrap().path().to_owned()
    }

    /// As if the process that used the files had ended.
    fn forget(folder: &Path) {
        let mut in_use = IN_USE.lock().unwrap();
        in_use.retain(|path, _| !path.starts_with(folder));
    }

    #[test]
    fn a_file_is_made_once() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let path = obtain(&kept, "a.so", "text", &made);
        assert_eq!(obtain(&kept, "a.so", "text", &made), path);
        assert_eq!(made.get(), 1);
        assert_eq!(fs::read_to_string(path).unwrap(), "text");
    }

    #[test]
    fn a_file_that_is_not_whole_is_made_again() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let path = obtain(&kept, "a.so", "text", &made);
        for damaged in ["", "tex", "tezt", "\0\0\0\0"] {
            fs::write(&path, damaged).unwrap();
            obtain(&kept, "a.so", "text", &made);
            assert_eq!(fs::read_to_string(&path).unwrap(), "text", "after {damaged:?}");
        }
        fs::write(beside(&path, RECORD), "{}").unwrap();
        obtain(&kept, "a.so", "text", &made);
        assert_eq!(made.get(), 6);
    }

    #[test]
    fn a_file_that_others_could_have_written_is_made_again() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let path = obtain(&kept, "a.so", "text", &made);
        let record = beside(&path, RECORD);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!([mode(&path) & 0o022, mode(&record) & 0o022], [0, 0]);
        // Whoever may read one may read the other.
        assert_eq!(mode(&path) & 0o044, mode(&record) & 0o044);
        for (count, (path, mode)) in
            [(&path, 0o666), (&path, 0o664), (&record, 0o646)].into_iter().enumerate()
        {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            obtain(&kept, "a.so", "text", &made);
            assert_eq!(made.get(), count as u32 + 2, "{path:?} {mode:o}");
        }
        // A link to a file of the right owner, and the files of another name.
        let other = obtain(&kept, "b.so", "other", &made);
        for ending in ["", RECORD] {
            let at = |path: &Path| {
                if ending.is_empty() { path.to_owned() } else { beside(path, ending) }
            };
            fs::copy(at(&other), at(&path)).unwrap();
        }
        obtain(&kept, "a.so", "text", &made);
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        obtain(&kept, "a.so", "text", &made);
        assert_eq!(made.get(), 7);
        // Only root can give a file away.
        for path in [&path, &beside(&path, RECORD)] {
            if std::os::unix::fs::chown(path, Some(12345), None).is_ok() {
                let before = made.get();
                obtain(&kept, "a.so", "text", &made);
                assert_eq!(made.get(), before + 1, "{path:?}");
            }
        }
    }

    #[test]
    fn what_was_checked_is_what_is_open() {
        let folder = TempDir::new().unwrap();
        let kept = Kept::new(folder.path(), ALL);
        let make = |_: &Path, result: &Path| fs::write(result, "text").map_err(Error::io(result));
        let file = kept.obtain::<Error>("a.so", "", make).unwrap();
        let again = |hash: &str| KeptFile::again(file.path().to_owned(), hash.to_owned());
        let same = again(file.blake3()).unwrap();
        assert!(again(&"0".repeat(64)).is_err());
        fs::rename(file.path(), folder.path().join("moved")).unwrap();
        fs::write(file.path(), "evil").unwrap();
        assert!(again(file.blake3()).is_err());
        for file in [&file, &same] {
            let mut open = file.file().try_clone().unwrap();
            open.rewind().unwrap();
            assert_eq!(io::read_to_string(open).unwrap(), "text");
        }
    }

    #[test]
    fn the_least_recently_used_goes_first_and_none_that_is_used() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), 10), Cell::new(0));
        let names = |kept: &Kept| {
            let mut names: Vec<_> = kept.entries().unwrap().into_iter().map(|e| e.path).collect();
            names.sort();
            names
        };
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        for (name, age) in [("a", 10), ("b", 20)] {
            let path = obtain(&kept, name, "12345", &made);
            let record = File::options().append(true).open(beside(&path, RECORD)).unwrap();
            record.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        // Both are this process's: nothing can go.
        obtain(&kept, "c", "12345", &made);
        assert_eq!(names(&kept), [a.clone(), b.clone(), c.clone()]);
        forget(folder.path());
        obtain(&kept, "d", "1", &made);
        assert_eq!(names(&kept), [c, folder.path().join("d")]);
    }

    #[test]
    fn clearing_leaves_what_is_used_and_what_is_not_ours() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let [used, unused] = ["used", "unused"].map(|name| obtain(&kept, name, "1234", &made));
        // Processes that other tests start may have it open, too.
        IN_USE.lock().unwrap().remove(&unused).unwrap().file().unlock().unwrap();
        let other = folder.path().join("thesis.so");
        fs::write(&other, "years of work").unwrap();
        fs::create_dir(beside(&unused, WORK)).unwrap();
        let removed = kept.clear().unwrap();
        assert_eq!(removed, Removed { files: 1, bytes: 4, in_use: 1 });
        assert!(used.exists() && other.exists());
        assert!(!unused.exists() && !beside(&unused, WORK).exists());
        forget(folder.path());
        kept.clear().unwrap();
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(left, [other]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_names_the_variable() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let kept = Kept::new(file.join("cache"), ALL);
        let error = kept.obtain::<Error>("a", "", |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("COSIM_CACHE"), "{error}");
    }
}
