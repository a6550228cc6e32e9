//! The memory model with a symbolic address: one arbitrary word of each memory is exact.

use super::super::candidates::Candidate;
use super::super::{Aig, FALSE, Interface, Literal, TRUE, split};
use super::{Counts, Miter, STARTED, map_literal};
use crate::OF;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Miter {
    /// 1 if the port `read` reads the followed address, and every read there so far returned the
    /// last value written. `None` if the memory cannot be followed.
    pub(in super::super) fn word(
        &mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        read: &str,
    ) -> Option<Literal> {
        let memory = read.split_once(OF)?.1;
        let ports = [Ports::from_side(aig, interface, memory, &self.sides[0])];
        let (at, [word]) = self.follow(&ports, false);
        let [of_rtl] = &ports;
        let mut broken = FALSE;
        for (port, bits) in &of_rtl.reads {
            let is_there = self.is_at(&of_rtl.places[port], &at);
            let breaks = self.differs(bits, &word);
            let breaks = self.and(is_there, breaks);
            broken = self.or(broken, breaks);
        }
        let is_read = self.is_at(&of_rtl.places[read], &at);
        let follows = self.so_far(broken);
        Some(self.and(is_read, follows))
    }

    /// Follows one word of each followed memory on both sides, at the same arbitrary address. Reads
    /// of both sides at the same other address return words with equal abstractions.
    ///
    /// Counts cycles in which all reads so far were consistent with this, and also whether the
    /// abstractions of the followed words differ.
    pub(in super::super) fn words(
        &mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        word_abstractions: &BTreeMap<String, Aig>,
    ) -> Counts {
        let (mut broken, mut unrelated) = (self.proved ^ 1, FALSE);
        for memory in followed(aig, interface) {
            let meaning = word_abstractions.get(memory);
            let ports =
                [0, 1].map(|side| Ports::from_side(aig, interface, memory, &self.sides[side]));
            let (at, words) = self.follow(&ports, false);
            let breaks = self.inconsistent(&ports, &at, &words, meaning);
            broken = self.or(broken, breaks);
            let differs = self.unrelated([&words[0], &words[1]], meaning);
            unrelated = self.or(unrelated, differs);
        }
        Counts { given: self.so_far(broken), more: unrelated, ..Counts::ALL }
    }

    /// Follows one word of each followed memory on both sides, at the same arbitrary address. Each
    /// side begins with a word of its own. Reads of both sides at the same other address return
    /// equal words.
    ///
    /// Returns whether all reads so far were consistent with this, and whether the sides write
    /// another address differently or one of the candidates is wrong: one about the word if both
    /// words differ.
    pub(super) fn unwritten(
        &mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        candidates: &[Candidate],
    ) -> [Literal; 2] {
        let (mut broken, mut apart) = (FALSE, FALSE);
        for memory in followed(aig, interface) {
            let ports =
                [0, 1].map(|side| Ports::from_side(aig, interface, memory, &self.sides[side]));
            let (at, words) = self.follow(&ports, true);
            let breaks = self.inconsistent(&ports, &at, &words, None);
            broken = self.or(broken, breaks);
            let is_known = self.differs(&words[0], &words[1]) ^ 1;
            for candidate in candidates {
                if let Candidate::Word(of, written) = candidate
                    && of == memory
                {
                    let wrong = self.contradicted(written, &at, is_known);
                    apart = self.or(apart, wrong);
                }
            }
            let [left, right] = &ports;
            for (port, enables) in &left.enables {
                let others = &right.enables[port];
                let enables_differ = self.differs(enables, others);
                let addresses_differ = self.differs(&left.addresses[port], &right.addresses[port]);
                let elsewhere = self.is_at(&left.addresses[port], &at) ^ 1;
                let mut writes = FALSE;
                for (bit, enable) in enables.iter().enumerate() {
                    let data_differ = self.xor(left.values[port][bit], right.values[port][bit]);
                    let data_differ = self.and(data_differ, elsewhere);
                    let differs = self.or(data_differ, addresses_differ);
                    let differs = self.and(*enable, differs);
                    writes = self.or(writes, differs);
                }
                let differs = self.or(enables_differ, writes);
                apart = self.or(apart, differs);
            }
        }
        for candidate in candidates {
            if let Candidate::Never(output) = candidate {
                let wrong = self.is_one(aig, output);
                apart = self.or(apart, wrong);
            }
        }
        // The ports have no values in the reset cycle.
        broken = self.and(broken, STARTED);
        [self.so_far(broken), apart]
    }

    /// For each followed memory an arbitrary constant address, and a literal that is 1 once all
    /// bits of the word there were written.
    pub(in super::super) fn written<'a>(
        &mut self,
        aig: &'a Aig,
        interface: &Interface<'_>,
    ) -> BTreeMap<&'a str, (Vec<Literal>, Literal)> {
        let mut all = BTreeMap::new();
        for memory in followed(aig, interface) {
            let ports = Ports::from_side(aig, interface, memory, &self.sides[0]);
            let at: Vec<Literal> = (0..ports.depth()).map(|_| self.constant()).collect();
            let mut is_known = TRUE;
            for bit in 0..ports.width() {
                let place = self.latches.len();
                let was_written = self.latch();
                let mut is_written = was_written;
                for (port, enables) in &ports.enables {
                    let is_there = self.is_at(&ports.addresses[port], &at);
                    let enable = enables.get(bit).copied().unwrap_or(FALSE);
                    let writes = self.and(is_there, enable);
                    is_written = self.or(is_written, writes);
                }
                // The ports have no values in the reset cycle.
                self.latches[place] = self.and(is_written, STARTED);
                is_known = self.and(is_known, was_written);
            }
            all.insert(memory, (at, is_known));
        }
        all
    }

    /// 1 if a read is not that of the followed words, or those of equal other addresses are
    /// unrelated.
    fn inconsistent(
        &mut self,
        ports: &[Ports<'_>; 2],
        at: &[Literal],
        words: &[Vec<Literal>; 2],
        meaning: Option<&Aig>,
    ) -> Literal {
        let mut broken = FALSE;
        for port in ports[0].reads.keys() {
            let places = [0, 1].map(|side| &ports[side].places[port]);
            let reads = [0, 1].map(|side| &ports[side].reads[port]);
            let there = places.map(|place| self.is_at(place, at));
            for side in 0..2 {
                let differs = self.differs(reads[side], &words[side]);
                let breaks = self.and(there[side], differs);
                broken = self.or(broken, breaks);
            }
            let apart = self.differs(places[0], places[1]);
            let elsewhere = self.and(there[0] ^ 1, apart ^ 1);
            let differs = self.unrelated(reads, meaning);
            let breaks = self.and(elsewhere, differs);
            broken = self.or(broken, breaks);
        }
        broken
    }

    /// 1 if the abstractions of two words differ.
    fn unrelated(&mut self, words: [&Vec<Literal>; 2], meaning: Option<&Aig>) -> Literal {
        let [left, right] = words.map(|word| match meaning {
            Some(meaning) => self.copy(meaning, word),
            None => word.clone(),
        });
        self.differs(&left, &right)
    }

    /// Instantiates a combinational network with a word as its inputs and returns its outputs.
    fn copy(&mut self, network: &Aig, word: &[Literal]) -> Vec<Literal> {
        let mut values: HashMap<u32, Literal> = HashMap::from([(0, FALSE)]);
        for (node, name) in &network.inputs {
            values.insert(*node, word.get(split(name).1 as usize).copied().unwrap_or(FALSE));
        }
        let value = |values: &HashMap<u32, Literal>, literal: Literal| {
            values[&(literal / 2)] ^ (literal & 1)
        };
        for (node, operands) in &network.ands {
            let [left, right] = operands.map(|operand| value(&values, operand));
            let miter = self.and(left, right);
            values.insert(*node, miter);
        }
        let mut outputs = vec![FALSE; network.outputs.len()];
        for (literal, name) in &network.outputs {
            let bit = split(name).1 as usize;
            outputs.resize(outputs.len().max(bit + 1), FALSE);
            outputs[bit] = value(&values, *literal);
        }
        outputs
    }

    /// 1 if two bit vectors differ.
    fn differs(&mut self, left: &[Literal], right: &[Literal]) -> Literal {
        let mut all = FALSE;
        for (left, right) in left.iter().zip(right) {
            let one = self.xor(*left, *right);
            all = self.or(all, one);
        }
        all
    }

    /// An arbitrary constant address, and the word that each side of the memory holds there. All
    /// sides begin with the same arbitrary word; with `is_apart`, each one has an arbitrary word
    /// after the reset cycle.
    fn follow<const SIDES: usize>(
        &mut self,
        sides: &[Ports<'_>; SIDES],
        is_apart: bool,
    ) -> (Vec<Literal>, [Vec<Literal>; SIDES]) {
        let Ports { enables, .. } = &sides[0];
        let wide = sides[0].width();
        let at: Vec<Literal> = (0..sides[0].depth()).map(|_| self.constant()).collect();
        let unknown: Vec<Literal> = (0..wide).map(|_| self.input("")).collect();
        // The order of two writes in one cycle is unknown.
        let last: BTreeMap<&str, Literal> =
            enables.keys().map(|port| (*port, self.input(""))).collect();
        let words = sides.each_ref().map(|Ports { enables, values, addresses, .. }| {
            let first = self.latches.len();
            let word: Vec<Literal> = unknown
                .iter()
                .map(|unknown| {
                    let latch = self.latch();
                    if is_apart { latch } else { self.choose(STARTED, latch, *unknown) }
                })
                .collect();
            let mut next = word.clone();
            let mut taken = vec![FALSE; wide];
            for (port, is_last) in &last {
                let is_there = self.is_at(&addresses[port], &at);
                for (bit, enable) in enables[port].iter().enumerate() {
                    let writes = self.and(is_there, *enable);
                    let may = self.or(*is_last, taken[bit] ^ 1);
                    let stays = self.and(writes, may);
                    next[bit] = self.choose(stays, values[port][bit], next[bit]);
                    taken[bit] = self.or(taken[bit], writes);
                }
            }
            if is_apart {
                for bit in &mut next {
                    let own = self.input("");
                    *bit = self.choose(STARTED, *bit, own);
                }
            }
            self.latches[first..first + wide].copy_from_slice(&next);
            word
        });
        (at, words)
    }

    /// An arbitrary bit that is the same in every cycle.
    fn constant(&mut self) -> Literal {
        let place = self.latches.len();
        let (latch, unknown) = (self.latch(), self.input(""));
        let held = self.choose(STARTED, latch, unknown);
        self.latches[place] = held;
        held
    }

    /// 1 if the addresses are equal; missing high bits of `address` are 0.
    fn is_at(&mut self, address: &[Literal], at: &[Literal]) -> Literal {
        let mut is_there = TRUE;
        for (bit, at) in at.iter().enumerate() {
            let differs = self.xor(address.get(bit).copied().unwrap_or(FALSE), *at);
            is_there = self.and(is_there, differs ^ 1);
        }
        is_there
    }
}

fn followed<'a>(aig: &'a Aig, interface: &Interface<'_>) -> BTreeSet<&'a str> {
    let names =
        aig.inputs.iter().filter_map(|(_, name)| split(name).0.strip_prefix(interface.read));
    names.filter_map(|port| Some(port.split_once(OF)?.1)).collect()
}

/// The ports of a memory on one side: the bits of each port, by port name.
struct Ports<'a> {
    reads: BTreeMap<&'a str, Vec<Literal>>,
    places: BTreeMap<&'a str, Vec<Literal>>,
    enables: BTreeMap<&'a str, Vec<Literal>>,
    values: BTreeMap<&'a str, Vec<Literal>>,
    addresses: BTreeMap<&'a str, Vec<Literal>>,
}

