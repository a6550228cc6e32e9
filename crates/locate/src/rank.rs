//! Ranks lines: which expressions, with another value or in another form, make a failing case
//! match.
//!
//! - A value that is forced in one cycle shows that the failure depends on an expression. Only what
//!   may decide the output is tried ([`slice`]), and of each value what it makes of the whole
//!   expression.
//! - An expression in another form, or an assignment that a branch lacks, is a *repair* if the
//!   failing case matches. It counts for much if all other cases match as well, and for little
//!   otherwise. Cases are simulated from the first cycle on in which the repair has an effect.
//!
//! The effort is limited by the number of evaluated expressions, so that equal input has an equal
//! result on every machine.

mod repairs;

use super::bits::{self, Bits};
use super::design::{Node, NodeId, Operation, Place};
use super::simulate::{Runs, Simulator, State, Stimulus};
use super::slice::{Ran, Root, roots, slice};
use repairs::Operands;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::swap;

/// Expressions that may be evaluated to force values, to add assignments, and to try other repairs.
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
            (_, Some(it)) => Some(format!("decides the output {it} cycle(s) before the failure")),
            (best, None) => Some(format!("the case matches with {}", best.as_ref()?.1)),
        }
    }
}

#[derive(Debug)]
struct Case<'a> {
    stimulus: &'a Stimulus,
    start: State,
    /// The states with the inputs of each cycle, until an output differs.
    settled: Vec<State>,
    /// The cycle in which an output differs.
    differs: Option<usize>,
    ran: Ran,
}

/// Another node in the place of one below a root.
#[derive(Debug)]
struct Repair {
    root: NodeId,
    id: NodeId,
    node: Node,
}

/// A failing case and others, on one design.
pub struct Ranking<'a> {
    simulator: &'a mut Simulator,
    /// The failing case, then the others.
    cases: Vec<Case<'a>>,
    /// The cycle of the failure.
    end: usize,
    roots: BTreeMap<NodeId, Root>,
    /// What may decide the outputs that differ.
    slice: Vec<(usize, NodeId)>,
    /// Whether a value of an expression in a cycle avoids the failure.
    tried: BTreeMap<(NodeId, usize), BTreeMap<Bits, bool>>,
    /// The others in the order in which they are tried.
    order: Vec<usize>,
    constants: BTreeMap<u32, BTreeSet<Bits>>,
    operands: BTreeMap<usize, Operands>,
}

