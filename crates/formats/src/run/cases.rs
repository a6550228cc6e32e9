//! Writes the list of cases in `results.json`, entry by entry.

use super::layout::to_json;
use super::names::VECTORS_PER_GROUP;
use cosim_harness::harness::{Case, Signature, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of cases per row; a killed run loses at most one row.
const ROW: usize = 256;

/// Number of failures per signature with an entry of their own: as many as have a vector.
pub const REPORTED_PER_SIGNATURE: u64 = VECTORS_PER_GROUP;

/// A failed case, one of the first with its signature.
#[derive(Serialize, JsonSchema)]
pub struct FailedCase<'a> {
    /// Its position in the plan.
    place: u64,
    /// The number of its signature; the first signature in the run has 0.
    group: u64,
    /// Its name.
    name: &'a str,
    /// Its seed.
    seed: String,
    /// The verdict.
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// Cycles compared.
    cycles: u64,
    /// Packets taken.
    packets: u64,
}

/// Consecutive cases that all match, or all fail with known signatures.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Position of the first case. The distance of positions is N of the shard I/N.
    from: u64,
    /// Cycles compared in each case.
    cycles: Vec<u64>,
    /// Packets accepted in each case.
    packets: Vec<u64>,
    /// The number of each case's signature, if they fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    groups: Vec<u64>,
}

impl Row {
    fn takes(&self, place: u64, step: u64, failed: bool) -> bool {
        let length = self.cycles.len();
        length < ROW
            && failed != self.groups.is_empty()
            && (length as u64).checked_mul(step).and_then(|more| self.from.checked_add(more))
                == Some(place)
    }

    fn clear(&mut self) {
        self.cycles.clear();
        self.packets.clear();
        self.groups.clear();
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCase {
    /// Its position in the plan.
    pub place: u64,
    pub cycles: u64,
    pub packets: u64,
    pub failure: Option<Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub signature: Signature,
    /// The verdict; `None` is allowed for a case without an entry of its own.
    pub verdict: Option<Verdict>,
}

/// The state of the writer between two cases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cases {
    is_first: bool,
    row: Row,
    /// Number and count of each signature.
    signatures: BTreeMap<Signature, (u64, u64)>,
    /// The distance between positions of this shard.
    step: u64,
}

impl Default for Cases {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Cases {
    /// An empty list of a run with this distance between positions.
    pub fn new(step: u64) -> Self {
        Self { is_first: true, row: Row::default(), signatures: BTreeMap::new(), step }
    }

    /// Whether the next failure with this signature gets an entry of its own.
    pub fn is_reported(&self, signature: &Signature) -> bool {
        self.signatures.get(signature).is_none_or(|(_, count)| *count < REPORTED_PER_SIGNATURE)
    }

    /// Adds a case. Complete lines are appended to `text`. `case` returns the name and seed.
    pub fn add(&mut self, ended: &FinishedCase, case: impl FnOnce() -> Case, text: &mut String) {
        let mut group = None;
        let mut in_full = None;
        if let Some(Failure { signature, verdict }) = &ended.failure {
            let reported = self.is_reported(signature);
            let new = self.signatures.len() as u64;
            let (number, count) = self.signatures.entry(signature.clone()).or_insert((new, 0));
            *count += 1;
            group = Some(*number);
            in_full = verdict.as_ref().filter(|_| reported).zip(group);
        }
        let FinishedCase { place, cycles, packets, .. } = *ended;
        if in_full.is_some() || !self.row.takes(place, self.step, group.is_some()) {
            self.end_row(text);
        }
        let Some((verdict, group)) = in_full else {
            if self.row.cycles.is_empty() {
                self.row.from = place;
            }
            self.row.cycles.push(cycles);
            self.row.packets.push(packets);
            self.row.groups.extend(group);
            return;
        };
        let Case { name, seed, .. } = case();
        let seed = format!("{seed:#018x}");
        self.line(&FailedCase { place, group, name: &name, seed, verdict, cycles, packets }, text);
    }

    pub fn end_row(&mut self, text: &mut String) {
        if self.row.cycles.is_empty() {
            return;
        }
        let mut row = std::mem::take(&mut self.row);
        self.line(&row, text);
        row.clear();
        self.row = row;
    }

    fn line(&mut self, entry: &impl Serialize, text: &mut String) {
        text.push_str(if self.is_first { "\n" } else { ",\n" });
        self.is_first = false;
        text.push_str(&to_json(entry));
    }
}
