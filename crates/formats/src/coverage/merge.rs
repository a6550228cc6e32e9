//! Merges databases.
//!
//! A part lists the bins that a set of cases hits together, and equal cases always hit the same
//! bins. If one of two parts contains all cases of the other, that one is kept. Merging is
//! therefore commutative, associative and idempotent, and no case counts twice.

use super::{ContributingCase, Database, Indices, ScenarioCoverage};
use std::collections::{BTreeMap, BTreeSet};

impl Indices {
    pub(super) const fn from_index(index: u64) -> Self {
        Self { first: index, step: 1, count: 1 }
    }

    pub(super) fn last(self) -> u64 {
        self.first + (self.count - 1) * self.step
    }

    pub(super) fn contains_index(self, index: u64) -> bool {
        (self.first..=self.last()).contains(&index)
            && (index - self.first).is_multiple_of(self.step)
    }

    /// Appends the next index, if it continues the sequence.
    pub(super) fn push(&mut self, index: u64) -> bool {
        if self.count == 1 && index > self.first {
            self.step = index - self.first;
        } else if index != self.last() + self.step {
            return false;
        }
        self.count += 1;
        true
    }

    fn contains(self, other: Self) -> bool {
        self.contains_index(other.first)
            && self.contains_index(other.last())
            && (other.count == 1 || other.step.is_multiple_of(self.step))
    }

    /// Whether no index is in both.
    fn is_apart_from(self, other: Self) -> bool {
        if self.last() < other.first || other.last() < self.first {
            return true;
        }
        // Indices are below 2^47, so products of two steps fit. An index in both is `self.first +
        // k * self.step` and has the remainder of `other.first`; the smallest such k is computed,
        // because a file may name any number of cases.
        let [first, step] = [self.first, self.step].map(i128::from);
        let [other_first, other_step] = [other.first, other.step].map(i128::from);
        let (divisor, inverse) = inverse(step % other_step, other_step);
        let distance = other_first - first;
        if distance % divisor != 0 {
            return true;
        }
        let period = other_step / divisor;
        let k = (distance / divisor % period * inverse).rem_euclid(period);
        // From the first common index on, they repeat every `step * period`.
        let repeat = step * period;
        let begin = self.first.max(other.first);
        let behind = (i128::from(begin) - first - k * step).max(0);
        let common = first + k * step + (behind + repeat - 1) / repeat * repeat;
        common > i128::from(self.last().min(other.last()))
    }
}

/// The greatest common divisor `d` of a number and a modulus, and a number whose product with
/// `number / d` is 1 modulo `modulus / d`.
fn inverse(number: i128, modulus: i128) -> (i128, i128) {
    let (mut old, mut now) = ((modulus, 0), (number, 1));
    while now.0 != 0 {
        let quotient = old.0 / now.0;
        (old, now) = (now, (old.0 - quotient * now.0, old.1 - quotient * now.1));
    }
    old
}

impl ScenarioCoverage {
    /// Whether equal indices in both mean the same case.
    fn is_like(&self, other: &Self) -> bool {
        let key = |part: &Self| {
            let Self { run, profile, scenario, weights, .. } = part;
            (run.clone(), profile.clone(), scenario.clone(), weights.clone())
        };
        key(self) == key(other)
    }

    fn contains(&self, other: &Self) -> bool {
        // A part without code coverage does not replace one with it.
        self.is_like(other)
            && self.cases.contains(other.cases)
            && (self.reached.is_some() || other.reached.is_none())
    }
}

impl ContributingCase {
    /// Whether `other` hits everything that it hits and sorts first: fewer cycles, then more bins.
    fn is_less_than(&self, other: &Self) -> bool {
        let hits_all = || self.bins.iter().all(|bin| other.bins.binary_search(bin).is_ok());
        self.profile == other.profile
            && (other.cycles, std::cmp::Reverse(other.bins.len()), &other.run, &other.name, other)
                < (self.cycles, std::cmp::Reverse(self.bins.len()), &self.run, &self.name, self)
            && hits_all()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// They are of different blocks.
    #[error("one database is of block {0}, the other of block {1}")]
    Blocks(String, String),
    /// A group differs.
    #[error("group `{0}` differs: the programs that made the databases declare different coverage")]
    Groups(String),
    /// A profile differs.
    #[error("profile {0} differs: the parameters or the unreachable bins are not the same")]
    Profile(String),
    /// Code coverage points differ.
    #[error(
        "the code coverage points of RTL {0} in profile {1} differ: the models were made by \
         another version of Verilator, or other points are waived"
    )]
    Code(String, String),
}

