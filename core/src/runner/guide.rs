//! Which cases come next in a run that ends when enough is covered.
//!
//! Cases come in rounds of a fixed number. What is in a round follows from what was covered in the rounds before, so it is the
//! same whatever the threads; no case of a round is begun before the last one has ended. First each scenario has one case in
//! each profile; then a round has the cases from which most can be expected for their cycles. Expected is what a scenario has opened in other profiles, what it hits beside the
//! holes (a cross has bins that differ in one value), and a little of everything, the less the longer it was tried in vain.
//! The same holds for variations of a case that opened a bin, when few holes are left. New cases and variations are trusted as far
//! as they have kept what was promised of them.

mod odds;

use super::plan::Plan;
use super::pool::{End, Source};
use crate::coverage::Database;
use crate::harness::{Case, Outcome, VARIATIONS, variation, varied};
use odds::{beside, chance, rate};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;

/// Cases of a round, if nothing else is said.
pub const ROUND: u32 = 32;
/// Cases that are varied at most: those that opened a bin last.
const PARENTS: usize = 48;
/// What a hit beside a hole is worth, of one in it by another profile.
const BESIDE: f64 = 0.1;
/// The same of the one case that is to be varied.
const BESIDE_OF_PARENT: f64 = 0.05;
/// Cases are varied when no more than one in so many of a profile's bins is a hole: before, every new case opens something.
const LATE: usize = 100;
/// Hits that a case is believed to have before anything is known of its scenario.
const BELIEF: f64 = 0.05;
/// Thousandths of holes after which one would believe as firmly as before any that cases keep what is promised of them.
const DOUBT: f64 = 4000.0;
/// The record of a round is forgotten after about so many.
const FADING: u64 = 8;
/// What is known of the cases of a profile and scenario, variations included.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Column {
    /// The index of the next case.
    next: u64,
    cases: u64,
    cycles: u64,
    /// Cases that hit it, by bin.
    hits: Vec<u64>,
}

/// A case that opened bins.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Parent {
    place: u64,
    cycles: u64,
    /// What it or one of its variations hit.
    bins: Vec<u32>,
    /// Variations that were handed out.
    tried: u64,
    /// Cycles of those that ended.
    spent: u64,
}

/// What was promised of cases of one kind, and what they kept. What is long ago counts less.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Record {
    /// Holes that were to be closed, in thousandths.
    promised: u64,
    /// Those that were.
    kept: u64,
}

impl Record {
    /// How many holes are closed of each that is promised.
    fn trust(self) -> f64 {
        (self.kept as f64 + DOUBT) / (self.promised as f64 + DOUBT)
    }

    /// A round later.
    fn fade(&mut self) {
        self.promised -= self.promised / FADING;
        self.kept -= self.kept / FADING;
    }
}

/// Where a [`Guide`] stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Cases that ended.
    cases: u64,
    /// By profile, then scenario.
    columns: Vec<Column>,
    parents: Vec<Parent>,
    /// What new cases and variations were good for.
    new: Record,
    varied: Record,
    /// Places of the cases of this round.
    round: Vec<u64>,
    /// Those of them that ended.
    landed: usize,
    /// Rounds before this one.
    #[serde(default)]
    rounds: u64,
}

/// Hands out cases until enough is covered.
#[derive(Debug)]
pub struct Guide {
    plan: Plan,
    /// Percent of the bins that can be hit, in every profile.
    goal: f64,
    /// Whether cases are chosen; else they come in the order of the plan.
    leans: bool,
    /// Cases at most.
    most: u64,
    /// Cases of a round.
    round: usize,
    /// By bin: those that differ from it in one value.
    beside: Vec<Vec<u32>>,
    /// By profile and bin.
    can_be_hit: Vec<Vec<bool>>,
    standing: Standing,
    /// Cases of the round that were handed out.
    issued: usize,
    end: End,
}

/// From where a case can come.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Column(usize),
    Parent(usize),
}

/// What a case would bring.
struct Choice {
    origin: Origin,
    /// Its chance to hit a hole, by the number of the hole.
    chances: Vec<(usize, f64)>,
    cycles: f64,
    /// How many it can be had in this round.
    left: u64,
    /// What a hole that it promises is worth.
    trust: f64,
    /// No more than this can be expected of it, for each cycle.
    at_most: f64,
}

impl Choice {
    /// Holes that it would close; `open` are the chances that they are still there.
    fn holes(&self, open: &[f64]) -> f64 {
        self.chances.iter().map(|(hole, chance)| open[*hole] * chance).sum()
    }
}

