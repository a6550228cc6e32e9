//! Simulates a [`Design`] cycle by cycle, as the harness drives a model of it.
//!
//! It exists to answer "what if": a few cycles with one changed expression, thousands of times.
//! Verdicts come from the compiled model alone.

use super::bits::{self, Bits};
use super::design::{
    Design, Edge, Function, Node, NodeId, Operation, Process, Statement, Target, Variable,
    VariableId,
};
use cosim_block::driven::DrivenPins;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ops::Range;
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
    /// The cycle in which the compared bits are wrong as they are: any other value is better.
    pub wrong_in: Option<usize>,
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
    pub fn record_cycles(
        pins: &DrivenPins,
        inputs: &[Port],
        outputs: &[Port],
        most: usize,
    ) -> Self {
        let value = |port: &Port, bytes: &[u8]| bits::from_bytes(port.bytes(bytes), port.width);
        let driven = |bytes: &Vec<u8>| inputs.iter().map(|port| value(port, bytes)).collect();
        let last = pins.outputs.len().min(most).saturating_sub(1);
        let fails = || last.min(pins.ends.cycle().unwrap_or(u64::MAX) as usize);
        let wrong_in = (!pins.wrong.is_empty()).then(fails);
        let expected = |(cycle, bytes): (usize, &Vec<u8>)| {
            let open = pins.open.as_ref().and_then(|open| open.get(cycle));
            let compared = |port: &Port| match (wrong_in, open) {
                // Before the failure, the handshakes are those to which the stimulus fits.
                (Some(end), _) => match cycle == end {
                    true if pins.wrong.iter().any(|pin| pin == port.name) => bits::ones(port.width),
                    false if port.width == 1 => bits::ones(port.width),
                    _ => bits::small(0, port.width),
                },
                (None, Some(open)) => bits::not(&value(port, open), port.width),
                (None, None) => bits::ones(port.width),
            };
            outputs.iter().map(|port| (value(port, bytes), compared(port))).collect()
        };
        Self {
            inputs: pins.inputs.iter().take(most).map(driven).collect(),
            expected: pins.outputs.iter().take(most).enumerate().map(expected).collect(),
            wrong_in,
            before_reset: pins.before_reset != BeforeReset::Zeros,
        }
    }

    pub fn cycles(&self) -> usize {
        self.inputs.len().min(self.expected.len())
    }
}

#[derive(Debug, Clone)]
pub struct State {
    /// The values of all variables; see [`Simulator::read`].
    pub limbs: Vec<u64>,
    /// Combinational processes to run.
    dirty: Vec<bool>,
    /// The edge variables at the last check.
    last: Vec<bool>,
}

impl State {
    /// Marks what runs an expression.
    pub fn wake(&mut self, runs: Runs) {
        match runs {
            Runs::Combinational(process) => self.dirty[process] = true,
            Runs::Clocked => {}
            Runs::Anywhere => self.dirty.fill(true),
        }
    }

    /// Whether all that follows is the same, with the same inputs.
    pub fn is_like(&self, other: &Self) -> bool {
        self.limbs == other.limbs && self.last == other.last
    }
}

/// Where an expression runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    Combinational(usize),
    /// In a clocked process, or once at the beginning.
    Clocked,
    Anywhere,
}