impl Database {
    /// Merges two databases. No case counts twice.
    ///
    /// # Errors
    /// If their bins differ.
    pub fn merge(mut self, other: Self) -> Result<Self, MergeError> {
        if self.block != other.block {
            return Err(MergeError::Blocks(self.block, other.block));
        }
        let longest = self.groups.len().max(other.groups.len());
        if let Some(differs) = (0..longest).find(|at| self.groups.get(*at) != other.groups.get(*at))
        {
            let group = self.groups.get(differs).or(other.groups.get(differs));
            return Err(MergeError::Groups(
                group.map_or_else(String::new, |group| group.name.clone()),
            ));
        }
        for (name, profile) in other.profiles {
            match self.profiles.get(&name) {
                Some(known) if *known != profile => return Err(MergeError::Profile(name)),
                Some(_) => {}
                None => drop(self.profiles.insert(name, profile)),
            }
        }
        for (key, code) in other.code {
            match self.code.get(&key) {
                Some(known) if *known != code => return Err(MergeError::Code(key.0, key.1)),
                Some(_) => {}
                None => drop(self.code.insert(key, code)),
            }
        }
        self.parts.extend(other.parts);
        self.finds.extend(other.finds);
        self.leave_out();
        Ok(self)
    }

    /// Removes redundant parts and finds.
    pub(super) fn leave_out(&mut self) {
        let parts: Vec<ScenarioCoverage> = std::mem::take(&mut self.parts).into_iter().collect();
        let is_kept = |index: &usize| {
            let part = &parts[*index];
            // Two parts of the same cases differ only if somebody edited a file. The first one is
            // kept.
            !parts.iter().enumerate().any(|(other, many)| {
                other != *index && many.contains(part) && (!part.contains(many) || other < *index)
            })
        };
        let kept: BTreeSet<usize> = (0..parts.len()).filter(is_kept).collect();
        let kept = parts.iter().enumerate().filter(|(index, _)| kept.contains(index));
        self.parts = kept.map(|(_, part)| part.clone()).collect();

        let finds: Vec<ContributingCase> = std::mem::take(&mut self.finds).into_iter().collect();
        let is_kept =
            |find: &&ContributingCase| !finds.iter().any(|other| find.is_less_than(other));
        self.finds = finds.iter().filter(is_kept).cloned().collect();
    }
}

/// Marks the parts that count, so that no case counts twice. Of two parts with common cases,
/// neither of which contains the other, the larger one counts.
pub(super) fn disjoint(parts: &[&ScenarioCoverage]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(parts[*index].cases.count), *index));
    let mut counted = vec![false; parts.len()];
    let mut taken: BTreeMap<_, Vec<Indices>> = BTreeMap::new();
    for index in order {
        let ScenarioCoverage { run, profile, scenario, weights, cases, .. } = parts[index];
        let others = taken.entry((run, profile, scenario, weights)).or_default();
        if others.iter().all(|other| other.is_apart_from(*cases)) {
            counted[index] = true;
            others.push(*cases);
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_indices_are_found_without_trying_all() {
        let has_common = |one: Indices, other: Indices| {
            (0..one.count).any(|place| other.contains_index(one.first + place * one.step))
        };
        let all = (0..9).flat_map(|first| {
            (1..7).flat_map(move |step| (1..5).map(move |count| Indices { first, step, count }))
        });
        let all: Vec<Indices> = all.collect();
        for one in &all {
            for other in &all {
                let apart = one.is_apart_from(*other);
                assert_eq!(apart, !has_common(*one, *other), "{one:?}, {other:?}");
            }
        }
        // Even and odd indices.
        let [even, odd] = [0, 1].map(|first| Indices { first, step: 2, count: 1 << 45 });
        assert!(even.is_apart_from(odd) && !even.is_apart_from(even));
    }

    #[test]
    fn indices_that_no_run_has_are_rejected() {
        let read = |text: &str| serde_json::from_str::<Indices>(text).is_ok();
        assert!(read(r#"{"first": 3, "step": 2, "count": 5}"#));
        for bad in [
            r#"{"first": 0, "step": 0, "count": 1}"#,
            r#"{"first": 0, "step": 1, "count": 0}"#,
            r#"{"first": 1, "step": 1, "count": 18446744073709551615}"#,
            r#"{"first": 18446744073709551615, "step": 1, "count": 2}"#,
            r#"{"first": 140737488355328, "step": 1, "count": 1}"#,
            r#"{"first": 0, "step": 18446744073709551615, "count": 3}"#,
        ] {
            assert!(!read(bad), "{bad}");
        }
    }
}
