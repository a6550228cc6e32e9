//! Two RTLs in one graph, so that the miter of a mutant compares them.

use super::gates::Gates;
use super::miter::{Counts, Miter, STARTED, map_literal};
use super::{Aig, EquivalenceQuery, FALSE, Interface, Latch, Literal, TRUE};
use std::collections::{HashMap, HashSet};

/// A bit of a register: its place, and one of the register's names.
type Bit<'a> = (&'a str, &'a str);

/// The bits of registers, by the number of their latch, from `write_aiger -vmap`: one for each
/// signal that shows the register.
pub(super) fn bits(map: &str) -> HashMap<usize, Vec<Bit<'_>>> {
    let mut all: HashMap<usize, Vec<Bit<'_>>> = HashMap::new();
    for (index, bit) in lines(map, "latch ") {
        all.entry(index).or_default().push(bit);
    }
    all
}

/// The lines of a kind in a `-vmap` file: a number, and what it is for.
fn lines<'a>(map: &'a str, kind: &str) -> impl Iterator<Item = (usize, Bit<'a>)> {
    map.lines().filter_map(move |line| {
        let mut fields = line.strip_prefix(kind)?.splitn(3, ' ');
        let (index, bit, name) = (fields.next()?, fields.next()?, fields.next()?);
        Some((index.parse().ok()?, (bit, name)))
    })
}

/// As [`bits`], with names that mean the same in another netlist. An asynchronous reset is logic
/// behind the register, whose signal has the name.
fn names<'a>(aig: &Aig, map: &'a str, reset: Option<(&str, bool)>) -> HashMap<usize, Vec<Bit<'a>>> {
    let mut all = bits(map);
    for names in all.values_mut() {
        names.retain(|(_, name)| !name.starts_with('$'));
    }
    let shown = aig.without_reset(reset);
    let nodes = aig.latches.iter().enumerate().map(|(place, latch)| (latch.node, place));
    let places: HashMap<u32, usize> = nodes.collect();
    for (literal, bit) in lines(map, "wire ").filter(|(_, (_, name))| !name.starts_with('$')) {
        let literal = shown.get(literal / 2).map(|shown| shown ^ (literal as u32 & 1));
        // An inverted signal shows something else.
        let Some(literal) = literal.filter(|literal| literal & 1 == 0) else { continue };
        if let Some(place) = places.get(&(literal / 2)) {
            all.entry(*place).or_default().push(bit);
        }
    }
    all
}

impl Aig {
    /// For each node, what it is while the reset is inactive: a literal of itself, or of an earlier
    /// node if gates only pass that on.
    fn without_reset(&self, reset: Option<(&str, bool)>) -> Vec<Literal> {
        let mut all: Vec<Literal> = (0..=self.highest()).map(|node| node * 2).collect();
        for (node, name) in &self.inputs {
            if let Some((_, level)) = reset.filter(|(pin, _)| *pin == name) {
                all[*node as usize] = Literal::from(!level);
            }
        }
        for (node, operands) in &self.ands {
            let [left, right] = operands.map(|operand| all[(operand / 2) as usize] ^ (operand & 1));
            all[*node as usize] = match (left, right) {
                (FALSE, _) | (_, FALSE) => FALSE,
                (TRUE, other) | (other, TRUE) => other,
                _ if left == right => left,
                _ if left == right ^ 1 => FALSE,
                _ => node * 2,
            };
        }
        all
    }

    pub(super) fn highest(&self) -> u32 {
        let nodes = self.inputs.iter().map(|(node, _)| *node);
        let nodes = nodes.chain(self.latches.iter().map(|latch| latch.node));
        nodes.chain(self.ands.iter().map(|(node, _)| *node)).max().unwrap_or(0)
    }

