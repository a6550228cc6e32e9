//! And-inverter graphs from Yosys, and the miters that compare an RTL with its mutants.
//!
//! It is a crate because it is optimised: proofs spend their time here and in the engines.
//!
//! ```
//! use cosim_aig::Aig;
//!
//! // An AND gate of two inputs.
//! let text = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n";
//! assert!(Aig::parse(text).is_some());
//! ```

mod candidates;
mod freed;
mod gates;
mod joined;
mod judge;
mod miter;
mod reached;
mod reads;
mod simulation;
mod unknown;

pub use candidates::Candidate;
use cosim_block::words::split;
pub use freed::Freed;
use gates::Operands;
pub use judge::{Contradiction, Pins};
use miter::{Counts, FreedRegisters, Miter, OwnReads, map_literal};
pub use reached::Goal;
use serde::{Deserialize, Serialize};
pub use simulation::{Seen, Violation};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub use unknown::{Governed, UnknownWords, Unknowns};

/// Prefix of the inputs that have any value in every cycle, also in the reset cycle that a case
/// begins with: closed latches, and undefined bits, which two copies of an RTL need not share.
pub const FREE: &str = "cosim_free_";

/// Separates the number of a memory port from that of its memory, if the memory can be followed: it
/// has a power-of-two size from address 0, only unclocked read ports, and at most two write ports.
pub const OF: &str = "_of_";

/// A memory that is cut out. Ports are the stems of their names: data of read port `1` is the input
/// `cosim_read_1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutMemory {
    /// Width of a word in bits.
    pub width: usize,
    /// The number of words.
    pub size: u64,
    /// The lowest address.
    pub offset: i64,
    /// The initial bits of words, the lowest first; others are unknown.
    pub initial: BTreeMap<u64, Vec<Option<bool>>>,
    /// The unclocked read ports. Clocked ones are not simulated: they return unknown data.
    pub reads: Vec<String>,
    /// The write ports. A later one wins.
    pub writes: Vec<String>,
}

/// A node times two; the lowest bit inverts it. 0 is false.
type Literal = u32;

const FALSE: Literal = 0;
const TRUE: Literal = 1;

/// A register of one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Latch {
    node: u32,
    next: Literal,
    /// Initial value, if it is known.
    initial: Option<bool>,
    /// Index of the latch that is the first bit of the same register.
    word: usize,
}

/// A netlist with all its mutations, in the format of `write_aiger -ascii -symbols`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aig {
    /// Node and name.
    inputs: Vec<(u32, String)>,
    latches: Vec<Latch>,
    outputs: Vec<(Literal, String)>,
    /// Node and its two operands, in topological order.
    ands: Vec<(u32, [Literal; 2])>,
}

/// The roles of inputs and outputs, given by name.
#[derive(Debug, Clone, Copy)]
pub struct Interface<'a> {
    /// The reset input and its active level.
    pub reset: Option<(&'a str, bool)>,
    /// Uninitialised registers begin with all zeros or all ones, as in most simulations, instead of
    /// arbitrary values. Valid in a search for differences, not in a proof.
    pub filled: bool,
    pub select: &'a str,
    /// Prefix of inputs that carry the read data of a memory.
    pub read: &'a str,
    /// Prefixes of outputs that carry the read address and, for clocked read ports, the read
    /// enable.
    pub read_at: [&'a str; 2],
    /// Prefixes of outputs that carry the resets of a clocked read port.
    pub read_reset: [&'a str; 2],
    /// Prefixes of outputs that carry the bit enables, the data and the address of a write. Data
    /// and address are compared only where a bit is enabled.
    pub write: [&'a str; 3],
    /// Prefixes of outputs that belong to the monitor and not to the RTL.
    pub never: &'a [&'a str],
    /// Monitor outputs that are proved to be 0 in every cycle of the original RTL.
    pub proved: &'a [String],
}

impl Interface<'static> {
    /// The names that the passes of this program use.
    pub const OURS: Self = Self {
        reset: None,
        filled: false,
        select: "cosim_select",
        read: "cosim_read_",
        read_at: ["cosim_where_", "cosim_when_"],
        read_reset: ["cosim_cleared_", "cosim_reset_"],
        write: ["cosim_enable_", "cosim_data_", "cosim_address_"],
        never: &[],
        proved: &[],
    };
}

/// What a property query assumes about the read data of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Read data is unconstrained.
    Anything,
    /// Read data equals that of the cycle before if the address is the same and no memory was
    /// written at the edge between them.
    Kept,
    /// One arbitrary address is exact: reads there return the last value written, or an arbitrary
    /// value before the first write. The property counts only in cycles in which its single read
    /// port reads that address. What fails at no address never fails.
    Word,
}

