//! Formulas in conjunctive normal form, in DIMACS.

use super::network::Network;
use std::fmt::Write as _;

/// The literal that is false: the first variable.
pub(super) const FALSE: i32 = 1;
pub(crate) const TRUE: i32 = -FALSE;

/// A formula. Literals are those of DIMACS.
pub(crate) struct Cnf {
    variables: i32,
    clauses: u32,
    text: String,
}

/// One cycle of a network in a formula.
pub(crate) struct Frame {
    nodes: Vec<i32>,
    /// The state after the cycle.
    pub(crate) next: Vec<i32>,
    /// 1 if the property fails.
    pub(crate) bad: i32,
}

impl Frame {
    pub(crate) fn inputs(&self, network: &Network) -> &[i32] {
        &self.nodes[1..=network.inputs]
    }

    /// The literals of the state in the cycle.
    pub(super) fn state(&self, network: &Network) -> &[i32] {
        &self.nodes[1 + network.inputs..][..network.latches.len()]
    }

    pub(super) fn literal(&self, literal: u32) -> i32 {
        map_literal(&self.nodes, literal)
    }
}

fn map_literal(nodes: &[i32], literal: u32) -> i32 {
    let node = nodes[(literal / 2) as usize];
    if literal & 1 == 1 { -node } else { node }
}

impl Cnf {
    pub(crate) fn new() -> Self {
        let mut cnf = Self { variables: 1, clauses: 0, text: String::new() };
        cnf.clause(&[TRUE]);
        cnf
    }

    pub(super) fn dimacs(&self) -> String {
        format!("p cnf {} {}\n{}", self.variables, self.clauses, self.text)
    }

    pub(super) fn variable(&mut self) -> i32 {
        self.variables += 1;
        self.variables
    }

    pub(crate) fn variables(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.variable()).collect()
    }

    pub(crate) fn clause(&mut self, literals: &[i32]) {
        for literal in literals {
            let _ = write!(self.text, "{literal} ");
        }
        self.text.push_str("0\n");
        self.clauses += 1;
    }

    pub(super) fn any(&mut self, literals: &[i32]) -> i32 {
        let any = self.variable();
        let clause: Vec<i32> = [-any].into_iter().chain(literals.iter().copied()).collect();
        self.clause(&clause);
        for literal in literals {
            self.clause(&[any, -literal]);
        }
        any
    }

    pub(super) fn add_and(&mut self, literals: &[i32]) -> i32 {
        let all = self.variable();
        for literal in literals {
            self.clause(&[-all, *literal]);
        }
        let clause: Vec<i32> =
            [all].into_iter().chain(literals.iter().map(|literal| -literal)).collect();
        self.clause(&clause);
        all
    }

    pub(super) fn differ(&mut self, left: i32, right: i32) -> i32 {
        let differ = self.variable();
        self.clause(&[-differ, left, right]);
        self.clause(&[-differ, -left, -right]);
        self.clause(&[differ, -left, right]);
        self.clause(&[differ, left, -right]);
        differ
    }

    /// Assumes that these are equal, if `guard` is 1.
    pub(super) fn equal(&mut self, guard: i32, left: i32, right: i32) {
        self.clause(&[-guard, left, -right]);
        self.clause(&[-guard, -left, right]);
    }

    fn and(&mut self, left: i32, right: i32) -> i32 {
        match (left, right) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, other) | (other, TRUE) => other,
            _ if left == right => left,
            _ if left == -right => FALSE,
            _ => {
                let and = self.variable();
                self.clause(&[-and, left]);
                self.clause(&[-and, right]);
                self.clause(&[and, -left, -right]);
                and
            }
        }
    }

    /// Adds a cycle of the network from this state, with new inputs.
    pub(crate) fn frame(&mut self, network: &Network, state: &[i32]) -> Frame {
        let mut nodes = vec![FALSE];
        nodes.extend(self.variables(network.inputs));
        nodes.extend_from_slice(state);
        for [left, right] in &network.gates {
            let gate = self.and(map_literal(&nodes, *left), map_literal(&nodes, *right));
            nodes.push(gate);
        }
        let next = network.latches.iter().map(|next| map_literal(&nodes, *next)).collect();
        let bad = map_literal(&nodes, network.bad);
        Frame { nodes, next, bad }
    }
}