#[derive(Debug)]
pub struct Simulator {
    pub design: Design,
    pub pins: Pins,
    /// The limbs of each variable, and the number of limbs of an element.
    slots: Vec<(Range<usize>, usize)>,
    /// The combinational processes that read each variable.
    readers: Vec<Vec<usize>>,
    /// Nodes that were evaluated: the measure of effort, which is the same on every machine.
    pub effort: Cell<u64>,
    /// The expressions of statements that run are noted, while it is set.
    pub trace: RefCell<Option<Vec<NodeId>>>,
    /// The value that an expression of a statement has instead of its own.
    pub forced: Option<(NodeId, Bits)>,
    /// Where a changed expression runs, which may read other variables than before.
    pub changed: Option<Runs>,
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
        let slot = |variable: &Variable| {
            let (start, limbs) = (end, bits::limbs(variable.width));
            end += limbs * variable.array.unwrap_or(1);
            (start..end, limbs)
        };
        let slots = design.variables.iter().map(slot).collect();
        let (effort, trace) = (Cell::new(0), RefCell::new(None));
        Ok(Self { design, pins, slots, readers, effort, trace, forced: None, changed: None })
    }

    /// The state before the first cycle.
    pub fn start(&self, before_reset: bool) -> State {
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
        let mut state = State { limbs, dirty, last: Vec::new() };
        for pin in self.pins.inputs.iter().chain([&self.pins.clock]) {
            self.slice(&mut state, *pin, 0).fill(0);
        }
        self.run(&mut state, &self.design.initial, &mut Vec::new());
        let _ = self.settle(&mut state);
        state.last = self.levels(&state);
        state
    }

    pub fn read(&self, state: &State, variable: VariableId, element: usize) -> Bits {
        let (all, limbs) = &self.slots[variable];
        Bits::from_slice(&state.limbs[all.start + element * limbs..][..*limbs])
    }

    fn slice<'s>(
        &self,
        state: &'s mut State,
        variable: VariableId,
        element: usize,
    ) -> &'s mut [u64] {
        let (all, limbs) = &self.slots[variable];
        &mut state.limbs[all.start + element * limbs..][..*limbs]
    }

    /// The levels of the variables whose edges processes wait for.
    fn levels(&self, state: &State) -> Vec<bool> {
        let edges = self.design.clocked.iter().flat_map(|process| &process.edges);
        edges.map(|edge| state.limbs[self.slots[edge.variable].0.start] & 1 == 1).collect()
    }

    /// Drives the inputs of a cycle; `None` if the design does not become stable.
    pub fn drive(&self, state: &mut State, inputs: &[Bits]) -> Option<()> {
        for (input, value) in self.pins.inputs.iter().zip(inputs) {
            self.set(state, *input, 0, value);
        }
        self.set(state, self.pins.clock, 0, &bits::small(0, 1));
        self.events(state)
    }

    /// The rising edge of the clock, after which the next cycle begins.
    pub fn edge(&self, state: &mut State) -> Option<()> {
        self.set(state, self.pins.clock, 0, &bits::small(1, 1));
        self.events(state)
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

    fn events(&self, state: &mut State) -> Option<()> {
        for _ in 0..MOST_ROUNDS {
            self.settle(state)?;
            let levels = self.levels(state);
            if levels == state.last {
                return Some(());
            }
            let mut changes = levels.iter().zip(&state.last);
            let is_fired = |process: &&Process| {
                let edges = process.edges.iter().zip(&mut changes);
                let fired = |(edge, (level, last)): &(&Edge, (&bool, &bool))| {
                    level != last && **level == edge.rises
                };
                edges.filter(fired).count() > 0
            };
            let fired: Vec<_> = self.design.clocked.iter().filter(is_fired).collect();
            state.last = levels;
            let mut late = Vec::new();
            for process in fired {
                self.run(state, &process.body, &mut late);
                // What it assigned at once may have readers.
                let readers = process.at_once.iter().flat_map(|it| &self.readers[*it]);
                readers.for_each(|it| state.dirty[*it] = true);
            }
            for (variable, element, value) in late {
                self.set(state, variable, element, &value);
            }
        }
        None
    }

    fn settle(&self, state: &mut State) -> Option<()> {
        if let Some(runs) = self.changed {
            state.wake(runs);
        }
        let mut is_final = self.changed.is_none();
        for _ in 0..MOST_ROUNDS {
            if !state.dirty.contains(&true) {
                if is_final {
                    return Some(());
                }
                // It may read what was computed after it.
                is_final = true;
                self.changed.into_iter().for_each(|runs| state.wake(runs));
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
    fn process(&self, state: &mut State, place: usize) -> bool {
        let Process { body, writes, .. } = &self.design.combinational[place];
        let limbs = |it: &VariableId| self.slots[*it].0.clone();
        let mut before = SmallVec::<[u64; 8]>::new();
        writes.iter().for_each(|it| before.extend_from_slice(&state.limbs[limbs(it)]));
        self.run(state, body, &mut Vec::new());
        let (mut rest, mut has_changed) = (&*before, false);
        for it in writes {
            let (own, others) = rest.split_at(limbs(it).len());
            rest = others;
            if state.limbs[limbs(it)] != *own {
                has_changed = true;
                let readers = self.readers[*it].iter().filter(|it| **it != place);
                readers.for_each(|reader| state.dirty[*reader] = true);
            }
        }
        has_changed
    }

    fn run(&self, state: &mut State, body: &[Statement], late: &mut Late) {
        for statement in body {
            match statement {
                Statement::Assign { targets, value, is_late } => {
                    let value = match self.noted(*value) {
                        Some(forced) => forced,
                        None if self.design.is_missing(*value) => continue,
                        None => self.eval(state, *value),
                    };
                    let mut low = targets.iter().map(|it| i64::from(it.width)).sum::<i64>();
                    for target in targets {
                        low -= i64::from(target.width);
                        let value = bits::shift(&value, -low, target.width);
                        self.assign(state, target, value, is_late.then_some(&mut *late));
                    }
                }
                Statement::If { condition, then, otherwise } => {
                    let holds = bits::is_true(&self.root(state, *condition));
                    self.run(state, if holds { then } else { otherwise }, late);
                }
                Statement::Case { subject, items } => {
                    let value = self.root(state, *subject);
                    for (labels, body) in items {
                        let is_equal = |label: &NodeId| {
                            bits::compare(&self.eval(state, *label), &value).is_eq()
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

    fn root(&self, state: &mut State, root: NodeId) -> Bits {
        self.noted(root).unwrap_or_else(|| self.eval(state, root))
    }

    /// Notes that an expression runs. Its value, if it is forced.
    fn noted(&self, root: NodeId) -> Option<Bits> {
        if let Some(trace) = &mut *self.trace.borrow_mut() {
            trace.push(root);
        }
        let (forced, value) = self.forced.as_ref()?;
        (*forced == root).then(|| value.clone())
    }

    /// Assigns a value, unless the target is outside of the variable.
    fn assign(
        &self,
        state: &mut State,
        target: &Target,
        value: Bits,
        late: Option<&mut Late>,
    ) -> Option<()> {
        let Target { variable, width, .. } = *target;
        let mut low = 0u32;
        for part in &target.lows {
            let part = bits::index(&self.eval(state, *part))?;
            low = low.checked_add(u32::try_from(part).ok()?)?;
        }
        let element = match target.index {
            Some(index) => self.element(variable, &self.eval(state, index))?,
            None => 0,
        };
        let whole = self.design.variables[variable].width;
        let value = if width == whole && low == 0 {
            value
        } else {
            let of = |it: &&(VariableId, usize, Bits)| (it.0, it.1) == (variable, element);
            let pending = late.as_ref().and_then(|late| late.iter().rev().find(of));
            let held =
                pending.map_or_else(|| self.read(state, variable, element), |it| it.2.clone());
            bits::replace(&held, whole, low, &value, width)
        };
        match late {
            Some(late) => late.push((variable, element, value)),
            None => self.slice(state, variable, element).copy_from_slice(&value),
        }
        Some(())
    }

    fn element(&self, variable: VariableId, index: &Bits) -> Option<usize> {
        // Verilator's descriptions count from the lowest index.
        let count = self.design.variables[variable].array?;
        bits::index(index).filter(|index| *index < count)
    }

    pub fn eval(&self, state: &mut State, id: NodeId) -> Bits {
        self.effort.set(self.effort.get() + 1);
        let Node { operation, arguments, width, .. } = &self.design.nodes[id];
        let mut value = |at: usize| self.eval(state, arguments[at]);
        match operation {
            Operation::Constant(value) => value.clone(),
            Operation::Variable(variable) | Operation::Missing(variable) => {
                self.read(state, *variable, 0)
            }
            Operation::Element(variable) => {
                let index = value(0);
                match self.element(*variable, &index) {
                    Some(element) => self.read(state, *variable, element),
                    None => bits::small(0, *width),
                }
            }
            Operation::Operator(operator) => {
                let (one, other) = (arguments[0], arguments.get(1).copied());
                let width_of = |id: NodeId| self.design.nodes[id].width;
                let widths = [width_of(one), other.map_or(0, width_of)];
                let one = self.eval(state, one);
                let values = [one, other.map_or_else(Bits::new, |it| self.eval(state, it))];
                (operator.value)(values, widths, *width)
            }
            Operation::Choice => {
                let chosen = if bits::is_true(&value(0)) { 1 } else { 2 };
                bits::fit(value(chosen), *width)
            }
            Operation::Call(function) => {
                let Function { inputs, result, body } = &self.design.functions[*function];
                for (input, argument) in inputs.iter().zip(arguments) {
                    let width = self.design.variables[*input].width;
                    let value = bits::fit(self.eval(state, *argument), width);
                    self.slice(state, *input, 0).copy_from_slice(&value);
                }
                self.run(state, body, &mut Vec::new());
                self.read(state, *result, 0)
            }
        }
    }

    /// The outputs that differ from what a cycle expects.
    fn differences<'s>(
        &'s self,
        state: &'s State,
        expected: &'s [(Bits, Bits)],
    ) -> impl Iterator<Item = VariableId> + 's {
        let outputs = self.pins.outputs.iter().zip(expected);
        let differs = |(output, (value, mask)): &(&VariableId, &(Bits, Bits))| {
            let held = &state.limbs[self.slots[**output].0.clone()];
            held.iter().zip(value).zip(mask).any(|((held, value), mask)| (held ^ value) & mask != 0)
        };
        outputs.filter(differs).map(|(output, _)| *output)
    }

    /// The outputs that make a case fail in a cycle.
    pub fn failing(&self, state: &State, stimulus: &Stimulus, cycle: usize) -> Vec<VariableId> {
        let expected = &stimulus.expected[cycle];
        let differing: Vec<VariableId> = self.differences(state, expected).collect();
        match stimulus.wrong_in == Some(cycle) {
            true if differing.is_empty() => {
                let compared = |(_, (_, mask)): &(_, &(Bits, Bits))| mask.iter().any(|it| *it != 0);
                let outputs = self.pins.outputs.iter().zip(expected).filter(compared);
                outputs.map(|(output, _)| *output).collect()
            }
            true => Vec::new(),
            false => differing,
        }
    }
}
