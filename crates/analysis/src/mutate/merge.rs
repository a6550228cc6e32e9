//! Merges the shards of a mutation analysis into the result that one machine would have written.
//!
//! The result of a mutant does not depend on other mutants, so merging concatenates the shards.

use cosim_base::error::{Code, Error, codes};
use cosim_base::program;
use cosim_block::shard::Shard;
use cosim_formats::mutation::{
    Header, Mutant, MutantStatus, MutationScore, PARTIAL, ProfileGrading, RESULT, Report,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Missing shards that the error message lists.
const MISSING_NAMED: usize = 16;

/// A folder with a shard of a mutation analysis.
pub struct MutationShard {
    folder: PathBuf,
    report: Report,
}

pub struct MutationShards {
    /// By index.
    parts: Vec<MutationShard>,
}

/// The files that mark the folder of a mutation analysis, complete or partial.
pub const GRADING: [&str; 2] = [RESULT, PARTIAL];

impl MutationShards {
    /// Reads the shards.
    ///
    /// # Errors
    /// [`Error::File`] for a shard that is incomplete, duplicate, or of another analysis.
    /// [`Error::Usage`] if shards are missing.
    pub fn open(folders: &[PathBuf]) -> Result<Self, Error> {
        let part = |folder: &PathBuf| {
            let part = MutationShard { folder: folder.clone(), report: Report::read(folder)? };
            part.check()?;
            Ok(part)
        };
        let mut parts = folders.iter().map(part).collect::<Result<Vec<MutationShard>, Error>>()?;
        let Some(first) = parts.first() else {
            return Err(Error::Usage(
                codes::NOTHING_SELECTED,
                "no part was named; name the folders of all parts of the mutation analysis"
                    .to_owned(),
            ));
        };
        for part in &parts {
            part.is_of(first)?;
        }
        parts.sort_by_key(|part| part.report.run.shard.index());
        complete(&parts)?;
        Ok(Self { parts })
    }

    pub fn block_name(&self) -> &str {
        &self.parts[0].report.run.block
    }

    /// Copies the vectors of the equivalence checker and merges the verdicts.
    ///
    /// # Errors
    /// [`Error::File`] if the shards do not contain each mutant once, or a write error.
    pub fn merge(&self, out: &Path) -> Result<Report, Error> {
        let run = Header { shard: Shard::WHOLE, ..self.parts[0].report.run.clone() };
        let mut report = Report::new(run);
        for (index, profile) in report.run.profiles.clone().iter().enumerate() {
            let mut mutants: BTreeMap<u32, &Mutant> = BTreeMap::new();
            let mut cases_run = 0;
            for part in &self.parts {
                let graded = part.report.profiles.get(index).filter(|one| one.profile == *profile);
                let missing = || {
                    part.file_error(
                        codes::INCOMPLETE,
                        format!(
                            "has no mutation analysis of profile \
                         {profile}"
                        ),
                    )
                };
                let graded = graded.ok_or_else(missing)?;
                cases_run = cases_run.max(graded.cases_run);
                for mutant in &graded.mutants {
                    part.copy(mutant, out)?;
                    mutants.insert(mutant.mutation.id, mutant);
                }
            }
            let expected = 1..=u32::try_from(mutants.len()).unwrap_or(u32::MAX);
            if !mutants.keys().copied().eq(expected) {
                let message = format!(
                    "and the other parts do not contain every mutant of profile \
                     {profile} exactly once"
                );
                return Err(self.parts[0].file_error(codes::DAMAGED, message));
            }
            let mutants: Vec<Mutant> = mutants.into_values().cloned().collect();
            let score = MutationScore::score_mutants(mutants.iter(), report.run.accept_believed);
            let profile = profile.clone();
            report.profiles.push(ProfileGrading { profile, cases_run, score, mutants });
        }
        report.end();
        Ok(report)
    }
}

impl MutationShard {
    fn file_error(&self, code: Code, message: String) -> Error {
        Error::File { code, path: self.folder.clone(), message }
    }

    /// Checks that the shard is complete and was written by this build.
    fn check(&self) -> Result<(), Error> {
        let Report { complete, run, .. } = &self.report;
        if !complete {
            let message = "is incomplete: its analysis was interrupted or still runs; continue it \
                 with `resume`";
            return Err(self.file_error(codes::INCOMPLETE, message.to_owned()));
        }
        let (build, now) = (&run.build, program::build());
        if build != now {
            return Err(self.file_error(codes::OTHER_BUILD, format!(
                "was graded by build {build}, and this is build {now}; merge with the program that \
                 graded it"
            )));
        }
        Ok(())
    }

    /// Checks that the shard and `first` have the same header.
    fn is_of(&self, first: &Self) -> Result<(), Error> {
        let fields = |part: &Self| {
            let run = Header { shard: Shard::WHOLE, ..part.report.run.clone() };
            let mut fields = serde_json::to_value(run).unwrap_or_default();
            fields["the number of parts"] = Value::from(part.report.run.shard.count());
            fields
        };
        let (here, there) = (fields(self), fields(first));
        let both = here.as_object().into_iter().chain(there.as_object());
        for name in both.flat_map(|fields| fields.keys()) {
            if here[name] != there[name] {
                return Err(self.file_error(
                    codes::OTHER_RUN,
                    format!(
                        "is not a part of the same mutation analysis as {}: {name} is {} here and \
                         {} there",
                        first.folder.display(),
                        here[name],
                        there[name]
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Copies the vector that kills a survivor, if the equivalence checker found one.
    fn copy(&self, mutant: &Mutant, out: &Path) -> Result<(), Error> {
        let MutantStatus::Survived { vector: Some(file) } = &mutant.status else { return Ok(()) };
        file.copy(&self.folder, file, out)
    }
}

/// Checks that each shard exists once. `parts` is sorted.
fn complete(parts: &[MutationShard]) -> Result<(), Error> {
    let shard = |part: &MutationShard| part.report.run.shard;
    for pair in parts.windows(2) {
        if shard(&pair[0]) == shard(&pair[1]) {
            let (shard, other) = (shard(&pair[0]), pair[0].folder.display());
            return Err(pair[1].file_error(
                codes::SHARD_SET,
                format!("is part {shard}, and so is {other}; name only one of them"),
            ));
        }
    }
    let count = shard(&parts[0]).count();
    let is_missing =
        |index: &u64| parts.binary_search_by_key(index, |part| shard(part).index()).is_err();
    let missing = count - parts.len() as u64;
    if missing == 0 {
        return Ok(());
    }
    let named = (1..=count).filter(is_missing).take(MISSING_NAMED);
    let named: Vec<String> = named.map(|index| format!("{index}/{count}")).collect();
    let more = missing - named.len() as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(Error::Usage(
        codes::SHARD_SET,
        format!(
            "parts of the mutation analysis of {} are missing: {}{more}; run them (mutate --shard \
             I/{count}), or name their folders",
            parts[0].report.run.block,
            named.join(", ")
        ),
    ))
}
