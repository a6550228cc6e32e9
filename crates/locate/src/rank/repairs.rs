//! The repairs that are tried: other forms of expressions.

use super::{Ranking, VALUES};
use crate::bits;
use crate::design::{Node, NodeId, Operation, Place, Variable, VariableId};
use crate::operators::{EXTEND, LOGICAL_NOT, NOT, Operator, operators};
use crate::simulate::Runs;
use std::collections::BTreeSet;

const COMPARISONS: [&str; 6] = ["eq", "neq", "lt", "lte", "gt", "gte"];

#[derive(Debug, Default)]
pub struct Operands {
    variables: Vec<NodeId>,
    /// Those of one bit and their inverses, each in words.
    conditions: Vec<[(NodeId, String); 2]>,
}

impl Ranking<'_> {
    /// Collects constants and operands.
    pub(super) fn prepare(&mut self) {
        for id in 0..self.simulator.design.variables.len() {
            let Variable { width, instance, array, constant, .. } =
                self.simulator.design.variables[id].clone();
            let constants = self.constants.entry(width).or_default();
            if let Some(value) = constant {
                constants.insert(value);
            } else if array.is_none() && width > 0 && id != self.simulator.pins.clock {
                constants.extend([bits::small(0, width), bits::ones(width)]);
                let (operation, arguments) = (Operation::Variable(id), Vec::new());
                let place = Place::default();
                let leaf = self.keep(Node { operation, arguments, width, instance, place });
                let not = Operation::Operator(&LOGICAL_NOT);
                let like = self.simulator.design.nodes[leaf].clone();
                let inverse = self.keep(Node { operation: not, arguments: vec![leaf], ..like });
                let pair = [leaf, inverse].map(|it| (it, self.text(it)));
                let operands = self.operands.entry(instance).or_default();
                operands.variables.push(leaf);
                operands.conditions.extend((width == 1).then_some(pair));
            }
        }
        for node in &self.simulator.design.nodes {
            if let Operation::Constant(value) = &node.operation {
                self.constants.entry(node.width).or_default().insert(value.clone());
            }
        }
    }

    /// Values of an assignment that a branch may lack, each in words.
    fn assignments(&mut self, id: NodeId, variable: VariableId) -> Vec<(Node, String)> {
        let like = self.simulator.design.nodes[id].clone();
        let sign = if self.roots[&id].runs == Runs::Clocked { "<=" } else { "=" };
        let design = &self.simulator.design;
        let constants = self.constants.get(&like.width).into_iter().flatten().take(VALUES);
        let constants = constants.map(|it| (Operation::Constant(it.clone()), Vec::new()));
        let operands = self.operands.get(&like.instance).into_iter().flat_map(|it| &it.variables);
        let operands = operands.filter(|it| design.nodes[**it].width == like.width).take(VALUES);
        let nodes = design.assigned[&variable].iter().chain(operands).map(|it| &design.nodes[*it]);
        let nodes = nodes.map(|it| (it.operation.clone(), it.arguments.clone()));
        let all: Vec<_> = constants.chain(nodes).collect();
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for (operation, arguments) in all {
            let node = Node { operation, arguments, ..like.clone() };
            let id = self.keep(node.clone());
            let text = self.text(id);
            self.simulator.design.nodes.truncate(id);
            if known.insert(text.clone()) {
                let name = &self.simulator.design.variables[variable].name;
                found.push((node, format!("`{name} {sign} {text}` added beside this")));
            }
        }
        found
    }

    /// Other forms of a node, each in words.
    pub(super) fn repairs(&mut self, id: NodeId, is_root: bool) -> Vec<(Node, String)> {
        let node = self.simulator.design.nodes[id].clone();
        let (width, own) = (node.width, self.text(id));
        if let Operation::Missing(variable) = node.operation {
            return self.assignments(id, variable);
        }
        // These nodes stay: there are few.
        let [zero, one] = [0, 1].map(|value| {
            let operation = Operation::Constant(bits::small(value, width));
            self.keep(Node { operation, arguments: Vec::new(), ..node.clone() })
        });
        let inner = self.keep(node.clone());
        let mut all = Vec::new();
        let mut add = |operation: Operation, arguments: Vec<NodeId>, what: String| {
            all.push((Node { operation, arguments, ..node.clone() }, what));
        };
        if let Operation::Operator(operator) = node.operation {
            for other in alternatives(operator) {
                let what = format!("`{}` in place of `{}`", other.sign, operator.sign);
                add(Operation::Operator(other), node.arguments.clone(), what);
            }
        }
        for argument in &node.arguments {
            if self.simulator.design.nodes[*argument].width == width {
                let what = format!("`{}` alone", self.text(*argument));
                add(Operation::Operator(&EXTEND), vec![*argument], what);
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
            values.extend([bits::shift(value, 1, width), bits::shift(value, -1, width)]);
            values.extend((0..width.min(16)).map(|bit| {
                let bit = bits::shift(&bits::small(1, width), bit.into(), width);
                bits::each(value, &bit, width, |value, bit| value ^ bit)
            }));
        }
        if is_constant || is_root {
            values.extend(self.constants.get(&width).into_iter().flatten().cloned());
        }
        let mut known = BTreeSet::new();
        for value in values {
            let is_own = matches!(&node.operation, Operation::Constant(own) if *own == value);
            if known.insert(value.clone()) && !is_own {
                let what = format!("{} in place of `{own}`", bits::text(&value, width));
                add(Operation::Constant(value), Vec::new(), what);
            }
        }
        if width == 1 {
            add(Operation::Operator(&NOT), vec![inner], format!("`{own}` inverted"));
        }
        let Some(operands) = self.operands.get(&node.instance) else { return all };
        let own_variable = match node.operation {
            Operation::Variable(variable) => Some(variable),
            _ => None,
        };
        for leaf in &operands.variables {
            let leaf = &self.simulator.design.nodes[*leaf];
            let Operation::Variable(variable) = leaf.operation else { continue };
            let is_other = own_variable.map_or(is_root, |own| own != variable);
            if leaf.width == width && is_other {
                let name = &self.simulator.design.variables[variable].name;
                add(leaf.operation.clone(), Vec::new(), format!("`{name}` in place of `{own}`"));
            }
        }
        if width == 1 {
            for pair in &operands.conditions {
                for operator in operators(&["logand", "logor"]) {
                    for (condition, text) in pair {
                        let operation = Operation::Operator(operator);
                        let arguments = vec![inner, *condition];
                        let with = Node { operation, arguments, ..node.clone() };
                        all.push((with, format!("`{} {text}` after `{own}`", operator.sign)));
                    }
                }
            }
            return all;
        }
        for operator in operators(&["add", "sub"]) {
            let what = format!("`{} 1` after `{own}`", operator.sign);
            add(Operation::Operator(operator), vec![inner, one], what);
        }
        for (condition, text) in operands.conditions.iter().flatten().filter(|_| is_root) {
            let what = format!("`{own}` only if `{text}`");
            add(Operation::Choice, vec![*condition, inner, zero], what);
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

    pub(super) fn keep(&mut self, node: Node) -> NodeId {
        self.simulator.design.nodes.push(node);
        self.simulator.design.nodes.len() - 1
    }
}

/// Operators that are easily taken for one another.
fn alternatives(operator: &Operator) -> impl Iterator<Item = &'static Operator> {
    let groups: [&[&str]; 4] =
        [&["and", "or", "xor"], &["logand", "logor"], &COMPARISONS, &["add", "sub"]];
    let group = groups.into_iter().find(|group| group.contains(&operator.name));
    operators(group.unwrap_or_default()).filter(|other| other.name != operator.name)
}
