//! Flattens Verilator's description into a design.

use super::{
    Design, Edge, Function, Node, NodeId, Operation, Place, Process, Reason, Statement, Target,
    Variable, VariableId,
};
use crate::bits;
use std::collections::BTreeMap;
use verilated_build::tree::{Element, Tree};

type Scope = BTreeMap<String, VariableId>;

/// Expressions beyond which no missing assignments are added.
const MOST_NODES: usize = 1 << 20;

struct Builder<'t> {
    tree: &'t Tree,
    types: BTreeMap<&'t str, &'t Element>,
    modules: BTreeMap<&'t str, &'t Element>,
    design: Design,
    /// From the module inward.
    scopes: Vec<Scope>,
    /// Functions by name.
    functions: Vec<BTreeMap<String, usize>>,
    instance: usize,
    instances: usize,
    path: String,
}

impl Design {
    /// The design in a description.
    ///
    /// # Errors
    /// The construct that is not understood.
    pub fn of(tree: &Tree, top: &str) -> Result<Self, Reason> {
        let name = |element: &'_ Element| element.name().to_owned();
        let of_kind = |kind: &'static str| tree.modules.iter().filter(move |it| it.kind == kind);
        let mut builder = Builder {
            tree,
            types: tree.types.iter().filter_map(|it| Some((it.get("id")?, it))).collect(),
            modules: of_kind("module").map(|it| (it.name(), it)).collect(),
            design: Self::default(),
            scopes: vec![Scope::new()],
            functions: vec![BTreeMap::new()],
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
        let ports = element.of_kind("var").filter(|it| it.get("dir").is_some()).map(name);
        let scope = builder.scopes.last().cloned().unwrap_or_default();
        let mut design = builder.design;
        design.ports = ports.filter_map(|port| Some((port.clone(), *scope.get(&port)?))).collect();
        design.constant_assignments();
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

    /// The width of a type, and the number of elements of a memory.
    fn of_type(&self, id: &str) -> Option<(u32, Option<usize>)> {
        let element = self.types.get(id)?;
        let inner = || self.of_type(element.get("sub_dtype_id")?);
        let range = || {
            let range = element.child("range");
            let end = |place: usize| {
                let text = range?.children.get(place)?.name();
                let (value, _) = bits::literal(text)?;
                Some(i64::from((value[0] as u32).cast_signed()))
            };
            let attribute = |name: &str| element.get(name)?.parse::<i64>().ok();
            match range {
                Some(_) => Some((end(0)?, end(1)?)),
                None => Some((attribute("left")?, attribute("right")?)),
            }
        };
        let count = |(left, right): (i64, i64)| usize::try_from(left.abs_diff(right) + 1).ok();
        match element.kind.as_str() {
            "basicdtype" => match (element.name(), element.get("left")) {
                ("string" | "real" | "event" | "chandle", _) => None,
                (_, Some(_)) => Some((u32::try_from(count(range()?)?).ok()?, None)),
                ("integer" | "int", None) => Some((32, None)),
                (_, None) => Some((1, None)),
            },
            "refdtype" | "enumdtype" | "paramtypedtype" | "constdtype" | "memberdtype" => inner(),
            "structdtype" => {
                let members = element.of_kind("memberdtype");
                let width = |it: &Element| Some(self.of_type(it.get("sub_dtype_id")?)?.0);
                Some((members.map(width).sum::<Option<u32>>()?, None))
            }
            "uniondtype" => {
                let first = element.of_kind("memberdtype").next()?;
                self.of_type(first.get("sub_dtype_id")?)
            }
            "packarraydtype" => {
                let (width, None) = inner()? else { return None };
                Some((width.checked_mul(u32::try_from(count(range()?)?).ok()?)?, None))
            }
            "unpackarraydtype" => {
                let (width, None) = inner()? else { return None };
                Some((width, Some(count(range()?)?)))
            }
            _ => None,
        }
    }

    fn declare(&mut self, element: &'t Element) -> Result<VariableId, Reason> {
        let of_type = element.get("dtype_id").and_then(|id| self.of_type(id));
        let constant = element.child("const").and_then(|it| bits::literal(it.name()));
        let (width, array) = match (of_type, &constant) {
            (Some(known), _) => known,
            (None, Some((_, width))) => (*width, None),
            // An unused variable of such a type does no harm: a reference to it fails.
            (None, None) => (0, None),
        };
        let id = self.design.variables.len();
        self.design.variables.push(Variable {
            name: format!("{}{}", self.path, element.name()),
            width,
            array,
            constant: constant.map(|(value, _)| bits::fit(value, width)),
            instance: self.instance,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(element.name().to_owned(), id);
        }
        Ok(id)
    }

    fn find(&self, element: &Element) -> Result<VariableId, Reason> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(element.name()));
        match found {
            Some(id) if self.design.variables[*id].width > 0 => Ok(*id),
            Some(_) => self.fails(element, "a variable of a type without bits"),
            None => self.fails(element, "a reference into another scope"),
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
                    let mut body = Vec::new();
                    for child in &item.children {
                        self.statement(child, &mut body)?;
                    }
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
        let packages = self.scopes[0].clone();
        let scopes = std::mem::replace(&mut self.scopes, vec![packages, Scope::new()]);
        let functions = vec![self.functions[0].clone(), BTreeMap::new()];
        let functions = std::mem::replace(&mut self.functions, functions);
        self.scope(module)?;
        let ports = std::mem::replace(&mut self.scopes, scopes).pop().unwrap_or_default();
        self.functions = functions;
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
            let Some(variable) = ports.get(name).copied() else {
                return self.fails(port, "a port that the module lacks");
            };
            let statement = match port.get("direction") {
                Some("in") => {
                    let (value, target) = (self.expression(connected)?, Target::Variable(variable));
                    Statement::Assign { target, value, is_late: false }
                }
                Some("out") => {
                    let target = self.target(connected)?;
                    let width = self.design.variables[variable].width;
                    let operation = Operation::Variable(variable);
                    let value = self.node(port, operation, Vec::new(), width);
                    Statement::Assign { target, value, is_late: false }
                }
                _ => return self.fails(port, "a bidirectional port"),
            };
            self.process(Vec::new(), vec![statement]);
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
        let mut body = Vec::new();
        for child in function.children.iter().filter(|it| it.kind != "var") {
            self.statement(child, &mut body)?;
        }
        self.scopes.pop();
        let Some(result) = result else { return self.fails(function, "a function without result") };
        let id = self.design.functions.len();
        self.design.functions.push(Function { inputs, result, body });
        if let Some(known) = self.functions.last_mut() {
            known.insert(function.name().to_owned(), id);
        }
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
        let mut body = Vec::new();
        for child in item.children.iter().filter(|it| it.kind != "sentree") {
            self.statement(child, &mut body)?;
        }
        self.process(edges, body);
        Ok(())
    }

    fn process(&mut self, edges: Vec<Edge>, mut body: Vec<Statement>) {
        let (mut reads, mut writes, mut at_once) = (Vec::new(), Vec::new(), Vec::new());
        for statement in &body {
            self.reads(statement, &mut reads);
            statement.each_target(&mut |target, is_late| {
                target.each_variable(&mut |it| {
                    writes.push(it);
                    at_once.extend((!is_late).then_some(it));
                });
            });
        }
        for list in [&mut reads, &mut writes, &mut at_once] {
            list.sort_unstable();
            list.dedup();
        }
        let mut whole = BTreeMap::new();
        body.iter().for_each(|it| self.assigned(it, &mut whole));
        self.add_missing(&mut body, &whole);
        let process = Process { edges, body, reads, writes, at_once };
        match process.edges.is_empty() {
            true => self.design.combinational.push(process),
            false => self.design.clocked.push(process),
        }
    }

    /// Notes the whole variables that a statement assigns, and whether late.
    fn assigned(&mut self, statement: &Statement, into: &mut BTreeMap<VariableId, bool>) {
        statement.each_body(&mut |body| body.iter().for_each(|it| self.assigned(it, into)));
        if let Statement::Assign { target: Target::Variable(variable), value, is_late } = statement
        {
            into.insert(*variable, *is_late);
            self.design.assigned.entry(*variable).or_default().push(*value);
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
                let own = body.iter().filter_map(|statement| match statement {
                    Statement::Assign { target: Target::Variable(it), value, .. } => {
                        Some((*it, *value))
                    }
                    _ => None,
                });
                let own: Vec<_> = own.collect();
                let mut missing = Vec::new();
                for (variable, is_late) in all {
                    let is_full = self.design.nodes.len() > MOST_NODES;
                    if is_full || own.iter().any(|(it, _)| it == variable) {
                        continue;
                    }
                    // Assignments often have the order of the declarations.
                    let at = own.iter().rposition(|(it, _)| it < variable).unwrap_or(0);
                    let beside = own.get(at).map_or(root, |(_, value)| *value);
                    let mut node = self.design.nodes[beside].clone();
                    node.width = self.design.variables[*variable].width;
                    (node.operation, node.arguments) = (Operation::Missing(*variable), Vec::new());
                    self.design.nodes.push(node);
                    let (target, value) =
                        (Target::Variable(*variable), self.design.nodes.len() - 1);
                    missing.push(Statement::Assign { target, value, is_late: *is_late });
                }
                body.splice(..0, missing);
            }
        }
    }

    fn reads(&self, statement: &Statement, into: &mut Vec<VariableId>) {
        let mut roots = Vec::new();
        statement.each_root(&mut |root| roots.push(root));
        for root in roots {
            self.design.each_node(root, &mut |node| match self.design.nodes[node].operation {
                Operation::Variable(id) | Operation::Element(id) => into.push(id),
                Operation::Call(function) => {
                    let body = &self.design.functions[function].body;
                    body.iter().for_each(|it| self.reads(it, into));
                }
                _ => {}
            });
        }
    }

    fn statements(&mut self, elements: &'t [Element]) -> Result<Vec<Statement>, Reason> {
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
                for child in &element.children {
                    self.statement(child, into)?;
                }
                self.scopes.pop();
            }
            "assign" => into.push(self.assignment(element, false)?),
            "assigndly" => into.push(self.assignment(element, true)?),
            "if" => {
                let [condition, rest @ ..] = element.children.as_slice() else {
                    return self.fails(element, "an if without a condition");
                };
                let condition = self.expression(condition)?;
                // An empty branch is an empty `begin`, or left out.
                let (then, otherwise) = match rest {
                    [] => (Vec::new(), Vec::new()),
                    [then] => (self.statements(std::slice::from_ref(then))?, Vec::new()),
                    [then, otherwise] => (
                        self.statements(std::slice::from_ref(then))?,
                        self.statements(std::slice::from_ref(otherwise))?,
                    ),
                    _ => return self.fails(element, "an if with more than two branches"),
                };
                into.push(Statement::If { condition, then, otherwise });
            }
            "case" => {
                let [subject, rest @ ..] = element.children.as_slice() else {
                    return self.fails(element, "a case without a subject");
                };
                let subject = self.expression(subject)?;
                let mut items = Vec::new();
                for item in rest.iter().filter(|it| it.kind == "caseitem") {
                    let is_label = |it: &&Element| is_in(EXPRESSIONS, &it.kind);
                    let labels: Vec<_> = item.children.iter().take_while(is_label).collect();
                    let body = self.statements(&item.children[labels.len()..])?;
                    let labels = labels.into_iter().map(|it| self.expression(it));
                    items.push((labels.collect::<Result<Vec<_>, _>>()?, body));
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
        let (value, target) = (self.expression(value)?, self.target(target)?);
        Ok(Statement::Assign { target, value, is_late })
    }

    fn target(&mut self, element: &'t Element) -> Result<Target, Reason> {
        match (element.kind.as_str(), element.children.as_slice()) {
            ("varref", _) => {
                let variable = self.find(element)?;
                match self.design.variables[variable].array {
                    None => Ok(Target::Variable(variable)),
                    Some(_) => self.fails(element, "a memory that is assigned as a whole"),
                }
            }
            ("arraysel", [memory, index]) if memory.kind == "varref" => {
                Ok(Target::Element(self.find(memory)?, self.expression(index)?))
            }
            ("sel", [from, low, ..]) => {
                let (target, low) = (self.target(from)?, self.expression(low)?);
                Ok(Target::Slice(Box::new(target), low, self.width(element)?))
            }
            ("concat", parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.push((self.target(part)?, self.width(part)?));
                }
                Ok(Target::Concatenated(all))
            }
            (kind, _) => self.fails(element, &format!("`{kind}` is assigned")),
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
        self.design.nodes.push(Node {
            operation,
            arguments,
            width,
            place,
            instance,
            is_condition: false,
        });
        self.design.nodes.len() - 1
    }

    fn expression(&mut self, element: &'t Element) -> Result<NodeId, Reason> {
        let kind = element.kind.as_str();
        match kind {
            "const" => {
                let Some((value, width)) = bits::literal(element.name()) else {
                    return self.fails(element, "a constant with unknown bits");
                };
                return Ok(self.node(element, Operation::Constant(value), Vec::new(), width));
            }
            "varref" => {
                let variable = self.find(element)?;
                let Variable { width, array, .. } = self.design.variables[variable];
                if array.is_some() {
                    return self.fails(element, "a memory that is read as a whole");
                }
                return Ok(self.node(element, Operation::Variable(variable), Vec::new(), width));
            }
            "arraysel" => {
                let [memory, index] = element.children.as_slice() else {
                    return self.fails(element, "an element without an index");
                };
                if memory.kind != "varref" {
                    return self.fails(element, "a memory with several dimensions");
                }
                let (variable, index) = (self.find(memory)?, self.expression(index)?);
                let Variable { width, array, .. } = self.design.variables[variable];
                if array.is_none() {
                    return self.fails(element, "an element of a vector");
                }
                return Ok(self.node(element, Operation::Element(variable), vec![index], width));
            }
            "funcref" => {
                let known = self.functions.iter().rev();
                let name = element.name();
                let Some(function) = known.filter_map(|it| it.get(name)).next().copied() else {
                    return self.fails(element, "a function of another scope");
                };
                let mut arguments = Vec::new();
                for argument in element.of_kind("arg").flat_map(|it| it.children.first()) {
                    arguments.push(self.expression(argument)?);
                }
                let width = self.width(element)?;
                return Ok(self.node(element, Operation::Call(function), arguments, width));
            }
            _ => {}
        }
        let Some(operation) = Operation::named(kind) else {
            return self.fails(element, &format!("`{kind}` is not simulated"));
        };
        let mut arguments = Vec::new();
        for child in &element.children {
            arguments.push(self.expression(child)?);
        }
        let wanted = match operation {
            // The width of a selection is its third argument.
            Operation::Operator(it) if it.name != "sel" => it.arguments,
            _ => 3,
        };
        if arguments.len() != wanted {
            return self.fails(element, &format!("`{kind}` with {} arguments", arguments.len()));
        }
        let width = self.width(element)?;
        if kind == "sel" {
            arguments.truncate(2);
        }
        if matches!(kind, "mul" | "div" | "moddiv") && width > 64 {
            return self.fails(element, "a product of more than 64 bits");
        }
        Ok(self.node(element, operation, arguments, width))
    }
}

/// Kinds of expressions, for the labels of a case item.
const EXPRESSIONS: &str = "\
    const varref and or not eq neq concat sel arraysel extend cond";

fn is_in(kinds: &str, kind: &str) -> bool {
    kinds.split(' ').any(|it| it == kind)
}
