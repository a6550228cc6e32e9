//! Which expressions may decide an output: those of statements that run, back from the failure.

use super::design::{Design, NodeId, Operation, Statement, VariableId};
use super::simulate::Runs;
use std::collections::{BTreeMap, BTreeSet};

/// An expression of a statement: a value that is assigned, a condition, a subject or an index.
#[derive(Debug, Clone)]
pub struct Root {
    pub runs: Runs,
    /// The variables whose values it may decide.
    affects: Vec<VariableId>,
    reads: Vec<VariableId>,
}

/// Whether each expression that runs does so in each cycle.
pub type Ran = BTreeMap<NodeId, Vec<bool>>;

/// The expressions of all statements.
pub fn roots(design: &Design) -> BTreeMap<NodeId, Root> {
    let mut roots = BTreeMap::new();
    for (place, process) in design.combinational.iter().enumerate() {
        add(design, &process.body, Runs::Combinational(place), &mut roots);
    }
    for process in &design.clocked {
        add(design, &process.body, Runs::Clocked, &mut roots);
    }
    for function in &design.functions {
        add(design, &function.body, Runs::Anywhere, &mut roots);
    }
    roots
}

/// Adds those of a body, and returns the variables that it assigns.
fn add(
    design: &Design,
    body: &[Statement],
    runs: Runs,
    roots: &mut BTreeMap<NodeId, Root>,
) -> BTreeSet<VariableId> {
    let mut all = BTreeSet::new();
    for statement in body {
        let (own, mut affects) = (statement.roots(), BTreeSet::new());
        if let Statement::Assign { targets, .. } = statement {
            affects.extend(targets.iter().map(|it| it.variable));
        }
        for body in statement.bodies() {
            affects.append(&mut add(design, body, runs, roots));
        }
        for root in own.iter().copied() {
            let mut reads = Vec::new();
            for node in design.below(root) {
                match design.nodes[node].operation {
                    Operation::Variable(it) | Operation::Element(it) => reads.push(it),
                    Operation::Call(function) => reads.push(design.functions[function].result),
                    _ => {}
                }
            }
            roots.insert(root, Root { runs, affects: affects.iter().copied().collect(), reads });
        }
        if !own.iter().any(|root| design.is_missing(*root)) {
            all.append(&mut affects);
        }
    }
    all
}

/// The expressions that may decide these outputs in the cycle `end`, each with the cycle in which
/// it runs, from the last cycle back.
pub fn slice(
    design: &Design,
    roots: &BTreeMap<NodeId, Root>,
    all: &Ran,
    outputs: &[VariableId],
    end: usize,
    depth: usize,
) -> Vec<(usize, NodeId)> {
    let mut needed = vec![false; design.variables.len()];
    outputs.iter().for_each(|output| needed[*output] = true);
    let mut found = Vec::new();
    for cycle in (end.saturating_sub(depth)..=end).rev() {
        let ran = |root: &NodeId| all.get(root).is_some_and(|ran| ran[cycle]);
        let mut rest: Vec<_> = roots.iter().filter(|(root, _)| ran(root)).collect();
        // What the edge at the end of this cycle decides is read before it.
        let mut before = needed.clone();
        rest.retain(|(id, root)| {
            // In the last cycle, a clocked process waited for an input, such as a reset.
            let is_edge = root.runs == Runs::Clocked && cycle < end;
            if is_edge && root.affects.iter().any(|it| needed[*it]) {
                root.reads.iter().for_each(|it| before[*it] = true);
                found.push((cycle, **id));
            }
            !is_edge
        });
        needed = before;
        loop {
            let count = found.len();
            rest.retain(|(id, root)| {
                let is_needed = root.affects.iter().any(|it| needed[*it]);
                if is_needed {
                    root.reads.iter().for_each(|it| needed[*it] = true);
                    found.push((cycle, **id));
                }
                !is_needed
            });
            if found.len() == count {
                break;
            }
        }
    }
    found
}
