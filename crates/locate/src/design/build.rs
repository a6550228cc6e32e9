//! Flattens Verilator's description into a design.

use super::{
    Design, Edge, Function, Node, NodeId, Operation, Place, Process, Reason, Statement, Target,
    Variable, VariableId,
};
use crate::bits;
use std::collections::{BTreeMap, BTreeSet};
use verilated_build::tree::{Element, Tree};

/// Variables and functions: `var` or `func` and a name.
type Scope<'t> = BTreeMap<(&'static str, &'t str), usize>;

/// Expressions beyond which no missing assignments are added.
const MOST_NODES: usize = 1 << 20;

struct Builder<'t> {
    tree: &'t Tree,
    types: BTreeMap<&'t str, &'t Element>,
    modules: BTreeMap<&'t str, &'t Element>,
    design: Design,
    /// From the module inward.
    scopes: Vec<Scope<'t>>,
    instance: usize,
    instances: usize,
    path: String,
}

impl Design {
    /// The design in a description.
    ///
    /// # Errors
    /// The construct that is not understood.
    pub fn from_tree(tree: &Tree, top: &str) -> Result<Self, Reason> {
        let of_kind = |kind: &'static str| tree.modules.iter().filter(move |it| it.kind == kind);
        let mut builder = Builder {
            tree,
            types: tree.types.iter().filter_map(|it| Some((it.get("id")?, it))).collect(),
            modules: of_kind("module").map(|it| (it.name(), it)).collect(),
            design: Self::default(),
            scopes: vec![Scope::new()],
            instance: 0,
            instances: 0,
            path: String::new(),
        };
        for package in of_kind("package") {
            builder.scope(package)?;
        }
        let is_top = |it: &&Element| it.get("origName").unwrap_or(it.name()) == top;
        let element = of_kind("module").find(is_top).ok_or_else(|| format!("no module {top}"))?;
        builder.scope(element)?;
        builder.constant_assignments();
        let ports = element.of_kind("var").filter(|it| it.get("dir").is_some());
        let known = builder.scopes.last().cloned().unwrap_or_default();
        let mut design = builder.design;
        let port = |it: &Element| Some((it.name().to_owned(), *known.get(&("var", it.name()))?));
        design.ports = ports.filter_map(port).collect();
        design.sort();
        Ok(design)
    }
}

/// Elements of a process that do not change a value.
const SILENT: &str = "\
    display stop finish comment text assert assertintrinsic cover initial var fflush \
    sformatf time empty";
/// Items of a module that are no processes or that do not change a value.
const IGNORED: &str = "\
    var typedef final assert cover restrict property coverdecl modport intfref scope \
    topscope clocking import pragma";

impl<'t> Builder<'t> {
    fn place(&self, element: &Element) -> Place {
        let loc = element.get("loc").unwrap_or_default();
        let mut parts = loc.split([',', ':']);
        let file = parts.next().unwrap_or_default();
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let file = self.tree.files.get(file).cloned().unwrap_or_default();
        Place { file, line: number(), column: number() }
    }

    fn fails<T>(&self, element: &Element, what: &str) -> Result<T, Reason> {
        let Place { file, line, column } = self.place(element);
        Err(format!("{file}:{line}:{column}: {what}"))
    }

    /// Verilator moves a continuous assignment of a constant to the beginning.
    fn constant_assignments(&mut self) {
        let processes = self.design.combinational.iter().chain(&self.design.clocked);
        let written: BTreeSet<_> = processes.flat_map(|it| &it.writes).copied().collect();
        for statement in std::mem::take(&mut self.design.initial) {
            match statement.whole_variable() {
                Some((variable, value, _))
                    if matches!(self.design.nodes[value].operation, Operation::Constant(_))
                        && !written.contains(&variable) =>
                {
                    self.process(Vec::new(), vec![statement]);
                }
                _ => self.design.initial.push(statement),
            }
        }
    }

