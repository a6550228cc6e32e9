//! The result of comparing two RTLs of a block: `diff.json`, and its text.

use crate::record::RecordFormat;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_block::rtl::Rtl;
use cosim_formal::FIRST_CYCLE;
use cosim_formal::certificate::{BELIEVED, Certificate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

pub(crate) const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-diff", version: 1, most: LARGEST_INPUT };
/// File name in the result folder.
pub const DIFF: &str = "diff.json";
/// The folders with the old and the new RTL, where they come from a revision.
pub const SIDES: [&str; 2] = ["rtl-old", "rtl-new"];
/// Folder of vectors and waves.
pub const VECTORS: RunFolder = RunFolder::Failures;
/// The exit code of a result that is undecided, or only believed.
pub const UNDECIDED: u8 = 4;

/// One of the two RTLs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffSide {
    /// The RTL as typed.
    pub named: String,
    /// The commit, if it is RTL of a revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// A hash of its text.
    pub rtl: String,
    /// How commands select it.
    pub given: Rtl,
}

/// What shows that both RTLs are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The inputs that a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inputs {
    /// All inputs.
    All,
    /// Inputs that neither withdraw nor change an offer.
    Legal,
}

/// Whether the inputs that show a difference are legal traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Inputs that make an output differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownDifference {
    /// The case, vector or search that found the inputs.
    pub found_by: String,
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first output that differs; empty: one RTL stopped by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Its values in the old and in the new RTL.
    pub values: [String; 2],
    /// Whether the inputs are legal traffic.
    pub legal: Legality,
    /// The vector in the folder of the result.
    pub vector: RunFile,
    /// The verdicts of the golden model on the old and on the new RTL with these inputs.
    pub verdicts: [String; 2],
    /// Which of them is right.
    pub right: String,
    /// Waves of the old and of the new RTL.
    pub waves: Vec<RunFile>,
}

/// The result for a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum DiffVerdict {
    /// No output differs.
    Equivalent {
        /// What shows it.
        basis: Basis,
        /// For which inputs.
        inputs: Inputs,
        /// How a second solver certified the proof.
        certificate: Certificate,
        /// Cases and vectors that were simulated on both RTLs without a difference.
        cases: u64,
    },
    /// No output differs by a proof that no second solver certified, or that no case confirmed.
    Believed {
        /// What shows it.
        basis: Basis,
        /// For which inputs.
        inputs: Inputs,
        /// Why there is no certificate.
        certificate: Certificate,
        /// Cases and vectors that were simulated on both RTLs without a difference.
        cases: u64,
    },
    /// An output differs.
    Different(Box<ShownDifference>),
    /// Neither a proof nor a difference.
    Undecided {
        /// Cycles from reset without a difference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u32>,
        /// Cases and vectors that were simulated on both RTLs without a difference.
        cases: u64,
        /// Why.
        because: String,
    },
}

/// A step of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffStep {
    /// What was tried.
    pub step: String,
    /// What it showed.
    pub result: String,
}

/// The comparison under one set of parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileDiff {
    /// The profile.
    pub profile: String,
    /// The steps, in the order in which they ran.
    pub steps: Vec<DiffStep>,
    /// The result.
    #[serde(flatten)]
    pub verdict: DiffVerdict,
}

/// What was compared.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DiffSubject {
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
    /// The old RTL.
    pub old: DiffSide,
    /// The new RTL.
    pub new: DiffSide,
    /// Whether only legal traffic counts.
    pub legal_only: bool,
    /// Whether the exit code is 0 although the RTLs are only believed to be equivalent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_believed: bool,
}

/// The comparison of two RTLs of a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Diff {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u64,
    /// What was compared.
    #[serde(flatten)]
    pub subject: DiffSubject,
    /// The result for each profile.
    pub profiles: Vec<ProfileDiff>,
    /// The BLAKE3 hash of all bytes before this line. Only the file contains it.
    #[serde(skip_serializing)]
    checksum: String,
}

impl DiffVerdict {
    /// The result of a proof with this certificate, and of cases without a difference. A proof is
    /// about netlists: it counts only together with cases, which simulate the RTLs.
    pub fn of_proof(basis: Basis, inputs: Inputs, certificate: Certificate, cases: u64) -> Self {
        let certificate = match cases {
            0 if certificate.is_there() => {
                Certificate::Nothing { because: "no case ran on both RTLs".to_owned() }
            }
            _ => certificate,
        };
        match certificate.is_there() {
            true => Self::Equivalent { basis, inputs, certificate, cases },
            false => Self::Believed { basis, inputs, certificate, cases },
        }
    }

