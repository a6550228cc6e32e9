//! A cache of the golden side of cases that matched in earlier runs.
//!
//! Scoreboard, coverage and rule counts of a case depend on the program, the parameters and the
//! stimulus, and never on the RTL. The cache stores them for matching cases. The same case on
//! other RTL then runs only environment, golden model, RTL and comparison. Every output is still
//! compared in every cycle.
//!
//! C++ of RTL could forge the counts, so only those of pure RTL are stored, and each run judges
//! some of the cached cases again. A difference empties the cache, and the run begins again.

use cosim_base::program;
use cosim_block::engine::SessionSetup;
use cosim_harness::harness::{Case, Outcome, Profile, Verdict};
use cosim_rtl::answers::store::{Key, Store};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// Cached bytes of the cases of one run, over all profiles and scenarios.
const MAX_BYTES: usize = 32 << 20;
/// Of so many cached cases in a row, one is judged again.
const STRETCH: u64 = 64;
/// Planned cases in which the cached ones are counted, so that short runs judge one again, too.
const LOOKED_AHEAD: usize = 4096;

/// The cached cases of a run, and the cases that the run adds.
#[derive(Debug, Default)]
pub struct Judged {
    store: Option<Store>,
    /// By profile and scenario, in the order of the plan.
    lists: Vec<List>,
    scenarios: usize,
    /// Whether the block has bins, so that a case whose golden side was checked has counts.
    has_bins: bool,
    /// Cases that took their counts from the cache.
    used: u64,
    /// Bytes left for new cases.
    room: usize,
    sample: Sample,
    /// The name of a case that differs from the cache.
    difference: Option<String>,
}

/// Selects the cached cases to judge again. The selection is random, so that nobody can store wrong
/// counts for all other cases only. No result depends on it.
#[derive(Debug, Default)]
struct Sample {
    /// The cached case in the stretch that is judged again.
    chosen: u64,
    /// The number of the next cached case in its stretch.
    next: u64,
}

impl Sample {
    /// A sample of a run with this many cached cases.
    fn new(cached: u64) -> Self {
        let stretch = if cached == 0 { STRETCH } else { STRETCH.min(cached) };
        Self { chosen: random(stretch), next: 0 }
    }

    /// Whether the next cached case is judged again.
    fn take(&mut self) -> bool {
        let is_chosen = self.next == self.chosen;
        self.next += 1;
        if self.next == STRETCH {
            *self = Self { chosen: random(STRETCH), next: 0 };
        }
        is_chosen
    }
}

/// A random number from the system below `limit`.
fn random(limit: u64) -> u64 {
    RandomState::new().hash_one(limit) % limit
}

/// The cases of one profile and scenario.
#[derive(Debug)]
struct List {
    key: Key,
    /// The [`Counts`] of each case in postcard, by seed. The encoding is compact because most
    /// counters are 0.
    cases: BTreeMap<u64, Vec<u8>>,
    has_new: bool,
}

/// What the golden side of a case adds to the totals of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    cycles: u64,
    packets: u64,
    #[serde(with = "cosim_harness::harness::sparse")]
    hits: Vec<u64>,
    counters: Vec<u64>,
}

impl Counts {
    fn of(outcome: &Outcome) -> Self {
        let Outcome { cycles, packets, hits, counters, .. } = outcome.clone();
        Self { cycles, packets, hits, counters }
    }
}

impl Judged {
    /// An empty cache that stores nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the cached cases of a run with these profiles from `store`. A case whose golden side
    /// was checked has counts of `bins` bins.
    pub fn open(store: Store, opening: &SessionSetup, profiles: &[Profile], bins: usize) -> Self {
        let weights: Vec<serde_json::Value> =
            serde_json::from_str(&opening.scenarios).unwrap_or_default();
        let lists = profiles
            .iter()
            .flat_map(|profile| weights.iter().map(move |weights| (profile, weights)))
            .map(|(profile, weights)| {
                let parameters = format!("{:?}", profile.parameters);
                let parts = [
                    "judged",
                    program::build(),
                    &opening.block,
                    &parameters,
                    &weights.to_string(),
                    &format!("{:?}", opening.packets),
                ];
                List::read(&store, Key::new(parts.map(str::as_bytes)))
            })
            .collect::<Vec<List>>();
        let bytes: usize = lists.iter().flat_map(|list| list.cases.values()).map(Vec::len).sum();
        let room = MAX_BYTES.saturating_sub(bytes);
        let (store, scenarios, has_bins) = (Some(store), weights.len(), bins > 0);
        Self { store, lists, scenarios, has_bins, room, ..Self::default() }
    }

