//! The result of a mutation analysis: `mutate.json`, and its table.
//!
//! The same seed and build give the same bytes for any number of threads. `docs/how-to/mutation.md`
//! describes the format.

mod fault;

use crate::answers::UNDECIDED;
use crate::record::RecordFormat;
use crate::started::StartedCommand;
use cosim_base::error::{Error, codes};
use cosim_base::files::Sync;
use cosim_base::program;
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_base::text::{line, percent};
use cosim_block::mutate::KillMethod;
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_formal::certificate::{BELIEVED, Certificate};
use cosim_harness::harness::MOST_PACKETS;
use cosim_harness::harness::{Outcome, Verdict};
pub use fault::{Mode, Mutation, Source};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-mutation", version: 1, most: LARGEST_RESULT };
/// Maximum size of a result in bytes.
const LARGEST_RESULT: u64 = 1 << 28;
/// File of a complete result.
pub const RESULT: &str = "mutate.json";
/// File of an incomplete result: the analysis is running or was interrupted.
pub const PARTIAL: &str = "mutate.json.partial";
/// Maximum number of mutants per profile.
pub const MOST_MUTANTS: u32 = 100_000;
/// Maximum number of cases per scenario.
pub const MOST_CASES: u64 = 1_000_000;
/// Folder of vectors that kill mutants which the cases did not kill.
pub const VECTORS: &str = RunFolder::Mutants.name();

/// The mutation analysis of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The name of the format.
    pub format: String,
    /// The version of the format.
    pub version: u64,
    /// Whether every mutant has its verdict.
    pub complete: bool,
    /// The command that started it, while it is incomplete.
    #[serde(default, rename = "begun", skip_serializing_if = "Option::is_none")]
    pub run_command: Option<RunCommand>,
    /// What was analysed, and with which settings.
    pub run: Header,
    /// The profiles that were started, in order.
    pub profiles: Vec<ProfileGrading>,
    /// The BLAKE3 hash of all bytes before this line. Only the file contains it.
    #[serde(skip_serializing)]
    checksum: String,
}

/// The command that started the analysis, from which it can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// The command line.
    pub command: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
    /// The mark of the user's record of this command.
    pub mark: String,
}

impl RunCommand {
    /// The command of this process, which begins an analysis of this RTL. Leaves a record of it.
    pub fn from_process(given: &Rtl) -> Self {
        let command = program::command();
        let folder = env::current_dir().unwrap_or_default();
        let mark = StartedCommand { words: &command, folder: &folder, rtl: Some(given) }.record();
        Self { command, folder, mark }
    }

    /// Whether this user began the analysis of this RTL on this machine.
    pub fn is_own(&self, given: &Rtl) -> bool {
        let Self { command, folder, mark } = self;
        StartedCommand { words: command, folder, rtl: Some(given) }.is_recorded(mark)
    }
}

/// Identifies an analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The tool's version.
    pub tool: String,
    /// The tool's build: a hash of its sources.
    pub build: String,
    /// The version of Yosys that chose the mutations.
    pub yosys: String,
    /// The second solver and its version; empty: it is missing, and no proof is certified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// The user RTL, if it replaces the built-in RTL.
    pub given: Rtl,
    /// The block.
    pub block: String,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// The seed that selects mutations.
    pub seed: u64,
    /// What may kill mutants.
    pub means: KillMethod,
    /// Requested mutations per profile.
    pub mutants: u32,
    /// The seed of the cases.
    pub run_seed: u64,
    /// Cases of each scenario.
    pub cases: u64,
    /// Packets of each case; random if there is no number.
    pub packets: Option<u32>,
    /// Scenarios, as given; empty: all built-in ones.
    pub scenarios: Vec<String>,
    /// The shard of mutations that is analysed, I/N of their numbers.
    #[serde(default = "whole_shard", skip_serializing_if = "is_whole")]
    pub shard: Shard,
    /// The changed lines to which mutations are restricted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_diff: Option<ChangedLines>,
    /// Whether formal equivalence checking was skipped (`--no-judge`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_judge: bool,
    /// Minimum percentage of killed mutants among those not equivalent, in every profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Whether mutants that are only believed equivalent count as equivalent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_believed: bool,
}

