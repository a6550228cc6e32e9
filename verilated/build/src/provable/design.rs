//! The modules of a design, with what drives and reads each variable.

use super::ranges::Ranges;
use crate::netlist::{self, Type, length};
use crate::registers::shape;
use crate::tree::{Element, Tree};
use std::collections::BTreeMap;

/// The types of a design.
pub(super) struct Types(BTreeMap<String, Type>);

impl Types {
    pub(super) fn from_tree(tree: &Tree) -> Option<Self> {
        // Yosys reads no structure that is not packed. Older Verilators pack each.
        let is_unpacked = |node: &&Element| node.get("packed") == Some("false");
        let mut types = netlist::types(tree)?;
        for node in tree.types.iter().filter(is_unpacked) {
            types.remove(node.get("id")?);
        }
        Some(Self(types))
    }

    /// The number of bits of all words of an element.
    pub(super) fn size(&self, element: &Element) -> Option<u64> {
        let (width, dimensions) = shape(&self.0, element.get("dtype_id")?)?;
        let lengths = dimensions.into_iter().map(|bounds| length(bounds).map(u64::from));
        lengths.into_iter().try_fold(u64::from(width), |size, length| size.checked_mul(length?))
    }
}

/// Where a port leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Inside,
    In,
    Out,
}

#[derive(Debug)]
pub(super) struct Variable<'a> {
    pub(super) element: &'a Element,
    /// Its bits; 0 for a type that does not consist of bits.
    pub(super) size: u64,
    pub(super) direction: Direction,
    /// Whether it belongs to a process or to a function.
    pub(super) is_local: bool,
    pub(super) is_parameter: bool,
}

/// What sets or reads variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A process without edges.
    Combinational,
    Clocked,
    Continuous,
    Initial,
    Function,
}

/// Bits that a process sets or reads.
#[derive(Debug)]
pub(super) struct Access<'a> {
    pub(super) variable: usize,
    pub(super) bits: (u64, u64),
    /// The number of the process in its module.
    pub(super) process: usize,
    pub(super) kind: Kind,
    /// What is set: whether with `=` in a process. What is read: whether the process has set it
    /// before.
    pub(super) is_immediate: bool,
    /// Whether it is a whole port, which leads to another variable.
    pub(super) is_link: bool,
    pub(super) place: &'a Element,
}

/// A connection of a port.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub(super) instance: &'a Element,
    pub(super) module: &'a str,
    pub(super) port: &'a str,
    /// The variables in the connected expression; `None` if nothing is connected.
    pub(super) variables: Option<Vec<usize>>,
    /// Whether the expression is one whole variable.
    pub(super) is_whole: bool,
}

#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    pub(super) is_top: bool,
    pub(super) variables: Vec<Variable<'a>>,
    /// The variables by their elements.
    pub(super) ids: BTreeMap<*const Element, usize>,
    pub(super) drivers: Vec<Access<'a>>,
    pub(super) reads: Vec<Access<'a>>,
    pub(super) links: Vec<Link<'a>>,
    /// Clocks and asynchronous resets, with the places of their edges.
    pub(super) clocks: Vec<(usize, &'a Element)>,
    pub(super) resets: Vec<(usize, &'a Element)>,
    /// The variables that a continuous assignment of a whole variable depends on.
    pub(super) sources: BTreeMap<usize, Vec<usize>>,
    /// What is set by the end of a process with an active asynchronous reset.
    pub(super) reset_states: Vec<(usize, BTreeMap<usize, Ranges>, &'a Element)>,
    /// The variables that a process without edges does not set on each path.
    pub(super) latches: Vec<(usize, &'a Element)>,
    /// What a process without edges sets, by process and variable.
    pub(super) combinational: BTreeMap<(usize, usize), Ranges>,
}

impl<'a> Module<'a> {
    /// Whether no other process sees what a process sets: each sets it before it reads it.
    pub(super) fn is_private(&self, id: usize) -> bool {
        let sets = |one: &Access<'_>| one.is_immediate && !one.is_link;
        self.variables[id].direction == Direction::Inside
            && self.drivers.iter().filter(|one| one.variable == id).all(sets)
            && self.reads.iter().filter(|one| one.variable == id).all(|one| one.is_immediate)
    }

    pub(super) fn name(&self, id: usize) -> &'a str {
        self.variables[id].element.name()
    }

    pub(super) fn port(&self, name: &str) -> Option<usize> {
        let is_port = |one: &Variable<'_>| {
            one.direction != Direction::Inside && !one.is_local && one.element.name() == name
        };
        self.variables.iter().position(is_port)
    }
}
