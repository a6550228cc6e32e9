//! Walks through a module: what drives and reads its variables, and what is not on the list.

use super::Report;
use super::constant::number;
use super::design::{Direction, Kind, Link, Module, Types, Variable};
use super::expressions::REFERENCES;
use super::statements::WITHOUT_EFFECT;
use super::texts::Texts;
use super::values::{State, Values};
use crate::netlist::port_name;
use crate::tree::Element;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What all modules have in common.
pub(super) struct Common<'t, 'a> {
    pub(super) types: &'t Types,
    pub(super) texts: &'t Texts,
    /// Modules by name.
    pub(super) modules: &'t BTreeMap<&'a str, &'a Element>,
    /// Functions and tasks by name, of all modules and packages.
    pub(super) functions: &'t BTreeMap<&'a str, Vec<&'a Element>>,
    /// The names of those that are called.
    pub(super) called: &'t BTreeSet<&'a str>,
}

/// A module, package, block or function with the variables that it declares.
struct Scope<'a> {
    element: &'a Element,
    variables: HashMap<&'a str, &'a Element>,
}

pub(super) struct Walk<'t, 'a> {
    pub(super) common: &'t Common<'t, 'a>,
    pub(super) report: &'t mut Report,
    pub(super) module: Module<'a>,
    scopes: Vec<Scope<'a>>,
    pub(super) process: usize,
    pub(super) kind: Kind,
    /// The states in which enclosing blocks are left.
    pub(super) jumps: Vec<Option<State<'a>>>,
    pub(super) steps: u32,
    /// Whether an asynchronous reset is active: each value is constant, and nothing is recorded.
    pub(super) in_reset: bool,
    /// The name of the function, and whether the text says that its variables are automatic.
    pub(super) function: Option<&'a str>,
    pub(super) is_automatic: bool,
}

