//! The inputs of a module whose edges its registers wait for.

use super::{DEPTH, EdgeKind, Reader};
use crate::netlist::port_name;
use crate::tree::Element;
use std::collections::{BTreeMap, BTreeSet};

/// The leaves that an expression reads.
pub(super) fn leaves(expression: &Element) -> Vec<String> {
    let mut found = Vec::new();
    expression.each(&mut |element| match element.kind.as_str() {
        "varref" => found.push(element.name().trim_end_matches("__Viftop").to_owned()),
        "varxref" => {
            let dotted = element.get("dotted").unwrap_or_default();
            found.push(format!("{dotted}.{}", element.name()));
        }
        _ => {}
    });
    found
}

/// Whether a name says that something is a clock, or a reset.
fn is_named(name: &str, kind: EdgeKind) -> bool {
    let name = name.to_ascii_lowercase();
    let words: &[&str] = match kind {
        EdgeKind::Clock => &["clk", "clock", "ck"],
        EdgeKind::Reset(_) => &["rst", "reset"],
    };
    words.iter().any(|word| name.contains(word))
}

/// Finds the inputs that edges come from, through instances and assignments.
struct Edges<'r, 'a> {
    reader: &'r Reader<'a>,
    known: BTreeMap<String, BTreeMap<String, EdgeKind>>,
}

/// The edges that a module waits for, by the leaves of its inputs.
pub(super) fn edges_of_module(reader: &Reader<'_>, module: &str) -> BTreeMap<String, EdgeKind> {
    Edges { reader, known: BTreeMap::new() }.find_edges(module, 0)
}

impl<'a> Edges<'_, 'a> {
    /// The edges that a module waits for, by the leaves of its inputs.
    fn find_edges(&mut self, module: &str, depth: u32) -> BTreeMap<String, EdgeKind> {
        if let Some(known) = self.known.get(module) {
            return known.clone();
        }
        let Some(&element) = self.reader.modules.get(module) else { return BTreeMap::new() };
        if depth > DEPTH {
            return BTreeMap::new();
        }
        let mut inside: Vec<(String, EdgeKind)> = own_edges(element);
        for cell in instances(element) {
            let Some(inner) = self.reader.defined(cell) else { continue };
            let below = self.find_edges(inner.name(), depth + 1);
            for (leaf, kind) in below {
                inside.extend(outside(cell, inner, &leaf).into_iter().map(|leaf| (leaf, kind)));
            }
        }
        let mut found: BTreeMap<String, EdgeKind> = BTreeMap::new();
        for (leaf, kind) in inside {
            let mut seen = BTreeSet::new();
            self.trace(element, &leaf, kind, &mut seen, &mut found);
        }
        self.known.insert(module.to_owned(), found.clone());
        found
    }

    /// Follows a signal back to inputs of the module.
    fn trace(
        &self,
        module: &'a Element,
        leaf: &str,
        kind: EdgeKind,
        seen: &mut BTreeSet<String>,
        found: &mut BTreeMap<String, EdgeKind>,
    ) {
        if !seen.insert(leaf.to_owned()) {
            return;
        }
        let name = leaf.split('.').next().unwrap_or(leaf);
        let is_input = |var: &Element| {
            var.name() == name
                && (var.get("dir") == Some("input")
                    || (var.get("vartype") == Some("ifaceref")
                        && !instances(module).iter().any(|cell| cell.name() == name)))
        };
        if module.of_kind("var").any(is_input) {
            // What is a clock anywhere is a clock.
            if kind == EdgeKind::Clock || !found.contains_key(leaf) {
                found.insert(leaf.to_owned(), kind);
            }
            return;
        }
        for (source, kind) in self.sources(module, leaf, kind, 0) {
            self.trace(module, &source, kind, seen, found);
        }
    }

    /// The signals of a module that one of its signals is made of.
    fn sources(
        &self,
        module: &'a Element,
        leaf: &str,
        kind: EdgeKind,
        depth: u32,
    ) -> Vec<(String, EdgeKind)> {
        let mut found = Vec::new();
        // A port of an interface that is in the module.
        if let Some((name, port)) = leaf.split_once('.') {
            for cell in instances(module).into_iter().filter(|cell| cell.name() == name) {
                let Some(inner) = self.reader.defined(cell) else { continue };
                found.extend(outside(cell, inner, port).into_iter().map(|leaf| (leaf, kind)));
            }
        }
        module.each(&mut |element| {
            if element.kind != "contassign" || element.children.len() < 2 {
                return;
            }
            let Some((target, values)) = element.children.split_last() else { return };
            if leaves(target).first().map(String::as_str) != Some(leaf) {
                return;
            }
            let all: Vec<String> = values.iter().flat_map(leaves).collect();
            let inverts = values.first().is_some_and(|value| value.kind == "not");
            let kind = match kind {
                EdgeKind::Reset(level) if inverts => EdgeKind::Reset(!level),
                same => same,
            };
            // A gate: the clock is the input that is called one.
            let named: Vec<String> =
                all.iter().filter(|leaf| is_named(leaf, kind)).cloned().collect();
            let few = if all.len() > 1 { named } else { all };
            found.extend(few.into_iter().map(|leaf| (leaf, kind)));
        });
        for cell in instances(module) {
            let Some(inner) = self.reader.defined(cell) else { continue };
            for pin in cell.of_kind("port") {
                let Some(port) = port_name(pin, inner) else { continue };
                let is_output = inner
                    .of_kind("var")
                    .any(|var| var.name() == port && var.get("dir") == Some("output"));
                if depth >= DEPTH || !is_output || !leaves(pin).iter().any(|other| other == leaf) {
                    continue;
                }
                let (mut seen, mut inputs) = (BTreeSet::new(), BTreeMap::new());
                self.trace(inner, port, kind, &mut seen, &mut inputs);
                for (input, kind) in inputs {
                    found.extend(outside(cell, inner, &input).into_iter().map(|leaf| (leaf, kind)));
                }
            }
        }
        found
    }
}

