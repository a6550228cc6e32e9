//! Evaluates the outputs of a network on recorded cycles.
//!
//! Values are known or unknown: registers without an initial value are unknown at first, and so is
//! what memories return. An output counts only where it is known.

use super::{Aig, FALSE, Literal, split};
use cosim_block::agreement::RecordedInputs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use verilated::Port;

/// Cases that are simulated at once: the bits of a word.
const LANES: usize = 64;

/// A cycle in which an output is 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub case: String,
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: usize,
}

/// The values of an output in a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// It may have been 0, or it may have been 1, also before the first edge.
    pub zero: bool,
    pub one: bool,
    /// It was 0, or it was 1, from the first edge on.
    pub is_zero: bool,
    pub is_one: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) is_one: u64,
    pub(super) is_zero: u64,
}

impl Known {
    pub(super) fn repeat_bit(value: bool) -> Self {
        if value { Self { is_one: !0, is_zero: 0 } } else { Self { is_one: 0, is_zero: !0 } }
    }

    fn inverted(self) -> Self {
        Self { is_one: self.is_zero, is_zero: self.is_one }
    }
}

impl Aig {
    /// The same with an input that is always 0.
    #[must_use]
    pub fn with_low(mut self, input: &str) -> Self {
        let is_it = |(_, name): &(u32, String)| split(name).0 == input;
        let nodes = self.inputs.iter().filter(|one| is_it(one)).map(|(node, _)| *node);
        let nodes: Vec<u32> = nodes.collect();
        self.inputs.retain(|one| !is_it(one));
        // Neither operand is ever 1.
        self.ands.splice(0..0, nodes.into_iter().map(|node| (node, [FALSE, FALSE])));
        self
    }

    /// For each output whose name begins with one of `prefixes` and that is 1 in a case, a cycle in
    /// which it is. The ports are those of the cases, and `size` is the size of their struct.
    pub fn violations(
        &self,
        prefixes: &[&str],
        ports: &[Port],
        size: usize,
        cases: &[RecordedInputs],
    ) -> BTreeMap<String, Violation> {
        let is_selected = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let selected: Vec<&(Literal, String)> =
            self.outputs.iter().filter(|(_, name)| is_selected(name)).collect();
        let mut found = BTreeMap::new();
        for chunk in cases.chunks(LANES) {
            self.simulate(ports, size, chunk, false, |cycle, values, lanes| {
                for (literal, name) in &selected {
                    let is_one = value_of(values, *literal).is_one & lanes;
                    if is_one != 0 && !found.contains_key(name) {
                        let RecordedInputs { case, .. } = &chunk[is_one.trailing_zeros() as usize];
                        found.insert(name.clone(), Violation { case: case.clone(), cycle });
                    }
                }
            });
        }
        found
    }

    /// Which values each output may have had in each case, and which it had from the first edge on.
    /// That includes the evaluation after an edge, before the inputs change.
    pub fn seen_values(
        &self,
        ports: &[Port],
        size: usize,
        cases: &[RecordedInputs],
    ) -> Vec<Vec<Seen>> {
        let mut all = vec![vec![Seen::default(); self.outputs.len()]; cases.len()];
        for (chunk, of_chunk) in cases.chunks(LANES).zip(all.chunks_mut(LANES)) {
            // For each output, the cases in which it was not 1, not 0, 0 and 1.
            let mut masks = vec![[0; 4]; self.outputs.len()];
            self.simulate(ports, size, chunk, true, |cycle, values, lanes| {
                // The simulator also counts what its registers hold before the first edge.
                let shown = if cycle == 0 { 0 } else { !0 };
                for ((literal, _), masks) in self.outputs.iter().zip(&mut masks) {
                    let Known { is_one, is_zero } = value_of(values, *literal);
                    let now = [!is_one, !is_zero, is_zero & shown, is_one & shown];
                    masks.iter_mut().zip(now).for_each(|(mask, now)| *mask |= now & lanes);
                }
            });
            for (lane, seen) in of_chunk.iter_mut().enumerate() {
                for (seen, masks) in seen.iter_mut().zip(&masks) {
                    let [zero, one, is_zero, is_one] = masks.map(|mask| mask >> lane & 1 == 1);
                    *seen = Seen { zero, one, is_zero, is_one };
                }
            }
        }
        all
    }

    /// Calls `see` for each cycle with the values of all nodes, and the cases that have this cycle.
    /// With `after_edges` also for the values after each edge, as of the next cycle.
    fn simulate(
        &self,
        ports: &[Port],
        size: usize,
        cases: &[RecordedInputs],
        after_edges: bool,
        mut see: impl FnMut(usize, &[Known], u64),
    ) {
        let mut values = self.at_power_on();
        // The byte and the bit of each input that is a port.
        let place = |name: &str| {
            let (name, bit) = split(name);
            let port = ports.iter().find(|port| port.name == name && bit < port.width)?;
            Some((port.offset + bit as usize / 8, bit % 8))
        };
        let places: Vec<(usize, (usize, u32))> = self
            .inputs
            .iter()
            .filter_map(|(node, name)| Some((*node as usize, place(name)?)))
            .collect();
        let of_case = |case: &RecordedInputs| case.cycles.len() / size.max(1);
        let longest = cases.iter().map(of_case).max().unwrap_or(0);
        for cycle in 0..longest {
            let mut lanes = 0;
            for (node, _) in &places {
                values[*node] = Known::default();
            }
            for (lane, RecordedInputs { cycles, .. }) in cases.iter().enumerate() {
                let Some(bytes) = cycles.get(cycle * size..(cycle + 1) * size) else { continue };
                let lane = 1 << lane;
                lanes |= lane;
                for (node, (byte, bit)) in &places {
                    let value = &mut values[*node];
                    let is_one = bytes[*byte] >> bit & 1 == 1;
                    *(if is_one { &mut value.is_one } else { &mut value.is_zero }) |= lane;
                }
            }
            settle(&self.ands, &mut values);
            see(cycle, &values, lanes);
            let next: Vec<Known> =
                self.latches.iter().map(|latch| value_of(&values, latch.next)).collect();
            for (latch, next) in self.latches.iter().zip(next) {
                values[latch.node as usize] = next;
            }
            if after_edges {
                settle(&self.ands, &mut values);
                see(cycle + 1, &values, lanes);
            }
        }
    }

    /// The values of all nodes before the first edge, as far as no gate has to be evaluated.
    pub(super) fn at_power_on(&self) -> Vec<Known> {
        let mut values = vec![Known::default(); self.highest() as usize + 1];
        values[0] = Known::repeat_bit(false);
        for latch in &self.latches {
            values[latch.node as usize] = latch.initial.map_or(Known::default(), Known::repeat_bit);
        }
        values
    }
}

/// Evaluates gates, in their order.
pub(super) fn settle(ands: &[(u32, [Literal; 2])], values: &mut [Known]) {
    for (node, operands) in ands {
        let [left, right] = operands.map(|operand| value_of(values, operand));
        values[*node as usize] =
            Known { is_one: left.is_one & right.is_one, is_zero: left.is_zero | right.is_zero };
    }
}

pub(super) fn value_of(values: &[Known], literal: Literal) -> Known {
    let value = values[(literal / 2) as usize];
    if literal & 1 == 1 { value.inverted() } else { value }
}
