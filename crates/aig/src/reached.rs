//! Asks whether inputs can make outputs of a network take values.

use super::miter::{Miter, STARTED, map_literal};
use super::{Aig, EquivalenceQuery, FALSE, FREE, Interface, Literal, TRUE, split};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Outputs of which one is to take a value, from the cycle after the reset cycle on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    pub outputs: Vec<(String, bool)>,
    /// Whether one of the outputs is to change instead, between two such cycles.
    pub changes: bool,
}

impl Aig {
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(|(_, name)| name.as_str())
    }

    /// Asks whether one of the goals can be reached. With `illegal`, only while no output whose
    /// name begins with it was 1 so far.
    pub fn reaches(
        &self,
        interface: &Interface<'_>,
        goals: &[&Goal],
        illegal: Option<&str>,
    ) -> EquivalenceQuery {
        let mut miter = Miter::new(self, interface, 0, &self.all_nodes(), None);
        let any = self.any(&mut miter, goals);
        let given = self.legal_so_far(&mut miter, illegal);
        match miter.and(any, given) {
            FALSE => EquivalenceQuery::Same,
            reached => miter.file(reached),
        }
    }

    /// For each goal, whether the structure of the network shows that nothing reaches it.
    pub fn constants(&self, interface: &Interface<'_>, goals: &[&Goal]) -> Vec<bool> {
        let mut miter = Miter::new(self, interface, 0, &self.all_nodes(), None);
        let is_constant = |goal: &&Goal| {
            let any = self.any(&mut miter, &[goal]);
            miter.and(any, STARTED) == FALSE
        };
        goals.iter().map(is_constant).collect()
    }

    /// For each of these outputs, whether the structure of the network shows that it is the bit of
    /// a register that holds its value.
    pub fn find_held_outputs(&self, interface: &Interface<'_>, outputs: &[&str]) -> Vec<bool> {
        let miter = Miter::new(self, interface, 0, &self.all_nodes(), None);
        let literals = self.by_name();
        let next: HashMap<u32, Literal> =
            self.latches.iter().map(|latch| (latch.node, latch.next)).collect();
        let is_held = |name: &&str| {
            let Some(literal) = literals.get(name) else { return false };
            let node = literal / 2;
            let value = map_literal(&miter.sides[0], node * 2);
            next.get(&node).is_some_and(|next| map_literal(&miter.sides[0], *next) == value)
        };
        outputs.iter().map(is_held).collect()
    }

    /// 1 while one of the goals is reached.
    fn any(&self, miter: &mut Miter, goals: &[&Goal]) -> Literal {
        let literals = self.by_name();
        let mut any = FALSE;
        for goal in goals {
            for (name, value) in &goal.outputs {
                // Nothing is proved about an output that is missing.
                let Some(literal) = literals.get(name.as_str()) else {
                    any = TRUE;
                    continue;
                };
                let mut reached = map_literal(&miter.sides[0], *literal) ^ Literal::from(!*value);
                if goal.changes {
                    let before = miter.remembers(STARTED);
                    let changes = miter.changes(reached);
                    reached = miter.and(before, changes);
                }
                any = miter.or(any, reached);
            }
        }
        any
    }

    /// Which goals a trace reaches: the names of the bits that are 1 in each cycle after the reset
    /// cycle. Registers without an initial value, and what is free in the reset cycle, are `fill`.
    pub fn reached_by(
        &self,
        interface: &Interface<'_>,
        goals: &[&Goal],
        trace: &[Vec<String>],
        fill: bool,
    ) -> Vec<bool> {
        let literals = self.by_name();
        let mut values = vec![false; self.highest() as usize + 1];
        for latch in &self.latches {
            values[latch.node as usize] = latch.initial.unwrap_or(fill);
        }
        let value = |values: &[bool], literal: Literal| {
            values[(literal / 2) as usize] != (literal & 1 == 1)
        };
        let mut reached = vec![false; goals.len()];
        let mut before: BTreeMap<&str, bool> = BTreeMap::new();
        for cycle in 0..=trace.len() {
            let ones: HashSet<&str> = match cycle.checked_sub(1) {
                Some(place) => trace[place].iter().map(String::as_str).collect(),
                None => HashSet::new(),
            };
            for (node, name) in &self.inputs {
                let in_reset = cycle == 0 && interface.reset == Some((split(name).0, true));
                let is_free = cycle == 0 && fill && name.starts_with(FREE);
                values[*node as usize] = in_reset || is_free || ones.contains(name.as_str());
            }
            for (node, [left, right]) in &self.ands {
                values[*node as usize] = value(&values, *left) && value(&values, *right);
            }
            if cycle > 0 {
                for (goal, reached) in goals.iter().zip(&mut reached) {
                    *reached |= goal.outputs.iter().any(|(name, wanted)| {
                        let Some(literal) = literals.get(name.as_str()) else { return false };
                        let now = value(&values, *literal);
                        match goal.changes {
                            true => before.get(name.as_str()).is_some_and(|before| *before != now),
                            false => now == *wanted,
                        }
                    });
                }
                for (name, _) in goals.iter().flat_map(|goal| &goal.outputs) {
                    if let Some(literal) = literals.get(name.as_str()) {
                        before.insert(name, value(&values, *literal));
                    }
                }
            }
            let next: Vec<bool> =
                self.latches.iter().map(|latch| value(&values, latch.next)).collect();
            for (latch, next) in self.latches.iter().zip(next) {
                values[latch.node as usize] = next;
            }
        }
        reached
    }

    fn by_name(&self) -> HashMap<&str, Literal> {
        self.outputs.iter().map(|(literal, name)| (name.as_str(), *literal)).collect()
    }
}
