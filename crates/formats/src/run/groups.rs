//! Groups of failures with one signature, of a run or of a shard.

use super::waivers::Waived;
use cosim_harness::harness::{Blame, Case, Mismatch, Signature, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Variants of one group that are shrunk and listed; further ones are counted.
pub const MOST_VARIANTS: usize = 8;
/// Cases whose commands are shown for a group.
pub const CASES_SHOWN: usize = 3;

/// A failing case, and what shows it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The case.
    pub case: String,
    /// What happened to it.
    pub verdict: Verdict,
    /// Which side violates the specification there, if it could be judged.
    pub judgement: Option<Blame>,
    /// Its vector in the run directory, shrunk if it could be; none if it could not be written.
    pub vector: Option<String>,
    /// The vector as it was before it was shrunk.
    pub original: Option<String>,
    /// Packets of the vector.
    pub packets: u64,
    /// Cycles of the vector.
    pub cycles: u64,
    /// What could not be done and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The failures with one signature.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What they have in common.
    pub signature: Signature,
    /// How many there are.
    pub count: u64,
    /// The first of them.
    #[serde(flatten)]
    pub first: Evidence,
    /// Whether it counts, if a waiver is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<Waived>,
    /// Its waves in the run directory, if they could be made.
    pub waves: Option<String>,
    /// What `cosim explain` says of its vector, in the run directory; it is made together with the waves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The ways in which it shows: by rule, and together with other groups.
    pub variants: Vec<Variant>,
    /// Failures under rules beyond those of the variants, by rule: they are counted only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further_rules: BTreeMap<String, u64>,
    /// The first cases, the one above included.
    #[serde(skip)]
    pub first_cases: Vec<Case>,
}

/// Failures of a group under one rule, with a vector of their own: that they have one cause is likely, and
/// their vectors tell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// The golden model's rule; empty if several fire at once, or if the failure is no mismatch.
    pub rule: String,
    /// The groups that show in the same cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Vec<Signature>>,
    /// How many there are.
    pub count: u64,
    /// The first of them.
    #[serde(flatten)]
    pub first: Evidence,
}

/// Ends the grouping, once all failures of a run are known. Where a group differs in just the ports and fields that others of the same state
/// differ in one by one, they came together: it is counted with the first of them.
pub fn settle(groups: &mut Vec<Group>) {
    let places: Vec<(Signature, Option<Differs>)> = groups
        .iter()
        .map(|group| (group.signature.clone(), differs(&group.first.verdict)))
        .collect();
    for (signature, place) in &places {
        let Some((state, together)) = place else { continue };
        let parts: Vec<&(Signature, Option<Differs>)> = places
            .iter()
            .filter(|(_, other)| {
                other.as_ref().is_some_and(|(other_state, other)| {
                    other_state == state && other != together && other.is_subset(together)
                })
            })
            .collect();
        let all: BTreeSet<String> = parts
            .iter()
            .filter_map(|(_, part)| part.as_ref())
            .flat_map(|part| part.1.clone())
            .collect();
        if all != *together {
            continue;
        }
        let Some(from) = groups.iter().position(|group| group.signature == *signature) else {
            continue;
        };
        let group = groups.remove(from);
        // A part may itself be several that came together, and be gone.
        let parts: Vec<Signature> = parts.iter().map(|(part, _)| part.clone()).collect();
        let Some(host) = groups.iter_mut().find(|other| parts.contains(&other.signature)) else {
            groups.insert(from, group);
            continue;
        };
        host.count += group.count;
        let with: Vec<Signature> =
            parts.into_iter().filter(|part| *part != host.signature).collect();
        for (rule, count) in group.further_rules {
            *host.further_rules.entry(rule).or_default() += count;
        }
        host.variants.extend(
            group
                .variants
                .into_iter()
                .map(|variant| Variant { with: Some(with.clone()), ..variant }),
        );
    }
}

impl Group {
    /// Whether it does not count.
    pub fn is_waived(&self) -> bool {
        self.waived.as_ref().is_some_and(|waived| !waived.expired)
    }

    /// What could not be done for the first failures, and why; each once.
    pub fn notes(&self) -> Vec<&str> {
        let variants = self.variants.iter().map(|variant| &variant.first);
        let mut notes: Vec<&str> = Vec::new();
        for note in std::iter::once(&self.first).chain(variants).flat_map(|first| &first.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        notes
    }
}

/// The groups of a run out of those of its shards, neither settled; `place` says where in the plan the case
/// of a name stands.
///
/// What comes first in the run comes first in its shard, so all that the run would have kept is there.
pub fn merge(shards: Vec<Vec<Group>>, place: impl Fn(&str) -> u64) -> Vec<Group> {
    let mut of: BTreeMap<Signature, Vec<Group>> = BTreeMap::new();
    for group in shards.into_iter().flatten() {
        of.entry(group.signature.clone()).or_default().push(group);
    }
    let mut merged: Vec<Group> = of.into_values().filter_map(|all| one(all, &place)).collect();
    merged.sort_by_key(|group| place(&group.first.case));
    merged
}

/// One group out of those of one signature.
fn one(mut all: Vec<Group>, place: &impl Fn(&str) -> u64) -> Option<Group> {
    all.sort_by_key(|group| place(&group.first.case));
    let mut variants: Vec<Variant> = Vec::new();
    let mut further: BTreeMap<String, u64> = BTreeMap::new();
    for group in &mut all {
        for variant in std::mem::take(&mut group.variants) {
            match variants.iter_mut().find(|known| known.rule == variant.rule) {
                None => variants.push(variant),
                Some(known) => {
                    known.count += variant.count;
                    if place(&variant.first.case) < place(&known.first.case) {
                        known.first = variant.first;
                    }
                }
            }
        }
        for (rule, count) in std::mem::take(&mut group.further_rules) {
            *further.entry(rule).or_default() += count;
        }
    }
    variants.sort_by_key(|variant| place(&variant.first.case));
    let kept = variants.len().min(MOST_VARIANTS);
    for variant in variants.split_off(kept) {
        *further.entry(variant.rule).or_default() += variant.count;
    }
    for variant in &mut variants {
        variant.count += further.remove(&variant.rule).unwrap_or(0);
    }
    let count = all.iter().map(|group| group.count).sum();
    let first = all.into_iter().next()?;
    Some(Group { count, variants, further_rules: further, ..first })
}

/// A state, and the ports and fields that differ in it.
type Differs = (String, BTreeSet<String>);

fn differs(verdict: &Verdict) -> Option<Differs> {
    match verdict {
        Verdict::Mismatch(Mismatch { state, differs, .. }) => {
            Some((state.clone(), differs.iter().cloned().collect()))
        }
        _ => None,
    }
}
