//! Run plans: files that list the runs of a regression. See `docs/reference/plans.md`.

use crate::terminal::options::{blocks_of, within_percent};
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_base::text;
use cosim_formats::mutation::MOST_MUTANTS;
use cosim_formats::run::{MOST_CASES, Waiver};
use cosim_harness::harness::{MOST_PACKETS, Overrides, Profile};
use cosim_harness::json::{self, Tree};
use cosim_regress::blocks::BlockHandle;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MOST_RUNS: usize = 10_000;
/// The default seed, as on the command line.
const SEED: u64 = 1;

pub struct RunPlan {
    /// The runs, each with its own run directory.
    pub runs: Vec<PlannedRun>,
    pub waivers: Vec<Waiver>,
}

/// One run of one block with one seed.
#[derive(Clone)]
pub struct PlannedRun {
    /// The name of its run directory, if there are several.
    pub name: String,
    pub block: &'static BlockHandle,
    pub profiles: Vec<Profile>,
    /// Names or files.
    pub scenarios: Vec<String>,
    /// Number of cases of each profile and scenario.
    pub cases: Option<u64>,
    /// Transactions of each case.
    pub packets: Option<u32>,
    pub seed: u64,
    /// The coverage goal, in percent.
    pub min_coverage: Option<f64>,
    /// The coverage at which the run ends, in percent.
    pub until_coverage: Option<f64>,
    /// The mutation score goal, in percent.
    pub min_score: Option<f64>,
    pub mutants: Option<u32>,
}

/// The only value of `format`.
#[derive(Deserialize, JsonSchema)]
enum Format {
    #[serde(rename = "cosim-plan")]
    CosimPlan,
}

/// A plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// `cosim-plan`.
    #[serde(rename = "format")]
    _format: Format,
    /// 1.
    version: u64,
    /// Seeds of every run that names none; each makes a separate run.
    #[serde(default)]
    seeds: Option<Seeds>,
    /// Default of `min_coverage` for every run, in percent.
    #[serde(default)]
    min_coverage: Option<Percent>,
    /// Default of `min_score` for every run, in percent.
    #[serde(default)]
    min_score: Option<Percent>,
    /// The runs.
    run: Vec<Entry>,
    /// Failures that do not count until a date.
    #[serde(default)]
    waiver: Vec<Waiver>,
}

/// A `[[run]]` of the plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanEntries {
    /// Name of the run directory [default: the block's name].
    #[serde(default)]
    name: Option<String>,
    /// Names of blocks, or `all`.
    blocks: Vec<String>,
    /// A profile, `all`, a mask of fixes, or `random:N` for N parameter sets that the seed draws;
    /// several are separated by commas [default: all profiles].
    #[serde(default)]
    fixes: Option<String>,
    /// Overrides of RTL parameters in each of the profiles.
    #[serde(default)]
    parameters: Overrides,
    /// Names of scenarios, or files relative to the plan's folder [default: all built-in
    /// scenarios].
    #[serde(default)]
    scenarios: Vec<String>,
    /// Cases of each profile and scenario [default: the number of the block].
    #[serde(default)]
    cases: Option<u64>,
    /// Transactions of each case [default: drawn].
    #[serde(default)]
    packets: Option<u32>,
    /// Seeds; each makes a separate run.
    #[serde(default)]
    seeds: Option<Seeds>,
    /// Coverage that each profile must reach, in percent.
    #[serde(default)]
    min_coverage: Option<Percent>,
    /// Coverage in percent at which the run ends, once every profile reaches it. The run fails if
    /// `cases` do not suffice.
    #[serde(default)]
    until_coverage: Option<Percent>,
    /// Mutation score that each profile must reach, in percent.
    #[serde(default)]
    min_score: Option<Percent>,
    /// Mutants of each profile.
    #[serde(default)]
    mutants: Option<u32>,
}

/// [`PlanEntries`], validated for its blocks.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "PlanEntries")]
#[schemars(with = "PlanEntries")]
struct Entry {
    written: PlanEntries,
    blocks: Vec<&'static BlockHandle>,
}

/// Numbers without repetition.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u64>")]
#[schemars(with = "Vec<u64>")]
struct Seeds(Vec<u64>);

impl TryFrom<Vec<u64>> for Seeds {
    type Error = String;

    fn try_from(seeds: Vec<u64>) -> Result<Self, String> {
        let mut known = BTreeSet::new();
        match seeds.iter().find(|seed| !known.insert(**seed)) {
            Some(seed) => Err(format!("seed {seed} appears twice; remove one")),
            None if seeds.is_empty() => {
                Err("`seeds` is empty; name one or more seeds, or leave it out".to_owned())
            }
            None => Ok(Self(seeds)),
        }
    }
}

