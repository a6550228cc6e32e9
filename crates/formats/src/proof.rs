//! The result of proofs: `proof.json`, and its table.

use crate::diff::UNDECIDED;
use crate::record::RecordFormat;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_base::run_file::RunFolder;
use cosim_block::rtl::Rtl;
use cosim_formal::certificate::BELIEVED;
use cosim_formal::engine::Decider;
use cosim_formal::prove::{Accepted, Kind, PropertyStatus};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::path::Path;

pub(crate) const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-proof", version: 1, most: LARGEST_INPUT };
/// File name in the result folder.
pub const PROOF: &str = "proof.json";
/// Why a property is open whose proof was interrupted.
pub const INTERRUPTED: &str = "the command was interrupted";
/// Folder of vectors that violate properties.
pub const VECTORS: RunFolder = RunFolder::Failures;

/// What the proofs of a block are about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProofSubject {
    /// The tool's version.
    pub tool: String,
    /// The tool's build.
    pub build: String,
    /// Yosys's version.
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
    /// The text that selects properties; empty: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Whether the properties are that outputs are free of X.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub x: bool,
    /// Cycles from reset for which an unproved property must hold to pass; empty: all must be
    /// proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_bounded: Option<u32>,
    /// Whether properties pass that are only believed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_believed: bool,
}

/// The proofs of a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Proof {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u64,
    /// What the proofs are about.
    #[serde(flatten)]
    pub subject: ProofSubject,
    /// The proofs of each profile.
    pub profiles: Vec<ProfileProof>,
    /// The BLAKE3 hash of all bytes before this line. Only the file contains it.
    #[serde(skip_serializing)]
    checksum: String,
}

/// The proofs of a block under one set of parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProfileProof {
    /// The profile.
    pub profile: String,
    /// The properties.
    pub properties: Vec<PropertyResult>,
    /// Why this RTL cannot be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A property and its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PropertyResult {
    /// The kind of property.
    pub kind: Kind,
    /// The property as shown to users.
    pub property: String,
    /// The command that decided it; empty: none did.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
    /// Seconds that it took, with waiting for other proofs, to a hundredth. Cached answers take
    /// none.
    pub seconds: f64,
    /// The result.
    #[serde(flatten)]
    pub shown: PropertyStatus,
}

/// Numbers of properties by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Properties that are proved, which a second solver certified.
    pub proved: usize,
    /// Properties that are only believed.
    pub believed: usize,
    /// Known deadlocks that are reachable.
    pub known: usize,
    /// Properties that hold for a bounded number of cycles.
    pub bounded: usize,
    /// Properties that are violated or undecided, and profiles that cannot be checked.
    pub failed: usize,
}

impl Counts {
    /// The sum over several proofs.
    pub fn of<'a>(proofs: impl IntoIterator<Item = &'a Proof>) -> Self {
        let mut counts = Self::default();
        for ProfileProof { properties, because, .. } in
            proofs.into_iter().flat_map(|proof| &proof.profiles)
        {
            counts.failed += usize::from(because.is_some());
            for PropertyResult { shown, .. } in properties {
                *match shown {
                    PropertyStatus::Proved { certificate, .. }
                    | PropertyStatus::Believed { certificate, .. } => {
                        match certificate.is_there() {
                            true => &mut counts.proved,
                            false => &mut counts.believed,
                        }
                    }
                    PropertyStatus::Reached { .. } => &mut counts.known,
                    PropertyStatus::Bounded { .. } => &mut counts.bounded,
                    PropertyStatus::Refuted { .. }
                    | PropertyStatus::Unconfirmed { .. }
                    | PropertyStatus::Disputed { .. }
                    | PropertyStatus::Open { .. } => &mut counts.failed,
                } += 1;
            }
        }
        counts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { proved, believed, known, bounded, failed } = self;
        write!(
            f,
            "{proved} proved, {believed} {BELIEVED}, {known} known hangs, {bounded} bounded, \
             {failed} failed"
        )
    }
}

impl Proof {
    /// The proofs of a block.
    pub fn new(subject: ProofSubject, profiles: Vec<ProfileProof>) -> Self {
        let (format, version) = (FORMAT.name.to_owned(), FORMAT.version);
        Self { format, version, subject, profiles, checksum: String::new() }
    }