impl Guide {
    /// For a plan, all of which is to be run at most; `database` has what can be hit.
    pub fn new(plan: Plan, database: &Database, goal: f64, leans: bool) -> Self {
        let bins = database.bins();
        let can_be_hit = |name: &str| {
            let profile = database.profiles.get(name);
            let is_reachable =
                |bin| profile.is_none_or(|profile| !profile.unreachable.contains_key(&bin));
            (0..bins as u32).map(is_reachable).collect::<Vec<bool>>()
        };
        let can_be_hit = plan.profiles.iter().map(|profile| can_be_hit(&profile.name)).collect();
        let column = Column { next: plan.indices.start, cases: 0, cycles: 0, hits: vec![0; bins] };
        let columns = vec![column; plan.columns() as usize];
        let most = plan.len();
        let standing = Standing { columns, ..Standing::default() };
        let beside = beside(&database.groups);
        let (issued, end) = (0, End::Complete);
        let round = ROUND as usize;
        Self { plan, goal, leans, most, round, beside, can_be_hit, standing, issued, end }
    }

    /// With so many cases in each round.
    #[must_use]
    pub fn with_rounds_of(mut self, cases: u32) -> Self {
        self.round = cases as usize;
        self
    }

    /// Where it stands.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Goes on where another one stood.
    pub fn restore(&mut self, standing: Standing) {
        self.issued = standing.landed;
        self.standing = standing;
    }

    /// The round that is to be run, all of which is handed out by this: its number, its cases, and how many of them have ended.
    /// It has no case if the run is over.
    pub fn round(&mut self) -> (u64, Vec<Case>, usize) {
        let Standing { round, landed, .. } = &self.standing;
        if *landed == round.len() {
            self.plan_round();
        }
        let Standing { round, landed, rounds, .. } = &self.standing;
        self.issued = round.len();
        (*rounds, round.iter().map(|place| self.plan.case(*place)).collect(), *landed)
    }

    /// Whether a bin was hit in a profile.
    fn is_hit(&self, profile: usize, bin: usize) -> bool {
        let scenarios = self.plan.scenarios.len();
        let columns = &self.standing.columns[profile * scenarios..(profile + 1) * scenarios];
        columns.iter().any(|column| column.hits[bin] > 0)
    }

    /// The holes of profiles that have less than the goal, as profile and bin.
    fn holes(&self) -> Vec<(usize, usize)> {
        let mut holes = Vec::new();
        for (profile, can_be_hit) in self.can_be_hit.iter().enumerate() {
            let reachable = can_be_hit.iter().filter(|can| **can).count();
            let is_hole = |bin: &usize| can_be_hit[*bin] && !self.is_hit(profile, *bin);
            let of_profile: Vec<usize> = (0..can_be_hit.len()).filter(is_hole).collect();
            let hit = reachable - of_profile.len();
            if (hit as f64) * 100.0 < self.goal * reachable as f64 {
                holes.extend(of_profile.into_iter().map(|bin| (profile, bin)));
            }
        }
        holes
    }

    /// Plans the next round; an empty one if it is over.
    fn plan_round(&mut self) {
        let left = self.most.saturating_sub(self.standing.cases);
        let size = left.min(self.round as u64) as usize;
        let holes = self.holes();
        let first = self.plan.places().start;
        self.standing.rounds += 1;
        self.standing.landed = 0;
        self.issued = 0;
        self.standing.round = if holes.is_empty() {
            self.end = End::Covered;
            Vec::new()
        } else if !self.leans {
            (0..size as u64).map(|number| first + self.standing.cases + number).collect()
        } else {
            self.lean(&holes, size)
        };
    }

    /// The places of the cases that promise most.
    fn lean(&mut self, holes: &[(usize, usize)], size: usize) -> Vec<u64> {
        let mut choices = self.choices(holes);
        // The chance that a hole is still one.
        let mut open = vec![1.0; holes.len()];
        let mut round = Vec::new();
        self.standing.new.fade();
        self.standing.varied.fade();
        while round.len() < size {
            // Of a scenario that was never run nothing is known: each gets one case before any is compared with others.
            let untried = choices.iter().position(|choice| self.is_untried(choice.origin));
            let Some(best) = untried.or_else(|| best(&mut choices, &open)) else { break };
            let choice = &mut choices[best];
            choice.left -= 1;
            let record = match choice.origin {
                Origin::Column(_) => &mut self.standing.new,
                Origin::Parent(_) => &mut self.standing.varied,
            };
            record.promised += (1000.0 * choice.holes(&open)) as u64;
            for (hole, chance) in &choice.chances {
                open[*hole] *= 1.0 - chance;
            }
            round.push(self.take(choice.origin));
        }
        round
    }

    /// Whether no case was ever taken from there.
    fn is_untried(&self, origin: Origin) -> bool {
        match origin {
            Origin::Column(column) => self.standing.columns[column].next == self.plan.indices.start,
            Origin::Parent(_) => false,
        }
    }