    /// The result as one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Equivalent { certificate, .. } | Self::Believed { certificate, .. } => {
                certificate.word("equivalent")
            }
            Self::Different(_) => "DIFFERENT",
            Self::Undecided { .. } => "undecided",
        }
    }

    /// The result in lines.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Equivalent { basis, inputs, certificate, cases }
            | Self::Believed { basis, inputs, certificate, cases } => {
                let inputs = match inputs {
                    Inputs::All => "for all inputs",
                    Inputs::Legal => "for all inputs that neither withdraw nor change an offer",
                };
                // What is the same netlist is so for other inputs in the first cycle, too.
                let has_first_cycle = matches!(basis, Basis::Correspondence | Basis::Proof);
                let basis = match basis {
                    Basis::Text => "the preprocessed text is the same",
                    Basis::Netlist => "Yosys makes the same netlist of both",
                    Basis::Correspondence => "equal signals correspond",
                    Basis::Proof => "unbounded proof",
                };
                let certificate = match (basis, certificate) {
                    (_, Certificate::Structure) => String::new(),
                    (_, Certificate::Nothing { because }) => format!(", not certified: {because}"),
                    (_, certificate) => format!(", certified: {certificate}"),
                };
                let first = match has_first_cycle {
                    true => format!(", {FIRST_CYCLE}"),
                    false => String::new(),
                };
                let mut lines = vec![format!("{inputs}{first}: {basis}{certificate}")];
                if *cases > 0 {
                    lines.push(format!("{} without a difference in simulation", counted(*cases)));
                }
                lines
            }
            Self::Different(shown) => {
                let ShownDifference { found_by, cycle, port, values: [old, new], legal, .. } =
                    &**shown;
                let ShownDifference { vector, verdicts, right, waves, .. } = &**shown;
                let port = port.as_deref().unwrap_or("the model");
                let mut lines = vec![
                    format!(
                        "cycle {cycle}, {port}: {old} in OLD, {new} in NEW; found by {found_by}"
                    ),
                    format!("legal: {}", legal.words()),
                    format!("golden model: {right}"),
                ];
                let named = [("OLD", &verdicts[0]), ("NEW", &verdicts[1])];
                lines.extend(named.map(|(side, verdict)| format!("  {side}: {verdict}")));
                lines.push(format!("vector: {vector}"));
                lines.extend(waves.iter().map(|file| format!("waves: {file}")));
                lines
            }
            Self::Undecided { cycles, cases, because } => {
                let mut lines = vec![format!("no proof: {because}")];
                if let Some(cycles) = cycles {
                    lines.push(format!("no difference within {cycles} cycles from reset"));
                }
                lines.push(format!("{} without a difference in simulation", counted(*cases)));
                lines
            }
        }
    }
}

impl Legality {
    /// Legal traffic.
    pub fn yes() -> Self {
        Self { is_legal: true, because: None, otherwise: None }
    }

    /// In words.
    pub fn words(&self) -> String {
        let mut words = match &self.because {
            _ if self.is_legal => "yes".to_owned(),
            Some(because) => format!("no: {because}"),
            None => "no".to_owned(),
        };
        if let Some(otherwise) = &self.otherwise {
            let _ = write!(words, "; with legal traffic: {otherwise}");
        }
        words
    }
}

fn counted(cases: u64) -> String {
    format!("{cases} {}", if cases == 1 { "case" } else { "cases" })
}

impl Diff {
    /// The results of a comparison.
    pub fn new(subject: DiffSubject, profiles: Vec<ProfileDiff>) -> Self {
        let (format, version) = (FORMAT.name.to_owned(), FORMAT.version);
        Self { format, version, subject, profiles, checksum: String::new() }
    }

