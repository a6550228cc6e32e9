//! Draws a failure as a timing diagram: a row for each signal, expected values above the actual
//! ones.

use cosim_regress::engine::{Explanation, Signal};
use serde::Serialize;
use std::fmt::Write as _;

/// Width of a cycle.
const CYCLE: f64 = 76.0;
/// Height of a row.
const ROW: f64 = 30.0;
/// Distance from the top of a row to a high signal, and to a low one.
const LEVELS: [f64; 2] = [6.0, 22.0];
/// Number of characters that fit a cycle.
const CHARACTERS: usize = 9;
/// Width of the column of names.
const NAMES: f64 = 250.0;

/// A timing diagram.
#[derive(Debug, Serialize)]
pub struct Waves {
    width: f64,
    height: f64,
    names: f64,
    cycle_width: f64,
    cycles: Vec<Tick>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Tick {
    x: f64,
    cycle: u64,
    differs: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    y: f64,
    name: String,
    /// `input`, `golden` or `rtl`.
    side: &'static str,
    /// The SVG path of a one-bit signal.
    path: String,
    boxes: Vec<Value>,
    /// Positions of cycles in which the RTL differs.
    wrong: Vec<f64>,
}

/// A value that is constant for some cycles.
#[derive(Debug, Serialize)]
struct Value {
    x: f64,
    width: f64,
    text: String,
    whole: String,
}

/// The diagram of an explanation; `None` if it has no cycles.
pub fn of(explanation: &Explanation) -> Option<Waves> {
    let cycles = &explanation.cycles;
    if cycles.is_empty() {
        return None;
    }
    let ticks = cycles.iter().enumerate().map(|(place, line)| Tick {
        x: at(place),
        cycle: line.cycle,
        differs: !line.differing.is_empty(),
    });
    let mut rows = Vec::new();
    let mut add = |name: &str, side, values: &[String], is_bit: bool, wrong: Vec<f64>| {
        let y = ROW * (rows.len() as f64 + 1.0);
        let path = if is_bit { square(values) } else { String::new() };
        let boxes = if is_bit { Vec::new() } else { boxes(values) };
        rows.push(Row { y, name: name.to_owned(), side, path, boxes, wrong });
    };
    let golden: Vec<String> = cycles.iter().map(|line| line.golden.clone()).collect();
    let rtl: Option<Vec<String>> = cycles.iter().map(|line| line.rtl.clone()).collect();
    add("state", "golden", &golden, false, Vec::new());
    if let Some(rtl) = rtl {
        let wrong = differing(&golden, &rtl);
        add("state", "rtl", &rtl, false, wrong);
    }
    for Signal { port, width, values, actual } in &explanation.signals {
        let is_bit = *width == 1;
        match actual {
            None => add(port, "input", values, is_bit, Vec::new()),
            Some(actual) => {
                add(port, "golden", values, is_bit, Vec::new());
                add(port, "rtl", actual, is_bit, differing(values, actual));
            }
        }
    }
    Some(Waves {
        width: at(cycles.len()),
        height: ROW * (rows.len() as f64 + 1.0),
        names: NAMES,
        cycle_width: CYCLE,
        cycles: ticks.collect(),
        rows,
    })
}

/// The x coordinate at which a cycle begins.
fn at(place: usize) -> f64 {
    NAMES + place as f64 * CYCLE
}

fn differing(expected: &[String], actual: &[String]) -> Vec<f64> {
    let pairs = expected.iter().zip(actual).enumerate();
    pairs.filter(|(_, (expected, actual))| expected != actual).map(|(place, _)| at(place)).collect()
}

/// The path of a one-bit signal, relative to the top of its row.
fn square(values: &[String]) -> String {
    let mut path = String::new();
    let mut before = None;
    for (place, value) in values.iter().enumerate() {
        let level = LEVELS[usize::from(!value.ends_with('1'))];
        let x = at(place);
        let _ = match before {
            None => write!(path, "M{x} {level}"),
            Some(before) if before != level => write!(path, "V{level}"),
            Some(_) => Ok(()),
        };
        let _ = write!(path, "H{}", x + CYCLE);
        before = Some(level);
    }
    path
}

/// Merges equal values of adjacent cycles.
fn boxes(values: &[String]) -> Vec<Value> {
    let mut boxes: Vec<Value> = Vec::new();
    for (place, value) in values.iter().enumerate() {
        match boxes.last_mut() {
            Some(last) if last.whole == *value => last.width += CYCLE,
            _ => boxes.push(Value {
                x: at(place),
                width: CYCLE,
                text: String::new(),
                whole: value.clone(),
            }),
        }
    }
    for value in &mut boxes {
        let room = (value.width / CYCLE) as usize * CHARACTERS;
        // The row's name has the width. The last digits of a number are the most important ones.
        let digits =
            value.whole.split_once("'h").map_or(value.whole.as_str(), |(_, digits)| digits);
        let length = digits.chars().count();
        value.text = match length {
            length if length <= room => digits.to_owned(),
            _ if digits.len() == value.whole.len() => {
                digits.chars().take(room - 1).chain(['…']).collect()
            }
            length => ['…'].into_iter().chain(digits.chars().skip(length - room + 1)).collect(),
        };
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn a_bit_is_a_line_that_goes_up_and_down() {
        let path = square(&texts(&["1'h0", "1'h1", "1'h1"]));
        assert_eq!(path, "M250 22H326V6H402H478");
    }

    #[test]
    fn a_long_value_shows_its_last_digits_and_a_long_word_its_first_letters() {
        let shown = boxes(&texts(&["64'h0123456789abcdef", "8'h2a", "8'h2a", "MR_FOR_SEND_s"]));
        let shown: Vec<(&str, f64)> =
            shown.iter().map(|value| (value.text.as_str(), value.width)).collect();
        assert_eq!(shown, [("…89abcdef", 76.0), ("2a", 152.0), ("MR_FOR_S…", 76.0)]);
    }
}
