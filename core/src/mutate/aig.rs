//! And-inverter graphs: what Yosys makes of a netlist, and the question whether a mutation changes anything.

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
    /// The first bit of its register, if it is one of several.
    word: Option<usize>,
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

/// The question whether a mutation makes a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
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
        for _ in 0..latches {
            let line = numbers(lines.next()?)?;
            let (&[node, next], initial) = line.split_first_chunk::<2>()?;
            let initial = match initial {
                [] | [0] => Some(false),
                [1] => Some(true),
                _ => None,
            };
            aig.latches.push(Latch { node: node / 2, next, initial, word: None });
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
            let mut fields = line.splitn(4, ' ');
            let (Some("latch"), Some(index), Some(_), Some(name)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let index = index.parse::<usize>().ok().filter(|index| *index < self.latches.len());
            let Some(index) = index else {
                continue;
            };
            self.latches[index].word = Some(*first.entry(name).or_insert(index));
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
    pub fn question(&self, interface: &Interface<'_>, mutation: u32) -> Question {
        self.difference(interface, mutation, None)
    }

    /// Asks whether the mutation reaches any register but those near it: those that its change of a signal, and then `hops` times
    /// the registers reached so far, can give another value at the next edge. All others are one register of both sides,
    /// and it is a difference if they were to become two. What shows that there is none shows, cycle by cycle, that they
    /// never do; a difference says nothing.
    pub fn nearby(&self, interface: &Interface<'_>, mutation: u32, hops: usize) -> Question {
        self.difference(interface, mutation, Some(hops))
    }

    fn difference(
        &self,
        interface: &Interface<'_>,
        mutation: u32,
        hops: Option<usize>,
    ) -> Question {
        let mut shared = self.all();
        let mut hop = 0;
        loop {
            let both = Both::new(self, interface, mutation, &shared, None);
            let differing = self.differing(&both, &shared);
            if differing.is_empty() || hops == Some(hop) {
                return both.ask(self, interface, &differing.into_values().collect::<Vec<_>>());
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
    pub fn alone(&self, interface: &Interface<'_>, mutation: u32) -> Vec<Question> {
        let interface = &Interface { proved: &[], ..*interface };
        let all = self.all();
        let both = Both::new(self, interface, mutation, &all, None);
        let word = |index: usize| self.latches[index].word.unwrap_or(index);
        let words: BTreeSet<usize> = self.differing(&both, &all).into_keys().map(word).collect();
        let reset = self.reset_by(interface);
        let ask = |one: usize| {
            let shared = all.iter().copied().filter(|index| word(*index) != one).collect();
            let both = Both::new(self, interface, mutation, &shared, Some(&reset));
            let differing = self.differing(&both, &shared);
            both.ask(self, interface, &differing.into_values().collect::<Vec<_>>())
        };
        words.into_iter().map(ask).collect()
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
    fn differing(&self, both: &Both, shared: &HashSet<usize>) -> BTreeMap<usize, [Literal; 2]> {
        let next = |index: &usize| {
            let next = [0, 1].map(|side| of(&both.sides[side], self.latches[*index].next));
            (next[0] != next[1]).then_some((*index, next))
        };
        shared.iter().filter_map(next).collect()
    }

    /// Asks whether an output of one bit is ever 1, from the cycle in reset on; registers that nothing initialises
    /// begin with any value. `None` if there is no such output.
    ///
    /// What a memory gives is anything; if it `keeps`, the same as in the cycle before where it was read at the same
    /// place then and no memory was written at the edge between them.
    pub fn property(
        &self,
        interface: &Interface<'_>,
        output: &str,
        keeps: bool,
    ) -> Option<Question> {
        let all = self.all();
        let mut both = Both::new(self, interface, 0, &all, None);
        let (literal, _) = self.outputs.iter().find(|(_, name)| name == output)?;
        let mut value = of(&both.sides[0], *literal);
        if keeps && value != FALSE {
            let kept = both.kept(self, interface);
            value = both.and(value, kept);
        }
        Some(if value == FALSE { Question::Same } else { both.file(value) })
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

/// A literal of the original, on one side.
fn of(side: &[Literal], literal: Literal) -> Literal {
    side[(literal / 2) as usize] ^ (literal & 1)
}

/// A node of the network of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    False,
    /// By its place among the inputs.
    Input(usize),
    /// By its place among the latches.
    Latch(usize),
    And([Literal; 2]),
}

/// Both sides in one network, in which equal nodes are one.
struct Both {
    nodes: Vec<Node>,
    known: HashMap<[Literal; 2], u32>,
    inputs: Vec<String>,
    /// The next values; of those of the original a side each, if they are not shared.
    latches: Vec<Literal>,
    /// For each node of the original, its literal: as the RTL is, and with the mutation.
    sides: [Vec<Literal>; 2],
    /// What is proved of the RTL as it is.
    proved: Literal,
}

impl Both {
    /// Registers that are not among the shared ones are two, one of each side. If the shared ones are `freed` they hold anything,
    /// but behind a cycle in reset what is said there.
    fn new(
        aig: &Aig,
        interface: &Interface<'_>,
        mutation: u32,
        shared: &HashSet<usize>,
        freed: Option<&HashMap<usize, bool>>,
    ) -> Self {
        let highest = aig.inputs.iter().map(|(node, _)| *node);
        let highest = highest.chain(aig.latches.iter().map(|latch| latch.node));
        let highest = highest.chain(aig.ands.iter().map(|(node, _)| *node)).max().unwrap_or(0);
        let side = vec![FALSE; highest as usize + 1];
        let mut both = Self {
            nodes: vec![Node::False],
            known: HashMap::new(),
            inputs: Vec::new(),
            latches: Vec::new(),
            sides: [side.clone(), side],
            proved: TRUE,
        };
        // False in the first cycle, which is in reset.
        let started = both.latch();
        both.latches[0] = TRUE;
        for (node, name) in &aig.inputs {
            let (port, bit) = split(name);
            let values = if port == interface.select {
                [FALSE, Literal::from(mutation >> bit & 1 == 1)]
            } else {
                let pin = both.input(name);
                let value = if port.starts_with(interface.read) {
                    pin
                } else {
                    match interface.reset {
                        Some((reset, true)) if reset == port => both.or(started ^ 1, pin),
                        _ => both.and(started, pin),
                    }
                };
                [value; 2]
            };
            for (side, value) in both.sides.iter_mut().zip(values) {
                side[*node as usize] = value;
            }
        }
        // What a register begins with.
        let mut owners = Vec::new();
        let behind_reset = if freed.is_some() { both.behind_reset(aig, interface) } else { FALSE };
        let places = both.latches.len();
        let fill = interface.filled.then(|| both.input(""));
        for (index, latch) in aig.latches.iter().enumerate() {
            let unknown = latch.initial.is_none().then(|| fill.unwrap_or_else(|| both.input("")));
            let is_shared = shared.contains(&index);
            if let Some(reset) = freed.filter(|_| is_shared) {
                let value = both.input("");
                let value = match reset.get(&index) {
                    Some(held) => both.choose(behind_reset, Literal::from(*held), value),
                    None => value,
                };
                both.sides.iter_mut().for_each(|side| side[latch.node as usize] = value);
                continue;
            }
            for side in 0..if is_shared { 1 } else { 2 } {
                let node = both.latch();
                owners.push((index, side));
                let value = match (latch.initial, unknown) {
                    (_, Some(unknown)) => both.choose(started, node, unknown),
                    (Some(true), _) => node ^ 1,
                    _ => node,
                };
                both.sides[side][latch.node as usize] = value;
                if is_shared {
                    both.sides[1][latch.node as usize] = value;
                }
            }
        }
        for (node, operands) in &aig.ands {
            for side in 0..2 {
                let [left, right] = operands.map(|operand| of(&both.sides[side], operand));
                let value = both.and(left, right);
                both.sides[side][*node as usize] = value;
            }
        }
        for (literal, _) in aig.outputs.iter().filter(|(_, name)| interface.proved.contains(name)) {
            both.proved = both.and(both.proved, of(&both.sides[0], *literal) ^ 1);
        }
        for (place, (index, side)) in owners.into_iter().enumerate() {
            let latch = &aig.latches[index];
            let next =
                of(&both.sides[side], latch.next) ^ Literal::from(latch.initial == Some(true));
            both.latches[place + places] =
                if shared.contains(&index) { next } else { both.and(both.proved, next) };
        }
        both
    }

    /// Whether the cycle before was in reset.
    fn behind_reset(&mut self, aig: &Aig, interface: &Interface<'_>) -> Literal {
        let Some((reset, level)) = interface.reset else { return FALSE };
        let pin = aig.inputs.iter().find(|(_, name)| split(name).0 == reset);
        let pin = pin.map(|(node, _)| self.sides[0][*node as usize] ^ Literal::from(!level));
        let was = self.latch();
        let place = self.latches.len() - 1;
        self.latches[place] = pin.unwrap_or(FALSE);
        was
    }

    fn input(&mut self, name: &str) -> Literal {
        self.nodes.push(Node::Input(self.inputs.len()));
        self.inputs.push(name.to_owned());
        (self.nodes.len() as u32 - 1) * 2
    }

    fn latch(&mut self) -> Literal {
        self.nodes.push(Node::Latch(self.latches.len()));
        self.latches.push(FALSE);
        (self.nodes.len() as u32 - 1) * 2
    }

    fn and(&mut self, left: Literal, right: Literal) -> Literal {
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

    fn or(&mut self, left: Literal, right: Literal) -> Literal {
        self.and(left ^ 1, right ^ 1) ^ 1
    }

    fn choose(&mut self, condition: Literal, yes: Literal, no: Literal) -> Literal {
        let (yes, no) = (self.and(condition, yes), self.and(condition ^ 1, no));
        self.or(yes, no)
    }

    fn xor(&mut self, left: Literal, right: Literal) -> Literal {
        if left == right {
            return FALSE;
        }
        self.choose(left, right ^ 1, right)
    }

    /// Whether memories that are read without a clock have kept in every cycle so far what they gave, if nothing was
    /// written.
    fn kept(&mut self, aig: &Aig, interface: &Interface<'_>) -> Literal {
        let [place, when] = interface.read_at;
        let is_memory = |name: &str, prefix: &str, memory: &str| {
            split(name).0.strip_prefix(prefix).is_some_and(|other| other == memory)
        };
        let mut written = FALSE;
        for (literal, name) in &aig.outputs {
            if name.starts_with(interface.write[0]) {
                written = self.or(written, of(&self.sides[0], *literal));
            }
        }
        // Nothing is known before the first cycle.
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
                    let bit = self.changes(of(&self.sides[0], *literal));
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
        // What was broken once stays so.
        let place = self.latches.len();
        let was_broken = self.latch();
        let is_broken = self.or(was_broken, broken);
        self.latches[place] = is_broken;
        is_broken ^ 1
    }

    /// What a literal was in the cycle before; 0 in the first one.
    fn remembers(&mut self, literal: Literal) -> Literal {
        let place = self.latches.len();
        let latch = self.latch();
        self.latches[place] = literal;
        latch
    }

    /// Whether a literal is not what it was in the cycle before.
    fn changes(&mut self, literal: Literal) -> Literal {
        let before = self.remembers(literal);
        self.xor(before, literal)
    }

    /// Asks whether an output ever differs, or one of the other pairs of literals.
    fn ask(mut self, aig: &Aig, interface: &Interface<'_>, pairs: &[[Literal; 2]]) -> Question {
        // Bits of each memory's writes, by what stands behind the prefix.
        let [enable, data, address] = interface.write;
        let mut enabled: BTreeMap<(String, u32), [Literal; 2]> = BTreeMap::new();
        let mut any: BTreeMap<String, [Literal; 2]> = BTreeMap::new();
        for (literal, name) in &aig.outputs {
            let (port, bit) = split(name);
            if let Some(memory) = port.strip_prefix(enable) {
                let values = [0, 1].map(|side| of(&self.sides[side], *literal));
                enabled.insert((memory.to_owned(), bit), values);
                let sofar = any.get(memory).copied().unwrap_or([FALSE; 2]);
                let now = [0, 1].map(|side| self.or(sofar[side], values[side]));
                any.insert(memory.to_owned(), now);
            }
        }
        let mut differs = FALSE;
        let is_own = |name: &str| !interface.never.is_empty() && name.starts_with(interface.never);
        for (literal, name) in aig.outputs.iter().filter(|(_, name)| !is_own(name)) {
            let (port, bit) = split(name);
            let mask = if let Some(memory) = port.strip_prefix(data) {
                enabled.get(&(memory.to_owned(), bit)).copied()
            } else {
                port.strip_prefix(address).and_then(|memory| any.get(memory).copied())
            };
            let mut values = [0, 1].map(|side| of(&self.sides[side], *literal));
            if let Some(mask) = mask {
                values = [0, 1].map(|side| self.and(values[side], mask[side]));
            }
            let difference = self.xor(values[0], values[1]);
            differs = self.or(differs, difference);
        }
        for [left, right] in pairs {
            let difference = self.xor(*left, *right);
            differs = self.or(differs, difference);
        }
        let differs = self.and(differs, self.proved);
        if differs == FALSE { Question::Same } else { self.file(differs) }
    }

    /// The binary AIGER file of what decides a literal.
    fn file(&self, output: Literal) -> Question {
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
        let mut latches = Vec::new();
        for (node, kind) in nodes() {
            if let Node::Latch(place) = kind {
                number.insert(node, number.len() as u32);
                latches.push(self.latches[*place]);
            }
        }
        let mut ands = Vec::new();
        // Operands come before what they are operands of.
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
        Question::Open { file, inputs }
    }
}

/// A number as AIGER has it: seven bits a byte, the lowest first.
fn encode(file: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        file.push(number as u8 | 0x80);
        number >>= 7;
    }
    file.push(number as u8);
}

/// A name and its bit, as in `data[3]`; 0 if there is none.
pub fn split(name: &str) -> (&str, u32) {
    let parts = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    let bit = parts.and_then(|(name, bit)| Some((name, bit.parse().ok()?)));
    bit.unwrap_or((name, 0))
}

#[cfg(test)]
mod tests;