/// Lines of the RTL that a change added or replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedLines {
    /// The RTL before the change, as typed.
    pub old: String,
    /// The lines, as in `rtl/fifo.v:12`.
    pub lines: BTreeSet<String>,
}

/// A place in the RTL of more lines says nothing of each: a register has its process as its place.
const MOST_LINES: u32 = 10;

impl ChangedLines {
    pub fn contains(&self, source: &Source) -> bool {
        let end = source.place.split_once('-').map_or("", |(_, end)| end);
        let end = end.split('.').next().and_then(|line| line.parse().ok());
        let lines = source.line..=end.unwrap_or(source.line);
        let is_short = lines.end().saturating_sub(*lines.start()) < MOST_LINES;
        is_short
            && lines.clone().any(|line| self.lines.contains(&format!("{}:{line}", source.file)))
    }
}

fn whole_shard() -> Shard {
    Shard::WHOLE
}

fn is_whole(shard: &Shard) -> bool {
    shard.is_whole()
}

impl Header {
    /// The numbers of this shard's mutations, out of `all`.
    pub fn ids(&self, all: u32) -> impl Iterator<Item = u32> + '_ {
        (1..=all).filter(|id| self.contains(*id))
    }

    pub fn contains(&self, id: u32) -> bool {
        self.shard.contains(u64::from(id) - 1)
    }
}

/// The mutation analysis of one profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileGrading {
    /// The profile.
    pub profile: String,
    /// Number of cases run on every mutant that survived.
    pub cases_run: u64,
    /// The mutation score.
    pub score: MutationScore,
    /// Every mutation, by number.
    pub mutants: Vec<Mutant>,
}

/// A mutation and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mutant {
    /// The mutation.
    #[serde(flatten)]
    pub mutation: Mutation,
    /// Its effect, in words.
    pub does: String,
    /// Its status.
    #[serde(flatten)]
    pub status: MutantStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutantClass {
    Killed,
    /// No case kills it.
    Survived,
    Equivalent,
    Believed,
    Undecided,
}

impl Mutant {
    pub fn counts(&self) -> MutantClass {
        match &self.status {
            MutantStatus::Killed { .. } => MutantClass::Killed,
            MutantStatus::Equivalent { certificate } | MutantStatus::Believed { certificate } => {
                match certificate.is_there() {
                    true => MutantClass::Equivalent,
                    false => MutantClass::Believed,
                }
            }
            MutantStatus::Survived { .. } => MutantClass::Survived,
            MutantStatus::Undecided { .. } => MutantClass::Undecided,
        }
    }
}

/// The status of a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum MutantStatus {
    /// A case kills it.
    Killed {
        /// The first case that kills it.
        case: String,
        /// That case's scenario.
        scenario: String,
        /// The cause: the port that differs, `check NAME`, `hang` or `crash`.
        by: String,
        /// The cycle of the difference, if it is known.
        cycle: Option<u64>,
    },
    /// No case kills it.
    Survived {
        /// A vector that kills it, if the equivalence check found one: a path relative to this
        /// folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vector: Option<RunFile>,
    },
    /// No input sequence can kill it.
    Equivalent {
        /// How a second solver certified the proof.
        certificate: Certificate,
    },
    /// An engine proved that no input sequence can kill it; no second solver certified that.
    Believed {
        /// Why there is no certificate.
        certificate: Certificate,
    },
    /// No case kills it, and the equivalence check is inconclusive.
    Undecided {
        /// Why the equivalence check is inconclusive.
        because: String,
    },
}

/// The mutation score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationScore {
    /// Number of all mutants.
    pub mutants: u64,
    /// Number of killed mutants.
    pub killed: u64,
    /// Number of surviving mutants.
    pub survived: u64,
    /// Number of equivalent mutants.
    pub equivalent: u64,
    /// Number of mutants that are only believed equivalent.
    pub believed: u64,
    /// Number of mutants whose equivalence is undecided.
    pub undecided: u64,
    /// Killed percentage of all mutants.
    pub percent: f64,
    /// Killed percentage of the mutants that are not equivalent. Mutants that are only believed
    /// equivalent are among them, unless that is accepted.
    pub percent_without_equivalent: f64,
}

