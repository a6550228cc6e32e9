//! The file store behind [`Answers`](super::Answers): small files named by a hash of their key.
//!
//! A command may write thousands of entries, so an entry costs no lock and no sync to the disk.
//! Each file is written under a temporary name and renamed. Processes that write the same entry
//! write the same bytes. A file that a crash damaged fails its checksum and counts as missing.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Change it whenever the meaning of a key or a file changes.
const FORMAT: &[u8] = b"cosim-answer-1";
/// Hexadecimal digits of a key that name its subfolder: 256 subfolders.
const FAN_OUT: usize = 2;
const UNFINISHED: &str = ".tmp-";
/// Age after which an unfinished file belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The size limit is enforced at the first write of a process, and then after each 1/16 of the
/// limit.
const PART: u64 = 16;

/// A hash of everything that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(blake3::Hash);

impl Key {
    /// The hash of all parts with their lengths: (`ab`, `c`) and (`a`, `bc`) differ.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in std::iter::once(FORMAT).chain(parts) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize())
    }

    /// The checksum of a value. It covers the key, so that a misplaced file is detected.
    fn checksum(&self, value: &[u8]) -> blake3::Hash {
        let mut hash = blake3::Hasher::new();
        hash.update(self.0.as_bytes()).update(value);
        hash.finalize()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    pub entries: u64,
    pub bytes: u64,
}

impl Total {
    fn add(&mut self, bytes: u64) {
        self.entries += 1;
        self.bytes += bytes;
    }
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    is_unfinished: bool,
}

/// A folder of answers.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    limit: u64,
    /// Bytes that may still be written before the size limit is enforced again.
    budget: AtomicU64,
}

impl Store {
    /// A store in `folder` that holds at most about `limit` bytes.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self { folder: folder.into(), limit, budget: AtomicU64::new(0) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The value of a key; `None` if it is missing or damaged.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let mut file = File::open(self.path(key)).ok()?;
        let mut checksum = [0; blake3::OUT_LEN];
        file.read_exact(&mut checksum).ok()?;
        let mut value = Vec::new();
        file.read_to_end(&mut value).ok()?;
        if key.checksum(&value) != checksum {
            return None;
        }
        // The time of use only orders removals, and a read-only folder has none.
        let _ = file.set_modified(SystemTime::now());
        Some(value)
    }

    /// Writes the value of a key; replaces an existing one.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, key: &Key, value: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        // Other users who share the folder may read the file, subject to the umask.
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        file.write_all(key.checksum(value).as_bytes())?;
        file.write_all(value)?;
        file.persist(&path).map_err(|error| error.error)?;
        let bytes = (blake3::OUT_LEN + value.len()) as u64;
        let spend = |budget: u64| budget.checked_sub(bytes);
        if self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            self.budget.store(self.limit / PART, Ordering::Relaxed);
            self.limit_size()?;
        }
        Ok(())
    }

    /// Number and total size of all entries; 0 if the folder does not exist.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn total(&self) -> io::Result<Total> {
        let mut total = Total::default();
        for entry in self.entries()?.iter().filter(|entry| !entry.is_unfinished) {
            total.add(entry.bytes);
        }
        Ok(total)
    }

    /// Removes all entries and returns their number and size.
    ///
    /// # Errors
    /// If an entry cannot be removed.
    pub fn clear(&self) -> io::Result<Total> {
        let mut removed = Total::default();
        for entry in self.entries()? {
            if remove(&entry.path)? && !entry.is_unfinished {
                removed.add(entry.bytes);
            }
        }
        // Fails for a folder in which another process has just written.
        for folder in self.folders()?.iter().chain([&self.folder]) {
            let _ = fs::remove_dir(folder);
        }
        Ok(removed)
    }

    /// Removes abandoned files, and least recently used entries until the rest fits the limit.
    fn limit_size(&self) -> io::Result<()> {
        let mut entries = self.entries()?;
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            let is_abandoned = entry.is_unfinished
                && SystemTime::now().duration_since(entry.used).is_ok_and(|age| age > ABANDONED);
            if is_abandoned || !entry.is_unfinished && total > self.limit {
                remove(&entry.path)?;
                total -= entry.bytes;
            }
        }
        Ok(())
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = key.0.to_hex();
        let (folder, rest) = name.split_at(FAN_OUT);
        self.folder.join(folder).join(rest)
    }

    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let is_ours = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.len() == FAN_OUT) && path.is_dir()
        };
        Ok(below(&self.folder)?.into_iter().filter(is_ours).collect())
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for folder in self.folders()? {
            for path in below(&folder)? {
                // Another process may have removed it.
                let Ok(data) = fs::metadata(&path) else { continue };
                let is_unfinished = path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path, bytes: data.len(), used, is_unfinished });
            }
        }
        Ok(entries)
    }
}