impl<'a> Ranking<'a> {
    /// Runs all cases; `None` if the design does not fail as the compiled model does, or is too
    /// large.
    pub fn new(
        simulator: &'a mut Simulator,
        failing: &'a Stimulus,
        others: &'a [Stimulus],
    ) -> Option<Self> {
        let (mut cases, mut words): (Vec<Case<'_>>, _) = (Vec::new(), 0);
        for stimulus in std::iter::once(failing).chain(others) {
            let start = simulator.start(stimulus.before_reset);
            let mut state = start.clone();
            let (mut settled, mut differs, mut ran) = (Vec::new(), None, Ran::new());
            for cycle in 0..stimulus.cycles() {
                simulator.trace = RefCell::new(Some(Vec::new()));
                state.wake(Runs::Anywhere);
                simulator.drive(&mut state, &stimulus.inputs[cycle])?;
                words += state.limbs.len();
                (words <= MOST_WORDS).then_some(())?;
                settled.push(state.clone());
                let fails = !simulator.failing(&state, stimulus, cycle).is_empty();
                differs = fails.then_some(cycle);
                if differs.is_none() {
                    simulator.edge(&mut state)?;
                }
                for root in simulator.trace.take().into_iter().flatten() {
                    ran.entry(root).or_insert_with(|| vec![false; stimulus.cycles()])[cycle] = true;
                }
                if differs.is_some() {
                    break;
                }
            }
            cases.push(Case { stimulus, start, settled, differs, ran });
            cases[0].differs?;
        }
        let end = cases[0].differs?;
        let roots = roots(&simulator.design);
        let outputs = simulator.failing(&cases[0].settled[end], failing, end);
        let slice = slice(&simulator.design, &roots, &cases[0].ran, &outputs, end, CYCLES);
        let mut ranking = Self {
            simulator,
            order: (1..cases.len()).collect(),
            cases,
            end,
            roots,
            slice,
            tried: BTreeMap::new(),
            constants: BTreeMap::new(),
            operands: BTreeMap::new(),
        };
        ranking.prepare();
        Some(ranking)
    }

    /// The lines, the most suspicious one first, each with the reason.
    pub fn lines(&mut self) -> Vec<(Place, String)> {
        let mut lines = Lines::new();
        let count = |ran: &Vec<bool>| ran.iter().filter(|it| **it).count();
        let cycles: usize = self.cases[1..].iter().map(|it| it.settled.len()).sum();
        for (root, ran) in &self.cases[0].ran {
            let others = self.cases[1..].iter().filter_map(|it| it.ran.get(root));
            let elsewhere = others.map(count).sum::<usize>() as f64 / (1 + cycles) as f64;
            for node in self.simulator.design.below(*root) {
                let line = line_of(&mut lines, &self.simulator.design.nodes[node].place);
                line.executed = line.executed.max(count(ran));
                line.is_late |= ran[self.end.saturating_sub(1)..].contains(&true);
                line.elsewhere = line.elsewhere.max(elsewhere);
            }
        }
        let mut known = BTreeSet::new();
        let found = self.slice.iter().map(|(_, root)| *root).filter(|root| known.insert(*root));
        let (missing, others): (Vec<_>, Vec<_>) =
            found.partition(|it| self.simulator.design.is_missing(*it));
        let mut matter = self.try_values(&mut lines);
        if matter.is_empty() {
            matter = others;
        }
        // Without other cases, nothing says whether a repair is more than another value.
        if !self.order.is_empty() {
            self.try_repairs(&mut lines, missing, EFFORT[1]);
            self.try_repairs(&mut lines, matter, EFFORT[2]);
        }
        let mut lines: Vec<_> = lines.into_values().collect();
        lines.sort_by(|one, other| other.score().total_cmp(&one.score()));
        lines.into_iter().filter_map(|line| Some((line.place.clone(), line.reason()?))).collect()
    }

    /// Forces values. The expressions that matter, in the order of their distance to the failure.
    fn try_values(&mut self, lines: &mut Lines) -> Vec<NodeId> {
        let (mut matter, mut decisive) = (Vec::new(), BTreeSet::new());
        let limit = self.simulator.effort.get() + EFFORT[0];
        for (cycle, root) in self.slice.clone() {
            if self.simulator.design.is_missing(root) {
                continue;
            }
            for node in self.simulator.design.below(root) {
                if self.simulator.effort.get() > limit {
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
                // The slice begins at the failure.
                if line.distance.is_none() {
                    line.distance = Some(self.end - cycle);
                    line.place = place.clone();
                }
            }
        }
        matter
    }

    /// Gives these expressions other forms.
    fn try_repairs(&mut self, lines: &mut Lines, matter: Vec<NodeId>, effort: u64) {
        let limit = self.simulator.effort.get() + effort;
        for root in matter {
            for node in self.simulator.design.below(root) {
                let place = self.simulator.design.nodes[node].place.clone();
                for (repaired, what) in self.repairs(node, node == root) {
                    if self.simulator.effort.get() > limit {
                        return;
                    }
                    let line = line_of(lines, &place);
                    let best = line.best.as_ref().map_or(0.0, |(best, _)| *best);
                    let mut repair = Repair { root, id: node, node: repaired };
                    let Some(share) = self.share(&mut repair, best) else { continue };
                    line.repairs += 1;
                    line.good += usize::from(share > GOOD);
                    if line.best.is_none() || share > best {
                        line.best = Some((share, what));
                        line.place = place.clone();
                    }
                }
            }
        }
    }

    /// Whether another value of a node in one cycle avoids the failure.
    fn avoids(&mut self, id: NodeId, root: NodeId, cycle: usize) -> bool {
        let width = self.simulator.design.nodes[id].width;
        let mut state = self.cases[0].settled[cycle].clone();
        let now = self.simulator.eval(&mut state, id);
        let one = bits::small(1, width);
        let mut values = vec![
            bits::not(&now, width),
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
            let whole = self.simulator.eval(&mut state, root);
            known = BTreeSet::from([whole]);
            let simulator = &mut *self.simulator;
            let own = simulator.design.nodes[id].operation.clone();
            let whole = |value| {
                simulator.design.nodes[id].operation = Operation::Constant(value);
                let whole = simulator.eval(&mut state, root);
                known.insert(whole.clone()).then_some(whole)
            };
            values = values.into_iter().filter_map(whole).collect();
            simulator.design.nodes[id].operation = own;
        }
        values.into_iter().any(|value| self.decides(root, cycle, value))
    }

    /// Whether a value of an expression in one cycle avoids the failure.
    fn decides(&mut self, root: NodeId, cycle: usize, value: Bits) -> bool {
        if let Some(known) = self.tried.get(&(root, cycle)).and_then(|tried| tried.get(&value)) {
            return *known;
        }
        let runs = self.roots[&root].runs;
        let state = self.start_state(0, cycle, runs);
        self.simulator.forced = Some((root, value.clone()));
        let is_avoided = self.simulate(0, cycle, runs, state, self.end) == Ok(false);
        self.simulator.forced = None;
        self.tried.entry((root, cycle)).or_default().insert(value, is_avoided);
        is_avoided
    }

    /// A state from which an expression runs in a cycle: with its inputs, but before them for a
    /// clocked process, which may also wait for one of them.
    fn start_state(&self, case: usize, cycle: usize, runs: Runs) -> State {
        let Case { start, settled, .. } = &self.cases[case];
        match (runs, cycle) {
            (Runs::Clocked, 0) => start.clone(),
            (Runs::Clocked, _) => {
                let mut state = settled[cycle - 1].clone();
                // It is stable: the same edge led to the next cycle of the case.
                let _ = self.simulator.edge(&mut state);
                state
            }
            _ => settled[cycle].clone(),
        }
    }

    /// The share of the cases that match with a repair; `None` if the failing case does not. It is
    /// 0 if it is less than `least`.
    fn share(&mut self, repair: &mut Repair, least: f64) -> Option<f64> {
        let design = &self.simulator.design;
        // A condition that holds the node cannot be part of what replaces it.
        let mut arguments = repair.node.arguments.iter();
        if arguments.any(|it| design.below(*it).contains(&repair.id)) || self.fails(0, repair) {
            return None;
        }
        let mut share = 1.0;
        for place in 0..self.order.len() {
            if self.fails(self.order[place], repair) {
                share -= 1.0 / self.cases.len() as f64;
            }
            if share < least.max(0.5) {
                // What fails here often fails there again.
                self.order[..=place].rotate_right(1);
                return Some(0.0);
            }
        }
        Some(share)
    }

    /// The next cycle from `at` on in which a repair changes something.
    fn effect(&mut self, case: usize, repair: &mut Repair, at: usize) -> Option<usize> {
        let Self { simulator, cases, roots, .. } = self;
        let Case { settled, ran, .. } = &mut cases[case];
        let (root, ran) = (repair.root, ran.get(&repair.root)?);
        (at..settled.len()).filter(|cycle| ran[*cycle]).find(|cycle| {
            // Functions write their variables, which they assign before they read them.
            swap(&mut simulator.design.nodes[repair.id], &mut repair.node);
            let value = simulator.eval(&mut settled[*cycle], root);
            swap(&mut simulator.design.nodes[repair.id], &mut repair.node);
            let before = match simulator.design.nodes[root].operation {
                // Another assignment may follow.
                Operation::Missing(variable) if roots[&root].runs == Runs::Clocked => {
                    settled.get(cycle + 1).map(|next| simulator.read(next, variable, 0))
                }
                _ => Some(simulator.eval(&mut settled[*cycle], root)),
            };
            before.is_some_and(|before| before != value)
        })
    }

    fn fails(&mut self, case: usize, repair: &mut Repair) -> bool {
        let runs = self.roots[&repair.root].runs;
        let mut at = 0;
        while let Some(cycle) = self.effect(case, repair, at) {
            let state = self.start_state(case, cycle, runs);
            let last = self.cases[case].stimulus.cycles() - 1;
            self.simulator.changed = Some(runs);
            swap(&mut self.simulator.design.nodes[repair.id], &mut repair.node);
            let fails = self.simulate(case, cycle, runs, state, last);
            swap(&mut self.simulator.design.nodes[repair.id], &mut repair.node);
            self.simulator.changed = None;
            match fails {
                Ok(fails) => return fails,
                Err(same) => at = same,
            }
        }
        self.cases[case].differs.is_some()
    }

    /// Runs a changed design, or one with a forced value, from a cycle to the last one. The result
    /// is whether an output differs, or the error is the cycle in which the state is again that of
    /// the unchanged design.
    fn simulate(
        &mut self,
        case: usize,
        cycle: usize,
        runs: Runs,
        mut state: State,
        last: usize,
    ) -> Result<bool, usize> {
        let Case { stimulus, settled, .. } = &self.cases[case];
        state.wake(runs);
        for at in cycle..=last {
            let mut is_stable = true;
            if at > cycle {
                is_stable = self.simulator.edge(&mut state).is_some();
                if self.simulator.forced.take().is_some() {
                    state.wake(runs);
                }
            }
            is_stable &= self.simulator.drive(&mut state, &stimulus.inputs[at]).is_some();
            if at > cycle && settled.get(at).is_some_and(|settled| state.is_like(settled)) {
                return Err(at);
            }
            if !is_stable || !self.simulator.failing(&state, stimulus, at).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn line_of<'l>(lines: &'l mut Lines, place: &Place) -> &'l mut Line {
    let line = lines.entry((place.file.clone(), place.line)).or_default();
    if line.place.line == 0 {
        line.place = place.clone();
    }
    line
}
