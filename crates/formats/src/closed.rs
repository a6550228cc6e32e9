//! The result of `cosim cover close`: `closed.json`, and its text.
//!
//! Each coverage point and bin that a run did not hit has a vector that hits it, a proof that
//! nothing does, a reason of a person, or nothing yet. Later runs read the proofs.

use crate::coverage::Database;
use crate::coverage::code::Code;
use crate::record::RecordFormat;
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, Sync};
use cosim_base::run_file::{RunFile, RunFolder};
use cosim_base::text::line;
use cosim_block::points::Point;
use cosim_block::rtl::Rtl;
use cosim_formal::certificate::{BELIEVED, Certificate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

pub(crate) const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-closed", version: 1, most: LARGEST_INPUT };
/// File name in the result folder.
pub const CLOSED: &str = "closed.json";
/// Folder of the vectors.
pub const VECTORS: RunFolder = RunFolder::Saved;
/// The exit code if something is open, or only believed to be closed.
pub const OPEN: u8 = 4;

pub use crate::diff::Inputs;

/// How a coverage point or bin is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Closing {
    /// A vector hits it, and the golden model agrees.
    Vector {
        /// The case or search that found the inputs.
        by: String,
        /// The vector in the folder of the result.
        vector: RunFile,
    },
    /// No input hits it.
    Proved {
        /// For which inputs.
        inputs: Inputs,
        /// The number of points that one proof shows together.
        together: usize,
        /// How a second solver certified the proof.
        certificate: Certificate,
    },
    /// An engine proved that no input hits it; no second solver certified that.
    Believed {
        /// For which inputs.
        inputs: Inputs,
        /// The number of points that one proof shows together.
        together: usize,
        /// Why there is no certificate.
        certificate: Certificate,
    },
    /// A vector hits it, but the RTL fails with this verdict: a bug.
    Failing {
        /// The verdict.
        verdict: String,
        /// The vector in the folder of the result.
        vector: RunFile,
    },
    /// The waivers of the block name it.
    Waived {
        /// Why nothing hits it.
        reason: String,
    },
    /// Neither.
    Open {
        /// Cycles from reset in which no input hits it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u32>,
        /// Why.
        because: String,
    },
}

impl Closing {
    /// Open for a reason.
    pub fn open(because: impl Into<String>) -> Self {
        Self::Open { cycles: None, because: because.into() }
    }

    /// The result of a proof of so many points together, with this certificate.
    pub fn of_proof(inputs: Inputs, together: usize, certificate: Certificate) -> Self {
        match certificate.is_there() {
            true => Self::Proved { inputs, together, certificate },
            false => Self::Believed { inputs, together, certificate },
        }
    }

    /// The inputs and the certificate of a proof that nothing hits it.
    fn proof(&self) -> Option<(Inputs, &Certificate)> {
        match self {
            Self::Proved { inputs, certificate, .. }
            | Self::Believed { inputs, certificate, .. } => Some((*inputs, certificate)),
            _ => None,
        }
    }

    /// Whether a certified proof shows that nothing hits it.
    pub fn is_proved(&self) -> bool {
        self.proof().is_some_and(|(_, certificate)| certificate.is_there())
    }

    /// Whether a proof without a certificate shows that nothing hits it.
    pub fn is_believed(&self) -> bool {
        self.proof().is_some_and(|(_, certificate)| !certificate.is_there())
    }

    /// The result in words.
    pub fn words(&self) -> String {
        match self {
            Self::Vector { by, vector } => format!("{by} hits it: {vector}"),
            Self::Proved { inputs, together, certificate }
            | Self::Believed { inputs, together, certificate } => {
                let legal = if *inputs == Inputs::Legal { " for legal traffic" } else { "" };
                let others = match together.saturating_sub(1) {
                    0 => String::new(),
                    1 => ", together with another point".to_owned(),
                    others => format!(", together with {others} other points"),
                };
                let word = certificate.word("proved");
                format!("{word} unreachable{legal}; {certificate}{others}")
            }
            Self::Failing { verdict, vector } => format!("hit, but {verdict}: {vector}"),
            Self::Waived { reason } => format!("waived: {reason}"),
            Self::Open { cycles, because } => {
                let within =
                    cycles.map(|cycles| format!("; not within {cycles} cycles from reset"));
                format!("{because}{}", within.unwrap_or_default())
            }
        }
    }
}

