//! Reads and writes `coverage.json`.

use super::code::Code;
use super::{
    ContributingCase, Database, Group, Indices, ProfileBins, ProfileCoverage, Run, ScenarioCoverage,
};
use crate::record::RecordFormat;
use cosim_base::checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_block::points::Point;
use cosim_harness::harness::RULES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub const COVERAGE: &str = "coverage.json";
const FORMAT: RecordFormat =
    RecordFormat { name: "cosim-coverage", version: 1, most: LARGEST_DATABASE };
/// Maximum size of a database in bytes.
const LARGEST_DATABASE: u64 = 1 << 28;
/// Maximum number of bins, as the harness supports. A cross of a few axes multiplies their values.
const MOST_BINS: usize = 1 << 20;

/// A coverage database in a file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Text {
    /// `cosim-coverage`.
    format: String,
    /// 1.
    version: u64,
    /// The block.
    block: String,
    /// The coverage groups. Bins are numbered from 0 through all groups; in a cross the last axis
    /// varies fastest.
    groups: Vec<Group>,
    /// The coverage of each profile.
    profiles: Vec<ProfileText>,
    /// The code coverage points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    code: Vec<CodeText>,
    /// The runs that `parts` and `finds` refer to.
    runs: Vec<Run>,
    /// The coverage of the cases of one scenario, profile and run.
    parts: Vec<PartText>,
    /// Cases that hit a bin that no earlier case of their run hit.
    finds: Vec<ContributingCaseText>,
    /// The BLAKE3 hash of all bytes before this line.
    checksum: String,
}

/// The coverage of a profile.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProfileText {
    /// The name of the profile.
    profile: String,
    /// The mask of fixes.
    fixes: String,
    /// The other parameters.
    parameters: BTreeMap<String, u64>,
    /// Number of reachable bins.
    reachable: u32,
    /// Number of reachable bins that were hit.
    hit: u32,
    /// Hit count of each bin.
    hits: Vec<u64>,
    /// Unreachable bins: no legal stimulus hits them. By bin, with the reason.
    unreachable: BTreeMap<u32, String>,
}

/// The coverage of some cases.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PartText {
    /// Index into `runs`.
    run: usize,
    /// The profile.
    profile: String,
    /// The scenario.
    scenario: String,
    /// A hash of the scenario's weights.
    weights: String,
    /// Indices of the cases.
    cases: Indices,
    /// Cycles compared.
    cycles: u64,
    /// Bins that were hit, in ascending order.
    bins: Vec<u32>,
    /// Hit count of each of these bins.
    hits: Vec<u64>,
    /// Code coverage, if it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reached: Option<ReachedText>,
}

/// The code coverage points of an RTL in a profile.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeText {
    /// A hash of the RTL's text.
    rtl: String,
    /// The profile.
    profile: String,
    /// The points: file, line, column, kind, details, lines that execute together with it.
    points: Vec<Point>,
    /// Points that do not count, by index, with the reason.
    waived: BTreeMap<u32, String>,
    /// Those of them that a proof shows to be unreachable.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    proved: BTreeSet<u32>,
}

/// The code coverage of some cases.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReachedText {
    /// Points that were reached, in ascending order.
    points: Vec<u32>,
    /// Number of cases that reached each of these points.
    cases: Vec<u64>,
}

/// A case that hit new bins.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContributingCaseText {
    /// Index into `runs`.
    run: usize,
    /// `block/profile/scenario/index`.
    name: String,
    /// Its profile.
    profile: String,
    /// A hash of its scenario's weights.
    weights: String,
    /// Cycles compared.
    cycles: u64,
    /// Number of bins that it is the first to hit.
    new: u32,
    /// Every bin that it hits, in ascending order.
    bins: Vec<u32>,
}

pub fn schema() -> Value {
    FORMAT.schema::<Text>("coverage.json of a cosim run")
}

impl Database {
    /// The text: one line for each group, profile, run, part and find, in a fixed order.
    ///
    /// # Errors
    /// Never for a recorded database.
    pub fn to_text(&self) -> Result<String, Error> {
        self.sealed_text().map(|(text, _)| text)
    }