    /// Reads the proofs in a result folder.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if they are missing, edited or malformed.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let (mut proof, _) = FORMAT.read::<Self>(&folder.join(PROOF))?;
        proof.checksum.clear();
        Ok(proof)
    }

    /// Writes the proofs into a result folder.
    ///
    /// # Errors
    /// [`Error::Write`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        FORMAT.write(&folder.join(PROOF), self, Sync::OnDisk)
    }

    /// Whether there are properties, and all of them hold.
    pub fn holds(&self) -> bool {
        self.holds_if(self.accepted())
    }

    /// The results that count although they are not certain.
    pub fn accepted(&self) -> Accepted {
        let ProofSubject { accept_bounded, accept_believed, .. } = self.subject;
        Accepted { bounded: accept_bounded, believed: accept_believed }
    }

    fn holds_if(&self, accepted: Accepted) -> bool {
        let mut all = self.profiles.iter().flat_map(|profile| &profile.properties).peekable();
        all.peek().is_some()
            && self.profiles.iter().all(|profile| profile.because.is_none())
            && all.all(|proven| proven.shown.holds(accepted))
    }

    /// Whether the command was interrupted before each property had its result.
    pub fn is_interrupted(&self) -> bool {
        let mut all = self.profiles.iter().flat_map(|profile| &profile.properties);
        all.any(
            |one| matches!(&one.shown, PropertyStatus::Open { because } if because == INTERRUPTED),
        )
    }

    /// The exit code without an interruption: [`UNDECIDED`] if all properties hold, but some are
    /// only believed.
    pub fn exit(&self) -> u8 {
        match () {
            () if self.holds() => 0,
            () if self.holds_if(Accepted { believed: true, ..self.accepted() }) => UNDECIDED,
            () => 1,
        }
    }

    /// The verdict in a word.
    pub fn verdict(&self) -> &'static str {
        if self.is_interrupted() { "INTERRUPTED" } else { verdict(self.exit()) }
    }

    /// The table for users.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let all = || self.profiles.iter().flat_map(|profile| &profile.properties);
        let result = self.verdict();
        let only =
            self.subject.only.as_ref().map_or(String::new(), |only| format!(" with `{only}`"));
        let _ = writeln!(
            text,
            "{result}  {}: {} {}{only}: {}; RTL {}, {}, {}",
            self.subject.block,
            all().count(),
            if all().count() == 1 { "property" } else { "properties" },
            Counts::of([self]),
            self.subject.rtl,
            self.subject.yosys,
            self.subject.solver.as_deref().unwrap_or("without a second solver")
        );
        for ProfileProof { profile, properties, because } in &self.profiles {
            let _ = writeln!(text, "\nprofile {profile}");
            if let Some(because) = because {
                let _ = writeln!(text, "  cannot be checked: {because}");
            }
            for PropertyResult { property, shown, .. } in properties {
                let _ = writeln!(text, "  {:<10} {property}{}", shown.word(), shown.more());
            }
        }
        if all().count() == 0 {
            text += "\nthe block declares no properties: see Block::properties\n";
        }
        text.push('\n');
        text
    }
}

