//! Values of ports for reports: their fields, and the digits in which two values differ.

use cosim_block::explanation::{Difference, Explanation, Signal};
use cosim_harness::harness::BlockInfo;
use serde::Serialize;
use verilated::Field;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The text.
    pub text: String,
    /// Whether it differs from the other value.
    pub differs: bool,
}

/// A value of a port or of a field in the decisive cycle.
#[derive(Debug, Serialize)]
pub struct FieldRow {
    port: String,
    field: Option<String>,
    /// The bits of the field.
    bits: String,
    expected: Vec<Part>,
    /// The RTL's value of an output.
    actual: Option<Vec<Part>>,
    differs: bool,
}

/// The rows of `differences`, which are what differs in the decisive cycle.
pub fn different(differences: &[Difference], block: Option<&BlockInfo>) -> Vec<FieldRow> {
    let row = |one: &Difference| FieldRow {
        port: one.port.clone(),
        field: one.field.clone(),
        bits: bits(block, &one.port, one.field.as_deref()),
        expected: parts(&one.expected, &one.actual),
        actual: Some(parts(&one.actual, &one.expected)),
        differs: true,
    };
    differences.iter().map(row).collect()
}

/// Every field of the shown ports in the decisive cycle. Zero fields that do not differ are left
/// out.
pub fn decoded(explanation: &Explanation, block: Option<&BlockInfo>) -> Vec<FieldRow> {
    let Some(block) = block else { return Vec::new() };
    let decisive = explanation.cycles.iter().position(|line| Some(line.cycle) == explanation.cycle);
    let Some(cycle) = decisive else { return Vec::new() };
    let mut rows = Vec::new();
    for Signal { port, values, actual, .. } in &explanation.signals {
        let Some(expected) = values.get(cycle) else { continue };
        let actual = actual.as_ref().and_then(|actual| actual.get(cycle));
        for (name, field) in block.fields.get(port.as_str()).copied().unwrap_or_default() {
            let (Some(left), right) = (value(expected, *field), actual.map(|it| value(it, *field)))
            else {
                continue;
            };
            let right = right.flatten();
            let differs = right.is_some_and(|right| right != left);
            if left == 0 && !differs {
                continue;
            }
            let text = |value: u64| match block.answers.meaning(name, value).ok().flatten() {
                Some(meaning) => format!("{value:#x} ({meaning})"),
                None => format!("{value:#x}"),
            };
            let (left, right) = (text(left), right.map(text));
            rows.push(FieldRow {
                port: port.clone(),
                field: Some((*name).to_owned()),
                bits: range(*field),
                expected: parts(&left, right.as_ref().unwrap_or(&left)),
                actual: right.as_ref().map(|right| parts(right, &left)),
                differs,
            });
        }
    }
    rows
}

fn bits(block: Option<&BlockInfo>, port: &str, field: Option<&str>) -> String {
    let (Some(block), Some(name)) = (block, field) else { return String::new() };
    let all = block.fields.get(port).copied().unwrap_or_default();
    let found = all.iter().rev().find(|(known, _)| *known == name);
    found.map_or_else(String::new, |(_, field)| range(*field))
}

fn range(field: Field) -> String {
    let range = field.range();
    match range.len() {
        1 => format!("[{}]", range.start),
        _ => format!("[{}:{}]", range.end - 1, range.start),
    }
}

/// The width and the digits of a Verilog literal like `24'h1f`.
pub fn literal(text: &str) -> Option<(&str, &str)> {
    text.split_once("'h")
}

/// The value of a field of a literal; `None` if the literal has unknown bits.
fn value(text: &str, field: Field) -> Option<u64> {
    let (_, digits) = literal(text)?;
    let digits: Vec<u32> =
        digits.chars().rev().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let bit = |index: u32| {
        u64::from(digits.get(index as usize / 4).copied().unwrap_or(0) >> (index % 4) & 1)
    };
    Some(field.range().rev().fold(0, |value, index| value << 1 | bit(index)))
}

/// Splits a value into what it has in common with another one and what differs. Numbers are
/// aligned at their last digit; words differ as a whole. An item is compared field by field.
pub fn parts(value: &str, other: &str) -> Vec<Part> {
    if value == other {
        return vec![Part { text: value.to_owned(), differs: false }];
    }
    let spaces = |text: &str| text.trim_end().matches(' ').count();
    if value.contains(", ") && spaces(value) > 0 && spaces(value) == spaces(other) {
        let words = value.split_inclusive(' ').zip(other.split_inclusive(' '));
        return words.flat_map(|(value, other)| parts(value, other)).collect();
    }
    let (head, digits) = split(value);
    let (other_head, other_digits) = split(other);
    let whole = || vec![Part { text: value.to_owned(), differs: true }];
    let hexadecimal = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    if head != other_head || !hexadecimal(digits) || !hexadecimal(other_digits) {
        return whole();
    }
    // Shorter numbers get leading zeros, so that both sides show the same digits.
    let length = digits.len().max(other_digits.len());
    let padded = |digits: &str| format!("{digits:0>length$}");
    let mut all = vec![Part { text: head.to_owned(), differs: false }];
    for (digit, opposite) in padded(digits).chars().zip(padded(other_digits).chars()) {
        let differs = opposite != digit;
        match all.last_mut() {
            Some(last) if last.differs == differs => last.text.push(digit),
            _ => all.push(Part { text: digit.to_string(), differs }),
        }
    }
    all.retain(|part| !part.text.is_empty());
    all
}

/// The base of a number, and its digits; an empty base for others.
fn split(text: &str) -> (&str, &str) {
    match (text.find("'h"), text.strip_prefix("0x")) {
        (Some(place), _) => text.split_at(place + 2),
        (None, Some(digits)) => ("0x", digits),
        (None, None) => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(value: &str, other: &str) -> String {
        let mark = |part: Part| match part.differs {
            true => format!("[{}]", part.text),
            false => part.text,
        };
        parts(value, other).into_iter().map(mark).collect()
    }

    #[test]
    fn numbers_differ_in_digits_and_words_as_a_whole() {
        assert_eq!(marked("24'h1f02", "24'h1e02"), "24'h1[f]02");
        assert_eq!(marked("24'h1f02", "24'h2"), "24'h[1f]02");
        assert_eq!(marked("24'h2", "24'h1f02"), "24'h[00]02");
        assert_eq!(marked("0x10", "0x20"), "0x[1]0");
        assert_eq!(marked("IDLE_s", "MR_s"), "[IDLE_s]");
        assert_eq!(marked("0x1 (one)", "0x2 (two)"), "[0x1 (one)]");
        assert_eq!(marked("8'h1", "8'h1"), "8'h1");
        assert_eq!(marked("data 0x1, last 0x0", "data 0x1, last 0x1"), "data 0x1, last 0x[0]");
        // Four-state values have letters that are no digits.
        assert_eq!(marked("8'hxx", "8'h1"), "[8'hxx]");
    }

    #[test]
    fn a_field_is_read_from_a_literal() {
        assert_eq!(value("416'h0000abcd12", Field::new(15, 8)), Some(0xcd));
        assert_eq!(value("416'h12", Field::new(40, 33)), Some(0));
        assert_eq!(value("8'hx1", Field::new(3, 0)), None);
        assert_eq!(range(Field::new(15, 8)), "[15:8]");
        assert_eq!(range(Field::new(3, 3)), "[3]");
    }
}
