//! Frees signals of a graph: what a proof then shows holds whatever drives them.

use super::joined::bits;
use super::{Aig, Latch, split};
use std::collections::HashSet;

/// Prefix of the inputs that stand for freed signals. They have any value in every cycle, also in
/// the reset cycle that a case begins with.
pub(super) const FREE: &str = "cosim_free_";

impl Aig {
    /// The graph in which the signals of these outputs are inputs, but for constants, inputs of the
    /// RTL, and registers whose name begins with `own`. `map` is the `-vmap` file. More values are
    /// possible than in the RTL: what cannot be reached here cannot be reached there.
    #[must_use]
    pub fn freed(&self, is_edge: impl Fn(&str) -> bool, map: &str, own: &str) -> Self {
        let names = bits(map);
        let is_own =
            |index: &usize| names.get(index).is_some_and(|(_, name)| name.starts_with(own));
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
        aig
    }
}
