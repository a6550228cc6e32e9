//! Frees signals of a graph: what a proof then shows holds whatever drives them.

use super::gates::Operands;
use super::joined::bits;
use super::{Aig, Latch, Literal, split};
use crate::FREE;
use std::collections::{HashMap, HashSet};

#[derive(Debug)]
pub struct Freed {
    aig: Aig,
    /// Whether each register is one of those that were not freed by their name.
    is_own: Vec<bool>,
}

impl Freed {
    pub fn aig(&self) -> &Aig {
        &self.aig
    }

    /// Those of the outputs that depend on a register of its own, and on no other.
    pub fn own_outputs<'a>(&'a self, names: &HashSet<&str>) -> HashSet<&'a str> {
        let Aig { latches, outputs, .. } = &self.aig;
        let operands = Operands::from_aig(&self.aig);
        let registers: HashMap<u32, usize> =
            latches.iter().enumerate().map(|(place, latch)| (latch.node, place)).collect();
        let next = |node: u32| registers.get(&node).map(|place| latches[*place].next);
        let is_own = |(literal, _): &&(Literal, String)| {
            let cone = operands.cone([*literal], next);
            let mut behind = cone.iter().filter_map(|node| registers.get(node)).peekable();
            behind.peek().is_some() && behind.all(|place| self.is_own[*place])
        };
        let requested = outputs.iter().filter(|(_, name)| names.contains(name.as_str()));
        requested.filter(is_own).map(|(_, name)| name.as_str()).collect()
    }
}

impl Aig {
    /// The graph in which the signals of these outputs are inputs, but for constants, inputs of the
    /// RTL, and its own registers, by name. `map` is the `-vmap` file. More values are possible
    /// than in the RTL: what cannot be reached here cannot be reached there.
    #[must_use]
    pub fn freed(
        &self,
        is_edge: impl Fn(&str) -> bool,
        map: &str,
        is_own: impl Fn(&str) -> bool,
    ) -> Freed {
        let names = bits(map);
        let is_own = |index: &usize| {
            names.get(index).is_some_and(|names| names.iter().any(|(_, name)| is_own(name)))
        };
        let edges = self.outputs.iter().filter(|(_, name)| is_edge(split(name).0));
        let mut freed: HashSet<u32> = edges.map(|(literal, _)| literal / 2).collect();
        freed.remove(&0);
        for (node, _) in &self.inputs {
            freed.remove(node);
        }
        for (_, latch) in self.latches.iter().enumerate().filter(|(index, _)| is_own(index)) {
            freed.remove(&latch.node);
        }
        let mut aig = self.clone();
        aig.ands.retain(|(node, _)| !freed.contains(node));
        let is_kept = |latch: &Latch| !freed.contains(&latch.node);
        // The new place of each register.
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut next = 0..;
        places
            .extend(self.latches.iter().map(|latch| is_kept(latch).then(|| next.next()).flatten()));
        let kept = self.latches.iter().zip(&places).filter_map(|(latch, place)| {
            let word = places[latch.word].or(*place)?;
            place.map(|_| Latch { word, ..*latch })
        });
        aig.latches = kept.collect();
        let mut inputs: Vec<u32> = freed.into_iter().collect();
        inputs.sort_unstable();
        aig.inputs.extend(inputs.into_iter().map(|node| (node, format!("{FREE}{node}"))));
        let kept = (0..self.latches.len()).filter(|index| places[*index].is_some());
        let is_own = kept.map(|index| is_own(&index)).collect();
        Freed { aig, is_own }
    }
}
