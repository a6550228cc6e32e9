//! The operators of expressions: Verilator's names, the signs in Verilog, and the values.

use super::bits::{Bits, add, compare, each, fit, index, is_true, negate, not, ones};
use super::bits::{replace, shift, sign, small};
use std::cmp::Ordering;

#[derive(Debug)]
pub struct Operator {
    pub name: &'static str,
    pub sign: &'static str,
    pub arguments: usize,
    /// The value of the arguments, which have these widths, in the last width.
    pub value: Value,
}

type Value = fn([Bits; 2], [u32; 2], u32) -> Bits;

const fn unary(name: &'static str, sign: &'static str, value: Value) -> Operator {
    Operator { name, sign, arguments: 1, value }
}

const fn binary(name: &'static str, sign: &'static str, value: Value) -> Operator {
    Operator { name, sign, arguments: 2, value }
}

pub const NOT: Operator = unary("not", "~", |[a, _], _, width| not(&a, width));
pub const LOGICAL_NOT: Operator =
    unary("lognot", "!", |[a, _], _, width| flag(!is_true(&a), width));
pub const EXTEND: Operator = unary("extend", "", |[a, _], _, width| fit(a, width));

static OPERATORS: [Operator; 35] = [
    NOT,
    LOGICAL_NOT,
    EXTEND,
    unary("negate", "-", |[a, _], _, width| negate(&a, width)),
    unary("extends", "", |[a, _], [of, _], width| match sign(&a, of) {
        true => replace(&ones(width), width, 0, &a, of),
        false => fit(a, width),
    }),
    unary("redand", "&", |[a, _], [of, _], width| flag(a == ones(of), width)),
    unary("redor", "|", |[a, _], _, width| flag(is_true(&a), width)),
    unary("redxor", "^", |[a, _], _, width| {
        flag(a.iter().map(|limb| limb.count_ones()).sum::<u32>() % 2 == 1, width)
    }),
    binary("and", "&", |[a, b], _, width| each(&a, &b, width, |a, b| a & b)),
    binary("or", "|", |[a, b], _, width| each(&a, &b, width, |a, b| a | b)),
    binary("xor", "^", |[a, b], _, width| each(&a, &b, width, |a, b| a ^ b)),
    binary("xnor", "~^", |[a, b], _, width| each(&a, &b, width, |a, b| !(a ^ b))),
    binary("logand", "&&", |[a, b], _, width| flag(is_true(&a) && is_true(&b), width)),
    binary("logor", "||", |[a, b], _, width| flag(is_true(&a) || is_true(&b), width)),
    binary("lt", "<", |[a, b], _, width| flag(compare(&a, &b).is_lt(), width)),
    binary("lte", "<=", |[a, b], _, width| flag(compare(&a, &b).is_le(), width)),
    binary("gt", ">", |[a, b], _, width| flag(compare(&a, &b).is_gt(), width)),
    binary("gte", ">=", |[a, b], _, width| flag(compare(&a, &b).is_ge(), width)),
    binary("eq", "==", |[a, b], _, width| flag(compare(&a, &b).is_eq(), width)),
    binary("neq", "!=", |[a, b], _, width| flag(compare(&a, &b).is_ne(), width)),
    binary("lts", "<", |[a, b], of, width| flag(signed(&a, &b, of).is_lt(), width)),
    binary("ltes", "<=", |[a, b], of, width| flag(signed(&a, &b, of).is_le(), width)),
    binary("gts", ">", |[a, b], of, width| flag(signed(&a, &b, of).is_gt(), width)),
    binary("gtes", ">=", |[a, b], of, width| flag(signed(&a, &b, of).is_ge(), width)),
    binary("add", "+", |[a, b], _, width| add(&a, &b, width)),
    binary("sub", "-", |[a, b], _, width| add(&a, &negate(&b, width), width)),
    // A design has none of these that is wider than a limb.
    binary("mul", "*", |[a, b], _, width| small(a[0].wrapping_mul(b[0]), width)),
    binary("div", "/", |[a, b], _, width| small(a[0].checked_div(b[0]).unwrap_or(0), width)),
    binary("moddiv", "%", |[a, b], _, width| small(a[0].checked_rem(b[0]).unwrap_or(0), width)),
    binary("sel", "", |[a, low], _, width| shift(&a, -amount(&low), width)),
    binary("shiftl", "<<", |[a, by], _, width| shift(&a, amount(&by), width)),
    binary("shiftr", ">>", |[a, by], _, width| shift(&a, -amount(&by), width)),
    binary("shiftrs", ">>>", |[a, by], [of, _], width| {
        // The inverse of a negative value is not negative.
        let is_negative = sign(&a, of);
        let invert = |value: Bits| if is_negative { not(&value, of) } else { value };
        fit(invert(shift(&invert(a), -amount(&by), of)), width)
    }),
    binary("concat", ",", |[a, b], [_, low], width| {
        each(&shift(&a, low.into(), width), &b, width, |a, b| a | b)
    }),
    binary("replicate", "x", |[a, _], [of, _], width| {
        let lows = (0..width).step_by(of.max(1) as usize);
        lows.fold(small(0, width), |all, low| {
            each(&all, &shift(&a, low.into(), width), width, |all, a| all | a)
        })
    }),
];

pub fn operators(names: &[&str]) -> impl Iterator<Item = &'static Operator> {
    OPERATORS.iter().filter(|it| names.contains(&it.name))
}

fn flag(flag: bool, width: u32) -> Bits {
    small(u64::from(flag), width)
}

fn amount(by: &Bits) -> i64 {
    index(by).and_then(|by| u32::try_from(by).ok()).unwrap_or(u32::MAX).into()
}

/// The sign bit inverted makes the unsigned comparison a signed one.
fn signed(one: &Bits, other: &Bits, [of_one, of_other]: [u32; 2]) -> Ordering {
    let order = |value: &Bits, width: u32| {
        let top = shift(&small(1, width), i64::from(width) - 1, width);
        each(value, &top, width, |limb, top| limb ^ top)
    };
    compare(&order(one, of_one), &order(other, of_other))
}
