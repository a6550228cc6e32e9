//! A cache of files that take long to create. Cached files are complete, verified, owned by a
//! trusted user, and limited in total size.

use crate::activity::Activity;
use crate::{Error, tool};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tempfile::Builder;
use verilated_files::{Error as FilesError, KeptFile, open, trust};

/// The only value of a record's `format`.
const FORMAT: &str = "cosim-kept-3";
/// Endings of the files beside a cached one: its record, the lock of its creator, and the work
/// folder.
const RECORD: &str = "kept";
const LOCK: &str = "lock";
const WORK: &str = "work";

/// Files in use by this process. They stay open and locked, so that no process removes them.
static IN_USE: Mutex<BTreeMap<PathBuf, KeptFile>> = Mutex::new(BTreeMap::new());

/// Files that this process is about to create.
static OWN_LOCKS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn own_locks() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    OWN_LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of a file that this process is about to create.
struct OwnLock {
    path: PathBuf,
    _lock: File,
}

impl Drop for OwnLock {
    fn drop(&mut self) {
        own_locks().remove(&self.path);
    }
}

/// The metadata of a cached file, stored beside it. The record's modification time is the time of
/// last use.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    format: String,
    /// The name of the file, so that a renamed file is not accepted.
    name: String,
    about: String,
    size: u64,
    blake3: String,
    /// The time in seconds that its creation took; 0 if an older version created it.
    #[serde(default)]
    seconds: f64,
}

/// A cached file, for listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// A description of its content.
    pub about: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of last use.
    pub used: SystemTime,
}

/// The result of removing cached files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Number of removed files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// Files that stay because a process uses them.
    pub in_use: u64,
}

/// A folder of cached files.
///
/// A file appears under its name only when it is complete. Its size and hash are verified on each
/// use, and a truncated or damaged file is created again. Processes that want the same file wait
/// for each other. When the total size exceeds the limit, the least recently used files are
/// removed, except those that a running process uses.
///
/// Cached files are executed. A file is used only if its owner is this user or root and if nobody
/// else can write it; otherwise it is created again. The same holds for the folder. In a sticky
/// folder that everybody can write, such as /tmp, each user has a subfolder. Any other folder that
/// others can write is refused. So users share files only in a folder of root that they cannot
/// write.
#[derive(Debug, Clone)]
pub struct Kept {
    folder: PathBuf,
    limit: u64,
}

impl Kept {
    /// A cache in `folder` with a size limit of `limit` bytes.
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

    /// The file `name`. If no complete file exists, `make` creates it; it gets a work folder and
    /// the path to write.
    ///
    /// # Errors
    /// Errors of `make`, [`FilesError::Cache`] if the folder is not writable, or
    /// [`Error::Interrupted`].
    pub fn obtain<E: From<Error>>(
        &self,
        name: &str,
        about: &str,
        make: impl FnOnce(&Path, &Path) -> Result<(), E>,
    ) -> Result<KeptFile, E> {
        let path = trust::folder(&self.folder).map_err(Error::from)?.join(name);
        if let Some(kept) = claim(&path) {
            return Ok(kept);
        }
        let _making = self.lock(&path, about)?;
        if let Some(kept) = claim(&path) {
            return Ok(kept);
        }
        let work = beside(&path, WORK);
        // A killed process may have left it.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(self.unwritable())?;
        let unfinished = work.join("result");
        let _activity = Activity::building(format!("building {about}")).expecting(self.took(about));
        let began = Instant::now();
        let made = make(&work, &unfinished)
            .and_then(|()| self.store_file(&path, &unfinished, about, began).map_err(E::from));
        let removed = fs::remove_dir_all(&work).map_err(Error::io(&work));
        made?;
        removed?;
        let Some(kept) = claim(&path) else {
            return Err(Error::from(verilated_files::Error::Changed { path }).into());
        };
        self.limit_size()?;
        Ok(kept)
    }

    /// The file `name`, if it is complete.
    ///
    /// # Errors
    /// The folder cannot be trusted.
    pub fn find_file(&self, name: &str) -> Result<Option<KeptFile>, Error> {
        Ok(claim(&trust::folder(&self.folder)?.join(name)))
    }

