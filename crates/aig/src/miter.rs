//! A miter: the original and the mutated RTL in one network.

mod copies;
mod words;

use super::{Aig, EquivalenceQuery, FALSE, Interface, Literal, TRUE, split};
use crate::{FREE, OF};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A latch that is 0 in the first cycle, the reset cycle, and 1 afterwards: the first node.
pub(super) const STARTED: Literal = 2;

/// The literal of one side for a literal of the original graph.
pub(super) fn map_literal(side: &[Literal], literal: Literal) -> Literal {
    side[(literal / 2) as usize] ^ (literal & 1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    False,
    /// Index into the inputs.
    Input(usize),
    /// Index into the latches.
    Latch(usize),
    And([Literal; 2]),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    /// Differences of outputs, and of the addresses of unclocked reads, count while this is 1.
    /// Those of registers and of other ports of memories always count: what both sides share must
    /// stay equal from the reset cycle on.
    pub(super) outputs: Literal,
    /// Anything counts while this is 1. It stays 0 once it is 0.
    pub(super) given: Literal,
    /// Counts as a difference while it is 1.
    pub(super) more: Literal,
}

impl Counts {
    /// All outputs and registers in all cycles.
    pub(super) const ALL: Self = Self { outputs: TRUE, given: TRUE, more: FALSE };
}

/// Which read data each side has of its own.
pub(super) enum OwnReads<'a> {
    Followed,
    /// That of these ports, in the reset cycle alone.
    InReset(BTreeSet<&'a str>),
}

/// How shared registers are freed: they take any values.
pub(super) struct FreedRegisters {
    /// Values in the cycle after a reset cycle.
    pub(super) reset: HashMap<usize, bool>,
    /// Registers that are not freed.
    pub(super) kept: HashSet<usize>,
}

/// Both sides in one network, in which structurally equal nodes are shared.
pub(super) struct Miter {
    nodes: Vec<Node>,
    known: HashMap<[Literal; 2], u32>,
    inputs: Vec<String>,
    /// Next values. An unshared register of the original has a latch for each side.
    latches: Vec<Literal>,
    /// The latch of the original graph that each of them is, if it is one.
    owners: Vec<Option<usize>>,
    /// For each node of the original graph, its literal without and with the mutation.
    pub(super) sides: [Vec<Literal>; 2],
    /// 1 while all proved invariants of the original RTL hold.
    proved: Literal,
}

impl Miter {
    /// Registers outside `shared` get a latch for each side. With `freed`, shared registers take
    /// arbitrary values.
    pub(super) fn new(
        aig: &Aig,
        interface: &Interface<'_>,
        mutation: u32,
        shared: &HashSet<usize>,
        freed: Option<&FreedRegisters>,
    ) -> Self {
        let reads = OwnReads::InReset(BTreeSet::new());
        Self::with_memories(aig, interface, mutation, shared, freed, &reads)
    }

    /// As [`Self::new`]. Each side has the data of some reads of its own.
    pub(super) fn with_memories(
        aig: &Aig,
        interface: &Interface<'_>,
        mutation: u32,
        shared: &HashSet<usize>,
        freed: Option<&FreedRegisters>,
        reads: &OwnReads<'_>,
    ) -> Self {
        Self::build(aig, interface, mutation, shared, freed, reads, STARTED)
    }

    /// The unclocked read ports whose addresses may differ between the sides in the reset cycle.
    pub(super) fn moved_in_reset<'a>(
        aig: &'a Aig,
        interface: &Interface<'_>,
        mutation: u32,
        shared: &HashSet<usize>,
    ) -> BTreeSet<&'a str> {
        let mut moved = BTreeSet::new();
        // Data may be the address of another read.
        loop {
            let reads = OwnReads::InReset(moved.clone());
            let miter = Self::build(aig, interface, mutation, shared, None, &reads, FALSE);
            let before = moved.len();
            moved.extend(aig.outputs.iter().filter_map(|(literal, name)| {
                let port = split(name).0.strip_prefix(interface.read_at[0])?;
                let [left, right] = [0, 1].map(|side| map_literal(&miter.sides[side], *literal));
                (left != right).then_some(port)
            }));
            if moved.len() == before {
                return moved;
            }
        }
    }

    /// As [`Self::with_memories`]. `started` is [`STARTED`], or false for the reset cycle alone.
    fn build(
        aig: &Aig,
        interface: &Interface<'_>,
        mutation: u32,
        shared: &HashSet<usize>,
        freed: Option<&FreedRegisters>,
        reads: &OwnReads<'_>,
        started: Literal,
    ) -> Self {
        let mut miter = Self::empty(aig);
        for (node, name) in &aig.inputs {
            let (port, bit) = split(name);
            let values = if port == interface.select {
                [FALSE, Literal::from(mutation >> bit & 1 == 1)]
            } else {
                let pin = miter.input(name);
                let value = if port.starts_with(interface.read) || port.starts_with(FREE) {
                    pin
                } else {
                    match interface.reset {
                        Some((reset, true)) if reset == port => miter.or(started ^ 1, pin),
                        _ => miter.and(started, pin),
                    }
                };
                let other = match (port.strip_prefix(interface.read), reads) {
                    (Some(read), OwnReads::Followed) if read.contains(OF) => miter.input(""),
                    (Some(read), OwnReads::InReset(ports)) if ports.contains(read) => {
                        let own = miter.input("");
                        miter.choose(started, value, own)
                    }
                    _ => value,
                };
                [value, other]
            };
            for (side, value) in miter.sides.iter_mut().zip(values) {
                side[*node as usize] = value;
            }
        }
        let mut owners = Vec::new();
        let behind_reset = if freed.is_some() { miter.behind_reset(aig, interface) } else { FALSE };
        let places = miter.latches.len();
        let fill = interface.filled.then(|| miter.input(""));
        for (index, latch) in aig.latches.iter().enumerate() {
            let is_shared = shared.contains(&index);
            let is_freed = |freed: &&FreedRegisters| is_shared && !freed.kept.contains(&index);
            if let Some(freed) = freed.filter(is_freed) {
                let value = miter.input("");
                let value = match freed.reset.get(&index) {
                    Some(held) => miter.choose(behind_reset, Literal::from(*held), value),
                    None => value,
                };
                miter.sides.iter_mut().for_each(|side| side[latch.node as usize] = value);
                continue;
            }
            let unknown = latch.initial.is_none().then(|| fill.unwrap_or_else(|| miter.input("")));
            for side in 0..if is_shared { 1 } else { 2 } {
                let node = miter.latch();
                owners.push((index, side));
                let value = match (latch.initial, unknown) {
                    (_, Some(unknown)) => miter.choose(started, node, unknown),
                    (Some(initial), _) if started == FALSE => Literal::from(initial),
                    (Some(true), _) => node ^ 1,
                    _ => node,
                };
                miter.sides[side][latch.node as usize] = value;
                if is_shared {
                    miter.sides[1][latch.node as usize] = value;
                }
            }
        }
        miter.gates(aig);
        for (literal, _) in aig.outputs.iter().filter(|(_, name)| interface.proved.contains(name)) {
            miter.proved = miter.and(miter.proved, map_literal(&miter.sides[0], *literal) ^ 1);
        }
        for (place, (index, side)) in owners.into_iter().enumerate() {
            let latch = &aig.latches[index];
            miter.owners[place + places] = Some(index);
            let next = map_literal(&miter.sides[side], latch.next)
                ^ Literal::from(latch.initial == Some(true));
            miter.latches[place + places] =
                if shared.contains(&index) { next } else { miter.and(miter.proved, next) };
        }
        miter
    }

    /// A miter of this graph with [`STARTED`] alone.
    fn empty(aig: &Aig) -> Self {
        let side = vec![FALSE; aig.highest() as usize + 1];
        let mut miter = Self {
            nodes: vec![Node::False],
            known: HashMap::new(),
            inputs: Vec::new(),
            latches: Vec::new(),
            owners: Vec::new(),
            sides: [side.clone(), side],
            proved: TRUE,
        };
        let started = miter.latch();
        debug_assert_eq!(started, STARTED);
        miter.latches[0] = TRUE;
        miter
    }

    /// The gates of both sides, of inputs and registers.
    fn gates(&mut self, aig: &Aig) {
        for (node, operands) in &aig.ands {
            for side in 0..2 {
                let [left, right] = operands.map(|operand| map_literal(&self.sides[side], operand));
                self.sides[side][*node as usize] = self.and(left, right);
            }
        }
    }

    /// 1 if the cycle before was a reset cycle.
    fn behind_reset(&mut self, aig: &Aig, interface: &Interface<'_>) -> Literal {
        let Some((reset, level)) = interface.reset else { return FALSE };
        let pin = aig.inputs.iter().find(|(_, name)| split(name).0 == reset);
        let pin = pin.map(|(node, _)| self.sides[0][*node as usize] ^ Literal::from(!level));
        self.remembers(pin.unwrap_or(FALSE))
    }

    fn input(&mut self, name: &str) -> Literal {
        self.nodes.push(Node::Input(self.inputs.len()));
        self.inputs.push(name.to_owned());
        (self.nodes.len() as u32 - 1) * 2
    }

    fn latch(&mut self) -> Literal {
        self.nodes.push(Node::Latch(self.latches.len()));
        self.latches.push(FALSE);
        self.owners.push(None);
        (self.nodes.len() as u32 - 1) * 2
    }

    pub(super) fn and(&mut self, left: Literal, right: Literal) -> Literal {
        let operands = [left.max(right), left.min(right)];
        match operands {
            [_, FALSE] => FALSE,
            [other, TRUE] => other,
            [left, right] if left == right => left,
            [left, right] if left == right ^ 1 => FALSE,
            _ => {
                let nodes = &mut self.nodes;
                let node = *self.known.entry(operands).or_insert_with(|| {
                    nodes.push(Node::And(operands));
                    nodes.len() as u32 - 1
                });
                node * 2
            }
        }
    }

    pub(super) fn or(&mut self, left: Literal, right: Literal) -> Literal {
        self.and(left ^ 1, right ^ 1) ^ 1
    }

    pub(super) fn choose(&mut self, condition: Literal, yes: Literal, no: Literal) -> Literal {
        let (yes, no) = (self.and(condition, yes), self.and(condition ^ 1, no));
        self.or(yes, no)
    }

    pub(super) fn xor(&mut self, left: Literal, right: Literal) -> Literal {
        if left == right {
            return FALSE;
        }
        self.choose(left, right ^ 1, right)
    }

    /// 1 while `broken` was 0 in every cycle so far.
    pub(super) fn so_far(&mut self, broken: Literal) -> Literal {
        let held_before = self.held_before(broken);
        self.and(held_before, broken ^ 1)
    }

    /// 1 while `broken` was 0 in every earlier cycle.
    pub(super) fn held_before(&mut self, broken: Literal) -> Literal {
        let place = self.latches.len();
        let was_broken = self.latch();
        self.latches[place] = self.or(was_broken, broken);
        was_broken ^ 1
    }

    /// 1 while each unclocked memory read returned the data of the cycle before, whenever its
    /// address is unchanged and nothing was written.
    pub(super) fn reads_are_kept(&mut self, aig: &Aig, interface: &Interface<'_>) -> Literal {
        let [place, when] = interface.read_at;
        let is_memory = |name: &str, prefix: &str, memory: &str| {
            split(name).0.strip_prefix(prefix).is_some_and(|other| other == memory)
        };
        let mut written = FALSE;
        for (literal, name) in &aig.outputs {
            if name.starts_with(interface.write[0]) {
                written = self.or(written, map_literal(&self.sides[0], *literal));
            }
        }
        // In the first cycle nothing is known of the cycle before.
        let quiet = self.remembers(written ^ 1);
        let memories: BTreeSet<&str> = aig
            .inputs
            .iter()
            .filter_map(|(_, name)| split(name).0.strip_prefix(interface.read))
            .filter(|memory| !aig.outputs.iter().any(|(_, name)| is_memory(name, when, memory)))
            .collect();
        let mut broken = FALSE;
        for memory in memories {
            let mut moved = FALSE;
            for (literal, name) in &aig.outputs {
                if is_memory(name, place, memory) {
                    let bit = self.changes(map_literal(&self.sides[0], *literal));
                    moved = self.or(moved, bit);
                }
            }
            let mut changed = FALSE;
            for (node, name) in &aig.inputs {
                if is_memory(name, interface.read, memory) {
                    let bit = self.changes(self.sides[0][*node as usize]);
                    changed = self.or(changed, bit);
                }
            }
            let is_same_place = self.and(quiet, moved ^ 1);
            let breaks = self.and(is_same_place, changed);
            broken = self.or(broken, breaks);
        }
        self.so_far(broken)
    }

    /// The value of a literal in the cycle before; 0 in the first cycle.
    pub(super) fn remembers(&mut self, literal: Literal) -> Literal {
        let place = self.latches.len();
        let latch = self.latch();
        self.latches[place] = literal;
        latch
    }

    /// 1 if a literal differs from its value in the cycle before.
    pub(super) fn changes(&mut self, literal: Literal) -> Literal {
        let before = self.remembers(literal);
        self.xor(before, literal)
    }

    /// Asks whether an output, or one of the other pairs of literals, ever differs.
    pub(super) fn into_query(
        self,
        aig: &Aig,
        interface: &Interface<'_>,
        pairs: &[[Literal; 2]],
    ) -> EquivalenceQuery {
        self.ask_but(aig, interface, pairs, |_| false, Counts::ALL)
    }

    /// As [`Self::into_query`], but ignores outputs for which `is_apart` holds, and counts what
    /// `counts` says.
    pub(super) fn ask_but(
        mut self,
        aig: &Aig,
        interface: &Interface<'_>,
        pairs: &[[Literal; 2]],
        is_apart: impl Fn(&str) -> bool,
        counts: Counts,
    ) -> EquivalenceQuery {
        // Write enables by memory and bit, and by memory.
        let [enable, data, address] = interface.write;
        let mut enabled: BTreeMap<(String, u32), [Literal; 2]> = BTreeMap::new();
        let mut any: BTreeMap<String, [Literal; 2]> = BTreeMap::new();
        for (literal, name) in &aig.outputs {
            let (port, bit) = split(name);
            if let Some(memory) = port.strip_prefix(enable) {
                let values = [0, 1].map(|side| map_literal(&self.sides[side], *literal));
                enabled.insert((memory.to_owned(), bit), values);
                let sofar = any.get(memory).copied().unwrap_or([FALSE; 2]);
                let now = [0, 1].map(|side| self.or(sofar[side], values[side]));
                any.insert(memory.to_owned(), now);
            }
        }
        // A clocked port has an enable, and keeps what its address gives at the edge.
        let [at, when] = interface.read_at;
        let names = aig.outputs.iter().map(|(_, name)| split(name).0);
        let clocked: HashSet<&str> = names.filter_map(|port| port.strip_prefix(when)).collect();
        let at_edge: Vec<&str> =
            interface.write.into_iter().chain(interface.read_reset).chain([when]).collect();
        let is_at_edge = |port: &str| match port.strip_prefix(at) {
            Some(read) => clocked.contains(read),
            None => at_edge.iter().any(|prefix| port.starts_with(prefix)),
        };
        let [mut differs, mut edge_differs] = [FALSE; 2];
        let is_own = |name: &str| {
            interface.never.iter().any(|prefix| name.starts_with(prefix)) || is_apart(name)
        };
        for (literal, name) in aig.outputs.iter().filter(|(_, name)| !is_own(name)) {
            let (port, bit) = split(name);
            let mask = if let Some(memory) = port.strip_prefix(data) {
                enabled.get(&(memory.to_owned(), bit)).copied()
            } else {
                port.strip_prefix(address).and_then(|memory| any.get(memory).copied())
            };
            let mut values = [0, 1].map(|side| map_literal(&self.sides[side], *literal));
            if let Some(mask) = mask {
                values = [0, 1].map(|side| self.and(values[side], mask[side]));
            }
            let difference = self.xor(values[0], values[1]);
            let all = if is_at_edge(port) { &mut edge_differs } else { &mut differs };
            *all = self.or(*all, difference);
        }
        differs = self.and(differs, counts.outputs);
        differs = self.or(differs, edge_differs);
        differs = self.or(differs, counts.more);
        for [left, right] in pairs {
            let difference = self.xor(*left, *right);
            differs = self.or(differs, difference);
        }
        let differs = self.and(differs, self.proved);
        let differs = self.and(differs, counts.given);
        if differs == FALSE { EquivalenceQuery::Same } else { self.file(differs) }
    }

    /// The cone of influence of a literal, as a binary AIGER file.
    pub(super) fn file(&self, output: Literal) -> EquivalenceQuery {
        let mut used = HashSet::new();
        let mut stack = vec![output / 2];
        while let Some(node) = stack.pop() {
            if !used.insert(node) {
                continue;
            }
            match self.nodes[node as usize] {
                Node::False | Node::Input(_) => {}
                Node::Latch(place) => stack.push(self.latches[place] / 2),
                Node::And(operands) => stack.extend(operands.map(|operand| operand / 2)),
            }
        }
        let nodes = || (0u32..).zip(&self.nodes).filter(|(node, _)| used.contains(node));
        let mut number: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        let mut inputs = Vec::new();
        for (node, kind) in nodes() {
            if let Node::Input(place) = kind {
                number.insert(node, number.len() as u32);
                inputs.push(self.inputs[*place].clone());
            }
        }
        let (mut latches, mut owners) = (Vec::new(), Vec::new());
        for (node, kind) in nodes() {
            if let Node::Latch(place) = kind {
                number.insert(node, number.len() as u32);
                latches.push(self.latches[*place]);
                owners.push(self.owners[*place]);
            }
        }
        let mut ands = Vec::new();
        // AIGER requires operands before their users.
        for (node, kind) in nodes() {
            if let Node::And(operands) = kind {
                number.insert(node, number.len() as u32);
                ands.push((node, *operands));
            }
        }
        let renamed = |literal: Literal| number[&(literal / 2)] * 2 + (literal & 1);
        let highest = inputs.len() + latches.len() + ands.len();
        let mut file =
            format!("aig {highest} {} {} 1 {}\n", inputs.len(), latches.len(), ands.len());
        for next in latches {
            file += &format!("{}\n", renamed(next));
        }
        file += &format!("{}\n", renamed(output));
        let mut file = file.into_bytes();
        for (node, operands) in ands {
            let [left, right] = operands.map(renamed);
            let (left, right) = (left.max(right), left.min(right));
            encode(&mut file, number[&node] * 2 - left);
            encode(&mut file, left - right);
        }
        EquivalenceQuery::Open { file, inputs, latches: owners }
    }
}

/// Encodes a number for binary AIGER: 7 bits per byte, lowest first.
fn encode(file: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        file.push(number as u8 | 0x80);
        number >>= 7;
    }
    file.push(number as u8);
}
