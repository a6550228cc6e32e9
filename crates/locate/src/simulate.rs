//! Simulates a [`Design`] cycle by cycle, as the harness drives a model of it.
//!
//! It exists to answer "what if": a few cycles with one changed expression, thousands of times.
//! Verdicts come from the compiled model alone.

use super::bits::{self, Bits};
use super::design::{Design, Node, NodeId, Operation, Statement, Target, VariableId};
use cosim_block::driven::DrivenPins;
use std::cmp::Ordering;
use verilated::{BeforeReset, Port};

/// Rounds of the combinational processes after which they count as unstable.
const MOST_ROUNDS: usize = 64;

/// The pins of a case: what is driven and what is expected.
#[derive(Debug, Clone)]
pub struct Stimulus {
    /// The values of [`Pins::inputs`] in each cycle.
    pub inputs: Vec<Vec<Bits>>,
    /// The values of [`Pins::outputs`] in each cycle, each with the bits that are compared.
    pub expected: Vec<Vec<(Bits, Bits)>>,
    /// The bits of registers before reset.
    pub before_reset: bool,
}

#[derive(Debug, Clone)]
pub struct Pins {
    pub clock: VariableId,
    pub inputs: Vec<VariableId>,
    pub outputs: Vec<VariableId>,
}

impl Stimulus {
    /// The first `most` cycles of a case.
    pub fn of(pins: &DrivenPins, inputs: &[Port], outputs: &[Port], most: usize) -> Self {
        let values = |ports: &[Port], bytes: &[u8]| -> Vec<Bits> {
            let value = |port: &Port| bits::from_bytes(port.bytes(bytes), port.width);
            ports.iter().map(value).collect()
        };
        let compared = |cycle: usize| -> Vec<Bits> {
            let open = pins.open.as_ref().and_then(|open| open.get(cycle));
            let mask = |port: &Port| match open {
                None => bits::ones(port.width),
                Some(open) => {
                    let open = bits::from_bytes(port.bytes(open), port.width);
                    bits::not(&open, port.width)
                }
            };
            outputs.iter().map(mask).collect()
        };
        let expected = |(cycle, bytes): (usize, &Vec<u8>)| {
            values(outputs, bytes).into_iter().zip(compared(cycle)).collect()
        };
        Self {
            inputs: pins.inputs.iter().take(most).map(|bytes| values(inputs, bytes)).collect(),
            expected: pins.outputs.iter().take(most).enumerate().map(expected).collect(),
            before_reset: pins.before_reset != BeforeReset::Zeros,
        }
    }

    pub fn cycles(&self) -> usize {
        self.inputs.len().min(self.expected.len())
    }
}

#[derive(Debug, Default)]
pub struct State {
    /// The values of all variables; see [`Simulator::read`].
    limbs: Vec<u64>,
    /// Combinational processes to run.
    dirty: Vec<bool>,
    /// The edge variables at the last check.
    last: Vec<bool>,
    pub cycle: u64,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut state = Self::default();
        state.clone_from(self);
        state
    }

    fn clone_from(&mut self, other: &Self) {
        self.limbs.clone_from(&other.limbs);
        self.dirty.clone_from(&other.dirty);
        self.last.clone_from(&other.last);
        self.cycle = other.cycle;
    }
}

impl State {
    /// Marks all processes.
    pub fn wake(&mut self) {
        self.dirty.fill(true);
    }

    /// Whether all that follows is the same, with the same inputs.
    pub fn is_like(&self, other: &Self) -> bool {
        self.limbs == other.limbs && self.last == other.last
    }

    pub fn size(&self) -> usize {
        self.limbs.len()
    }
}

/// Where an expression runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// In a combinational process.
    Combinational(usize),
    /// In a clocked process, or once at the beginning.
    Clocked,
    /// In a function, so anywhere.
    Anywhere,
}

/// A value that an expression of a statement has in one cycle.
#[derive(Debug, Clone)]
pub struct Forced {
    pub root: NodeId,
    pub runs: Runs,
    pub cycle: u64,
    pub value: Bits,
}