    fn sealed_text(&self) -> Result<(String, String), Error> {
        let runs: BTreeSet<&Run> = self
            .parts
            .iter()
            .map(|part| &part.run)
            .chain(self.finds.iter().map(|find| &find.run))
            .collect();
        let runs: Vec<&Run> = runs.into_iter().collect();
        let number = |run: &Run| runs.binary_search(&run).unwrap_or_default();
        let part = |part: &ScenarioCoverage| PartText {
            run: number(&part.run),
            profile: part.profile.clone(),
            scenario: part.scenario.clone(),
            weights: part.weights.clone(),
            cases: part.cases,
            cycles: part.cycles,
            bins: part.hits.iter().map(|(bin, _)| *bin).collect(),
            hits: part.hits.iter().map(|(_, hits)| *hits).collect(),
            reached: part.reached.as_ref().map(|reached| {
                let (points, cases) = reached.iter().copied().unzip();
                ReachedText { points, cases }
            }),
        };
        let find = |find: &ContributingCase| ContributingCaseText {
            run: number(&find.run),
            name: find.name.clone(),
            profile: find.profile.clone(),
            weights: find.weights.clone(),
            cycles: find.cycles,
            new: find.new,
            bins: find.bins.clone(),
        };
        let mut text = format!(
            "{{\n\"format\": \"{}\",\n\"version\": {},\n\"block\": {},\n",
            FORMAT.name,
            FORMAT.version,
            line(&self.block)?
        );
        list(&mut text, "groups", &self.groups, ",\n")?;
        list(&mut text, "profiles", &self.profile_texts(), ",\n")?;
        if !self.code.is_empty() {
            list(&mut text, "code", &self.code_texts(), ",\n")?;
        }
        list(&mut text, "runs", &runs, ",\n")?;
        list(&mut text, "parts", &self.parts.iter().map(part).collect::<Vec<_>>(), ",\n")?;
        list(&mut text, "finds", &self.finds.iter().map(find).collect::<Vec<_>>(), ",\n")?;
        Ok(checksum::sealed(text))
    }

    fn code_texts(&self) -> Vec<CodeText> {
        let text = |((rtl, profile), code): (&(String, String), &Code)| CodeText {
            rtl: rtl.clone(),
            profile: profile.clone(),
            points: code.points.clone(),
            waived: code.waived.clone(),
            proved: code.proved.clone(),
        };
        self.code.iter().map(text).collect()
    }

    fn profile_texts(&self) -> Vec<ProfileText> {
        let text = |(name, profile): (&String, &ProfileBins)| {
            let ProfileCoverage { hits, reachable, hit } = self.covered(name);
            ProfileText {
                profile: name.clone(),
                fixes: profile.fixes.clone(),
                parameters: profile.parameters.clone(),
                reachable,
                hit,
                hits,
                unreachable: profile.unreachable.clone(),
            }
        };
        self.profiles.iter().map(text).collect()
    }

    pub fn write(&self, path: &Path) -> Result<String, Error> {
        let (text, checksum) = self.sealed_text()?;
        write_whole(path, text.as_bytes(), Sync::OnDisk)?;
        Ok(checksum)
    }