impl<'a> Ports<'a> {
    fn from_side(aig: &'a Aig, interface: &Interface<'_>, memory: &str, side: &[Literal]) -> Self {
        let [enable, data, address] = interface.write;
        let outputs = |prefix: &str| {
            let bits = aig
                .outputs
                .iter()
                .map(|(literal, name)| (map_literal(side, *literal), name.as_str()));
            of_memory(bits, prefix, memory)
        };
        let inputs = aig.inputs.iter().map(|(node, name)| (side[*node as usize], name.as_str()));
        Self {
            reads: of_memory(inputs, interface.read, memory),
            places: outputs(interface.read_at[0]),
            enables: outputs(enable),
            values: outputs(data),
            addresses: outputs(address),
        }
    }

    /// The number of bits of a word.
    fn width(&self) -> usize {
        widest(&self.reads).max(widest(&self.enables))
    }

    /// The number of bits of an address.
    fn depth(&self) -> usize {
        widest(&self.places).max(widest(&self.addresses))
    }
}

fn widest(ports: &BTreeMap<&str, Vec<Literal>>) -> usize {
    ports.values().map(Vec::len).max().unwrap_or(0)
}

/// Selects the bits of a memory whose names have this prefix, by port name without the prefix.
fn of_memory<'a>(
    bits: impl Iterator<Item = (Literal, &'a str)>,
    prefix: &str,
    memory: &str,
) -> BTreeMap<&'a str, Vec<Literal>> {
    let mut ports: BTreeMap<&str, Vec<Literal>> = BTreeMap::new();
    for (literal, name) in bits {
        let (port, bit) = split(name);
        let Some(port) = port.strip_prefix(prefix) else { continue };
        if port.split_once(OF).is_some_and(|(_, of)| of == memory) {
            let bits = ports.entry(port).or_default();
            bits.resize(bits.len().max(bit as usize + 1), FALSE);
            bits[bit as usize] = literal;
        }
    }
    ports
}