    /// The time that the creation of the last used file with this description took.
    fn took(&self, about: &str) -> Option<Duration> {
        let entry = self.entries().ok()?.into_iter().find(|entry| entry.about == about)?;
        let seconds = Record::read(&entry.path)?.seconds;
        Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
    }

    /// All cached files, the most recently used first.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be read. A missing folder is empty.
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

    /// Removes every cached file that no running process uses, and leftovers of killed processes.
    /// Does not touch other files.
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
            // The creator of a file holds its lock.
            let Ok(lock) = File::open(&path) else { continue };
            if lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(beside(&made, WORK));
                ignore_missing(fs::remove_file(&path)).map_err(Error::io(&path))?;
            }
        }
        Ok(removed)
    }

    fn limit_size(&self) -> Result<(), Error> {
        let entries = self.entries()?;
        let mut total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
        for entry in entries.iter().rev() {
            if total <= self.limit {
                break;
            }
            let mut removed = Removed::default();
            self.remove(&entry.path, &mut removed)?;
            // Another process may have replaced it by a larger one.
            total = total.saturating_sub(removed.bytes);
        }
        Ok(())
    }

    /// Removes a file that nobody uses or creates. Its creator's lock is held, so the file that is
    /// unlocked is the one that is removed: no creator can put a newer one there.
    fn remove(&self, path: &Path, removed: &mut Removed) -> Result<(), Error> {
        let Some(_creating) = self.try_lock(path)? else {
            removed.in_use += 1;
            return Ok(());
        };
        match File::open(path) {
            Ok(file) => {
                // The lock does not show the use by this process itself.
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
                ignore_missing(fs::remove_file(path)).map_err(Error::io(path))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path)(error)),
        }
        let record = beside(path, RECORD);
        ignore_missing(fs::remove_file(&record)).map_err(Error::io(&record))
    }

    /// Moves a finished file to its name and then writes its record.
    fn store_file(
        &self,
        path: &Path,
        unfinished: &Path,
        about: &str,
        began: Instant,
    ) -> Result<(), Error> {
        let file = File::open(unfinished).map_err(Error::io(unfinished))?;
        // The umask may permit group write access.
        let mode = file.metadata().map_err(Error::io(unfinished))?.mode() & 0o777 & !trust::OTHERS;
        file.set_permissions(Permissions::from_mode(mode)).map_err(Error::io(unfinished))?;
        file.sync_all().map_err(Error::io(unfinished))?;
        let size = file.metadata().map_err(Error::io(unfinished))?.len();
        let kept = KeptFile::new(unfinished.to_owned(), file).map_err(Error::io(unfinished))?;
        let blake3 = kept.blake3().to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (about, seconds) = (about.to_owned(), began.elapsed().as_secs_f64());
        let record = Record { format: FORMAT.to_owned(), name, about, size, blake3, seconds };
        let text = serde_json::to_string(&record)
            .map_err(|error| Error::io(path)(io::Error::other(error)))?;
        // Give the record the same readers as the file: the umask applies to both.
        let mut note = Builder::new()
            .permissions(Permissions::from_mode(0o666 & !trust::OTHERS))
            .tempfile_in(path.parent().unwrap_or(&self.folder))
            .map_err(self.unwritable())?;
        note.write_all(text.as_bytes()).map_err(self.unwritable())?;
        fs::rename(unfinished, path).map_err(self.unwritable())?;
        note.persist(beside(path, RECORD)).map_err(|error| self.unwritable()(error.error))?;
        Ok(())
    }

    /// Waits until no other process creates the file. Others wait while the result lives.
    fn lock(&self, path: &Path, about: &str) -> Result<OwnLock, Error> {
        let who = if own_locks().contains(path) { "this process" } else { "another process" };
        let _activity = Activity::building(format!("waiting until {who} has built {about}"));
        let lock = tool::wait(|| self.try_lock(path))?;
        own_locks().insert(path.to_owned());
        Ok(OwnLock { path: path.to_owned(), _lock: lock })
    }

    /// The lock of the file's creator, unless another process or thread has it.
    fn try_lock(&self, path: &Path) -> Result<Option<File>, Error> {
        let name = beside(path, LOCK);
        let lock = File::options().create(true).append(true).open(&name);
        let lock = lock.map_err(self.unwritable())?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(self.unwritable()(error)),
            Ok(()) => {}
        }
        // If the lock file was removed meanwhile, other processes would lock a new one.
        let ours = lock.metadata().map_err(Error::io(&name))?.ino();
        let named = fs::metadata(&name).map(|data| data.ino()).ok();
        Ok((named == Some(ours)).then_some(lock))
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
        move |source| FilesError::Cache { folder, source }.into()
    }
}

