//! Finds the data files that RTL reads while it runs.
//!
//! A simulator looks for data files in its working directory, which rarely contains them. cosim
//! also searches the folders of the user's files. A file that it finds is part of the RTL, and
//! compiled models contain it.

use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};
use verilated_build::Opened;

/// The folder of data files in a folder with RTL of a revision. It stands for the root of the
/// repository in that revision, and says that no data file comes from elsewhere.
pub const REVISION: &str = ".cosim-revision";

#[derive(Debug, Clone)]
pub struct DataFile {
    /// The path as typed, or relative to what was typed.
    pub path: PathBuf,
    pub text: Arc<[u8]>,
}

#[derive(Debug, Clone)]
pub struct SearchFolder {
    /// The real path.
    pub folder: PathBuf,
    pub typed: PathBuf,
    /// The user gave it with `-I`, so that it comes before the others.
    pub is_explicit: bool,
}

impl SearchFolder {
    pub fn working_directory() -> Self {
        let folder = env::current_dir().unwrap_or_default();
        Self { folder, typed: PathBuf::new(), is_explicit: false }
    }

    fn file(&self, name: &str, within: Option<&Path>) -> Result<Option<DataFile>, Error> {
        let path = self.folder.join(name);
        let is_within = |root| fs::canonicalize(&path).is_ok_and(|real| real.starts_with(root));
        if !path.is_file() || !within.is_none_or(is_within) {
            return Ok(None);
        }
        let typed = self.typed.join(name);
        let text = read_input(&path, LARGEST_INPUT)?;
        Ok(Some(DataFile { path: typed, text: text.into() }))
    }
}

/// Finds a data file. Explicit folders come first, in their order. Files with this name in other
/// folders must have the same contents. Only files below the real path `within` count, if it is
/// given.
///
/// # Errors
/// [`Error::Usage`] if two folders have different ones. [`Error::File`] if one cannot be read.
pub fn find(
    name: &str,
    places: &[SearchFolder],
    within: Option<&Path>,
) -> Result<Option<DataFile>, Error> {
    if Path::new(name).is_absolute() {
        return SearchFolder::working_directory().file(name, within);
    }
    for place in places.iter().filter(|place| place.is_explicit) {
        if let Some(found) = place.file(name, within)? {
            return Ok(Some(found));
        }
    }
    let mut known: Option<DataFile> = None;
    for place in places.iter().filter(|place| !place.is_explicit) {
        let Some(found) = place.file(name, within)? else { continue };
        match &known {
            Some(known) if known.text != found.text => {
                return Err(Error::Usage(
                    codes::AMBIGUOUS_FILE,
                    format!(
                        "the RTL opens {name:?}, which could be {} or {}, and these differ; choose \
                         the folder that comes first with -I, or leave one out",
                        known.path.display(),
                        found.path.display(),
                    ),
                ));
            }
            Some(_) => {}
            None => known = Some(found),
        }
    }
    Ok(known)
}

/// The error for a data file that does not exist; `at` is the RTL file that opens it. For RTL of a
/// revision, files elsewhere do not count.
pub fn missing(opened: &Opened, at: &Path, is_of_revision: bool) -> Error {
    let name = match &opened.name {
        Some(name) => format!("{name:?}"),
        None => "a file whose name it computes".to_owned(),
    };
    let hint = match (is_of_revision, &opened.name) {
        (true, Some(_)) => {
            "which the revision has neither beside this RTL nor at that path from the root of the \
             repository, and files of the working tree do not count; commit it, or compare folders"
        }
        (true, None) => "so no file of the revision can be taken; compare folders",
        (false, _) => {
            "which is neither in the working directory nor beside the user RTL; put it there, or \
             name its folder with -I"
        }
    };
    Error::Input {
        code: codes::DATA_FILE_MISSING,
        path: at.to_owned(),
        line: opened.line as usize,
        column: 1,
        message: format!("the RTL reads {name}, {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn a_file_is_found_beside_the_rtl_and_never_taken_by_chance() {
        let root = TempDir::new().unwrap();
        let place = |name: &str, is_explicit| {
            let folder = root.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            SearchFolder { folder, typed: name.into(), is_explicit }
        };
        let (one, two) = (place("one", false), place("two", false));
        let first = place("first", true);
        let found = |places: &[SearchFolder]| {
            find("rom.hex", places, None)
                .map(|found| found.map(|found| found.path.display().to_string()))
        };
        assert_eq!(found(&[one.clone(), two.clone()]).unwrap(), None);
        fs::write(two.folder.join("rom.hex"), "1").unwrap();
        assert_eq!(found(&[one.clone(), two.clone()]).unwrap().unwrap(), "two/rom.hex");
        fs::write(one.folder.join("rom.hex"), "1").unwrap();
        assert_eq!(found(&[one.clone(), two.clone()]).unwrap().unwrap(), "one/rom.hex");
        fs::write(one.folder.join("rom.hex"), "2").unwrap();
        let error = found(&[one.clone(), two.clone()]).unwrap_err().to_string();
        assert!(error.contains("one/rom.hex") && error.contains("two/rom.hex"), "{error}");
        fs::write(first.folder.join("rom.hex"), "3").unwrap();
        assert_eq!(found(&[one, two, first]).unwrap().unwrap(), "first/rom.hex");
    }

    #[test]
    fn rtl_of_a_revision_reads_no_file_from_elsewhere() {
        let root = TempDir::new().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let within = root.join("rtl-old");
        let place = |folder: PathBuf, is_explicit| {
            fs::create_dir_all(&folder).unwrap();
            SearchFolder { typed: folder.clone(), folder, is_explicit }
        };
        let places = [place(within.join(REVISION), false), place(within.join("sub"), false)];
        let all = [&places[..], &[place(root.join("given"), true)]].concat();
        let elsewhere = root.join("a.hex");
        for path in [&elsewhere, &root.join("given/a.hex"), &within.join("b.hex")] {
            fs::write(path, "1").unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, within.join("sub/link.hex")).unwrap();
        let found = |name: &str| find(name, &all, Some(&within)).unwrap().is_some();
        let absolute = elsewhere.to_str().unwrap();
        for name in ["a.hex", "../a.hex", "../../a.hex", "link.hex", absolute] {
            assert!(!found(name), "{name}");
        }
        assert!(found("../b.hex"));
        fs::write(within.join(REVISION).join("a.hex"), "2").unwrap();
        assert!(found("a.hex"));
    }
}
