//! What expressions read, and which of them are not on the list.

use super::constant::{bits, number};
use super::design::{Access, Kind};
use super::texts::{names, operators};
use super::values::{State, is_cut};
use super::walk::Walk;
use crate::tree::Element;

/// References to variables.
pub(super) const REFERENCES: [&str; 2] = ["varref", "varxref"];

/// Operators that both tools read alike, whatever their operands are.
pub(super) const OPERATORS: &[&str] = &[
    "add",
    "and",
    "concat",
    "countones",
    "eq",
    "eqcase",
    "extend",
    "extends",
    "gt",
    "gte",
    "gtes",
    "gts",
    "logand",
    "logeq",
    "logif",
    "lognot",
    "logor",
    "lt",
    "lte",
    "ltes",
    "lts",
    "mul",
    "muls",
    "negate",
    "neq",
    "neqcase",
    "not",
    "onehot",
    "onehot0",
    "or",
    "redand",
    "redor",
    "redxor",
    "replicate",
    "shiftl",
    "shiftr",
    "shiftrs",
    "signed",
    "sub",
    "unsigned",
    "xor",
];

/// Calls `f` with the operations of an expression, without those of indices and arguments.
fn expression_nodes<'a>(expression: &'a Element, f: &mut impl FnMut(&'a Element)) {
    f(expression);
    match &*expression.kind {
        "sel" | "arraysel" => {
            if let Some(from) = expression.part("fromp", 0) {
                expression_nodes(from, f);
            }
        }
        "funcref" => {}
        _ => expression.children.iter().for_each(|one| expression_nodes(one, f)),
    }
}

/// Bits of a variable.
pub(super) struct Region {
    pub(super) variable: usize,
    pub(super) bits: (u64, u64),
    /// Whether exactly these bits are meant, and not some of them.
    pub(super) is_exact: bool,
}

