//! Coverage databases: the bins that test cases hit, in one or several runs.
//!
//! A database is a set of [`ScenarioCoverage`]s. Each holds the cases of one scenario and profile
//! in one run, and their hits. [`Database::merge`] gives the same set in any order and counts no
//! case twice. `docs/how-to/coverage.md` describes the file.

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
use cosim_base::error::Error;
use cosim_block::program;
use cosim_harness::harness::{
    Axis, BlockInfo, COMPARED, COMPARED_TRANSACTIONS, GroupInfo, MOST_CASES, Profile, RULES, Rule,
    Value, bit_name,
};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use verilated::Port;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    pub block: String,
    /// The coverage groups. Bins are numbered through all groups; in a cross the last axis varies
    /// fastest.
    pub groups: Vec<Group>,
    pub profiles: BTreeMap<String, ProfileBins>,
    /// The code coverage points, by RTL and profile, if the run counts them.
    pub code: BTreeMap<(String, String), Code>,
    pub parts: BTreeSet<ScenarioCoverage>,
    /// Cases that hit a bin that no earlier case of their run hit.
    pub finds: BTreeSet<ContributingCase>,
}

/// A coverage group (covergroup).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What the group counts, and when.
    pub about: String,
    /// One axis, or several axes of a cross.
    pub axes: Vec<GroupAxis>,
}

/// An axis of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupAxis {
    /// The quantity of which these are values.
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
    /// All groups of a block: the rules first, then the declared groups.
    pub fn all_of_block(info: &BlockInfo) -> Vec<Self> {
        let declared = info.groups.iter().map(Self::from_info);
        let mut all: Vec<Self> =
            std::iter::once(Self::from_rules(info.rules)).chain(declared).collect();
        all.extend(info.has_dont_cares.then(|| Self::of_compared_bits(info)));
        let has_transactions = !info.transaction_outputs.is_empty();
        all.extend(has_transactions.then(Self::of_compared_transactions));
        all
    }

    /// The transactions of a block with transaction outputs; a hit is a compared transaction.
    fn of_compared_transactions() -> Self {
        let all =
            GroupValue { name: "all".to_owned(), meaning: "compared by the scoreboard".to_owned() };
        Self {
            name: COMPARED_TRANSACTIONS.to_owned(),
            about: "transactions that the scoreboard compared".to_owned(),
            axes: vec![GroupAxis { name: "transactions".to_owned(), values: vec![all] }],
        }
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

    pub fn from_rules(rules: &[Rule]) -> Self {
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

    pub fn from_info(group: &GroupInfo) -> Self {
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

    pub fn bins(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The values of a bin, given its index within the group.
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

    /// The meaning of a bin, as in `state: ready to send; next: …`.
    pub fn bin_meaning(&self, bin: usize) -> String {
        let axes = self.axes.iter().zip(self.values(bin));
        let one = |(axis, value): (&GroupAxis, &GroupValue)| match self.axes.len() {
            1 => value.meaning.clone(),
            _ => format!("{}: {}", axis.name, value.meaning),
        };
        axes.map(one).collect::<Vec<_>>().join("; ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileBins {
    pub fixes: String,
    pub parameters: BTreeMap<String, u64>,
    /// Unreachable bins: no legal stimulus hits them. With the reason.
    pub unreachable: BTreeMap<u32, String>,
}

/// Everything besides its name that determines a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The hash of the tool's build.
    pub build: String,
    /// The hash of the RTL.
    pub rtl: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; random if there is no number.
    pub packets: Option<u32>,
}

/// Indices of cases: `count` indices from `first` on, `step` apart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Indices {
    /// The first index.
    pub first: u64,
    /// The distance of two indices; 1 if there is only one.
    pub step: u64,
    /// Number of indices; at least 1.
    pub count: u64,
}

impl Serialize for Indices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Indices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let indices = Self::deserialize(deserializer)?;
        let Self { first, step, count } = indices;
        let last = count.checked_sub(1).and_then(|steps| steps.checked_mul(step));
        match last.and_then(|steps| first.checked_add(steps)) {
            Some(last) if (1..MOST_CASES).contains(&step) && last < MOST_CASES => Ok(indices),
            _ => Err(D::Error::custom(format_args!(
                "{count} cases from {first} in steps of {step}: expected 1 case or more below {MOST_CASES}"
            ))),
        }
    }
}

/// The coverage of the cases of one scenario and profile in one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScenarioCoverage {
    pub run: Run,
    pub profile: String,
    pub scenario: String,
    pub weights: String,
    pub cases: Indices,
    pub cycles: u64,
    /// Non-zero hit counts, by bin.
    pub hits: Vec<(u32, u64)>,
    /// Non-zero counts of cases that reached a code coverage point, by point. `None` if not
    /// counted.
    pub reached: Option<Vec<(u32, u64)>>,
}

