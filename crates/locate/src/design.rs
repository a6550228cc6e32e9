//! A design as processes over variables, flattened from Verilator's description.
//!
//! It covers what synthesizable RTL uses: continuous assignments, combinational and clocked
//! processes, functions and memories. Anything else is an error that names it, so that no design is
//! simulated only in part.

mod build;

use super::bits::{self, Bits};
use super::operators::{Operator, operators};
use std::collections::{BTreeMap, BTreeSet};

pub type NodeId = usize;
pub type VariableId = usize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    pub width: u32,
    /// The number of elements of a memory.
    pub array: Option<usize>,
    pub constant: Option<Bits>,
    pub instance: usize,
}

#[derive(Debug, Clone)]
pub enum Operation {
    Constant(Bits),
    Variable(VariableId),
    /// An element of a memory; the argument is the index.
    Element(VariableId),
    Operator(&'static Operator),
    /// The second or the third argument, as the first says.
    Choice,
    /// A call of a function with these arguments.
    Call(usize),
    /// The value of an assignment that does not happen, until a repair gives it a value.
    Missing(VariableId),
}

impl Operation {
    fn named(kind: &str) -> Option<Self> {
        match kind {
            "cond" | "condbound" => Some(Self::Choice),
            "eqcase" => Self::named("eq"),
            "neqcase" => Self::named("neq"),
            _ => operators(&[kind]).next().map(Self::Operator),
        }
    }
}

/// A part of an expression.
#[derive(Debug, Clone)]
pub struct Node {
    pub operation: Operation,
    pub arguments: Vec<NodeId>,
    pub width: u32,
    pub place: Place,
    pub instance: usize,
}

#[derive(Debug, Clone)]
pub struct Target {
    pub variable: VariableId,
    pub index: Option<NodeId>,
    /// The lowest bit is the sum of these.
    pub lows: Vec<NodeId>,
    pub width: u32,
}

#[derive(Debug, Clone)]
pub enum Statement {
    /// Assigns a value, at the end of the time step if it is late. The first target is the most
    /// significant one.
    Assign { targets: Vec<Target>, value: NodeId, is_late: bool },
    /// Chooses between two lists.
    If { condition: NodeId, then: Vec<Self>, otherwise: Vec<Self> },
    /// Runs the first item with a label that equals the subject. The item without labels is the
    /// default.
    Case { subject: NodeId, items: Vec<(Vec<NodeId>, Vec<Self>)> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub variable: VariableId,
    pub rises: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Process {
    /// Its edges; none of a combinational process.
    pub edges: Vec<Edge>,
    pub body: Vec<Statement>,
    pub reads: BTreeSet<VariableId>,
    pub writes: Vec<VariableId>,
    /// Those that it does not assign at the end of the time step.
    pub at_once: BTreeSet<VariableId>,
}

#[derive(Debug, Clone)]
pub struct Function {
    pub inputs: Vec<VariableId>,
    pub result: VariableId,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone, Default)]
pub struct Design {
    pub variables: Vec<Variable>,
    pub nodes: Vec<Node>,
    pub functions: Vec<Function>,
    /// Combinational processes in the order of the flow of data, as far as there is one.
    pub combinational: Vec<Process>,
    pub clocked: Vec<Process>,
    /// What runs once, before all others.
    pub initial: Vec<Statement>,
    /// The values that statements assign to whole variables.
    pub assigned: BTreeMap<VariableId, Vec<NodeId>>,
    pub ports: BTreeMap<String, VariableId>,
}

/// Why a design cannot be simulated.
pub type Reason = String;

impl Design {
    /// Sorts the combinational processes: writers before readers.
    fn sort(&mut self) {
        let mut writers: BTreeMap<VariableId, Vec<usize>> = BTreeMap::new();
        for (place, process) in self.combinational.iter().enumerate() {
            process.writes.iter().for_each(|it| writers.entry(*it).or_default().push(place));
        }
        let mut order = Vec::new();
        let mut known = vec![false; self.combinational.len()];
        for start in 0..self.combinational.len() {
            // Depth first, without recursion: a process follows those that write what it reads.
            let mut stack = vec![(start, false)];
            while let Some((place, is_done)) = stack.pop() {
                if is_done {
                    order.push(place);
                } else if !known[place] {
                    known[place] = true;
                    stack.push((place, true));
                    let reads = self.combinational[place].reads.iter();
                    let before = reads.filter_map(|it| writers.get(it)).flatten();
                    stack.extend(before.map(|writer| (*writer, false)));
                }
            }
        }
        let take = |place: usize| std::mem::take(&mut self.combinational[place]);
        self.combinational = order.into_iter().map(take).collect();
    }

    /// A node as Verilog, roughly.
    pub fn text(&self, id: NodeId) -> String {
        let node = &self.nodes[id];
        let arguments: Vec<_> = node.arguments.iter().map(|it| self.text(*it)).collect();
        match (&node.operation, &*arguments) {
            (Operation::Constant(value), _) => bits::text(value, node.width),
            (Operation::Variable(variable) | Operation::Missing(variable), _) => {
                self.variables[*variable].name.clone()
            }
            (Operation::Element(variable), [index]) => {
                format!("{}[{index}]", self.variables[*variable].name)
            }
            (Operation::Operator(it), [one]) => format!("{}{one}", it.sign),
            (Operation::Operator(it), [one, other]) => match it.name {
                "sel" => format!("{one}[{other}]"),
                "concat" => format!("{{{one}, {other}}}"),
                _ => format!("({one} {} {other})", it.sign),
            },
            (Operation::Choice, [condition, yes, no]) => format!("({condition} ? {yes} : {no})"),
            _ => format!("({})", arguments.join(", ")),
        }
    }

    /// Whether a node is the value of an assignment that does not happen.
    pub fn is_missing(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].operation, Operation::Missing(_))
    }

    pub fn below(&self, node: NodeId) -> Vec<NodeId> {
        let (mut all, mut stack) = (Vec::new(), vec![node]);
        while let Some(node) = stack.pop() {
            all.push(node);
            stack.extend(self.nodes[node].arguments.iter().rev());
        }
        all
    }
}

impl Statement {
    pub fn each(&self, f: &mut dyn FnMut(&Self)) {
        f(self);
        self.bodies().into_iter().flatten().for_each(|statement| statement.each(f));
    }

    /// The expressions of a statement itself.
    pub fn roots(&self) -> Vec<NodeId> {
        match self {
            Self::Assign { targets, value, .. } => {
                let indices = targets.iter().flat_map(|it| it.index.iter().chain(&it.lows));
                indices.chain([value]).copied().collect()
            }
            Self::If { condition, .. } => vec![*condition],
            Self::Case { subject, items } => {
                items.iter().flat_map(|(labels, _)| labels).chain([subject]).copied().collect()
            }
        }
    }

    pub fn bodies(&self) -> Vec<&[Self]> {
        match self {
            Self::Assign { .. } => Vec::new(),
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Case { items, .. } => items.iter().map(|(_, body)| &**body).collect(),
        }
    }

    /// The whole variable that a statement assigns, its value, and whether it is late.
    fn whole_variable(&self) -> Option<(VariableId, NodeId, bool)> {
        let Self::Assign { targets, value, is_late } = self else { return None };
        let [Target { variable, index: None, lows, .. }] = &**targets else { return None };
        lows.is_empty().then_some((*variable, *value, *is_late))
    }
}
