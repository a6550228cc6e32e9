//! Run directories. A directory belongs to one run until it ends.
//!
//! A run holds a lock on `run.lock` while it writes. The system releases the lock when the process
//! ends, however it ends.

use super::layout::{CODE_QUALITY, HTML, JUNIT, MARKDOWN};
use super::moment::Moment;
use crate::answers::{self, ANSWERS, SIDES};
use crate::coverage::code::SOURCE_ENDINGS;
use crate::mutation;
use cosim_base::error::{Code, Error, codes};
use cosim_base::files;
use cosim_base::program;
use cosim_block::rtl::command_line;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;

/// The lock file, which also describes the owner.
const LOCK: &str = "run.lock";
/// Default parent folder of runs.
const RUNS: &str = "runs";
/// Link to the newest run in `runs`.
const LATEST: &str = "latest";
/// Files that a run writes directly into its directory.
const FILES: &[&str] = &[
    LOCK,
    super::layout::RESULTS,
    super::layout::PARTIAL,
    super::layout::TIMING,
    crate::coverage::COVERAGE,
    crate::coverage::code::lcov::INFO,
    super::layout::JOURNAL,
    JUNIT,
    MARKDOWN,
    HTML,
    CODE_QUALITY,
    super::rtl_copy::RTL_COPY,
    mutation::RESULT,
    mutation::PARTIAL,
];
const FOLDERS: [&str; 4] = [
    super::layout::FAILURES,
    super::layout::SAVED,
    crate::coverage::code::SOURCES,
    mutation::VECTORS,
];
/// Extensions of the files in subfolders.
const ENDINGS: [&str; 4] = ["json", "fst", "vcd", "v"];
const FORMAT: &str = "cosim-run";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputLocation {
    Named {
        folder: PathBuf,
        replace: bool,
    },
    /// A new folder in `runs`, named after block, seed and time.
    New {
        /// Block and seed, as in `thread2-1`; `all-1` for all blocks.
        stem: String,
    },
}

impl OutputLocation {
    /// The location for the run of each block: this one for a single block, else a subfolder per
    /// block.
    ///
    /// # Errors
    /// As [`DirectoryLock::new`]; nothing is changed then.
    pub fn of_blocks(self, blocks: &[&str]) -> Result<Vec<Self>, Error> {
        if blocks.len() == 1 {
            return Ok(vec![self]);
        }
        let (folder, replace) = match self {
            Self::Named { folder, replace } => {
                check_above(&folder, blocks, replace)?;
                (folder, replace)
            }
            Self::New { stem } => {
                let folder = fresh(&stem)?;
                point_latest_to(&folder);
                (folder, false)
            }
        };
        let place = |block: &&str| Self::Named { folder: folder.join(block), replace };
        let places: Vec<Self> = blocks.iter().map(place).collect();
        for block in blocks {
            check(&folder.join(block), replace)?;
        }
        Ok(places)
    }
}

fn entries(folder: &Path) -> Result<Option<fs::ReadDir>, Error> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(_) => {
            let message = "is not a readable folder; choose another --out";
            refuse(codes::BAD_OUTPUT, folder, message)
        }
    }
}

/// Checks that a folder for the runs of several blocks contains nothing else, except for their
/// index page if it may be replaced.
fn check_above(folder: &Path, blocks: &[&str], replace: bool) -> Result<(), Error> {
    let Some(entries) = entries(folder)? else { return Ok(()) };
    // With a run below the folder, its own check says how to replace it.
    let has_runs = blocks.iter().any(|block| folder.join(block).exists());
    for entry in entries {
        let name = entry.map_err(|error| Error::unreadable(folder, &error))?.file_name();
        let is_index = (replace || has_runs) && name == OsStr::new(HTML);
        if !is_index && !blocks.iter().any(|block| name == OsStr::new(block)) {
            let name = Path::new(&name).display();
            let message = format!(
                "contains `{name}`, which is not a run of these blocks; choose another --out"
            );
            return refuse(codes::OUTPUT_EXISTS, folder, message);
        }
    }
    Ok(())
}

