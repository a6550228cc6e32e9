//! The result of the commands that ask the provers: `answers.json`, with a row for each question.
//!
//! `cosim prove` asks about properties, `cosim cover close` about what a run did not cover, and
//! `cosim diff` whether the outputs of two RTLs differ. [`text`] prints a record, and [`reuse`]
//! takes proofs into a later run.

pub mod reuse;
mod text;

use crate::record::RecordFormat;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_base::run_file::RunFile;
use cosim_block::points::{self, Point};
use cosim_block::rtl::Rtl;
use cosim_formal::answer::Traffic;
use cosim_formal::certificate::{BELIEVED, Certificate};
use cosim_formal::engine::Decider;
use cosim_formal::prove::{self, Memories};
use cosim_harness::harness::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-answers", version: 1, most: LARGEST_INPUT };
pub const ANSWERS: &str = "answers.json";
/// The folders with the old and the new RTL of `diff`, where they come from a revision.
pub const SIDES: [&str; 2] = ["rtl-old", "rtl-new"];
/// Why a property is open whose proof was interrupted.
pub const INTERRUPTED: &str = "the command was interrupted";
/// The exit code of a result that is undecided, or only believed.
pub const UNDECIDED: u8 = 4;

/// A command that asks the provers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProverCommand {
    /// `cosim prove`.
    #[default]
    Prove,
    /// `cosim diff`.
    Diff,
    /// `cosim cover close`.
    Close,
}

impl ProverCommand {
    /// The words that start it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prove => "prove",
            Self::Diff => "diff",
            Self::Close => "cover close",
        }
    }
}

/// RTL that the questions are about.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubjectRtl {
    /// A hash of its text.
    pub identity: String,
    /// How commands select it.
    pub given: Rtl,
    /// The RTL as typed, if it is one of two.
    #[serde(default, skip_serializing_if = "is_default")]
    pub named: String,
    /// The commit, if it is RTL of a revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What the questions are about, and which answers count.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The command.
    pub command: ProverCommand,
    /// The tool's version.
    pub tool: String,
    /// The tool's build.
    pub build: String,
    /// Yosys's version.
    pub yosys: String,
    /// The second solver and its version; empty: it is missing, and no proof is certified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// The block.
    pub block: String,
    /// The RTL; the new one if there are two.
    pub rtl: SubjectRtl,
    /// The old RTL of `diff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<SubjectRtl>,
    /// The text that selects questions; empty: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Whether the properties are that outputs are free of X.
    #[serde(default, skip_serializing_if = "is_default")]
    pub x: bool,
    /// Whether only legal traffic counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub legal_only: bool,
    /// Cycles from reset for which an unproved property must hold to pass; empty: all must be
    /// proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_bounded: Option<u32>,
    /// Whether answers pass that are only believed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub accept_believed: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The answers to the questions of a command about a block.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AnswerRecord {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u64,
    /// What the questions are about.
    #[serde(flatten)]
    pub subject: Subject,
    /// The answers for each profile.
    pub profiles: Vec<ProfileAnswers>,
    /// The BLAKE3 hash of all bytes before this line. Only the file contains it.
    #[serde(skip_serializing)]
    checksum: String,
}

/// The answers for a block under one set of parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileAnswers {
    /// The profile.
    pub profile: String,
    /// The mask of fixes.
    pub fixes: String,
    /// The other parameters.
    pub parameters: BTreeMap<String, u64>,
    /// Why nothing can be decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// `close`: numbers of points that the run hit, by kind, and of bins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hit: BTreeMap<String, u64>,
    /// `close`: number of bins that reasons of the block exclude.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excluded_bins: u64,
    /// Number of cases that were tried (`close`), or that ran on both RTLs without a difference
    /// (`diff`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub cases: u64,
    /// `diff`: the steps, in the order in which they ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: Vec<ComparisonStep>,
    /// The questions.
    pub rows: Vec<AnswerRow>,
}

/// A step of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonStep {
    /// What was tried.
    pub step: String,
    /// What it showed.
    pub result: String,
}

/// The kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QuestionKind {
    /// Whether a property holds.
    Property(prove::Kind),
    /// Whether a point of code coverage can be reached.
    Point(points::Kind),
    /// Any other question.
    Other(OtherKind),
}