    /// The width of a type, and the number of elements of a memory.
    fn of_type(&self, id: &str) -> Option<(u32, Option<usize>)> {
        let element = self.types.get(id)?;
        let of = |element: &Element| self.of_type(element.get("sub_dtype_id")?);
        let end = |place: usize, name: &str| match element.child("range") {
            Some(range) => {
                let (value, _) = bits::literal(range.children.get(place)?.name())?;
                Some(i64::from((value[0] as u32).cast_signed()))
            }
            None => element.get(name)?.parse().ok(),
        };
        let count = || end(0, "left")?.abs_diff(end(1, "right")?).checked_add(1);
        let mut members = element.of_kind("memberdtype");
        match (element.kind.as_str(), element.name()) {
            ("basicdtype", "string" | "real" | "event" | "chandle") => None,
            ("basicdtype", _) if element.get("left").is_some() => {
                Some((u32::try_from(count()?).ok()?, None))
            }
            ("basicdtype", "integer" | "int") => Some((32, None)),
            ("basicdtype", _) => Some((1, None)),
            ("refdtype" | "enumdtype" | "paramtypedtype" | "constdtype" | "memberdtype", _) => {
                of(element)
            }
            ("structdtype", _) => {
                let width = |it: &Element| Some(of(it)?.0);
                Some((members.map(width).sum::<Option<u32>>()?, None))
            }
            ("uniondtype", _) => of(members.next()?),
            ("packarraydtype" | "unpackarraydtype", _) => match (of(element)?, count()?) {
                ((width, None), count) if element.kind == "unpackarraydtype" => {
                    Some((width, Some(usize::try_from(count).ok()?)))
                }
                ((width, None), count) => {
                    Some((width.checked_mul(u32::try_from(count).ok()?)?, None))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn declare(&mut self, element: &'t Element) -> Result<VariableId, Reason> {
        let of_type = element.get("dtype_id").and_then(|id| self.of_type(id));
        let constant = element.child("const").and_then(|it| bits::literal(it.name()));
        // An unused variable without a width does no harm: a reference to it fails.
        let of_constant = constant.as_ref().map_or(0, |(_, width)| *width);
        let (width, array) = of_type.unwrap_or((of_constant, None));
        let id = self.design.variables.len();
        self.design.variables.push(Variable {
            name: format!("{}{}", self.path, element.name()),
            width,
            array,
            constant: constant.map(|(value, _)| bits::fit(value, width)),
            instance: self.instance,
        });
        self.name("var", element, id);
        Ok(id)
    }

    /// Names a variable or a function.
    fn name(&mut self, kind: &'static str, element: &'t Element, id: usize) {
        self.scopes.last_mut().and_then(|scope| scope.insert((kind, element.name()), id));
    }

    fn named(&self, kind: &'static str, element: &Element) -> Result<usize, Reason> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(&(kind, element.name())));
        found.copied().map_or_else(|| self.fails(element, "a reference into another scope"), Ok)
    }

    fn find(&self, element: &Element) -> Result<VariableId, Reason> {
        let id = self.named("var", element)?;
        match self.design.variables[id].width {
            0 => self.fails(element, "a variable of a type without bits"),
            _ => Ok(id),
        }
    }

    /// The items of a module or of a generate block. Variables are declared first.
    fn scope(&mut self, scope: &'t Element) -> Result<(), Reason> {
        for variable in scope.of_kind("var") {
            self.declare(variable)?;
        }
        for function in scope.of_kind("func") {
            self.function(function)?;
        }
        for item in &scope.children {
            match item.kind.as_str() {
                "func" => {}
                "contassign" | "assignalias" => {
                    let body = vec![self.assignment(item, false)?];
                    self.process(Vec::new(), body);
                }
                "always" => self.always(item)?,
                "initial" | "initialstatic" | "initialautomatic" => {
                    let body = self.statements(&item.children)?;
                    self.design.initial.extend(body);
                }
                "begin" | "genblock" => {
                    self.scopes.push(Scope::new());
                    let end = self.path.len();
                    if !item.name().is_empty() {
                        self.path += &format!("{}.", item.name());
                    }
                    self.scope(item)?;
                    self.path.truncate(end);
                    self.scopes.pop();
                }
                "instance" => self.instance(item)?,
                kind if is_in(IGNORED, kind) => {}
                kind => return self.fails(item, &format!("`{kind}` is not simulated")),
            }
        }
        Ok(())
    }

    fn instance(&mut self, item: &'t Element) -> Result<(), Reason> {
        let Some(module) = item.get("defName").and_then(|name| self.modules.get(name)).copied()
        else {
            return self.fails(item, "an interface");
        };
        self.instances += 1;
        let inside = self.instances;
        let outside = std::mem::replace(&mut self.instance, inside);
        let end = self.path.len();
        self.path += &format!("{}.", item.name());
        let scopes = self.scopes.split_off(1);
        self.scopes.push(Scope::new());
        self.scope(module)?;
        let ports = self.scopes.pop().unwrap_or_default();
        self.scopes.extend(scopes);
        self.path.truncate(end);
        self.instance = outside;
        for port in item.of_kind("port") {
            let Some(connected) = port.children.first() else { continue };
            let by_index = || {
                let index = port.get("portIndex")?;
                let mut all = module.of_kind("var");
                Some(all.find(|it| it.get("pinIndex") == Some(index))?.name())
            };
            let name = match port.name().starts_with("__pinNumber") {
                true => by_index().unwrap_or_default(),
                false => port.name(),
            };
            let Some(variable) = ports.get(&("var", name)).copied() else {
                return self.fails(port, "a port that the module lacks");
            };
            let (targets, value) = match port.get("direction") {
                Some("in") => (vec![self.whole_target(variable)], self.expression(connected)?),
                Some("out") => {
                    let targets = self.targets(connected)?;
                    let width = self.design.variables[variable].width;
                    let operation = Operation::Variable(variable);
                    (targets, self.node(port, operation, Vec::new(), width))
                }
                _ => return self.fails(port, "a bidirectional port"),
            };
            self.process(Vec::new(), vec![Statement::Assign { targets, value, is_late: false }]);
        }
        Ok(())
    }

    fn function(&mut self, function: &'t Element) -> Result<(), Reason> {
        self.scopes.push(Scope::new());
        let mut inputs = Vec::new();
        let mut result = None;
        for variable in function.of_kind("var") {
            let id = self.declare(variable)?;
            match variable.get("dir") {
                Some("output") if variable.name() == function.name() => result = Some(id),
                Some("input") => inputs.push(id),
                Some(_) => return self.fails(variable, "a function with outputs"),
                None => {}
            }
        }
        let body = self.statements(&function.children)?;
        self.scopes.pop();
        let Some(result) = result else { return self.fails(function, "a function without result") };
        let id = self.design.functions.len();
        self.design.functions.push(Function { inputs, result, body });
        self.name("func", function, id);
        Ok(())
    }

    fn always(&mut self, item: &'t Element) -> Result<(), Reason> {
        let mut edges = Vec::new();
        for sense in item.of_kind("sentree").flat_map(|it| it.of_kind("senitem")) {
            let rises = match sense.get("edgeType") {
                Some("POS") => true,
                Some("NEG") => false,
                _ => continue,
            };
            let Some(variable) = sense.children.first().filter(|it| it.kind == "varref") else {
                return self.fails(sense, "an edge of an expression");
            };
            edges.push(Edge { variable: self.find(variable)?, rises });
        }
        let body = self.statements(item.children.iter().filter(|it| it.kind != "sentree"))?;
        self.process(edges, body);
        Ok(())
    }

    fn process(&mut self, edges: Vec<Edge>, mut body: Vec<Statement>) {
        let mut process = Process { edges, ..Process::default() };
        // The variables that are assigned as a whole, and whether late.
        let mut all = BTreeMap::new();
        let mut each = |statement: &Statement| {
            self.reads(statement, &mut process.reads);
            if let Statement::Assign { targets, is_late, .. } = statement {
                let targets = targets.iter().map(|it| it.variable);
                process.writes.extend(targets.clone());
                process.at_once.extend(targets.filter(|_| !is_late));
            }
            if let Some((variable, value, is_late)) = statement.whole_variable() {
                all.insert(variable, is_late);
                self.design.assigned.entry(variable).or_default().push(value);
            }
        };
        body.iter().for_each(|statement| statement.each(&mut each));
        self.add_missing(&mut body, &all);
        process.body = body;
        process.writes.sort_unstable();
        process.writes.dedup();
        match process.edges.is_empty() {
            true => self.design.combinational.push(process),
            false => self.design.clocked.push(process),
        }
    }

    /// Adds assignments without effect to each branch, of the variables that it does not assign.
    fn add_missing(&mut self, body: &mut [Statement], all: &BTreeMap<VariableId, bool>) {
        for statement in body {
            let (root, bodies): (_, Vec<&mut Vec<Statement>>) = match statement {
                Statement::Assign { .. } => continue,
                Statement::If { condition, then, otherwise } => (*condition, vec![then, otherwise]),
                Statement::Case { subject, items } => {
                    (*subject, items.iter_mut().map(|(_, body)| body).collect())
                }
            };
            for body in bodies {
                self.add_missing(body, all);
                let own: Vec<_> = body.iter().filter_map(Statement::whole_variable).collect();
                let mut missing = Vec::new();
                for (variable, is_late) in all {
                    let is_full = self.design.nodes.len() > MOST_NODES;
                    if is_full || own.iter().any(|(it, ..)| it == variable) {
                        continue;
                    }
                    // Assignments often have the order of the declarations.
                    let at = own.iter().rposition(|(it, ..)| it < variable).unwrap_or(0);
                    let beside = own.get(at).map_or(root, |(_, value, _)| *value);
                    let mut node = self.design.nodes[beside].clone();
                    node.width = self.design.variables[*variable].width;
                    (node.operation, node.arguments) = (Operation::Missing(*variable), Vec::new());
                    self.design.nodes.push(node);
                    let (targets, value) =
                        (vec![self.whole_target(*variable)], self.design.nodes.len() - 1);
                    missing.push(Statement::Assign { targets, value, is_late: *is_late });
                }
                body.splice(..0, missing);
            }
        }
    }

    /// Adds the variables that a statement reads itself.
    fn reads(&self, statement: &Statement, into: &mut BTreeSet<VariableId>) {
        let nodes = statement.roots().into_iter().flat_map(|root| self.design.below(root));
        for node in nodes {
            match self.design.nodes[node].operation {
                Operation::Variable(id) | Operation::Element(id) => _ = into.insert(id),
                Operation::Call(function) => {
                    let body = &self.design.functions[function].body;
                    body.iter().for_each(|it| it.each(&mut |it| self.reads(it, into)));
                }
                _ => {}
            }
        }
    }

    fn statements(
        &mut self,
        elements: impl IntoIterator<Item = &'t Element>,
    ) -> Result<Vec<Statement>, Reason> {
        let mut body = Vec::new();
        for element in elements {
            self.statement(element, &mut body)?;
        }
        Ok(body)
    }

    fn statement(&mut self, element: &'t Element, into: &mut Vec<Statement>) -> Result<(), Reason> {
        match element.kind.as_str() {
            "begin" => {
                self.scopes.push(Scope::new());
                for variable in element.of_kind("var") {
                    self.declare(variable)?;
                }
                into.extend(self.statements(&element.children)?);
                self.scopes.pop();
            }
            "assign" => into.push(self.assignment(element, false)?),
            "assigndly" => into.push(self.assignment(element, true)?),
            "if" if element.children.len() <= 3 => {
                // An empty branch is an empty `begin`, or left out.
                let [condition, branches @ ..] = element.children.as_slice() else {
                    return self.fails(element, "an if without a condition");
                };
                let condition = self.expression(condition)?;
                let then = self.statements(branches.first())?;
                let otherwise = self.statements(branches.get(1))?;
                into.push(Statement::If { condition, then, otherwise });
            }
            "case" => {
                let [subject, rest @ ..] = element.children.as_slice() else {
                    return self.fails(element, "a case without a subject");
                };
                let subject = self.expression(subject)?;
                let mut items = Vec::new();
                for item in rest.iter().filter(|it| it.kind == "caseitem") {
                    let is_label = |it: &&Element| {
                        matches!(&*it.kind, "const" | "varref" | "arraysel")
                            || Operation::named(&it.kind).is_some()
                    };
                    let labels: Vec<_> = item.children.iter().take_while(is_label).collect();
                    let body = self.statements(&item.children[labels.len()..])?;
                    items.push((self.expressions(labels)?, body));
                }
                // The default applies last, wherever it stands.
                items.sort_by_key(|(labels, _)| labels.is_empty());
                into.push(Statement::Case { subject, items });
            }
            kind if is_in(SILENT, kind) => {}
            kind => return self.fails(element, &format!("`{kind}` is not simulated")),
        }
        Ok(())
    }

    fn assignment(&mut self, element: &'t Element, is_late: bool) -> Result<Statement, Reason> {
        let [value, .., target] = element.children.as_slice() else {
            return self.fails(element, "an assignment without a value");
        };
        let (value, targets) = (self.expression(value)?, self.targets(target)?);
        Ok(Statement::Assign { targets, value, is_late })
    }

    fn whole_target(&self, variable: VariableId) -> Target {
        let width = self.design.variables[variable].width;
        Target { variable, index: None, lows: Vec::new(), width }
    }

    fn targets(&mut self, element: &'t Element) -> Result<Vec<Target>, Reason> {
        if element.kind != "concat" {
            return Ok(vec![self.target(element)?]);
        }
        let mut targets = Vec::new();
        for part in &element.children {
            targets.extend(self.targets(part)?);
        }
        Ok(targets)
    }

    fn target(&mut self, element: &'t Element) -> Result<Target, Reason> {
        match (element.kind.as_str(), element.children.as_slice()) {
            ("varref" | "arraysel", _) => {
                let (variable, index) = self.reference(element)?;
                Ok(Target { index, ..self.whole_target(variable) })
            }
            ("sel", [from, low, ..]) => {
                let mut target = self.target(from)?;
                target.lows.push(self.expression(low)?);
                target.width = self.width(element)?;
                Ok(target)
            }
            (kind, _) => self.fails(element, &format!("`{kind}` is assigned")),
        }
    }

    /// A variable, or a memory and the index of its element.
    fn reference(&mut self, element: &'t Element) -> Result<(VariableId, Option<NodeId>), Reason> {
        let (name, index) = match (element.kind.as_str(), element.children.as_slice()) {
            ("varref", _) => (element, None),
            (_, [memory, index]) if memory.kind == "varref" => {
                (memory, Some(self.expression(index)?))
            }
            _ => return self.fails(element, "a memory with several dimensions"),
        };
        let variable = self.find(name)?;
        match (index, self.design.variables[variable].array) {
            (Some(_), None) => self.fails(element, "an element of a vector"),
            (None, Some(_)) => self.fails(element, "a memory as a whole"),
            (index, _) => Ok((variable, index)),
        }
    }

    fn width(&self, element: &Element) -> Result<u32, Reason> {
        match element.get("dtype_id").and_then(|id| self.of_type(id)) {
            Some((width, None)) => Ok(width),
            _ => self.fails(element, "a value without a width"),
        }
    }

    fn node(
        &mut self,
        element: &Element,
        operation: Operation,
        arguments: Vec<NodeId>,
        width: u32,
    ) -> NodeId {
        let (place, instance) = (self.place(element), self.instance);
        self.design.nodes.push(Node { operation, arguments, width, place, instance });
        self.design.nodes.len() - 1
    }

    fn expression(&mut self, element: &'t Element) -> Result<NodeId, Reason> {
        let kind = element.kind.as_str();
        let (operation, arguments, width) = match kind {
            "const" => {
                let Some((value, width)) = bits::literal(element.name()) else {
                    return self.fails(element, "a constant with unknown bits");
                };
                (Operation::Constant(value), Vec::new(), width)
            }
            "varref" | "arraysel" => {
                let (variable, index) = self.reference(element)?;
                let operation = match index {
                    Some(_) => Operation::Element(variable),
                    None => Operation::Variable(variable),
                };
                let width = self.design.variables[variable].width;
                (operation, index.into_iter().collect(), width)
            }
            "funcref" => {
                let function = self.named("func", element)?;
                let arguments = element.of_kind("arg").flat_map(|it| it.children.first());
                let operation = Operation::Call(function);
                (operation, self.expressions(arguments)?, self.width(element)?)
            }
            _ => {
                let Some(operation) = Operation::named(kind) else {
                    return self.fails(element, &format!("`{kind}` is not simulated"));
                };
                let mut arguments = self.expressions(&element.children)?;
                // The width of a selection is its third argument.
                if kind == "sel" {
                    arguments.truncate(2);
                }
                let wanted = match operation {
                    Operation::Operator(it) => it.arguments,
                    _ => 3,
                };
                if arguments.len() != wanted {
                    return self.fails(element, &format!("`{kind}` with other arguments"));
                }
                let width = self.width(element)?;
                if matches!(kind, "mul" | "div" | "moddiv") && width > 64 {
                    return self.fails(element, "a product of more than 64 bits");
                }
                (operation, arguments, width)
            }
        };
        Ok(self.node(element, operation, arguments, width))
    }

    fn expressions(
        &mut self,
        elements: impl IntoIterator<Item = &'t Element>,
    ) -> Result<Vec<NodeId>, Reason> {
        elements.into_iter().map(|it| self.expression(it)).collect()
    }
}

fn is_in(kinds: &str, kind: &str) -> bool {
    kinds.split(' ').any(|it| it == kind)
}
