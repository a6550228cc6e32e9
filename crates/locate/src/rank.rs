//! Ranks lines: which expressions, with another value or in another form, make a failing case
//! match.
//!
//! - A value that is forced in one cycle shows that the failure depends on an expression. Only what
//!   may decide the output is tried ([`Slice`]), and of each value what it makes of the whole
//!   expression.
//! - An expression in another form, or another assignment, is a *repair* if the failing case
//!   matches. It counts for much if all other cases match as well, and for little otherwise. Cases
//!   are simulated from the first cycle on in which the repair has an effect.
//!
//! The effort is limited by the number of evaluated expressions, so that equal input has an equal
//! result on every machine.

mod repairs;

use super::bits::{self, Bits};
use super::design::{Node, NodeId, Operation, Place};
use super::simulate::{Forced, Insertion, Runs, Simulator, State, Stimulus, Trace};
use super::slice::{Root, Slice, roots};
use repairs::Operands;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that may be evaluated to force values, to add assignments, and to try repairs.
const EFFORT: [u64; 3] = [4_000_000, 14_000_000, 16_000_000];
/// Cycles before the failure in which values are forced.
const CYCLES: usize = 48;
/// Values of variables and constants that are forced.
const VALUES: usize = 48;
/// Words of the states of a failing case that are kept.
const MOST_WORDS: usize = 16 << 20;

/// The share of the cases with which a repair is good.
const GOOD: f64 = 0.97;

/// What is known of each line, by file and number.
type Lines = BTreeMap<(String, u32), Line>;

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
    /// How suspicious the line is. Fit the weights to bugs of `tests/bad_rtl` with odd numbers
    /// alone; see docs/reference/performance.md.
    fn score(&self) -> f64 {
        let (best, log) = (self.best.as_ref().map_or(0.0, |(best, _)| *best), f64::ln_1p);
        let mut score = 2.0 * best.powi(8) + 0.8 * best.powi(3);
        score += if best > 0.999 { 12.0 } else { 0.0 };
        score += 2.0 * log(self.good as f64) + 1.7 * log(self.repairs as f64);
        score += self.distance.map_or(0.0, |distance| 2.2 + 2.4 / (1 + distance) as f64);
        score += 3.6 * log(self.forced as f64) + if self.is_late { 5.4 } else { 0.0 };
        score -= 1.25 * log(self.executed as f64) + 1.4 * log(10.0 * self.elsewhere);
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

/// A case on the design as it is.
#[derive(Debug)]
struct Case<'a> {
    stimulus: &'a Stimulus,
    /// The state at the beginning.
    start: State,
    /// The states with the inputs of each cycle, until an output differs.
    settled: Vec<State>,
    /// The cycle in which an output differs.
    differs: Option<usize>,
}

/// A change of the design.
#[derive(Debug, Clone)]
enum Repair {
    /// Another node in the place of one.
    Node(NodeId, Node),
    /// An assignment at the beginning of a branch.
    Insertion(Insertion),
}

/// A failing case and others, on one design.
pub struct Ranking<'a> {
    simulator: &'a mut Simulator,
    /// The failing case, then the others.
    cases: Vec<Case<'a>>,
    /// The cycle of the failure.
    end: usize,
    roots: BTreeMap<NodeId, Root>,
    /// The cycles in which each expression of the failing case runs.
    cycles: BTreeMap<NodeId, BTreeSet<usize>>,
    /// What may decide the outputs that differ.
    slice: Slice,
    /// Whether a value of an expression in a cycle avoids the failure.
    tried: BTreeMap<(NodeId, usize), BTreeMap<Bits, bool>>,
    /// The others in the order in which they are tried.
    order: Vec<usize>,
    /// How often each expression runs in a cycle of the others.
    elsewhere: BTreeMap<NodeId, f64>,
    /// The branches that run in each case, with the cycles.
    branches: Vec<BTreeMap<(NodeId, usize), Vec<usize>>>,
    constants: BTreeMap<u32, Vec<Bits>>,
    operands: BTreeMap<usize, Operands>,
    scratch: State,
}