/// The kind of a question about neither a property nor code coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OtherKind {
    /// Whether a bin can be hit.
    Bin,
    /// Whether an output of two RTLs can differ.
    Outputs,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerRow {
    /// The kind of question.
    pub kind: QuestionKind,
    /// The question as shown to users: a property, a point or a bin.
    pub question: String,
    /// The point of code coverage: file, line, column, kind, details, lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// Why the waivers of the block name the point, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
    /// The command that decided it; empty: none did.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
    /// Seconds that it took, with waiting for other questions, to a hundredth. Cached answers take
    /// none.
    pub seconds: f64,
    /// The answer.
    #[serde(flatten)]
    pub status: AnswerStatus,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum AnswerStatus {
    /// The property holds in every reachable cycle, no input reaches the point, or no output
    /// differs.
    Proved(Proof),
    /// An engine proved that; no second solver certified it.
    Believed(Proof),
    /// The result of an engine is contradicted by the second solver or by a simulation.
    Disputed {
        /// By what.
        because: String,
    },
    /// The property holds for a number of cycles from reset; there is no proof.
    Bounded {
        /// The number of cycles.
        cycles: u32,
        /// For which inputs.
        traffic: Traffic,
        /// What keeps it open, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// Inputs reach a known deadlock, or hit a point or bin while RTL and golden model agree.
    Reached(FoundInputs),
    /// The property does not hold, the RTL fails while inputs hit a point, or an output differs.
    Failing(FoundInputs),
    /// The netlist violates the property, but a replay of the inputs shows no difference from the
    /// golden model.
    Unconfirmed(FoundInputs),
    /// The waivers of the block name the point.
    Waived {
        /// Why nothing hits it.
        reason: String,
    },
    /// Undecided.
    Open {
        /// Cycles from reset in which no input reaches the point, or no output differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u32>,
        /// Why.
        because: String,
    },
}

/// A proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// For which inputs.
    pub traffic: Traffic,
    /// How memories are modelled for a property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<Memories>,
    /// What shows that two RTLs are equivalent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The number of other points that the same proof shows to be unreachable.
    #[serde(default, skip_serializing_if = "is_default")]
    pub others: usize,
    /// How a second solver certified the proof, or why it did not.
    pub certificate: Certificate,
}

/// What shows that two RTLs are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The preprocessed text is the same.
    Text,
    /// Yosys makes the same netlist of both.
    Netlist,
    /// Signals that are always equal are merged, and no output differs.
    Correspondence,
    /// An unbounded proof.
    Proof,
}

/// Inputs that reach or violate what is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundInputs {
    /// The case, vector or search that found the inputs.
    pub found_by: String,
    /// The verdict of replaying the vector, or why it confirms nothing. For two RTLs: which of them
    /// the golden model accepts.
    pub verdict: String,
    /// The vector in the folder of the result.
    pub vector: RunFile,
    /// The difference between two RTLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<ShownDifference>>,
}

/// How two RTLs differ with the same inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownDifference {
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first output that differs; empty: one RTL stopped by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Its values in the old and in the new RTL.
    pub values: [String; 2],
    /// Whether the inputs are legal traffic.
    pub legal: Legality,
    /// The verdicts of the golden model on the old and on the new RTL.
    pub verdicts: [String; 2],
    /// Waves of the old and of the new RTL.
    pub waves: Vec<RunFile>,
}

/// Whether the inputs that show a difference are legal traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Legality {
    /// Whether they are.
    pub is_legal: bool,
    /// Which assumption they violate first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The result for legal traffic alone, if these inputs are not legal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
}

impl Legality {
    pub fn yes() -> Self {
        Self { is_legal: true, because: None, otherwise: None }
    }
}

/// What an answer means for the verdict, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Outcome {
    /// Certain, or accepted.
    Good,
    Believed,
    /// Undecided.
    Open,
    /// A violation, a difference, or a contradiction.
    Failing,
}

impl Proof {
    /// A proof about any RTL.
    pub fn new(traffic: Traffic, certificate: Certificate) -> Self {
        Self { traffic, memories: None, basis: None, others: 0, certificate }
    }
}

impl AnswerStatus {
    pub fn from_proof(proof: Proof) -> Self {
        match proof.certificate.is_there() {
            true => Self::Proved(proof),
            false => Self::Believed(proof),
        }
    }

    pub fn open(because: impl Into<String>) -> Self {
        Self::Open { cycles: None, because: because.into() }
    }