impl MutantStatus {
    /// The status of a mutant with a proof that no input kills it.
    pub fn from_proof(certificate: Certificate) -> Self {
        match certificate.is_there() {
            true => Self::Equivalent { certificate },
            false => Self::Believed { certificate },
        }
    }

    pub fn killed(case: &str, outcome: &Outcome) -> Self {
        let scenario = case.split('/').nth(2).unwrap_or_default().to_owned();
        let (by, cycle) = match &outcome.verdict {
            Verdict::Mismatch(mismatch) | Verdict::Unknown(mismatch) => {
                (mismatch.port.clone(), Some(mismatch.cycle))
            }
            Verdict::CheckFailed { cycle, violation } => {
                (format!("check {}", violation.check), Some(*cycle))
            }
            Verdict::Hang { cycle, .. } => ("hang".to_owned(), *cycle),
            Verdict::Crashed { cycle, .. } => ("crash".to_owned(), *cycle),
            other => (other.name().to_owned(), None),
        };
        Self::Killed { case: case.to_owned(), scenario, by, cycle }
    }
}

impl MutationScore {
    /// The score of some mutants, and whether those that are believed equivalent count as
    /// equivalent.
    pub fn score_mutants<'a>(
        mutants: impl Iterator<Item = &'a Mutant>,
        accept_believed: bool,
    ) -> Self {
        let mut score = Self::default();
        for mutant in mutants {
            score.mutants += 1;
            match mutant.counts() {
                MutantClass::Killed => score.killed += 1,
                MutantClass::Survived => score.survived += 1,
                MutantClass::Equivalent => score.equivalent += 1,
                MutantClass::Believed => score.believed += 1,
                MutantClass::Undecided => score.undecided += 1,
            }
        }
        score.percent = percent(score.killed, score.mutants);
        score.percent_without_equivalent = percent(score.killed, score.counted(accept_believed));
        score
    }

    /// The number of mutants that are not equivalent.
    pub fn counted(&self, accept_believed: bool) -> u64 {
        let believed = if accept_believed { self.believed } else { 0 };
        self.mutants.saturating_sub(self.equivalent + believed)
    }
}

/// Counts each name; most frequent first.
pub fn counted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(name, times)| (u64::MAX - times, *name));
    counts
}

impl ProfileGrading {
    /// A profile before any case was run.
    pub fn new(profile: &str, mutations: &[Mutation]) -> Self {
        let mutant = |mutation: &Mutation| Mutant {
            mutation: mutation.clone(),
            does: mutation.words(),
            status: MutantStatus::Survived { vector: None },
        };
        let mutants: Vec<Mutant> = mutations.iter().map(mutant).collect();
        let score = MutationScore::score_mutants(mutants.iter(), false);
        Self { profile: profile.to_owned(), cases_run: 0, score, mutants }
    }

    /// The numbers of surviving mutants for which the equivalence check found no vector.
    pub fn alive(&self) -> Vec<u32> {
        let is_alive = |mutant: &&Mutant| mutant.status == MutantStatus::Survived { vector: None };
        let alive = self.mutants.iter().filter(is_alive);
        alive.map(|mutant| mutant.mutation.id).collect()
    }

    /// The ports and checks that killed mutants, with their numbers, most frequent first.
    pub fn killed_by(&self) -> Vec<(&str, u64)> {
        counted(self.mutants.iter().filter_map(|mutant| match &mutant.status {
            MutantStatus::Killed { by, .. } => Some(by.as_str()),
            _ => None,
        }))
    }

    /// See [`Report::set`].
    fn set(
        &mut self,
        statuses: impl IntoIterator<Item = (u32, MutantStatus)>,
        accept_believed: bool,
    ) {
        for (id, status) in statuses {
            // The mutants are sorted by number.
            if let Ok(place) = self.mutants.binary_search_by_key(&id, |mutant| mutant.mutation.id) {
                self.mutants[place].status = status;
            }
        }
        self.score = MutationScore::score_mutants(self.mutants.iter(), accept_believed);
    }
}

