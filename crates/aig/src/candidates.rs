//! Candidate invariants about written words of memories, for proofs that the others reach nothing.
//!
//! A design knows which words of a memory it may read: one bit of a register is there for each, or
//! they are a ring of which it counts the entries. Engines do not find this by themselves. Those
//! that hold by induction are a part of each query that they help, so that its proof covers
//! them.

use super::gates::Operands;
use super::miter::{Miter, STARTED, map_literal};
use super::{Aig, EquivalenceQuery, FALSE, Interface, Literal, TRUE, split};
use crate::OF;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What may hold in every cycle of the RTL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Candidate {
    /// An output of the monitor is 0: an assertion of the block holds.
    Never(String),
    /// Registers say which words of the memory with this number were written.
    Word(String, Written),
}

/// The bits of a register, from the lowest one.
type Bits = Vec<Literal>;

/// The words that were written, or a relation of registers that this depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Written {
    /// Those whose bit is 1.
    Marked(Bits),
    /// As many as are counted, from the first entry on.
    From { first: Bits, count: Bits },
    /// As many as are counted, before the free entry.
    Before { free: Bits, count: Bits },
    /// First entry and count give the free entry.
    Ring { first: Bits, count: Bits, free: Bits },
    /// Those behind an entry and before another one; all, if both are the same. The low bits of a
    /// number are its address.
    Between { entry: Bits, free: Bits },
}

impl Aig {
    /// Candidates from the registers of the graph, and that outputs with this prefix are 0. `map`
    /// is its `-vmap` file.
    pub fn candidates(&self, interface: &Interface<'_>, map: &str, never: &str) -> Vec<Candidate> {
        let registers = self.registers(map);
        let operands = Operands::from_aig(self);
        // The registers of which each bit may give that of an address.
        let of_address = |address: BTreeMap<u32, Literal>| {
            let cones = address.into_values().map(|bit| operands.cone_in_cycle([bit]));
            let cones: Vec<HashSet<u32>> = cones.collect();
            let gives = |bits: &&Bits| {
                let mut pairs = bits.iter().zip(&cones);
                bits.len() >= cones.len() && pairs.all(|(bit, cone)| cone.contains(&(bit / 2)))
            };
            registers.iter().filter(gives).cloned().collect::<Vec<Bits>>()
        };
        let is_never = |name: &&str| name.starts_with(never);
        let mut all: BTreeSet<Candidate> =
            self.outputs().filter(is_never).map(|name| Candidate::Never(name.to_owned())).collect();
        for (memory, [reads, writes]) in self.addresses(interface) {
            let deep = reads.iter().chain(&writes).map(BTreeMap::len).max().unwrap_or(0);
            let of_width = |width: usize| registers.iter().filter(move |bits| bits.len() == width);
            let mut candidate = |written| all.insert(Candidate::Word(memory.clone(), written));
            for bits in of_width(1 << deep) {
                candidate(Written::Marked(bits.clone()));
            }
            let [firsts, frees] = [reads, writes].map(|ports| -> BTreeSet<Bits> {
                ports.into_iter().flat_map(of_address).collect()
            });
            for free in frees.iter().filter(|free| free.len() > deep) {
                for entry in of_width(free.len()).filter(|entry| *entry != free) {
                    let (entry, free) = (entry.clone(), free.clone());
                    candidate(Written::Between { entry, free });
                }
            }
            let [firsts, frees] = [firsts, frees].map(|all| -> Vec<Bits> {
                all.into_iter().filter(|bits| bits.len() == deep).collect()
            });
            for count in of_width(deep + 1) {
                for first in &firsts {
                    let (first, count) = (first.clone(), count.clone());
                    candidate(Written::From { first, count });
                }
                for free in &frees {
                    let (free, count) = (free.clone(), count.clone());
                    candidate(Written::Before { free, count });
                }
                for first in &firsts {
                    for free in frees.iter().filter(|free| *free != first) {
                        let [first, count, free] = [first, count, free].map(Bits::clone);
                        candidate(Written::Ring { first, count, free });
                    }
                }
            }
        }
        all.into_iter().collect()
    }

    fn registers(&self, map: &str) -> Vec<Bits> {
        let mut all: BTreeMap<&str, BTreeMap<u32, Literal>> = BTreeMap::new();
        for (index, bits) in super::joined::bits(map) {
            let Some(latch) = self.latches.get(index) else { continue };
            for (bit, name) in bits {
                if let Ok(bit) = bit.parse() {
                    all.entry(name).or_default().insert(bit, latch.node * 2);
                }
            }
        }
        let all: BTreeSet<Bits> =
            all.into_values().map(|bits| bits.into_values().collect()).collect();
        all.into_iter().collect()
    }

