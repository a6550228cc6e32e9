//! The list of cases in `results.json`, entry by entry.

use super::layout::to_json;
use super::names::VECTORS_PER_GROUP;
use cosim_harness::harness::{Case, Signature, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cases of one row at most: what a killed run loses of them.
const ROW: usize = 256;

/// Failures of one signature that are told in full: as many as have a vector.
pub const TOLD_PER_SIGNATURE: u64 = VECTORS_PER_GROUP;

/// A case that failed, one of the first with its signature.
#[derive(Serialize, JsonSchema)]
pub struct FailedCase<'a> {
    /// Its place in the plan.
    place: u64,
    /// The number of its signature: 0 for the first that was seen.
    group: u64,
    /// Its name.
    name: &'a str,
    /// Its seed.
    seed: String,
    /// What happened.
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// Cycles compared.
    cycles: u64,
    /// Packets taken.
    packets: u64,
}

/// Cases one after the other in the plan that all matched, or all failed as others did before.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Place of the first; the next one's is larger by N of the shard I/N.
    from: u64,
    /// Cycles compared in each.
    cycles: Vec<u64>,
    /// Packets taken in each.
    packets: Vec<u64>,
    /// If they failed: the number of the signature of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    groups: Vec<u64>,
}

impl Row {
    /// Whether the case at `place` is the next one.
    fn takes(&self, place: u64, step: u64, failed: bool) -> bool {
        let length = self.cycles.len();
        length < ROW
            && failed != self.groups.is_empty()
            && self.from + length as u64 * step == place
    }

    fn clear(&mut self) {
        self.cycles.clear();
        self.packets.clear();
        self.groups.clear();
    }
}

/// A case that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCase {
    /// Its place in the plan.
    pub place: u64,
    /// Cycles compared.
    pub cycles: u64,
    /// Packets taken.
    pub packets: u64,
    /// Its failure, if it is one.
    pub failure: Option<Failure>,
}

/// How a case failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it has in common with others.
    pub signature: Signature,
    /// What happened; it need not be known of cases that are not told in full.
    pub verdict: Option<Verdict>,
}

/// What is to be remembered of the cases before to write the next one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cases {
    is_first: bool,
    row: Row,
    /// Number and count of each signature.
    signatures: BTreeMap<Signature, (u64, u64)>,
    /// From one place of this run's part to the next.
    step: u64,
}

impl Default for Cases {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Cases {
    /// None yet, of a run whose places are so far apart.
    pub fn new(step: u64) -> Self {
        Self { is_first: true, row: Row::default(), signatures: BTreeMap::new(), step }
    }

    /// Whether a case of this signature, were it the next one, would be told in full.
    pub fn is_told(&self, signature: &Signature) -> bool {
        self.signatures.get(signature).is_none_or(|(_, count)| *count < TOLD_PER_SIGNATURE)
    }

    /// Adds a case; `case` says what it is called. Lines that are whole are put to the end of `text`.
    pub fn add(&mut self, ended: &FinishedCase, case: impl FnOnce() -> Case, text: &mut String) {
        let mut group = None;
        let mut in_full = None;
        if let Some(Failure { signature, verdict }) = &ended.failure {
            let told = self.is_told(signature);
            let new = self.signatures.len() as u64;
            let (number, count) = self.signatures.entry(signature.clone()).or_insert((new, 0));
            *count += 1;
            group = Some(*number);
            in_full = verdict.as_ref().filter(|_| told).zip(group);
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

    /// Ends the row that is open.
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
