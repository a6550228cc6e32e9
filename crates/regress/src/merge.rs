//! Merges the shards of a run into the run directory that one machine would have written.
//!
//! The merge reads one line of each shard at a time and writes the cases in the order of the plan,
//! so memory use does not grow with the number of cases. `docs/how-to/scale-out.md` is the user
//! guide.

mod files;
mod shard;

use crate::blocks::{self, BlockHandle};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_block::shard::Shard;
use cosim_formats::coverage::code::Sources;
use cosim_formats::coverage::{CoverageMerge, Database, Recorder, Run};
use cosim_formats::run::{
    self, CASES_SHOWN, Day, End, Failure, FinishedCase, Group, Header, PARTIAL, Plan,
    ProfileResults, RESULTS, Results, RtlCopy, RunDirectory, Tally, Timing, Totals,
};
use cosim_harness::harness::{BlockInfo, Signature, Verdict};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use shard::ShardFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that mark a run directory, complete or partial.
pub const RUN: [&str; 2] = [RESULTS, PARTIAL];

/// Missing shards that the error message lists.
const MISSING_NAMED: usize = 16;

pub struct Shards {
    block: &'static BlockHandle,
    /// The plan of the whole run.
    plan: Plan,
    /// The header of the whole run.
    pub header: Header,
    /// By index.
    shards: Vec<ShardFile>,
}

pub struct Merged {
    pub tally: Tally,
    pub coverage: Database,
    /// The text of the RTL, if the run counts code coverage.
    pub sources: Option<Sources>,
    pub failures: Vec<Group>,
    pub end: End,
    /// The UTC day on which the last shard ended, if the run has waivers.
    pub day: Option<Day>,
    pub times: Vec<Timing>,
}

/// The runs in folders of shards, by block name if the folders hold several blocks. A folder with
/// any of `files` is a run.
///
/// # Errors
/// [`Error::File`] if a folder has other blocks than the first.
pub fn runs(
    folders: &[PathBuf],
    files: &[&str],
) -> Result<BTreeMap<Option<String>, Vec<PathBuf>>, Error> {
    let mut runs: BTreeMap<Option<String>, Vec<PathBuf>> = BTreeMap::new();
    for folder in folders {
        let blocks = blocks(folder, files)?;
        if let Some(first) = folders.first().filter(|_| !runs.is_empty()) {
            let words = |block: &Option<String>| match block {
                Some(block) => format!("a run of {block}"),
                None => "the run of one block".to_owned(),
            };
            let missing = runs.keys().find(|known| !blocks.contains(known));
            let more = blocks.iter().find(|block| !runs.contains_key(*block));
            let message = match (missing, more) {
                (Some(block), _) => {
                    format!("lacks {}, which {} has", words(block), first.display())
                }
                (_, Some(block)) => {
                    format!("has {}, which {} lacks", words(block), first.display())
                }
                _ => String::new(),
            };
            if !message.is_empty() {
                return Err(Error::File { code: codes::OTHER_RUN, path: folder.clone(), message });
            }
        }
        for block in blocks {
            let place = block.as_ref().map_or_else(|| folder.clone(), |block| folder.join(block));
            runs.entry(block).or_default().push(place);
        }
    }
    Ok(runs)
}

/// Whether any of the folders is a run or contains one, marked by any of `files`.
pub fn any(folders: &[PathBuf], files: &[&str]) -> bool {
    folders.iter().any(|folder| blocks(folder, files).is_ok())
}

/// The blocks whose runs a folder contains, or `None` if it is a run directory itself.
fn blocks(folder: &Path, files: &[&str]) -> Result<Vec<Option<String>>, Error> {
    let runs = run::runs_in(folder, files)?;
    let name = |run: &PathBuf| {
        let below = (run != folder).then(|| run.file_name()).flatten();
        below.map(|name| name.to_string_lossy().into_owned())
    };
    let blocks: Vec<Option<String>> = runs.iter().map(name).collect();
    if blocks.is_empty() {
        let message = format!("is not a run directory and contains none: there is no {RESULTS}");
        return Err(Error::File { code: codes::NOT_A_RUN, path: folder.to_owned(), message });
    }
    Ok(blocks)
}