impl<'a> Ranking<'a> {
    /// Runs all cases; `None` if the design does not fail as the compiled model does, or is too
    /// large.
    pub fn new(
        simulator: &'a mut Simulator,
        failing: &'a Stimulus,
        others: &'a [Stimulus],
    ) -> Option<Self> {
        let mut cases = Vec::new();
        let mut cycles: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
        let mut elsewhere = BTreeMap::new();
        let (mut branches, mut words, mut length) = (Vec::new(), 0, 1.0);
        // What runs before the outputs of a cycle are compared.
        let mut early: Vec<BTreeSet<NodeId>> = Vec::new();
        for stimulus in std::iter::once(failing).chain(others) {
            let start = simulator.start(stimulus.before_reset);
            let mut state = start.clone();
            let (mut settled, mut differs) = (Vec::new(), None);
            let mut of_case: BTreeMap<(NodeId, usize), Vec<usize>> = BTreeMap::new();
            for cycle in 0..stimulus.cycles() {
                simulator.trace = Some(Trace::default());
                state.wake();
                simulator.drive(&mut state, &stimulus.inputs[cycle])?;
                words += state.size();
                if words > MOST_WORDS {
                    return None;
                }
                settled.push(state.clone());
                if cases.is_empty() {
                    let roots = simulator.trace.as_ref().map(|trace| trace.roots.clone());
                    early.push(roots.unwrap_or_default().into_iter().collect());
                }
                if simulator.differs(&state, &stimulus.expected[cycle]) {
                    differs = Some(cycle);
                } else {
                    simulator.edge(&mut state)?;
                }
                let Trace { roots, branches } = simulator.trace.take().unwrap_or_default();
                for root in roots {
                    if cases.is_empty() {
                        cycles.entry(root).or_default().insert(cycle);
                    } else {
                        *elsewhere.entry(root).or_insert(0.0) += 1.0;
                    }
                }
                for branch in branches {
                    let ran = of_case.entry(branch).or_default();
                    if ran.last() != Some(&cycle) {
                        ran.push(cycle);
                    }
                }
                if differs.is_some() {
                    break;
                }
            }
            if cases.is_empty() && differs.is_none() {
                return None;
            }
            length += if cases.is_empty() { 0.0 } else { settled.len() as f64 };
            branches.push(of_case);
            cases.push(Case { stimulus, start, settled, differs });
        }
        elsewhere.values_mut().for_each(|count| *count /= length);
        let end = cases[0].differs?;
        let roots = roots(&simulator.design);
        let outputs: Vec<_> =
            simulator.differences(&cases[0].settled[end], &failing.expected[end]).collect();
        let slice = Slice::of(&simulator.design, &roots, (&cycles, &early), &outputs, end, CYCLES);
        let mut ranking = Self {
            simulator,
            order: (1..cases.len()).collect(),
            cases,
            end,
            roots,
            cycles,
            slice,
            tried: BTreeMap::new(),
            elsewhere,
            branches,
            constants: BTreeMap::new(),
            operands: BTreeMap::new(),
            scratch: State::default(),
        };
        ranking.prepare();
        Some(ranking)
    }

    /// The lines, the most suspicious one first, each with the reason.
    pub fn lines(&mut self) -> Vec<(Place, String)> {
        let mut lines = self.examined();
        lines.sort_by(|one, other| other.score().total_cmp(&one.score()));
        lines.into_iter().filter_map(|line| Some((line.place.clone(), line.reason()?))).collect()
    }

    /// What is known of each line.
    fn examined(&mut self) -> Vec<Line> {
        let mut lines = Lines::new();
        for (root, ran) in &self.cycles {
            let elsewhere = self.elsewhere.get(root).copied().unwrap_or_default();
            self.simulator.design.each_node(*root, &mut |node| {
                let line = line_of(&mut lines, &self.simulator.design.nodes[node].place);
                line.executed = line.executed.max(ran.len());
                line.is_late |= ran.iter().any(|cycle| cycle + 1 >= self.end);
                line.elsewhere = line.elsewhere.max(elsewhere);
            });
        }
        let matter = self.try_values(&mut lines);
        self.try_insertions(&mut lines);
        self.try_repairs(&mut lines, matter);
        lines.into_values().collect()
    }

