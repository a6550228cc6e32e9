//! Ranks lines: which expressions, with another value or in another form, make a failing case
//! match.
//!
//! - A value that is forced in one cycle shows that the failure depends on an expression.
//! - An expression in another form is a *repair* if the failing case matches. It counts for much if
//!   all other cases match as well, and for little otherwise.
//!
//! The effort is limited by the number of evaluated expressions, so that equal input has an equal
//! result on every machine.

use super::bits::{self, Bits};
use super::design::{Binary, Node, NodeId, Operation, Place, Unary, VariableId};
use super::simulate::{Simulator, State, Stimulus};
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that may be evaluated to force values, and to try repairs.
const EFFORT: [u64; 2] = [4_000_000, 12_000_000];
/// Cycles before the failure in which values are forced.
const CYCLES: usize = 12;
/// Values of variables and constants that are forced.
const VALUES: usize = 48;

/// What is known of a line.
#[derive(Debug, Clone, Default)]
pub struct Line {
    place: Place,
    /// The best share of the cases that match with a repair, and the repair.
    best: Option<(f64, String)>,
    /// Number of repairs; of those, how many satisfy nearly all cases.
    repairs: usize,
    good: usize,
    /// Cycles between the failure and the closest forced value that avoids it.
    distance: Option<usize>,
    /// Number of expressions for which there is such a value.
    forced: usize,
    /// Number of cycles in which the line runs, and whether these include the last two.
    executed: usize,
    is_late: bool,
    /// How often it runs in a cycle of the other cases.
    elsewhere: f64,
}

impl Line {
    /// How suspicious the line is. The weights are fitted to the bugs of `tests/bad_rtl`; see
    /// docs/reference/performance.md.
    fn score(&self) -> f64 {
        let (best, log) = (self.best.as_ref().map_or(0.0, |(best, _)| *best), f64::ln_1p);
        let mut score = 2.0 * best.powi(8) + 1.3 * best.powi(3);
        score += if best > 0.999 { 12.0 } else { 0.0 };
        score += 2.0 * log(self.good as f64) - 0.7 * log(self.repairs as f64);
        score += self.distance.map_or(0.0, |distance| 1.9 + 1.5 / (1 + distance) as f64);
        score += 2.1 * log(self.forced as f64) + if self.is_late { 5.4 } else { 0.0 };
        score -= 1.25 * log(self.executed as f64) + 0.5 * log(10.0 * self.elsewhere);
        score - if best == 0.0 && self.distance.is_none() { 1.65 } else { 0.0 }
    }

    fn reason(&self) -> Option<String> {
        match (&self.best, self.distance) {
            (Some((best, what)), _) if *best > 0.999 => {
                Some(format!("all cases match with {what}"))
            }
            (_, Some(0)) => Some("decides the output in the cycle of the failure".to_owned()),
            (_, Some(1)) => Some("decides the output one cycle before the failure".to_owned()),
            (_, Some(distance)) => {
                Some(format!("decides the output {distance} cycles before the failure"))
            }
            (Some((_, what)), None) => Some(format!("the case matches with {what}")),
            (None, None) => None,
        }
    }
}

/// The operands that a repair can add.
#[derive(Debug, Default)]
struct Operands {
    variables: Vec<(VariableId, u32)>,
    /// Expressions of one bit, in words.
    conditions: Vec<(NodeId, String)>,
    /// What `conditions` deny.
    denied: Vec<NodeId>,
}

/// A failing case and others, on one design.
pub struct Ranking<'a> {
    simulator: &'a mut Simulator,
    failing: &'a Stimulus,
    others: &'a [Stimulus],
    /// The cycle of the failure.
    end: usize,
    /// The state before each cycle, and with its inputs.
    starts: Vec<State>,
    settled: Vec<State>,
    /// The cycles in which each expression runs.
    cycles: BTreeMap<NodeId, BTreeSet<usize>>,
    /// When each of the others differs.
    differ: Vec<Option<usize>>,
    /// How often each expression runs in a cycle of the others.
    elsewhere: BTreeMap<NodeId, f64>,
    constants: BTreeMap<u32, Vec<Bits>>,
    operands: BTreeMap<usize, Operands>,
}

