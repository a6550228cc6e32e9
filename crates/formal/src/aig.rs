//! And-inverter graphs, which Yosys writes, and the miters that compare an RTL with its mutants.

mod miter;

use crate::cut;
use miter::{Miter, of};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A node, or its inverse if the lowest bit is 1; 0 is false.
type Literal = u32;

const FALSE: Literal = 0;
const TRUE: Literal = 1;

/// A register of one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Latch {
    node: u32,
    next: Literal,
    /// What it begins with, if that is known.
    initial: Option<bool>,
    /// The place of the first bit of its register.
    word: usize,
}

/// A netlist with all its mutations, as `write_aiger -ascii -symbols` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aig {
    /// Nodes and names.
    inputs: Vec<(u32, String)>,
    latches: Vec<Latch>,
    outputs: Vec<(Literal, String)>,
    /// Node and its two operands, in an order in which each is defined before it is used.
    ands: Vec<(u32, [Literal; 2])>,
}

/// What is known of the ports.
#[derive(Debug, Clone, Copy)]
pub struct Interface<'a> {
    /// The input that resets the block, and the level at which it does.
    pub reset: Option<(&'a str, bool)>,
    /// Registers that nothing initialises begin with all zeros or all ones, as in most cases, in place of anything:
    /// for a search, not for a proof.
    pub filled: bool,
    /// The input that switches mutations on.
    pub select: &'a str,
    /// How the names of inputs begin that are what a memory gives.
    pub read: &'a str,
    /// How the names of outputs begin that say where a memory is read, and of those that say when, where it is read at
    /// an edge.
    pub read_at: [&'a str; 2],
    /// How the names of outputs begin that say which bits of a memory are written, and of those that say
    /// what and where: bits of them that nothing is written to do not matter.
    pub write: [&'a str; 3],
    /// How the names of outputs begin that are no outputs of the RTL; none do if it is empty.
    pub never: &'a str,
    /// Those of them that are proved to be 0 in every cycle, of the RTL as it is.
    pub proved: &'a [String],
}

impl Interface<'static> {
    /// The names that this program's own passes give, and nothing else.
    pub const OURS: Self = Self {
        reset: None,
        filled: false,
        select: "cosim_select",
        read: "cosim_read_",
        read_at: ["cosim_where_", "cosim_when_"],
        write: ["cosim_enable_", "cosim_data_", "cosim_address_"],
        never: "",
        proved: &[],
    };
}

/// What is known of what memories give, in a question about a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Anything,
    /// It is the same as in the cycle before where a memory was read at the same place then and no memory was written at the
    /// edge between them.
    Kept,
    /// At one address, whichever it is, a memory gives what was written there last, and anything if nothing was. The cycles
    /// that count are those in which the property looks at that address, by the one port of a memory that it looks at. What never
    /// happens at any address never happens.
    Word,
}

/// The question whether a mutation makes a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EquivalenceQuery {
    /// Both sides are the same network: the mutation is not seen at any output, whatever the registers hold.
    Same,
    /// Others have to answer: an AIGER file whose output is 1 once something differs.
    Open {
        /// The file.
        file: Vec<u8>,
        /// Names of its inputs.
        inputs: Vec<String>,
    },
}

impl Aig {
    /// Reads the ASCII form; `None` if it is none.
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

    /// Learns which bits are of one register, from what `write_aiger -vmap` writes.
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

    /// Asks whether anything differs between the RTL as it is and with a mutation.
    ///
    /// Both sides have the same inputs, begin with the same registers, whatever they hold, and with one cycle
    /// in reset in which all other inputs are low, as every case does. Registers of which it can be seen at once
    /// that both sides give them the same next value are one register.
    ///
    /// What is proved of the RTL as it is holds in every cycle that is reached. So it makes no difference what comes of others: there
    /// the registers of both sides become what they begin with, and nothing differs, which is less to be shown of them.
    pub fn question(&self, interface: &Interface<'_>, mutation: u32) -> EquivalenceQuery {
        self.difference(interface, mutation, None)
    }

    /// Asks whether the mutation reaches any register but those near it: those that its change of a signal, and then `hops` times
    /// the registers reached so far, can give another value at the next edge. All others are one register of both sides,
    /// and it is a difference if they were to become two. What shows that there is none shows, cycle by cycle, that they
    /// never do; a difference says nothing.
    pub fn nearby(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        hops: usize,
    ) -> EquivalenceQuery {
        self.difference(interface, mutation, Some(hops))
    }

    fn difference(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        hops: Option<usize>,
    ) -> EquivalenceQuery {
        let mut shared = self.all();
        let mut hop = 0;
        loop {
            let miter = Miter::new(self, interface, mutation, &shared, None);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() || hops == Some(hop) {
                return miter.ask(self, interface, &differing.into_values().collect::<Vec<_>>());
            }
            for index in differing.keys() {
                shared.remove(index);
            }
            hop += 1;
        }
    }

    /// Asks, of each register that the mutation reaches at once, whether it is the only one that it ever reaches, where all
    /// others hold anything in every cycle, the same on both sides; but behind a cycle in reset, what that gives them.
    /// That is all that they ever hold and more, so what is shown of it holds; a difference says nothing. These are small
    /// networks: a counter, and what it starts and stops. What is proved of the RTL is not used: where others hold anything it
    /// would be broken again and again.
    pub fn alone(&self, interface: &Interface<'_>, mutation: u32) -> Vec<EquivalenceQuery> {
        let interface = &Interface { proved: &[], ..*interface };
        let all = self.all();
        let miter = Miter::new(self, interface, mutation, &all, None);
        let word = |index: usize| self.latches[index].word;
        let words: BTreeSet<usize> = self.differing(&miter, &all).into_keys().map(word).collect();
        let reset = self.reset_by(interface);
        let ask = |one: usize| {
            let shared = all.iter().copied().filter(|index| word(*index) != one).collect();
            let miter = Miter::new(self, interface, mutation, &shared, Some(&reset));
            let differing = self.differing(&miter, &shared);
            miter.ask(self, interface, &differing.into_values().collect::<Vec<_>>())
        };
        words.into_iter().map(ask).collect()
    }