#[derive(Debug)]
pub struct Simulator {
    pub design: Design,
    pub pins: Pins,
    /// The first limb of each variable, and the limbs of an element.
    slots: Vec<(usize, usize)>,
    /// The combinational processes that read each variable.
    readers: Vec<Vec<usize>>,
    /// Nodes that were evaluated: the measure of effort, which is the same on every machine.
    pub effort: u64,
    /// The expressions of statements that run are noted, while it is set.
    pub trace: Option<Vec<NodeId>>,
    /// A value in one cycle.
    pub forced: Option<Forced>,
    /// A node with another value, in [`Simulator::eval`].
    pub instead: Option<(NodeId, Bits)>,
    /// Where a changed expression runs, which may read other variables than before.
    pub changed: Option<Runs>,
    before: Vec<u64>,
}

/// An assignment at the end of the time step.
type Late = Vec<(VariableId, usize, Bits)>;

impl Simulator {
    /// A simulator of a design whose ports have these names.
    ///
    /// # Errors
    /// A port that is missing.
    pub fn new(
        design: Design,
        clock: &str,
        inputs: &[Port],
        outputs: &[Port],
    ) -> Result<Self, String> {
        let find =
            |name: &str| design.ports.get(name).copied().ok_or_else(|| format!("no port {name}"));
        let all = |ports: &[Port]| -> Result<Vec<_>, String> {
            ports.iter().map(|port| find(port.name)).collect()
        };
        let pins = Pins { clock: find(clock)?, inputs: all(inputs)?, outputs: all(outputs)? };
        let mut readers = vec![Vec::new(); design.variables.len()];
        for (place, process) in design.combinational.iter().enumerate() {
            // A process may read what it assigned before; it does not run again for that.
            let reads = process.reads.iter().filter(|it| !process.writes.contains(it));
            reads.for_each(|it| readers[*it].push(place));
        }
        let mut end = 0;
        let slot = |variable: &super::design::Variable| {
            let limbs = bits::limbs(variable.width);
            end += limbs * variable.array.unwrap_or(1);
            (end - limbs * variable.array.unwrap_or(1), limbs)
        };
        let slots = design.variables.iter().map(slot).collect();
        Ok(Self {
            design,
            pins,
            slots,
            readers,
            effort: 0,
            trace: None,
            forced: None,
            instead: None,
            changed: None,
            before: Vec::new(),
        })
    }

    /// The state before the first cycle.
    pub fn start(&mut self, before_reset: bool) -> State {
        let mut limbs = Vec::new();
        for variable in &self.design.variables {
            let value = match &variable.constant {
                Some(constant) => bits::fit(constant.clone(), variable.width),
                None if before_reset => bits::ones(variable.width),
                None => bits::small(0, variable.width),
            };
            (0..variable.array.unwrap_or(1)).for_each(|_| limbs.extend_from_slice(&value));
        }
        let dirty = vec![true; self.design.combinational.len()];
        let mut state = State { limbs, dirty, last: Vec::new(), cycle: 0 };
        for pin in self.pins.inputs.iter().chain([&self.pins.clock]) {
            self.slice(&mut state, *pin, 0).fill(0);
        }
        let body = std::mem::take(&mut self.design.initial);
        self.run(&mut state, &body, &mut Vec::new());
        self.design.initial = body;
        let _ = self.settle(&mut state);
        state.last = self.levels(&state);
        state
    }

    /// The value of a variable, or of an element of a memory.
    pub fn read(&self, state: &State, variable: VariableId, element: usize) -> Bits {
        let (first, limbs) = self.slots[variable];
        Bits::from_slice(&state.limbs[first + element * limbs..][..limbs])
    }

