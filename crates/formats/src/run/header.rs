//! What identifies a run.

use super::shard::Shard;
use super::waivers::Waiver;
use cosim_rtl::gates::Area;
use cosim_rtl::models::{FileRead, Rtl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What identifies a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The tool's version.
    pub version: String,
    /// The tool's build: a hash of its sources.
    pub build: String,
    /// The Verilator the built-in models were made with.
    pub verilator: String,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// What was given instead of the built-in RTL.
    pub given: Rtl,
    /// The files that Verilator read.
    pub rtl_files: Vec<FileRead>,
    /// Models compiled for this run that take two evaluations per cycle instead of one: by profile, why.
    pub two_evaluations: BTreeMap<String, String>,
    /// The netlists that ran in the RTL's place, by profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub netlists: BTreeMap<String, Area>,
    /// The block.
    pub block: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; drawn if there is no number.
    pub packets: Option<u32>,
    /// The part of the run, as I/N.
    pub shard: Shard,
    /// Cases of each profile and scenario in the whole run; none if only the time ends it.
    pub cases: Option<u64>,
    /// The index of the first of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// Input bits of a block whose cases in this run together drive every input vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<u32>,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// Names of the scenarios.
    pub scenarios: Vec<String>,
    /// Files of scenarios that are not built in, as typed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scenario_files: BTreeMap<String, String>,
    /// A hash of what the scenarios draw.
    pub weights: String,
    /// Percent of the bins that are to be hit in every profile of the whole run.
    pub min_coverage: Option<f64>,
    /// Percent of the bins at which the run ends, when they are hit in every profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_coverage: Option<f64>,
    /// Written by older versions: cases that were selected at once, if it ends so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Whether it was counted what of the RTL's code cases reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
    /// Matching cases whose vectors are kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub save_vectors: u64,
    /// Failures that do not count until a day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl Header {
    /// Whether the run directory holds all of the run. Older versions wrote shards of a run with `until_coverage`,
    /// each of which holds all of it.
    pub fn is_whole(&self) -> bool {
        self.shard.is_whole() || self.until_coverage.is_some()
    }

    /// From one place of those in the run directory to the next.
    pub fn step(&self) -> u64 {
        if self.is_whole() { 1 } else { self.shard.count() }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
