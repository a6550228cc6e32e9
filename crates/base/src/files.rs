//! Atomic writes, and input files of bounded length.
//!
//! A file is written under a temporary name in its folder and renamed when it is complete. A
//! killed program leaves `.cosim-….partial`, which no command takes for a result.

use crate::error::{Error, codes};
use rustix::fs::OFlags;
use std::env;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile};

/// Prefix of the name of an incomplete file.
pub const PARTIAL_PREFIX: &str = ".cosim-";
/// Ending of an incomplete file. The ending of its format may follow.
pub const PARTIAL: &str = "partial";

/// Maximum size in bytes of RTL, scenarios, plans and file lists.
pub const LARGEST_INPUT: u64 = 64 << 20;

/// Opens an input file. Refuses pipes, devices and folders, which may block or never end.
///
/// # Errors
/// [`Error::File`].
pub fn open_input(path: &Path) -> Result<File, Error> {
    let unreadable = |error| Error::unreadable(path, &error);
    // A blocking open would wait for the writer of a pipe.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_file() {
        return Ok(file);
    }
    let kind = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
    let message = format!("is {kind}, expected a file");
    Err(Error::File { code: codes::FILE_UNREADABLE, path: path.to_owned(), message })
}

/// Reads an input file of at most `most` bytes.
///
/// # Errors
/// [`Error::File`].
pub fn read_input(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let file = open_input(path)?;
    let unreadable = |error| Error::unreadable(path, &error);
    let length = file.metadata().map_err(unreadable)?.len();
    let mut bytes = Vec::new();
    if length <= most {
        // The file may grow meanwhile.
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if length > most || bytes.len() as u64 > most {
        let message = format!("is too large, expected at most {} MiB", most >> 20);
        return Err(Error::File { code: codes::TOO_LARGE, path: path.to_owned(), message });
    }
    Ok(bytes)
}

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// As [`read_input`]. [`Error::Input`] with the place of the first byte that is not UTF-8.
pub fn read_input_text(path: &Path, most: u64) -> Result<String, Error> {
    String::from_utf8(read_input(path, most)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line_start = good.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Error::Input {
            code: codes::NOT_UTF8,
            path: path.to_owned(),
            line: good.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: String::from_utf8_lossy(&good[line_start..]).chars().count() + 1,
            message: "is not UTF-8".to_owned(),
        }
    })
}

/// Whether a file is synced to disk before it is renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Sync, so that a write error is reported now.
    OnDisk,
    /// Leave it to the system.
    Lazy,
}

/// Writes a file atomically: after a failure, the old file is unchanged.
///
/// # Errors
/// [`Error::Write`].
pub fn write_whole(path: &Path, content: &[u8], sync: Sync) -> Result<(), Error> {
    let target = target(path);
    if is_special(&target) {
        let mut file = OpenOptions::new().write(true).open(&target).map_err(Error::write(path))?;
        return file.write_all(content).map_err(Error::write(path));
    }
    let (mut file, _open) = partial(&target, "").map_err(Error::write(path))?;
    let written = file.write_all(content).and_then(|()| match sync {
        Sync::OnDisk => file.as_file().sync_all(),
        Sync::Lazy => Ok(()),
    });
    written.map_err(Error::write(path))?;
    file.persist(&target).map_err(|error| Error::write(path)(error.error))?;
    Ok(())
}

/// Writes a file of a run directory atomically. The directory may come from another person, so a
/// symbolic link is replaced and not followed.
///
/// # Errors
/// [`Error::Write`].
pub fn write_inside(run: &Path, name: &str, content: &[u8]) -> Result<(), Error> {
    let path = run.join(name);
    let (mut file, _open) = partial(&path, "").map_err(Error::write(&path))?;
    file.write_all(content).map_err(Error::write(&path))?;
    file.persist(&path).map_err(|error| Error::write(&path)(error.error))?;
    Ok(())
}

/// Calls `write` with a temporary path of the same ending, and renames the file to `path` on
/// success. For writers that open files themselves.
///
/// # Errors
/// Errors of `write`. [`Error::Write`] if the file cannot be created or renamed.
pub fn make_whole<T>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let target = target(path);
    if is_special(&target) {
        return write(&target);
    }
    let (file, _open) = partial(&target, &ending(&target)).map_err(Error::write(path))?;
    let file = file.into_temp_path();
    let result = write(&file)?;
    file.persist(&target).map_err(|error| Error::write(path)(error.error))?;
    Ok(result)
}

/// As [`make_whole`], for writers confined to one folder: the temporary file is in a new folder.
///
/// # Errors
/// As [`make_whole`].
pub fn make_whole_apart<T>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let target = target(path);
    if is_special(&target) {
        return write(&target);
    }
    let folder = Builder::new()
        .prefix(PARTIAL_PREFIX)
        .suffix(&format!(".{PARTIAL}"))
        .tempdir_in(folder_of(&target))
        .map_err(Error::write(path))?;
    let _open = Open::new(folder.path());
    let file = folder.path().join(format!("{PARTIAL}{}", ending(&target)));
    // Created here, so that it has the permissions of a new file of this process.
    fs::File::create_new(&file).map_err(Error::write(path))?;
    let result = write(&file)?;
    // Foreign code may have replaced the file, for example with a link.
    if !fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
        let error = std::io::Error::other("no file was written");
        return Err(Error::write(path)(error));
    }
    fs::rename(&file, &target).map_err(Error::write(path))?;
    Ok(result)
}

