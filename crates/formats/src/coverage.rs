//! Coverage databases: the bins that cases hit, in one run or in several.
//!
//! A database is a set of [`ScenarioCoverage`]s: the cases of one scenario and profile that one run had, and what they hit together.
//! It is the same set whichever way runs are put together ([`Database::merge`]), and no case counts twice.
//! `docs/how-to/coverage.md` describes the file.

pub mod code;
mod file;
mod merge;
mod rank;
mod record;
mod shards;
pub mod ucis;

pub use file::{COVERAGE, schema};
pub use merge::MergeError;
pub use rank::rank;
pub use record::{Recorder, weights_hashes};
pub use shards::CoverageMerge;

use code::Code;
use cosim_harness::harness::{
    Axis, BlockInfo, COMPARED, Covergroup, Profile, RULES, Rule, Value, bit_name,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use verilated::Port;

/// What cases have hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// The block.
    pub block: String,
    /// Its groups. Bins are numbered through all of them, in a cross the last axis first.
    pub groups: Vec<Group>,
    /// The profiles, by name.
    pub profiles: BTreeMap<String, ProfileBins>,
    /// What is counted of the code, by the RTL and the profile, if it is.
    pub code: BTreeMap<(String, String), Code>,
    /// What was hit.
    pub parts: BTreeSet<ScenarioCoverage>,
    /// Cases that hit what none before them did in their run.
    pub finds: BTreeSet<ContributingCase>,
}

/// Bins that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What is counted, and when.
    pub about: String,
    /// Its axes: one, or several of a cross.
    pub axes: Vec<GroupAxis>,
}

/// An axis of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupAxis {
    /// What the values are values of.
    pub name: String,
    /// The values.
    pub values: Vec<GroupValue>,
}

/// A value of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupValue {
    /// Its name.
    pub name: String,
    /// What it means.
    pub meaning: String,
}

impl Group {
    /// Every group of a block: the rules, the groups that it declares, and the compared bits of a
    /// block with don't-cares.
    pub fn all(info: &BlockInfo) -> Vec<Self> {
        let declared = info.groups.iter().map(Self::of);
        let mut all: Vec<Self> =
            std::iter::once(Self::of_rules(info.rules)).chain(declared).collect();
        all.extend(info.has_dont_cares.then(|| Self::of_compared_bits(info)));
        all
    }

    /// The output bits of a block with don't-cares; a hit is a cycle in which a bit was compared.
    fn of_compared_bits(info: &BlockInfo) -> Self {
        let value = |port: &Port, bit| GroupValue {
            name: bit_name(port.name, port.width, bit),
            meaning: "compared with the golden model".to_owned(),
        };
        let bits = |port: &'static Port| (0..port.width).map(move |bit| value(port, bit));
        Self {
            name: COMPARED.to_owned(),
            about: "output bits, and the cycles in which each was compared".to_owned(),
            axes: vec![GroupAxis {
                name: "bit".to_owned(),
                values: info.counted_outputs().flat_map(bits).collect(),
            }],
        }
    }

    /// The golden model's rules.
    pub fn of_rules(rules: &[Rule]) -> Self {
        let value = |rule: &Rule| GroupValue {
            name: rule.name.to_owned(),
            meaning: rule.meaning.to_owned(),
        };
        let values = rules.iter().map(value).collect();
        Self {
            name: RULES.to_owned(),
            about: "rules of the golden model that applied".to_owned(),
            axes: vec![GroupAxis { name: "rule".to_owned(), values }],
        }
    }

    /// What a block declares.
    pub fn of(group: &Covergroup) -> Self {
        let value = |value: &Value| GroupValue {
            name: value.name.to_owned(),
            meaning: value.meaning.to_owned(),
        };
        let axis = |axis: &Axis| GroupAxis {
            name: axis.name.to_owned(),
            values: axis.values.iter().map(value).collect(),
        };
        Self {
            name: group.name.to_owned(),
            about: group.about.to_owned(),
            axes: group.axes.iter().map(axis).collect(),
        }
    }