impl<'a> Ranking<'a> {
    /// Runs all cases; `None` if the design does not fail as the compiled model does.
    pub fn new(
        simulator: &'a mut Simulator,
        failing: &'a Stimulus,
        others: &'a [Stimulus],
    ) -> Option<Self> {
        let mut state = simulator.start(failing.before_reset);
        let (mut starts, mut settled) = (Vec::new(), Vec::new());
        let mut cycles: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
        let end = (0..failing.cycles()).find_map(|cycle| {
            starts.push(state.clone());
            simulator.trace = Some(Vec::new());
            state.wake();
            let differs = simulator.drive(&mut state, &failing.inputs[cycle]).map(|()| {
                settled.push(state.clone());
                simulator.differs(&state, &failing.expected[cycle])
            });
            let goes_on = differs == Some(false) && simulator.edge(&mut state).is_some();
            for root in simulator.trace.take().unwrap_or_default() {
                cycles.entry(root).or_default().insert(cycle);
            }
            (!goes_on).then(|| differs.filter(|differs| *differs).map(|_| cycle))
        })??;
        let (mut differ, mut runs, mut length) = (Vec::new(), BTreeMap::new(), 1.0);
        for other in others {
            let mut state = simulator.start(other.before_reset);
            simulator.trace = Some(Vec::new());
            differ.push(simulator.first_difference(&mut state, other, usize::MAX)?);
            for root in simulator.trace.take().unwrap_or_default() {
                *runs.entry(root).or_insert(0.0) += 1.0;
            }
            length += state.cycle as f64;
        }
        runs.values_mut().for_each(|count| *count /= length);
        let mut ranking = Self {
            simulator,
            failing,
            others,
            end,
            starts,
            settled,
            cycles,
            differ,
            elsewhere: runs,
            constants: BTreeMap::new(),
            operands: BTreeMap::new(),
        };
        ranking.prepare();
        Some(ranking)
    }