/// A query whether two sides differ, or whether a property fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EquivalenceQuery {
    /// Both sides are structurally equal: no output differs for any register values.
    Same,
    /// ABC has to decide: the output of the AIGER file is 1 once something differs.
    Open {
        /// The file in binary AIGER.
        file: Vec<u8>,
        inputs: Vec<String>,
        /// For each of its latches, the number of that of the graph, if it is one.
        latches: Vec<Option<usize>>,
    },
}

impl Aig {
    /// Parses ASCII AIGER; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next()?.split(' ').collect();
        let [kind, numbers @ ..] = &header[..] else { return None };
        let numbers: Vec<usize> = numbers.iter().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let (&[_, inputs, latches, outputs, ands], rest) = numbers.split_first_chunk::<5>()?;
        if *kind != "aag" || rest.iter().any(|count| *count > 0) {
            return None;
        }
        let numbers = |line: &str| -> Option<Vec<u32>> {
            line.split(' ').map(|number| number.parse().ok()).collect()
        };
        let mut aig = Self { inputs: vec![], latches: vec![], outputs: vec![], ands: vec![] };
        for _ in 0..inputs {
            let line = numbers(lines.next()?)?;
            aig.inputs.push((line.first()? / 2, String::new()));
        }
        for place in 0..latches {
            let line = numbers(lines.next()?)?;
            let (&[node, next], initial) = line.split_first_chunk::<2>()?;
            let initial = match initial {
                [] | [0] => Some(false),
                [1] => Some(true),
                _ => None,
            };
            aig.latches.push(Latch { node: node / 2, next, initial, word: place });
        }
        for _ in 0..outputs {
            let line = numbers(lines.next()?)?;
            aig.outputs.push((*line.first()?, String::new()));
        }
        for _ in 0..ands {
            let line = numbers(lines.next()?)?;
            let [node, left, right] = line[..] else { return None };
            aig.ands.push((node / 2, [left, right]));
        }
        for line in lines.take_while(|line| *line != "c") {
            let (place, name) = line.split_once(' ')?;
            let (kind, index) = place.split_at_checked(1)?;
            let index: usize = index.parse().ok()?;
            match kind {
                "i" => aig.inputs.get_mut(index)?.1 = name.to_owned(),
                "o" => aig.outputs.get_mut(index)?.1 = name.to_owned(),
                _ => {}
            }
        }
        aig.ands = in_order(&aig.ands)?;
        Some(aig)
    }

    /// Groups latches by register, from the output of `write_aiger -vmap`.
    pub fn with_words(mut self, map: &str) -> Self {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for line in map.lines() {
            let fields: Vec<&str> = line.splitn(4, ' ').collect();
            let ["latch", index, _, name] = fields[..] else { continue };
            let Ok(index) = index.parse::<usize>() else { continue };
            if let Some(latch) = self.latches.get_mut(index) {
                latch.word = *first.entry(name).or_insert(index);
            }
        }
        self
    }

    /// Asks whether any output differs between the original RTL and a mutant.
    ///
    /// Both sides have the same inputs and the same initial register values. They begin with one
    /// reset cycle in which all other inputs are low, as every test case does. A register whose
    /// next value is structurally equal on both sides is shared.
    ///
    /// The proved invariants of the original RTL hold in every reachable cycle. In other cycles the
    /// miter clears the unshared registers and masks the difference, which leaves less to prove.
    pub fn query(&self, interface: &Interface<'_>, mutation: u32) -> EquivalenceQuery {
        self.difference(interface, mutation, None, |_| BTreeSet::new(), |_| Counts::ALL)
    }

    /// Asks whether the mutation reaches a register outside its fan-out cone of `hops` register
    /// stages. Registers outside the cone are shared, and a difference in their next values counts
    /// as one. If there is no difference, the mutant is equivalent; a difference shows nothing.
    pub fn nearby(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        hops: usize,
    ) -> EquivalenceQuery {
        self.difference(interface, mutation, Some(hops), |_| BTreeSet::new(), |_| Counts::ALL)
    }

    /// The query of [`Aig::query`] and [`Aig::nearby`]. `reads` names the read ports that
    /// return data of each side's own in the reset cycle, for registers that are shared.
    fn difference<'a>(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        hops: Option<usize>,
        reads: impl Fn(&HashSet<usize>) -> BTreeSet<&'a str>,
        counts: impl Fn(&mut Miter) -> Counts,
    ) -> EquivalenceQuery {
        let mut shared = self.all_nodes();
        let mut hop = 0;
        loop {
            let reads = OwnReads::InReset(reads(&shared));
            let mut miter = Miter::with_memories(self, interface, mutation, &shared, None, &reads);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() || hops == Some(hop) {
                let differing: Vec<_> = differing.into_values().collect();
                let counts = counts(&mut miter);
                return miter.ask_but(self, interface, &differing, |_| false, counts);
            }
            for index in differing.keys() {
                shared.remove(index);
            }
            hop += 1;
        }
    }

    /// For each register in the direct fan-out of the mutation, asks whether that register is the
    /// only one that the mutation ever affects. All other registers are shared and take arbitrary
    /// values in every cycle, except for known reset values in the cycle after a reset cycle. This
    /// over-approximates the reachable states: a proof holds, a difference shows nothing. The
    /// networks are small, such as a counter and its controls. Proved invariants are not used, as
    /// arbitrary values would violate them all the time. A second query for the same register
    /// keeps those of one bit that it depends on: a counter may stand still at one value.
    pub fn query_single_registers(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
    ) -> Vec<EquivalenceQuery> {
        let interface = &Interface { proved: &[], ..*interface };
        let all = self.all_nodes();
        let miter = Miter::new(self, interface, mutation, &all, None);
        let word = |index: usize| self.latches[index].word;
        let words: BTreeSet<usize> = self.differing(&miter, &all).into_keys().map(word).collect();
        let reset = self.reset_by(interface);
        let ask = |one: usize, kept: HashSet<usize>| {
            let shared = all.iter().copied().filter(|index| word(*index) != one).collect();
            let freed = FreedRegisters { reset: reset.clone(), kept };
            let miter = Miter::new(self, interface, mutation, &shared, Some(&freed));
            let differing = self.differing(&miter, &shared);
            miter.into_query(self, interface, &differing.into_values().collect::<Vec<_>>())
        };
        let both = |one: usize| {
            let kept = self.bits_before(one);
            let with_kept = (!kept.is_empty()).then(|| ask(one, kept));
            [Some(ask(one, HashSet::new())), with_kept]
        };
        words.into_iter().flat_map(both).flatten().collect()
    }

    /// The registers of one bit that the next value of a word depends on.
    fn bits_before(&self, one: usize) -> HashSet<usize> {
        let mut widths: HashMap<usize, usize> = HashMap::new();
        for latch in &self.latches {
            *widths.entry(latch.word).or_default() += 1;
        }
        let own = self.latches.iter().filter(|latch| latch.word == one);
        let before = Operands::from_aig(self).cone_in_cycle(own.map(|latch| latch.next));
        let is_bit = |latch: &Latch| {
            latch.word != one && widths[&latch.word] == 1 && before.contains(&latch.node)
        };
        (0..self.latches.len()).filter(|index| is_bit(&self.latches[*index])).collect()
    }

    /// Asks whether an output differs although memory words of both sides may differ, as long as
    /// their abstractions are equal. `word_abstractions` maps the number of a memory to a network
    /// that computes the abstraction of a word. `None` if no memory qualifies (see
    /// [`OF`]).
    ///
    /// The miter follows one word of each memory, at an arbitrary address, and checks that both
    /// sides keep equal abstractions. Reads at other addresses return arbitrary words with equal
    /// abstractions on both sides. By induction over cycles, all words and all outputs then stay
    /// equal. With `hops`, registers outside the fan-out cone are shared as by [`Self::nearby`].
    pub fn by_word(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        word_abstractions: &BTreeMap<String, Self>,
        hops: Option<usize>,
    ) -> Option<EquivalenceQuery> {
        let is_followed = |name: &str| {
            let [place, _] = interface.read_at;
            let port = split(name).0;
            let is_of = |prefix: &&str| port.starts_with(*prefix);
            port.contains(OF) && interface.write.iter().chain([&place, &interface.read]).any(is_of)
        };
        if !self.inputs.iter().any(|(_, name)| is_followed(name)) {
            return None;
        }
        let mut shared = self.all_nodes();
        let mut hop = 0;
        loop {
            let reads = OwnReads::Followed;
            let mut miter = Miter::with_memories(self, interface, mutation, &shared, None, &reads);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() || hops == Some(hop) {
                let words = miter.words(self, interface, word_abstractions);
                let differing: Vec<_> = differing.into_values().collect();
                return Some(miter.ask_but(self, interface, &differing, is_followed, words));
            }
            for index in differing.keys() {
                shared.remove(index);
            }
            hop += 1;
        }
    }

    /// Register values after a reset cycle, where they do not depend on other inputs.
    fn reset_by(&self, interface: &Interface<'_>) -> HashMap<usize, bool> {
        let Some((reset, level)) = interface.reset else { return HashMap::new() };
        // Known values, by node.
        let mut known: HashMap<u32, bool> = HashMap::from([(0, false)]);
        known.extend(
            self.inputs
                .iter()
                .filter(|(_, name)| split(name).0 == reset)
                .map(|(node, _)| (*node, level)),
        );
        self.propagate(&mut known);
        let value = |index: usize| Some((index, known_of(&known, self.latches[index].next)?));
        (0..self.latches.len()).filter_map(value).collect()
    }

    /// Adds the gates whose value follows from known nodes.
    fn propagate(&self, known: &mut HashMap<u32, bool>) {
        for (node, operands) in &self.ands {
            let value = match operands.map(|operand| known_of(known, operand)) {
                [Some(false), _] | [_, Some(false)] => false,
                [Some(true), Some(true)] => true,
                _ => continue,
            };
            known.insert(*node, value);
        }
    }

    fn all_nodes(&self) -> HashSet<usize> {
        (0..self.latches.len()).collect()
    }

    /// The shared registers whose next values differ between the sides, ordered for determinism.
    fn differing(&self, miter: &Miter, shared: &HashSet<usize>) -> BTreeMap<usize, [Literal; 2]> {
        let next = |index: &usize| {
            let next =
                [0, 1].map(|side| map_literal(&miter.sides[side], self.latches[*index].next));
            (next[0] != next[1]).then_some((*index, next))
        };
        shared.iter().filter_map(next).collect()
    }

    /// Asks whether a one-bit output is ever 1, from the reset cycle on. Uninitialised registers
    /// begin with arbitrary values. `None` if there is no such output, or if `reads` is
    /// [`Reads::Word`] and the output does not depend on exactly one read port that can be
    /// followed.
    pub fn property(
        &self,
        interface: &Interface<'_>,
        output: &str,
        reads: Reads,
    ) -> Option<EquivalenceQuery> {
        let all = self.all_nodes();
        let mut miter = Miter::new(self, interface, 0, &all, None);
        let (literal, _) = self.outputs.iter().find(|(_, name)| name == output)?;
        let mut value = map_literal(&miter.sides[0], *literal);
        let given = match reads {
            _ if value == FALSE => TRUE,
            Reads::Anything => TRUE,
            Reads::Kept => miter.reads_are_kept(self, interface),
            Reads::Word => {
                let read = self.only_read(interface, *literal)?;
                miter.word(self, interface, read)?
            }
        };
        value = miter.and(value, given);
        Some(if value == FALSE { EquivalenceQuery::Same } else { miter.file(value) })
    }

    /// The memory read port on which a literal depends combinationally, if there is exactly one.
    fn only_read(&self, interface: &Interface<'_>, literal: Literal) -> Option<&str> {
        let reads: HashMap<u32, &str> = self
            .inputs
            .iter()
            .filter_map(|(node, name)| Some((*node, split(name).0.strip_prefix(interface.read)?)))
            .collect();
        let cone = Operands::from_aig(self).cone_in_cycle([literal]);
        let found: BTreeSet<&str> =
            cone.iter().filter_map(|node| reads.get(node).copied()).collect();
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }
}

