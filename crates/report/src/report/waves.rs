//! Draws a failure as a timing diagram: a row for each signal, expected values above the actual
//! ones. Cycles in which the RTL is wrong are marked, and so are the digits that differ.

use super::fields::{Part, literal, split_difference};
use cosim_block::explanation::{Explanation, Signal, SignalKind};
use serde::Serialize;
use std::fmt::Write as _;

const CYCLE: f64 = 76.0;
const ROW: f64 = 30.0;
/// Distance from the top of a row to a high signal, and to a low one.
const LEVELS: [f64; 2] = [6.0, 22.0];
/// Number of characters that fit a cycle.
const CHARACTERS: usize = 9;
/// Width of the labels of the rows.
const SIDE: f64 = 62.0;

/// A timing diagram.
#[derive(Debug, Serialize)]
pub struct Waves {
    width: f64,
    cycles: Vec<Tick>,
    signals: Vec<Rows>,
    /// Signals that never change, as in `rst = 1'h0`, which have no row.
    constant: Vec<String>,
    /// Position of the first wrong cycle.
    first_wrong: f64,
    /// The same in words, for those who do not see the diagram.
    summary: String,
}

#[derive(Debug, Serialize)]
struct Tick {
    x: f64,
    cycle: u64,
    differs: bool,
}