/// Creates a new folder in `runs`.
fn fresh(stem: &str) -> Result<PathBuf, Error> {
    make_folder(Path::new(RUNS))?;
    let time = Moment::now().seconds().replace(['-', ':'], "");
    for number in 1u32.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = Path::new(RUNS).join(format!("{stem}-{time}{suffix}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_be_made(&folder, error)),
        }
    }
    Err(Error::Environment(
        codes::SYSTEM,
        format!(
            "{RUNS}: no free name for a run; remove old \
         runs, or choose another --out"
        ),
    ))
}

/// The lock of a run directory, held until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    pub folder: PathBuf,
    lock: Lock,
}

/// The locked lock file.
///
/// Dropping it unlocks the file explicitly. Closing is not enough: a child process that is just
/// being started shares the open file until it executes its program, and would keep the lock.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The owner as described in `run.lock`. After the run only the format is left.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LockOwner {
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
}

impl DirectoryLock {
    /// Locks a folder for this run.
    ///
    /// # Errors
    /// [`Error::File`] if another run is writing to it, or if it contains anything that must not be
    /// replaced; nothing is changed then. [`Error::Write`] or [`Error::Environment`] for system
    /// errors.
    pub fn new(place: &OutputLocation) -> Result<Self, Error> {
        let mut claim = match place {
            OutputLocation::Named { folder, replace } => Self::named(folder, *replace)?,
            OutputLocation::New { stem } => Self::fresh(stem)?,
        };
        claim.sign(&LockOwner::this_process())?;
        if let OutputLocation::New { .. } = place {
            point_latest_to(&claim.folder);
        }
        Ok(claim)
    }

    /// Locks the folder of an interrupted run again.
    ///
    /// # Errors
    /// [`Error::File`] if another run is writing to it, or if it contains a symbolic link, through
    /// which the run would write elsewhere.
    pub fn lock_again(folder: &Path) -> Result<Self, Error> {
        refuse_links(folder)?;
        let lock = locked(create(&folder.join(LOCK))?, folder)?;
        let mut claim = Self { folder: folder.to_owned(), lock };
        claim.sign(&LockOwner::this_process())?;
        Ok(claim)
    }

    /// Removes the owner from the lock file and releases the lock.
    pub fn release(mut self) {
        // A write error does not matter: the lock ends with the file.
        let _ = self.sign(&LockOwner { format: FORMAT.to_owned(), ..LockOwner::default() });
        files::sync_folder(&self.folder);
    }

    /// Removes what this run wrote, releases the lock and removes the folder if it is empty.
    /// Ignores failures.
    pub(super) fn empty_and_abandon(self) {
        let _ = empty(&self.folder);
        self.abandon();
    }

    /// Releases the lock and removes the folder if it is empty.
    pub fn abandon(self) {
        let _ = fs::remove_file(self.folder.join(LOCK));
        let _ = fs::remove_dir(&self.folder);
    }

    fn named(folder: &Path, replace: bool) -> Result<Self, Error> {
        let path = folder.join(LOCK);
        let open = || OpenOptions::new().read(true).write(true).open(&path);
        let existing = match open() {
            Ok(file) => Some(locked(file, folder)?),
            // `check` reports other problems of the folder.
            Err(_) => None,
        };
        check(folder, replace)?;
        make_folder(folder)?;
        let lock = match existing {
            Some(lock) => lock,
            None => locked(create(&path)?, folder)?,
        };
        // Another run may have used the folder in between.
        check(folder, replace)?;
        if replace {
            empty(folder)?;
        }
        Ok(Self { folder: folder.to_owned(), lock })
    }

    fn fresh(stem: &str) -> Result<Self, Error> {
        let folder = fresh(stem)?;
        let lock = locked(create(&folder.join(LOCK))?, &folder)?;
        Ok(Self { folder, lock })
    }

