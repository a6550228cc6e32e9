//! Groups of failures by signature, of a run or of a shard.

use super::waivers::Waived;
use cosim_base::run_file::RunFile;
use cosim_block::explanation::Suspect;
use cosim_harness::harness::{Blame, Case, Mismatch, Signature, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of variants per group that are minimised and listed; others are only counted.
pub const MOST_VARIANTS: usize = 8;
/// The first groups of a run whose suspicious lines are searched, if no earlier group explains
/// them: later ones are rarely read.
pub const MOST_LOCATED: usize = 16;
/// Maximum number of cases per group for which commands are shown.
pub const CASES_SHOWN: usize = 3;

/// A failing case and its vector.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The case.
    pub case: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Blame: which side violates the specification, if that is known.
    pub judgement: Option<Blame>,
    /// Its vector in the run directory, minimised if possible; `null` if it could not be written.
    pub vector: Option<RunFile>,
    /// The vector before minimisation.
    pub original: Option<RunFile>,
    /// Number of packets in the vector.
    pub packets: u64,
    /// Number of cycles in the vector.
    pub cycles: u64,
    /// What failed in the analysis, and why.
    pub notes: Vec<String>,
}

/// The failures with one signature.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The signature.
    pub signature: Signature,
    /// Number of failures.
    pub count: u64,
    /// The first failure.
    #[serde(flatten)]
    pub first: Evidence,
    /// The waiver of the group, if there is one, and whether it has expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<Waived>,
    /// Waves of the vector in the run directory, if they exist.
    pub waves: Option<RunFile>,
    /// The output of `cosim explain` for the vector, in the run directory. It is written with the
    /// waves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<RunFile>,
    /// Lines of the RTL that may hold the cause, the most suspicious one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
    /// Variants of the failure: by rule, and by groups that fail in the same cycle.
    pub variants: Vec<Variant>,
    /// Failures by rule that belong to no listed variant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further_rules: BTreeMap<String, u64>,
    /// The first cases, including that of `first`.
    #[serde(skip)]
    pub first_cases: Vec<Case>,
}

/// Failures of a group under one rule, with a vector of their own to compare. They probably have
/// the same cause.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// The golden model's rule; empty if several apply at once, or if the failure is not a
    /// mismatch.
    pub rule: String,
    /// The groups that fail in the same cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Vec<Signature>>,
    /// Number of failures.
    pub count: u64,
    /// The first failure.
    #[serde(flatten)]
    pub first: Evidence,
}

/// A group without evidence.
#[cfg(test)]
pub(super) fn group_of(verdict: Verdict, count: u64) -> Group {
    let signature = Signature::from_verdict(&verdict).expect("a failure");
    let first = Evidence {
        case: String::new(),
        verdict,
        judgement: None,
        vector: None,
        original: None,
        packets: 0,
        cycles: 0,
        notes: Vec::new(),
    };
    Group {
        signature,
        count,
        first,
        waived: None,
        waves: None,
        explanation: None,
        suspects: Vec::new(),
        variants: Vec::new(),
        further_rules: BTreeMap::new(),
        first_cases: Vec::new(),
    }
}

/// Finishes the grouping once all failures of a run are known. If the ports and fields of a group
/// are the union of those of other groups in the same state, its failures are combinations of
/// theirs. It is merged into the first of them.
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
        // A part may be a combination itself, and already merged.
        let parts: Vec<Signature> = parts.iter().map(|(part, _)| part.clone()).collect();
        let Some(host) = groups.iter_mut().find(|other| parts.contains(&other.signature)) else {
            groups.insert(from, group);
            continue;
        };
        host.count = host.count.saturating_add(group.count);
        let with: Vec<Signature> =
            parts.into_iter().filter(|part| *part != host.signature).collect();
        for (rule, count) in group.further_rules {
            add(host.further_rules.entry(rule).or_default(), count);
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
    /// Whether a valid waiver covers it.
    pub fn is_waived(&self) -> bool {
        self.waived.as_ref().is_some_and(|waived| !waived.expired)
    }

    /// The notes on all first failures, without duplicates.
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

/// Merges the groups of shards into those of the run, both before [`settle`]. `place` returns a
/// case's position in the plan.
///
/// The first failures of the run are also the first ones of their shards, so that nothing is
/// missing.
pub fn merge(shards: Vec<Vec<Group>>, place: impl Fn(&str) -> u64) -> Vec<Group> {
    let mut of: BTreeMap<Signature, Vec<Group>> = BTreeMap::new();
    for group in shards.into_iter().flatten() {
        of.entry(group.signature.clone()).or_default().push(group);
    }
    let mut merged: Vec<Group> =
        of.into_values().filter_map(|all| merge_signature(all, &place)).collect();
    merged.sort_by_key(|group| place(&group.first.case));
    merged
}

fn merge_signature(mut all: Vec<Group>, place: &impl Fn(&str) -> u64) -> Option<Group> {
    all.sort_by_key(|group| place(&group.first.case));
    let mut variants: Vec<Variant> = Vec::new();
    let mut further: BTreeMap<String, u64> = BTreeMap::new();
    for group in &mut all {
        for variant in std::mem::take(&mut group.variants) {
            match variants.iter_mut().find(|known| known.rule == variant.rule) {
                None => variants.push(variant),
                Some(known) => {
                    add(&mut known.count, variant.count);
                    if place(&variant.first.case) < place(&known.first.case) {
                        known.first = variant.first;
                    }
                }
            }
        }
        for (rule, count) in std::mem::take(&mut group.further_rules) {
            add(further.entry(rule).or_default(), count);
        }
    }
    variants.sort_by_key(|variant| place(&variant.first.case));
    let kept = variants.len().min(MOST_VARIANTS);
    for variant in variants.split_off(kept) {
        add(further.entry(variant.rule).or_default(), variant.count);
    }
    for variant in &mut variants {
        add(&mut variant.count, further.remove(&variant.rule).unwrap_or(0));
    }
    let count = all.iter().fold(0, |sum: u64, group| sum.saturating_add(group.count));
    let first = all.into_iter().next()?;
    Some(Group { count, variants, further_rules: further, ..first })
}

/// Adds to a count that was read from a file, where any number may stand.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
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