impl Report {
    pub fn new(run: Header) -> Self {
        Self {
            format: FORMAT.name.to_owned(),
            version: FORMAT.version,
            complete: false,
            run_command: None,
            run,
            profiles: Vec::new(),
            checksum: String::new(),
        }
    }

    /// Reads the result in a folder, complete or not.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let file =
            |code, path: &Path, message| Error::File { code, path: path.to_owned(), message };
        // Both files exist if a complete analysis was extended or killed while it finished: take
        // the later.
        let time = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let paths = [PARTIAL, RESULT].map(|name| folder.join(name)).into_iter();
        let Some(path) = paths.filter(|path| path.is_file()).max_by_key(time) else {
            return Err(file(
                codes::NOT_A_RUN,
                folder,
                format!("contains no mutation analysis: neither {RESULT} nor {PARTIAL}"),
            ));
        };
        let (mut report, _) = FORMAT.read::<Self>(&path)?;
        report.checksum.clear();
        report.check().map_err(|what| {
            file(codes::DAMAGED, &path, format!("is damaged: {what}; repeat the analysis"))
        })?;
        Ok(report)
    }

    /// Checks the settings against their limits.
    fn check(&self) -> Result<(), String> {
        let Header { profiles, mutants, cases, packets, .. } = &self.run;
        let within = |what: &str, number: u64, most: u64| {
            let is_within = (1..=most).contains(&number);
            is_within
                .then_some(())
                .ok_or_else(|| format!("{what} is {number}, expected 1 to {most}"))
        };
        within("`cases`", *cases, MOST_CASES)?;
        within("`mutants`", u64::from(*mutants), u64::from(MOST_MUTANTS))?;
        within("`packets`", u64::from(packets.unwrap_or(1)), u64::from(MOST_PACKETS))?;
        if profiles.is_empty() {
            return Err("it names no profiles".to_owned());
        }
        for (index, graded) in self.profiles.iter().enumerate() {
            let name = &graded.profile;
            if profiles.get(index) != Some(name) {
                return Err(format!(
                    "it has results of profile `{name}`, which its header does not \
                     name"
                ));
            }
            let ids = graded.mutants.iter().map(|mutant| mutant.mutation.id);
            let most = graded.mutants.last().map_or(0, |mutant| mutant.mutation.id);
            if most > *mutants || !ids.eq(self.run.ids(most)) {
                return Err(format!(
                    "the mutants of `{name}` are not numbered from 1 to {mutants}"
                ));
            }
            if graded.score
                != MutationScore::score_mutants(graded.mutants.iter(), self.run.accept_believed)
            {
                return Err(format!("the score of `{name}` is not that of its mutants"));
            }
        }
        Ok(())
    }

    /// Updates the status of mutants of the profile at this place.
    pub fn set(&mut self, index: usize, statuses: impl IntoIterator<Item = (u32, MutantStatus)>) {
        self.profiles[index].set(statuses, self.run.accept_believed);
    }

    pub fn end(&mut self) {
        self.complete = true;
        self.run_command = None;
    }

    /// Writes the result, complete or partial.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let partial = folder.join(PARTIAL);
        if !self.complete {
            return FORMAT.write(&partial, self, Sync::Lazy);
        }
        FORMAT.write(&folder.join(RESULT), self, Sync::OnDisk)?;
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::write(&partial)(error))
            }
            _ => Ok(()),
        }
    }

    /// The score of all profiles together.
    pub fn score(&self) -> MutationScore {
        let mutants = self.profiles.iter().flat_map(|graded| &graded.mutants);
        MutationScore::score_mutants(mutants, self.run.accept_believed)
    }

    /// The exit code of a complete analysis: 1 if it [fails](Self::failures), [`UNDECIDED`] if a
    /// mutant is only believed equivalent, which the command does not accept.
    pub fn exit(&self, wanted: Option<f64>) -> u8 {
        match () {
            () if !self.failures(wanted).is_empty() => 1,
            () if self.score().believed > 0 && !self.run.accept_believed => UNDECIDED,
            () => 0,
        }
    }

    /// Why the analysis fails, one reason per line; empty if it passes.
    pub fn failures(&self, wanted: Option<f64>) -> Vec<String> {
        [self.empty(), self.below(wanted)].concat()
    }

    /// Profiles whose score is meaningless, since no mutant can be killed. A shard only needs
    /// mutants.
    fn empty(&self) -> Vec<String> {
        let Header { block, shard, .. } = &self.run;
        let line = |ProfileGrading { profile, score, .. }: &ProfileGrading| match score {
            MutationScore { mutants: 0, .. } if !shard.is_whole() => Some(format!(
                "{block} {profile}: part {shard} has no mutants; use fewer parts or more --mutants"
            )),
            MutationScore { mutants: 0, .. } => {
                Some(format!("{block} {profile}: Yosys found no cell to mutate"))
            }
            score if shard.is_whole() && score.counted(self.run.accept_believed) == 0 => {
                Some(format!("{block} {profile}: all mutants are equivalent; use more --mutants"))
            }
            _ => None,
        };
        self.profiles.iter().filter_map(line).collect()
    }

    /// Profiles whose score is below `wanted`. Shards are not checked.
    fn below(&self, wanted: Option<f64>) -> Vec<String> {
        let Some(wanted) = wanted.filter(|_| self.run.shard.is_whole()) else { return Vec::new() };
        let percent = |graded: &ProfileGrading| graded.score.percent_without_equivalent;
        let below = self.profiles.iter().filter(|graded| percent(graded) < wanted);
        let block = &self.run.block;
        let line = |graded: &ProfileGrading| {
            let (profile, percent) = (&graded.profile, percent(graded));
            format!("{block} {profile}: score {percent:.2} %, below {wanted} %")
        };
        below.map(line).collect()
    }

    /// The table: a line for each profile, and the survivors.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for graded in &self.profiles {
            let ProfileGrading { profile, cases_run, score, mutants } = graded;
            let MutationScore {
                mutants: all,
                killed,
                survived,
                equivalent,
                believed,
                undecided,
                percent,
                ..
            } = score;
            let without = score.percent_without_equivalent;
            let _ = writeln!(
                text,
                "{} {profile}: {killed} of {all} mutants killed ({percent:.2} %), {equivalent} equivalent ({without:.2} % \
                 without them), {believed} {BELIEVED} equivalent, {survived} survived, {undecided} undecided, \
                 {cases_run} cases",
                self.run.block
            );
            if let Some(ChangedLines { old, lines }) = &self.run.in_diff {
                let _ = writeln!(
                    text,
                    "  mutants only in the {} lines changed since {}",
                    lines.len(),
                    line(old)
                );
            }
            let by = graded.killed_by();
            let most: Vec<String> =
                by.iter().take(8).map(|(port, times)| format!("{port} {times}")).collect();
            if !most.is_empty() {
                let _ = writeln!(text, "  killed by {}", most.join(", "));
            }
            for mutant in mutants {
                let Mutant { mutation, does, status, .. } = mutant;
                let more = match status {
                    MutantStatus::Killed { .. } => continue,
                    MutantStatus::Equivalent { certificate }
                    | MutantStatus::Believed { certificate } => match certificate {
                        Certificate::Nothing { because } => {
                            format!("; {BELIEVED} equivalent, not certified: {because}")
                        }
                        _ => continue,
                    },
                    MutantStatus::Survived { vector: None } => String::new(),
                    MutantStatus::Survived { vector: Some(vector) } => {
                        format!("; found by {vector}")
                    }
                    MutantStatus::Undecided { because } => format!("; undecided: {because}"),
                };
                let _ = writeln!(
                    text,
                    "  {:>5} {:32} {does}{more}",
                    mutation.id,
                    mutation.first_place()
                );
            }
        }
        text
    }
}

pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let schema = generator.subschema_for::<Report>().to_value();
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mutate.json",
        "$ref": schema["$ref"],
        "$defs": definitions,
    })
}

#[cfg(test)]
mod tests;