/// A code coverage point that the run did not hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClosedPoint {
    /// File, line, column, kind, details, lines.
    pub point: Point,
    /// Why the waivers of the block name it, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
    /// The result.
    #[serde(flatten)]
    pub closing: Closing,
}

/// A bin that the run did not hit, and that no reason of the block excludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClosedBin {
    /// Group and name.
    pub bin: String,
    /// The result.
    #[serde(flatten)]
    pub closing: Closing,
}

/// The result for a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileClosed {
    /// The profile.
    pub profile: String,
    /// The mask of fixes.
    pub fixes: String,
    /// The other parameters.
    pub parameters: BTreeMap<String, u64>,
    /// Number of points that the run hit, by kind, and of bins.
    pub hit: BTreeMap<String, u64>,
    /// Number of bins that reasons of the block exclude.
    pub excluded_bins: u64,
    /// Number of further cases that were tried.
    pub cases: u64,
    /// The points that the run did not hit.
    pub points: Vec<ClosedPoint>,
    /// The bins that the run did not hit.
    pub bins: Vec<ClosedBin>,
}

/// What was closed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClosedSubject {
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
    /// A hash of the RTL's text.
    pub rtl: String,
    /// How commands select the RTL.
    pub given: Rtl,
    /// Whether points count as closed that are only believed to be unreachable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_believed: bool,
}

/// Closed coverage of a block.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u64,
    /// What was closed.
    #[serde(flatten)]
    pub subject: ClosedSubject,
    /// The result for each profile.
    pub profiles: Vec<ProfileClosed>,
    /// The BLAKE3 hash of all bytes before this line. Only the file contains it.
    #[serde(skip_serializing)]
    checksum: String,
}

/// The JSON schema of the file.
pub fn schema() -> Value {
    FORMAT.schema::<Closed>("closed.json of cosim cover close")
}

/// Numbers of points of one kind, by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ClosedCounts {
    /// Hit by the run.
    pub hit: u64,
    /// Hit by a vector.
    pub vector: u64,
    /// Proved unreachable, with a certificate.
    pub proved: u64,
    /// Believed to be unreachable.
    pub believed: u64,
    /// Waived by a person.
    pub waived: u64,
    /// Open.
    pub open: u64,
    /// Hit by inputs with which the RTL fails.
    pub failing: u64,
}

impl ClosedCounts {
    fn add(&mut self, closing: &Closing) {
        *match closing {
            Closing::Vector { .. } => &mut self.vector,
            _ if closing.is_proved() => &mut self.proved,
            _ if closing.is_believed() => &mut self.believed,
            Closing::Waived { .. } => &mut self.waived,
            Closing::Failing { .. } => &mut self.failing,
            Closing::Proved { .. } | Closing::Believed { .. } | Closing::Open { .. } => {
                &mut self.open
            }
        } += 1;
    }
}

/// The rows of the table.
pub const ROWS: [&str; 4] = ["line", "branch", "toggle", "bin"];

impl ProfileClosed {
    /// The table: the counts of each of [`ROWS`].
    pub fn table(&self) -> [(&'static str, ClosedCounts); 4] {
        ROWS.map(|row| {
            let hit = self.hit.get(row).copied().unwrap_or_default();
            let mut counts = ClosedCounts { hit, ..ClosedCounts::default() };
            match row {
                "bin" => {
                    counts.waived = self.excluded_bins;
                    self.bins.iter().for_each(|bin| counts.add(&bin.closing));
                }
                _ => {
                    let of = self.points.iter().filter(|one| one.point.kind.name() == row);
                    of.for_each(|one| counts.add(&one.closing));
                }
            }
            (row, counts)
        })
    }
}

/// The proofs that a run takes from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsedProofs {
    /// The file, as typed.
    pub file: String,
    /// Number of points that are not counted because of its proofs.
    pub used: u64,
    /// Number of points for which it has vectors. They are counted.
    pub vectors: u64,
    /// Number of proofs that do not count, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u64>,
}

