//! The gates of a graph: what a node depends on, and new ones.

use super::{Aig, FALSE, Literal, TRUE};
use std::collections::{HashMap, HashSet};

pub(super) struct Operands(HashMap<u32, [Literal; 2]>);

impl Operands {
    pub(super) fn from_aig(aig: &Aig) -> Self {
        Self(aig.ands.iter().copied().collect())
    }

    /// The nodes of these literals, and all that they depend on: operands of gates, and for each
    /// node the literals that `more` gives.
    pub(super) fn cone<I: IntoIterator<Item = Literal>>(
        &self,
        roots: impl IntoIterator<Item = Literal>,
        more: impl Fn(u32) -> I,
    ) -> HashSet<u32> {
        let mut left: Vec<Literal> = roots.into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(literal) = left.pop() {
            let node = literal / 2;
            if seen.insert(node) {
                left.extend(self.0.get(&node).into_iter().flatten());
                left.extend(more(node));
            }
        }
        seen
    }

    /// The nodes that these literals depend on in the same cycle.
    pub(super) fn cone_in_cycle(&self, roots: impl IntoIterator<Item = Literal>) -> HashSet<u32> {
        self.cone(roots, |_| [])
    }
}

pub(super) struct Gates {
    pub(super) all: Vec<(u32, [Literal; 2])>,
    highest: u32,
}

impl Gates {
    /// No gates yet; nodes up to `highest` are in use.
    pub(super) fn above(highest: u32) -> Self {
        Self { all: Vec::new(), highest }
    }

    pub(super) fn node(&mut self) -> u32 {
        self.highest += 1;
        self.highest
    }

    pub(super) fn and(&mut self, left: Literal, right: Literal) -> Literal {
        match (left, right) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, other) | (other, TRUE) => other,
            _ => {
                let node = self.node();
                self.all.push((node, [left, right]));
                node * 2
            }
        }
    }

    /// `one` while `selected` is 1, and `other` otherwise.
    pub(super) fn choose(&mut self, selected: Literal, one: Literal, other: Literal) -> Literal {
        let first = self.and(selected, one);
        let second = self.and(selected ^ 1, other);
        self.and(first ^ 1, second ^ 1) ^ 1
    }
}