    /// The place of the next case from there.
    fn take(&mut self, origin: Origin) -> u64 {
        let columns = self.plan.columns();
        match origin {
            Origin::Column(column) => {
                let next = &mut self.standing.columns[column].next;
                *next += 1;
                (*next - 1) * columns + column as u64
            }
            Origin::Parent(parent) => {
                let Parent { place, tried, .. } = &mut self.standing.parents[parent];
                let index = variation(*place / columns, *tried).unwrap_or_default();
                *tried += 1;
                index * columns + *place % columns
            }
        }
    }

    fn choices(&self, holes: &[(usize, usize)]) -> Vec<Choice> {
        let Standing { columns, parents, .. } = &self.standing;
        let known: u64 = columns.iter().map(|column| column.cycles).sum();
        let cases: u64 = columns.iter().map(|column| column.cases).sum();
        let usual = if cases == 0 { 1.0 } else { (known as f64 / cases as f64).max(1.0) };
        let of_columns = (0..columns.len()).map(|column| self.of_column(column, holes, usual));
        let late: Vec<bool> = (0..self.can_be_hit.len())
            .map(|profile| {
                let reachable = self.can_be_hit[profile].iter().filter(|can| **can).count();
                holes.iter().filter(|(of, _)| *of == profile).count() * LATE <= reachable
            })
            .collect();
        let of_parents = (0..parents.len())
            .filter(|parent| late[self.profile_of(parents[*parent].place)])
            .map(|parent| self.of_parent(parent, holes, usual));
        let choices = of_columns.chain(of_parents).filter(|choice| choice.left > 0);
        choices.filter(|choice| !choice.chances.is_empty()).collect()
    }

    /// The next case of a profile and scenario.
    fn of_column(&self, column: usize, holes: &[(usize, usize)], usual: f64) -> Choice {
        let scenarios = self.plan.scenarios.len();
        let (profile, scenario) = (column / scenarios, column % scenarios);
        let all: Vec<&Column> =
            self.standing.columns.iter().skip(scenario).step_by(scenarios).collect();
        let all_cycles: f64 = all.iter().map(|of| of.cycles as f64).sum();
        let cases: u64 = all.iter().map(|column| column.cases).sum();
        let cycles = if cases == 0 { usual } else { (all_cycles / cases as f64).max(1.0) };
        let hits = |bin: usize| all.iter().map(|column| column.hits[bin]).sum::<u64>() as f64;
        let chance = |bin: usize| {
            let beside = &self.beside[bin];
            let near: f64 = beside.iter().map(|bin| hits(*bin as usize)).sum();
            let near = BESIDE * near / beside.len().max(1) as f64;
            let mut expected = near / (all_cycles + usual) + BELIEF / usual;
            let mut in_vain = 0.0;
            // In this profile nothing has hit it.
            for (column, can_be_hit) in all.iter().zip(&self.can_be_hit) {
                let cycles = column.cycles as f64;
                match column.hits[bin] {
                    0 if can_be_hit[bin] => in_vain += cycles,
                    0 => {}
                    hits => expected += hits as f64 / (cycles + usual),
                }
            }
            chance(rate(expected, in_vain), cycles)
        };
        let of_profile = holes.iter().enumerate().filter(|(_, (of, _))| *of == profile);
        let chances = of_profile.map(|(hole, (_, bin))| (hole, chance(*bin))).collect();
        let origin = Origin::Column(column);
        let trust = self.standing.new.trust();
        Choice { origin, chances, cycles, left: u64::MAX, trust, at_most: f64::INFINITY }
    }

    /// The next variation of a case.
    fn of_parent(&self, parent: usize, holes: &[(usize, usize)], usual: f64) -> Choice {
        let Parent { place, cycles, bins, tried, spent } = &self.standing.parents[parent];
        let profile = self.profile_of(*place);
        let cycles = (*cycles as f64).max(1.0);
        let of_profile = self.columns_of(profile);
        // What is hit rarely by others tells more.
        let worth = |bin: u32| {
            let hits: u64 = of_profile.iter().map(|column| column.hits[bin as usize]).sum();
            1.0 / hits.max(1) as f64
        };
        let mut worths = vec![0.0; self.beside.len()];
        bins.iter().for_each(|bin| worths[*bin as usize] = worth(*bin));
        let chance = |bin: usize| {
            let near: f64 = self.beside[bin].iter().map(|bin| worths[*bin as usize]).sum();
            match near > 0.0 {
                true => {
                    chance(rate(BESIDE_OF_PARENT * near / (cycles + usual), *spent as f64), cycles)
                }
                false => 0.0,
            }
        };
        let of_profile = holes.iter().enumerate().filter(|(_, (of, _))| *of == profile);
        let chances = of_profile.map(|(hole, (_, bin))| (hole, chance(*bin)));
        let chances = chances.filter(|(_, chance)| *chance > 0.0).collect();
        let left = VARIATIONS - tried;
        let (origin, trust) = (Origin::Parent(parent), self.standing.varied.trust());
        Choice { origin, chances, cycles, left, trust, at_most: f64::INFINITY }
    }

