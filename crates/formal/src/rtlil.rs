//! Helpers to read RTLIL, the netlist language of Yosys: names, widths, and the error for unknown
//! constructs.

use std::collections::BTreeMap;

/// A construct of a netlist that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

/// A name without the prefix of public names, `\`.
pub fn plain(name: &str) -> &str {
    name.strip_prefix('\\').unwrap_or(name)
}

/// Width of each wire in bits, by module and name.
pub fn widths(netlist: &str) -> BTreeMap<&str, BTreeMap<&str, u32>> {
    let mut all: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    let mut module = "";
    for line in netlist.lines() {
        if let Some(name) = line.strip_prefix("module ") {
            module = plain(name);
        } else if let Some(wire) = line.strip_prefix("  wire ") {
            let words: Vec<&str> = wire.split(' ').collect();
            let number = |at: usize| words.get(at + 1).and_then(|word| word.parse().ok());
            let width = words.iter().position(|word| *word == "width").and_then(number);
            if let Some(name) = words.last() {
                all.entry(module).or_default().insert(name, width.unwrap_or(1));
            }
        }
    }
    all
}

/// Width in bits of a signal: a name, a slice, a constant, or a concatenation in braces.
pub fn width(signal: &str, wires: Option<&BTreeMap<&str, u32>>) -> Option<u32> {
    let mut words = signal.split_whitespace().peekable();
    let mut total = 0;
    while let Some(word) = words.next() {
        let mut part = match word {
            "{" | "}" => continue,
            _ => match word.split_once('\'') {
                Some((bits, _)) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    bits.parse().ok()?
                }
                // Yosys writes 32-bit integers without a width.
                _ if word.parse::<i32>().is_ok() => 32,
                _ => *wires?.get(word)?,
            },
        };
        while let Some(range) = words.peek().and_then(|word| word.strip_prefix('[')) {
            part = match range.trim_end_matches(']').split_once(':') {
                Some((high, low)) => {
                    high.parse::<u32>().ok()?.checked_sub(low.parse().ok()?)?.checked_add(1)?
                }
                None => 1,
            };
            words.next();
        }
        total += part;
    }
    Some(total)
}
