//! Which expressions may decide an output: those of statements that run, back from the failure.

use super::design::{Design, NodeId, Operation, Place, Statement, Target, VariableId};
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
        let mut own = Vec::new();
        let mut affects = BTreeSet::new();
        match statement {
            Statement::Assign { target, .. } => {
                statement.each_root(&mut |root| own.push(root));
                target.each_variable(&mut |it| {
                    affects.insert(it);
                });
            }
            Statement::If { condition, then, otherwise } => {
                own.push(*condition);
                for part in [then, otherwise] {
                    affects.append(&mut add(design, part, runs, roots));
                }
            }
            Statement::Case { subject, items } => {
                own.push(*subject);
                for (labels, part) in items {
                    own.extend(labels);
                    affects.append(&mut add(design, part, runs, roots));
                }
            }
        }
        for root in own {
            let mut reads = Vec::new();
            design.each_node(root, &mut |node| match design.nodes[node].operation {
                Operation::Variable(it) | Operation::Element(it) => reads.push(it),
                Operation::Call(function) => reads.push(design.functions[function].result),
                _ => {}
            });
            roots.insert(root, Root { runs, affects: affects.iter().copied().collect(), reads });
        }
        all.append(&mut affects);
    }
    all
}

/// What may decide outputs, back from a cycle.
#[derive(Debug)]
pub struct Slice {
    /// The expressions, each with the cycle in which it runs, from the last cycle back.
    pub found: Vec<(usize, NodeId)>,
    /// The variables that are needed in each cycle.
    needed: BTreeMap<usize, Vec<bool>>,
}

impl Slice {
    /// What may decide these outputs in the cycle `end`. `cycles` has the cycles in which each
    /// expression runs, and what runs in each before the outputs are compared.
    pub fn of(
        design: &Design,
        roots: &BTreeMap<NodeId, Root>,
        (cycles, early): (&BTreeMap<NodeId, BTreeSet<usize>>, &[BTreeSet<NodeId>]),
        outputs: &[VariableId],
        end: usize,
        depth: usize,
    ) -> Self {
        let mut needed = vec![false; design.variables.len()];
        outputs.iter().for_each(|output| needed[*output] = true);
        let mut slice = Self { found: Vec::new(), needed: BTreeMap::new() };
        for cycle in (end.saturating_sub(depth)..=end).rev() {
            let ran = |root: &NodeId| cycles.get(root).is_some_and(|ran| ran.contains(&cycle));
            let mut rest: Vec<_> = roots.iter().filter(|(root, _)| ran(root)).collect();
            // What the edge at the end of this cycle decides is read before it.
            let mut before = needed.clone();
            rest.retain(|(id, root)| {
                let is_edge = root.runs == Runs::Clocked;
                if is_edge && cycle < end && root.affects.iter().any(|it| needed[*it]) {
                    root.reads.iter().for_each(|it| before[*it] = true);
                    slice.found.push((cycle, **id));
                    return false;
                }
                // A clocked process may also wait for an input, such as a reset.
                early[cycle].contains(*id)
            });
            needed = before;
            loop {
                let count = slice.found.len();
                rest.retain(|(id, root)| {
                    let is_needed = root.affects.iter().any(|it| needed[*it]);
                    if is_needed {
                        root.reads.iter().for_each(|it| needed[*it] = true);
                        slice.found.push((cycle, **id));
                    }
                    !is_needed
                });
                if slice.found.len() == count {
                    break;
                }
            }
            slice.needed.insert(cycle, needed.clone());
        }
        slice
    }

    /// Whether a variable may matter in a cycle.
    pub fn needs(&self, cycle: usize, variable: VariableId) -> bool {
        self.needed.get(&cycle).is_some_and(|needed| needed[variable])
    }
}

/// A condition or a subject, and the number of the branch.
pub type BranchId = (NodeId, usize);

/// Variables that are assigned as a whole, with the values.
type Assigned = Vec<(VariableId, NodeId)>;

/// A branch of an `if` or a `case`.
#[derive(Debug, Default)]
pub struct Branch {
    /// The variables that it assigns itself, in their order, and the places.
    pub own: Vec<(VariableId, Place)>,
    /// The whole variables that its process assigns, and the values.
    pub assigned: BTreeMap<VariableId, Vec<NodeId>>,
    /// The variables before and after each, where the process assigns both.
    beside: BTreeMap<VariableId, [BTreeSet<VariableId>; 2]>,
}

impl Branch {
    /// Where an assignment of a variable would stand, by its place in other branches.
    pub fn place_of(&self, variable: VariableId) -> Option<Place> {
        let is_beside = |side: usize, own: &VariableId| {
            self.beside.get(&variable).is_some_and(|sides| sides[side].contains(own))
        };
        // Assignments of a reset often have the order of the declarations.
        if self.own.len() > 2 && self.own.is_sorted_by_key(|(own, _)| *own) {
            let at = self.own.partition_point(|(own, _)| *own < variable).saturating_sub(1);
            return Some(self.own[at].1.clone());
        }
        let before = self.own.iter().rev().find(|(own, _)| is_beside(0, own));
        let after = || self.own.iter().find(|(own, _)| is_beside(1, own));
        before.or_else(after).or(self.own.last()).map(|(_, place)| place.clone())
    }
}

/// The branches of all processes, by their condition or subject, and their number: 1 and 0 of an
/// `if`, and that of the item of a `case`.
pub fn branches(design: &Design) -> BTreeMap<BranchId, Branch> {
    let mut all = BTreeMap::new();
    for process in design.combinational.iter().chain(&design.clocked) {
        let mut bodies = vec![(None, &*process.body)];
        let mut in_parts = Vec::new();
        let mut found: Vec<(Option<BranchId>, Assigned)> = Vec::new();
        while let Some((key, body)) = bodies.pop() {
            let mut own = Vec::new();
            for statement in body {
                match statement {
                    Statement::Assign { target: Target::Variable(target), value, .. } => {
                        own.push((*target, *value));
                    }
                    Statement::Assign { target, .. } => {
                        target.each_variable(&mut |it| in_parts.push(it));
                    }
                    Statement::If { condition, then, otherwise } => {
                        bodies.push((Some((*condition, 1)), then));
                        bodies.push((Some((*condition, 0)), otherwise));
                    }
                    Statement::Case { subject, items } => {
                        let items = items.iter().enumerate();
                        bodies.extend(items.map(|(at, (_, it))| (Some((*subject, at)), &**it)));
                    }
                }
            }
            found.push((key, own));
        }
        let mut assigned: BTreeMap<VariableId, Vec<NodeId>> = BTreeMap::new();
        let mut beside: BTreeMap<VariableId, [BTreeSet<VariableId>; 2]> = BTreeMap::new();
        in_parts.into_iter().for_each(|it| {
            assigned.entry(it).or_default();
        });
        for (_, own) in &found {
            for (place, (variable, value)) in own.iter().enumerate() {
                assigned.entry(*variable).or_default().push(*value);
                let [before, after] = beside.entry(*variable).or_default();
                before.extend(own[..place].last().map(|(it, _)| *it));
                after.extend(own.get(place + 1).map(|(it, _)| *it));
            }
        }
        for (key, own) in found {
            let Some(key) = key else { continue };
            let place = |value: NodeId| design.nodes[value].place.clone();
            let own = own.into_iter().map(|(it, value)| (it, place(value))).collect();
            let (assigned, beside) = (assigned.clone(), beside.clone());
            all.insert(key, Branch { own, assigned, beside });
        }
    }
    all
}