impl UsedProofs {
    /// Adds those of another profile.
    fn add(&mut self, other: Self) {
        self.used += other.used;
        self.vectors += other.vectors;
        for (because, count) in other.dropped {
            *self.dropped.entry(because).or_default() += count;
        }
    }

    /// In words: what is not counted, and each reason why proofs do not count.
    pub fn lines(&self) -> Vec<String> {
        let Self { file, used, vectors, dropped } = self;
        let points = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 point {one}"),
            count => format!("{count} points {many}"),
        };
        let first = format!(
            "{} not counted: {file} has the proofs, and cosim cover close --check proves them again",
            points(*used, "is", "are")
        );
        let refused = dropped.iter().map(|(because, count)| {
            let counted = points(*count, "is", "are");
            format!("{counted} counted although {file} has proofs: {}", line(because))
        });
        let vectors = (*vectors > 0).then(|| {
            format!(
                "{} hit by vectors of {file}, which cosim replay checks",
                points(*vectors, "is", "are")
            )
        });
        std::iter::once(first).chain(vectors).chain(refused).collect()
    }
}

impl Closed {
    /// The results of all profiles.
    pub fn new(subject: ClosedSubject, profiles: Vec<ProfileClosed>) -> Self {
        let (format, version) = (FORMAT.name.to_owned(), FORMAT.version);
        Self { format, version, subject, profiles, checksum: String::new() }
    }

