//! What is known of the values of expressions: the lowest and the highest one.

use super::constant::{bits, number};
use super::design::Types;
use super::ranges::Ranges;
use crate::tree::Element;
use std::collections::BTreeMap;

/// The lowest and the highest value.
pub(super) type Interval = (u128, u128);

/// What is known where a process is.
#[derive(Debug, Clone, Default)]
pub(super) struct State<'a> {
    /// Variables with a known value.
    pub(super) values: BTreeMap<usize, u128>,
    /// The bits that this process has set on each path so far.
    pub(super) written: BTreeMap<usize, Ranges>,
    /// The same for assignments that take effect at the end.
    pub(super) delayed: BTreeMap<usize, Ranges>,
    /// The highest values of expressions, from conditions.
    pub(super) facts: Vec<(&'a Element, u128)>,
}

impl State<'_> {
    /// What is known after either of two paths.
    pub(super) fn merged(mut self, other: Self) -> Self {
        let common = |one: BTreeMap<usize, Ranges>, two: &BTreeMap<usize, Ranges>| {
            let both =
                one.into_iter().filter_map(|(id, bits)| Some((id, bits.common(two.get(&id)?))));
            both.collect()
        };
        self.values.retain(|id, value| other.values.get(id) == Some(value));
        self.written = common(self.written, &other.written);
        self.delayed = common(self.delayed, &other.delayed);
        self.facts.retain(|fact| other.facts.iter().any(|one| std::ptr::eq(one.0, fact.0)));
        self
    }
}

/// Evaluates expressions of a scope.
pub(super) struct Values<'v, 'a> {
    pub(super) types: &'v Types,
    pub(super) state: &'v State<'a>,
    /// The variable of a reference.
    pub(super) variable: &'v dyn Fn(&Element) -> Option<usize>,
    /// Whether the RTL casts to the bits that are selected.
    pub(super) is_cast: &'v dyn Fn(&Element) -> bool,
}

/// The largest value of a width.
pub(super) fn mask(width: u64) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Whether two expressions are the same, wherever they are.
fn same(one: &Element, two: &Element) -> bool {
    let (one, two) = (extended(one), extended(two));
    one.kind == two.kind
        && one.get("name") == two.get("name")
        && one.get("dotted") == two.get("dotted")
        && one.get("widthConst") == two.get("widthConst")
        && one.children.len() == two.children.len()
        && one.children.iter().zip(&two.children).all(|(one, two)| same(one, two))
}

/// The expression below extensions with zeros.
fn extended(mut expression: &Element) -> &Element {
    while let ("extend", Some(inner)) = (&*expression.kind, expression.children.first()) {
        expression = inner;
    }
    expression
}

/// Whether Verilator cut an index to the bits that can be in range, and the RTL did not: its places
/// are then all that of the expression.
pub(super) fn is_cut(select: &Element) -> bool {
    let place = select.get("loc");
    select.kind == "sel" && select.part("lsbp", 1).is_some_and(|low| low.get("loc") == place)
}

