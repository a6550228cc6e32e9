//! Merges the databases of all shards of a run into the database of the whole run, byte for byte.
//!
//! [`Database::merge`] keeps what parts of a run hit as it is told, since it takes any runs. Here all parts of one run are
//! there, so what they hit is added up, and which case was the first to hit a bin is found again. One part at a time is in memory.

use super::{ContributingCase, Database, Indices, MergeError, Run, ScenarioCoverage};
use std::collections::{BTreeMap, BTreeSet};

/// What makes cases of the same kind: run, profile, scenario and what it draws.
type Kind = (Run, String, String, String);

/// Puts databases of parts together: each is looked at, then each is added.
#[derive(Debug)]
pub struct CoverageMerge {
    /// From one index of a profile and scenario to the next in what they make.
    step: u64,
    kinds: BTreeMap<Kind, Cases>,
    whole: Option<Database>,
}

/// Cases of one kind in all parts.
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
    /// Nothing yet.
    pub fn new(step: u64) -> Self {
        Self { step, kinds: BTreeMap::new(), whole: None }
    }

    /// Looks at the database of a part, as it was recorded: which cases it has.
    pub fn look(&mut self, database: &Database) {
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
            cases.count += part.cases.count;
        }
    }

    /// Adds the database of a part that was looked at. `place` says where in the plan the case of a name stands.
    ///
    /// # Errors
    /// If it does not have the bins of the others.
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
                // Some are missing between them, as in a run that was cut short.
                _ => drop(whole.parts.insert(part)),
            }
        }
        // What hits nothing new among some of the cases hits nothing new among all of them.
        finds.sort_by_cached_key(|find| place(&find.name));
        whole.finds = first_to_hit(finds, whole.bins());
        self.whole = Some(whole);
        Ok(())
    }

    /// The database of all that was added: of the whole run.
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
    /// Whether no case is missing between them.
    fn is_whole(&self, step: u64) -> bool {
        self.last - self.first == (self.count - 1) * step
    }

    fn add(&mut self, part: &ScenarioCoverage) {
        self.cycles += part.cycles;
        for (bin, more) in &part.hits {
            let sum = self.hits.entry(*bin).or_default();
            *sum = sum.saturating_add(*more);
        }
        if let Some(reached) = &mut self.reached {
            for (point, more) in part.reached.iter().flatten() {
                *reached.entry(*point).or_default() += more;
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

/// Those of some cases, in the order of the plan, that hit what none before them did.
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