    /// Both graphs in one: the left one while the input `select` is 0, and the right one while it
    /// is 1. Inputs and outputs of equal names are shared; other outputs stay. `maps` are the
    /// `-vmap` files: registers with equal names and initial values become one, with the next value
    /// of the selected graph. A pair that is not meant only makes more registers differ.
    #[must_use]
    pub fn joined(
        [left, right]: [&Self; 2],
        select: &str,
        maps: [&str; 2],
        reset: Option<(&str, bool)>,
    ) -> Self {
        let offset = left.highest();
        let mut aig = left.clone();
        let known: HashMap<&str, u32> =
            left.inputs.iter().map(|(node, name)| (name.as_str(), *node)).collect();
        let mut shared: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        for (node, name) in &right.inputs {
            match known.get(name.as_str()) {
                Some(other) => {
                    shared.insert(*node, *other);
                }
                None => aig.inputs.push((node + offset, name.clone())),
            }
        }
        let [left_bits, right_bits] = [names(left, maps[0], reset), names(right, maps[1], reset)];
        let mut by_name: HashMap<Bit<'_>, usize> = HashMap::new();
        for (index, bits) in &left_bits {
            by_name.extend(bits.iter().map(|bit| (*bit, *index)));
        }
        // The place of each register of the right graph.
        let mut places = Vec::new();
        let mut others = left.latches.len()..;
        let mut paired: HashSet<usize> = HashSet::new();
        for (index, latch) in right.latches.iter().enumerate() {
            let bits = right_bits.get(&index).map_or(&[][..], Vec::as_slice);
            let mut twins = bits.iter().filter_map(|bit| by_name.get(bit)).copied();
            let twin = twins
                .find(|twin| left.latches[*twin].initial == latch.initial && paired.insert(*twin));
            if let Some(twin) = twin {
                shared.insert(latch.node, left.latches[twin].node);
            }
            places.extend(twin.or_else(|| others.next()));
        }
        let node = |node: u32| shared.get(&node).copied().unwrap_or(node + offset);
        let literal = |literal: Literal| node(literal / 2) * 2 + (literal & 1);
        let moved = |(own, operands): &(u32, [Literal; 2])| (node(*own), operands.map(literal));
        aig.ands.extend(right.ands.iter().map(moved));
        let selects = offset + right.highest() + 1;
        aig.inputs.push((selects, select.to_owned()));
        let (select, mut gates) = (selects * 2, Gates::above(selects));
        for (latch, place) in right.latches.iter().zip(&places) {
            let next = literal(latch.next);
            if let Some(own) = left.latches.get(*place) {
                aig.latches[*place].next = gates.choose(select, next, own.next);
            } else {
                let word = places[latch.word];
                aig.latches.push(Latch { node: node(latch.node), next, word, ..*latch });
            }
        }
        let outputs: HashMap<&str, Literal> =
            right.outputs.iter().map(|(other, name)| (name.as_str(), literal(*other))).collect();
        for (place, (output, name)) in left.outputs.iter().enumerate() {
            if let Some(other) = outputs.get(name.as_str()) {
                aig.outputs[place].0 = gates.choose(select, *other, *output);
            }
        }
        aig.ands.extend(gates.all);
        aig
    }

    /// Names of the outputs, and of the inputs, that only one of the graphs has.
    pub fn unpaired<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let names = |aig: &'a Self| -> HashSet<&'a str> {
            let inputs = aig.inputs.iter().map(|(_, name)| name.as_str());
            inputs.chain(aig.outputs.iter().map(|(_, name)| name.as_str())).collect()
        };
        let (own, others) = (names(self), names(other));
        let mut all: Vec<&str> = own.symmetric_difference(&others).copied().collect();
        all.sort_unstable();
        all
    }

    /// 1 while no output whose name begins with `illegal` was 1; without it, always.
    fn legal(&self, miter: &mut Miter, illegal: Option<&str>) -> Literal {
        let Some(prefix) = illegal else { return TRUE };
        let mut breaks = FALSE;
        for (literal, _) in self.outputs.iter().filter(|(_, name)| name.starts_with(prefix)) {
            breaks = miter.or(breaks, map_literal(&miter.sides[0], *literal));
        }
        // Registers may have any value in the reset cycle, which must exclude none of them.
        breaks = miter.and(breaks, STARTED);
        miter.so_far(breaks)
    }

    /// As [`Self::legal`], from the first edge on. Before it, registers without a reset of their
    /// own have no value.
    pub(super) fn legal_so_far(&self, miter: &mut Miter, illegal: Option<&str>) -> Literal {
        let legal = self.legal(miter, illegal);
        miter.and(STARTED, legal)
    }

    /// Asks whether the two sides of a [joined](Aig::joined) graph differ at an output. With
    /// `illegal`, only while no output whose name begins with it was 1 so far. Outputs of
    /// `interface.never` are not compared, and none is in the reset cycle that a case begins with.
    /// The edge at its end already writes memories and clocked read data, so that their ports are
    /// compared in it. With `hops`, the answer is that of [`Aig::nearby`].
    pub fn differs(
        &self,
        interface: &Interface<'_>,
        illegal: Option<&str>,
        hops: Option<usize>,
    ) -> EquivalenceQuery {
        let counts = |miter: &mut Miter| Counts {
            outputs: STARTED,
            given: self.legal(miter, illegal),
            ..Counts::ALL
        };
        let reads = |shared: &HashSet<usize>| Miter::moved_in_reset(self, interface, 1, shared);
        self.difference(interface, 1, hops, reads, counts)
    }
}
