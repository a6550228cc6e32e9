//! The totals of a run.

use super::end::End;
use super::plan::Plan;
use crate::coverage::Recorder;
use cosim_base::error::Error;
use cosim_block::program;
use cosim_harness::harness::{BlockInfo, Case, Outcome, Profile, Rule, Total, Verdict};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Counts of cases by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Totals {
    /// Number of finished cases.
    pub cases: u64,
    /// Cases in which all outputs matched and all checks passed.
    pub matched: u64,
    /// Cases with an output that differed.
    pub mismatched: u64,
    /// Cases with an output or state register that was X although it must be known.
    pub unknown: u64,
    /// Cases that stopped making progress.
    pub hung: u64,
    /// Cases in which a check of the scoreboard failed.
    pub check_failed: u64,
    /// Cases in which the model terminated abnormally.
    pub crashed: u64,
    /// Cases without comparison, since the block has no golden model yet.
    pub no_golden_model: u64,
    /// Cycles compared.
    pub cycles: u64,
    /// Packets accepted by the block.
    pub packets: u64,
}

impl Totals {
    pub fn add(&mut self, outcome: &Outcome) {
        let count = match outcome.verdict {
            Verdict::Match => &mut self.matched,
            Verdict::Mismatch(_) => &mut self.mismatched,
            Verdict::Unknown(_) => &mut self.unknown,
            Verdict::Hang { .. } => &mut self.hung,
            Verdict::CheckFailed { .. } => &mut self.check_failed,
            Verdict::Crashed { .. } => &mut self.crashed,
            Verdict::NoGoldenModel => &mut self.no_golden_model,
            Verdict::Cancelled => return,
        };
        *count += 1;
        self.cases += 1;
        self.cycles = self.cycles.saturating_add(outcome.cycles);
        self.packets = self.packets.saturating_add(outcome.packets);
    }

    pub fn add_all(&mut self, other: &Self) {
        let Self { cases, matched, mismatched, unknown, hung, check_failed, crashed, .. } = *other;
        let Self { no_golden_model, cycles, packets, .. } = *other;
        for (sum, more) in [
            (&mut self.cases, cases),
            (&mut self.matched, matched),
            (&mut self.mismatched, mismatched),
            (&mut self.unknown, unknown),
            (&mut self.hung, hung),
            (&mut self.check_failed, check_failed),
            (&mut self.crashed, crashed),
            (&mut self.no_golden_model, no_golden_model),
            (&mut self.cycles, cycles),
            (&mut self.packets, packets),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Whether the counts of all verdicts make up the cases.
    fn adds_up(&self) -> bool {
        let Self { cases, matched, mismatched, unknown, hung, check_failed, crashed, .. } = *self;
        let all = [matched, mismatched, unknown, hung, check_failed, crashed, self.no_golden_model];
        all.into_iter().try_fold(0, u64::checked_add) == Some(cases)
    }

    pub fn failures(&self) -> u64 {
        self.cases - self.matched
    }

    /// The verdict of a run with these totals, in one to three words. `passed` may depend on more.
    pub fn verdict(&self, end: End, passed: bool) -> &'static str {
        match end {
            End::Interrupted => "INTERRUPTED",
            _ if passed => "PASS",
            _ if self.no_golden_model > 0 => "NO GOLDEN MODEL",
            _ => "FAIL",
        }
    }
}

impl Serialize for Totals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Totals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let totals = Self::deserialize(deserializer)?;
        let message = "the counts of the verdicts are not the sum `cases`";
        if totals.adds_up() { Ok(totals) } else { Err(D::Error::custom(message)) }
    }
}

/// The totals of one profile.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProfileTally {
    /// The profile's name.
    pub profile: String,
    /// The mask of fixes.
    pub fixes: String,
    /// The other parameters.
    pub parameters: BTreeMap<&'static str, u64>,
    /// Totals by scenario.
    pub scenarios: Vec<(String, Totals)>,
    /// Hit count of each reachable rule.
    pub rules: BTreeMap<&'static str, u64>,
    /// Unreachable rules: no legal stimulus hits them. With the reason.
    pub unreachable: BTreeMap<&'static str, String>,
    /// The scoreboard's counters.
    pub counters: BTreeMap<&'static str, u64>,
}