/// The verdict with this exit code.
pub fn verdict(exit: u8) -> &'static str {
    match exit {
        0 => "PASS",
        UNDECIDED => "BELIEVED",
        _ => "FAIL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_base::error::codes;
    use cosim_formal::certificate::Certificate;
    use cosim_formal::prove::{Assumption, Memories};
    use std::fs;
    use tempfile::TempDir;

    fn proof(all: &[PropertyStatus], accept_bounded: Option<u32>) -> Proof {
        let proven = |shown: &PropertyStatus| PropertyResult {
            kind: Kind::Always,
            property: "something".to_owned(),
            by: None,
            seconds: 0.0,
            shown: shown.clone(),
        };
        let profile = ProfileProof {
            profile: "spec".to_owned(),
            properties: all.iter().map(proven).collect(),
            because: None,
        };
        let subject =
            ProofSubject { block: "b".to_owned(), accept_bounded, ..ProofSubject::default() };
        Proof::new(subject, vec![profile])
    }

    #[test]
    fn an_edited_proof_is_rejected() {
        let folder = TempDir::new().unwrap();
        let open = PropertyStatus::Open { because: "a limit".to_owned() };
        let written = proof(&[open], None);
        written.write(folder.path()).unwrap();
        assert!(!Proof::read(folder.path()).unwrap().holds());
        let path = folder.path().join(PROOF);
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replace("\"open\"", "\"none\"");
        assert_ne!(edited, text);
        let (members, _) = text.rsplit_once(",\n\"checksum\"").unwrap();
        for (text, code) in [
            (edited, codes::DAMAGED),
            (format!("{members}\n}}\n"), codes::DAMAGED),
            (text.replace("\"version\": 1", "\"version\": 2"), codes::WRONG_FORMAT),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(Proof::read(folder.path()).unwrap_err().code(), code);
        }
    }

    fn proved_by(certificate: Certificate) -> PropertyStatus {
        PropertyStatus::of_proof(Assumption::Nothing, Memories::None, certificate)
    }

    fn believed() -> PropertyStatus {
        proved_by(Certificate::Nothing { because: "no solver".to_owned() })
    }

    #[test]
    fn a_property_is_proved_only_with_a_certificate_and_else_believed() {
        let proved = || proved_by(Certificate::Structure);
        let open = || PropertyStatus::Open { because: String::new() };
        let bounded = || PropertyStatus::Bounded { cycles: 30, assumed: Assumption::Nothing };
        for (all, [exit, accepted]) in [
            (vec![proved()], [0, 0]),
            (vec![proved(), believed()], [UNDECIDED, 0]),
            (vec![believed(), bounded()], [1, 1]),
            (vec![believed(), open()], [1, 1]),
            (vec![], [1, 1]),
        ] {
            let mut proof = proof(&all, None);
            assert_eq!((proof.exit(), proof.holds()), (exit, exit == 0), "{all:?}");
            proof.subject.accept_believed = true;
            assert_eq!((proof.exit(), proof.holds()), (accepted, accepted == 0), "{all:?}");
            // A believed result stays one.
            assert_eq!(proof.text().contains("  believed "), all.contains(&believed()));
        }
        let words = [proved(), believed()].map(|status| {
            let record = serde_json::to_value(&status).unwrap();
            assert_eq!(record["status"], status.word());
            let read: PropertyStatus = serde_json::from_value(record).unwrap();
            assert_eq!(read, status);
            status.word()
        });
        assert_eq!(words, ["proved", "believed"]);
        // A record that calls a proof without a certificate proved is not believed more.
        let record = serde_json::to_string(&believed()).unwrap().replace("believed", "proved");
        let read: PropertyStatus = serde_json::from_str(&record).unwrap();
        assert_eq!(read.word(), "believed");
        assert!(!read.holds(Accepted::default()));
    }

    #[test]
    fn a_property_that_is_not_proved_fails_unless_its_depth_is_accepted() {
        let proved = proved_by(Certificate::Induction { cycles: 2 });
        let disputed = PropertyStatus::Disputed { because: String::new() };
        let bounded = PropertyStatus::Bounded { cycles: 30, assumed: Assumption::Nothing };
        let open = PropertyStatus::Open { because: String::new() };
        let interrupted = PropertyStatus::Open { because: INTERRUPTED.to_owned() };
        let verdict = |all: &[PropertyStatus]| proof(all, None).verdict();
        assert_eq!(verdict(&[proved.clone(), interrupted.clone()]), "INTERRUPTED");
        assert_eq!(
            (verdict(std::slice::from_ref(&proved)), verdict(std::slice::from_ref(&open))),
            ("PASS", "FAIL")
        );
        for (all, accepted, holds) in [
            (vec![], None, false),
            (vec![], Some(1), false),
            (vec![proved.clone()], None, true),
            (vec![bounded.clone()], None, false),
            (vec![bounded.clone()], Some(31), false),
            (vec![bounded.clone()], Some(30), true),
            (vec![proved.clone(), bounded.clone()], None, false),
            (vec![proved.clone(), bounded.clone()], Some(1), true),
            (vec![proved.clone(), open.clone()], Some(1), false),
            (vec![proved.clone(), disputed.clone()], Some(1), false),
            (vec![proved.clone(), interrupted.clone()], Some(1), false),
        ] {
            assert_eq!(proof(&all, accepted).holds(), holds, "{all:?}, {accepted:?}");
        }
        let mut all = proof(&[proved, believed(), bounded, open, disputed], None);
        all.profiles.push(ProfileProof {
            profile: "clocks".to_owned(),
            properties: Vec::new(),
            because: Some("two clocks".to_owned()),
        });
        let counts = Counts { proved: 1, believed: 1, known: 0, bounded: 1, failed: 3 };
        assert_eq!(Counts::of([&all]), counts);
        let expected = "1 proved, 1 believed, 0 known hangs, 1 bounded, 3 failed";
        assert_eq!(counts.to_string(), expected);
    }
}