/// A case that hit a bin that no earlier case of its run and profile hit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContributingCase {
    pub run: Run,
    /// `block/profile/scenario/index`.
    pub name: String,
    pub profile: String,
    /// A hash of its scenario's weights.
    pub weights: String,
    pub cycles: u64,
    /// Every bin that it hits, in ascending order.
    pub bins: Vec<u32>,
    /// Number of bins that it is the first to hit.
    pub new: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileCoverage {
    /// Hit counts, by bin.
    pub hits: Vec<u64>,
    pub reachable: u32,
    /// Number of reachable bins that were hit.
    pub hit: u32,
}

impl ProfileCoverage {
    /// Covered share of the reachable bins in 1/1000, rounded down, so that 1000 means all.
    pub fn per_mille(&self) -> u64 {
        match self.reachable {
            0 => 0,
            reachable => u64::from(self.hit) * 1000 / u64::from(reachable),
        }
    }

    /// The share as in `99.3 %`, rounded down, so that `100 %` means all.
    pub fn percent(&self) -> String {
        match self.per_mille() {
            1000 => "100 %".to_owned(),
            share => format!("{}.{} %", share / 10, share % 10),
        }
    }

    /// Number of uncovered reachable bins.
    pub fn uncovered(&self) -> u32 {
        self.reachable - self.hit
    }

    /// Whether the share is at least `percent`. False if no bin is reachable.
    pub fn reaches(&self, percent: f64) -> bool {
        self.reachable > 0 && f64::from(self.hit) * 100.0 >= percent * f64::from(self.reachable)
    }
}

impl Database {
    pub fn new<'p>(
        block: &'static BlockInfo,
        profiles: impl IntoIterator<Item = &'p Profile>,
    ) -> Result<Self, Error> {
        let groups = Group::all_of_block(block);
        let of = |profile: &Profile| {
            let unreachable = program::unreachable(block, &profile.parameters)?;
            let values = profile.parameters.values();
            let bins = ProfileBins {
                fixes: format!("0x{:02x}", profile.parameters.fixes()),
                parameters: values.map(|(name, value)| (name.to_owned(), value)).collect(),
                unreachable: unreachable
                    .into_iter()
                    .map(|(bin, reason)| (bin as u32, reason))
                    .collect(),
            };
            Ok((profile.name.to_string(), bins))
        };
        Ok(Self {
            block: block.name.to_owned(),
            groups,
            profiles: profiles.into_iter().map(of).collect::<Result<_, Error>>()?,
            code: BTreeMap::new(),
            parts: BTreeSet::new(),
            finds: BTreeSet::new(),
        })
    }

    /// Number of bins, reachable or not.
    pub fn bins(&self) -> usize {
        self.groups.iter().map(Group::bins).sum()
    }

    /// The group of a bin and the bin's index in it.
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

    /// The groups of channels, which cross the stalls of items, in which no case hit a bin.
    pub fn idle_channels(&self) -> Vec<String> {
        let is_channel =
            |group: &&Group| group.axes.last().is_some_and(|axis| axis.name == "stall");
        let groups = self.groups.iter().filter(is_channel);
        let is_idle = |group: &&Group| {
            let mut hit = self.parts.iter().flat_map(|part| part.hits.iter());
            !hit.any(|(bin, _)| self.group_of(*bin).is_some_and(|(of, _)| of.name == group.name))
        };
        groups.filter(is_idle).map(|group| group.name.clone()).collect()
    }

    /// The bins of a group that no case of a profile hit; none if there is no such group.
    pub fn missed_in(&self, profile: &str, group: &str) -> Vec<String> {
        let covered = self.covered(profile);
        let bins = (0..self.bins() as u32).filter_map(|bin| {
            let (of, place) = self.group_of(bin)?;
            let is_missed = of.name == group && covered.hits[bin as usize] == 0;
            is_missed.then(|| of.bin_name(place))
        });
        bins.collect()
    }

    /// The coverage of all cases of a profile. No case counts twice.
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
        // A bin of a part that is not counted, because its cases overlap another part, is still
        // hit.
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

    /// The uncovered reachable bins of a profile.
    pub fn uncovered(&self, profile: &str, covered: &ProfileCoverage) -> Vec<u32> {
        let reasons = self.profiles.get(profile).map(|profile| &profile.unreachable);
        let is_uncovered = |bin: &u32| {
            covered.hits[*bin as usize] == 0
                && reasons.is_none_or(|reasons| !reasons.contains_key(bin))
        };
        (0..covered.hits.len() as u32).filter(is_uncovered).collect()
    }
}

#[cfg(test)]
mod tests;
