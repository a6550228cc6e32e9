//! The totals of a run.

use super::end::End;
use super::plan::Plan;
use crate::coverage::Recorder;
use cosim_base::error::Error;
use cosim_block::program;
use cosim_harness::harness::{BlockInfo, Case, Outcome, Profile, Verdict};
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
    /// Adds a case.
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

    /// Adds other totals.
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

    /// Cases that failed.
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
}

/// The totals of a run.
#[derive(Clone)]
pub struct Tally {
    block: &'static BlockInfo,
    /// By profile, in the order of the plan.
    pub profiles: Vec<ProfileTally>,
    /// Totals of all profiles.
    pub totals: Totals,
    pub coverage: Recorder,
    /// By profile. A search by name for each rule of each case would take longer than all else.
    places: Vec<Places>,
}

/// The numbers of what the maps of a profile name, in the order of their names.
#[derive(Debug, Clone, Default)]
struct Places {
    rules: Vec<usize>,
    unreachable: Vec<usize>,
    counters: Vec<usize>,
}

impl Places {
    fn of(tally: &ProfileTally, block: &BlockInfo) -> Self {
        let rule = |name: &&str| block.rules.iter().position(|rule| rule.name == *name);
        let counter = |name: &&str| block.counters.iter().position(|(other, _)| other == name);
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
        let places = profiles.iter().map(|profile| Places::of(profile, block)).collect();
        Ok(Self { block, profiles, totals: Totals::default(), coverage, places })
    }

    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        self.totals.add(outcome);
        self.coverage.add(case, outcome);
        let profile = &mut self.profiles[case.profile];
        profile.scenarios[case.scenario].1.add(outcome);
        let places = &mut self.places[case.profile];
        let hits = |rule: usize| outcome.hits.get(rule).copied().unwrap_or(0);
        // What a merge added has moved rules, too.
        if !places.is_of(profile) {
            *places = Places::of(profile, self.block);
        }
        // A rule that is hit although it is listed as unreachable counts as reachable.
        for rule in places.unreachable.iter().copied().filter(|rule| hits(*rule) > 0) {
            let name = self.block.rules[rule].name;
            profile.unreachable.remove(name);
            profile.rules.entry(name).or_default();
        }
        if !places.is_of(profile) {
            *places = Places::of(profile, self.block);
        }
        for (so_far, rule) in profile.rules.values_mut().zip(&places.rules) {
            *so_far = so_far.saturating_add(hits(*rule));
        }
        for (so_far, counter) in profile.counters.values_mut().zip(&places.counters) {
            let (_, total) = &self.block.counters[*counter];
            if let Some(value) = outcome.counters.get(*counter) {
                *so_far = total.of(*so_far, *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