fn known_of(known: &HashMap<u32, bool>, literal: Literal) -> Option<bool> {
    known.get(&(literal / 2)).map(|value| *value != (literal & 1 == 1))
}

/// Sorts nodes topologically; `None` if there is a combinational loop.
fn in_order(ands: &[(u32, [Literal; 2])]) -> Option<Vec<(u32, [Literal; 2])>> {
    let by_node: HashMap<u32, [Literal; 2]> = ands.iter().copied().collect();
    let mut state: HashMap<u32, bool> = HashMap::new();
    let mut ordered = Vec::with_capacity(ands.len());
    for (root, _) in ands {
        let mut stack = vec![*root];
        while let Some(node) = stack.last().copied() {
            let Some(operands) = by_node.get(&node) else {
                stack.pop();
                continue;
            };
            match state.get(&node) {
                Some(true) => {
                    stack.pop();
                }
                Some(false) => {
                    state.insert(node, true);
                    ordered.push((node, *operands));
                    stack.pop();
                }
                None => {
                    state.insert(node, false);
                    for operand in operands.map(|operand| operand / 2) {
                        match state.get(&operand) {
                            Some(false) => return None,
                            Some(true) => {}
                            None => stack.push(operand),
                        }
                    }
                }
            }
        }
    }
    Some(ordered)
}

#[cfg(test)]
mod tests;
