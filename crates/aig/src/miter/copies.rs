//! Two copies of one RTL that differ only in unknown values.

use super::super::unknown::Difference;
use super::super::{Aig, FALSE, Interface, Literal, split};
use super::{Miter, STARTED, map_literal};
use crate::FREE;
use std::collections::{HashMap, HashSet};

impl Miter {
    /// Both sides are the same RTL with equal inputs. Apart are registers outside `shared`, free
    /// signals, the read data of memories, and payload inputs while their valid is 0: `payload` has
    /// the node of each bit with that of its valid. Before the reset cycle, registers without an
    /// initial value hold values of their own on each side.
    pub(in super::super) fn copies(
        aig: &Aig,
        interface: &Interface<'_>,
        shared: &HashSet<usize>,
        payload: &[[u32; 2]],
    ) -> Self {
        let mut miter = Self::empty(aig);
        for (node, name) in &aig.inputs {
            let (port, pin) = (split(name).0, miter.input(name));
            let values = match interface.reset {
                _ if is_apart(port, interface) => [pin, miter.input("")],
                Some((reset, true)) if reset == port => [miter.or(STARTED ^ 1, pin); 2],
                _ => [miter.and(STARTED, pin); 2],
            };
            miter.set(*node, values);
        }
        for [node, valid] in payload {
            let [pin, valid] = [node, valid].map(|node| miter.sides[0][*node as usize]);
            let own = miter.input("");
            miter.sides[1][*node as usize] = miter.choose(valid, pin, own);
        }
        let begins = [0, 1].map(|_| miter.reset_cycle(aig, interface, payload));
        let mut owners = Vec::new();
        for (index, latch) in aig.latches.iter().enumerate() {
            let is_shared = shared.contains(&index);
            let first = miter.latch();
            let second = if is_shared { first } else { miter.latch() };
            owners.extend((0..if is_shared { 1 } else { 2 }).map(|side| (index, side)));
            miter.set(latch.node, [first, second]);
        }
        miter.gates(aig);
        for (place, (index, side)) in (1..).zip(owners) {
            let next = aig.latches[index].next;
            let [later, begin] =
                [&miter.sides[side], &begins[side]].map(|values| map_literal(values, next));
            miter.latches[place] = miter.choose(STARTED, later, begin);
        }
        miter
    }

    /// The values of all nodes in the reset cycle, in which all other inputs are low, so that each
    /// payload is idle. What is unknown gets inputs of its own.
    fn reset_cycle(
        &mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        payload: &[[u32; 2]],
    ) -> Vec<Literal> {
        let mut values = vec![FALSE; self.sides[0].len()];
        for (node, name) in &aig.inputs {
            let port = split(name).0;
            values[*node as usize] = match interface.reset {
                _ if is_apart(port, interface) => self.input(""),
                Some((reset, level)) if reset == port => Literal::from(level),
                _ => FALSE,
            };
        }
        for [node, _] in payload {
            values[*node as usize] = self.input("");
        }
        for latch in &aig.latches {
            let value = latch.initial.map(Literal::from);
            values[latch.node as usize] = value.unwrap_or_else(|| self.input(""));
        }
        for (node, operands) in &aig.ands {
            let [left, right] = operands.map(|operand| map_literal(&values, operand));
            values[*node as usize] = self.and(left, right);
        }
        values
    }

    /// Asks whether one of the outputs differs between the sides while its governor, if it has
    /// one, is 1 on both, or one of `pairs` differs. With `illegal`, only while no output whose
    /// name begins with it was 1 so far. With candidates, one word of each followed memory is
    /// unknown until it is written; both sides must write all others alike, and no candidate may
    /// be wrong.
    pub(in super::super) fn differs_at(
        &mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        Difference { outputs, pairs, illegal, candidates }: Difference<'_>,
    ) -> Literal {
        let mut bits: HashMap<&str, Vec<[Literal; 2]>> = HashMap::new();
        let mut breaks = FALSE;
        for (literal, name) in &aig.outputs {
            let values = [0, 1].map(|side| map_literal(&self.sides[side], *literal));
            bits.entry(split(name).0).or_default().push(values);
            if illegal.is_some_and(|prefix| name.starts_with(prefix)) {
                breaks = self.or(breaks, values[0]);
            }
        }
        let mut differs = FALSE;
        for [left, right] in pairs {
            let one = self.xor(*left, *right);
            differs = self.or(differs, one);
        }
        for (output, governor) in outputs {
            let mut one = FALSE;
            for [left, right] in bits.get(output).into_iter().flatten() {
                let difference = self.xor(*left, *right);
                one = self.or(one, difference);
            }
            let governing = governor.map(|governor| bits.get(governor));
            debug_assert!(governing.is_none_or(|bits| bits.is_some()), "{governor:?} is no output");
            for value in governing.flatten().into_iter().flatten().flatten() {
                one = self.and(one, *value);
            }
            differs = self.or(differs, one);
        }
        if let Some(candidates) = candidates {
            let [follows, writes] = self.unwritten(aig, interface, candidates);
            differs = self.or(differs, writes);
            differs = self.and(differs, follows);
        }
        // The registers have no values in the reset cycle.
        breaks = self.and(breaks, STARTED);
        let legal = self.so_far(breaks);
        differs = self.and(differs, legal);
        self.and(differs, STARTED)
    }

    /// The values of a node of the original graph.
    fn set(&mut self, node: u32, values: [Literal; 2]) {
        for (side, value) in self.sides.iter_mut().zip(values) {
            side[node as usize] = value;
        }
    }
}

/// Whether an input has a value of its own in each copy.
fn is_apart(port: &str, interface: &Interface<'_>) -> bool {
    port.starts_with(interface.read) || port.starts_with(FREE)
}

impl Aig {
    pub(in super::super) fn known_after_reset(
        &self,
        interface: &Interface<'_>,
        payload: &[[u32; 2]],
    ) -> HashSet<usize> {
        let mut known: HashMap<u32, bool> = HashMap::from([(0, false)]);
        let is_payload = |node: u32| payload.iter().any(|[payload, _]| *payload == node);
        for (node, name) in &self.inputs {
            let port = split(name).0;
            if !is_apart(port, interface) && !is_payload(*node) {
                let is_reset = interface.reset.filter(|(reset, _)| *reset == port);
                known.insert(*node, is_reset.is_some_and(|(_, level)| level));
            }
        }
        let initial = |latch: &super::super::Latch| Some((latch.node, latch.initial?));
        known.extend(self.latches.iter().filter_map(initial));
        self.propagate(&mut known);
        let is_known = |index: &usize| known.contains_key(&(self.latches[*index].next / 2));
        (0..self.latches.len()).filter(is_known).collect()
    }
}
