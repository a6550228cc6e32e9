//! Records the coverage of a run, case by case.

use super::{ContributingCase, Database, Indices, Run, ScenarioCoverage, code};
use cosim_harness::harness::{Case, Outcome};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A hash of the weights of each scenario; `scenarios` is JSON.
pub fn weights_hashes(scenarios: &str) -> Vec<String> {
    let scenarios: Vec<serde_json::Value> = serde_json::from_str(scenarios).unwrap_or_default();
    let hash = |scenario: &serde_json::Value| {
        let hash = Sha256::digest(scenario.to_string());
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    };
    scenarios.iter().map(hash).collect()
}

/// Collects the coverage of a run. Its memory does not grow with the number of cases.
#[derive(Debug, Clone)]
pub struct Recorder {
    database: Database,
    run: Run,
    profiles: Vec<String>,
    /// Names of the plan's scenarios, with hashes of their weights.
    scenarios: Vec<(String, String)>,
    /// The growing part of each profile and scenario.
    open: Vec<Option<Open>>,
    /// Whether each bin was hit, by profile.
    hit: Vec<Vec<bool>>,
}

/// A part that still grows.
#[derive(Debug, Clone)]
struct Open {
    cases: Indices,
    cycles: u64,
    hits: Vec<u64>,
    /// Number of cases that reached each code coverage point, if counted.
    reached: Option<Vec<u64>>,
}

impl Recorder {
    /// A recorder without hits for a run of these profiles and scenarios.
    pub fn new(
        database: Database,
        run: Run,
        profiles: Vec<String>,
        scenarios: Vec<(String, String)>,
    ) -> Self {
        let open = vec![None; profiles.len() * scenarios.len()];
        let hit = vec![vec![false; database.bins()]; profiles.len()];
        Self { database, run, profiles, scenarios, open, hit }
    }

    /// Restores a recorder from the parts and finds of [`Recorder::part`].
    pub fn restore(
        &mut self,
        parts: BTreeSet<ScenarioCoverage>,
        finds: BTreeSet<ContributingCase>,
    ) {
        for part in parts {
            let profile = self.profiles.iter().position(|name| *name == part.profile);
            let is_of = |(name, weights): &(String, String)| {
                *name == part.scenario && *weights == part.weights
            };
            let (Some(profile), Some(scenario)) = (profile, self.scenarios.iter().position(is_of))
            else {
                continue;
            };
            let mut hits = vec![0; self.database.bins()];
            for (bin, count) in &part.hits {
                let bin = *bin as usize;
                if let (Some(hits), Some(hit)) = (hits.get_mut(bin), self.hit[profile].get_mut(bin))
                {
                    (*hits, *hit) = (*count, true);
                }
            }
            let mut reached = self.points(profile).map(|points| vec![0; points]);
            for (point, count) in part.reached.into_iter().flatten() {
                if let Some(sum) = reached.as_mut().and_then(|sums| sums.get_mut(point as usize)) {
                    *sum = count;
                }
            }
            // Parts of one profile and scenario are sorted by their first case, and the last one
            // grows.
            let column = profile * self.scenarios.len() + scenario;
            let open = Open { cases: part.cases, cycles: part.cycles, hits, reached };
            if let Some(before) = self.open[column].replace(open) {
                let (run, profiles) = (&self.run, &self.profiles);
                let done = self::part(run, profiles, &self.scenarios, column, before);
                self.database.parts.insert(done);
            }
        }
        self.database.finds = finds;
    }