    fn sign(&mut self, holder: &LockOwner) -> Result<(), Error> {
        let text = serde_json::to_string(holder).unwrap_or_default() + "\n";
        let mut write = || {
            let Lock(file) = &mut self.lock;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())
        };
        write().map_err(Error::write(self.folder.join(LOCK)))
    }
}

impl LockOwner {
    fn this_process() -> Self {
        Self {
            format: FORMAT.to_owned(),
            process: Some(process::id()),
            host: Some(rustix::system::uname().nodename().to_string_lossy().into_owned()),
            began: Some(Moment::now().seconds()),
            command: program::command(),
        }
    }

    fn describe(&self) -> String {
        let mut text = "is being written by another run".to_owned();
        if let Some(process) = self.process {
            text += &format!(", process {process}");
        }
        if let Some(host) = &self.host {
            text += &format!(" on {host}");
        }
        if let Some(began) = &self.began {
            text += &format!(" since {began}");
        }
        if !self.command.is_empty() {
            text += &format!(" ({})", command_line(&self.command));
        }
        text + "; wait for it or choose another --out"
    }
}

fn refuse<T>(code: Code, path: &Path, message: impl Into<String>) -> Result<T, Error> {
    Err(Error::File { code, path: path.to_owned(), message: message.into() })
}

/// A full disk is a write error; other errors are the user's.
fn cannot_be_made(folder: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::write(folder)(error),
        _ => Error::File {
            code: codes::BAD_OUTPUT,
            path: folder.to_owned(),
            message: format!("cannot be created: {error}"),
        },
    }
}

fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| cannot_be_made(folder, error))
}

fn create(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    // Do not truncate: until it is locked the file may belong to another run.
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(Error::write(path))
}

fn locked(mut file: File, folder: &Path) -> Result<Lock, Error> {
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // A run that has just started has not written its description yet.
            let _ = file.read_to_string(&mut text);
            let holder: LockOwner = serde_json::from_str(&text).unwrap_or_default();
            refuse(codes::OUTPUT_LOCKED, folder, holder.describe())
        }
        Err(TryLockError::Error(error)) => Err(Error::Environment(
            codes::CANNOT_LOCK,
            format!(
                "{}: cannot be locked ({error}); choose an --out on another file system",
                folder.display()
            ),
        )),
    }
}

/// Checks that a folder is missing, is empty, or contains only a run that may be replaced.
fn check(folder: &Path, replace: bool) -> Result<(), Error> {
    let Some(entries) = entries(folder)? else { return Ok(()) };
    let mut is_empty = true;
    let mut foreign = None;
    for entry in entries {
        let path = entry.map_err(|error| Error::unreadable(folder, &error))?.path();
        // An empty lock file only means that another run is checking the folder, too.
        is_empty &= path.file_name() == Some(OsStr::new(LOCK))
            && path.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if !is_known(&path) {
            foreign = foreign.or(Some(path));
        }
    }
    match foreign {
        _ if is_empty => Ok(()),
        Some(foreign) => {
            let name = foreign.strip_prefix(folder).unwrap_or(&foreign).display();
            let message =
                format!("contains `{name}`, which does not belong to a run; choose another --out");
            refuse(codes::OUTPUT_EXISTS, folder, message)
        }
        None if replace => Ok(()),
        None => refuse(
            codes::OUTPUT_EXISTS,
            folder,
            "contains an earlier run; choose another --out, or replace it with --force",
        ),
    }
}

/// Refuses a run directory with a symbolic link, also in its subfolders.
fn refuse_links(folder: &Path) -> Result<(), Error> {
    let below = FOLDERS.into_iter().map(|name| folder.join(name));
    for folder in std::iter::once(folder.to_owned()).chain(below) {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::unreadable(&folder, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::unreadable(&folder, &error))?;
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                let message = "is a symbolic link, which a run directory never contains; copy the \
                     run directory without links, or repeat the run";
                return refuse(codes::BAD_OUTPUT, &entry.path(), message);
            }
        }
    }
    Ok(())
}