    /// The addresses of the read and write ports of each followed memory.
    fn addresses(
        &self,
        interface: &Interface<'_>,
    ) -> BTreeMap<String, [Vec<BTreeMap<u32, Literal>>; 2]> {
        let mut ports: BTreeMap<(&str, usize, &str), BTreeMap<u32, Literal>> = BTreeMap::new();
        for (literal, name) in &self.outputs {
            let (port, bit) = split(name);
            for (kind, prefix) in [interface.read_at[0], interface.write[2]].iter().enumerate() {
                let port = port.strip_prefix(prefix).and_then(|port| port.split_once(OF));
                if let Some((number, memory)) = port {
                    ports.entry((memory, kind, number)).or_default().insert(bit, *literal);
                }
            }
        }
        let mut all: BTreeMap<String, [Vec<BTreeMap<u32, Literal>>; 2]> = BTreeMap::new();
        for ((memory, kind, _), bits) in ports {
            all.entry(memory.to_owned()).or_default()[kind].push(bits);
        }
        all
    }

    /// Asks whether one of the candidates is wrong although all of them held so far. If the answer
    /// is no for each of them, all hold.
    pub fn contradicts(
        &self,
        interface: &Interface<'_>,
        candidates: &[Candidate],
        one: &Candidate,
    ) -> EquivalenceQuery {
        let mut miter = Miter::new(self, interface, 0, &self.all_nodes(), None);
        let written = miter.written(self, interface);
        let mut broken = FALSE;
        let mut wrong = FALSE;
        for candidate in candidates {
            let breaks = match candidate {
                Candidate::Never(output) => miter.is_one(self, output),
                Candidate::Word(memory, word) => match written.get(memory.as_str()) {
                    Some((at, is_known)) => miter.contradicted(word, at, *is_known),
                    None => TRUE,
                },
            };
            broken = miter.or(broken, breaks);
            if candidate == one {
                wrong = breaks;
            }
        }
        broken = miter.and(broken, STARTED);
        let held = miter.held_before(broken);
        wrong = miter.and(wrong, held);
        match miter.and(wrong, STARTED) {
            FALSE => EquivalenceQuery::Same,
            wrong => miter.file(wrong),
        }
    }
}

impl Miter {
    /// An output of the first side.
    pub(super) fn is_one(&self, aig: &Aig, output: &str) -> Literal {
        let found = aig.outputs.iter().find(|(_, name)| name == output);
        found.map_or(TRUE, |(literal, _)| map_literal(&self.sides[0], *literal))
    }

    /// 1 if the registers of the first side say that the word at an address was written, and
    /// `is_known` is 0; for a ring, if its registers contradict each other.
    pub(super) fn contradicted(
        &mut self,
        written: &Written,
        at: &[Literal],
        is_known: Literal,
    ) -> Literal {
        let side = &self.sides[0];
        let value =
            |bits: &Bits| -> Bits { bits.iter().map(|bit| map_literal(side, *bit)).collect() };
        let says = match written {
            Written::Marked(bits) => {
                let bits = value(bits);
                self.selected(&bits, at)
            }
            Written::From { first, count } => {
                let [first, count] = [first, count].map(value);
                let distance = self.minus(at, &first, TRUE);
                self.is_less(&distance, &count)
            }
            Written::Before { free, count } => {
                let [free, count] = [free, count].map(value);
                let distance = self.minus(&free, at, FALSE);
                self.is_less(&distance, &count)
            }
            Written::Between { entry, free } => {
                let [entry, free] = [entry, free].map(value);
                let distance = self.minus(at, &entry, FALSE);
                let entries = self.minus(&free, &entry, FALSE);
                self.is_less(&distance, &entries)
            }
            Written::Ring { first, count, free } => {
                let [first, count, free] = [first, count, free].map(value);
                let entries = self.minus(&free, &first, TRUE);
                let mut differs = FALSE;
                for (left, right) in entries.iter().zip(&count) {
                    let bit = self.xor(*left, *right);
                    differs = self.or(differs, bit);
                }
                return differs;
            }
        };
        self.and(says, is_known ^ 1)
    }

    fn selected(&mut self, bits: &[Literal], at: &[Literal]) -> Literal {
        let mut left = bits.to_vec();
        for at in at {
            left = left
                .chunks(2)
                .map(|pair| match pair {
                    [low, high] => self.choose(*at, *high, *low),
                    _ => FALSE,
                })
                .collect();
        }
        left.first().copied().unwrap_or(FALSE)
    }

    /// `left - right`, less 1 if `carry` is 0, modulo the width of `left`.
    fn minus(&mut self, left: &[Literal], right: &[Literal], carry: Literal) -> Bits {
        let mut carry = carry;
        let mut all = Vec::new();
        for (place, left) in left.iter().enumerate() {
            let right = right.get(place).copied().unwrap_or(FALSE) ^ 1;
            let half = self.xor(*left, right);
            all.push(self.xor(half, carry));
            let both = self.and(*left, right);
            let passed = self.and(half, carry);
            carry = self.or(both, passed);
        }
        all
    }

    fn is_less(&mut self, left: &[Literal], right: &[Literal]) -> Literal {
        let mut less = FALSE;
        for place in 0..left.len().max(right.len()) {
            let [left, right] = [left, right].map(|bits| bits.get(place).copied().unwrap_or(FALSE));
            let differs = self.xor(left, right);
            less = self.choose(differs, right, less);
        }
        less
    }
}
