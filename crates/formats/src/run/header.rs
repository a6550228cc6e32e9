//! The settings that identify a run.

use super::waivers::Waiver;
use crate::answers::reuse::UsedProofs;
use crate::started::RunRtl;
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_harness::harness::Comparison;
use cosim_rtl::models::FileRead;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings that identify a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The tool's version.
    pub version: String,
    /// The tool's build: a hash of its sources.
    pub build: String,
    /// The version of Verilator that made the built-in models.
    pub verilator: String,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// The user RTL, if it replaces the built-in RTL.
    pub given: Rtl,
    /// The files that Verilator read.
    pub rtl_files: Vec<FileRead>,
    /// Models of this run that need two evaluations per cycle, by profile, with the reason.
    pub two_evaluations: BTreeMap<String, String>,
    /// How the outputs were compared, by kind of comparison.
    pub comparison: BTreeMap<Comparison, Vec<String>>,
    /// The block.
    pub block: String,
    /// The run's seed.
    pub seed: u64,
    /// Packets of each case; random if there is no number.
    pub packets: Option<u32>,
    /// The shard, as I/N.
    pub shard: Shard,
    /// Cases of each profile and scenario in the whole run; `null` if only time limits the run.
    pub cases: Option<u64>,
    /// The index of the first case.
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
    /// A hash of the scenarios' weights.
    pub weights: String,
    /// Minimum percentage of covered bins in every profile of the whole run.
    pub min_coverage: Option<f64>,
    /// The run ends when every profile covers this percentage of bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_coverage: Option<f64>,
    /// Whether code coverage was counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
    /// Files with proofs that coverage points are unreachable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<UsedProofs>,
    /// Number of matching cases whose vectors are saved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub save_vectors: u64,
    /// Waivers of failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl Header {
    /// The RTL, as this user's cache records it.
    pub fn run_rtl(&self) -> RunRtl<'_> {
        RunRtl { block: &self.block, given: &self.given, identity: &self.rtl }
    }

    /// Whether every output was compared in every cycle.
    pub fn is_cycle_exact(&self) -> bool {
        self.comparison.keys().all(|kind| *kind == Comparison::CycleExact)
    }

    /// How the outputs were compared, as in `full, empty in every cycle; data as transactions`.
    pub fn comparison_text(&self) -> String {
        if self.is_cycle_exact() {
            return "every output in every cycle".to_owned();
        }
        let kinds = self.comparison.iter();
        let kinds = kinds.map(|(kind, outputs)| {
            let description = kind.description();
            if self.comparison.len() == 1 {
                return format!("every output {description}");
            }
            format!("{} {description}", outputs.join(", "))
        });
        kinds.collect::<Vec<_>>().join("; ")
    }

    /// Whether the run directory contains the whole run.
    pub fn is_whole(&self) -> bool {
        self.shard.is_whole()
    }

    /// The distance between positions of cases in the run directory.
    pub fn step(&self) -> u64 {
        self.shard.count()
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