/// Whether a run writes a file or folder of this name.
fn is_known(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    let is = |known: &str| name == known;
    let Ok(kind) = path.symlink_metadata() else { return false };
    let is_record =
        |path: &Path| begins_with(path, &format!("{{\n  \"format\": \"{}\"", answers::FORMAT.name));
    if kind.is_dir() {
        if SIDES.into_iter().any(is) {
            return is_record(&path.with_file_name(ANSWERS));
        }
        return FOLDERS.into_iter().any(is)
            && fs::read_dir(path).is_ok_and(|mut entries| {
                entries.all(|entry| entry.is_ok_and(|entry| is_kept(&entry.path())))
            });
    }
    if !kind.is_file() {
        return false;
    }
    match name {
        super::layout::RESULTS => begins_with(path, super::layout::MARK),
        ANSWERS => is_record(path),
        LOCK => kind.len() == 0 || begins_with(path, "{\"format\":\"cosim-run\""),
        _ => FILES.iter().copied().any(is) || is_partial(path),
    }
}

/// Whether a file is one that runs write to their subfolders.
fn is_kept(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    let is = |ending| ENDINGS.contains(&ending) || SOURCE_ENDINGS.contains(&ending);
    path.symlink_metadata().is_ok_and(|kind| match kind.is_file() {
        true => is_partial(path) || ending.is_some_and(is),
        false => kind.is_dir() && is_partial(path),
    })
}

/// Whether it is a partial file of a killed run.
fn is_partial(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with(files::PARTIAL_PREFIX) && name.contains(files::PARTIAL)
}

fn begins_with(path: &Path, mark: &str) -> bool {
    let mut start = vec![0; mark.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == mark.as_bytes()
}

/// Removes an earlier run, its results first: an interrupted removal must not leave a valid result.
fn empty(folder: &Path) -> Result<(), Error> {
    let results = folder.join(super::layout::RESULTS);
    let others = FILES.iter().filter(|name| **name != LOCK).map(|name| folder.join(name));
    // A folder with the RTL of one side is known by the result beside it.
    for path in SIDES.map(|name| folder.join(name)) {
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(Error::write(&path))?;
        }
    }
    for path in [results].into_iter().chain(others).chain([folder.join(ANSWERS)]) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::write(path)(error));
            }
            _ => {}
        }
    }
    for path in FOLDERS.map(|name| folder.join(name)) {
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(Error::write(&path))?;
        }
    }
    remove_partial(folder);
    Ok(())
}

/// Removes partial files. The caller must hold the lock.
pub fn remove_partial(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_partial(path)) {
        files::remove(&path);
    }
}

/// Points `runs/latest` to a folder in `runs`. Anything that is not a link is left alone.
fn point_latest_to(folder: &Path) {
    let latest = Path::new(RUNS).join(LATEST);
    let failed = match latest.symlink_metadata() {
        Ok(metadata) if !metadata.is_symlink() => Some("it is not a link".to_owned()),
        _ => replace_link(folder, &latest).err().map(|error| error.to_string()),
    };
    if let Some(reason) = failed {
        program::warn(format_args!("cannot update {}: {reason}", latest.display()));
    }
}