    /// Collects constants and operands.
    fn prepare(&mut self) {
        let design = &self.simulator.design;
        let mut constants: BTreeMap<u32, BTreeSet<Bits>> = BTreeMap::new();
        let mut comparisons: BTreeMap<(usize, String), NodeId> = BTreeMap::new();
        for (id, node) in design.nodes.iter().enumerate() {
            use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, Unequal};
            match &node.operation {
                Operation::Constant(value) => {
                    constants.entry(node.width).or_default().insert(value.clone());
                }
                Operation::Binary(Equal | Unequal | Less | LessEqual | Greater | GreaterEqual) => {
                    comparisons.entry((node.instance, self.text(id))).or_insert(id);
                }
                _ => {}
            }
        }
        let mut operands: BTreeMap<usize, Operands> = BTreeMap::new();
        for (id, variable) in design.variables.iter().enumerate() {
            match &variable.constant {
                Some(value) => {
                    constants.entry(variable.width).or_default().insert(value.clone());
                }
                None if variable.array.is_some() || variable.width == 0 => {}
                None if id == self.simulator.pins.clock => {}
                None => {
                    let of = operands.entry(variable.instance).or_default();
                    of.variables.push((id, variable.width));
                }
            }
        }
        for of in operands.values_mut() {
            for (id, _) in of.variables.iter().filter(|(_, width)| *width == 1) {
                let node = self.leaf(*id);
                of.conditions.push((node, self.text(node)));
            }
        }
        for ((instance, text), id) in comparisons {
            operands.entry(instance).or_default().conditions.push((id, text));
        }
        for of in operands.values_mut() {
            for (id, _) in &of.conditions {
                let like = self.simulator.design.nodes[*id].clone();
                let operation = Operation::Unary(Unary::LogicalNot);
                of.denied.push(self.keep(Node { operation, arguments: vec![*id], ..like }));
            }
        }
        let sorted = |(width, values): (u32, BTreeSet<Bits>)| (width, values.into_iter().collect());
        self.constants = constants.into_iter().map(sorted).collect();
        self.operands = operands;
    }

    /// The lines, the most suspicious one first, each with the reason.
    pub fn lines(&mut self) -> Vec<(Place, String)> {
        let mut nodes: Vec<(NodeId, NodeId)> = Vec::new();
        for root in self.cycles.keys() {
            self.simulator.design.each_node(*root, &mut |node| nodes.push((node, *root)));
        }
        let mut lines: BTreeMap<(String, u32), Line> = BTreeMap::new();
        let mut matter = BTreeSet::new();
        let limit = self.simulator.effort + EFFORT[0];
        for (node, root) in &nodes {
            let last = self.cycles[root].iter().rev().take(CYCLES).copied();
            let last: Vec<usize> = last.collect();
            let forced = last
                .into_iter()
                .find(|cycle| self.simulator.effort < limit && self.avoids(*node, *cycle));
            let ran = &self.cycles[root];
            let line = line_of(&mut lines, &self.simulator.design.nodes[*node].place);
            line.executed = line.executed.max(ran.len());
            line.is_late |= ran.iter().any(|cycle| cycle + 1 >= self.end);
            line.elsewhere =
                line.elsewhere.max(self.elsewhere.get(root).copied().unwrap_or_default());
            if let Some(cycle) = forced {
                matter.insert(*root);
                line.forced += 1;
                let distance = self.end - cycle;
                if line.distance.is_none_or(|known| distance < known) {
                    line.distance = Some(distance);
                    line.place = self.simulator.design.nodes[*node].place.clone();
                }
            }
        }
        if self.simulator.effort >= limit {
            // The lines that were examined so far are an arbitrary part.
            return Vec::new();
        }
        let limit = self.simulator.effort + EFFORT[1];
        let matters = |(_, root): &&(NodeId, NodeId)| matter.is_empty() || matter.contains(root);
        for (node, root) in nodes.iter().filter(matters) {
            for (repaired, what) in self.repairs(*node, node == root) {
                if self.simulator.effort > limit {
                    break;
                }
                let Some(share) = self.share(*node, *root, repaired) else { continue };
                let place = &self.simulator.design.nodes[*node].place;
                let line = line_of(&mut lines, place);
                line.repairs += 1;
                line.good += usize::from(share > 0.97);
                if line.best.as_ref().is_none_or(|(best, _)| share > *best) {
                    line.best = Some((share, what));
                    line.place = place.clone();
                }
            }
        }
        let mut lines: Vec<Line> = lines.into_values().collect();
        lines.sort_by(|one, other| other.score().total_cmp(&one.score()));
        let reason = |line: Line| line.reason().map(|reason| (line.place, reason));
        lines.into_iter().filter_map(reason).collect()
    }

    /// Whether the failing case matches from a cycle to the failure.
    fn matches(&mut self, start: usize, end: usize) -> bool {
        let mut state = self.starts[start].clone();
        state.wake();
        self.simulator.first_difference(&mut state, self.failing, end) == Some(None)
    }

    /// Whether another value of a node in one cycle avoids the failure.
    fn avoids(&mut self, id: NodeId, cycle: usize) -> bool {
        let node = self.simulator.design.nodes[id].clone();
        let width = node.width;
        let now = self.simulator.value(&mut self.settled[cycle].clone(), id);
        let one = bits::small(1, width);
        let mut values = vec![
            bits::each(&now, &now, width, |limb, _| !limb),
            bits::small(0, width),
            bits::ones(width),
            bits::add(&now, &one, width),
            bits::add(&now, &bits::ones(width), width),
        ];
        let variables = self.simulator.design.variables.iter().zip(&self.settled[cycle].values);
        let outputs = self.simulator.pins.outputs.iter().zip(&self.failing.expected[self.end]);
        let is_like =
            |variable: VariableId| self.simulator.design.variables[variable].width == width;
        let outputs = outputs.filter(|(output, _)| is_like(**output));
        values.extend(outputs.map(|(_, (value, _))| value.clone()));
        values.extend(self.constants.get(&width).into_iter().flatten().take(VALUES).cloned());
        let of_width = variables.filter(|(it, _)| it.width == width && it.array.is_none());
        values.extend(of_width.map(|(_, value)| value[0].clone()).take(VALUES));
        let mut known = BTreeSet::from([now]);
        values.retain(|value| known.insert(value.clone()));
        let inner = self.keep(node.clone());
        let found = values.into_iter().any(|value| {
            let operation = Operation::Forced(cycle as u64, value);
            let forced = Node { operation, arguments: vec![inner], ..node.clone() };
            self.simulator.design.nodes[id] = forced;
            self.matches(cycle, self.end + 1)
        });
        self.simulator.design.nodes[id] = node;
        self.simulator.design.nodes.truncate(inner);
        found
    }

    /// The share of the cases that match with another node in the place of one; `None` if the
    /// failing case does not.
    fn share(&mut self, id: NodeId, root: NodeId, mut repaired: Node) -> Option<f64> {
        // A condition that holds the node cannot be part of what replaces it.
        let mut is_circular = false;
        for argument in repaired.arguments.iter().filter(|argument| **argument != id) {
            self.simulator.design.each_node(*argument, &mut |below| is_circular |= below == id);
        }
        if is_circular {
            return None;
        }
        // It matters from the first cycle on in which its value is another one.
        let kept = self.keep(repaired.clone());
        let first = self.cycles[&root].iter().copied().find(|cycle| {
            let state = &mut self.settled[*cycle].clone();
            self.simulator.value(state, id) != self.simulator.value(state, kept)
        });
        self.simulator.design.nodes.truncate(kept);
        let first = first?;
        let before = self.simulator.design.nodes[id].clone();
        let inner = self.keep(before.clone());
        let own = repaired.arguments.iter_mut().filter(|argument| **argument == id);
        own.for_each(|argument| *argument = inner);
        self.simulator.design.nodes[id] = repaired;
        let share = self.matches(first, usize::MAX).then(|| {
            let mut matching = 1.0;
            for (other, differs) in self.others.iter().zip(&self.differ) {
                let mut state = self.simulator.start(other.before_reset);
                let now = self.simulator.first_difference(&mut state, other, usize::MAX);
                matching += match (now, differs) {
                    (Some(None), _) => 1.0,
                    // Perhaps another consequence of the same bug.
                    (Some(Some(cycle)), Some(before)) if cycle > *before => 0.7,
                    (Some(Some(cycle)), Some(before)) if cycle == *before => 0.4,
                    _ => 0.0,
                };
            }
            matching / (1 + self.others.len()) as f64
        });
        self.simulator.design.nodes[id] = before;
        self.simulator.design.nodes.truncate(inner);
        share
    }

    /// Other forms of a node, each in words.
    fn repairs(&mut self, id: NodeId, is_root: bool) -> Vec<(Node, String)> {
        let node = self.simulator.design.nodes[id].clone();
        let (width, own) = (node.width, self.text(id));
        let mut all = Vec::new();
        let mut add = |operation: Operation, arguments: Vec<NodeId>, what: String| {
            all.push((Node { operation, arguments, ..node.clone() }, what));
        };
        if let Operation::Binary(binary) = node.operation {
            for other in alternatives(binary) {
                let what = format!("`{}` in place of `{}`", other.text(), binary.text());
                add(Operation::Binary(other), node.arguments.clone(), what);
            }
        }
        for argument in &node.arguments {
            if self.simulator.design.nodes[*argument].width == width {
                let what = format!("`{}` alone", self.text(*argument));
                add(Operation::Unary(Unary::Extend), vec![*argument], what);
            }
        }
        if let (Operation::Choice, [condition, yes, no]) = (&node.operation, &*node.arguments) {
            let what = "the alternatives swapped".to_owned();
            add(Operation::Choice, vec![*condition, *no, *yes], what);
        }
        let is_constant = matches!(node.operation, Operation::Constant(_));
        let mut values = vec![bits::small(0, width), bits::ones(width)];
        if let Operation::Constant(value) = &node.operation {
            values.push(bits::add(value, &bits::small(1, width), width));
            values.push(bits::add(value, &bits::ones(width), width));
            values.extend([bits::shift_left(value, 1, width), bits::shift_right(value, 1, width)]);
            values.extend((0..width.min(16)).map(|bit| {
                let bit = bits::shift_left(&bits::small(1, width), bit, width);
                bits::each(value, &bit, width, |value, bit| value ^ bit)
            }));
        }
        if is_constant || is_root {
            values.extend(self.constants.get(&width).into_iter().flatten().cloned());
        }
        let mut known = BTreeSet::new();
        for value in values {
            if known.insert(value.clone()) && node.operation != Operation::Constant(value.clone()) {
                let what = format!("{} in place of `{own}`", literal(&value, width));
                add(Operation::Constant(value), Vec::new(), what);
            }
        }
        if width == 1 {
            add(Operation::Unary(Unary::Not), vec![id], format!("`{own}` inverted"));
        }
        let Some(operands) = self.operands.get(&node.instance) else { return all };
        let is_leaf = matches!(node.operation, Operation::Variable(_));
        for (variable, of) in &operands.variables {
            let operation = Operation::Variable(*variable);
            if *of == width && operation != node.operation && (is_leaf || is_root) {
                let name = &self.simulator.design.variables[*variable].name;
                add(operation, Vec::new(), format!("`{name}` in place of `{own}`"));
            }
        }
        if width == 1 {
            for ((condition, text), denied) in operands.conditions.iter().zip(&operands.denied) {
                for (operation, sign) in [(Binary::And, "&&"), (Binary::Or, "||")] {
                    let operation = Operation::Binary(operation);
                    let words = |not: &str| format!("`{sign} {not}{text}` after `{own}`");
                    add(operation.clone(), vec![id, *condition], words(""));
                    add(operation, vec![id, *denied], words("!"));
                }
            }
            return all;
        }
        // The nodes of these stay: there are few.
        let conditions = operands.conditions.clone();
        let denied = operands.denied.clone();
        let narrower = operands.variables.iter().map(|(variable, of)| (*variable, *of));
        let narrower: Vec<_> =
            narrower.filter(|(_, of)| is_root && *of <= width && *of * 8 >= width).collect();
        let [zero, one] = [0, 1].map(|value| {
            let operation = Operation::Constant(bits::small(value, width));
            self.keep(Node { operation, arguments: Vec::new(), ..node.clone() })
        });
        let mut parts = vec![(one, "1".to_owned())];
        for (variable, _) in narrower {
            let leaf = self.leaf(variable);
            parts.push((leaf, self.text(leaf)));
        }
        let mut add = |operation: Operation, arguments: Vec<NodeId>, what: String| {
            all.push((Node { operation, arguments, ..node.clone() }, what));
        };
        for (part, text) in parts {
            for (operation, sign) in [(Binary::Add, "+"), (Binary::Subtract, "-")] {
                let what = format!("`{sign} {text}` after `{own}`");
                add(Operation::Binary(operation), vec![id, part], what);
            }
        }
        for ((condition, text), denied) in conditions.iter().zip(&denied).filter(|_| is_root) {
            for (condition, not) in [(condition, ""), (denied, "!")] {
                let what = format!("`{own}` only if `{not}{text}`");
                add(Operation::Choice, vec![*condition, id, zero], what);
            }
        }
        all
    }

    /// A node in words, short.
    fn text(&self, id: NodeId) -> String {
        let mut text = self.simulator.design.text(id);
        const LONGEST: usize = 40;
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST - 3).collect::<String>() + "...";
        }
        text
    }

    fn leaf(&mut self, variable: VariableId) -> NodeId {
        let known = &self.simulator.design.variables[variable];
        let (width, instance) = (known.width, known.instance);
        let (operation, arguments) = (Operation::Variable(variable), Vec::new());
        self.keep(Node { operation, arguments, width, instance, place: Place::default() })
    }

    fn keep(&mut self, node: Node) -> NodeId {
        self.simulator.design.nodes.push(node);
        self.simulator.design.nodes.len() - 1
    }
}