    /// How many bins it has.
    pub fn bins(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The values of a bin, by its number in the group.
    pub fn values(&self, bin: usize) -> Vec<&GroupValue> {
        let mut left = bin;
        let mut values = Vec::new();
        for axis in self.axes.iter().rev() {
            values.push(&axis.values[left % axis.values.len()]);
            left /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// The name of a bin, as in `RTS, SQD, done`.
    pub fn bin_name(&self, bin: usize) -> String {
        self.values(bin).iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// What a bin means, as in `state: ready to send; next: …`.
    pub fn bin_meaning(&self, bin: usize) -> String {
        let axes = self.axes.iter().zip(self.values(bin));
        let one = |(axis, value): (&GroupAxis, &GroupValue)| match self.axes.len() {
            1 => value.meaning.clone(),
            _ => format!("{}: {}", axis.name, value.meaning),
        };
        axes.map(one).collect::<Vec<_>>().join("; ")
    }
}

/// The bins of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileBins {
    /// The mask of fixes.
    pub fixes: String,
    /// The other parameters.
    pub parameters: BTreeMap<String, u64>,
    /// Bins that no legal stimulus hits, with the reason.
    pub unreachable: BTreeMap<u32, String>,
}

/// What decides what a case is, beside its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The tool's build.
    pub build: String,
    /// The RTL.
    pub rtl: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; drawn if there is no number.
    pub packets: Option<u32>,
}

/// Cases by their indices: `first`, and so many more, each `step` after the one before.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Indices {
    /// The first one.
    pub first: u64,
    /// From one to the next; 1 if there is only one.
    pub step: u64,
    /// How many; at least 1.
    pub count: u64,
}

/// Cases of one scenario and profile, and what they hit together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScenarioCoverage {
    /// The run.
    pub run: Run,
    /// The profile.
    pub profile: String,
    /// The scenario.
    pub scenario: String,
    /// A hash of what the scenario draws.
    pub weights: String,
    /// The cases.
    pub cases: Indices,
    /// Cycles compared in them.
    pub cycles: u64,
    /// Hits, by bin; only those that are not 0.
    pub hits: Vec<(u32, u64)>,
    /// Cases that reached a point of the code, by point; only those that are not 0. Nothing if it was not counted.
    pub reached: Option<Vec<(u32, u64)>>,
}

/// A case that hit what none before it did in its run and profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContributingCase {
    /// The run.
    pub run: Run,
    /// `block/profile/scenario/index`.
    pub name: String,
    /// Its profile.
    pub profile: String,
    /// A hash of what its scenario draws.
    pub weights: String,
    /// Cycles compared.
    pub cycles: u64,
    /// Every bin that it hits, rising.
    pub bins: Vec<u32>,
    /// How many of them none before it hit.
    pub new: u32,
}

/// What the cases of a profile hit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileCoverage {
    /// Hits, by bin.
    pub hits: Vec<u64>,
    /// Bins that can be hit.
    pub reachable: u32,
    /// Those of them that were.
    pub hit: u32,
}

impl ProfileCoverage {
    /// Hit share of the reachable bins in 1/1000, rounded down, so that 1000 means all.
    pub fn per_mille(&self) -> u64 {
        match self.reachable {
            0 => 0,
            reachable => u64::from(self.hit) * 1000 / u64::from(reachable),
        }
    }

    /// As in `99.3 %`: rounded down, so that `100 %` means all.
    pub fn percent(&self) -> String {
        match self.per_mille() {
            1000 => "100 %".to_owned(),
            share => format!("{}.{} %", share / 10, share % 10),
        }
    }

    /// Bins that can be hit and were not.
    pub fn holes(&self) -> u32 {
        self.reachable - self.hit
    }

    /// Whether at least so many percent were hit. Where nothing can be hit nothing was shown.
    pub fn reaches(&self, percent: f64) -> bool {
        self.reachable > 0 && f64::from(self.hit) * 100.0 >= percent * f64::from(self.reachable)
    }
}