impl Shards {
    /// Reads the headers of all shards of the run of one block.
    ///
    /// # Errors
    /// [`Error::File`] for a shard that is incomplete, duplicate, or of another run.
    /// [`Error::Usage`] if shards are missing.
    pub fn open(folders: &[PathBuf]) -> Result<Self, Error> {
        allow_many_files();
        let mut shards = folders.iter().map(|folder| ShardFile::open(folder));
        let mut shards = shards.by_ref().collect::<Result<Vec<ShardFile>, Error>>()?;
        let Some(first) = shards.first() else {
            return Err(Error::Usage(
                codes::NOTHING_SELECTED,
                "no shard was named; name the run directories of all shards".to_owned(),
            ));
        };
        for shard in &shards {
            of_this_program(shard)?;
            of_one_run(first, shard)?;
        }
        let header = Header { shard: Shard::WHOLE, ..first.header.clone() };
        shards.sort_by_key(|shard| shard.header.shard.index());
        complete(&shards)?;
        let wrong = |message: String| Error::File {
            code: codes::OTHER_BUILD,
            path: shards[0].folder.clone(),
            message,
        };
        let block = blocks::find(&header.block).ok_or_else(|| {
            wrong(format!(
                "this program has no block `{}`; use the program that \
                 made the results",
                header.block
            ))
        })?;
        let plan = Plan::from_header(&header, block.info()).map_err(wrong)?;
        Ok(Self { block, plan, header, shards })
    }

