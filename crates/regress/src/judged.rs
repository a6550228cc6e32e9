//! A cache of the golden side of cases that matched in earlier runs.
//!
//! Scoreboard, coverage and rule counts of a case depend on the program, the parameters and the
//! stimulus, and never on the RTL. The cache stores them for matching cases. The same case on
//! other RTL then runs only environment, golden model, RTL and comparison. Every output is still
//! compared in every cycle.

use crate::engine::SessionSetup;
use crate::program;
use cosim_harness::harness::{Case, Outcome, Profile, Verdict};
use cosim_rtl::answers::store::{Key, Store};
use cosim_rtl::models::Examined;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cached bytes of the cases of one run, over all profiles and scenarios.
const MAX_BYTES: usize = 32 << 20;
/// RTL with such text can run C++ code, which could change what a worker counts.
const C_CODE: [&str; 3] = ["DPI", "``", "`systemc_"];

/// The cached cases of a run, and the cases that the run adds.
#[derive(Debug, Default)]
pub struct Judged {
    store: Option<Store>,
    /// By profile and scenario, in the order of the plan.
    lists: Vec<List>,
    scenarios: usize,
    /// Whether the block has bins, so that a case whose golden side was checked has counts.
    has_bins: bool,
    /// Whether the results of this run are stored.
    learns: bool,
    /// Cases that took their counts from the cache.
    used: u64,
    /// Bytes left for new cases.
    room: usize,
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

impl Judged {
    /// An empty cache that stores nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the cached cases of a run with these profiles from `store`. A case whose golden side
    /// was checked has counts of `bins` bins. `learns` enables storing new results.
    pub fn open(
        store: Store,
        opening: &SessionSetup,
        profiles: &[Profile],
        bins: usize,
        learns: bool,
    ) -> Self {
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
        let scenarios = weights.len();
        Self { store: Some(store), lists, scenarios, has_bins: bins > 0, learns, used: 0, room }
    }

    /// Whether the golden side of a case is cached.
    pub fn has(&self, case: &Case) -> bool {
        self.list(case).is_some_and(|list| self.lists[list].cases.contains_key(&case.seed))
    }

    /// Cases that took their counts from the cache.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Completes the outcome that a worker reports. A match without golden checks gets the cached
    /// counts. A match with golden checks is added to the cache.
    pub fn complete(&mut self, case: &Case, outcome: Outcome) -> Outcome {
        let Some(list) = self.list(case).filter(|_| outcome.verdict == Verdict::Match) else {
            return outcome;
        };
        let list = &mut self.lists[list];
        let was_judged = !outcome.hits.is_empty();
        let stored = list.cases.get(&case.seed);
        let known = stored.and_then(|bytes| postcard::from_bytes(bytes).ok());
        match known {
            // Without bins there is nothing to store.
            _ if !self.has_bins => outcome,
            None if was_judged && self.learns => {
                self.room -= list.add(case.seed, &outcome, self.room);
                outcome
            }
            Some(_) | None if was_judged => outcome,
            Some(Counts { cycles, packets, hits, counters })
                if (cycles, packets) == (outcome.cycles, outcome.packets) =>
            {
                self.used += 1;
                Outcome { hits, counters, ..outcome }
            }
            _ => {
                let message = "the golden side of the case differs from the cached one; run with \
                     --no-cache";
                let verdict = Verdict::Crashed { cycle: None, message: message.to_owned() };
                Outcome { verdict, ..outcome }
            }
        }
    }