impl ProfileTally {
    /// Reachable rules that were not hit.
    pub fn missed(&self) -> impl Iterator<Item = &'static str> {
        self.rules.iter().filter(|(_, hits)| **hits == 0).map(|(name, _)| *name)
    }

    /// Adds the rules and counters of a case. `places` is of an earlier case.
    fn count(&mut self, places: &mut Places, named: Named<'_>, outcome: &Outcome) {
        let (rules, counters) = named;
        let hits = |rule: usize| outcome.hits.count(rule);
        // What a merge added has moved rules, too.
        if !places.is_of(self) {
            *places = Places::from_tally(self, named);
        }
        // A rule that is hit although it is listed as unreachable counts as reachable.
        for rule in places.unreachable.iter().filter(|rule| hits(**rule) > 0) {
            let name = rules[*rule].name;
            self.unreachable.remove(name);
            self.rules.entry(name).or_default();
        }
        if !places.is_of(self) {
            *places = Places::from_tally(self, named);
        }
        for (so_far, rule) in self.rules.values_mut().zip(&places.rules) {
            *so_far = so_far.saturating_add(hits(*rule));
        }
        for (so_far, counter) in self.counters.values_mut().zip(&places.counters) {
            let (_, total) = counters[*counter];
            if let Some(value) = outcome.counters.get(*counter) {
                *so_far = total.combine(*so_far, *value);
            }
        }
    }
}

#[derive(Clone)]
pub struct Tally {
    block: &'static BlockInfo,
    /// By profile, in the order of the plan.
    pub profiles: Vec<ProfileTally>,
    pub totals: Totals,
    pub coverage: Recorder,
    /// By profile. A search by name for each rule of each case would take longer than all else.
    places: Vec<Places>,
}

type Named<'a> = (&'a [Rule], &'a [(&'static str, Total)]);

/// The numbers of what the maps of a profile name, in the order of their names.
#[derive(Debug, Clone, Default)]
struct Places {
    rules: Vec<usize>,
    unreachable: Vec<usize>,
    counters: Vec<usize>,
}

impl Places {
    fn from_tally(tally: &ProfileTally, (rules, counters): Named<'_>) -> Self {
        let rule = |name: &&str| rules.iter().position(|rule| rule.name == *name);
        let counter = |name: &&str| counters.iter().position(|(other, _)| other == name);
        Self {
            rules: tally.rules.keys().filter_map(rule).collect(),
            unreachable: tally.unreachable.keys().filter_map(rule).collect(),
            counters: tally.counters.keys().filter_map(counter).collect(),
        }
    }

    /// Whether no rule was added to the profile since.
    fn is_of(&self, tally: &ProfileTally) -> bool {
        self.rules.len() == tally.rules.len() && self.unreachable.len() == tally.unreachable.len()
    }
}