    /// Forces values. The expressions that matter, in the order of their distance to the failure.
    fn try_values(&mut self, lines: &mut Lines) -> Vec<NodeId> {
        let (mut matter, mut decisive) = (Vec::new(), BTreeSet::new());
        let limit = self.simulator.effort + EFFORT[0];
        for (cycle, root) in self.slice.found.clone() {
            for node in self.nodes(root) {
                if self.simulator.effort > limit {
                    break;
                }
                if decisive.contains(&node) || !self.avoids(node, root, cycle) {
                    continue;
                }
                decisive.insert(node);
                if !matter.contains(&root) {
                    matter.push(root);
                }
                let place = &self.simulator.design.nodes[node].place;
                let line = line_of(lines, place);
                line.forced += 1;
                let distance = self.end - cycle;
                if line.distance.is_none_or(|known| distance < known) {
                    line.distance = Some(distance);
                    line.place = place.clone();
                }
            }
        }
        if matter.is_empty() {
            let mut known = BTreeSet::new();
            let all = self.slice.found.iter().map(|(_, root)| *root);
            matter = all.filter(|root| known.insert(*root)).collect();
        }
        matter
    }

    /// Adds assignments.
    fn try_insertions(&mut self, lines: &mut Lines) {
        let limit = self.simulator.effort + EFFORT[1];
        let mut failed = BTreeSet::new();
        for (insertion, place, what) in self.insertions() {
            if self.simulator.effort > limit {
                break;
            }
            let ran = self.branches[0].get(&(insertion.root, insertion.branch));
            let ran = ran.cloned().unwrap_or_default();
            let values = ran.iter().map(|cycle| self.inserted_in(0, &insertion, *cycle));
            let values: Vec<_> = values.collect();
            if values.iter().all(Option::is_none) {
                continue;
            }
            let value = &self.simulator.design.nodes[insertion.value].operation;
            let is_constant = matches!(value, Operation::Constant(_));
            let key = (insertion.root, insertion.branch, insertion.target, values);
            if !is_constant && failed.contains(&key) {
                continue;
            }
            let root = insertion.root;
            let distance = ran.last().map(|last| self.end - last);
            let repair = Repair::Insertion(insertion);
            let Some(share) = self.try_repair(lines, root, &repair, &place, what) else {
                // Only of a constant is the value known exactly.
                if is_constant {
                    failed.insert(key);
                }
                continue;
            };
            if share > GOOD {
                let line = line_of(lines, &place);
                if line.distance.is_none() {
                    line.distance = distance;
                }
            }
        }
    }

    /// Gives these expressions other forms.
    fn try_repairs(&mut self, lines: &mut Lines, matter: Vec<NodeId>) {
        let limit = self.simulator.effort + EFFORT[2];
        for root in matter {
            for node in self.nodes(root) {
                let place = self.simulator.design.nodes[node].place.clone();
                for (repaired, what) in self.repairs(node, node == root) {
                    if self.simulator.effort > limit {
                        break;
                    }
                    let repair = Repair::Node(node, repaired);
                    self.try_repair(lines, root, &repair, &place, what);
                }
            }
        }
    }