    /// Reads a file, or that of a result folder.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is missing, edited or malformed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let inside = path.join(CLOSED);
        let path = if path.is_dir() { &inside } else { path };
        let (mut closed, _) = FORMAT.read::<Self>(path)?;
        closed.checksum.clear();
        Ok(closed)
    }

    /// Writes the file into a result folder.
    ///
    /// # Errors
    /// [`Error::Write`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        FORMAT.write(&folder.join(CLOSED), self, Sync::OnDisk)
    }

    /// Takes proved points out of the code coverage of a profile. A proof counts only for the same
    /// text of the RTL and the same parameters, and only with a certificate.
    fn apply(
        &self,
        (rtl, profile): (&str, &str),
        (fixes, parameters): (&str, &BTreeMap<String, u64>),
        code: &mut Code,
    ) -> UsedProofs {
        let mut found = UsedProofs::default();
        let mut refuse = |because: &str| {
            *found.dropped.entry(because.to_owned()).or_default() += 1;
        };
        let number: BTreeMap<Point, u32> = code.points.iter().cloned().zip(0..).collect();
        let ours = self.profiles.iter().filter(|one| one.profile == profile);
        for one in ours {
            for ClosedPoint { point, closing, .. } in &one.points {
                found.vectors +=
                    u64::from(self.subject.rtl == rtl && matches!(closing, Closing::Vector { .. }));
                let Some((inputs, certificate)) = closing.proof() else { continue };
                if self.subject.rtl != rtl {
                    refuse("the text of the RTL has changed; close the coverage again");
                } else if one.fixes != fixes || one.parameters != *parameters {
                    refuse("the parameters of the profile have changed; close the coverage again");
                } else if !certificate.is_there() {
                    refuse("the proof is only believed: it has no certificate");
                } else if let Some(number) = number.get(point) {
                    let legal = if inputs == Inputs::Legal { ", legal traffic" } else { "" };
                    let reason = format!("proved unreachable{legal}: {certificate}");
                    code.waived.insert(*number, reason);
                    if code.proved.insert(*number) {
                        found.used += 1;
                    }
                } else {
                    refuse("this version of Verilator has no such point");
                }
            }
        }
        found
    }

    /// Takes proved points out of the code coverage of a database, as [`Closed::apply`]. `file` is
    /// the name of this file.
    pub fn apply_to(&self, file: &str, database: &mut Database) -> UsedProofs {
        let mut found = UsedProofs { file: file.to_owned(), ..UsedProofs::default() };
        let Database { block, profiles, code, .. } = database;
        if *block != self.subject.block {
            let proofs = self.profiles.iter().flat_map(|one| &one.points);
            let proofs = proofs.filter(|one| one.closing.proof().is_some()).count();
            found.dropped.insert(format!("it is of block {}", self.subject.block), proofs as u64);
            return found;
        }
        for ((rtl, profile), code) in code {
            let Some(bins) = profiles.get(profile) else { continue };
            found.add(self.apply((rtl, profile), (&bins.fixes, &bins.parameters), code));
        }
        found
    }

    /// The exit code: 1 if the RTL fails, [`OPEN`] if something is open or only believed.
    pub fn exit(&self) -> u8 {
        match self.word() {
            "closed" => 0,
            "FAILING" => 1,
            BELIEVED if self.subject.accept_believed => 0,
            _ => OPEN,
        }
    }

    /// The result as one word.
    pub fn word(&self) -> &'static str {
        let tables = || self.profiles.iter().flat_map(ProfileClosed::table);
        let has = |count: fn(&ClosedCounts) -> u64| tables().any(|(_, one)| count(&one) > 0);
        match () {
            () if has(|counts| counts.failing) => "FAILING",
            () if self.profiles.is_empty() || has(|counts| counts.open) => "open",
            () if has(|counts| counts.believed) => BELIEVED,
            () => "closed",
        }
    }

    /// The text for users. `details`: every point, and not only those that are open.
    pub fn text(&self, details: bool) -> String {
        let ClosedSubject { block, rtl, yosys, solver, .. } = &self.subject;
        let solver = solver.as_deref().unwrap_or("without a second solver");
        let mut text = format!("{}  {block}, RTL {rtl}; {yosys}, {solver}\n", self.word());
        for profile in &self.profiles {
            let _ = writeln!(
                text,
                "\nprofile {:11} {:>6} {:>7} {:>7} {:>9} {:>7} {:>6}",
                profile.profile, "hit", "vector", "proved", BELIEVED, "waived", "open"
            );
            for (row, counts) in profile.table() {
                let ClosedCounts { hit, vector, proved, believed, waived, open, failing } = counts;
                let _ = writeln!(
                    text,
                    "  {row:17} {hit:6} {vector:7} {proved:7} {believed:9} {waived:7} {:6}",
                    open + failing
                );
            }
            profile.lines(details, &mut text);
        }
        text.push('\n');
        text
    }
}

/// Points of one result that are listed.
const SHOWN: usize = 8;