    /// The proof, with a certificate or without.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Self::Proved(proof) | Self::Believed(proof) => Some(proof),
            _ => None,
        }
    }

    pub fn found_inputs(&self) -> Option<&FoundInputs> {
        match self {
            Self::Reached(found) | Self::Failing(found) | Self::Unconfirmed(found) => Some(found),
            _ => None,
        }
    }

    /// Whether a certified proof answers the question.
    pub fn is_proved(&self) -> bool {
        self.proof().is_some_and(|proof| proof.certificate.is_there())
    }

    /// What it means, if a property passes that holds for `accept_bounded` cycles.
    pub fn outcome(&self, accept_bounded: Option<u32>) -> Outcome {
        match self {
            Self::Proved(_) | Self::Believed(_) if self.is_proved() => Outcome::Good,
            Self::Proved(_) | Self::Believed(_) => Outcome::Believed,
            Self::Bounded { cycles, .. } if accept_bounded.is_some_and(|most| *cycles >= most) => {
                Outcome::Good
            }
            Self::Reached(_) | Self::Waived { .. } => Outcome::Good,
            Self::Bounded { .. } | Self::Open { .. } => Outcome::Open,
            Self::Failing(_) | Self::Unconfirmed(_) | Self::Disputed { .. } => Outcome::Failing,
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Proved(proof) | Self::Believed(proof) => proof.certificate.word("proved"),
            Self::Disputed { .. } => "DISPUTED",
            Self::Bounded { .. } => "bounded",
            Self::Reached(_) => "reached",
            Self::Failing(_) => "FAILING",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::Waived { .. } => "waived",
            Self::Open { .. } => "open",
        }
    }
}

impl AnswerRow {
    /// An answer that no engine gave.
    pub fn new(kind: QuestionKind, question: String, status: AnswerStatus) -> Self {
        Self { kind, question, point: None, waiver: None, by: None, seconds: 0.0, status }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub hit: u64,
    pub reached: u64,
    pub proved: u64,
    pub believed: u64,
    /// Without a violation for a bounded number of cycles.
    pub bounded: u64,
    pub waived: u64,
    pub open: u64,
    /// Violated or disputed, and profiles in which nothing can be decided.
    pub failing: u64,
}

impl Counts {
    pub fn count_records<'a>(records: impl IntoIterator<Item = &'a AnswerRecord>) -> Self {
        let mut counts = Self::default();
        for profile in records.into_iter().flat_map(|record| &record.profiles) {
            counts.failing += u64::from(profile.because.is_some());
            profile.rows.iter().for_each(|row| counts.add(&row.status));
        }
        counts
    }

    /// The number of questions that are answered badly or not at all.
    pub fn failed(&self) -> u64 {
        self.open + self.failing
    }

    fn add(&mut self, status: &AnswerStatus) {
        *match status {
            AnswerStatus::Proved(_) | AnswerStatus::Believed(_) => match status.is_proved() {
                true => &mut self.proved,
                false => &mut self.believed,
            },
            AnswerStatus::Reached(_) => &mut self.reached,
            AnswerStatus::Bounded { .. } => &mut self.bounded,
            AnswerStatus::Waived { .. } => &mut self.waived,
            AnswerStatus::Open { .. } => &mut self.open,
            AnswerStatus::Failing(_)
            | AnswerStatus::Unconfirmed(_)
            | AnswerStatus::Disputed { .. } => &mut self.failing,
        } += 1;
    }
}

impl ProfileAnswers {
    /// A profile without questions.
    pub fn new(profile: &Profile) -> Self {
        let values = profile.parameters.values();
        Self {
            profile: profile.name.to_string(),
            fixes: format!("0x{:02x}", profile.parameters.fixes()),
            parameters: values.map(|(name, value)| (name.to_owned(), value)).collect(),
            ..Self::default()
        }
    }

    /// The worst outcome.
    pub fn outcome(&self, accept_bounded: Option<u32>) -> Outcome {
        let rows = self.rows.iter().map(|row| row.status.outcome(accept_bounded));
        let whole = self.because.as_ref().map_or(Outcome::Good, |_| Outcome::Failing);
        rows.fold(whole, Outcome::max)
    }