    fn slice<'s>(
        &self,
        state: &'s mut State,
        variable: VariableId,
        element: usize,
    ) -> &'s mut [u64] {
        let (first, limbs) = self.slots[variable];
        &mut state.limbs[first + element * limbs..][..limbs]
    }

    /// The levels of the variables whose edges processes wait for.
    fn levels(&self, state: &State) -> Vec<bool> {
        let edges = self.design.clocked.iter().flat_map(|process| &process.edges);
        edges.map(|edge| state.limbs[self.slots[edge.variable].0] & 1 == 1).collect()
    }

    /// Drives the inputs of a cycle; `None` if the design does not become stable.
    pub fn drive(&mut self, state: &mut State, inputs: &[Bits]) -> Option<()> {
        for (place, value) in inputs.iter().enumerate() {
            let input = self.pins.inputs[place];
            self.set(state, input, 0, value);
        }
        self.set(state, self.pins.clock, 0, &bits::small(0, 1));
        self.events(state)
    }

    /// The rising edge of the clock, after which the next cycle begins.
    pub fn edge(&mut self, state: &mut State) -> Option<()> {
        self.set(state, self.pins.clock, 0, &bits::small(1, 1));
        self.events(state)?;
        if let Some(Forced { cycle, runs, .. }) = &self.forced
            && *cycle == state.cycle
        {
            Self::wake(state, *runs);
        }
        state.cycle += 1;
        Some(())
    }

    /// Marks what runs an expression.
    fn wake(state: &mut State, runs: Runs) {
        match runs {
            Runs::Combinational(process) => state.dirty[process] = true,
            Runs::Clocked => {}
            Runs::Anywhere => state.dirty.fill(true),
        }
    }

    fn set(&self, state: &mut State, variable: VariableId, element: usize, value: &Bits) {
        let held = self.slice(state, variable, element);
        if *held != **value {
            held.copy_from_slice(value);
            for reader in &self.readers[variable] {
                state.dirty[*reader] = true;
            }
        }
    }

    fn events(&mut self, state: &mut State) -> Option<()> {
        for _ in 0..MOST_ROUNDS {
            self.settle(state)?;
            let levels = self.levels(state);
            if levels == state.last {
                return Some(());
            }
            let mut fired = Vec::new();
            let mut edge = 0;
            for (place, process) in self.design.clocked.iter().enumerate() {
                let is_fired = |(edge, offset): (&super::design::Edge, usize)| {
                    levels[offset] != state.last[offset] && levels[offset] == edge.rises
                };
                if process.edges.iter().zip(edge..).any(is_fired) {
                    fired.push(place);
                }
                edge += process.edges.len();
            }
            state.last = levels;
            let mut late = Vec::new();
            for place in fired {
                let body = std::mem::take(&mut self.design.clocked[place].body);
                self.run(state, &body, &mut late);
                self.design.clocked[place].body = body;
                // What it assigned at once may have readers.
                for variable in &self.design.clocked[place].at_once {
                    self.readers[*variable].iter().for_each(|it| state.dirty[*it] = true);
                }
            }
            for (variable, element, value) in late {
                self.set(state, variable, element, &value);
            }
        }
        None
    }

    fn settle(&mut self, state: &mut State) -> Option<()> {
        if let Some(runs) = self.changed {
            Self::wake(state, runs);
        }
        let mut is_final = self.changed.is_none();
        for _ in 0..MOST_ROUNDS {
            if !state.dirty.contains(&true) {
                if is_final {
                    return Some(());
                }
                // It may read what was computed after it.
                is_final = true;
                self.changed.into_iter().for_each(|runs| Self::wake(state, runs));
            }
            for place in 0..self.design.combinational.len() {
                if std::mem::replace(&mut state.dirty[place], false) && self.process(state, place) {
                    is_final = self.changed.is_none();
                }
            }
        }
        None
    }

    /// Runs a combinational process. Whether it changed anything.
    fn process(&mut self, state: &mut State, place: usize) -> bool {
        let process = &mut self.design.combinational[place];
        let (body, writes) =
            (std::mem::take(&mut process.body), std::mem::take(&mut process.writes));
        let of = |slots: &[(usize, usize)], array: Option<usize>, it: VariableId| {
            let (first, limbs) = slots[it];
            first..first + limbs * array.unwrap_or(1)
        };
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        for it in &writes {
            let range = of(&self.slots, self.design.variables[*it].array, *it);
            before.extend_from_slice(&state.limbs[range]);
        }
        self.run(state, &body, &mut Vec::new());
        let (mut rest, mut has_changed) = (&*before, false);
        for it in &writes {
            let range = of(&self.slots, self.design.variables[*it].array, *it);
            let (own, others) = rest.split_at(range.len());
            rest = others;
            if state.limbs[range] != *own {
                has_changed = true;
                for reader in self.readers[*it].iter().filter(|it| **it != place) {
                    state.dirty[*reader] = true;
                }
            }
        }
        self.before = before;
        let process = &mut self.design.combinational[place];
        (process.body, process.writes) = (body, writes);
        has_changed
    }

    fn run(&mut self, state: &mut State, body: &[Statement], late: &mut Late) {
        for statement in body {
            match statement {
                Statement::Assign { target, value, is_late } => {
                    let width = self.design.nodes[*value].width;
                    let forced = self.noted(state, *value);
                    if forced.is_none() && self.design.is_missing(*value) {
                        continue;
                    }
                    let value = forced.unwrap_or_else(|| self.eval(state, *value));
                    self.assign(state, target, value, width, is_late.then_some(&mut *late));
                }
                Statement::If { condition, then, otherwise } => {
                    let holds = bits::is_true(&self.root(state, *condition));
                    self.run(state, if holds { then } else { otherwise }, late);
                }
                Statement::Case { subject, items } => {
                    let value = self.root(state, *subject);
                    for (labels, body) in items {
                        let is_equal = |label: &NodeId| {
                            let label = self.eval(state, *label);
                            bits::compare(&label, &value) == Ordering::Equal
                        };
                        if labels.is_empty() || labels.iter().any(is_equal) {
                            self.run(state, body, late);
                            break;
                        }
                    }
                }
            }
        }
    }

    /// The value of an expression of a statement.
    fn root(&mut self, state: &mut State, root: NodeId) -> Bits {
        self.noted(state, root).unwrap_or_else(|| self.eval(state, root))
    }

    /// Notes that an expression runs. Its value, if it is forced.
    fn noted(&mut self, state: &State, root: NodeId) -> Option<Bits> {
        if let Some(trace) = &mut self.trace {
            trace.push(root);
        }
        let forced = self.forced.as_ref()?;
        (forced.root == root && forced.cycle == state.cycle).then(|| forced.value.clone())
    }

    fn assign(
        &mut self,
        state: &mut State,
        target: &Target,
        value: Bits,
        width: u32,
        late: Option<&mut Late>,
    ) {
        match target {
            Target::Concatenated(parts) => {
                let mut low: u32 = parts.iter().map(|(_, width)| width).sum();
                let mut late = late;
                for (part, width) in parts {
                    low -= width;
                    let value = bits::shift(&value, -i64::from(low), *width);
                    self.assign(state, part, value, *width, late.as_deref_mut());
                }
            }
            _ => {
                let Some((variable, element, low, part)) = self.resolve(state, target) else {
                    return;
                };
                let whole = self.design.variables[variable].width;
                let part = part.unwrap_or(whole);
                let pending = late.as_ref().and_then(|late| {
                    let of = |it: &&(VariableId, usize, Bits)| (it.0, it.1) == (variable, element);
                    late.iter().rev().find(of).map(|it| it.2.clone())
                });
                let held = pending.unwrap_or_else(|| self.read(state, variable, element));
                let value = match part == whole && low == 0 {
                    true => bits::fit(value, whole),
                    false => bits::replace(&held, whole, low, &bits::fit(value, width), part),
                };
                match late {
                    Some(late) => late.push((variable, element, value)),
                    None => self.slice(state, variable, element).copy_from_slice(&value),
                }
            }
        }
    }

    /// The variable, its element, the lowest bit and the number of bits of a target; `None` outside
    /// of the variable.
    fn resolve(
        &mut self,
        state: &mut State,
        target: &Target,
    ) -> Option<(VariableId, usize, u32, Option<u32>)> {
        match target {
            Target::Variable(variable) => Some((*variable, 0, 0, None)),
            Target::Element(variable, index) => {
                let index = self.eval(state, *index);
                Some((*variable, self.element(*variable, &index)?, 0, None))
            }
            Target::Slice(inner, low, width) => {
                let low = u32::try_from(bits::index(&self.eval(state, *low))?).ok()?;
                let (variable, element, outer, _) = self.resolve(state, inner)?;
                Some((variable, element, outer.checked_add(low)?, Some(*width)))
            }
            Target::Concatenated(_) => None,
        }
    }

    fn element(&self, variable: VariableId, index: &Bits) -> Option<usize> {
        // Verilator's descriptions count from the lowest index.
        let count = self.design.variables[variable].array?;
        bits::index(index).filter(|index| *index < count)
    }

    /// The value of an expression in a state.
    pub fn eval(&mut self, state: &mut State, id: NodeId) -> Bits {
        self.effort += 1;
        if let Some((node, value)) = &self.instead
            && *node == id
        {
            return value.clone();
        }
        let node = &self.design.nodes[id];
        let width = node.width;
        match &node.operation {
            Operation::Constant(value) => value.clone(),
            Operation::Variable(variable) | Operation::Missing(variable) => {
                self.read(state, *variable, 0)
            }
            Operation::Element(variable) => {
                let (variable, index) = (*variable, node.arguments[0]);
                let index = self.eval(state, index);
                match self.element(variable, &index) {
                    Some(element) => self.read(state, variable, element),
                    None => bits::small(0, width),
                }
            }
            Operation::Operator(operator) => {
                let (operator, of) = (*operator, [0, 1].map(|at| node.arguments.get(at).copied()));
                let widths = of.map(|id| id.map_or(0, |id| self.design.nodes[id].width));
                let values = of.map(|id| id.map_or_else(Bits::new, |id| self.eval(state, id)));
                (operator.value)(values, widths, width)
            }
            Operation::Choice => {
                let (condition, yes, no) =
                    (node.arguments[0], node.arguments[1], node.arguments[2]);
                let holds = bits::is_true(&self.eval(state, condition));
                bits::fit(self.eval(state, if holds { yes } else { no }), width)
            }
            Operation::Call(function) => {
                let (function, arguments) = (*function, node.arguments.clone());
                let inputs = self.design.functions[function].inputs.clone();
                for (input, argument) in inputs.into_iter().zip(arguments) {
                    let value =
                        bits::fit(self.eval(state, argument), self.design.variables[input].width);
                    self.slice(state, input, 0).copy_from_slice(&value);
                }
                let body = std::mem::take(&mut self.design.functions[function].body);
                self.run(state, &body, &mut Vec::new());
                self.design.functions[function].body = body;
                self.read(state, self.design.functions[function].result, 0)
            }
        }
    }

    /// Replaces a node, and returns it.
    pub fn replace(&mut self, id: NodeId, node: Node) -> Node {
        std::mem::replace(&mut self.design.nodes[id], node)
    }

    /// Drives the inputs of a cycle, with a forced value.
    pub fn force(&mut self, state: &mut State, forced: Forced, inputs: &[Bits]) -> Option<()> {
        Self::wake(state, forced.runs);
        self.forced = Some(forced);
        self.drive(state, inputs)
    }

    /// The outputs that differ from what a cycle expects.
    pub fn differences<'s>(
        &'s self,
        state: &'s State,
        expected: &'s [(Bits, Bits)],
    ) -> impl Iterator<Item = VariableId> + 's {
        let outputs = self.pins.outputs.iter().zip(expected);
        let differs = |(output, (value, mask)): &(&VariableId, &(Bits, Bits))| {
            let (first, count) = self.slots[**output];
            let held = state.limbs[first..first + count].iter();
            held.zip(value).zip(mask).any(|((held, value), mask)| (held ^ value) & mask != 0)
        };
        outputs.filter(differs).map(|(output, _)| *output)
    }

    /// Whether an output differs from what a cycle expects.
    pub fn differs(&self, state: &State, expected: &[(Bits, Bits)]) -> bool {
        self.differences(state, expected).next().is_some()
    }
}