    pub fn block_name(&self) -> &'static str {
        self.block.info().name
    }

    /// The index of the block in the program.
    pub fn place_of_block(&self) -> Option<usize> {
        blocks::all_blocks().iter().position(|block| block.info().name == self.block.info().name)
    }

    /// Writes the cases and the files of failures into the directory of the whole run.
    ///
    /// # Errors
    /// An error in a shard, with its line, or a write error.
    pub fn merge(mut self, directory: &mut RunDirectory) -> Result<Merged, Error> {
        let reported = self.cases(directory)?;
        let results = (0..self.shards.len()).map(|index| self.results(index));
        let results = results.collect::<Result<Vec<Results>, Error>>()?;
        let day = self.day(&results)?;
        let coverage = self.coverage(&results)?;
        let recorder = Recorder::new(coverage.clone(), unused(&self.header), vec![], vec![]);
        let mut tally = Tally::new(self.block.info(), &self.plan, recorder)?;
        let (mut groups, mut ended) = (Vec::new(), Vec::new());
        for results in results {
            add(&mut tally, self.block.info(), &results.totals, &results.profiles);
            ended.push(results.ended);
            groups.push(results.failures);
        }
        let ends = [End::MaxHangs, End::MaxFailures, End::Time, End::Covered];
        let end = ends.into_iter().find(|end| ended.contains(end)).unwrap_or(End::Complete);
        let failures = self.failures(groups, reported, directory.folder())?;
        for shard in &self.shards {
            // All shards ran the same RTL.
            if let Some(copy) = RtlCopy::read(&shard.folder)? {
                copy.write(directory.folder())?;
                break;
            }
        }
        let times = self.shards.iter().map(|shard| Timing::read(&shard.folder));
        let times = times.collect::<Result<Vec<Timing>, Error>>()?;
        let counted = self.header.coverage.then(|| Sources::read(&self.shards[0].folder));
        let sources = counted.transpose()?;
        Ok(Merged { tally, coverage, sources, failures, end, day, times })
    }

    fn shard_of(&self, place: u64) -> usize {
        let count = self.shards[0].header.shard.count();
        (place % count) as usize
    }

    fn plan_of(&self, shard: &ShardFile) -> Plan {
        Plan { shard: shard.header.shard, ..self.plan.clone() }
    }

    /// Writes the cases in the order of the plan.
    fn cases(&mut self, directory: &mut RunDirectory) -> Result<ReportedCases, Error> {
        let count = self.shards.len() as u64;
        let plans: Vec<Plan> = self.shards.iter().map(|shard| self.plan_of(shard)).collect();
        let mut reported = ReportedCases::default();
        let mut is_at_end = vec![false; self.shards.len()];
        let mut at_end = 0;
        let mut place = self.plan.first_place();
        while at_end < count {
            let shard = self.shard_of(place);
            if !is_at_end[shard] {
                match self.shards[shard].next(&plans[shard])? {
                    Some(ended) => self.case(ended, shard, directory, &mut reported)?,
                    None => {
                        is_at_end[shard] = true;
                        at_end += 1;
                    }
                }
            }
            // Places are below `MOST_CASES` times the columns; the shards have ended before.
            place = place.wrapping_add(1);
        }
        Ok(reported)
    }

    fn case(
        &self,
        ended: FinishedCase,
        shard: usize,
        directory: &mut RunDirectory,
        reported: &mut ReportedCases,
    ) -> Result<(), Error> {
        let case = || self.plan.case(ended.place);
        match &ended.failure {
            Some(Failure { signature, verdict }) if directory.is_reported(signature) => {
                let Some(verdict) = verdict else {
                    let name = case().name;
                    let message = format!("lacks the full verdict of {name}");
                    let path = self.shards[shard].folder.clone();
                    return Err(Error::File { code: codes::DAMAGED, path, message });
                };
                if *verdict != Verdict::NoGoldenModel {
                    reported.failed.push((ended.place, signature.clone()));
                }
            }
            None if reported.saved < self.header.save_vectors => {
                reported.saved += 1;
                let name = case().name;
                files::saved(&self.shards[shard].folder, directory.folder(), &name)?;
            }
            _ => {}
        }
        directory.ended(&ended, case)
    }

    /// The results of a shard whose cases were all read.
    fn results(&mut self, index: usize) -> Result<Results, Error> {
        let results = self.shards[index].finish()?;
        let shard = &self.shards[index];
        let wrong = |message: String| {
            Err(Error::File { code: codes::INCOMPLETE, path: shard.folder.clone(), message })
        };
        let cases = results.totals.cases;
        let planned = self.plan_of(shard).len();
        match results.ended {
            End::Interrupted => wrong(format!(
                "is incomplete: it was interrupted after {cases} cases; continue it with `resume`"
            )),
            End::Complete if cases != planned => {
                wrong(format!("is incomplete: it has {cases} of {planned} cases"))
            }
            _ => Ok(results),
        }
    }

    /// The UTC day on which the last shard ended. Waivers expire by this day.
    fn day(&self, results: &[Results]) -> Result<Option<Day>, Error> {
        if self.header.waivers.is_empty() {
            return Ok(None);
        }
        let days = self.shards.iter().zip(results).map(|(shard, results)| {
            let message = "has waivers but no `day` to check their dates against; repeat the run";
            let missing = || Error::File {
                code: codes::INCOMPLETE,
                path: shard.folder.clone(),
                message: message.to_owned(),
            };
            results.day.clone().ok_or_else(missing)
        });
        Ok(days.collect::<Result<Vec<Day>, Error>>()?.into_iter().max())
    }

    /// The coverage of a shard. Its results record the checksum.
    fn covered(shard: &ShardFile, results: &Results) -> Result<Database, Error> {
        Database::read_of_run(&shard.folder, &results.coverage)
    }

    fn coverage(&self, results: &[Results]) -> Result<Database, Error> {
        if let ([shard], [results]) = (self.shards.as_slice(), results) {
            // The only shard is the whole run. Its database has no redundant cases any more, so
            // what each case is the first to hit cannot be determined again.
            return Self::covered(shard, results);
        }
        // Only one database at a time is in memory.
        let mut together = CoverageMerge::new(self.plan.index_step());
        for (shard, results) in self.shards.iter().zip(results) {
            together.add_cases(&Self::covered(shard, results)?);
        }
        let place = |name: &str| self.plan.place(name);
        for (shard, results) in self.shards.iter().zip(results) {
            together.add(Self::covered(shard, results)?, place).map_err(|error| {
                let message = format!(
                    "its coverage cannot be merged with that of other shards: \
                     {error}"
                );
                Error::File { code: codes::COVERAGE_MISMATCH, path: shard.folder.clone(), message }
            })?;
        }
        let whole = together.finish();
        let path = self.shards[0].folder.clone();
        whole.ok_or_else(|| Error::File {
            code: codes::COVERAGE_MISMATCH,
            path,
            message: "has no coverage database; copy the whole run directory, or repeat the shard"
                .to_owned(),
        })
    }

    /// The failures of the run. Copies the files that one machine would have kept.
    fn failures(
        &self,
        shards: Vec<Vec<Group>>,
        reported: ReportedCases,
        out: &Path,
    ) -> Result<Vec<Group>, Error> {
        let place = |name: &str| self.plan.place(name).unwrap_or(u64::MAX);
        let folder = |place: u64| self.shards[self.shard_of(place)].folder.as_path();
        let mut groups = match <[Vec<Group>; 1]>::try_from(shards) {
            // A single shard is the whole run.
            Ok([groups]) => groups,
            Err(shards) => {
                let mut groups = run::merge_groups(shards, place);
                for place in 0..groups.len() {
                    let (earlier, later) = groups.split_at_mut(place);
                    if place >= run::MOST_LOCATED || run::is_explained(&later[0], earlier) {
                        later[0].suspects.clear();
                    }
                }
                groups
            }
        };
        let mut copies = files::Copies::new(out);
        for group in &groups {
            copies.group(group, |case| folder(place(case)))?;
        }
        for (place, signature) in &reported.failed {
            copies.further(folder(*place), signature, &self.plan.case(*place).name)?;
        }
        if self.shards.len() > 1 {
            run::settle_groups(&mut groups);
        }
        for group in &mut groups {
            let of_group =
                reported.failed.iter().filter(|(_, signature)| *signature == group.signature);
            let cases = of_group.map(|(place, _)| self.plan.case(*place));
            group.first_cases = cases.take(CASES_SHOWN).collect();
        }
        cosim_base::files::sync_folder(out);
        Ok(groups)
    }
}