    /// Asks whether anything differs where memories of both sides may hold words that are not the same, as long as they mean the same:
    /// `word_abstractions` has, by the number of a memory, a network that says what a word means. `None` if there is no memory of which a word
    /// can be followed.
    ///
    /// One word of each memory is followed, at any address: what it is on both sides must always mean the same. What is read elsewhere is
    /// anything that means the same on both sides. So words at all addresses go on meaning the same, cycle by cycle, and all
    /// outputs are the same.
    pub fn by_word(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        word_abstractions: &BTreeMap<String, Self>,
    ) -> Option<EquivalenceQuery> {
        let is_followed = |name: &str| {
            let [place, _] = interface.read_at;
            let port = split(name).0;
            let is_of = |prefix: &&str| port.starts_with(*prefix);
            port.contains(cut::OF)
                && interface.write.iter().chain([&place, &interface.read]).any(is_of)
        };
        if !self.inputs.iter().any(|(_, name)| is_followed(name)) {
            return None;
        }
        let mut shared = self.all();
        loop {
            let mut miter = Miter::with_memories(self, interface, mutation, &shared, None, true);
            let differing = self.differing(&miter, &shared);
            if differing.is_empty() {
                let words = miter.words(self, interface, word_abstractions);
                return Some(miter.ask_but(self, interface, &[], is_followed, words));
            }
            for index in differing.keys() {
                shared.remove(index);
            }
        }
    }

    /// What registers hold behind a cycle in reset, whatever else happens in it, where that is known.
    fn reset_by(&self, interface: &Interface<'_>) -> HashMap<usize, bool> {
        let Some((reset, level)) = interface.reset else { return HashMap::new() };
        // Of each node: its value, if it is known.
        let mut known: HashMap<u32, bool> = HashMap::from([(0, false)]);
        known.extend(
            self.inputs
                .iter()
                .filter(|(_, name)| split(name).0 == reset)
                .map(|(node, _)| (*node, level)),
        );
        let of = |known: &HashMap<u32, bool>, literal: Literal| {
            known.get(&(literal / 2)).map(|value| *value != (literal & 1 == 1))
        };
        for (node, operands) in &self.ands {
            let value = match operands.map(|operand| of(&known, operand)) {
                [Some(false), _] | [_, Some(false)] => false,
                [Some(true), Some(true)] => true,
                _ => continue,
            };
            known.insert(*node, value);
        }
        let value = |index: usize| Some((index, of(&known, self.latches[index].next)?));
        (0..self.latches.len()).filter_map(value).collect()
    }

    fn all(&self) -> HashSet<usize> {
        (0..self.latches.len()).collect()
    }

    /// The registers of both sides to which they give different next values, with these. In an order of their own: a set has none.
    fn differing(&self, miter: &Miter, shared: &HashSet<usize>) -> BTreeMap<usize, [Literal; 2]> {
        let next = |index: &usize| {
            let next = [0, 1].map(|side| of(&miter.sides[side], self.latches[*index].next));
            (next[0] != next[1]).then_some((*index, next))
        };
        shared.iter().filter_map(next).collect()
    }

    /// Asks whether an output of one bit is ever 1, from the cycle in reset on; registers that nothing initialises
    /// begin with any value. `None` if there is no such output, or if it cannot be asked so.
    pub fn property(
        &self,
        interface: &Interface<'_>,
        output: &str,
        reads: Reads,
    ) -> Option<EquivalenceQuery> {
        let all = self.all();
        let mut miter = Miter::new(self, interface, 0, &all, None);
        let (literal, _) = self.outputs.iter().find(|(_, name)| name == output)?;
        let mut value = of(&miter.sides[0], *literal);
        let given = match reads {
            _ if value == FALSE => TRUE,
            Reads::Anything => TRUE,
            Reads::Kept => miter.kept(self, interface),
            Reads::Word => {
                let read = self.only_read(interface, *literal)?;
                miter.word(self, interface, read)?
            }
        };
        value = miter.and(value, given);
        Some(if value == FALSE { EquivalenceQuery::Same } else { miter.file(value) })
    }

    /// The port of a memory whose data a literal depends on within its cycle, if it is one only.
    fn only_read(&self, interface: &Interface<'_>, literal: Literal) -> Option<&str> {
        let ands: HashMap<u32, [Literal; 2]> = self.ands.iter().copied().collect();
        let reads: HashMap<u32, &str> = self
            .inputs
            .iter()
            .filter_map(|(node, name)| Some((*node, split(name).0.strip_prefix(interface.read)?)))
            .collect();
        let (mut seen, mut found) = (HashSet::new(), BTreeSet::new());
        let mut stack = vec![literal / 2];
        while let Some(node) = stack.pop() {
            if seen.insert(node) {
                found.extend(reads.get(&node));
                stack.extend(ands.get(&node).into_iter().flatten().map(|operand| operand / 2));
            }
        }
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }
}

/// Nodes in an order in which each is defined before it is used; `None` if there is a loop.
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

/// A name and its bit, as in `data[3]`; 0 if there is none.
pub fn split(name: &str) -> (&str, u32) {
    let parts = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    let bit = parts.and_then(|(name, bit)| Some((name, bit.parse().ok()?)));
    bit.unwrap_or((name, 0))
}

#[cfg(test)]
mod tests;