/// A number from 0 to 100.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(with = "f64")]
struct Percent(f64);

impl TryFrom<f64> for Percent {
    type Error = String;

    fn try_from(percent: f64) -> Result<Self, String> {
        within_percent(percent).map(Self)
    }
}

impl PlanEntries {
    /// The profiles of a block. The seed draws random ones.
    fn profiles(&self, block: &BlockHandle, seed: u64) -> Result<Vec<Profile>, String> {
        let (name, all) = (block.info().name, block.info().profiles);
        let chosen = Profile::choose(self.fixes.as_deref().unwrap_or("all"), all, name, seed)
            .map_err(|error| format!("`fixes` of block {name}: {error}"))?;
        Profile::with_overrides(&chosen, &self.parameters, all)
            .map_err(|error| format!("`parameters` of block {name}: {error}"))
    }
}

impl TryFrom<PlanEntries> for Entry {
    type Error = String;

    fn try_from(written: PlanEntries) -> Result<Self, String> {
        let within = |what: &str, number: Option<u64>, least: u64, most: u64| match number {
            Some(number) if !(least..=most).contains(&number) => {
                Err(format!("`{what}` is {number}: expected {least} to {most}"))
            }
            _ => Ok(()),
        };
        within("cases", written.cases, 0, MOST_CASES - 1)?;
        within("packets", written.packets.map(u64::from), 1, u64::from(MOST_PACKETS))?;
        within("mutants", written.mutants.map(u64::from), 1, u64::from(MOST_MUTANTS))?;
        if let Some(name) = &written.name {
            check_name(name)?;
        }
        if written.min_coverage.is_some() && written.until_coverage.is_some() {
            return Err(
                "`min_coverage` and `until_coverage` exclude each other: both require the \
                 coverage, and the second also ends the run; keep one"
                    .to_owned(),
            );
        }
        if written.blocks.is_empty() {
            return Err("`blocks` is empty; name one or more blocks, or `all`".to_owned());
        }
        let blocks = blocks_of(&written.blocks).map_err(|error| format!("`blocks`: {error}"))?;
        for block in &blocks {
            written.profiles(block, SEED)?;
        }
        Ok(Self { written, blocks })
    }
}

/// Checks that a name is valid for a folder.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!(
        "`name` is `{name}`: expected letters, digits, `_`, `-` and `.`, beginning with a letter \
         or digit"
    ))
}

impl RunPlan {
    /// Reads a plan in TOML or JSON, depending on the file's ending. `seed` replaces all of its
    /// seeds.
    ///
    /// # Errors
    /// [`Error::Input`] with line and column. [`Error::File`] if it has another format or cannot be
    /// read.
    pub fn read(path: &Path, seed: Option<u64>) -> Result<Self, Error> {
        Self::read_plan(path, |seeds| seed.map_or(seeds, |seed| vec![seed]))
    }

    /// Reads the runs of a plan, each with its first seed.
    pub fn gradings(path: &Path) -> Result<Vec<PlannedRun>, Error> {
        Ok(Self::read_plan(path, |seeds| seeds.into_iter().take(1).collect())?.runs)
    }