    /// Adds a case. Cases must be added in the order of the plan.
    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        let index = case.place / self.open.len().max(1) as u64;
        let column = case.profile * self.scenarios.len() + case.scenario;
        if self.open[column].as_mut().is_none_or(|open| !open.cases.push(index)) {
            let new = Open::new(index, self.database.bins(), self.points(case.profile));
            if let Some(done) = self.open[column].replace(new) {
                let part = part(&self.run, &self.profiles, &self.scenarios, column, done);
                self.database.parts.insert(part);
            }
        }
        let Some(open) = &mut self.open[column] else { return };
        open.count(outcome);
        self.note(case, outcome);
    }

    /// Records a case that hit a new bin.
    fn note(&mut self, case: &Case, outcome: &Outcome) {
        let known = &mut self.hit[case.profile];
        let bins = || outcome.hits.hit_bins().map(|(bin, _)| bin).filter(|bin| *bin < known.len());
        let new = bins().filter(|bin| !known[*bin]).count() as u32;
        if new == 0 {
            return;
        }
        let hit: Vec<u32> = bins().map(|bin| bin as u32).collect();
        hit.iter().for_each(|bin| known[*bin as usize] = true);
        self.database.finds.insert(ContributingCase {
            run: self.run.clone(),
            name: case.name.clone(),
            profile: self.profiles[case.profile].clone(),
            weights: self.scenarios[case.scenario].1.clone(),
            cycles: outcome.cycles,
            bins: hit,
            new,
        });
    }

    /// Number of code coverage points of a profile, if they are counted.
    fn points(&self, profile: usize) -> Option<usize> {
        self.database.points(&self.run.rtl, &self.profiles[profile])
    }

    /// Whether every profile has hit `percent` of its reachable bins.
    pub fn reaches(&self, percent: f64) -> bool {
        self.profiles.iter().zip(&self.hit).all(|(name, hit)| {
            let unreachable = self.database.profiles.get(name).map(|profile| &profile.unreachable);
            let others = || unreachable.into_iter().flat_map(|bins| bins.keys());
            let of_others = others().filter(|bin| hit[**bin as usize]).count();
            let reached = hit.iter().filter(|is_hit| **is_hit).count() - of_others;
            reached as f64 * 100.0 >= percent * (hit.len() - others().count()) as f64
        })
    }

    pub fn hit_bins(&self, profile: usize) -> &[bool] {
        &self.hit[profile]
    }

    pub fn database(&self) -> Database {
        let mut database = self.part();
        database.leave_out();
        database
    }

    /// The coverage of a shard so far, for `shards.rs`. Unlike [`Recorder::database`] it keeps
    /// redundant cases.
    pub fn part(&self) -> Database {
        let mut database = self.database.clone();
        for (column, open) in self.open.iter().enumerate() {
            if let Some(open) = open {
                let part = part(&self.run, &self.profiles, &self.scenarios, column, open.clone());
                database.parts.insert(part);
            }
        }
        database
    }
}

impl Open {
    fn new(index: u64, bins: usize, points: Option<usize>) -> Self {
        let reached = points.map(|points| vec![0; points]);
        Self { cases: Indices::from_index(index), cycles: 0, hits: vec![0; bins], reached }
    }

    fn count(&mut self, outcome: &Outcome) {
        self.cycles = self.cycles.saturating_add(outcome.cycles);
        for (bin, hits) in outcome.hits.hit_bins() {
            if let Some(sum) = self.hits.get_mut(bin) {
                *sum = sum.saturating_add(hits);
            }
        }
        if let Some(reached) = &mut self.reached {
            for point in code::numbers(&outcome.reached) {
                if let Some(cases) = reached.get_mut(point) {
                    *cases = cases.saturating_add(1);
                }
            }
        }
    }
}

fn part(
    run: &Run,
    profiles: &[String],
    scenarios: &[(String, String)],
    column: usize,
    open: Open,
) -> ScenarioCoverage {
    let (scenario, weights) = scenarios[column % scenarios.len()].clone();
    let not_0 = |counts: Vec<u64>| {
        let counts = counts.into_iter().zip(0u32..).filter(|(count, _)| *count > 0);
        counts.map(|(count, number)| (number, count)).collect()
    };
    ScenarioCoverage {
        run: run.clone(),
        profile: profiles[column / scenarios.len()].clone(),
        scenario,
        weights,
        cases: open.cases,
        cycles: open.cycles,
        hits: not_0(open.hits),
        reached: open.reached.map(not_0),
    }
}