    /// Reads the file, or that of a run directory.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`] if it is missing or malformed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let inside = path.join(COVERAGE);
        let path = if path.is_dir() { &inside } else { path };
        Self::read_with_checksum(path).map(|(database, _)| database)
    }

    /// Reads the database in a run directory whose results record its checksum.
    ///
    /// # Errors
    /// As [`Database::read`], and [`Error::File`] if the checksum differs.
    pub fn read_of_run(folder: &Path, expected: &str) -> Result<Self, Error> {
        let path = folder.join(COVERAGE);
        let (database, checksum) = Self::read_with_checksum(&path)?;
        if checksum != expected {
            let message =
                "belongs to another run: results.json records a different checksum; repeat the run";
            return Err(Error::File { code: codes::OTHER_RUN, path, message: message.to_owned() });
        }
        Ok(database)
    }

    fn read_with_checksum(path: &Path) -> Result<(Self, String), Error> {
        let (text, checksum) = FORMAT.read::<Text>(path)?;
        let database = Self::from_text(text).map_err(|message| Error::File {
            code: codes::DAMAGED,
            path: path.to_owned(),
            message,
        })?;
        Ok((database, checksum))
    }

    fn from_text(text: Text) -> Result<Self, String> {
        let Text { block, groups, profiles, code, runs, parts, finds, .. } = text;
        // A golden model may have no rules yet.
        let is_empty = |group: &&Group| group.bins() == 0 && group.name != RULES;
        if let Some(group) = groups.iter().find(is_empty) {
            return Err(format!("group `{}` has no bins", group.name));
        }
        let bins = groups.iter().try_fold(0usize, |sum, group| {
            let axes = group.axes.iter().map(|axis| axis.values.len());
            let bins = axes.fold(1, usize::saturating_mul);
            sum.checked_add(bins).filter(|sum| *sum <= MOST_BINS)
        });
        let bins = bins.ok_or_else(|| format!("the groups have more than {MOST_BINS} bins"))?;
        if let Some(text) = profiles.iter().find(|text| text.hits.len() != bins) {
            let profile = &text.profile;
            return Err(format!("profile `{profile}` does not have the hits of {bins} bins"));
        }
        let run = |place: &str, number: usize| {
            runs.get(number).cloned().ok_or_else(|| format!("{place}: there is no run {number}"))
        };
        let known = |place: &str, profile: &str| {
            let is_there = profiles.iter().any(|text| text.profile == profile);
            let message = || format!("{place}: there is no profile `{profile}`");
            is_there.then_some(()).ok_or_else(message)
        };
        let are_bins = |place: &str, list: &[u32]| {
            let rise = list.windows(2).all(|pair| pair[0] < pair[1]);
            let exist = list.last().is_none_or(|last| (*last as usize) < bins);
            let message = || format!("{place}.bins: expected rising numbers below {bins}");
            (rise && exist).then_some(()).ok_or_else(message)
        };
        let mut database = Self {
            block,
            profiles: BTreeMap::new(),
            code: code.into_iter().map(code_of_text).collect::<Result<_, String>>()?,
            parts: BTreeSet::new(),
            finds: BTreeSet::new(),
            groups,
        };
        for (index, part) in parts.into_iter().enumerate() {
            let place = format!("parts[{index}]");
            known(&place, &part.profile)?;
            are_bins(&place, &part.bins)?;
            if part.bins.len() != part.hits.len() {
                return Err(format!("{place}: `bins` and `hits` have different lengths"));
            }
            let run = run(&place, part.run)?;
            let points = database.points(&run.rtl, &part.profile);
            let reached = part.reached.map(|reached| reached_of_text(&place, reached, points));
            database.parts.insert(ScenarioCoverage {
                run,
                profile: part.profile,
                scenario: part.scenario,
                weights: part.weights,
                cases: part.cases,
                cycles: part.cycles,
                hits: part.bins.into_iter().zip(part.hits).collect(),
                reached: reached.transpose()?,
            });
        }
        for (index, find) in finds.into_iter().enumerate() {
            let place = format!("finds[{index}]");
            known(&place, &find.profile)?;
            are_bins(&place, &find.bins)?;
            database.finds.insert(ContributingCase {
                run: run(&place, find.run)?,
                name: find.name,
                profile: find.profile,
                weights: find.weights,
                cycles: find.cycles,
                bins: find.bins,
                new: find.new,
            });
        }
        for text in &profiles {
            let ProfileText { profile, fixes, parameters, unreachable, .. } = text;
            let bins = ProfileBins {
                fixes: fixes.clone(),
                parameters: parameters.clone(),
                unreachable: unreachable.clone(),
            };
            database.profiles.insert(profile.clone(), bins);
        }
        let again = database.profile_texts();
        if let Some(wrong) = profiles.iter().find(|text| !again.contains(text)) {
            let profile = &wrong.profile;
            return Err(format!(
                "profile `{profile}`: its hits are not the sum of those of its parts"
            ));
        }
        Ok(database)
    }
}

fn code_of_text(text: CodeText) -> Result<((String, String), Code), String> {
    let CodeText { rtl, profile, points, waived, proved } = text;
    if waived.keys().any(|point| *point as usize >= points.len()) {
        return Err(format!("code of profile `{profile}`: a waived point does not exist"));
    }
    if proved.iter().any(|point| !waived.contains_key(point)) {
        return Err(format!("code of profile `{profile}`: a proved point has no reason"));
    }
    Ok(((rtl, profile), Code { points, waived, proved }))
}

fn reached_of_text(
    place: &str,
    text: ReachedText,
    points: Option<usize>,
) -> Result<Vec<(u32, u64)>, String> {
    let ReachedText { points: reached, cases } = text;
    let points = points.ok_or_else(|| format!("{place}.reached: its code has no points"))?;
    let rise = reached.windows(2).all(|pair| pair[0] < pair[1]);
    let exist = reached.last().is_none_or(|last| (*last as usize) < points);
    if !rise || !exist || reached.len() != cases.len() {
        return Err(format!(
            "{place}.reached: expected rising numbers below {points}, and cases for each"
        ));
    }
    Ok(reached.into_iter().zip(cases).collect())
}

fn line(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value)
        .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))
}

/// Writes a JSON list with one entry per line.
fn list<T: Serialize>(text: &mut String, key: &str, entries: &[T], end: &str) -> Result<(), Error> {
    let lines = entries.iter().map(line).collect::<Result<Vec<_>, Error>>()?;
    let lines = lines.join(",\n");
    let lines = if lines.is_empty() { lines } else { format!("\n{lines}\n") };
    text.push_str(&format!("\"{key}\": [{lines}]{end}"));
    Ok(())
}
