//! Two RTLs in one graph, so that the miter of a mutant compares them.

use super::miter::{Miter, STARTED, of};
use super::{Aig, EquivalenceQuery, FALSE, Interface, Latch, Literal};
use std::collections::{HashMap, HashSet};

/// The names of the bits of registers, by the number of their latch, from `write_aiger -vmap`.
fn bits(map: &str) -> HashMap<usize, (&str, &str)> {
    let bit = |line| {
        let mut fields = str::strip_prefix(line, "latch ")?.splitn(3, ' ');
        let (index, bit, name) = (fields.next()?, fields.next()?, fields.next()?);
        Some((index.parse().ok()?, (bit, name)))
    };
    map.lines().filter_map(bit).collect()
}

impl Aig {
    /// Both graphs with the inputs of equal names shared. Outputs of equal names show those of the
    /// left graph while the input `select` is 0, and those of the right one while it is 1. Other
    /// outputs stay. `maps` are the `-vmap` files: registers without an initial value start with
    /// equal values where their names are equal.
    #[must_use]
    pub fn joined(left: &Self, right: &Self, select: &str, maps: [&str; 2]) -> Self {
        let highest = |aig: &Self| {
            let nodes = aig.inputs.iter().map(|(node, _)| *node);
            let nodes = nodes.chain(aig.latches.iter().map(|latch| latch.node));
            nodes.chain(aig.ands.iter().map(|(node, _)| *node)).max().unwrap_or(0)
        };
        let mut joined = left.clone();
        let offset = highest(left);
        let known: HashMap<&str, u32> =
            left.inputs.iter().map(|(node, name)| (name.as_str(), *node)).collect();
        let mut shared: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        for (node, name) in &right.inputs {
            match known.get(name.as_str()) {
                Some(other) => {
                    shared.insert(*node, *other);
                }
                None => joined.inputs.push((node + offset, name.clone())),
            }
        }
        let node = |node: u32| shared.get(&node).copied().unwrap_or(node + offset);
        let literal = |literal: Literal| node(literal / 2) * 2 + (literal & 1);
        let [left_bits, right_bits] = maps.map(bits);
        let by_name: HashMap<_, usize> =
            left_bits.into_iter().map(|(index, name)| (name, index)).collect();
        for (index, latch) in right.latches.iter().enumerate() {
            let twin = right_bits.get(&index).and_then(|name| by_name.get(name)).copied();
            joined.latches.push(Latch {
                node: node(latch.node),
                next: literal(latch.next),
                word: latch.word + left.latches.len(),
                twin: twin.filter(|twin| left.latches[*twin].initial.is_none()),
                ..*latch
            });
        }
        let moved = |(own, operands): &(u32, [Literal; 2])| (node(*own), operands.map(literal));
        joined.ands.extend(right.ands.iter().map(moved));
        let mut next = offset + highest(right) + 1;
        let select_node = next;
        joined.inputs.push((select_node, select.to_owned()));
        let others: HashMap<&str, Literal> =
            right.outputs.iter().map(|(other, name)| (name.as_str(), literal(*other))).collect();
        let mut and = |left: Literal, right: Literal| {
            next += 1;
            joined.ands.push((next, [left, right]));
            next * 2
        };
        for (output, name) in &mut joined.outputs {
            if let Some(other) = others.get(name.as_str()) {
                let first = and(*output, select_node * 2 + 1);
                let second = and(*other, select_node * 2);
                *output = and(first ^ 1, second ^ 1) ^ 1;
            }
        }
        joined
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

    /// 1 from the first edge on; with `illegal`, while no output whose name begins with it was 1.
    pub(super) fn legal_so_far(&self, miter: &mut Miter, illegal: Option<&str>) -> Literal {
        // Before the first edge, registers without a reset of their own have no value.
        let Some(prefix) = illegal else { return STARTED };
        let mut breaks = FALSE;
        for (literal, _) in self.outputs.iter().filter(|(_, name)| name.starts_with(prefix)) {
            breaks = miter.or(breaks, of(&miter.sides[0], *literal));
        }
        let legal = miter.so_far(breaks);
        miter.and(STARTED, legal)
    }

    /// Asks whether the two sides of a [joined](Aig::joined) graph differ at an output. With
    /// `illegal`, only while no output whose name begins with it was 1 so far. Outputs of
    /// `interface.never` are not compared, and none is in the reset cycle that a case begins with.
    pub fn differs(&self, interface: &Interface<'_>, illegal: Option<&str>) -> EquivalenceQuery {
        let mut miter = Miter::new(self, interface, 1, &self.all(), None);
        let given = self.legal_so_far(&mut miter, illegal);
        miter.ask_but(self, interface, &[], |_| false, [given, FALSE])
    }
}