    /// Stores the new cases. If the folder is not writable, later runs are only slower.
    pub fn keep(&self) {
        let Some(store) = &self.store else { return };
        for list in self.lists.iter().filter(|list| list.has_new) {
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
        let Outcome { cycles, packets, hits, counters, .. } = outcome.clone();
        let counts = postcard::to_stdvec(&Counts { cycles, packets, hits, counters });
        let Some(counts) = counts.ok().filter(|counts| counts.len() <= room) else { return 0 };
        let bytes = counts.len();
        self.has_new = true;
        self.cases.insert(seed, counts);
        bytes
    }
}

/// Whether counts made with this RTL hold for other RTL, too: no file and no macro calls C++.
pub fn is_trusted(rtl: &Examined, defines: &[String]) -> bool {
    let texts = rtl.texts.iter().map(|file| String::from_utf8_lossy(&file.text));
    !texts.chain(defines.iter().map(Into::into)).any(|text| has_c_code(&text))
}

/// Whether a text may call C++: by `$c` and its variants, by DPI, in a SystemC block, or by a token
/// that macros concatenate.
fn has_c_code(text: &str) -> bool {
    let calls = |(at, _): (usize, &str)| {
        let rest = &text[at + 2..];
        rest.starts_with("pure") || !rest.starts_with(|next: char| next.is_ascii_alphabetic())
    };
    C_CODE.iter().any(|word| text.contains(word)) || text.match_indices("$c").any(calls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Parameters;
    use tempfile::TempDir;

    const PROFILES: [Profile; 2] =
        [Profile::new("a", Parameters::NONE), Profile::new("b", Parameters::NONE)];

    fn opening(scenarios: &str) -> SessionSetup {
        let scenarios = scenarios.to_owned();
        SessionSetup { block: "b".to_owned(), models: Vec::new(), scenarios, packets: None }
    }

    fn judged(folder: &TempDir, scenarios: &str, learns: bool) -> Judged {
        let store = Store::new(folder.path(), u64::MAX);
        Judged::open(store, &opening(scenarios), &PROFILES, 3, learns)
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
        let mut first = judged(&folder, scenarios, true);
        assert!(!first.has(&case(1, 5)));
        let whole = outcome(100, vec![0, 2, 0]);
        assert_eq!(first.complete(&case(1, 5), whole.clone()), whole);
        first.keep();

        let mut second = judged(&folder, scenarios, true);
        assert!(second.has(&case(1, 5)));
        assert!(!second.has(&case(0, 5)), "another scenario");
        assert!(!second.has(&case(1, 6)), "another seed");
        assert_eq!(second.complete(&case(1, 5), outcome(100, Vec::new())), whole);
        assert_eq!(second.used(), 1);
        assert!(!judged(&folder, r#"[{"name":"x"},{"name":"z"}]"#, true).has(&case(1, 5)));
    }

    #[test]
    fn a_golden_side_whose_cycles_differ_from_the_cache_is_no_match() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]", true);
        run.complete(&case(0, 5), outcome(100, vec![1]));
        let other = run.complete(&case(0, 5), outcome(101, Vec::new()));
        assert!(matches!(other.verdict, Verdict::Crashed { .. }), "{other:?}");
        let unknown = run.complete(&case(0, 6), outcome(100, Vec::new()));
        assert!(matches!(unknown.verdict, Verdict::Crashed { .. }), "{unknown:?}");
    }

    #[test]
    fn a_block_without_bins_needs_no_counts() {
        let folder = TempDir::new().unwrap();
        let store = Store::new(folder.path(), u64::MAX);
        let mut run = Judged::open(store, &opening("[{}]"), &PROFILES, 0, true);
        let whole = outcome(100, Vec::new());
        assert_eq!(run.complete(&case(0, 5), whole.clone()), whole);
        assert!(!run.has(&case(0, 5)));
    }

    #[test]
    fn failures_and_cases_of_untrusted_rtl_are_not_stored() {
        let folder = TempDir::new().unwrap();
        let mut run = judged(&folder, "[{}]", false);
        run.complete(&case(0, 5), outcome(100, vec![1]));
        assert!(!run.has(&case(0, 5)));
        let mut run = judged(&folder, "[{}]", true);
        let hang = Verdict::Hang { cycle: Some(1), state: String::new() };
        run.complete(&case(0, 5), Outcome { verdict: hang, ..outcome(100, vec![1]) });
        assert!(!run.has(&case(0, 5)));
    }

    #[test]
    fn the_size_of_the_cache_is_bounded() {
        let folder = TempDir::new().unwrap();
        let scenarios = r#"[{"name":"x"},{"name":"y"}]"#;
        let mut run = judged(&folder, scenarios, true);
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
        run.keep();
        // The next run reads both cases twice, because its two profiles have the same parameters.
        let next = judged(&folder, scenarios, true);
        assert_eq!(next.room, MAX_BYTES - 2 * 2 * bytes);
    }

    #[test]
    fn text_that_can_run_c_is_detected() {
        for text in [
            "$c(\"x\")",
            "$c32 (1)",
            "$cpure(1)",
            "$c",
            "import \"DPI-C\" f",
            "`define d a``b",
            "`systemc_header",
        ] {
            assert!(has_c_code(text), "{text}");
        }
        for text in ["$clog2(N)", "$countones(x)", "a <= b; // c"] {
            assert!(!has_c_code(text), "{text}");
        }
    }
}