    /// Selects the cases to judge again from those that a run will ask for.
    pub fn begin(&mut self, planned: impl Iterator<Item = Case>) {
        let cached = planned.take(LOOKED_AHEAD).filter(|case| self.has(case));
        self.sample = Sample::new(cached.take(STRETCH as usize).count() as u64);
    }

    /// Whether the golden side of a case is cached.
    fn has(&self, case: &Case) -> bool {
        self.list(case).is_some_and(|list| self.lists[list].cases.contains_key(&case.seed))
    }

    /// Whether the cache stands in for the golden side of the next case. If not, a worker judges
    /// it.
    pub fn stands_in(&mut self, case: &Case) -> bool {
        self.has(case) && !self.sample.take()
    }

    /// Cases that took their counts from the cache.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The name of a case that differs from the cache. Then no count of the cache can be trusted.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// Completes the outcome that a worker reports. A match without golden checks gets the cached
    /// counts. A match with golden checks is compared with the cache or added to it.
    pub fn complete(&mut self, case: &Case, outcome: Outcome) -> Outcome {
        let Some(list) = self.list(case).filter(|_| outcome.verdict == Verdict::Match) else {
            return outcome;
        };
        // Without bins there is nothing to store.
        if !self.has_bins {
            return outcome;
        }
        let list = &mut self.lists[list];
        let was_judged = !outcome.hits.is_empty();
        let known = list.cases.get(&case.seed).map(|bytes| postcard::from_bytes(bytes).ok());
        let is_same = match &known {
            None if was_judged => {
                self.room -= list.add(case.seed, &outcome, self.room);
                return outcome;
            }
            None => {
                let message = "the worker did not check the golden side of the case".to_owned();
                return Outcome { verdict: Verdict::Crashed { cycle: None, message }, ..outcome };
            }
            // The bytes are no counts.
            Some(None) => false,
            Some(Some(known)) if was_judged => *known == Counts::of(&outcome),
            Some(Some(Counts { cycles, packets, .. })) => {
                (*cycles, *packets) == (outcome.cycles, outcome.packets)
            }
        };
        match known.flatten() {
            _ if !is_same => self.difference = Some(case.name.clone()),
            Some(Counts { hits, counters, .. }) if !was_judged => {
                self.used += 1;
                return Outcome { hits, counters, ..outcome };
            }
            _ => {}
        }
        outcome
    }

    /// Empties the cache of these cases, also for other runs.
    pub fn forget(&mut self) {
        for list in &mut self.lists {
            list.cases.clear();
            list.has_new = false;
            if let Some(store) = &self.store {
                let _ = store.remove(&list.key);
            }
        }
        let lists = std::mem::take(&mut self.lists);
        let (store, scenarios, has_bins) = (self.store.take(), self.scenarios, self.has_bins);
        *self = Self { store, lists, scenarios, has_bins, room: MAX_BYTES, ..Self::default() };
    }

    /// Stores the new cases of each profile whose RTL `is_pure`. If the folder is not writable,
    /// later runs are only slower.
    pub fn keep(&self, is_pure: impl Fn(usize) -> bool + Sync) {
        let Some(store) = &self.store else { return };
        let of_profiles = self.lists.par_chunks(self.scenarios.max(1)).enumerate();
        let kept: Vec<&[List]> = of_profiles
            .filter(|(profile, lists)| lists.iter().any(|list| list.has_new) && is_pure(*profile))
            .map(|(_, lists)| lists)
            .collect();
        for lists in kept {
            for list in lists.iter().filter(|list| list.has_new) {
                // Another process may have stored other cases meanwhile.
                let mut cases = List::read(store, list.key.clone()).cases;
                cases.extend(list.cases.iter().map(|(name, counts)| (*name, counts.clone())));
                if let Ok(bytes) = postcard::to_stdvec(&cases)
                    && bytes.len() <= 2 * MAX_BYTES
                {
                    let _ = store.put(&list.key, &bytes);
                }
            }
        }
    }

    fn list(&self, case: &Case) -> Option<usize> {
        let list = case.profile * self.scenarios + case.scenario;
        (case.scenario < self.scenarios && list < self.lists.len()).then_some(list)
    }
}

impl List {
    fn read(store: &Store, key: Key) -> Self {
        let bytes = store.get(&key).unwrap_or_default();
        let cases: BTreeMap<u64, Vec<u8>> = postcard::from_bytes(&bytes).unwrap_or_default();
        Self { key, cases, has_new: false }
    }