/// The instances in a module, also those in generate blocks.
pub(super) fn instances(module: &Element) -> Vec<&Element> {
    let mut found = Vec::new();
    module.each(&mut |element| {
        if element.kind == "instance" {
            found.push(element);
        }
    });
    found
}

/// What is connected to a leaf of an instance of `module`.
fn outside(cell: &Element, module: &Element, leaf: &str) -> Vec<String> {
    let (port, signal) = leaf.split_once('.').map_or((leaf, None), |(p, s)| (p, Some(s)));
    let pins = cell.of_kind("port").filter(|pin| port_name(pin, module) == Some(port));
    let all = pins.flat_map(leaves);
    match signal {
        Some(signal) => all.map(|leaf| format!("{leaf}.{signal}")).collect(),
        None => all.collect(),
    }
}

/// The edges that the processes of a module wait for.
fn own_edges(module: &Element) -> Vec<(String, EdgeKind)> {
    let mut found = Vec::new();
    module.each(&mut |process| {
        let Some(senses) = process.child("sentree") else { return };
        let edges: Vec<(Vec<String>, bool)> = senses
            .of_kind("senitem")
            .filter_map(|item| match item.get("edgeType") {
                Some("POS") => Some((leaves(item), true)),
                Some("NEG") => Some((leaves(item), false)),
                _ => None,
            })
            .collect();
        let mut read = BTreeSet::new();
        for part in process.children.iter().filter(|part| part.kind != "sentree") {
            read.extend(leaves(part));
        }
        let is_read = |of: &[String]| of.iter().any(|leaf| read.contains(leaf));
        for (of, is_high) in &edges {
            let is_reset =
                edges.len() > 1 && is_read(of) && edges.iter().any(|(other, _)| !is_read(other));
            let kind = if is_reset { EdgeKind::Reset(*is_high) } else { EdgeKind::Clock };
            // Of an expression: whatever is called so.
            let named: Vec<&String> = of.iter().filter(|leaf| is_named(leaf, kind)).collect();
            let all = if of.len() > 1 && !named.is_empty() { named } else { of.iter().collect() };
            found.extend(all.into_iter().map(|leaf| (leaf.clone(), kind)));
        }
    });
    found
}