/// Cases whose files are copied.
#[derive(Default)]
struct ReportedCases {
    /// Fully reported failures, in the order of the plan.
    failed: Vec<(u64, Signature)>,
    /// Number of matching cases with a saved vector.
    saved: u64,
}

/// Adds the totals of a part of a run. Coverage has its own file.
pub fn add(tally: &mut Tally, block: &BlockInfo, totals: &Totals, profiles: &[ProfileResults]) {
    tally.totals.add_all(totals);
    for (profile, part) in tally.profiles.iter_mut().zip(profiles) {
        for ((_, sum), (_, totals)) in profile.scenarios.iter_mut().zip(&part.scenarios) {
            sum.add_all(totals);
        }
        for rule in block.rules {
            if let Some(hits) = part.rules.get(rule.name) {
                let sum = profile.rules.entry(rule.name).or_default();
                *sum = sum.saturating_add(*hits);
                profile.unreachable.remove(rule.name);
            }
        }
        for (name, total) in &block.counters {
            let value = part.counters.get(*name).copied().unwrap_or(0);
            let so_far = profile.counters.entry(name).or_default();
            *so_far = total.combine(*so_far, value);
        }
    }
}

/// A recorder needs a run, although the merge records nothing.
fn unused(header: &Header) -> Run {
    let Header { build, rtl, seed, packets, .. } = header.clone();
    Run { build, rtl, seed, packets }
}

/// Refuses shards of another build, whose rules, counters and bins may have other meanings.
fn of_this_program(shard: &ShardFile) -> Result<(), Error> {
    let (build, now) = (&shard.header.build, program::build());
    if build == now {
        return Ok(());
    }
    let message = format!(
        "was run by build {build}, and this is build {now}; merge with the program that ran it"
    );
    Err(Error::File { code: codes::OTHER_BUILD, path: shard.folder.clone(), message })
}

/// Refuses shards whose headers differ.
fn of_one_run(first: &ShardFile, shard: &ShardFile) -> Result<(), Error> {
    let fields = |shard: &ShardFile| {
        let header = Header { shard: Shard::WHOLE, ..shard.header.clone() };
        serde_json::to_value(header).unwrap_or_default()
    };
    let count = |shard: &ShardFile| Value::from(shard.header.shard.count());
    let differs = |what: &str, here: &Value, there: &Value| {
        let message = format!(
            "is not a shard of the same run as {}: {what} is {} here and {} there",
            first.folder.display(),
            shortened(here),
            shortened(there)
        );
        Err(Error::File { code: codes::OTHER_RUN, path: shard.folder.clone(), message })
    };
    let (here, there) = (fields(shard), fields(first));
    let names = here.as_object().into_iter().chain(there.as_object()).flat_map(|all| all.keys());
    for name in names {
        if here[name] != there[name] {
            return differs(name, &here[name], &there[name]);
        }
    }
    if count(shard) != count(first) {
        return differs("the number of shards", &count(shard), &count(first));
    }
    Ok(())
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Checks that each shard exists once. `shards` is sorted.
fn complete(shards: &[ShardFile]) -> Result<(), Error> {
    for pair in shards.windows(2) {
        if pair[0].header.shard == pair[1].header.shard {
            let (shard, other) = (pair[0].header.shard, pair[0].folder.display());
            let message = format!("is shard {shard}, and so is {other}; name only one of them");
            return Err(Error::File {
                code: codes::SHARD_SET,
                path: pair[1].folder.clone(),
                message,
            });
        }
    }
    let count = shards[0].header.shard.count();
    let is_missing = |index: &u64| {
        shards.binary_search_by_key(index, |shard| shard.header.shard.index()).is_err()
    };
    let missing = count - shards.len() as u64;
    if missing == 0 {
        return Ok(());
    }
    let named: Vec<String> = (1..=count)
        .filter(is_missing)
        .take(MISSING_NAMED)
        .map(|index| format!("{index}/{count}"))
        .collect();
    let more = missing - named.len() as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let block = &shards[0].header.block;
    Err(Error::Usage(
        codes::SHARD_SET,
        format!(
            "shards of {block} are missing: {}{more}; run them (--shard I/{count}), or name their folders",
            named.join(", ")
        ),
    ))
}

/// Raises the limit of open files, because a file of each shard is open at the same time.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, opening a file reports the error.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