    /// The profile of the case at a place.
    fn profile_of(&self, place: u64) -> usize {
        (place % self.plan.columns()) as usize / self.plan.scenarios.len()
    }

    fn columns_of(&self, profile: usize) -> &[Column] {
        let scenarios = self.plan.scenarios.len();
        &self.standing.columns[profile * scenarios..(profile + 1) * scenarios]
    }

    /// Remembers a case as one to be varied, or what a variation of one did.
    fn note(&mut self, case: &Case, outcome: &Outcome, opened: u64) {
        let has_opened = opened > 0;
        let columns = self.plan.columns();
        let is_hit = |bin: &u32| outcome.hits[*bin as usize] > 0;
        let bins = (0..outcome.hits.len() as u32).filter(is_hit);
        let variation_of = varied(case.place / columns);
        let Standing { new, varied, .. } = &mut self.standing;
        let record = if variation_of.is_some() { varied } else { new };
        record.kept += 1000 * opened;
        let parents = &mut self.standing.parents;
        if let Some((index, _)) = variation_of {
            let place = index * columns + case.place % columns;
            let Some(parent) = parents.iter_mut().find(|parent| parent.place == place) else {
                return;
            };
            parent.spent += outcome.cycles;
            if has_opened {
                parent.bins.extend(bins);
                parent.bins.sort_unstable();
                parent.bins.dedup();
            }
        } else if has_opened && variation(case.place / columns, 0).is_some() {
            if parents.len() == PARENTS {
                parents.remove(0);
            }
            let (cycles, bins) = (outcome.cycles, bins.collect());
            parents.push(Parent { place: case.place, cycles, bins, tried: 0, spent: 0 });
        }
    }
}

/// The choice of which most holes can be expected for each cycle.
fn best(choices: &mut [Choice], open: &[f64]) -> Option<usize> {
    loop {
        let mut best: Option<usize> = None;
        for (number, choice) in choices.iter().enumerate() {
            let is_better = best.is_none_or(|best| choice.at_most > choices[best].at_most);
            if choice.left > 0 && is_better {
                best = Some(number);
            }
        }
        let best = best?;
        // What others of the round open it need not: it may promise less than when it was last looked at.
        let choice = &choices[best];
        let promise = choice.trust * choice.holes(open) / choice.cycles;
        if promise >= choice.at_most {
            return Some(best);
        }
        choices[best].at_most = promise;
    }
}

impl Source for Guide {
    fn next(&mut self) -> Option<Case> {
        if self.issued == self.standing.round.len() && self.standing.landed == self.issued {
            self.plan_round();
        }
        let place = self.standing.round.get(self.issued)?;
        self.issued += 1;
        Some(self.plan.case(*place))
    }

    fn has_more(&mut self) -> bool {
        self.issued < self.standing.round.len()
            || !self.holes().is_empty() && self.standing.cases < self.most
    }

    fn landed(&mut self, case: &Case, outcome: &Outcome) {
        let column = case.profile * self.plan.scenarios.len() + case.scenario;
        let bins = outcome.hits.len().min(self.beside.len());
        let can_be_hit = &self.can_be_hit[case.profile];
        let opens = |bin: usize| {
            outcome.hits[bin] > 0 && can_be_hit[bin] && !self.is_hit(case.profile, bin)
        };
        let opened = (0..bins).filter(|bin| opens(*bin)).count() as u64;
        if self.leans {
            self.note(case, outcome, opened);
        }
        let column = &mut self.standing.columns[column];
        column.cases += 1;
        column.cycles += outcome.cycles;
        for (hits, is_hit) in column.hits.iter_mut().zip(&outcome.hits) {
            *hits += u64::from(*is_hit > 0);
        }
        self.standing.cases += 1;
        self.standing.landed += 1;
    }

    fn end(&self) -> End {
        self.end
    }
}

/// A guide that somebody else looks at, too.
impl Source for Rc<RefCell<Guide>> {
    fn next(&mut self) -> Option<Case> {
        self.borrow_mut().next()
    }

    fn has_more(&mut self) -> bool {
        self.borrow_mut().has_more()
    }

    fn landed(&mut self, case: &Case, outcome: &Outcome) {
        self.borrow_mut().landed(case, outcome);
    }

    fn end(&self) -> End {
        self.borrow().end()
    }
}

#[cfg(test)]
pub(super) mod tests;