fn line_of<'l>(lines: &'l mut BTreeMap<(String, u32), Line>, place: &Place) -> &'l mut Line {
    let line = lines.entry((place.file.clone(), place.line)).or_default();
    if line.place.line == 0 {
        line.place = place.clone();
    }
    line
}

fn literal(value: &Bits, width: u32) -> String {
    let digits = value.iter().rev().map(|limb| format!("{limb:016x}")).collect::<String>();
    let digits = digits.trim_start_matches('0');
    format!("{width}'h{}", if digits.is_empty() { "0" } else { digits })
}

/// Operations that are easily taken for one another.
fn alternatives(binary: Binary) -> Vec<Binary> {
    use Binary::{
        Add, And, Equal, Greater, GreaterEqual, Less, LessEqual, LogicalAnd, LogicalOr, Or,
        Subtract, Unequal, Xor,
    };
    let groups: [&[Binary]; 5] = [
        &[And, Or, Xor],
        &[LogicalAnd, LogicalOr],
        &[Less, LessEqual, Greater, GreaterEqual, Equal, Unequal],
        &[Equal, Unequal],
        &[Add, Subtract],
    ];
    let group = groups.into_iter().find(|group| group[0] == binary || group.contains(&binary));
    group.into_iter().flatten().copied().filter(|other| *other != binary).collect()
}
