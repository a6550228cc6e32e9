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
        let ran = roots.iter().filter(|(id, _)| all.get(id).is_some_and(|ran| ran[cycle]));
        // In the last cycle, a clocked process waited for an input, such as a reset.
        let (edge, mut rest): (Vec<_>, Vec<_>) =
            ran.partition(|(_, root)| root.runs == Runs::Clocked && cycle < end);
        let mut decide = |roots: Vec<_>| {
            let is_needed =
                |(_, root): &(&NodeId, &Root)| root.affects.iter().any(|it| needed[*it]);
            let (decisive, others): (Vec<_>, Vec<_>) = roots.into_iter().partition(is_needed);
            decisive.iter().flat_map(|(_, root)| &root.reads).for_each(|it| needed[*it] = true);
            found.extend(decisive.iter().map(|(id, _)| (cycle, **id)));
            others
        };
        // What the edge at the end of this cycle decides is read before it.
        decide(edge);
        let mut count = usize::MAX;
        while count > rest.len() {
            count = rest.len();
            rest = decide(rest);
        }
    }
    found
}