impl<'t, 'a> Walk<'t, 'a> {
    /// Walks through a module or a package.
    pub(super) fn through(
        element: &'a Element,
        common: &'t Common<'t, 'a>,
        report: &'t mut Report,
    ) -> Module<'a> {
        let module = Module { is_top: element.is_top(), ..Module::default() };
        let mut walk = Self {
            common,
            report,
            module,
            scopes: Vec::new(),
            process: 0,
            kind: Kind::Continuous,
            jumps: Vec::new(),
            steps: 0,
            in_reset: false,
            function: None,
            is_automatic: false,
        };
        walk.declare(element, false, true);
        walk.scope(element, Self::items);
        walk.module
    }

    /// Declares the variables of an element and of those in it.
    pub(super) fn declare(&mut self, element: &'a Element, is_local: bool, is_module: bool) {
        for child in &element.children {
            if child.kind != "var" {
                let begins = is_local
                    || matches!(&*child.kind, "always" | "func" | "task" | "final")
                    || child.kind.starts_with("initial");
                self.declare(child, begins, false);
                continue;
            }
            let is_parameter =
                child.get("param") == Some("true") || child.get("localparam") == Some("true");
            let direction = match child.get("dir").filter(|_| is_module) {
                None => Direction::Inside,
                Some("input") => Direction::In,
                Some("output") => Direction::Out,
                Some(other) => {
                    self.report
                        .add(child, format!("`{}` is a port of direction {other}", child.name()));
                    Direction::Inside
                }
            };
            let size = self.common.types.size(child);
            if size.is_none() && !is_parameter {
                self.report
                    .add(child, format!("`{}` has a type that is not on the list", child.name()));
            }
            let id = self.module.variables.len();
            self.module.ids.insert(std::ptr::from_ref(child), id);
            self.module.variables.push(Variable {
                element: child,
                size: size.unwrap_or(0),
                direction,
                is_local,
                is_parameter,
            });
        }
    }

    /// Enters the scope of an element.
    pub(super) fn scope<T>(
        &mut self,
        element: &'a Element,
        inside: impl FnOnce(&mut Self, &'a Element) -> T,
    ) -> T {
        let variables = element.of_kind("var").map(|one| (one.name(), one)).collect();
        self.scopes.push(Scope { element, variables });
        let result = inside(self, element);
        self.scopes.pop();
        result
    }

    /// The variable of a reference. References to blocks of `generate` have a path.
    pub(super) fn variable(&self, reference: &Element) -> Option<usize> {
        let name = reference.name();
        let found = match reference.get("dotted").filter(|path| !path.is_empty()) {
            None if reference.kind == "varref" => {
                self.scopes.iter().rev().find_map(|scope| scope.variables.get(name).copied())?
            }
            None => return None,
            Some(path) => {
                let path = path.replace("__BRA__", "[").replace("__KET__", "]");
                let path = path.replace("__DOT__", ".");
                let block = |scope: &Scope<'a>| {
                    path.split('.').try_fold(scope.element, |scope, name| {
                        let is_block = |one: &&Element| matches!(&*one.kind, "begin" | "genblock");
                        scope.children.iter().filter(is_block).find(|one| one.name() == name)
                    })
                };
                let block = self.scopes.iter().rev().find_map(block)?;
                block.of_kind("var").find(|one| one.name() == name)?
            }
        };
        // Newer Verilators say which variable it is.
        let is_other = |(id, printed): (&str, &str)| id != printed;
        if found.get("id").zip(reference.get("varp")).is_some_and(is_other) {
            return None;
        }
        self.module.ids.get(&std::ptr::from_ref(found)).copied()
    }

    /// Answers a question about values.
    pub(super) fn values<T>(&self, state: &State<'a>, ask: impl FnOnce(&Values<'_, 'a>) -> T) -> T {
        let variable = |reference: &Element| self.variable(reference);
        let is_cast = |select: &Element| self.is_cast(select);
        ask(&Values { types: self.common.types, state, variable: &variable, is_cast: &is_cast })
    }

    /// Whether a name is that of a variable that is no parameter.
    pub(super) fn varies(&self, name: &str) -> bool {
        let found = self.scopes.iter().rev().find_map(|scope| scope.variables.get(name));
        let id = found.and_then(|found| self.module.ids.get(&std::ptr::from_ref(*found)));
        id.is_some_and(|id| !self.module.variables[*id].is_parameter)
    }

    /// Whether the RTL casts a variable to the bits that are selected.
    pub(super) fn is_cast(&self, select: &Element) -> bool {
        let from = select.part("fromp", 0).filter(|from| from.kind == "varref");
        let Some(size) = from.and_then(|from| self.common.texts.size_of_cast(from)) else {
            return false;
        };
        let parameter = || {
            let mut scopes = self.scopes.iter().rev();
            let found = scopes.find_map(|scope| scope.variables.get(size))?;
            let id = self.module.ids.get(&std::ptr::from_ref(*found))?;
            let is_parameter = self.module.variables[*id].is_parameter;
            found.child("const").filter(|_| is_parameter).and_then(number)
        };
        let size = size.parse().ok().or_else(parameter);
        size.is_some() && size == self.common.types.size(select).map(u128::from)
    }

    /// The items of a module or of a block of `generate`.
    pub(super) fn items(&mut self, scope: &'a Element) {
        for item in &scope.children {
            self.process += 1;
            match &*item.kind {
                "var" => self.variable_itself(item),
                "contassign" => self.continuous(item),
                "always" if item.get("keyword") == Some("cont_assign") => {
                    item.children.iter().for_each(|one| self.continuous(one));
                }
                "always" => self.always(item),
                "initial" | "initialstatic" => {
                    self.kind = Kind::Initial;
                    self.run(&item.children.iter().collect::<Vec<_>>(), State::default());
                }
                "begin" | "genblock" => self.scope(item, Self::items),
                "func" | "task" if self.common.called.contains(item.name()) => {
                    self.kind = Kind::Function;
                    self.scope(item, Self::function);
                }
                "instance" => self.instance(item),
                // It runs at the end of a simulation.
                "func" | "task" | "final" => {}
                kind if WITHOUT_EFFECT.contains(&kind) => {}
                _ => self.report.kind(item),
            }
        }
    }

    pub(super) fn variable_itself(&mut self, variable: &Element) {
        variable.of_kind("delay").for_each(|delay| self.report.kind(delay));
    }

    /// Runs statements as a process of their own, and returns the state at their end.
    pub(super) fn run(&mut self, statements: &[&'a Element], state: State<'a>) -> State<'a> {
        let mut state = Some(state);
        self.statements(statements, &mut state);
        state.unwrap_or_default()
    }

    pub(super) fn continuous(&mut self, assign: &'a Element) {
        self.kind = Kind::Continuous;
        if assign.kind != "contassign" {
            return self.report.kind(assign);
        }
        let mut state = State::default();
        self.assign(assign, &mut state);
        if let (Some(value), Some(target)) = (assign.part("rhsp", 0), assign.part("lhsp", 1))
            && let Some(id) = self.variable(target)
        {
            let sources = self.variables_in(value);
            self.module.sources.insert(id, sources);
        }
    }

    /// The variables that an expression refers to.
    pub(super) fn variables_in(&self, expression: &Element) -> Vec<usize> {
        let mut found = BTreeSet::new();
        expression.each(&mut |one| {
            if REFERENCES.contains(&&*one.kind) {
                found.extend(self.variable(one));
            }
        });
        found.into_iter().collect()
    }

    pub(super) fn instance(&mut self, instance: &'a Element) {
        self.kind = Kind::Continuous;
        let of = instance.get("defName").unwrap_or_default();
        let Some(module) = self.common.modules.get(of) else {
            return self
                .report
                .add(instance, format!("`{}` is an instance of no module", instance.name()));
        };
        let mut connected = BTreeSet::new();
        for connection in &instance.children {
            let port = port_name(connection, module).filter(|_| connection.kind == "port");
            let is_port = |one: &&Element| Some(one.name()) == port && one.get("dir").is_some();
            let Some(port) = module.of_kind("var").find(is_port) else {
                self.report.kind(connection);
                continue;
            };
            connected.insert(port.name());
            self.connection(instance, of, port, connection);
        }
        let is_open = |one: &&Element| one.get("dir").is_some() && !connected.contains(one.name());
        for port in module.of_kind("var").filter(is_open) {
            self.link(instance, of, port, None, false);
        }
    }

    pub(super) fn link(
        &mut self,
        instance: &'a Element,
        module: &'a str,
        port: &'a Element,
        variables: Option<Vec<usize>>,
        is_whole: bool,
    ) {
        let port = port.name();
        self.module.links.push(Link { instance, module, port, variables, is_whole });
    }

    pub(super) fn connection(
        &mut self,
        instance: &'a Element,
        module: &'a str,
        port: &'a Element,
        connection: &'a Element,
    ) {
        let Some(expression) = connection.children.first() else {
            return self.link(instance, module, port, None, false);
        };
        if connection.children.len() > 1 {
            return self.report.kind(connection);
        }
        if self.common.types.size(port) != self.common.types.size(expression) {
            let what = format!("port `{}` is connected to what is not as wide", port.name());
            self.report.add(connection, what);
        }
        let is_whole = REFERENCES.contains(&&*expression.kind);
        let first = (self.module.reads.len(), self.module.drivers.len());
        let mut state = State::default();
        if port.get("dir") == Some("output") {
            self.target(expression, &mut state, None, false);
        } else {
            self.expression(expression, &mut state);
        }
        if is_whole {
            self.module.reads[first.0..].iter_mut().for_each(|one| one.is_link = true);
            self.module.drivers[first.1..].iter_mut().for_each(|one| one.is_link = true);
        }
        let variables = self.variables_in(expression);
        self.link(instance, module, port, Some(variables), is_whole);
    }
}