/// The rows of a signal: an input has one, an output two, and a channel one or two.
#[derive(Debug, Serialize)]
struct Rows {
    name: String,
    width: u32,
    height: f64,
    is_channel: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    y: f64,
    /// `input`, `golden`, `rtl` or `items`.
    side: &'static str,
    /// The SVG path of a one-bit signal.
    path: String,
    boxes: Vec<Value>,
    /// Consecutive cycles in which the RTL differs.
    wrong: Vec<Span>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Span {
    x: f64,
    width: f64,
}

/// A value that is constant for some cycles.
#[derive(Debug, Serialize)]
struct Value {
    x: f64,
    width: f64,
    text: Vec<Part>,
    whole: String,
}

/// The diagram of an explanation; `None` if it has no cycles.
pub fn draw_waves(explanation: &Explanation) -> Option<Waves> {
    let cycles = &explanation.cycles;
    if cycles.is_empty() {
        return None;
    }
    let ticks = cycles.iter().enumerate().map(|(place, line)| Tick {
        x: x_of_cycle(place),
        cycle: line.cycle,
        differs: explanation.is_wrong(line),
    });
    let (mut signals, mut constant) = (Vec::new(), Vec::new());
    let golden: Vec<String> = cycles.iter().map(|line| line.golden.clone()).collect();
    let rtl: Option<Vec<String>> = cycles.iter().map(|line| line.rtl.clone()).collect();
    match (golden.iter().all(String::is_empty), &rtl) {
        (false, Some(rtl)) => signals.push(output("state", 0, &golden, rtl)),
        (false, None) => signals.push(single("state", 0, "golden", &golden)),
        (true, Some(rtl)) => signals.push(single("state", 0, "rtl", rtl)),
        (true, None) => {}
    }
    for Signal { port, width, kind, values, actual, wrong } in &explanation.signals {
        // In a single cycle nothing changes.
        let mut all = values.iter().chain(actual.iter().flatten());
        if let Some(first) = all.next().filter(|_| cycles.len() > 1 && wrong.is_none())
            && all.all(|value| value == first)
        {
            constant.push(match first.as_str() {
                "" => format!("{port}: no item"),
                value => format!("{port} = {value}"),
            });
            continue;
        }
        let mut rows = match (kind, actual) {
            (SignalKind::Channel { taken }, Some(items)) => {
                channel(port, values, items, taken, *wrong)
            }
            (_, Some(actual)) => output(port, *width, values, actual),
            (SignalKind::Input, None) => single(port, *width, "input", values),
            (_, None) => single(port, *width, "rtl", values),
        };
        if let (Some(place), Some(row)) = (*wrong, rows.rows.last_mut()) {
            row.wrong = vec![Span { x: x_of_cycle(place), width: CYCLE }];
        }
        signals.push(rows);
    }
    let wrong =
        |signal: &Rows| signal.rows.last().and_then(|row| row.wrong.first()).map(|one| one.x);
    let first_wrong = signals.iter().filter_map(wrong).fold(f64::INFINITY, f64::min);
    let named = signals.iter().filter(|signal| wrong(signal).is_some());
    let named: Vec<String> = named.map(|signal| described(signal, cycles[0].cycle)).collect();
    Some(Waves {
        width: x_of_cycle(cycles.len()) + 2.0,
        cycles: ticks.collect(),
        signals,
        constant,
        first_wrong: if first_wrong.is_finite() { first_wrong } else { 0.0 },
        summary: named.join("; "),
    })
}

/// Which cycles of a signal are wrong, in words.
fn described(signal: &Rows, first_cycle: u64) -> String {
    let spans = signal.rows.iter().flat_map(|row| &row.wrong).map(|span| {
        let begin = first_cycle + ((span.x - SIDE) / CYCLE) as u64;
        match (span.width / CYCLE) as u64 {
            1 => format!("cycle {begin}"),
            count => format!("cycles {begin} to {}", begin + count - 1),
        }
    });
    format!("{} is wrong in {}", signal.name, spans.collect::<Vec<_>>().join(", "))
}

fn single(name: &str, width: u32, side: &'static str, values: &[String]) -> Rows {
    let rows = vec![row(0.0, side, values, values, width == 1)];
    Rows { name: name.to_owned(), width, height: ROW, is_channel: false, rows }
}

/// The items of a channel, below the expected ones if there are any. An item that waits is one box
/// until it is taken.
fn channel(
    name: &str,
    expected: &[String],
    items: &[String],
    taken: &[bool],
    wrong: Option<usize>,
) -> Rows {
    let is_taken = |place: usize| taken.get(place).copied().unwrap_or(false);
    let here = wrong.filter(|place| *place < items.len() && *place < expected.len());
    // The digits differ in the wrong cycle only.
    let other = |of: &[String], than: &[String]| {
        let mut other = of.to_vec();
        if let Some(place) = here {
            other[place] = than[place].clone();
        }
        other
    };
    let mut rows = Vec::new();
    if !expected.is_empty() {
        let boxes = boxes_until(expected, &other(expected, items), |_| false);
        rows.push(Row { y: 0.0, side: "golden", path: String::new(), boxes, wrong: Vec::new() });
    }
    let boxes = match here {
        Some(_) => boxes_until(items, &other(items, expected), is_taken),
        None => boxes_until(items, items, is_taken),
    };
    let y = rows.len() as f64 * ROW;
    rows.push(Row { y, side: "items", path: String::new(), boxes, wrong: Vec::new() });
    Rows { name: name.to_owned(), width: 0, height: y + ROW, is_channel: true, rows }
}

fn output(name: &str, width: u32, expected: &[String], actual: &[String]) -> Rows {
    let is_bit = width == 1;
    let rows = vec![
        row(0.0, "golden", expected, actual, is_bit),
        Row { wrong: differing(expected, actual), ..row(ROW, "rtl", actual, expected, is_bit) },
    ];
    Rows { name: name.to_owned(), width, height: 2.0 * ROW, is_channel: false, rows }
}

fn row(y: f64, side: &'static str, values: &[String], other: &[String], is_bit: bool) -> Row {
    let (path, boxes) = match is_bit {
        true => (square(values), Vec::new()),
        false => (String::new(), boxes(values, other)),
    };
    Row { y, side, path, boxes, wrong: Vec::new() }
}

fn x_of_cycle(place: usize) -> f64 {
    SIDE + place as f64 * CYCLE
}

/// Consecutive cycles with different values.
fn differing(expected: &[String], actual: &[String]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (place, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        if expected == actual {
            continue;
        }
        match spans.last_mut() {
            Some(last) if last.x + last.width == x_of_cycle(place) => last.width += CYCLE,
            _ => spans.push(Span { x: x_of_cycle(place), width: CYCLE }),
        }
    }
    spans
}

/// The path of a one-bit signal, relative to the top of its row.
fn square(values: &[String]) -> String {
    let mut path = String::new();
    let mut before = None;
    for (place, value) in values.iter().enumerate() {
        let level = LEVELS[usize::from(!value.ends_with('1'))];
        let x = x_of_cycle(place);
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

/// Merges equal values of adjacent cycles. `other` is the other side. A box ends where the sides
/// begin or cease to differ, so that the value and its differing digits are visible in wrong
/// cycles.
fn boxes(values: &[String], other: &[String]) -> Vec<Value> {
    boxes_until(values, other, |_| false)
}

/// As [`boxes`], where a box also ends behind each cycle of which `ends` is true. An empty value
/// has no box.
fn boxes_until(values: &[String], other: &[String], ends: impl Fn(usize) -> bool) -> Vec<Value> {
    let differs = |place: usize| values[place] != other[place];
    let mut boxes: Vec<(usize, usize)> = Vec::new();
    for (place, value) in values.iter().enumerate() {
        match boxes.last_mut() {
            Some((first, length))
                if values[*first] == *value
                    && differs(*first) == differs(place)
                    && !ends(place - 1) =>
            {
                *length = place + 1 - *first;
            }
            _ => boxes.push((place, 1)),
        }
    }
    let boxed = |(first, length): (usize, usize)| Value {
        x: x_of_cycle(first),
        width: length as f64 * CYCLE,
        text: visible(&values[first], &other[first], length * CHARACTERS),
        whole: values[first].clone(),
    };
    boxes.into_iter().filter(|(first, _)| !values[*first].is_empty()).map(boxed).collect()
}

/// The part of a value that fits `room` characters, with the characters that differ from `other`.
fn visible(value: &str, other: &str, room: usize) -> Vec<Part> {
    // The name of the row has the width. A value with a meaning is shown by it.
    let short = |value: &str| {
        let digits = literal(value).map_or(value, |(_, digits)| digits);
        let meaning = digits.split_once(" (").and_then(|(_, meaning)| meaning.strip_suffix(')'));
        match meaning {
            Some(meaning) if digits.chars().count() > room => meaning.to_owned(),
            _ => digits.to_owned(),
        }
    };
    let (text, other) = (short(value), short(other));
    let all: Vec<(char, bool)> = split_difference(&text, &other)
        .into_iter()
        .flat_map(|part| part.text.chars().map(|c| (c, part.differs)).collect::<Vec<_>>())
        .collect();
    if all.len() <= room {
        return joined(&all);
    }
    let is_number = literal(value).is_some();
    let difference = all.iter().position(|(_, differs)| *differs);
    // The first difference, with a digit in front of it; else the last digits of a number, which
    // are the most important ones, or the first letters of a word.
    let start = match difference {
        Some(place) => place.saturating_sub(2),
        None if is_number => all.len(),
        _ => 0,
    };
    let inside = room - 2;
    let start = match start + room > all.len() {
        true => all.len() - (room - 1),
        false => start,
    };
    let dots = ('…', false);
    match start {
        0 => joined(&[&all[..room - 1], &[dots]].concat()),
        _ if start + room - 1 == all.len() => joined(&[&[dots], &all[start..]].concat()),
        _ => joined(&[&[dots], &all[start..start + inside], &[dots]].concat()),
    }
}

fn joined(letters: &[(char, bool)]) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for (letter, differs) in letters {
        match all.last_mut() {
            Some(last) if last.differs == *differs => last.text.push(*letter),
            _ => all.push(Part { text: letter.to_string(), differs: *differs }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    fn plain(parts: &[Part]) -> String {
        let mark = |part: &Part| match part.differs {
            true => format!("[{}]", part.text),
            false => part.text.clone(),
        };
        parts.iter().map(mark).collect()
    }

    #[test]
    fn a_bit_is_a_line_that_goes_up_and_down() {
        let path = square(&texts(&["1'h0", "1'h1", "1'h1"]));
        assert_eq!(path, "M62 22H138V6H214H290");
    }

    /// An item that waits is one box, equal items that are taken are two, and the wrong one has its
    /// digits marked in its cycle alone.
    #[test]
    fn a_channel_shows_its_items_and_the_expected_one() {
        let items = texts(&["", "0x7", "0x7", "0x7", "0x2a"]);
        let expected = texts(&["", "", "", "0x2b", "0x2b"]);
        let taken = [false, false, true, true, true];
        let Rows { rows, height, is_channel, .. } =
            channel("pop", &expected, &items, &taken, Some(4));
        let shown = |row: &Row| -> Vec<(f64, f64, String)> {
            let value = |one: &Value| ((one.x - SIDE) / CYCLE, one.width / CYCLE, plain(&one.text));
            row.boxes.iter().map(value).collect()
        };
        let sides: Vec<&str> = rows.iter().map(|row| row.side).collect();
        assert_eq!((sides, height, is_channel), (vec!["golden", "items"], 2.0 * ROW, true));
        let text = |text: &str| text.to_owned();
        assert_eq!(shown(&rows[0]), [(3.0, 1.0, text("0x2b")), (4.0, 1.0, text("0x2[b]"))]);
        assert_eq!(
            shown(&rows[1]),
            [(1.0, 2.0, text("0x7")), (3.0, 1.0, text("0x7")), (4.0, 1.0, text("0x2[a]"))]
        );
        // Without an expectation there is one row.
        let Rows { rows, .. } = channel("push", &[], &items, &taken, Some(4));
        assert_eq!(rows.len(), 1);
    }

    #[test]
    fn a_stuck_signal_is_wrong_in_all_cycles_in_which_the_other_one_moved() {
        let expected = texts(&["8'h1", "8'h2", "8'h3", "8'h1", "8'h4"]);
        let stuck = texts(&["8'h1"; 5]);
        let spans = differing(&expected, &stuck);
        let span = |place: usize, cycles: f64| Span { x: x_of_cycle(place), width: cycles * CYCLE };
        assert_eq!(spans, [span(1, 2.0), span(4, 1.0)]);
        // The value stands in each of them.
        let boxes = boxes(&stuck, &expected);
        let boxes: Vec<(String, f64)> =
            boxes.iter().map(|one| (plain(&one.text), one.width / CYCLE)).collect();
        let pairs = [("1", 1.0), ("[1]", 2.0), ("1", 1.0), ("[1]", 1.0)];
        assert_eq!(boxes, pairs.map(|(text, cycles)| (text.to_owned(), cycles)));
    }

    #[test]
    fn a_long_value_shows_its_last_digits_and_a_long_word_its_first_letters() {
        let values = texts(&["64'h0123456789abcdef", "8'h2a", "8'h2a", "MR_FOR_SEND_s"]);
        let shown = boxes(&values, &values);
        let shown: Vec<(String, f64)> =
            shown.iter().map(|value| (plain(&value.text), value.width)).collect();
        let pairs = [("…89abcdef", 76.0), ("2a", 152.0), ("MR_FOR_S…", 76.0)];
        assert_eq!(shown, pairs.map(|(text, width)| (text.to_owned(), width)));
    }

    #[test]
    fn a_wide_value_shows_the_digits_that_differ() {
        let shown = |value: &str, other: &str| plain(&visible(value, other, CHARACTERS));
        assert_eq!(
            shown("64'h0123456789abcdef", "64'h0123056789abcdef"),
            "…23[4]5678…",
            "in the middle"
        );
        assert_eq!(shown("64'h0123456789abcdef", "64'h1123456789abcdef"), "[0]1234567…");
        assert_eq!(shown("64'h0123456789abcdef", "64'h0123456789abcde0"), "…89abcde[f]");
        assert_eq!(shown("24'h10", "24'h0"), "[1]0");
        assert_eq!(shown("24'h0", "24'h10"), "[0]0");
        assert_eq!(shown("0x4 (RDMA_READ)", "0x0 (SEND)"), "[RDMA_READ]");
    }
}
