//! Merges the databases of all shards of a run into that of the whole run, byte for byte.
//!
//! [`Database::merge`] accepts databases of any runs and so cannot add hits of overlapping parts.
//! Here all shards belong to one run. Their hits are added, and the first case to hit each bin is
//! determined again. Only one shard's database is in memory at a time.

use super::{ContributingCase, Database, Indices, MergeError, Run, ScenarioCoverage};
use std::collections::{BTreeMap, BTreeSet};

/// Identifies cases of the same kind: run, profile, scenario and hash of weights.
type Kind = (Run, String, String, String);

/// Merges databases of shards in two passes: [`Self::add_cases`] at each, then [`Self::add`] each.
#[derive(Debug)]
pub struct CoverageMerge {
    /// The distance between indices of one profile and scenario in the merged database.
    step: u64,
    kinds: BTreeMap<Kind, Cases>,
    whole: Option<Database>,
}

#[derive(Debug)]
struct Cases {
    first: u64,
    last: u64,
    count: u64,
    cycles: u64,
    hits: BTreeMap<u32, u64>,
    reached: Option<BTreeMap<u32, u64>>,
}

fn kind(part: &ScenarioCoverage) -> Kind {
    let ScenarioCoverage { run, profile, scenario, weights, .. } = part;
    (run.clone(), profile.clone(), scenario.clone(), weights.clone())
}

impl CoverageMerge {
    pub fn new(step: u64) -> Self {
        Self { step, kinds: BTreeMap::new(), whole: None }
    }

    /// First pass: records which cases a shard has.
    pub fn add_cases(&mut self, database: &Database) {
        for part in &database.parts {
            let (first, last) = (part.cases.first, part.cases.last());
            let none = || Cases {
                first,
                last,
                count: 0,
                cycles: 0,
                hits: BTreeMap::new(),
                reached: part.reached.as_ref().map(|_| BTreeMap::new()),
            };
            let cases = self.kinds.entry(kind(part)).or_insert_with(none);
            cases.first = cases.first.min(first);
            cases.last = cases.last.max(last);
            cases.count = cases.count.saturating_add(part.cases.count);
        }
    }

    /// Second pass: adds the database of a shard. `place` returns a case's position in the plan.
    ///
    /// # Errors
    /// If its bins differ from those of the others.
    pub fn add(
        &mut self,
        mut database: Database,
        place: impl Fn(&str) -> Option<u64>,
    ) -> Result<(), MergeError> {
        let parts = std::mem::take(&mut database.parts);
        let mut finds: Vec<ContributingCase> =
            std::mem::take(&mut database.finds).into_iter().collect();
        let mut whole = match self.whole.take() {
            None => database,
            Some(mut whole) => {
                let (parts, before) =
                    (std::mem::take(&mut whole.parts), std::mem::take(&mut whole.finds));
                finds.extend(before);
                Database { parts, ..whole.merge(database)? }
            }
        };
        for part in parts {
            match self.kinds.get_mut(&kind(&part)) {
                Some(cases) if cases.is_whole(self.step) => cases.add(&part),
                // Cases are missing in between, as in a run that was cut short.
                _ => drop(whole.parts.insert(part)),
            }
        }
        // A find stays one only if it is the first in the whole run to hit a bin.
        finds.sort_by_cached_key(|find| place(&find.name));
        whole.finds = first_to_hit(finds, whole.bins());
        self.whole = Some(whole);
        Ok(())
    }

    /// The database of the whole run; `None` if nothing was added.
    pub fn finish(self) -> Option<Database> {
        let Self { step, kinds, whole } = self;
        let mut whole = whole?;
        let together = kinds.into_iter().filter(|(_, cases)| cases.is_whole(step));
        whole.parts.extend(together.map(|(kind, cases)| cases.part(kind, step)));
        whole.leave_out();
        Some(whole)
    }
}

impl Cases {
    /// Whether no case is missing in between.
    fn is_whole(&self, step: u64) -> bool {
        (self.count - 1).checked_mul(step) == Some(self.last - self.first)
    }

    fn add(&mut self, part: &ScenarioCoverage) {
        self.cycles = self.cycles.saturating_add(part.cycles);
        for (bin, more) in &part.hits {
            let sum = self.hits.entry(*bin).or_default();
            *sum = sum.saturating_add(*more);
        }
        if let Some(reached) = &mut self.reached {
            for (point, more) in part.reached.iter().flatten() {
                let sum = reached.entry(*point).or_default();
                *sum = sum.saturating_add(*more);
            }
        }
    }

    fn part(self, (run, profile, scenario, weights): Kind, step: u64) -> ScenarioCoverage {
        let Self { first, count, cycles, hits, reached, .. } = self;
        let cases = Indices { first, step: if count == 1 { 1 } else { step }, count };
        let (hits, reached) =
            (hits.into_iter().collect(), reached.map(|all| all.into_iter().collect()));
        ScenarioCoverage { run, profile, scenario, weights, cases, cycles, hits, reached }
    }
}

/// Keeps the cases that hit a new bin. `finds` are in the order of the plan.
fn first_to_hit(finds: Vec<ContributingCase>, bins: usize) -> BTreeSet<ContributingCase> {
    let mut known: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    let mut kept = BTreeSet::new();
    for find in finds {
        let known = known.entry(find.profile.clone()).or_insert_with(|| vec![false; bins]);
        let is_new = |bin: &&u32| !known[**bin as usize];
        let new = find.bins.iter().filter(is_new).count() as u32;
        if new > 0 {
            find.bins.iter().for_each(|bin| known[*bin as usize] = true);
            kept.insert(ContributingCase { new, ..find });
        }
    }
    kept
}