    fn read_plan(path: &Path, seeds: impl Fn(Vec<u64>) -> Vec<u64>) -> Result<Self, Error> {
        let wrong = |code, message| Error::File { code, path: path.to_owned(), message };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let read: fn(&Path, &str) -> Result<File, Error> = match ending {
            "toml" => from_toml,
            "json" => |path, text| {
                json::from_text(text).map_err(|flaw| Error::json_at(path, &flaw.place, &flaw.error))
            },
            _ => {
                return Err(wrong(
                    codes::WRONG_FORMAT,
                    "is not a plan; expected a .toml or .json file".to_owned(),
                ));
            }
        };
        let text = read_input_text(path, LARGEST_INPUT)?;
        let file = read(path, &text)?;
        if file.version != 1 {
            let version = file.version;
            return Err(wrong(
                codes::WRONG_FORMAT,
                format!("`version` is {version}, this program reads version 1"),
            ));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let runs = file.runs(folder, seeds).map_err(|message| wrong(codes::BAD_PLAN, message))?;
        check_waivers(&file.waiver, &runs).map_err(|message| wrong(codes::BAD_WAIVER, message))?;
        Ok(Self { runs, waivers: file.waiver })
    }

    pub fn waivers_of(&self, block: &BlockHandle) -> Vec<Waiver> {
        let of_block = self.waivers.iter().filter(|waiver| waiver.block == block.info().name);
        of_block.cloned().collect()
    }
}

impl File {
    /// All runs, ordered by entry, block and seed.
    fn runs(
        &self,
        folder: &Path,
        of_run: impl Fn(Vec<u64>) -> Vec<u64>,
    ) -> Result<Vec<PlannedRun>, String> {
        let mut runs: Vec<PlannedRun> = Vec::new();
        let of_all = self.seeds.as_ref().map_or_else(|| vec![SEED], |seeds| seeds.0.clone());
        for Entry { written, blocks } in &self.run {
            let of_entry = written.seeds.as_ref().map_or(&of_all, |seeds| &seeds.0);
            let seeds = of_run(of_entry.clone());
            let until = written.until_coverage.map(|percent| percent.0);
            // `until_coverage` replaces the default coverage goal.
            let of_each = self.min_coverage.filter(|_| until.is_none());
            let goal = written.min_coverage.or(of_each);
            for block in blocks {
                let name = match &written.name {
                    Some(name) if blocks.len() > 1 => format!("{name}-{}", block.info().name),
                    Some(name) => name.clone(),
                    None => block.info().name.to_owned(),
                };
                let scenarios = written.scenarios.iter().map(|name| scenario(block, name, folder));
                let scenarios = scenarios.collect::<Result<Vec<String>, String>>()?;
                if runs.len() + seeds.len() > MOST_RUNS {
                    return Err(format!("the plan has more than {MOST_RUNS} runs; split it"));
                }
                for seed in &seeds {
                    let of_seed =
                        if seeds.len() > 1 { format!("-seed-{seed}") } else { String::new() };
                    runs.push(PlannedRun {
                        name: format!("{name}{of_seed}"),
                        block,
                        profiles: written.profiles(block, *seed)?,
                        scenarios: scenarios.clone(),
                        cases: written.cases,
                        packets: written.packets,
                        seed: *seed,
                        min_coverage: goal.map(|percent| percent.0),
                        until_coverage: until,
                        min_score: written.min_score.or(self.min_score).map(|p| p.0),
                        mutants: written.mutants,
                    });
                }
            }
        }
        let mut known = BTreeSet::new();
        match runs.iter().find(|run| !known.insert(run.name.as_str())) {
            Some(run) => Err(format!(
                "two runs have the name `{}`, and each needs its own folder; set `name` in their \
                 [[run]]",
                run.name
            )),
            None if runs.is_empty() => Err("the plan has no [[run]]; add one".to_owned()),
            None => Ok(runs),
        }
    }
}

/// The name of a built-in scenario, or the path of its file.
fn scenario(block: &BlockHandle, name: &str, folder: &Path) -> Result<String, String> {
    let built_in = &block.info().scenarios;
    if built_in.iter().any(|known| known.name == name) {
        return Ok(name.to_owned());
    }
    let path: PathBuf = folder.join(name);
    if path.is_file() {
        return Ok(path.to_string_lossy().into_owned());
    }
    let known: Vec<&str> = built_in.iter().map(|known| known.name.as_str()).collect();
    Err(format!(
        "`scenarios`: block {} has no scenario `{name}`, and {} is not a file; expected {}{}",
        block.info().name,
        path.display(),
        known.join(", "),
        text::suggestion(name, known.iter().copied())
    ))
}

/// Checks that each waiver names the block of a run, and that no failure has two waivers.
fn check_waivers(waivers: &[Waiver], runs: &[PlannedRun]) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for Waiver { block, signature, reason, .. } in waivers {
        let about = format!("the waiver of {block} {signature}");
        if !runs.iter().any(|run| run.block.info().name == block) {
            return Err(format!(
                "{about} names a block without a [[run]]; remove it, or correct \
                 `block`"
            ));
        }
        if reason.trim().is_empty() {
            return Err(format!(
                "{about} has an empty `reason`; state why the failure does not count"
            ));
        }
        if !known.insert((block, signature)) {
            return Err(format!("{about} appears twice; remove one"));
        }
    }
    Ok(())
}

fn from_toml(path: &Path, text: &str) -> Result<File, Error> {
    let tree = Tree::from_toml(text).map_err(|error| Error::toml(path, text, None, &error))?;
    tree.read().map_err(|misread| {
        let place = misread.place.clone();
        Error::toml(path, text, Some(&place), &misread.in_toml(text))
    })
}

pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let schema = generator.subschema_for::<File>().to_value();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cosim run plan",
        "allOf": [schema],
        "$defs": generator.take_definitions(true),
    })
}