    /// Adds a case unless it takes more than `room` bytes. Returns its size in bytes.
    fn add(&mut self, seed: u64, outcome: &Outcome, room: usize) -> usize {
        let counts = postcard::to_stdvec(&Counts::of(outcome));
        let Some(counts) = counts.ok().filter(|counts| counts.len() <= room) else { return 0 };
        let bytes = counts.len();
        self.has_new = true;
        self.cases.insert(seed, counts);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Parameters;
    use std::collections::BTreeSet;
    use tempfile::TempDir;

    const PROFILES: [Profile; 2] =
        [Profile::new("a", Parameters::NONE), Profile::new("b", Parameters::NONE)];

    fn opening(scenarios: &str) -> SessionSetup {
        let scenarios = scenarios.to_owned();
        SessionSetup { block: "b".to_owned(), models: Vec::new(), scenarios, packets: None }
    }

    fn judged(folder: &TempDir, scenarios: &str) -> Judged {
        let store = Store::new(folder.path(), u64::MAX);
        Judged::open(store, &opening(scenarios), &PROFILES, 3)
    }

    fn case(scenario: usize, seed: u64) -> Case {
        Case { place: 0, profile: 1, scenario, name: String::new(), seed }
    }

    fn outcome(cycles: u64, hits: Vec<u64>) -> Outcome {
        let counters = if hits.is_empty() { Vec::new() } else { vec![7] };
        Outcome { cycles, packets: 3, hits, counters, ..Outcome::without_cycles(Verdict::Match) }
    }

    #[test]
    fn a_cached_case_gets_its_counts_in_another_run_of_the_scenario() {
        let folder = TempDir::new().unwrap();
        let scenarios = r#"[{"name":"x"},{"name":"y"}]"#;
        let mut first = judged(&folder, scenarios);
        assert!(!first.has(&case(1, 5)));
        let whole = outcome(100, vec![0, 2, 0]);
        assert_eq!(first.complete(&case(1, 5), whole.clone()), whole);
        first.keep(|_| true);

        let mut second = judged(&folder, scenarios);
        assert!(second.has(&case(1, 5)));
        assert!(!second.has(&case(0, 5)), "another scenario");
        assert!(!second.has(&case(1, 6)), "another seed");
        assert_eq!(second.complete(&case(1, 5), outcome(100, Vec::new())), whole);
        assert_eq!(second.used(), 1);
        assert!(!judged(&folder, r#"[{"name":"x"},{"name":"z"}]"#).has(&case(1, 5)));
    }

    /// The counts of a case in the cache, and another run that judges it or not.
    fn after(counts: Outcome, outcome: Outcome) -> (Judged, Outcome) {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        run.complete(&case(0, 5), counts);
        run.keep(|_| true);
        let mut run = judged(&folder, "[{}]");
        let outcome = run.complete(&case(0, 5), outcome);
        (run, outcome)
    }

    #[test]
    fn a_case_that_differs_from_the_cache_is_found() {
        let cached = || outcome(100, vec![0, 2, 0]);
        let counters = |value| Outcome { counters: vec![value], ..cached() };
        for (other, differs) in [
            (cached(), false),
            (outcome(100, vec![0, 1, 0]), true),
            (outcome(100, vec![0, 2]), true),
            (outcome(101, vec![0, 2, 0]), true),
            (Outcome { packets: 4, ..cached() }, true),
            (counters(7), false),
            (counters(8), true),
            // Not judged.
            (outcome(100, Vec::new()), false),
            (outcome(101, Vec::new()), true),
            (Outcome { packets: 4, ..outcome(100, Vec::new()) }, true),
        ] {
            let (run, _) = after(cached(), other.clone());
            assert_eq!(run.difference().is_some(), differs, "{other:?}");
        }
    }

    #[test]
    fn an_emptied_cache_has_nothing_for_any_run() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        run.complete(&case(0, 5), outcome(100, vec![1, 1, 1]));
        run.complete(&case(0, 6), outcome(100, vec![1, 1, 1]));
        run.keep(|_| true);
        let mut run = judged(&folder, "[{}]");
        run.complete(&case(0, 5), outcome(100, vec![0, 1, 0]));
        assert!(run.difference().is_some());
        run.forget();
        assert!(run.difference().is_none() && !run.has(&case(0, 5)) && !run.has(&case(0, 6)));
        assert!(!judged(&folder, "[{}]").has(&case(0, 6)), "another run");
        // What the run judges now is stored.
        let whole = outcome(100, vec![0, 1, 0]);
        assert_eq!(run.complete(&case(0, 5), whole.clone()), whole);
        run.keep(|_| true);
        let mut run = judged(&folder, "[{}]");
        assert!(run.has(&case(0, 5)) && !run.has(&case(0, 6)));
        assert_eq!(run.complete(&case(0, 5), outcome(100, Vec::new())), whole);
    }

    #[test]
    fn a_match_without_counts_is_no_match() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        let unknown = run.complete(&case(0, 6), outcome(100, Vec::new()));
        assert!(matches!(unknown.verdict, Verdict::Crashed { .. }), "{unknown:?}");
        assert!(run.difference().is_none());
    }

    /// Each run judges cached cases again: one of a few, and one of each stretch.
    #[test]
    fn some_cached_cases_are_judged_again() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        let all = 10 * STRETCH;
        (0..all).for_each(|seed| drop(run.complete(&case(0, seed), outcome(1, vec![1]))));
        run.keep(|_| true);
        let mut places = BTreeSet::new();
        for cached in [1, 2, 5, STRETCH, all] {
            for _ in 0..20 {
                let mut run = judged(&folder, "[{}]");
                // Cases that are not cached do not count.
                let planned = (all - cached..all + 3).map(|seed| case(0, seed));
                run.begin(planned.clone());
                let cached: Vec<Case> = planned.filter(|case| run.has(case)).collect();
                let again = cached.iter().filter(|case| !run.stands_in(case));
                let again: Vec<u64> = again.map(|case| case.seed).collect();
                let stretches = cached.len().div_ceil(STRETCH as usize);
                assert_eq!(again.len(), stretches, "{again:?}");
                if stretches == 1 {
                    places.extend(again);
                }
            }
        }
        assert!(places.len() > 3, "the same ones each time: {places:?}");
        let mut run = judged(&folder, "[{}]");
        run.begin(std::iter::empty());
        assert!(!run.stands_in(&case(0, all)), "it is not cached");
    }