impl Tally {
    /// An empty tally for the profiles and scenarios of a plan.
    pub fn new(block: &'static BlockInfo, plan: &Plan, coverage: Recorder) -> Result<Self, Error> {
        let profile = |profile: &Profile| {
            let mut tally = ProfileTally {
                profile: profile.name.to_string(),
                fixes: format!("0x{:02x}", profile.parameters.fixes()),
                parameters: profile.parameters.values().collect(),
                scenarios: plan
                    .scenarios
                    .iter()
                    .map(|name| (name.clone(), Totals::default()))
                    .collect(),
                rules: BTreeMap::new(),
                unreachable: BTreeMap::new(),
                counters: block.counters.iter().map(|(name, _)| (*name, 0)).collect(),
            };
            let mut unreachable = program::unreachable(block, &profile.parameters)?;
            for (index, rule) in block.rules.iter().enumerate() {
                match unreachable.remove(&index) {
                    Some(reason) => drop(tally.unreachable.insert(rule.name, reason)),
                    None => drop(tally.rules.insert(rule.name, 0)),
                }
            }
            Ok(tally)
        };
        let profiles: Vec<ProfileTally> =
            plan.profiles.iter().map(profile).collect::<Result<_, Error>>()?;
        let places = profiles
            .iter()
            .map(|profile| Places::from_tally(profile, (block.rules, &block.counters)));
        let places = places.collect();
        Ok(Self { block, profiles, totals: Totals::default(), coverage, places })
    }

    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        self.totals.add(outcome);
        self.coverage.add(case, outcome);
        let profile = &mut self.profiles[case.profile];
        profile.scenarios[case.scenario].1.add(outcome);
        let named = (self.block.rules, &self.block.counters[..]);
        profile.count(&mut self.places[case.profile], named, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::Hits;
    use serde_json::{Value, from_value, to_value};

    #[test]
    fn adding_totals_leaves_none_of_them_out() {
        let mut ones = to_value(Totals::default()).unwrap();
        ones.as_object_mut().unwrap().values_mut().for_each(|number| *number = Value::from(1));
        ones["cases"] = Value::from(7);
        let ones: Totals = from_value(ones).unwrap();
        let mut sum = Totals::default();
        sum.add_all(&ones);
        assert_eq!(sum, ones);
    }

    /// Do counts survive what a resumed run adds by name, and a rule that is hit unexpectedly?
    #[test]
    fn a_rule_that_is_listed_as_unreachable_counts_once_it_is_hit() {
        let rules = ["B", "A", "C"].map(|name| Rule { name, meaning: "" });
        let counters = [("most", Total::Max), ("all", Total::Sum)];
        let mut tally = ProfileTally {
            profile: "p".to_owned(),
            fixes: "0x00".to_owned(),
            parameters: BTreeMap::new(),
            scenarios: Vec::new(),
            rules: BTreeMap::from([("B", 0)]),
            unreachable: ["A", "C"].map(|name| (name, "never".to_owned())).into(),
            counters: counters.map(|(name, _)| (name, 0)).into(),
        };
        let named = (&rules[..], &counters[..]);
        let mut places = Places::from_tally(&tally, named);
        let mut add = |tally: &mut ProfileTally, hits: [u64; 3], counters: [u64; 2]| {
            let mut outcome = Outcome::without_cycles(Verdict::Match);
            (outcome.hits, outcome.counters) = (Hits::from_counts(&hits), counters.to_vec());
            tally.count(&mut places, named, &outcome);
        };
        add(&mut tally, [1, 0, 0], [3, 3]);
        // As a merge does.
        tally.unreachable.remove("A");
        tally.rules.insert("A", 5);
        add(&mut tally, [0, 2, 0], [2, 2]);
        add(&mut tally, [1, 0, 4], [1, 1]);
        assert_eq!(tally.rules, BTreeMap::from([("A", 7), ("B", 2), ("C", 4)]));
        assert_eq!(tally.counters, BTreeMap::from([("all", 6), ("most", 3)]));
        assert!(tally.unreachable.is_empty());
    }

    #[test]
    fn totals_that_do_not_add_up_are_rejected() {
        let good = Totals { cases: 3, matched: 1, hung: 2, cycles: u64::MAX, ..Totals::default() };
        assert_eq!(from_value::<Totals>(to_value(good).unwrap()).unwrap(), good);
        for bad in [
            Totals { matched: 2, ..good },
            Totals { cases: 0, ..good },
            // The sum overflows.
            Totals { crashed: u64::MAX, cases: 2, ..good },
        ] {
            assert!(from_value::<Totals>(to_value(bad).unwrap()).is_err(), "{bad:?}");
        }
        let mut sum = good;
        sum.add_all(&good);
        assert_eq!((sum.cycles, sum.failures()), (u64::MAX, 4));
    }
}
