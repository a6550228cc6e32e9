//! Runs the statements of a process or a function once, with what is known of the values.

use super::constant::{bits, number, token, wildcards};
use super::design::{Access, Kind};
use super::expressions::OPERATORS;
use super::values::{State, mask};
use super::walk::Walk;
use crate::tree::Element;
use std::collections::BTreeSet;

/// The most statements that loops may take, for all processes of a module.
const MOST_STEPS: u32 = 1 << 20;

/// The most values of which a `case` may have each one, without a default.
const MOST_VALUES: u128 = 1 << 16;

/// What statements without an effect on a netlist are called.
pub(super) const WITHOUT_EFFECT: &[&str] = &[
    "comment",
    "elabdisplay",
    "finish",
    "jumplabel",
    "pragma",
    "scopename",
    "stmtpragma",
    "stop",
    "timeunit",
    "typedef",
    "typedeffwd",
];

/// The word before a continuous assignment in a process.
const PROCEDURAL: &str = "assign";

/// The word for variables without a value from before.
pub(super) const AUTOMATIC: &str = "automatic";

/// What a message consists of, besides operators.
const OF_MESSAGE: [&str; 9] =
    ["arraysel", "cond", "const", "display", "scopename", "sel", "sformatf", "time", "varref"];

impl<'a> Walk<'_, 'a> {
    pub(super) fn statements(&mut self, statements: &[&'a Element], state: &mut Option<State<'a>>) {
        for statement in statements {
            if state.is_none() {
                return;
            }
            self.statement(statement, state);
        }
    }

    pub(super) fn statement(&mut self, statement: &'a Element, state: &mut Option<State<'a>>) {
        let Some(now) = state else { return };
        self.steps += 1;
        match &*statement.kind {
            "var" => self.variable_itself(statement),
            "assign" | "assigndly" => self.assign(statement, now),
            "begin" => self.scope(statement, |walk, block| {
                walk.statements(&block.children.iter().collect::<Vec<_>>(), state);
            }),
            "if" => self.branch(statement, state),
            "case" => self.case(statement, state),
            "while" | "loop" => self.repeat(statement, state),
            "jumpblock" => {
                let inside: Vec<&Element> =
                    statement.children.iter().filter(|one| one.kind != "jumplabel").collect();
                // Older Verilators have one block for each jump, all with the same end.
                if let [inner] = inside[..]
                    && inner.kind == "jumpblock"
                {
                    return self.statement(inner, state);
                }
                self.jumps.push(None);
                self.statements(&inside, state);
                let jumped = self.jumps.pop().flatten();
                *state = merged(state.take(), jumped);
            }
            "jumpgo" => {
                // Older Verilators do not say which block is left.
                if self.jumps.len() != 1 {
                    self.report.add(statement, "a jump out of several blocks".to_owned());
                }
                if let Some(target) = self.jumps.last_mut() {
                    *target = merged(target.take(), state.take());
                }
            }
            "funcref" | "taskref" => self.call(statement, now),
            "stmtexpr" => statement.children.iter().for_each(|one| match &*one.kind {
                "funcref" | "taskref" => self.call(one, now),
                _ => self.report.kind(one),
            }),
            "initialautomaticstmt" => {
                self.statements(&statement.children.iter().collect::<Vec<_>>(), state);
            }
            // What newer Verilators set a static variable to that has no initial value.
            "initialstaticstmt" => {
                let value = |one: &Element| one.part("rhsp", 0).map(|value| value.kind.clone());
                if !statement.children.iter().all(|one| value(one).as_deref() == Some("creset")) {
                    self.report.kind(statement);
                }
            }
            "display" => statement.each(&mut |one| {
                if !OF_MESSAGE.contains(&&*one.kind) && !OPERATORS.contains(&&*one.kind) {
                    self.report.kind(one);
                }
            }),
            "readmem" if self.kind == Kind::Initial => self.readmem(statement, now),
            kind if WITHOUT_EFFECT.contains(&kind) => {}
            _ => self.report.kind(statement),
        }
    }

    pub(super) fn readmem(&mut self, readmem: &'a Element, state: &mut State<'a>) {
        let (file, memory) = (readmem.part("filenamep", 0), readmem.part("memp", 1));
        let is_plain = |one: &Element| one.kind == "const" || one.kind == "cvtpackstring";
        for part in &readmem.children {
            if memory.is_some_and(|memory| std::ptr::eq(memory, part)) {
                self.target(part, state, None, true);
            } else if !is_plain(part) || !part.children.iter().all(is_plain) {
                self.report.kind(part);
            }
        }
        if file.is_none() || memory.is_none() {
            self.report.kind(readmem);
        }
    }

    pub(super) fn branch(&mut self, branch: &'a Element, state: &mut Option<State<'a>>) {
        let Some(now) = state else { return };
        let Some(condition) = branch.part("condp", 0) else { return self.report.kind(branch) };
        self.expression(condition, now);
        let (then, other) = (branch.block("thensp", 1), branch.block("elsesp", 2));
        match self.values(now, |values| values.truth(condition)) {
            Some(true) => return self.statements(&then, state),
            Some(false) => return self.statements(&other, state),
            None if self.is_constant_here() => self.not_constant(condition),
            None => {}
        }
        let facts = now.facts.len();
        let mut otherwise = state.clone();
        self.learn(condition, true, state);
        self.learn(condition, false, &mut otherwise);
        self.statements(&then, state);
        self.statements(&other, &mut otherwise);
        for end in [&mut *state, &mut otherwise].into_iter().flatten() {
            end.facts.truncate(facts);
        }
        *state = merged(state.take(), otherwise);
    }

    pub(super) fn learn(
        &mut self,
        condition: &'a Element,
        holds: bool,
        state: &mut Option<State<'a>>,
    ) {
        if let Some(state) = state {
            let facts = self.values(state, |values| values.facts(condition, holds));
            state.facts.extend(facts);
        }
    }

    /// Whether only constants may be set here.
    pub(super) fn is_constant_here(&self) -> bool {
        self.kind == Kind::Initial || self.in_reset
    }

    pub(super) fn not_constant(&mut self, place: &Element) {
        let what = match self.kind {
            Kind::Initial => "an initial value that is not constant",
            _ => "an asynchronous reset that sets what is not constant",
        };
        self.report.add(place, what.to_owned());
    }

    pub(super) fn case(&mut self, case: &'a Element, state: &mut Option<State<'a>>) {
        let Some(now) = state else { return };
        let Some(selector) = case.part("exprp", 0) else { return self.report.kind(case) };
        self.expression(selector, now);
        if self.is_constant_here() {
            self.not_constant(selector);
        }
        self.sign(selector);
        let mut end = None;
        let mut values = BTreeSet::new();
        let (mut has_default, mut is_plain) = (false, true);
        for item in case.children.iter().filter(|one| !std::ptr::eq(*one, selector)) {
            if item.kind != "caseitem" {
                self.report.kind(item);
                continue;
            }
            let is_pattern = |one: &&Element| match one.get("role") {
                Some(role) => role == "condsp",
                None => !is_statement(one),
            };
            let (patterns, body): (Vec<_>, Vec<_>) = item.children.iter().partition(is_pattern);
            has_default |= patterns.is_empty();
            for pattern in patterns {
                values.extend(number(pattern));
                self.sign(pattern);
                if pattern.kind == "const" && bits(pattern).is_none() {
                    is_plain = false;
                    self.pattern(case, pattern);
                } else if let Some(now) = state {
                    self.expression(pattern, now);
                }
            }
            let mut path = state.clone();
            self.statements(&body, &mut path);
            end = merged(end, path);
        }
        let is_full = state.as_ref().is_some_and(|now| {
            let highest = self.values(now, |values| values.interval_of(selector).1);
            is_plain && highest < MOST_VALUES && (0..=highest).all(|value| values.contains(&value))
        });
        *state = if has_default || is_full { end } else { merged(end, state.take()) };
    }

    /// Refuses the sign of what a `case` compares: Verilator extends each part by its own sign, and
    /// Yosys all of them, or none.
    fn sign(&mut self, compared: &Element) {
        let width = self.common.types.size(compared).unwrap_or_default();
        let is_negative = number(compared).is_some_and(|value| value > mask(width) / 2);
        let text = self.common.texts.around(compared).map_or("", |(_, text)| text);
        let text = text.trim_start_matches(['-', '+', '(', ' ']);
        let end = text.find(|one: char| !one.is_ascii_alphanumeric() && !"_'".contains(one));
        let literal = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
        let is_extended = match literal.split_once('\'') {
            Some((size, digits)) if digits.starts_with(['s', 'S']) => {
                size.parse().map_or(is_negative && width > 32, |size: u64| size < width)
            }
            Some(_) => false,
            None => literal.parse::<u64>().is_ok() && is_negative && width > 32,
        };
        if compared.kind == "extends" || is_extended {
            self.report.add(compared, "a `case` with a sign that is extended".to_owned());
        }
    }

    /// A constant with X or Z in `casez` or `casex`. Older Verilators do not say which one it is.
    pub(super) fn pattern(&mut self, case: &Element, pattern: &Element) {
        let text = || self.common.texts.around(case).map(|(_, text)| text.get(..5));
        let keyword = case.get("keyword").or_else(|| text().flatten());
        // Each of both is as long.
        let is_wild = matches!(keyword, Some("casez" | "casex"))
            || case.get("keyword").is_none() && token(case) == Some(5);
        let is_casex = keyword == Some("casex");
        let is_allowed = |digit: char| matches!(digit, 'z' | '?') || is_casex && digit == 'x';
        let allowed = wildcards(pattern).is_some_and(|digits| digits.chars().all(is_allowed));
        if !is_wild || !allowed {
            self.report.add(pattern, format!("the pattern {}", pattern.name()));
        }
    }

    /// A loop whose turns are known.
    pub(super) fn repeat(&mut self, repeat: &'a Element, state: &mut Option<State<'a>>) {
        let is_while = repeat.kind == "while";
        let parts: Vec<Vec<&Element>> = match (is_while, repeat.has_roles()) {
            (true, true) => vec![
                repeat.block("precondsp", 0),
                repeat.block("condp", 1),
                [repeat.block("stmtsp", 2), repeat.block("incsp", 3)].concat(),
            ],
            (true, false) => vec![
                repeat.block("", 0),
                repeat.block("", 1),
                [repeat.block("", 2), repeat.block("", 3)].concat(),
            ],
            (false, _) => vec![Vec::new(), Vec::new(), repeat.children.iter().collect()],
        };
        loop {
            self.statements(&parts[0], state);
            if let [condition] = parts[1][..]
                && !self.goes_on(condition, state)
            {
                return;
            }
            for statement in &parts[2] {
                if statement.kind == "looptest" {
                    let Some(condition) = statement.part("condp", 0) else {
                        return self.report.kind(statement);
                    };
                    if !self.goes_on(condition, state) {
                        return;
                    }
                } else {
                    self.statements(&[*statement], state);
                }
            }
            self.steps += 1;
            if state.is_none() {
                return;
            }
            if self.steps > MOST_STEPS || parts[1].is_empty() && is_while {
                return self.report.add(repeat, "a loop with too many turns".to_owned());
            }
        }
    }

    /// Whether a loop makes another turn.
    pub(super) fn goes_on(
        &mut self,
        condition: &'a Element,
        state: &mut Option<State<'a>>,
    ) -> bool {
        let Some(now) = state else { return false };
        self.expression(condition, now);
        let truth = self.values(now, |values| values.truth(condition));
        if truth.is_none() {
            self.report.add(condition, "a loop whose number of turns is not constant".to_owned());
        }
        truth == Some(true)
    }

    pub(super) fn assign(&mut self, assign: &'a Element, state: &mut State<'a>) {
        let (Some(value), Some(target)) = (assign.part("rhsp", 0), assign.part("lhsp", 1)) else {
            return self.report.kind(assign);
        };
        // What newer Verilators set a variable to that has no initial value.
        if value.kind == "creset" {
            return;
        }
        if self.kind != Kind::Continuous {
            self.words(assign, target);
        }
        let parts = [value, target];
        for other in &assign.children {
            if !parts.iter().any(|part| std::ptr::eq(*part, other)) {
                self.report.kind(other);
            }
        }
        self.expression(value, state);
        if self.is_constant_here() && !self.values(state, |values| values.is_constant(value)) {
            self.not_constant(value);
        }
        let known = self.values(state, |values| values.known(value));
        let is_immediate = assign.kind == "assign";
        if assign.kind == "assigndly" && self.kind != Kind::Clocked {
            self.report.add(assign, "`<=` in a process without a clock".to_owned());
        }
        self.target(target, state, known, is_immediate);
    }

    /// What the text says of an assignment in a process, and the tree of older Verilators does not:
    /// whether it is a continuous one, and whether it is the initial value of a static variable.
    fn words(&mut self, assign: &'a Element, target: &'a Element) {
        let mut first = target;
        while let Some(part) = first.part("fromp", 0).filter(|_| first.kind != "varref") {
            first = part;
        }
        let text = self.common.texts.around(first);
        // A net that is assigned a constant is in the tree as if that were its initial value.
        let is_process = self.kind != Kind::Initial;
        if is_process && text.is_some_and(|(before, _)| before.trim_end().ends_with(PROCEDURAL)) {
            return self.report.add(assign, "a continuous assignment in a process".to_owned());
        }
        // The place of an initial value is that of the value.
        let is_initial = assign.get("loc") == target.get("loc")
            && text.is_none_or(|(before, _)| before.trim_end().ends_with('='));
        let is_local = self.variable(target).is_some_and(|id| {
            self.module.variables[id].is_local && target.name() != self.function.unwrap_or_default()
        });
        let is_automatic =
            self.is_automatic || text.is_some_and(|(before, _)| before.contains(AUTOMATIC));
        if !assign.has_roles() && is_initial && is_local && !is_automatic {
            let what = format!("the initial value of `{}`, which may be static", target.name());
            self.report.add(assign, what);
        }
    }

    /// What is assigned.
    pub(super) fn target(
        &mut self,
        target: &'a Element,
        state: &mut State<'a>,
        value: Option<u128>,
        is_immediate: bool,
    ) {
        if target.kind == "concat" {
            for part in &target.children {
                self.target(part, state, None, is_immediate);
            }
            return;
        }
        let Some(region) = self.region(target, state) else { return };
        let id = region.variable;
        let variable = &self.module.variables[id];
        let (is_local, size, name) = (variable.is_local, variable.size, variable.element.name());
        if self.kind == Kind::Function && !is_local {
            self.report.add(target, format!("a function sets `{name}`, which is not its own"));
        }
        if is_local && !is_immediate {
            self.report.add(target, format!("`<=` sets `{name}`, which belongs to a process"));
        }
        state.values.remove(&id);
        let mut variables = Vec::new();
        for (fact, _) in &state.facts {
            variables.push(self.variables_in(fact).contains(&id));
        }
        let mut is_changed = variables.into_iter();
        state.facts.retain(|_| is_changed.next() == Some(false));
        let is_whole = region.is_exact && region.bits == (0, size);
        if is_immediate {
            if let Some(value) = value.filter(|_| is_whole && size <= 127) {
                state.values.insert(id, value);
            }
            if region.is_exact {
                state.written.entry(id).or_default().add(region.bits);
            }
        } else if region.is_exact {
            state.delayed.entry(id).or_default().add(region.bits);
        }
        if !is_local && !self.in_reset {
            self.module.drivers.push(Access {
                variable: id,
                bits: region.bits,
                process: self.process,
                kind: self.kind,
                is_immediate: is_immediate && self.kind != Kind::Continuous,
                is_link: false,
                place: target,
            });
        }
    }
}

fn merged<'a>(one: Option<State<'a>>, two: Option<State<'a>>) -> Option<State<'a>> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.merged(two)),
        (one, two) => one.or(two),
    }
}

/// Whether an element of a `case` in XML is a statement, not a pattern.
fn is_statement(element: &Element) -> bool {
    const STATEMENTS: [&str; 13] = [
        "assign",
        "assigndly",
        "begin",
        "if",
        "case",
        "while",
        "jumpblock",
        "jumpgo",
        "stmtexpr",
        "taskref",
        "display",
        "readmem",
        "delay",
    ];
    STATEMENTS.contains(&&*element.kind) || WITHOUT_EFFECT.contains(&&*element.kind)
}