/// The file, if it exists, is complete and trusted. It then stays in use until this process ends.
fn claim(path: &Path) -> Option<KeptFile> {
    let file = open(path).ok()?;
    file.lock_shared().ok()?;
    let record = Record::read(path)?;
    let kept = KeptFile::new(path.to_owned(), file).ok()?;
    let metadata = kept.file().metadata().ok()?;
    // A file removed between opening and locking has no links.
    let is_removed = metadata.nlink() == 0;
    if is_removed || metadata.len() != record.size || kept.blake3() != record.blake3 {
        return None;
    }
    // Record the use. In a read-only folder, nothing is removed anyway.
    if let Ok(record) = File::options().append(true).open(beside(path, RECORD)) {
        let _ = record.set_modified(SystemTime::now());
    }
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.insert(path.to_owned(), kept.clone());
    Some(kept)
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

/// The file with this additional ending beside a cached one.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Treats a missing file as removed.
fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
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

    /// Simulates the end of the process that uses the files in `folder`.
    fn end_process(folder: &Path) {
        let mut in_use = IN_USE.lock().unwrap();
        in_use.retain(|path, _| !path.starts_with(folder));
    }

    #[test]
    fn a_file_is_made_once_unless_it_is_not_whole() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let path = obtain(&kept, "a.so", "text", &made);
        assert_eq!((obtain(&kept, "a.so", "text", &made), made.get()), (path.clone(), 1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
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
        // The same users may read both files.
        assert_eq!(mode(&path) & 0o044, mode(&record) & 0o044);
        for (path, count) in [(&path, 2), (&record, 3)] {
            fs::set_permissions(path, Permissions::from_mode(0o664)).unwrap();
            obtain(&kept, "a.so", "text", &made);
            assert_eq!(made.get(), count, "{path:?}");
        }
        // A link to a trusted file, and the files of another name.
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
        assert_eq!(made.get(), 6);
    }

    #[test]
    fn the_least_recently_used_file_is_removed_first_unless_in_use() {
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
        // This process uses both files, so none can be removed.
        obtain(&kept, "c", "12345", &made);
        assert_eq!(names(&kept), [a.clone(), b.clone(), c.clone()]);
        end_process(folder.path());
        obtain(&kept, "d", "1", &made);
        assert_eq!(names(&kept), [c, folder.path().join("d")]);
    }

    #[test]
    fn clearing_keeps_used_and_foreign_files() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let [used, unused] = ["used", "unused"].map(|name| obtain(&kept, name, "1234", &made));
        // Processes that other tests start may have the file open, too.
        IN_USE.lock().unwrap().remove(&unused).unwrap().file().unlock().unwrap();
        let other = folder.path().join("thesis.so");
        fs::write(&other, "years of work").unwrap();
        fs::create_dir(beside(&unused, WORK)).unwrap();
        let removed = kept.clear().unwrap();
        assert_eq!(removed, Removed { files: 1, bytes: 4, in_use: 1 });
        assert!(used.exists() && other.exists());
        assert!(!unused.exists() && !beside(&unused, WORK).exists());
        end_process(folder.path());
        kept.clear().unwrap();
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(left, [other]);
    }

    #[test]
    fn a_file_that_is_being_created_again_is_not_removed() {
        let folder = TempDir::new().unwrap();
        let (kept, made) = (Kept::new(folder.path(), ALL), Cell::new(0));
        let path = obtain(&kept, "a.so", "text", &made);
        end_process(folder.path());
        let creating = kept.lock(&path, "for a test").unwrap();
        let expected = Removed { files: 0, bytes: 0, in_use: 1 };
        assert_eq!(kept.clear().unwrap(), expected);
        assert!(path.exists() && beside(&path, RECORD).exists());
        drop(creating);
        let expected = Removed { files: 1, bytes: 4, in_use: 0 };
        assert_eq!(kept.clear().unwrap(), expected);
        assert!(!path.exists());
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
