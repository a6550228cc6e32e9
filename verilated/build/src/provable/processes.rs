//! Processes by their sensitivity lists, and functions.

use super::constant::token;
use super::design::Kind;
use super::expressions::REFERENCES;
use super::ranges::Ranges;
use super::statements::AUTOMATIC;
use super::values::State;
use super::walk::Walk;
use crate::tree::Element;
use std::collections::{BTreeMap, BTreeSet};

/// The keyword of a process that means its latches.
const LATCH: &str = "always_latch";

/// The names with which Verilator begins variables of assertions.
const OF_ASSERTION: &str = "_Vpast_";

impl<'a> Walk<'_, 'a> {
    pub(super) fn always(&mut self, process: &'a Element) {
        let edges: Vec<&Element> =
            process.of_kind("sentree").flat_map(|list| list.of_kind("senitem")).collect();
        let body: Vec<&Element> =
            process.children.iter().filter(|one| one.kind != "sentree").collect();
        if self.is_of_assertion(&body) {
            return;
        }
        let is_edge = |one: &&&Element| matches!(one.get("edgeType"), Some("POS" | "NEG"));
        let is_change =
            |one: &&Element| matches!(one.get("edgeType"), Some("CHANGED" | "ANYEDGE" | "BOTH"));
        if edges.is_empty() {
            self.combinational(process, &body);
        } else if edges.iter().filter(is_edge).count() == edges.len() {
            self.clocked(process, &edges, &body);
        } else if edges.iter().copied().all(|one| is_change(&one)) {
            self.listed(&edges, &body);
            self.combinational(process, &body);
        } else {
            self.report.add(process, "a sensitivity list that is not on the list".to_owned());
        }
    }

    /// Whether a process is what Verilator leaves of `$past` in an assertion.
    pub(super) fn is_of_assertion(&self, body: &[&Element]) -> bool {
        let is_assigned = |one: &&Element| {
            let name = one.part("lhsp", 1).map(Element::name).unwrap_or_default();
            one.kind == "assigndly" && name.starts_with(OF_ASSERTION)
        };
        // Nothing drives such a variable then: whatever else reads it is not on the list.
        !body.is_empty() && body.iter().all(is_assigned)
    }

    /// Requires that the variables that a process reads are in its sensitivity list.
    pub(super) fn listed(&mut self, edges: &[&'a Element], body: &[&'a Element]) {
        let listed: BTreeSet<usize> =
            edges.iter().filter_map(|one| self.variable(one.children.first()?)).collect();
        let mut read = Vec::new();
        for statement in body {
            statement.each(&mut |one| {
                if REFERENCES.contains(&&*one.kind) || one.kind == "funcref" {
                    read.push(one);
                }
            });
        }
        for one in read {
            if one.kind == "funcref" {
                let of = self.common.functions.get(one.name()).into_iter().flatten();
                let mut is_closed = true;
                for function in of {
                    let own: BTreeSet<&str> = names(function, &["var"]).collect();
                    is_closed &= names(function, &REFERENCES).all(|name| own.contains(name));
                }
                if !is_closed {
                    self.missing(one);
                }
                continue;
            }
            let is_missing = self.variable_below(one).is_some_and(|id| !listed.contains(&id));
            if is_missing && !self.is_set_in(one, body) {
                self.missing(one);
            }
        }
    }

    pub(super) fn missing(&mut self, read: &Element) {
        let what = format!("`{}` is read, and missing from the sensitivity list", read.name());
        self.report.add(read, what);
    }

    /// The variable of a reference in a process, if it is not one of the process.
    pub(super) fn variable_below(&self, reference: &Element) -> Option<usize> {
        self.variable(reference).filter(|id| !self.module.variables[*id].is_local)
    }

    /// Whether a process sets a variable. That it reads none before is checked elsewhere.
    pub(super) fn is_set_in(&self, reference: &Element, body: &[&'a Element]) -> bool {
        let mut is_set = false;
        for statement in body {
            statement.each(&mut |one| {
                if matches!(&*one.kind, "assign" | "assigndly") {
                    let target = one.part("lhsp", 1);
                    is_set |= target.is_some_and(|target| {
                        names(target, &REFERENCES).any(|name| name == reference.name())
                    });
                }
            });
        }
        is_set
    }

    pub(super) fn combinational(&mut self, process: &'a Element, body: &[&'a Element]) {
        self.kind = Kind::Combinational;
        let first = self.module.drivers.len();
        let end = self.run(body, State::default());
        let mut set: BTreeMap<usize, Ranges> = BTreeMap::new();
        for one in &self.module.drivers[first..] {
            set.entry(one.variable).or_default().add(one.bits);
        }
        // The provers know what a latch is, and refuse it or take any value for it. Older
        // Verilators do not say what the process is: no other keyword is as long.
        let is_latch = match process.get("keyword") {
            Some(keyword) => keyword == LATCH,
            None => token(process) == u32::try_from(LATCH.len()).ok(),
        };
        for (id, bits) in set {
            if !is_latch && !end.written.get(&id).is_some_and(|written| written.contains_all(&bits))
            {
                self.module.latches.push((id, process));
            }
            self.module.combinational.insert((self.process, id), bits);
        }
    }

    pub(super) fn clocked(
        &mut self,
        process: &'a Element,
        edges: &[&'a Element],
        body: &[&'a Element],
    ) {
        self.kind = Kind::Clocked;
        let mut items = Vec::new();
        for edge in edges {
            let signal = edge.children.first().filter(|_| edge.children.len() == 1);
            let id = signal.and_then(|signal| self.variable(signal));
            let is_bit = |id: &usize| self.module.variables[*id].size == 1;
            let Some(id) = id.filter(is_bit) else {
                return self
                    .report
                    .add(edge, "an edge of what is not one variable of a bit".to_owned());
            };
            items.push((id, *edge));
        }
        let read = |id: usize| body.iter().any(|one| self.refers(one, id));
        match items[..] {
            [(clock, edge)] => self.module.clocks.push((clock, edge)),
            [one, two] if read(one.0) != read(two.0) => {
                let (clock, reset) = if read(one.0) { (two, one) } else { (one, two) };
                self.module.clocks.push(clock);
                self.module.resets.push(reset);
                self.reset(reset, body);
            }
            _ => {
                let what =
                    "a process with several edges, of which not one is an asynchronous reset";
                return self.report.add(process, what.to_owned());
            }
        }
        self.run(body, State::default());
    }

    pub(super) fn refers(&self, statement: &Element, id: usize) -> bool {
        let mut found = false;
        statement.each(&mut |one| {
            found |= REFERENCES.contains(&&*one.kind) && self.variable(one) == Some(id);
        });
        found
    }

    /// Requires that an active reset sets all that the process sets, to constants.
    pub(super) fn reset(&mut self, (reset, edge): (usize, &'a Element), body: &[&'a Element]) {
        let mut state = State::default();
        state.values.insert(reset, u128::from(edge.get("edgeType") == Some("POS")));
        let first = self.module.drivers.len();
        self.in_reset = true;
        let end = self.run(body, state);
        self.in_reset = false;
        self.module.drivers.truncate(first);
        // What the process sets without a reset is known afterwards.
        let mut set = end.delayed;
        end.written.into_iter().for_each(|(id, bits)| set.entry(id).or_default().join(&bits));
        self.module.reset_states.push((self.process, set, edge));
    }

    /// Examines a function: its variables are set before they are read, and it sets no others.
    pub(super) fn function(&mut self, function: &'a Element) {
        let mut state = State::default();
        let mut outputs = Vec::new();
        for variable in function.of_kind("var") {
            let Some(id) = self.module.ids.get(&std::ptr::from_ref(variable)).copied() else {
                continue;
            };
            let bits = (0, self.module.variables[id].size);
            match variable.get("dir") {
                Some("input") => state.written.entry(id).or_default().add(bits),
                Some("output") => outputs.push((id, bits, variable)),
                Some(_) => self.report.kind(variable),
                None => {}
            }
        }
        let statements: Vec<&Element> = function.children.iter().collect();
        let text = self.common.texts.around(function);
        self.is_automatic = text.is_some_and(|(before, _)| before.contains(AUTOMATIC));
        self.function = Some(function.name());
        let end = self.run(&statements, state);
        (self.function, self.is_automatic) = (None, false);
        for (id, bits, variable) in outputs {
            if !end.written.get(&id).is_some_and(|written| written.contains(bits)) {
                let what = format!("`{}` of a function is not set on each path", variable.name());
                self.report.add(variable, what);
            }
        }
    }
}

/// The names of the elements of some kinds.
fn names<'a>(element: &'a Element, kinds: &[&str]) -> impl Iterator<Item = &'a str> {
    let mut found = Vec::new();
    element.each(&mut |one| {
        if kinds.contains(&&*one.kind) {
            found.push(one.name());
        }
    });
    found.into_iter()
}