impl Database {
    /// An empty one for some profiles of a block.
    pub fn new<'p>(
        block: &'static BlockInfo,
        profiles: impl IntoIterator<Item = &'p Profile>,
    ) -> Self {
        let groups = Group::all(block);
        let bins: usize = groups.iter().map(Group::bins).sum();
        let of = |profile: &Profile| {
            let reason =
                |bin: usize| Some((bin as u32, block.unreachable(bin, &profile.parameters)?));
            let values = profile.parameters.values();
            let bins = ProfileBins {
                fixes: format!("0x{:02x}", profile.parameters.fixes()),
                parameters: values.map(|(name, value)| (name.to_owned(), value)).collect(),
                unreachable: (0..bins).filter_map(reason).collect(),
            };
            (profile.name.to_string(), bins)
        };
        Self {
            block: block.name.to_owned(),
            groups,
            profiles: profiles.into_iter().map(of).collect(),
            code: BTreeMap::new(),
            parts: BTreeSet::new(),
            finds: BTreeSet::new(),
        }
    }

    /// How many bins there are, reachable or not.
    pub fn bins(&self) -> usize {
        self.groups.iter().map(Group::bins).sum()
    }

    /// The group of a bin, and the bin's number in it.
    pub fn group_of(&self, bin: u32) -> Option<(&Group, usize)> {
        let mut left = bin as usize;
        for group in &self.groups {
            match left.checked_sub(group.bins()) {
                None => return Some((group, left)),
                Some(rest) => left = rest,
            }
        }
        None
    }

    /// The name of a bin, as in `modify: RTS, SQD, done`.
    pub fn bin_name(&self, bin: u32) -> String {
        match self.group_of(bin) {
            Some((group, bin)) => format!("{}: {}", group.name, group.bin_name(bin)),
            None => format!("no bin ({bin})"),
        }
    }

    /// The output bits that no case of a profile compared; none if the block has no don't-cares.
    pub fn never_compared(&self, profile: &str) -> Vec<String> {
        let covered = self.covered(profile);
        let bits = (0..self.bins() as u32).filter_map(|bin| {
            let (group, place) = self.group_of(bin)?;
            let is_missed = group.name == COMPARED && covered.hits[bin as usize] == 0;
            is_missed.then(|| group.bin_name(place))
        });
        bits.collect()
    }

    /// What the cases of a profile hit together; none counts twice.
    pub fn covered(&self, profile: &str) -> ProfileCoverage {
        let mut hits = vec![0u64; self.bins()];
        let mut was_hit = vec![false; hits.len()];
        let parts: Vec<&ScenarioCoverage> =
            self.parts.iter().filter(|part| part.profile == profile).collect();
        let counted = merge::disjoint(&parts);
        for (part, counts) in parts.iter().zip(counted) {
            for (bin, count) in &part.hits {
                was_hit[*bin as usize] = true;
                if counts {
                    let hits = &mut hits[*bin as usize];
                    *hits = hits.saturating_add(*count);
                }
            }
        }
        // What is known to be hit is hit, also if the cases of its part are partly those of another one.
        for (hits, was_hit) in hits.iter_mut().zip(was_hit) {
            *hits = (*hits).max(u64::from(was_hit));
        }
        let none = BTreeMap::new();
        let unreachable = self.profiles.get(profile).map_or(&none, |profile| &profile.unreachable);
        let is_reachable = |bin: &usize| !unreachable.contains_key(&(*bin as u32));
        let reachable = (0..hits.len()).filter(is_reachable).count() as u32;
        let hit = (0..hits.len()).filter(is_reachable).filter(|bin| hits[*bin] > 0).count() as u32;
        ProfileCoverage { hits, reachable, hit }
    }

    /// The bins of a profile that can be hit and were not.
    pub fn holes(&self, profile: &str, covered: &ProfileCoverage) -> Vec<u32> {
        let reasons = self.profiles.get(profile).map(|profile| &profile.unreachable);
        let is_hole = |bin: &u32| {
            covered.hits[*bin as usize] == 0
                && reasons.is_none_or(|reasons| !reasons.contains_key(bin))
        };
        (0..covered.hits.len() as u32).filter(is_hole).collect()
    }
}

#[cfg(test)]
mod tests;