/// The ending of a file's name with its dot, such as `.fst`.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default()
}

/// Syncs the names in a folder. Failures are ignored: not every system can, and a name is lost only
/// if the machine crashes.
pub fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Resolves a link, so that its target is written.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether the path is a device or a pipe, which has no content to keep.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The incomplete files and folders of this process.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open_files() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a file or folder in [`OPEN`] while it lives.
struct Open(PathBuf);

impl Open {
    fn new(path: &Path) -> Self {
        open_files().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        open_files().retain(|path| *path != self.0);
    }
}

/// Removes incomplete files when the process ends, which may happen while a hung model writes one.
pub fn remove_unfinished() {
    for path in open_files().drain(..) {
        remove(&path);
    }
}

/// Removes an incomplete file or folder. Ignores failures.
pub fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// The path of a program, which is searched in `PATH` if it is a bare name; `None` if there is no
/// such file.
pub fn find_program(program: impl AsRef<Path>) -> Option<PathBuf> {
    let program = program.as_ref();
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn partial(target: &Path, ending: &str) -> std::io::Result<(NamedTempFile, Open)> {
    let file = Builder::new()
        .prefix(PARTIAL_PREFIX)
        .suffix(&format!(".{PARTIAL}{ending}"))
        // The umask applies, as for any new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(target))?;
    let open = Open::new(file.path());
    Ok((file, open))
}

/// Refuses an existing folder that is not empty, and any other existing path.
///
/// # Errors
/// [`Error::File`].
pub fn check_free(folder: &Path) -> Result<(), Error> {
    let refuse = |message: &str| {
        Err(Error::File {
            code: codes::OUTPUT_EXISTS,
            path: folder.to_owned(),
            message: message.to_owned(),
        })
    };
    match folder.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(metadata) if !metadata.is_dir() => {
            refuse("exists and is not a folder; choose another name")
        }
        Ok(_) => {
            let mut entries =
                fs::read_dir(folder).map_err(|error| Error::unreadable(folder, &error))?;
            match entries.next() {
                Some(_) => refuse("exists and is not empty; choose another name, or remove it"),
                None => Ok(()),
            }
        }
    }
}

/// Writes a file and creates its parent folders. For folders that no other process reads yet.
///
/// # Errors
/// [`Error::Write`].
pub fn write_below(path: &Path, text: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    fs::write(path, text).map_err(Error::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode};
    use tempfile::TempDir;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn pipes_and_devices_are_no_input() {
        let folder = TempDir::new().unwrap();
        let [pipe, zero, file] = ["pipe", "zero", "file"].map(|name| folder.path().join(name));
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
        for path in [&pipe, &zero, folder.path(), &file] {
            assert!(matches!(read_input(path, 4), Err(Error::File { .. })), "{path:?}");
        }
        fs::write(&file, "1234").unwrap();
        assert_eq!(read_input(&file, 4).unwrap(), b"1234");
        assert!(matches!(read_input(&file, 3), Err(Error::File { .. })));
        fs::write(&file, b"ab\nc\xff").unwrap();
        let Err(Error::Input { line, column, .. }) = read_input_text(&file, 10) else { panic!() };
        assert_eq!((line, column), (2, 2));
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_leaves_no_other() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.json");
        for content in ["first", "second"] {
            write_whole(&path, content.as_bytes(), Sync::OnDisk).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.fst");
        fs::write(&path, "before").unwrap();
        let result: Result<(), Error> = make_whole(&path, |partial| {
            assert_eq!(partial.extension().unwrap(), "fst");
            fs::write(partial, "half").unwrap();
            Err(Error::Environment(codes::INTERNAL, "no more".to_owned()))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(names(folder.path()), ["a.fst"]);
    }

    #[test]
    fn a_writer_with_a_folder_of_its_own_leaves_the_file_alone() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.fst");
        make_whole_apart(&path, |partial| {
            assert_eq!(partial.extension().unwrap(), "fst");
            fs::write(partial, "whole").unwrap();
            fs::write(partial.with_extension("hier"), "more").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        let linked = make_whole_apart(&path, |partial| {
            fs::remove_file(partial).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", partial).unwrap();
            Ok(())
        });
        assert!(linked.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(names(folder.path()), ["a.fst"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = TempDir::new().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"after", Sync::Lazy).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_link_in_a_run_directory_is_not_followed() {
        let folder = TempDir::new().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let link = folder.path().join("report.html");
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        write_inside(folder.path(), "report.html", b"page").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&link).unwrap(), "page");
        assert!(!link.is_symlink());
    }

    #[test]
    fn a_full_device_is_an_error() {
        assert!(write_whole(Path::new("/dev/full"), b"x", Sync::Lazy).is_err());
    }
}