impl<'a> Walk<'_, 'a> {
    pub(super) fn expression(&mut self, expression: &'a Element, state: &mut State<'a>) {
        let operand = |at: usize| expression.part(["lhsp", "rhsp"][at], at);
        match &*expression.kind {
            "const" => {
                if bits(expression).is_none() {
                    self.report.add(expression, format!("the constant {}", expression.name()));
                }
            }
            "varref" | "varxref" | "arraysel" | "sel" => self.read(expression, state),
            "cond" => {
                let part = |role, place| expression.part(role, place);
                let (Some(condition), Some(then), Some(other)) =
                    (part("condp", 0), part("thenp", 1), part("elsep", 2))
                else {
                    return self.report.kind(expression);
                };
                self.expression(condition, state);
                let truth = self.values(state, |values| values.truth(condition));
                if truth != Some(false) {
                    self.under(condition, true, then, state);
                }
                if truth != Some(true) {
                    self.under(condition, false, other, state);
                }
            }
            "logand" | "and" => {
                let (Some(one), Some(two)) = (operand(0), operand(1)) else {
                    return self.report.kind(expression);
                };
                self.expression(one, state);
                if self.values(state, |values| values.truth(one)) != Some(false) {
                    self.under(one, true, two, state);
                }
            }
            "div" | "divs" | "moddiv" | "moddivs" => {
                expression.children.iter().for_each(|one| self.expression(one, state));
                let by = operand(1);
                let is_known = by.is_some_and(|by| {
                    // All ones are -1: the smallest number has no quotient.
                    self.values(state, |values| {
                        let all = super::values::mask(values.width(by));
                        let is_signed = expression.kind.ends_with('s');
                        values.known(by).is_some_and(|by| by > 0 && !(is_signed && by == all))
                    })
                });
                if !is_known {
                    self.report.add(expression, "a division by what may be 0".to_owned());
                }
            }
            "pow" | "powss" | "powsu" | "powus" => {
                let is_known =
                    |one: &Element| self.values(state, |values| values.known(one).is_some());
                if !expression.children.iter().all(is_known) {
                    self.report.add(expression, "a power that is not constant".to_owned());
                }
            }
            // The pattern may have X and Z, which stand for any value.
            "eqwild" | "neqwild" => match (operand(0), operand(1)) {
                (Some(value), Some(pattern)) if pattern.kind == "const" => {
                    self.expression(value, state);
                }
                _ => self.report.add(expression, "wildcards that are not constant".to_owned()),
            },
            "funcref" => self.call(expression, state),
            kind if OPERATORS.contains(&kind) => {
                expression.children.iter().for_each(|one| self.expression(one, state));
            }
            _ => self.report.kind(expression),
        }
    }

    /// An expression that counts only if a condition holds, or does not hold.
    fn under(
        &mut self,
        condition: &'a Element,
        holds: bool,
        expression: &'a Element,
        state: &mut State<'a>,
    ) {
        let before = state.facts.len();
        let facts = self.values(state, |values| values.facts(condition, holds));
        state.facts.extend(facts);
        self.expression(expression, state);
        state.facts.truncate(before);
    }

    /// A variable or a part of one, or a part of an expression.
    fn read(&mut self, expression: &'a Element, state: &mut State<'a>) {
        let mut root = expression;
        while let ("sel" | "arraysel", Some(from)) = (&*root.kind, root.part("fromp", 0)) {
            root = from;
        }
        if !REFERENCES.contains(&&*root.kind) {
            // Of the parts of an expression, only the indices are to be examined.
            self.expression(root, state);
            self.indices(expression, state);
            return;
        }
        let Some(region) = self.region(expression, state) else { return };
        let (id, bits) = (region.variable, region.bits);
        let variable = &self.module.variables[id];
        if variable.is_parameter {
            let what = format!("the parameter `{}`, which is no constant", variable.element.name());
            return self.report.add(root, what);
        }
        let is_set = state.written.get(&id).is_some_and(|written| written.contains(bits));
        if variable.is_local {
            if !is_set {
                let what = format!("`{}` is read before it is set", variable.element.name());
                self.report.add(root, what);
            }
        } else if !self.in_reset {
            self.module.reads.push(Access {
                variable: id,
                bits,
                process: self.process,
                kind: self.kind,
                is_immediate: is_set,
                is_link: false,
                place: root,
            });
        }
    }

    /// Examines the indices of a part of an expression.
    fn indices(&mut self, expression: &'a Element, state: &mut State<'a>) {
        if let "sel" | "arraysel" = &*expression.kind {
            if let Some(from) = expression.part("fromp", 0) {
                self.indices(from, state);
            }
            self.part(expression, state);
        }
    }

    /// Examines one index. Returns the first bit and the number of bits, if they are known.
    fn part(&mut self, expression: &'a Element, state: &mut State<'a>) -> Option<(u64, u64)> {
        let is_word = expression.kind == "arraysel";
        let role = if is_word { "bitp" } else { "lsbp" };
        let (Some(from), Some(index)) = (expression.part("fromp", 0), expression.part(role, 1))
        else {
            self.report.kind(expression);
            return None;
        };
        let sizes = self.common.types.size(from).zip(self.common.types.size(expression));
        let Some((all, size)) = sizes.filter(|(all, size)| *size > 0 && size <= all) else {
            self.report.kind(expression);
            return None;
        };
        self.expression(index, state);
        let unit = if is_word { size } else { 1 };
        let (highest, known) =
            self.values(state, |values| (values.index(index), values.known(index)));
        let end = highest
            .and_then(|highest| u64::try_from(highest).ok()?.checked_mul(unit)?.checked_add(size));
        let is_whole = self.is_whole(expression, index, known.is_some());
        if !is_whole || end.is_none_or(|end| end > all) {
            self.report.add(expression, "an index that may be out of range".to_owned());
            return None;
        }
        Some((u64::try_from(known?).ok()? * unit, size))
    }

    /// Whether the tree has all of an index: of operands that Verilator cuts off, it may have no
    /// trace. The text has.
    fn is_whole(&self, select: &Element, index: &Element, is_known: bool) -> bool {
        let (is_bit, is_constant) = (select.kind == "sel", index.kind == "const");
        // The RTL has no such index.
        if is_constant && is_cut(select) {
            return true;
        }
        let Some(text) = self.common.texts.index(select) else { return is_bit && is_constant };
        if is_constant {
            // The ends of a range are constant.
            return is_bit && text.contains(':') || !names(&text).any(|name| self.varies(name));
        }
        let (mut parts, mut braces, mut found) = (0, 0, 0);
        expression_nodes(index, &mut |one| match &*one.kind {
            "concat" | "extend" => parts += 1,
            "const" | "varref" | "varxref" | "arraysel" => {}
            "sel" if !is_cut(one) || one.part("lsbp", 1).and_then(number) == Some(0) => {}
            _ => found += 1,
        });
        text.chars().for_each(|letter| braces += usize::from(letter == '{'));
        let commas = text.chars().filter(|letter| *letter == ',').count();
        // Yosys says itself where a constant index of a loop is out of the range of a vector.
        is_bit && is_known
            || operators(&text) <= found && (braces == 0 || braces == 1 && commas <= parts)
    }

    /// The bits of a variable or of a part of one. Examines its indices. `None` if it is refused.
    pub(super) fn region(
        &mut self,
        expression: &'a Element,
        state: &mut State<'a>,
    ) -> Option<Region> {
        match &*expression.kind {
            "varref" | "varxref" => {
                let Some(variable) = self.variable(expression) else {
                    let path = expression.get("dotted").filter(|path| !path.is_empty());
                    let path = path.map(|path| format!("{path}.")).unwrap_or_default();
                    let what =
                        format!("a reference to `{path}{}`, which is elsewhere", expression.name());
                    self.report.add(expression, what);
                    return None;
                };
                let bits = (0, self.module.variables[variable].size);
                Some(Region { variable, bits, is_exact: true })
            }
            "sel" | "arraysel" => {
                let Some(from) = expression.part("fromp", 0) else {
                    self.report.kind(expression);
                    return None;
                };
                let base = self.region(from, state)?;
                match self.part(expression, state) {
                    Some((first, size)) if base.is_exact => {
                        let first = base.bits.0 + first;
                        Some(Region { bits: (first, first + size), ..base })
                    }
                    _ => Some(Region { is_exact: false, ..base }),
                }
            }
            _ => {
                self.report.kind(expression);
                None
            }
        }
    }

    /// A call of a function or a task.
    pub(super) fn call(&mut self, call: &'a Element, state: &mut State<'a>) {
        if call.get("dotted").is_some_and(|path| !path.is_empty()) {
            return self.report.kind(call);
        }
        let of = self.common.functions.get(call.name()).map(Vec::as_slice).unwrap_or_default();
        let outputs = |function: &&Element| -> Vec<bool> {
            let ports = function.of_kind("var").filter(|one| one.get("dir").is_some());
            // What a function returns has its name.
            let ports =
                ports.filter(|one| one.name() != function.name() || function.kind == "task");
            ports.map(|one| one.get("dir") != Some("input")).collect()
        };
        let mut all = of.iter().map(outputs);
        let Some(ports) = all.next().filter(|ports| all.all(|other| other == *ports)) else {
            let what =
                format!("a call of `{}`, which has several declarations or none", call.name());
            return self.report.add(call, what);
        };
        let arguments: Vec<&Element> = call.children.iter().collect();
        if arguments.len() != ports.len() {
            return self.report.kind(call);
        }
        // Inputs are read before outputs are set.
        for pass in [false, true] {
            for (argument, is_output) in arguments.iter().zip(&ports) {
                match (argument.children.as_slice(), &*argument.kind) {
                    ([one], "arg") if argument.name().is_empty() => match (pass, is_output) {
                        (false, false) => self.expression(one, state),
                        (true, true) => {
                            let is_immediate = self.kind != Kind::Continuous;
                            self.target(one, state, None, is_immediate);
                        }
                        _ => {}
                    },
                    _ => self.report.kind(argument),
                }
            }
        }
    }
}
