//! Invariants that engines write.

use super::cnf::Cnf;
use super::network::Network;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Prefix of the names that ABC gives to latches.
const LATCH: &str = "lo";
/// How ABC's `scorr -w` begins the line of a latch that it merged.
const MERGED: &str = "Original flop ";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cube(pub(super) Vec<(u32, bool)>);

impl Cube {
    /// Whether the initial state, in which all latches are 0, is in the cube.
    pub(super) fn is_initial(&self) -> bool {
        self.0.iter().all(|(_, value)| !value)
    }

    fn literals(&self, state: &[i32]) -> Vec<i32> {
        let literal = |(latch, value): &(u32, bool)| {
            let literal = state[*latch as usize];
            if *value { literal } else { -literal }
        };
        self.0.iter().map(literal).collect()
    }
}

/// An invariant: the states outside of these cubes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invariant {
    pub(super) cubes: Vec<Cube>,
}

impl Invariant {
    /// Parses the invariant that `pdr -d -I` writes; `None` if it is malformed.
    pub(crate) fn parse(file: &str) -> Option<Self> {
        let mut latches = Vec::new();
        let mut cubes = Vec::new();
        let mut is_complete = false;
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some(first) = words.next() else { continue };
            match first {
                ".ilb" => latches = words.map(latch).collect::<Option<Vec<u32>>>()?,
                ".e" => is_complete = true,
                word if word.starts_with('.') => {}
                _ if latches.is_empty() => return None,
                values => {
                    if values.len() != latches.len() || words.next() != Some("1") {
                        return None;
                    }
                    let fixed = values.bytes().zip(&latches).filter(|(value, _)| *value != b'-');
                    let value = |(value, latch): (u8, &u32)| match value {
                        b'0' => Some((*latch, false)),
                        b'1' => Some((*latch, true)),
                        _ => None,
                    };
                    cubes.push(Cube(fixed.map(value).collect::<Option<_>>()?));
                }
            }
        }
        is_complete.then_some(Self { cubes })
    }

    /// Adds the latches that `scorr -w` merged, from its output. All latches begin with 0, so
    /// merged ones are equal and never inverse.
    pub(crate) fn with_merged(mut self, printed: &str) -> Self {
        for line in printed.lines().filter_map(|line| line.trim().strip_prefix(MERGED)) {
            let words: Vec<&str> = line.trim_end_matches('.').split(' ').collect();
            let [merged, "is", "proved", "equivalent", "to", with @ ..] = &words[..] else {
                continue;
            };
            match (latch(merged), with) {
                (Some(merged), ["constant"]) => self.cubes.push(Cube(vec![(merged, true)])),
                (Some(merged), ["flop", with]) => {
                    let Some(with) = latch(with) else { continue };
                    let differ = |value| Cube(vec![(merged, value), (with, !value)]);
                    self.cubes.extend([differ(true), differ(false)]);
                }
                _ => {}
            }
        }
        self
    }

    /// These states of so many latches. Bit 63 of a state is the first latch.
    pub(crate) fn from_states(states: &BTreeSet<u64>, latches: usize) -> Self {
        let mut cubes = Vec::new();
        let states: Vec<u64> = states.iter().copied().collect();
        without(&states, latches, &mut Vec::new(), &mut cubes);
        Self { cubes }
    }

    pub(crate) fn clauses(&self) -> usize {
        self.cubes.len()
    }

    /// Whether it names only latches of the network.
    pub(super) fn is_of(&self, network: &Network) -> bool {
        let latches = self.cubes.iter().flat_map(|cube| &cube.0);
        latches.into_iter().all(|(latch, _)| (*latch as usize) < network.latches.len())
    }

    /// Assumes that a state is in the invariant, if `guard` is 1.
    pub(crate) fn assume(&self, cnf: &mut Cnf, guard: i32, state: &[i32]) {
        for cube in &self.cubes {
            let literals = cube.literals(state).into_iter().chain([guard]);
            cnf.clause(&literals.map(|literal| -literal).collect::<Vec<i32>>());
        }
    }

    pub(crate) fn outside(&self, cnf: &mut Cnf, state: &[i32]) -> i32 {
        let cubes: Vec<i32> =
            self.cubes.iter().map(|cube| cnf.add_and(&cube.literals(state))).collect();
        cnf.any(&cubes)
    }
}

/// Adds the cubes of a prefix that have none of these states, which are in ascending order.
fn without(states: &[u64], latches: usize, prefix: &mut Vec<(u32, bool)>, cubes: &mut Vec<Cube>) {
    let depth = prefix.len();
    if states.is_empty() {
        cubes.push(Cube(prefix.clone()));
    } else if depth < latches {
        let is_low = |state: &u64| state >> (63 - depth) & 1 == 0;
        let (low, high) = states.split_at(states.partition_point(is_low));
        for (states, value) in [(low, false), (high, true)] {
            prefix.push((depth as u32, value));
            without(states, latches, prefix, cubes);
            prefix.pop();
        }
    }
}

fn latch(name: &str) -> Option<u32> {
    name.strip_prefix(LATCH)?.parse().ok()
}