impl ProfileClosed {
    /// Points and bins, those with the same result together.
    fn lines(&self, details: bool, text: &mut String) {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let points = self.points.iter().map(|one| (one.point.place(), &one.closing));
        let bins = self.bins.iter().map(|one| (one.bin.clone(), &one.closing));
        for (name, closing) in points.chain(bins) {
            let is_shown = match closing {
                Closing::Failing { .. } | Closing::Open { .. } => true,
                Closing::Proved { .. } | Closing::Believed { .. } => {
                    details || closing.is_believed()
                }
                Closing::Waived { .. } | Closing::Vector { .. } => details,
            };
            if is_shown {
                groups.entry(closing.words()).or_default().push(name);
            }
        }
        // Names and reasons may come from another person's file.
        for (words, names) in groups {
            let _ = writeln!(text, "  {}", line(&words));
            let shown = if details { usize::MAX } else { SHOWN };
            for name in names.iter().take(shown) {
                let _ = writeln!(text, "    {}", line(name));
            }
            if names.len() > shown {
                let _ =
                    writeln!(text, "    and {} more; --details lists them", names.len() - shown);
            }
        }
        let all = self.points.iter().map(|one| &one.closing);
        let all = all.chain(self.bins.iter().map(|one| &one.closing));
        let vectors: Vec<&RunFile> = all
            .filter_map(|closing| match closing {
                Closing::Vector { vector, .. } => Some(vector),
                _ => None,
            })
            .collect();
        if !vectors.is_empty() {
            let files = vectors.iter().collect::<BTreeSet<_>>().len();
            let _ = writeln!(
                text,
                "  {} of the points and bins have vectors, {files} in {}/",
                vectors.len(),
                VECTORS.name()
            );
        }
        let is_spare = |one: &&ClosedPoint| one.waiver.is_some() && one.closing.is_proved();
        let spare = self.points.iter().filter(is_spare).count();
        if spare > 0 {
            let _ = writeln!(text, "  {spare} of the proofs replace waivers of the block");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_block::points::Kind;
    use tempfile::TempDir;

    fn point(line: u32, kind: Kind) -> Point {
        let (file, what, lines) = ("a.v".to_owned(), "if".to_owned(), String::new());
        Point { file, line, column: 1, kind, what, lines }
    }

    fn proved(certificate: Certificate) -> Closing {
        Closing::of_proof(Inputs::All, 1, certificate)
    }

    /// A result of block `b` with these points of the branches of lines 1, 2 and so on.
    fn closed(rtl: &str, closings: Vec<Closing>) -> Closed {
        let point = |(line, closing)| ClosedPoint {
            point: point(line, Kind::Branch),
            waiver: None,
            closing,
        };
        let profile = ProfileClosed {
            profile: "p".to_owned(),
            fixes: "0x00".to_owned(),
            parameters: BTreeMap::from([("N".to_owned(), 1)]),
            hit: BTreeMap::from([("branch".to_owned(), 7)]),
            excluded_bins: 2,
            cases: 0,
            points: (1..).zip(closings).map(point).collect(),
            bins: Vec::new(),
        };
        let (block, rtl) = ("b".to_owned(), rtl.to_owned());
        Closed::new(ClosedSubject { block, rtl, ..ClosedSubject::default() }, vec![profile])
    }

    fn database(block: &str, rtl: &str, fixes: &str, n: u64) -> Database {
        let bins = crate::coverage::ProfileBins {
            fixes: fixes.to_owned(),
            parameters: BTreeMap::from([("N".to_owned(), n)]),
            unreachable: BTreeMap::new(),
        };
        let points = (1..=4).map(|line| point(line, Kind::Branch)).collect();
        let code = Code { points, ..Code::default() };
        Database {
            block: block.to_owned(),
            groups: Vec::new(),
            profiles: BTreeMap::from([("p".to_owned(), bins)]),
            code: BTreeMap::from([((rtl.to_owned(), "p".to_owned()), code)]),
            parts: Default::default(),
            finds: Default::default(),
        }
    }

    /// Lines 1 and 2 are proved, line 3 without a certificate, and line 5 does not exist.
    fn example() -> Closed {
        let nothing = Certificate::Nothing { because: "no solver".to_owned() };
        let because = Closing::open("too hard");
        closed(
            "r",
            vec![
                proved(Certificate::Structure),
                proved(Certificate::Induction { cycles: 2 }),
                proved(nothing),
                because,
                proved(Certificate::Structure),
            ],
        )
    }

    #[test]
    fn a_proof_counts_for_the_same_rtl_and_parameters_with_a_certificate() {
        for (block, rtl, fixes, n, used, dropped) in [
            ("b", "r", "0x00", 1, 2, 2),
            ("b", "other", "0x00", 1, 0, 4),
            ("b", "r", "0x01", 1, 0, 4),
            ("b", "r", "0x00", 2, 0, 4),
            ("other", "r", "0x00", 1, 0, 4),
        ] {
            let mut database = database(block, rtl, fixes, n);
            let found = example().apply_to("f", &mut database);
            assert_eq!(found.used, used, "{block} {rtl} {fixes} {n}");
            assert_eq!(found.dropped.values().sum::<u64>(), dropped, "{found:?}");
            let code = database.code.values().next().unwrap();
            assert_eq!((code.proved.len() as u64, code.waived.len() as u64), (used, used));
            assert!(found.lines().iter().all(|line| line.contains("f ")), "{found:?}");
        }
    }

    #[test]
    fn a_result_is_as_bad_as_its_worst_point() {
        let vector = RunFile::new(VECTORS, "v", "json");
        let hit = Closing::Vector { by: "case c".to_owned(), vector: vector.clone() };
        let waived = Closing::Waived { reason: "never".to_owned() };
        let failing = Closing::Failing { verdict: "mismatch".to_owned(), vector };
        let structure = || proved(Certificate::Structure);
        let good = vec![hit, waived, structure()];
        let with = |other: Closing| [good.clone(), vec![other]].concat();
        for (closings, exit) in [
            (good.clone(), 0),
            (with(Closing::open("?")), OPEN),
            (with(proved(Certificate::Nothing { because: String::new() })), OPEN),
            (with(failing.clone()), 1),
            ([with(Closing::open("?")), vec![failing]].concat(), 1),
        ] {
            let closed = closed("r", closings);
            assert_eq!(closed.exit(), exit, "{}", closed.text(true));
        }
        let mut closed = closed("r", good);
        let [_, (row, counts), _, (_, bins)] = closed.profiles[0].table();
        let expected =
            ClosedCounts { hit: 7, vector: 1, proved: 1, waived: 1, ..ClosedCounts::default() };
        assert_eq!((row, counts), ("branch", expected));
        assert_eq!(bins.waived, 2);
        assert!(!closed.text(true).contains("waivers of the block"));
        let of_proof = closed.profiles[0].points.iter_mut().find(|one| one.closing.is_proved());
        of_proof.unwrap().waiver = Some("why".to_owned());
        assert!(closed.text(true).contains("1 of the proofs replace waivers of the block"));
    }

    #[test]
    fn a_point_without_a_certificate_is_only_believed_to_be_closed() {
        let nothing = || proved(Certificate::Nothing { because: "no solver".to_owned() });
        for (closings, word, [exit, accepted]) in [
            (vec![proved(Certificate::Structure)], "closed", [0, 0]),
            (vec![proved(Certificate::Structure), nothing()], "believed", [OPEN, 0]),
            (vec![nothing(), Closing::open("?")], "open", [OPEN, OPEN]),
        ] {
            let mut closed = closed("r", closings);
            assert_eq!((closed.word(), closed.exit()), (word, exit));
            closed.subject.accept_believed = true;
            assert_eq!((closed.word(), closed.exit()), (word, accepted));
        }
        let record = serde_json::to_string(&nothing()).unwrap();
        assert!(record.contains(r#""status":"believed""#), "{record}");
        // A record that calls a proof without a certificate proved is not believed more.
        let read = record.replace("believed", "proved");
        let read: Closing = serde_json::from_str(&read).unwrap();
        assert!(read.is_believed() && read.words().starts_with("believed unreachable"));
        let mut counts = ClosedCounts::default();
        counts.add(&read);
        assert_eq!(counts, ClosedCounts { believed: 1, ..ClosedCounts::default() });
    }

    #[test]
    fn a_result_is_read_again_and_an_edited_one_is_not() {
        let folder = TempDir::new().unwrap();
        example().write(folder.path()).unwrap();
        let read = Closed::read(folder.path()).unwrap();
        assert_eq!(read.profiles, example().profiles);
        let file = folder.path().join(CLOSED);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("\"open\"", "\"proved\"")).unwrap();
        assert!(Closed::read(&file).is_err());
    }
}