    /// Reads the comparison in a result folder.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing, edited or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let (mut diff, _) = FORMAT.read::<Self>(&folder.join(DIFF))?;
        diff.checksum.clear();
        Ok(diff)
    }

    /// Writes the comparison into a result folder.
    ///
    /// # Errors
    /// [`Error::Write`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        FORMAT.write(&folder.join(DIFF), self, Sync::OnDisk)
    }

    /// The result as one word: the worst one of a profile.
    pub fn word(&self) -> &'static str {
        let is = |word: &str| self.profiles.iter().any(|one| one.verdict.word() == word);
        let bad = ["DIFFERENT", "undecided", BELIEVED];
        bad.into_iter().find(|word| is(word)).unwrap_or("equivalent")
    }

    /// The exit code of the command.
    pub fn exit(&self) -> u8 {
        match self.word() {
            "equivalent" => 0,
            BELIEVED if self.subject.accept_believed => 0,
            "DIFFERENT" => 1,
            _ => UNDECIDED,
        }
    }

    /// The text for users.
    pub fn text(&self) -> String {
        let DiffSubject { block, old, new, yosys, solver, legal_only, .. } = &self.subject;
        let only = if *legal_only { ", legal traffic only" } else { "" };
        let mut text = format!(
            "{}  {block}: OLD {} (RTL {}), NEW {} (RTL {}){only}; {yosys}, {}\n",
            self.word(),
            old.named,
            old.rtl,
            new.named,
            new.rtl,
            solver.as_deref().unwrap_or("without a second solver")
        );
        for ProfileDiff { profile, steps, verdict } in &self.profiles {
            let _ = writeln!(text, "\nprofile {profile}: {}", verdict.word());
            for line in verdict.lines() {
                let _ = writeln!(text, "  {line}");
            }
            for DiffStep { step, result } in steps {
                let _ = writeln!(text, "    {step}: {result}");
            }
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proof says what it leaves out; the same netlist leaves out nothing.
    #[test]
    fn a_proof_names_the_first_cycle() {
        for (basis, has_first_cycle) in [
            (Basis::Text, false),
            (Basis::Netlist, false),
            (Basis::Correspondence, true),
            (Basis::Proof, true),
        ] {
            for inputs in [Inputs::All, Inputs::Legal] {
                let certificate = Certificate::Structure;
                let verdict = DiffVerdict::Equivalent { basis, inputs, certificate, cases: 0 };
                let [line] = &verdict.lines()[..] else { panic!("{verdict:?}") };
                assert_eq!(line.contains(FIRST_CYCLE), has_first_cycle, "{line}");
            }
        }
    }

    fn nothing() -> Certificate {
        Certificate::Nothing { because: "no solver".to_owned() }
    }

    fn of(certificate: Certificate, cases: u64) -> DiffVerdict {
        DiffVerdict::of_proof(Basis::Proof, Inputs::All, certificate, cases)
    }

    fn diff(verdicts: &[DiffVerdict]) -> Diff {
        let profile = |verdict: &DiffVerdict| ProfileDiff {
            profile: "p".to_owned(),
            steps: Vec::new(),
            verdict: verdict.clone(),
        };
        Diff::new(DiffSubject::default(), verdicts.iter().map(profile).collect())
    }

    #[test]
    fn rtls_are_equivalent_only_with_a_certificate_and_cases_and_else_believed() {
        let undecided = DiffVerdict::Undecided { cycles: None, cases: 1, because: String::new() };
        let certified = of(Certificate::Induction { cycles: 2 }, 1);
        for (verdicts, word, [exit, accepted]) in [
            (vec![certified.clone()], "equivalent", [0, 0]),
            (vec![of(Certificate::Structure, 1)], "equivalent", [0, 0]),
            (vec![of(nothing(), 1)], "believed", [UNDECIDED, 0]),
            (vec![of(Certificate::Structure, 0)], "believed", [UNDECIDED, 0]),
            (vec![certified.clone(), of(nothing(), 1)], "believed", [UNDECIDED, 0]),
            (vec![of(nothing(), 1), undecided], "undecided", [UNDECIDED, UNDECIDED]),
        ] {
            let mut diff = diff(&verdicts);
            assert_eq!((diff.word(), diff.exit()), (word, exit), "{verdicts:?}");
            diff.subject.accept_believed = true;
            assert_eq!((diff.word(), diff.exit()), (word, accepted), "{verdicts:?}");
            let record = serde_json::to_value(&verdicts[0]).unwrap();
            assert_eq!(record["status"], verdicts[0].word());
        }
        // A record that calls a proof without a certificate equivalent is not believed more.
        let record = serde_json::to_string(&of(nothing(), 1)).unwrap();
        let record = record.replace("believed", "equivalent");
        assert_eq!(serde_json::from_str::<DiffVerdict>(&record).unwrap().word(), "believed");
    }
}
