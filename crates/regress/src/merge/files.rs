//! Selects the files of failures that the whole run would have kept.
//!
//! A shard keeps the first failure of a signature and rule shrunk. The first failure of the run is
//! also the first of its shard. Where the first of a shard is not the first of the run, the run
//! would have kept the unshrunk vector, which the shard has, too.

use cosim_base::error::Error;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_formats::run::Group;
use cosim_harness::harness::Signature;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) struct Copies<'a> {
    out: &'a Path,
    done: BTreeSet<RunFile>,
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
        let named =
            |ending| RunFile::new(RunFolder::Failures, &format!("{signature}-{case}"), ending);
        let (to, original) = (named("json"), named("original.json"));
        if self.done.contains(&to) {
            return Ok(());
        }
        // If the shard could not write the vector, neither file exists; its notes say so.
        match [&original, &to].into_iter().find(|from| exists(folder, from)) {
            Some(from) => self.copy(folder, from, &to),
            None => Ok(()),
        }
    }

    fn copy(&mut self, folder: &Path, from: &RunFile, to: &RunFile) -> Result<(), Error> {
        if self.done.insert(to.clone()) {
            from.copy(folder, to, self.out)?;
        }
        Ok(())
    }
}

/// Copies the vector of a matching case, if it exists.
pub(super) fn saved(folder: &Path, out: &Path, case: &str) -> Result<(), Error> {
    let file = RunFile::new(RunFolder::Saved, case, "json");
    if exists(folder, &file) { file.copy(folder, &file, out) } else { Ok(()) }
}

/// Whether there is anything under the file's name. Copying it refuses what is no file.
fn exists(folder: &Path, file: &RunFile) -> bool {
    file.path(folder).symlink_metadata().is_ok()
}
