//! Decides which files and folders may hold executable code: those that only this user or root can
//! write.

use crate::Error;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode bits for write access of group and others.
pub const OTHERS: u32 = 0o022;
/// The mode bit that restricts removal in a shared folder to the owner of a file.
const STICKY: u32 = 0o1000;
/// The mode bit for write access of everybody.
const EVERYBODY: u32 = 0o002;
const ROOT: u32 = 0;

/// Whether only this user or root can have written the file or folder.
pub fn is_trusted(metadata: &Metadata) -> bool {
    (metadata.is_file() || metadata.is_dir())
        && is_of_user(metadata)
        && metadata.mode() & OTHERS == 0
}

fn is_of_user(metadata: &Metadata) -> bool {
    [geteuid().as_raw(), ROOT].contains(&metadata.uid())
}

/// The folder for this user's files in `folder`, created if missing. It is `folder` itself if only
/// this user or root can write it, and a subfolder if it is sticky and everybody can write it.
///
/// # Errors
/// [`Error::UnsafeCache`] if others could replace its files. [`Error::Cache`] if it cannot be
/// created.
pub fn folder(folder: &Path) -> Result<PathBuf, Error> {
    let unsafe_because = |folder: &Path, reason: String| {
        Err(Error::UnsafeCache { folder: folder.to_owned(), reason })
    };
    create_private(folder)?;
    let unwritable = |source| Error::Cache { folder: folder.to_owned(), source };
    let found = fs::canonicalize(folder).map_err(unwritable)?;
    for ancestor in found.ancestors().skip(1) {
        let mode = fs::metadata(ancestor).map_err(unwritable)?.mode();
        if mode & EVERYBODY != 0 && mode & STICKY == 0 {
            let reason = format!("all users can write to {}", ancestor.display());
            return unsafe_because(&found, reason);
        }
    }
    let metadata = fs::metadata(&found).map_err(unwritable)?;
    if !is_of_user(&metadata) {
        return unsafe_because(&found, format!("it belongs to user {}", metadata.uid()));
    }
    if metadata.mode() & OTHERS == 0 {
        return Ok(folder.to_owned());
    }
    if metadata.mode() & STICKY == 0 {
        let folder = found.display();
        let reason = format!("other users can write to it; run `chmod go-w {folder}`");
        return unsafe_because(&found, reason);
    }
    let own = folder.join(format!("user-{}", geteuid().as_raw()));
    create_private(&own)?;
    // Another user may have created it before, or a link to elsewhere.
    let metadata = fs::symlink_metadata(&own).map_err(unwritable)?;
    if metadata.is_dir() && is_trusted(&metadata) {
        Ok(own)
    } else {
        unsafe_because(&own, "another user owns it or can write to it".to_owned())
    }
}

/// Why a user other than this one and root may have written a file, if so: its owner or mode, or
/// those of its folder.
pub fn written_by_others(path: &Path) -> Option<String> {
    let metadata = |path: &Path| fs::metadata(path).map_err(|error| error.to_string());
    let check = |path: &Path| {
        let found = metadata(path)?;
        if !is_of_user(&found) {
            return Err(format!("{} belongs to user {}", path.display(), found.uid()));
        }
        match is_trusted(&found) {
            true => Ok(()),
            false => Err(format!("other users can write to {}", path.display())),
        }
    };
    let all = || {
        // The file may be a link: then its place and the place of the link both matter.
        let target = fs::canonicalize(path).map_err(|error| error.to_string())?;
        for path in [path, &target] {
            check(path)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
            let folder = folder.map_err(|error| error.to_string())?;
            check(&folder)?;
            for ancestor in folder.ancestors().skip(1) {
                let mode = metadata(ancestor)?.mode();
                if mode & EVERYBODY != 0 && mode & STICKY == 0 {
                    return Err(format!("all users can write to {}", ancestor.display()));
                }
            }
        }
        Ok(())
    };
    all().err()
}

/// Creates a private folder and its parents.
fn create_private(folder: &Path) -> Result<(), Error> {
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Error::Cache { folder: folder.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use tempfile::TempDir;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_is_private_shared_by_parts_or_refused() {
        let temporary = TempDir::new().unwrap();
        let cache = temporary.path().join("a/cache");
        let own = cache.join(format!("user-{}", geteuid().as_raw()));
        assert_eq!(folder(&cache).unwrap(), cache);
        assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
        for mode in [0o755, 0o700, 0o2755] {
            set(&cache, mode);
            assert_eq!(folder(&cache).unwrap(), cache, "{mode:o}");
        }
        for mode in [0o775, 0o777, 0o757] {
            set(&cache, mode);
            assert!(matches!(folder(&cache), Err(Error::UnsafeCache { .. })), "{mode:o}");
        }
        for mode in [0o1777, 0o1775, 0o3775] {
            set(&cache, mode);
            assert_eq!(folder(&cache).unwrap(), own, "{mode:o}");
            assert_eq!(folder(&own).unwrap(), own, "{mode:o}");
        }
        // A folder prepared by another user is refused.
        set(&own, 0o777);
        assert!(matches!(folder(&cache), Err(Error::UnsafeCache { .. })));
        fs::remove_dir(&own).unwrap();
        symlink(temporary.path(), &own).unwrap();
        assert!(matches!(folder(&cache), Err(Error::UnsafeCache { .. })));
        fs::remove_file(&own).unwrap();
        // A user who can rename a parent folder can replace this one.
        set(&cache, 0o700);
        set(cache.parent().unwrap(), 0o777);
        assert!(matches!(folder(&cache), Err(Error::UnsafeCache { .. })));
        set(cache.parent().unwrap(), 0o1777);
        assert_eq!(folder(&cache).unwrap(), cache);
        // Only root can change the owner.
        if chown(&cache, Some(12345), None).is_ok() {
            assert!(matches!(folder(&cache), Err(Error::UnsafeCache { .. })));
        }
    }

    #[test]
    fn a_file_is_written_by_others_if_they_can_write_it_or_its_folder() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path().join("folder");
        fs::create_dir(&folder).unwrap();
        set(&folder, 0o755);
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        set(&file, 0o644);
        assert_eq!(written_by_others(&file), None);
        for (path, mode, usual) in [
            (&file, 0o646, 0o644),
            (&file, 0o664, 0o644),
            (&folder, 0o775, 0o755),
            (&folder, 0o1777, 0o755),
        ] {
            set(path, mode);
            assert!(written_by_others(&file).is_some(), "{mode:o}");
            set(path, usual);
        }
        // A link counts as its target does.
        let link = temporary.path().join("link");
        symlink(&file, &link).unwrap();
        assert_eq!(written_by_others(&link), None);
        set(&folder, 0o777);
        assert!(written_by_others(&link).is_some());
        set(&folder, 0o755);
        assert!(written_by_others(&folder.join("missing")).is_some());
        if chown(&file, Some(12345), None).is_ok() {
            assert!(written_by_others(&file).is_some());
        }
    }
}