    fn nodes(&self, root: NodeId) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        self.simulator.design.each_node(root, &mut |node| nodes.push(node));
        nodes
    }

    fn try_repair(
        &mut self,
        lines: &mut Lines,
        root: NodeId,
        repair: &Repair,
        place: &Place,
        what: String,
    ) -> Option<f64> {
        let known = lines.get(&(place.file.clone(), place.line));
        let best = known.and_then(|line| line.best.as_ref()).map_or(0.0, |(best, _)| *best);
        let share = self.share(root, repair, best)?;
        let line = line_of(lines, place);
        line.repairs += 1;
        line.good += usize::from(share > GOOD);
        if line.best.as_ref().is_none_or(|(best, _)| share > *best) {
            line.best = Some((share, what));
            line.place = place.clone();
        }
        Some(share)
    }

    /// Whether another value of a node in one cycle avoids the failure.
    fn avoids(&mut self, id: NodeId, root: NodeId, cycle: usize) -> bool {
        let width = self.simulator.design.nodes[id].width;
        let mut state = std::mem::take(&mut self.scratch);
        state.clone_from(&self.cases[0].settled[cycle]);
        let now = self.simulator.value(&mut state, id);
        let one = bits::small(1, width);
        let mut values = vec![
            bits::each(&now, &now, width, |limb, _| !limb),
            bits::small(0, width),
            bits::ones(width),
            bits::add(&now, &one, width),
            bits::add(&now, &bits::ones(width), width),
        ];
        let variables = &self.simulator.design.variables;
        let outputs =
            self.simulator.pins.outputs.iter().zip(&self.cases[0].stimulus.expected[self.end]);
        let outputs = outputs.filter(|(output, _)| variables[**output].width == width);
        values.extend(outputs.map(|(_, (value, _))| value.clone()));
        if width > 1 {
            values.extend(self.constants.get(&width).into_iter().flatten().take(VALUES).cloned());
            let of_width = variables.iter().enumerate();
            let of_width = of_width.filter(|(_, it)| it.width == width && it.array.is_none());
            values.extend(of_width.map(|(it, _)| self.simulator.read(&state, it, 0)).take(VALUES));
        }
        let mut known = BTreeSet::from([now]);
        values.retain(|value| known.insert(value.clone()));
        // What counts is the value of the whole expression.
        if id != root {
            let whole = self.simulator.value(&mut state, root);
            known = BTreeSet::from([whole]);
            let simulator = &mut *self.simulator;
            values = values
                .into_iter()
                .filter_map(|value| {
                    simulator.instead = Some((id, value));
                    let whole = simulator.value(&mut state, root);
                    known.insert(whole.clone()).then_some(whole)
                })
                .collect();
            simulator.instead = None;
        }
        self.scratch = state;
        values.into_iter().any(|value| self.decides(root, cycle, value))
    }

    /// Whether a value of an expression in one cycle avoids the failure.
    fn decides(&mut self, root: NodeId, cycle: usize, value: Bits) -> bool {
        if let Some(known) = self.tried.get(&(root, cycle)).and_then(|tried| tried.get(&value)) {
            return *known;
        }
        let runs = self.roots[&root].runs;
        let mut state = std::mem::take(&mut self.scratch);
        let forced = Forced { root, runs, cycle: cycle as u64, value: value.clone() };
        let mut is_stable = self.begin(0, cycle, runs, &mut state).is_some();
        let Case { stimulus, settled, .. } = &self.cases[0];
        is_stable &= self.simulator.force(&mut state, forced, &stimulus.inputs[cycle]).is_some();
        let mut at = cycle;
        let is_avoided = loop {
            if !is_stable || self.simulator.differs(&state, &stimulus.expected[at]) {
                break false;
            }
            if at == self.end {
                break true;
            }
            at += 1;
            is_stable = self.simulator.edge(&mut state).is_some()
                && self.simulator.drive(&mut state, &stimulus.inputs[at]).is_some();
            // Without a consequence, the failure comes.
            is_stable &= !state.is_like(&settled[at]);
        };
        self.simulator.forced = None;
        self.scratch = state;
        self.tried.entry((root, cycle)).or_default().insert(value, is_avoided);
        is_avoided
    }

    /// A state from which an expression runs in a cycle: with its inputs, but before them for a
    /// clocked process, which may also wait for one of them.
    fn begin(&mut self, case: usize, cycle: usize, runs: Runs, state: &mut State) -> Option<()> {
        let Case { start, settled, .. } = &self.cases[case];
        match (runs, cycle) {
            (Runs::Clocked, 0) => state.clone_from(start),
            (Runs::Clocked, _) => {
                state.clone_from(&settled[cycle - 1]);
                return self.simulator.edge(state);
            }
            _ => state.clone_from(&settled[cycle]),
        }
        Some(())
    }

    /// The share of the cases that match with a repair; `None` if the failing case does not. It is
    /// 0 if it is less than `least`.
    fn share(&mut self, root: NodeId, repair: &Repair, least: f64) -> Option<f64> {
        let mut repair = repair.clone();
        if let Repair::Node(id, node) = &mut repair {
            let id = *id;
            // A condition that holds the node cannot be part of what replaces it.
            let mut is_circular = false;
            for argument in node.arguments.iter().filter(|argument| **argument != id) {
                self.simulator.design.each_node(*argument, &mut |below| is_circular |= below == id);
            }
            if is_circular {
                return None;
            }
            let inner = self.keep(self.simulator.design.nodes[id].clone());
            let own = node.arguments.iter_mut().filter(|argument| **argument == id);
            own.for_each(|argument| *argument = inner);
            let share = self.share_of(root, &repair, least);
            self.simulator.design.nodes.truncate(inner);
            share
        } else {
            self.share_of(root, &repair, least)
        }
    }

    fn share_of(&mut self, root: NodeId, repair: &Repair, least: f64) -> Option<f64> {
        if !self.may_repair(root, repair) || self.outcome(0, root, repair).is_some() {
            return None;
        }
        let count = self.cases.len() as f64;
        let mut lost = 0.0;
        for place in 0..self.order.len() {
            let other = self.order[place];
            let now = self.outcome(other, root, repair);
            lost += match (now, self.cases[other].differs) {
                (None, _) => 0.0,
                // Perhaps another consequence of the same bug.
                (Some(cycle), Some(before)) if cycle > before => 0.3,
                (Some(cycle), Some(before)) if cycle == before => 0.6,
                _ => 1.0,
            };
            if 1.0 - lost / count < least.max(0.5) {
                // What fails here often fails there again.
                self.order[..=place].rotate_right(1);
                return Some(0.0);
            }
        }
        Some(1.0 - lost / count)
    }

    /// The value that an insertion assigns in a cycle; `None` if the variable has it anyway.
    fn inserted_in(&mut self, case: usize, insertion: &Insertion, cycle: usize) -> Option<Bits> {
        let mut state = std::mem::take(&mut self.scratch);
        let settled = &self.cases[case].settled;
        state.clone_from(&settled[cycle]);
        let value = self.simulator.value(&mut state, insertion.value);
        let value = bits::fit(value, self.simulator.design.variables[insertion.target].width);
        let after = settled.get(cycle + usize::from(insertion.is_late));
        // An asynchronous reset acts in this cycle.
        let holds = |it: &State| self.simulator.read(it, insertion.target, 0) == value;
        let is_held = holds(&state) && after.is_none_or(holds);
        self.scratch = state;
        (!is_held).then_some(value)
    }

    /// Whether a repair may avoid the failure, by its effect in single cycles.
    fn may_repair(&mut self, root: NodeId, repair: &Repair) -> bool {
        if let Repair::Insertion(_) = repair {
            return true;
        }
        let mut at = 0;
        let mut count = 0;
        while let Some((cycle, value)) = self.effect(0, root, repair, at) {
            if cycle + CYCLES < self.end || self.decides(root, cycle, value) {
                return true;
            }
            (at, count) = (cycle + 1, count + 1);
        }
        count > 1 && matches!(repair, Repair::Node(_, Node { is_condition: false, .. }))
    }

    /// The next cycle from `at` on in which a repair changes something, and the value.
    fn effect(
        &mut self,
        case: usize,
        root: NodeId,
        repair: &Repair,
        at: usize,
    ) -> Option<(usize, Bits)> {
        match repair {
            Repair::Insertion(insertion) => {
                let ran = self.branches[case].get(&(insertion.root, insertion.branch))?;
                let next = ran.partition_point(|cycle| *cycle < at);
                let ran = ran[next..].to_vec();
                for cycle in ran {
                    if let Some(value) = self.inserted_in(case, insertion, cycle) {
                        return Some((cycle, value));
                    }
                }
                None
            }
            Repair::Node(id, repaired) => {
                let mut state = std::mem::take(&mut self.scratch);
                let mut found = None;
                let count = self.cases[case].settled.len();
                for cycle in at..count {
                    if case == 0 && !self.cycles[&root].contains(&cycle) {
                        continue;
                    }
                    // Functions write their variables, which they assign before they read them.
                    std::mem::swap(&mut state, &mut self.cases[case].settled[cycle]);
                    let before = self.simulator.value(&mut state, root);
                    let place = &mut self.simulator.design.nodes[*id];
                    let kept = std::mem::replace(place, repaired.clone());
                    let value = self.simulator.value(&mut state, root);
                    self.simulator.design.nodes[*id] = kept;
                    std::mem::swap(&mut state, &mut self.cases[case].settled[cycle]);
                    if value != before {
                        found = Some((cycle, value));
                        break;
                    }
                }
                self.scratch = state;
                found
            }
        }
    }

    /// The cycle in which an output differs with a repair.
    fn outcome(&mut self, case: usize, root: NodeId, repair: &Repair) -> Option<usize> {
        let mut at = 0;
        loop {
            let Some((cycle, _)) = self.effect(case, root, repair, at) else {
                return self.cases[case].differs;
            };
            let mut state = std::mem::take(&mut self.scratch);
            let _ = self.begin(case, cycle, self.roots[&root].runs, &mut state);
            let kept = self.install(root, repair);
            let next = self.simulate(case, cycle, &mut state);
            self.uninstall(repair, kept);
            self.scratch = state;
            match next {
                Ok(outcome) => return outcome,
                Err(same) => at = same,
            }
        }
    }

    /// Runs a changed design from a cycle on. The cycle in which an output differs, or the one in
    /// which the state is again that of the unchanged design.
    fn simulate(
        &mut self,
        case: usize,
        cycle: usize,
        state: &mut State,
    ) -> Result<Option<usize>, usize> {
        let Case { stimulus, settled, .. } = &self.cases[case];
        let mut is_stable = self.simulator.drive(state, &stimulus.inputs[cycle]).is_some();
        let mut at = cycle;
        loop {
            if !is_stable || self.simulator.differs(state, &stimulus.expected[at]) {
                return Ok(Some(at));
            }
            at += 1;
            if at == stimulus.cycles() {
                return Ok(None);
            }
            is_stable = self.simulator.edge(state).is_some()
                && self.simulator.drive(state, &stimulus.inputs[at]).is_some();
            if settled.get(at).is_some_and(|settled| state.is_like(settled)) {
                return Err(at);
            }
        }
    }

    fn install(&mut self, root: NodeId, repair: &Repair) -> Option<Node> {
        self.simulator.changed = Some(self.roots[&root].runs);
        match repair {
            Repair::Node(id, node) => {
                let place = &mut self.simulator.design.nodes[*id];
                Some(std::mem::replace(place, node.clone()))
            }
            Repair::Insertion(insertion) => {
                self.simulator.inserted = Some(insertion.clone());
                None
            }
        }
    }

    fn uninstall(&mut self, repair: &Repair, kept: Option<Node>) {
        self.simulator.changed = None;
        self.simulator.inserted = None;
        if let (Repair::Node(id, _), Some(kept)) = (repair, kept) {
            self.simulator.design.nodes[*id] = kept;
        }
    }
}

fn line_of<'l>(lines: &'l mut Lines, place: &Place) -> &'l mut Line {
    let line = lines.entry((place.file.clone(), place.line)).or_default();
    if line.place.line == 0 {
        line.place = place.clone();
    }
    line
}