fn replace_link(folder: &Path, latest: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default();
    // The name is unique per process: links are renamed into place, and two runs must not share
    // one.
    let link = latest.with_file_name(format!("{}latest-{}", files::PARTIAL_PREFIX, process::id()));
    let _ = fs::remove_file(&link);
    symlink(name, &link)?;
    fs::rename(&link, latest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn named(folder: &Path, replace: bool) -> Result<DirectoryLock, Error> {
        DirectoryLock::new(&OutputLocation::Named { folder: folder.to_owned(), replace })
    }

    #[test]
    fn a_folder_belongs_to_one_run_at_a_time() {
        let folder = TempDir::new().unwrap();
        let first = named(folder.path(), false).unwrap();
        for replace in [false, true] {
            let message = named(folder.path(), replace).unwrap_err().to_string();
            let holder = format!("is being written by another run, process {}", process::id());
            assert!(message.contains(&holder), "{message}");
        }
        first.release();
        assert!(named(folder.path(), false).is_err(), "what it left is not written over");
        named(folder.path(), true).unwrap();
    }

    #[test]
    fn a_run_that_was_killed_leaves_no_lock() {
        let folder = TempDir::new().unwrap();
        drop(named(folder.path(), false).unwrap());
        let message = named(folder.path(), false).unwrap_err().to_string();
        assert!(message.contains("contains an earlier run"), "{message}");
        named(folder.path(), true).unwrap();
    }

    #[test]
    fn a_process_that_is_being_started_holds_no_folder() {
        let folder = TempDir::new().unwrap();
        let claim = named(folder.path(), false).unwrap();
        // A starting child process shares the open file until it executes its program.
        let _inherited = claim.lock.0.try_clone().unwrap();
        claim.release();
        named(folder.path(), true).unwrap();
    }

    #[test]
    fn only_what_runs_write_is_replaced() {
        for foreign in [
            "thesis.txt",
            "failures/notes.txt",
            "failures/deep/a.json",
            "results.json",
            ANSWERS,
            "rtl-old/a.v",
        ] {
            let folder = TempDir::new().unwrap();
            named(folder.path(), false).unwrap().release();
            let path = folder.path().join(foreign);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "{\"mine\": 1}").unwrap();
            let message = named(folder.path(), true).unwrap_err().to_string();
            assert!(message.contains("does not belong to a run"), "{foreign}: {message}");
            assert_eq!(fs::read_to_string(path).unwrap(), "{\"mine\": 1}");
        }
    }

    #[test]
    fn a_run_with_a_link_is_not_resumed() {
        for name in [super::super::layout::PARTIAL, LOCK, "failures", "failures/a.json"] {
            let folder = TempDir::new().unwrap();
            let [run, victim] = ["run", "victim"].map(|name| folder.path().join(name));
            fs::write(&victim, "mine").unwrap();
            let link = run.join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&victim, link).unwrap();
            let error = DirectoryLock::lock_again(&run).unwrap_err();
            assert_eq!(error.code(), codes::BAD_OUTPUT, "{error}");
            assert_eq!(fs::read_to_string(victim).unwrap(), "mine", "{name}");
        }
    }

    #[test]
    fn an_earlier_comparison_is_replaced_with_its_rtl() {
        let folder = TempDir::new().unwrap();
        named(folder.path(), false).unwrap().release();
        fs::create_dir_all(folder.path().join("rtl-old/deep")).unwrap();
        fs::write(folder.path().join("rtl-old/deep/a.v"), "").unwrap();
        let start = "{\n  \"format\": \"cosim-answers\",\n";
        fs::write(folder.path().join(ANSWERS), start).unwrap();
        let message = named(folder.path(), false).unwrap_err().to_string();
        assert!(message.contains("--force"), "{message}");
        named(folder.path(), true).unwrap().release();
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), [LOCK]);
    }

    #[test]
    fn an_earlier_run_is_replaced_as_a_whole() {
        let folder = TempDir::new().unwrap();
        named(folder.path(), false).unwrap().release();
        for name in ["failures", "saved"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("a.json"), "{}").unwrap();
        }
        fs::write(folder.path().join("results.json"), super::super::layout::MARK).unwrap();
        fs::write(folder.path().join(".cosim-x.partial"), "").unwrap();
        let claim = named(folder.path(), true).unwrap();
        let left: Vec<_> = fs::read_dir(&claim.folder).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].file_name(), "run.lock");
    }
}
