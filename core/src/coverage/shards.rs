//! The database of a whole run out of those of its parts, byte for byte.
//!
//! [`Database::merge`] keeps what parts of a run hit as it is told, since it takes any runs. Here all parts of one run are
//! there, so what they hit is added up, and which case was the first to hit a bin is found again.

use super::{Database, Find, Indices, MergeError, Part, Run};
use std::collections::{BTreeMap, BTreeSet};

/// What makes cases of the same kind: run, profile, scenario and what it draws.
type Kind = (Run, String, String, String);

impl Database {
    /// The database of a run whose shards have these, each as it was recorded. `place` says where in the plan the case of a
    /// name stands.
    ///
    /// # Errors
    /// If they do not have the same bins.
    pub fn of_shards(
        shards: Vec<Self>,
        place: impl Fn(&str) -> Option<u64>,
    ) -> Result<Option<Self>, MergeError> {
        let mut whole: Option<Self> = None;
        let (mut parts, mut finds) = (Vec::new(), Vec::new());
        for mut shard in shards {
            parts.extend(std::mem::take(&mut shard.parts));
            finds.extend(std::mem::take(&mut shard.finds));
            whole = Some(match whole {
                None => shard,
                Some(whole) => whole.merge(shard)?,
            });
        }
        let Some(mut whole) = whole else { return Ok(None) };
        whole.parts = put_together(parts);
        finds.sort_by_cached_key(|find| place(&find.name));
        whole.finds = first_to_hit(finds, whole.bins());
        whole.leave_out();
        Ok(Some(whole))
    }
}

/// Adds up the parts of one kind if no case is missing between them, as in a run that was not cut short.
fn put_together(parts: Vec<Part>) -> BTreeSet<Part> {
    let mut kinds: BTreeMap<Kind, Vec<Part>> = BTreeMap::new();
    for part in parts {
        let Part { run, profile, scenario, weights, .. } = &part;
        let kind = (run.clone(), profile.clone(), scenario.clone(), weights.clone());
        kinds.entry(kind).or_default().push(part);
    }
    let mut together = BTreeSet::new();
    for parts in kinds.into_values() {
        let first = parts.iter().map(|part| part.cases.first).min().unwrap_or(0);
        let last = parts.iter().map(|part| part.cases.last()).max().unwrap_or(0);
        let count: u64 = parts.iter().map(|part| part.cases.count).sum();
        let Some(one) = parts.first().filter(|_| last - first + 1 == count) else {
            together.extend(parts);
            continue;
        };
        let mut hits: BTreeMap<u32, u64> = BTreeMap::new();
        for (bin, more) in parts.iter().flat_map(|part| &part.hits) {
            let sum = hits.entry(*bin).or_default();
            *sum = sum.saturating_add(*more);
        }
        let cycles = parts.iter().map(|part| part.cycles).sum();
        let (cases, hits) = (Indices { first, step: 1, count }, hits.into_iter().collect());
        together.insert(Part { cases, cycles, hits, ..one.clone() });
    }
    together
}

/// Those of some cases, in the order of the plan, that hit what none before them did.
fn first_to_hit(finds: Vec<Find>, bins: usize) -> BTreeSet<Find> {
    let mut known: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    let mut kept = BTreeSet::new();
    for find in finds {
        let known = known.entry(find.profile.clone()).or_insert_with(|| vec![false; bins]);
        let is_new = |bin: &&u32| !known[**bin as usize];
        let new = find.bins.iter().filter(is_new).count() as u32;
        if new > 0 {
            find.bins.iter().for_each(|bin| known[*bin as usize] = true);
            kept.insert(Find { new, ..find });
        }
    }
    kept
}