    /// The table of `close`: numbers of points by kind, and of bins.
    pub fn table(&self) -> [(&'static str, Counts); 4] {
        ["line", "branch", "toggle", "bin"].map(|kind| {
            let hit = self.hit.get(kind).copied().unwrap_or_default();
            let waived = if kind == "bin" { self.excluded_bins } else { 0 };
            let mut counts = Counts { hit, waived, ..Counts::default() };
            let kind_of = |row: &AnswerRow| row.point.as_ref().map_or("bin", |at| at.kind.name());
            let rows = self.rows.iter().filter(|row| kind_of(row) == kind);
            rows.for_each(|row| counts.add(&row.status));
            (kind, counts)
        })
    }
}

impl AnswerRecord {
    pub fn new(subject: Subject, profiles: Vec<ProfileAnswers>) -> Self {
        let (format, version) = (FORMAT.name.to_owned(), FORMAT.version);
        Self { format, version, subject, profiles, checksum: String::new() }
    }

    /// Reads a file, or that of a result folder.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing, edited or malformed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let inside = path.join(ANSWERS);
        let path = if path.is_dir() { &inside } else { path };
        let (mut record, _) = FORMAT.read::<Self>(path)?;
        record.checksum.clear();
        Ok(record)
    }

    /// Reads the result of a command.
    ///
    /// # Errors
    /// As [`Self::read`], or if it is the result of another command.
    pub fn read_of(command: ProverCommand, path: &Path) -> Result<Self, Error> {
        let record = Self::read(path)?;
        if record.subject.command != command {
            let message = format!("is no result of `cosim {}`", command.name());
            return Err(Error::File { code: codes::WRONG_FORMAT, path: path.to_owned(), message });
        }
        Ok(record)
    }

    /// Writes the file into a result folder.
    ///
    /// # Errors
    /// [`Error::Write`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        FORMAT.write(&folder.join(ANSWERS), self, Sync::OnDisk)
    }

    pub fn schema() -> Value {
        FORMAT.schema::<Self>("answers.json of cosim prove, cosim diff and cosim cover close")
    }

    /// The questions of all profiles.
    pub fn rows(&self) -> impl Iterator<Item = &AnswerRow> {
        self.profiles.iter().flat_map(|profile| &profile.rows)
    }

    /// The worst outcome. A block without properties fails, and without a comparison nothing is
    /// decided.
    pub fn outcome(&self) -> Outcome {
        if self.rows().next().is_none() {
            match self.subject.command {
                ProverCommand::Prove => return Outcome::Failing,
                ProverCommand::Diff => return Outcome::Open,
                // Nothing was left to close.
                ProverCommand::Close => {}
            }
        }
        let profiles = self.profiles.iter();
        let worst = profiles.map(|one| one.outcome(self.subject.accept_bounded)).max();
        worst.unwrap_or(Outcome::Open)
    }

    pub fn passes(&self, outcome: Outcome) -> bool {
        let is_accepted = outcome == Outcome::Believed && self.subject.accept_believed;
        outcome == Outcome::Good || is_accepted
    }

    /// Whether the command was interrupted before each property had its answer.
    pub fn is_interrupted(&self) -> bool {
        let is_it = |row: &AnswerRow| row.status == AnswerStatus::open(INTERRUPTED);
        self.rows().any(is_it)
    }

    /// The exit code without an interruption. A property that is not decided fails.
    pub fn exit(&self) -> u8 {
        match self.outcome() {
            outcome if self.passes(outcome) => 0,
            Outcome::Failing => 1,
            Outcome::Open if self.subject.command == ProverCommand::Prove => 1,
            _ => UNDECIDED,
        }
    }

    pub fn verdict(&self) -> &'static str {
        match self.subject.command {
            ProverCommand::Prove if self.is_interrupted() => "INTERRUPTED",
            ProverCommand::Prove => verdict(self.exit()),
            ProverCommand::Diff | ProverCommand::Close => self.word(self.outcome()),
        }
    }

    /// The word for an outcome of a comparison or of closed coverage.
    fn word(&self, outcome: Outcome) -> &'static str {
        let is_diff = self.subject.command == ProverCommand::Diff;
        match outcome {
            Outcome::Good if is_diff => "equivalent",
            Outcome::Good => "closed",
            Outcome::Believed => BELIEVED,
            Outcome::Open if is_diff => "undecided",
            Outcome::Open => "open",
            Outcome::Failing if is_diff => "DIFFERENT",
            Outcome::Failing => "FAILING",
        }
    }
}

pub fn verdict(exit: u8) -> &'static str {
    match exit {
        0 => "PASS",
        UNDECIDED => "BELIEVED",
        _ => "FAIL",
    }
}

#[cfg(test)]
mod tests;
