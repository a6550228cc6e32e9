//! Selects the files of failures that the whole run would have kept.
//!
//! A shard keeps the first failure of a signature and rule shrunk. The first failure of the run is
//! also the first of its shard. Where the first of a shard is not the first of the run, the run
//! would have kept the unshrunk vector, which the shard has, too.

use crate::runner::{FAILURES, Group, SAVED, file_stem};
use cosim_base::error::{Error, codes};
use cosim_base::files::make_whole;
use cosim_harness::harness::Signature;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Copies files of failures into the directory of the run.
pub(super) struct Copies<'a> {
    out: &'a Path,
    /// Paths of the copied files, relative to the run directory.
    done: BTreeSet<String>,
}

impl<'a> Copies<'a> {
    pub fn new(out: &'a Path) -> Self {
        Self { out, done: BTreeSet::new() }
    }

    /// Copies the files of the first failures of a group. `folder` maps a case to its shard.
    pub fn group<'s>(
        &mut self,
        group: &Group,
        folder: impl Fn(&str) -> &'s Path,
    ) -> Result<(), Error> {
        for first in group.variants.iter().map(|variant| &variant.first) {
            for file in [&first.vector, &first.original].into_iter().flatten() {
                self.copy(folder(&first.case), file, file)?;
            }
        }
        for file in [&group.waves, &group.explanation].into_iter().flatten() {
            self.copy(folder(&group.first.case), file, file)?;
        }
        Ok(())
    }

    /// Copies the unshrunk vector of a further failure with a signature.
    pub fn further(
        &mut self,
        folder: &Path,
        signature: &Signature,
        case: &str,
    ) -> Result<(), Error> {
        let stem = file_stem(&format!("{signature}-{case}"));
        let to = format!("{FAILURES}/{stem}.json");
        let original = format!("{FAILURES}/{stem}.original.json");
        if self.done.contains(&to) {
            return Ok(());
        }
        // If the shard could not write the vector, neither file exists; its notes say so.
        match [&original, &to].into_iter().find(|from| folder.join(from).exists()) {
            Some(from) => self.copy(folder, from, &to),
            None => Ok(()),
        }
    }

    fn copy(&mut self, folder: &Path, from: &str, to: &str) -> Result<(), Error> {
        if self.done.insert(to.to_owned()) {
            copy(&folder.join(from), &self.out.join(to))?;
        }
        Ok(())
    }
}

/// Copies the vector of a matching case, if it exists.
pub(super) fn saved(folder: &Path, out: &Path, case: &str) -> Result<(), Error> {
    let file: PathBuf = [SAVED, &format!("{}.json", file_stem(case))].iter().collect();
    let from = folder.join(&file);
    if from.exists() { copy(&from, &out.join(&file)) } else { Ok(()) }
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    if !from.is_file() {
        let message = "does not exist, but the shard's results name it; copy the whole run \
             directory";
        return Err(Error::File {
            code: codes::INCOMPLETE,
            path: from.to_owned(),
            message: message.to_owned(),
        });
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
    }
    make_whole(to, |partial| fs::copy(from, partial).map(drop).map_err(Error::write(to)))
}