impl<'a> Values<'_, 'a> {
    pub(super) fn width(&self, expression: &Element) -> u64 {
        self.types.size(expression).unwrap_or(u64::from(u16::MAX))
    }

    /// The value, if it is known.
    pub(super) fn known(&self, expression: &Element) -> Option<u128> {
        let (low, high) = self.interval_of(expression);
        (low == high && self.width(expression) <= 127).then_some(low)
    }

    /// Whether the condition is known to hold, or not to hold.
    pub(super) fn truth(&self, condition: &Element) -> Option<bool> {
        match self.interval_of(condition) {
            (0, 0) => Some(false),
            (low, _) if low > 0 => Some(true),
            _ => None,
        }
    }

    /// Whether the value does not depend on anything that is not known.
    pub(super) fn is_constant(&self, expression: &Element) -> bool {
        if self.known(expression).is_some() {
            return true;
        }
        match (&*expression.kind, expression.part("condp", 0)) {
            ("cond", Some(condition)) if self.truth(condition).is_some() => {
                let (role, place) =
                    if self.truth(condition) == Some(true) { ("thenp", 1) } else { ("elsep", 2) };
                expression.part(role, place).is_some_and(|chosen| self.is_constant(chosen))
            }
            ("const", _) => bits(expression).is_some(),
            ("concat" | "replicate" | "extend" | "extends", _) => {
                expression.children.iter().all(|part| self.is_constant(part))
            }
            _ => false,
        }
    }

    /// The highest values of expressions that follow from a condition. What a function reads may
    /// change unseen.
    pub(super) fn facts(&self, condition: &'a Element, holds: bool) -> Vec<(&'a Element, u128)> {
        let mut has_call = false;
        condition.each(&mut |one| has_call |= one.kind == "funcref");
        if has_call {
            return Vec::new();
        }
        let operand = |at: usize| condition.part(["lhsp", "rhsp"][at], at);
        let (Some(one), two) = (operand(0), operand(1)) else { return Vec::new() };
        let Some(two) = two else {
            let is_not = matches!(&*condition.kind, "not" | "lognot") && self.width(one) == 1;
            return if is_not { self.facts(one, !holds) } else { Vec::new() };
        };
        // `one` is below `two`, or may be equal.
        let below = |one: &'a Element, two: &Element, or_equal: bool| {
            let highest = self.interval_of(two).1.checked_sub(u128::from(!or_equal));
            highest.map(|highest| (one, highest)).into_iter().collect()
        };
        match (&*condition.kind, holds) {
            ("logand", true) | ("logor", false) => {
                [self.facts(one, holds), self.facts(two, holds)].concat()
            }
            ("and", true) | ("or", false) if self.width(condition) == 1 => {
                [self.facts(one, holds), self.facts(two, holds)].concat()
            }
            ("lt", true) | ("gte", false) => below(one, two, false),
            ("lte", true) | ("gt", false) => below(one, two, true),
            ("gt", true) | ("lte", false) => below(two, one, false),
            ("gte", true) | ("lt", false) => below(two, one, true),
            ("eq" | "eqcase", true) | ("neq" | "neqcase", false) => {
                vec![(one, self.interval_of(two).1), (two, self.interval_of(one).1)]
            }
            _ => Vec::new(),
        }
    }

    /// The highest value of an index, with the bits that Verilator cut off. `None` if the tree does
    /// not say.
    pub(super) fn index(&self, index: &Element) -> Option<u128> {
        let operand = |at: usize| index.part(["lhsp", "rhsp"][at], at);
        // Verilator moves a cut into the operands. It then has the place of the operation, and less
        // than the 32 bits of a number.
        let is_moved = |part: &Element| {
            (is_cut(part) || part.kind == "const")
                && part.get("loc") == index.get("loc")
                && self.width(part) < 32
        };
        let has_moved = !is_select(index) && index.children.iter().any(is_moved);
        match &*index.kind {
            "sel" if is_cut(index) && !(self.is_cast)(index) => {
                let (from, low) = (index.part("fromp", 0)?, index.part("lsbp", 1)?);
                let high = self.index(from)?.checked_shr(u32::try_from(self.known(low)?).ok()?)?;
                (high <= mask(self.width(index))).then_some(high)
            }
            "extend" => self.index(index.part("lhsp", 0)?),
            _ if has_moved && self.known(index).is_some() => self.uncut(index),
            // Indices of a vector that counts down from its highest one.
            "sub" if has_moved => {
                let (from, what) = (operand(0)?, operand(1)?);
                let is_plain = from.kind == "const" && !is_moved(what);
                let (from, what) = (self.known(from)?, self.index(what)?);
                (is_plain && what <= from).then_some(from)
            }
            "and" if has_moved => {
                let operands = [operand(0)?, operand(1)?];
                let is_plain = operands.iter().all(|part| part.kind != "const");
                let [one, two] = operands.map(|part| self.index(part));
                is_plain.then_some(one?.min(two?))
            }
            _ if has_moved => None,
            _ => Some(self.interval_of(index).1),
        }
    }

    /// The value of a known expression, in which nothing is cut.
    fn uncut(&self, expression: &Element) -> Option<u128> {
        let operand = |at: usize| self.uncut(expression.part(["lhsp", "rhsp"][at], at)?);
        match &*expression.kind {
            "sel" if is_cut(expression) => {
                let by = self.known(expression.part("lsbp", 1)?)?;
                self.uncut(expression.part("fromp", 0)?)?.checked_shr(u32::try_from(by).ok()?)
            }
            "extend" => operand(0),
            "add" => operand(0)?.checked_add(operand(1)?),
            "sub" => operand(0)?.checked_sub(operand(1)?),
            "mul" | "muls" => operand(0)?.checked_mul(operand(1)?),
            _ => self.known(expression),
        }
    }

    pub(super) fn interval_of(&self, expression: &Element) -> Interval {
        let width = self.width(expression);
        let all = (0, mask(width));
        let (low, high) = if width <= 127 { self.computed(expression, all) } else { all };
        let fact = |fact: &&(&'a Element, u128)| same(fact.0, expression);
        match self.state.facts.iter().filter(fact).map(|fact| fact.1).min() {
            Some(highest) if highest >= low => (low, high.min(highest)),
            _ => (low, high),
        }
    }

    fn computed(&self, expression: &Element, all: Interval) -> Interval {
        let full = all.1;
        let operand = |at: usize| expression.part(["lhsp", "rhsp"][at], at);
        let one = || operand(0).map_or((0, u128::MAX), |part| self.interval_of(part));
        let two = || operand(1).map_or((0, u128::MAX), |part| self.interval_of(part));
        let operand_mask = || operand(0).map_or(u128::MAX, |part| mask(self.width(part)));
        let exact = |f: &dyn Fn(u128, u128) -> Option<u128>| match (one(), two()) {
            ((a, b), (c, d)) if a == b && c == d => {
                f(a, c).map(|value| (value & full, value & full))
            }
            _ => None,
        };
        let within = |low: Option<u128>, high: Option<u128>| match (low, high) {
            (Some(low), Some(high)) if high <= full => Some((low, high)),
            _ => None,
        };
        let truth = |value: Option<bool>| value.map_or((0, 1), |bit| (bit.into(), bit.into()));
        let less = |a: Interval, b: Interval, or_equal: bool| {
            if a.1 < b.0 || or_equal && a.1 <= b.0 {
                Some(true)
            } else if a.0 > b.1 || !or_equal && a.0 >= b.1 {
                Some(false)
            } else {
                None
            }
        };
        // Compared as signed numbers: the sign bit is turned over.
        let signed = |value: Interval| {
            let sign = operand_mask() / 2 + 1;
            let is_one_sign = (value.0 & sign) == (value.1 & sign);
            if is_one_sign { (value.0 ^ sign, value.1 ^ sign) } else { (0, operand_mask()) }
        };
        let equal = || match (one(), two()) {
            ((a, b), (c, d)) if a == b && c == d => Some(a == c),
            (a, b) if a.1 < b.0 || b.1 < a.0 => Some(false),
            _ => None,
        };
        let of_truth = |at: usize| operand(at).and_then(|part| self.truth(part));
        let found = match &*expression.kind {
            "const" => number(expression).map(|value| (value, value)),
            "varref" | "varxref" => (self.variable)(expression)
                .and_then(|id| self.state.values.get(&id))
                .map(|value| (*value & full, *value & full)),
            "add" => exact(&|a, b| Some(a.wrapping_add(b)))
                .or_else(|| within(one().0.checked_add(two().0), one().1.checked_add(two().1))),
            "sub" => exact(&|a, b| Some(a.wrapping_sub(b)))
                .or_else(|| within(one().0.checked_sub(two().1), one().1.checked_sub(two().0))),
            "mul" | "muls" => exact(&|a, b| Some(a.wrapping_mul(b)))
                .or_else(|| within(one().0.checked_mul(two().0), one().1.checked_mul(two().1))),
            "and" => exact(&|a, b| Some(a & b)).or_else(|| Some((0, one().1.min(two().1)))),
            "or" => exact(&|a, b| Some(a | b)),
            "xor" => exact(&|a, b| Some(a ^ b)),
            "not" => Some((full - one().1.min(full), full - one().0.min(full))),
            "negate" => exact(&|a, _| Some(a.wrapping_neg())),
            "lognot" => Some(truth(of_truth(0).map(|bit| !bit))),
            "logand" => Some(truth(match (of_truth(0), of_truth(1)) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) | (_, Some(false)) => Some(false),
                _ => None,
            })),
            "logor" => Some(truth(match (of_truth(0), of_truth(1)) {
                (Some(false), Some(false)) => Some(false),
                (Some(true), _) | (_, Some(true)) => Some(true),
                _ => None,
            })),
            "eq" | "eqcase" => Some(truth(equal())),
            "neq" | "neqcase" => Some(truth(equal().map(|bit| !bit))),
            "lt" => Some(truth(less(one(), two(), false))),
            "lte" => Some(truth(less(one(), two(), true))),
            "gt" => Some(truth(less(two(), one(), false))),
            "gte" => Some(truth(less(two(), one(), true))),
            "lts" => Some(truth(less(signed(one()), signed(two()), false))),
            "ltes" => Some(truth(less(signed(one()), signed(two()), true))),
            "gts" => Some(truth(less(signed(two()), signed(one()), false))),
            "gtes" => Some(truth(less(signed(two()), signed(one()), true))),
            "shiftl" => match two() {
                (by, other) if by == other && by < 64 && one().1 < 1 << 63 => {
                    within(Some(one().0 << by), Some(one().1 << by))
                        .or_else(|| exact(&|a, b| Some(a << b)))
                }
                _ => None,
            },
            "shiftr" => Some(match two() {
                (by, other) if by == other => {
                    let by = u32::try_from(by).unwrap_or(u32::MAX);
                    (one().0.checked_shr(by).unwrap_or(0), one().1.checked_shr(by).unwrap_or(0))
                }
                _ => (0, one().1),
            }),
            "extend" => Some(one()),
            "extends" => match one() {
                (low, high) if high <= operand_mask() / 2 => Some((low, high)),
                (low, high) if low == high => {
                    Some((low | (full & !operand_mask()), low | (full & !operand_mask())))
                }
                _ => None,
            },
            "sel" => self.selected(expression, full),
            "cond" => {
                let part =
                    |role, place| expression.part(role, place).map(|part| self.interval_of(part));
                match expression.part("condp", 0).and_then(|condition| self.truth(condition)) {
                    Some(true) => part("thenp", 1),
                    Some(false) => part("elsep", 2),
                    None => part("thenp", 1)
                        .zip(part("elsep", 2))
                        .map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))),
                }
            }
            "concat" => operand(1).map(|right| self.width(right)).and_then(|by| {
                let by = u32::try_from(by).ok().filter(|by| *by < 127)?;
                Some(((one().0 << by) | two().0, (one().1 << by) | two().1))
            }),
            "div" => match two() {
                (by, other) if by == other && by > 0 => Some((one().0 / by, one().1 / by)),
                _ => None,
            },
            "moddiv" => match two() {
                (by, other) if by == other && by > 0 => {
                    exact(&|a, b| a.checked_rem(b)).or_else(|| Some((0, one().1.min(by - 1))))
                }
                _ => None,
            },
            _ => None,
        };
        found.filter(|(low, high)| low <= high && *high <= full).unwrap_or(all)
    }

    fn selected(&self, select: &Element, full: u128) -> Option<Interval> {
        let from = select.part("fromp", 0)?;
        if self.width(from) > 127 {
            return None;
        }
        let by = u32::try_from(self.known(select.part("lsbp", 1)?)?).ok()?;
        let (low, high) = self.interval_of(from);
        let (low, high) = (low.checked_shr(by)?, high.checked_shr(by)?);
        if high <= full {
            return Some((low, high));
        }
        (low == high).then_some((low & full, low & full))
    }
}

/// Whether an expression selects from a variable: what is in it is an index of its own.
fn is_select(expression: &Element) -> bool {
    matches!(&*expression.kind, "sel" | "arraysel")
}
