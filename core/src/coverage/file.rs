//! `coverage.json`.

use super::{Covered, Database, Find, Group, Indices, Part, ProfileBins, Run};
use crate::error::Error;
use crate::files::{Sync, write_whole};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The file in a run directory.
pub const COVERAGE: &str = "coverage.json";
const FORMAT: &str = "cosim-coverage";
const VERSION: u64 = 1;

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
    /// Its groups. Bins are numbered through all of them from 0, in a cross the last axis first.
    groups: Vec<Group>,
    /// What the cases of each profile hit together.
    profiles: Vec<ProfileText>,
    /// The runs that parts and finds are of.
    runs: Vec<Run>,
    /// What the cases of a scenario, a profile and a run hit together.
    parts: Vec<PartText>,
    /// Cases that hit what none before them did in their run.
    finds: Vec<FindText>,
}

/// The bins of a profile.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProfileText {
    /// Its name.
    profile: String,
    /// The mask of fixes.
    fixes: String,
    /// The other parameters.
    parameters: BTreeMap<String, u64>,
    /// Bins that can be hit.
    reachable: u32,
    /// Those of them that were.
    hit: u32,
    /// Hits of each bin, by number.
    hits: Vec<u64>,
    /// Bins that no legal stimulus hits, by number, with the reason.
    unreachable: BTreeMap<u32, String>,
}

/// Some cases.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PartText {
    /// The number of the run in `runs`.
    run: usize,
    /// The profile.
    profile: String,
    /// The scenario.
    scenario: String,
    /// A hash of what it draws.
    weights: String,
    /// Indices of the cases.
    cases: Indices,
    /// Cycles compared in them.
    cycles: u64,
    /// Bins that were hit, rising.
    bins: Vec<u32>,
    /// Hits of each of them.
    hits: Vec<u64>,
}

/// A case.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindText {
    /// The number of the run in `runs`.
    run: usize,
    /// `block/profile/scenario/index`.
    name: String,
    /// Its profile.
    profile: String,
    /// A hash of what its scenario draws.
    weights: String,
    /// Cycles compared.
    cycles: u64,
    /// How many bins it hit that none before it in its run did.
    new: u32,
    /// Every bin that it hits, rising.
    bins: Vec<u32>,
}

/// The JSON schema of the file.
pub fn schema() -> Value {
    let schema = SchemaGenerator::default().into_root_schema_for::<Text>();
    let mut schema = schema.to_value();
    schema["title"] = "coverage.json of a cosim run".into();
    schema["properties"]["format"] = serde_json::json!({ "const": FORMAT });
    schema["properties"]["version"] = serde_json::json!({ "const": VERSION });
    schema
}

impl Database {
    /// Its text: a line for each group, profile, run, part and find, always in the same order.
    ///
    /// # Errors
    /// Never with what a run collects.
    pub fn to_text(&self) -> Result<String, Error> {
        let runs: BTreeSet<&Run> = self
            .parts
            .iter()
            .map(|part| &part.run)
            .chain(self.finds.iter().map(|find| &find.run))
            .collect();
        let runs: Vec<&Run> = runs.into_iter().collect();
        let number = |run: &Run| runs.binary_search(&run).unwrap_or_default();
        let part = |part: &Part| PartText {
            run: number(&part.run),
            profile: part.profile.clone(),
            scenario: part.scenario.clone(),
            weights: part.weights.clone(),
            cases: part.cases,
            cycles: part.cycles,
            bins: part.hits.iter().map(|(bin, _)| *bin).collect(),
            hits: part.hits.iter().map(|(_, hits)| *hits).collect(),
        };
        let find = |find: &Find| FindText {
            run: number(&find.run),
            name: find.name.clone(),
            profile: find.profile.clone(),
            weights: find.weights.clone(),
            cycles: find.cycles,
            new: find.new,
            bins: find.bins.clone(),
        };
        let mut text = format!(
            "{{\n\"format\": \"{FORMAT}\",\n\"version\": {VERSION},\n\"block\": {},\n",
            line(&self.block)?
        );
        list(&mut text, "groups", &self.groups, ",\n")?;
        list(&mut text, "profiles", &self.profile_texts(), ",\n")?;
        list(&mut text, "runs", &runs, ",\n")?;
        list(&mut text, "parts", &self.parts.iter().map(part).collect::<Vec<_>>(), ",\n")?;
        list(&mut text, "finds", &self.finds.iter().map(find).collect::<Vec<_>>(), "\n}\n")?;
        Ok(text)
    }

    fn profile_texts(&self) -> Vec<ProfileText> {
        let text = |(name, profile): (&String, &ProfileBins)| {
            let Covered { hits, reachable, hit } = self.covered(name);
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

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, self.to_text()?.as_bytes(), Sync::OnDisk)
    }

    /// Reads the file, or the one in a run directory.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`] if it is none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let inside = path.join(COVERAGE);
        let path = if path.is_dir() { &inside } else { path };
        let text = fs::read_to_string(path).map_err(|error| Error::unreadable(path, &error))?;
        let text: Text = serde_json::from_str(&text).map_err(|error| Error::json(path, &error))?;
        Self::of_text(text).map_err(|message| Error::File { path: path.to_owned(), message })
    }

    fn of_text(text: Text) -> Result<Self, String> {
        let Text { format, version, block, groups, profiles, runs, parts, finds } = text;
        if format != FORMAT {
            return Err(format!("format is `{format}`, expected `{FORMAT}`"));
        }
        if version != VERSION {
            return Err(format!(
                "version is {version}, expected {VERSION}: it is of another cosim"
            ));
        }
        if let Some(group) = groups.iter().find(|group| group.bins() == 0) {
            return Err(format!("group `{}` has no bins", group.name));
        }
        let bins: usize = groups.iter().map(Group::bins).sum();
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
            parts: BTreeSet::new(),
            finds: BTreeSet::new(),
            groups,
        };
        for (index, part) in parts.into_iter().enumerate() {
            let place = format!("parts[{index}]");
            known(&place, &part.profile)?;
            are_bins(&place, &part.bins)?;
            if part.bins.len() != part.hits.len() {
                return Err(format!("{place}: bins and hits are not as many"));
            }
            let Indices { first, step, count } = part.cases;
            let last = count.checked_sub(1).and_then(|steps| steps.checked_mul(step));
            if step == 0 || last.and_then(|steps| first.checked_add(steps)).is_none() {
                return Err(format!("{place}.cases: there are none, or too many"));
            }
            database.parts.insert(Part {
                run: run(&place, part.run)?,
                profile: part.profile,
                scenario: part.scenario,
                weights: part.weights,
                cases: part.cases,
                cycles: part.cycles,
                hits: part.bins.into_iter().zip(part.hits).collect(),
            });
        }
        for (index, find) in finds.into_iter().enumerate() {
            let place = format!("finds[{index}]");
            known(&place, &find.profile)?;
            are_bins(&place, &find.bins)?;
            database.finds.insert(Find {
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
            return Err(format!("profile `{profile}`: its hits are not the sum of the parts"));
        }
        Ok(database)
    }
}

fn line(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Environment(error.to_string()))
}

/// A list with an entry in each line.
fn list<T: Serialize>(text: &mut String, key: &str, entries: &[T], end: &str) -> Result<(), Error> {
    let lines = entries.iter().map(line).collect::<Result<Vec<_>, Error>>()?;
    let lines = lines.join(",\n");
    let lines = if lines.is_empty() { lines } else { format!("\n{lines}\n") };
    text.push_str(&format!("\"{key}\": [{lines}]{end}"));
    Ok(())
}