/// The paths in a folder; none if it does not exist.
fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Removes a file and returns whether it existed.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => other.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const ALL: u64 = u64::MAX;
    const CHECKSUM: u64 = blake3::OUT_LEN as u64;

    fn key(text: &str) -> Key {
        Key::new([text.as_bytes()])
    }

    #[test]
    fn a_value_is_found_under_its_key_and_no_other() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path().join("answers"), ALL);
        assert_eq!(store.get(&key("a")), None);
        store.write(&key("a"), b"value").unwrap();
        assert_eq!(store.get(&key("a")).unwrap(), b"value");
        assert_eq!(store.get(&key("b")), None);
        assert_ne!(Key::new([&b"ab"[..], b"c"]), Key::new([&b"a"[..], b"bc"]));
    }

    #[test]
    fn a_damaged_or_misplaced_file_is_ignored_and_replaced() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path(), ALL);
        store.write(&key("a"), b"value").unwrap();
        let path = store.path(&key("a"));
        let whole = fs::read(&path).unwrap();
        store.write(&key("b"), b"value").unwrap();
        let misplaced = fs::read(store.path(&key("b"))).unwrap();
        let mut changed = whole.clone();
        changed[33] ^= 1;
        for damaged in [&[][..], &whole[..20], &whole[..whole.len() - 1], &changed, &misplaced] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(store.get(&key("a")), None, "{damaged:?}");
            store.write(&key("a"), b"value").unwrap();
            assert_eq!(store.get(&key("a")).unwrap(), b"value");
        }
    }

    #[test]
    fn the_entries_not_used_for_longest_go_when_the_limit_is_exceeded() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path(), 2 * (CHECKSUM + 5));
        let age = |name: &str, seconds: u64| {
            let file = File::options().append(true).open(store.path(&key(name))).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        store.write(&key("a"), b"12345").unwrap();
        store.write(&key("b"), b"12345").unwrap();
        age("a", 20);
        age("b", 10);
        assert!(store.get(&key("a")).is_some(), "it is used again");
        store.write(&key("c"), b"12345").unwrap();
        assert_eq!(store.total().unwrap().entries, 2);
        assert!(store.get(&key("a")).is_some() && store.get(&key("b")).is_none());
    }

    #[test]
    fn clearing_removes_all_entries_and_no_files_of_others() {
        let folder = TempDir::new().unwrap();
        let other = folder.path().join("thesis.txt");
        fs::write(&other, "years of work").unwrap();
        let store = Store::new(folder.path(), ALL);
        store.write(&key("a"), b"12345").unwrap();
        store.write(&key("b"), b"1").unwrap();
        fs::write(store.path(&key("a")).with_file_name(".tmp-killed"), "part").unwrap();
        let all = Total { entries: 2, bytes: 2 * CHECKSUM + 6 };
        assert_eq!(store.total().unwrap(), all);
        assert_eq!(store.clear().unwrap(), all);
        assert_eq!(store.total().unwrap(), Total::default());
        assert_eq!(below(folder.path()).unwrap(), [other]);
        store.write(&key("a"), b"again").unwrap();
        assert_eq!(store.get(&key("a")).unwrap(), b"again");
    }

    #[test]
    fn several_threads_may_write_and_clear_at_the_same_time() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path().join("answers"), ALL);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..100u32 {
                        let key = Key::new([&number.to_le_bytes()[..]]);
                        // Clearing may remove the subfolder at any moment.
                        let _ = store.write(&key, &number.to_le_bytes());
                        let kept = store.get(&key);
                        assert!(kept.is_none_or(|value| value == number.to_le_bytes()));
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..20 {
                    let _ = store.clear();
                }
            });
        });
    }
}
