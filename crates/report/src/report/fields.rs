//! Values of ports for reports: their fields, and the digits in which two values differ.

use cosim_block::explanation::Difference;
use cosim_harness::harness::BlockInfo;
use serde::Serialize;
use verilated::Field;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    pub text: String,
    pub differs: bool,
}

/// A value of a port or of a field in the decisive cycle.
#[derive(Debug, Serialize)]
pub struct FieldRow {
    port: String,
    field: Option<String>,
    bits: String,
    expected: Vec<Part>,
    actual: Vec<Part>,
}

/// The rows of `differences`, which are what differs in the decisive cycle.
pub fn different(differences: &[Difference], block: Option<&BlockInfo>) -> Vec<FieldRow> {
    let row = |one: &Difference| FieldRow {
        port: one.port.clone(),
        field: one.field.clone(),
        bits: bits(block, &one.port, one.field.as_deref()),
        expected: split_difference(&one.expected, &one.actual),
        actual: split_difference(&one.actual, &one.expected),
    };
    differences.iter().map(row).collect()
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

/// Splits a value into what it has in common with another one and what differs. Numbers are
/// aligned at their last digit; words differ as a whole. An item is compared field by field.
pub fn split_difference(value: &str, other: &str) -> Vec<Part> {
    if value == other {
        return vec![Part { text: value.to_owned(), differs: false }];
    }
    let spaces = |text: &str| text.trim_end().matches(' ').count();
    if value.contains(", ") && spaces(value) > 0 && spaces(value) == spaces(other) {
        let words = value.split_inclusive(' ').zip(other.split_inclusive(' '));
        return words.flat_map(|(value, other)| split_difference(value, other)).collect();
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
        split_difference(value, other).into_iter().map(mark).collect()
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
}