    #[test]
    fn a_block_without_bins_needs_no_counts() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path(), u64::MAX);
        let mut run = Judged::open(store, &opening("[{}]"), &PROFILES, 0);
        let whole = outcome(100, Vec::new());
        assert_eq!(run.complete(&case(0, 5), whole.clone()), whole);
        assert!(!run.has(&case(0, 5)));
    }

    #[test]
    fn failures_and_cases_of_impure_rtl_are_not_stored() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        let of = |profile| Case { profile, ..case(0, 5) };
        for profile in [0, 1] {
            run.complete(&of(profile), outcome(100, vec![1]));
        }
        run.keep(|_| false);
        assert!(!judged(&folder, "[{}]").has(&of(0)));
        let hang = Verdict::Hang { cycle: Some(1), state: String::new() };
        run.complete(&case(0, 6), Outcome { verdict: hang, ..outcome(100, vec![1]) });
        run.keep(|_| true);
        let kept = judged(&folder, "[{}]");
        assert!(kept.has(&of(0)) && !kept.has(&case(0, 6)));
    }

    #[test]
    fn rtl_is_examined_only_if_there_is_something_to_store() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]");
        run.keep(|_| unreachable!());
        run.complete(&case(0, 5), outcome(100, vec![1]));
        run.keep(|profile| profile == 1);
        judged(&folder, "[{}]").keep(|_| unreachable!());
    }

    #[test]
    fn the_size_of_the_cache_is_bounded() {
        let folder = TempDir::new().unwrap();
        let scenarios = r#"[{"name":"x"},{"name":"y"}]"#;
        let mut run = judged(&folder, scenarios);
        assert_eq!(run.room, MAX_BYTES);
        // Two cases fit, in any scenario.
        run.complete(&case(0, 0), outcome(100, vec![1]));
        let bytes = MAX_BYTES - run.room;
        run.room = bytes;
        for (scenario, seed) in [(1, 1), (0, 2), (1, 3)] {
            run.complete(&case(scenario, seed), outcome(100, vec![1]));
        }
        let kept =
            [(0, 0), (1, 1), (0, 2), (1, 3)].map(|(place, seed)| run.has(&case(place, seed)));
        assert_eq!(kept, [true, true, false, false]);
        run.keep(|_| true);
        // The next run reads both cases twice, because its two profiles have the same parameters.
        let next = judged(&folder, scenarios);
        assert_eq!(next.room, MAX_BYTES - 2 * 2 * bytes);
    }
}
