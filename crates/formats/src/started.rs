//! Tells the run directories that this user began from those of other people.
//!
//! A run directory names the command that began it, and `resume` obeys that command: it compiles
//! and runs the RTL of the command, and writes where the command says. A directory may come from
//! anyone. So the command that begins one also leaves a record in the cache of its user, which no
//! other user can write. The name of the record is a hash of the command. The directory alone, with
//! whatever it contains, cannot create a record.

use cosim_base::files;
use cosim_block::rtl::Rtl;
use cosim_rtl::models::started_folder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

/// The number of records from which on the older half is removed.
const MOST: usize = 2000;

/// A command, as a run directory names it.
#[derive(Debug, Clone, Copy)]
pub struct StartedCommand<'a> {
    pub words: &'a [String],
    /// Its working directory.
    pub folder: &'a Path,
    /// The user RTL, if it is stored apart from the command line.
    pub rtl: Option<&'a Rtl>,
}

impl StartedCommand<'_> {
    /// Records that this process begins a run directory. Returns the mark that belongs into it. If
    /// there is no cache, the run can be resumed like one of another user.
    pub fn record(&self) -> String {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mark = format!("{}-{}", process::id(), time.as_nanos());
        if let Some(folder) = started_folder().ok().flatten() {
            self.record_in(&folder, &mark);
        }
        mark
    }

    /// Whether this user began a run directory with this command and this mark on this machine.
    pub fn is_recorded(&self, mark: &str) -> bool {
        started_folder().ok().flatten().is_some_and(|folder| self.is_recorded_in(&folder, mark))
    }

    fn record_in(&self, folder: &Path, mark: &str) {
        write(folder, &self.name(mark), "");
    }

    fn is_recorded_in(&self, folder: &Path, mark: &str) -> bool {
        folder.join(self.name(mark)).is_file()
    }

    fn name(&self, mark: &str) -> String {
        hash(&json!([mark, self.words, self.folder.to_string_lossy(), self.rtl]))
    }
}

/// User RTL on which this user ran a regression.
#[derive(Debug, Clone, Copy)]
pub struct RunRtl<'a> {
    pub block: &'a str,
    pub given: &'a Rtl,
    /// The short hash of its texts.
    pub identity: &'a str,
}

impl RunRtl<'_> {
    /// Records that this process runs this RTL, typed in its working directory, and the whole hash
    /// of its texts.
    pub fn record(&self, whole_hash: &str) {
        if let (false, Ok(Some(folder))) = (self.given.is_built_in(), started_folder()) {
            write(&folder, &self.name(), whole_hash);
        }
    }

    /// The whole hash of the texts, if this user typed this RTL for a run in the working directory.
    pub fn recorded_hash(&self) -> Option<String> {
        fs::read_to_string(started_folder().ok()??.join(self.name())).ok()
    }

    /// The name of the record. An object is the name of no [`StartedCommand`], which is an array.
    fn name(&self) -> String {
        let Self { block, given, identity } = self;
        hash(&json!({ "in": here(), "block": block, "given": given, "identity": identity }))
    }
}

/// Records the run directory that this process begins as the latest one of its working directory.
pub fn record_latest(run: &Path) {
    if let (Ok(Some(folder)), Ok(run)) = (started_folder(), fs::canonicalize(run)) {
        write(&folder, &latest_name(), &run.to_string_lossy());
    }
}

/// The run directory that this user began last in the working directory, if it is still there.
pub fn latest() -> Option<PathBuf> {
    let record = started_folder().ok()??.join(latest_name());
    let run = PathBuf::from(fs::read_to_string(record).ok()?);
    let run = run.strip_prefix(env::current_dir().ok()?).map(Path::to_owned).unwrap_or(run);
    run.is_dir().then_some(run)
}

fn latest_name() -> String {
    format!("latest-{}", hash(&here().into()))
}

/// The working directory.
fn here() -> String {
    env::current_dir().unwrap_or_default().to_string_lossy().into_owned()
}

fn write(folder: &Path, name: &str, text: &str) {
    let _ = fs::create_dir_all(folder);
    remove_old(folder);
    let _ = fs::write(folder.join(name), text);
}

fn hash(value: &Value) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(value.to_string().as_bytes()) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// Removes the older half of the records if there are many.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut records: Vec<(Option<SystemTime>, PathBuf)> = entries
        .flatten()
        .map(|entry| {
            let metadata = entry.metadata().ok();
            (metadata.and_then(|data| data.modified().ok()), entry.path())
        })
        .collect();
    if records.len() >= MOST {
        records.sort();
        records.iter().take(records.len() / 2).for_each(|(_, path)| files::remove(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn only_the_recorded_command_with_its_mark_is_own() {
        let folder = TempDir::new().unwrap();
        let words = ["cosim", "run", "--rtl", "a"].map(str::to_owned);
        let rtl = Rtl { paths: vec!["a".into()], ..Rtl::default() };
        let own = StartedCommand { words: &words, folder: Path::new("/a"), rtl: Some(&rtl) };
        own.record_in(folder.path(), "1");
        assert!(own.is_recorded_in(folder.path(), "1"));
        let other_words = ["cosim", "run", "--rtl", "b"].map(str::to_owned);
        let other_rtl = Rtl { paths: vec!["b".into()], ..Rtl::default() };
        for other in [
            StartedCommand { words: &other_words, ..own },
            StartedCommand { words: &words[..2], ..own },
            StartedCommand { folder: Path::new("/b"), ..own },
            StartedCommand { rtl: Some(&other_rtl), ..own },
            StartedCommand { rtl: None, ..own },
        ] {
            assert!(!other.is_recorded_in(folder.path(), "1"), "{other:?}");
        }
        for mark in ["", "2", "../1"] {
            assert!(!own.is_recorded_in(folder.path(), mark), "{mark}");
        }
    }

    #[test]
    fn the_number_of_records_is_bounded() {
        let folder = TempDir::new().unwrap();
        let own = StartedCommand { words: &[], folder: Path::new("/"), rtl: None };
        for mark in 0..=MOST {
            own.record_in(folder.path(), &mark.to_string());
        }
        assert!(fs::read_dir(folder.path()).unwrap().count() <= MOST / 2 + 1);
        assert!(own.is_recorded_in(folder.path(), &MOST.to_string()));
    }
}
