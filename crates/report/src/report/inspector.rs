//! The waves of a failure and the RTL, for a part of the page in which one can look around: all
//! signals, expected values beside those of the RTL, and source lines with their values.
//!
//! The page is one file that needs no network, so the waves are in it, as changes. What is too
//! large stays in the files of the run.

use super::page::Json;
use cosim_block::explanation::{self, CycleLine, Explanation, SignalKind};
use cosim_formats::run::{Group, RtlCopy};
use cosim_harness::harness::Violation;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::thread;
use wellen::simple::{Waveform, read_from_reader};

/// Failures whose waves are in the page.
pub const MOST: usize = 3;
/// Limits for a file of waves, and for what the page has of it and of the RTL, in bytes.
const LARGEST_FILE: u64 = 1 << 20;
const LARGEST_WAVES: usize = 500_000;
const LARGEST_RTL: usize = 600_000;
/// Signals, and cycles before the end, that are kept.
const MOST_SIGNALS: usize = 4_000;
const MOST_CYCLES: u64 = 256;
/// The thread that reads waves. A panic of it says nothing: the page has no waves then.
pub const READER: &str = "reader of waves";
/// The scope of the RTL and the golden model in the waves.
const TOP: &str = "TOP.cosim_top.";
/// Text signals of the golden model: state and rule.
const TEXTS: [&str; 2] = ["state", "rule"];

#[derive(Debug, Serialize)]
struct Waves<'a> {
    first: u64,
    cycles: u64,
    /// The cycle of the failure.
    at: u64,
    /// The outputs that differ from those of the golden model.
    differ: Vec<String>,
    /// The pins of the port or channel whose check failed, and the signal that is wrong in `at`.
    pins: &'a [String],
    wrong: Option<String>,
    /// The outputs whose drivers are of interest, the first one most.
    outputs: Vec<String>,
    /// Suspicious lines: file and line.
    suspects: Vec<(String, u32)>,
    signals: Vec<Signal>,
}

#[derive(Debug, Serialize)]
struct Signal {
    /// `dut`, or `dut.INSTANCE`, or `golden`, or `items`.
    scope: String,
    name: String,
    /// Its bits; 0 of a text.
    width: u32,
    /// The cycles, from the first one, in which it changes, and the new values: hexadecimal digits.
    changes: Vec<(u64, String)>,
}

/// The waves of a failure for the page, if it has some of a size that fits.
pub fn waves(folder: &Path, group: &Group, explanation: &Explanation) -> Option<Json> {
    let mut bytes = Vec::new();
    let file = group.waves.as_ref()?.open(folder).ok()?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST_FILE {
        return None;
    }
    let (first, cycles, mut signals) = read(bytes)?;
    // A block whose outputs are all transactions has no golden model with a state.
    let has = |text: &str| match text {
        "state" => explanation.cycles.iter().any(|line| !line.golden.is_empty()),
        _ => explanation.cycles.iter().any(|line| !line.rules.is_empty()),
    };
    signals.retain(|it| it.scope != "golden" || it.width > 0 || has(&it.name));
    signals.extend(items(explanation, first));
    let failed = group.first.verdict.violation();
    let mut differ: Vec<String> =
        explanation.differences.iter().map(|difference| difference.port.clone()).collect();
    differ.dedup();
    differ.retain(|_| failed.is_none());
    let mut outputs: Vec<String> = differ.iter().chain(&explanation.pins).cloned().collect();
    let inputs = explanation.signals.iter().filter(|it| it.kind == SignalKind::Input);
    let inputs: Vec<&String> = inputs.map(|input| &input.port).collect();
    outputs.retain(|pin| !inputs.contains(&pin));
    // The payload is behind the handshake.
    if let Some(Violation { actual: Some(_), expected: Some(_), .. }) = failed {
        outputs.reverse();
    }
    let suspects = group.suspects.iter().map(|suspect| (suspect.file.clone(), suspect.line));
    let waves = Waves {
        first,
        cycles,
        at: explanation.cycle.unwrap_or(first + cycles.saturating_sub(1)),
        differ,
        pins: &explanation.pins,
        wrong: failed.map(|violation| violation.subject.clone()),
        outputs,
        suspects: suspects.collect(),
        signals,
    };
    let size: usize =
        waves.signals.iter().flat_map(|it| &it.changes).map(|it| it.1.len() + 8).sum();
    (size <= LARGEST_WAVES).then(|| Json::serialize(&waves))
}

/// The items of the channel whose check failed: those that the scoreboard expects, and those that
/// came.
fn items(explanation: &Explanation, first: u64) -> Vec<Signal> {
    let is_of = |one: &&explanation::Signal| one.wrong.is_some() || !one.values.is_empty();
    let channels = explanation.signals.iter().filter(|one| one.width == 0).filter(is_of);
    let sides = channels.flat_map(|one| {
        let came = one.actual.iter().map(|actual| (one.port.clone(), actual));
        [(format!("{}, expected", one.port), &one.values)].into_iter().chain(came)
    });
    let signal = |(name, values): (String, &Vec<String>)| {
        let cycles = explanation.cycles.iter().zip(values);
        let change = |(line, value): (&CycleLine, &String)| {
            Some((line.cycle.checked_sub(first)?, value.clone()))
        };
        Signal {
            scope: "items".to_owned(),
            name,
            width: 0,
            changes: cycles.filter_map(change).collect(),
        }
    };
    sides.map(signal).filter(|signal| !signal.changes.is_empty()).collect()
}

/// What a file of waves has. A model wrote it, so it may hold anything, and the reader may panic.
fn read(bytes: Vec<u8>) -> Option<(u64, u64, Vec<Signal>)> {
    let read = || Some(of_wave(read_from_reader(Cursor::new(bytes)).ok()?));
    thread::Builder::new().name(READER.to_owned()).spawn(read).ok()?.join().ok()?
}

/// The first cycle of a waveform, their number, and the signals of both sides.
fn of_wave(mut wave: Waveform) -> (u64, u64, Vec<Signal>) {
    let times = wave.time_table().to_vec();
    // A cycle has two ticks; values are those of its second one.
    let end = times.last().map_or(0, |last| last / 2 + 1);
    let first = times.first().map_or(0, |first| first / 2).max(end.saturating_sub(MOST_CYCLES));
    let hierarchy = wave.hierarchy();
    let mut found = Vec::new();
    for variable in hierarchy.all_vars().take(MOST_SIGNALS) {
        let variable = &hierarchy[variable];
        let path = variable.full_name(hierarchy);
        let Some((scope, name)) = path.strip_prefix(TOP).and_then(|path| path.rsplit_once('.'))
        else {
            continue;
        };
        let is_text = scope == "golden" && TEXTS.contains(&name);
        let width = if is_text { Some(0) } else { variable.length(hierarchy) };
        let Some(width) = width else { continue };
        let name = name.split(['[', ' ']).next().unwrap_or(name);
        found.push((scope.to_owned(), name.to_owned(), width, variable.signal_ref()));
    }
    let references: Vec<_> = found.iter().map(|it| it.3).collect();
    wave.load_signals(&references);
    let mut signals: BTreeMap<(String, String), Signal> = BTreeMap::new();
    for (scope, name, width, reference) in found {
        let Some(signal) = wave.get_signal(reference) else { continue };
        let mut changes: Vec<(u64, String)> = Vec::new();
        for (time, value) in signal.iter_changes() {
            let cycle = (times[time as usize] / 2).saturating_sub(first);
            let value = digits(&value.to_string(), width);
            // Only the last value of a cycle counts.
            if changes.last().is_some_and(|(last, _)| *last == cycle) {
                changes.pop();
            }
            if changes.last().is_none_or(|(_, last)| *last != value) {
                changes.push((cycle, value));
            }
        }
        let key = (scope.clone(), name.clone());
        signals.insert(key, Signal { scope, name, width, changes });
    }
    (first, end - first, signals.into_values().collect())
}

/// The digits of a value in binary; the letters of a text.
fn digits(bits: &str, width: u32) -> String {
    let group = if width == 0 { 8 } else { 4 };
    let bits = format!("{bits:0>size$}", size = bits.len().next_multiple_of(group));
    let parts = (0..bits.len()).step_by(group).map(|at| &bits[at..at + group]);
    let letter = |part: &str| match (u32::from_str_radix(part, 2), width) {
        (Ok(0), 0) => None,
        (Ok(value), 0) => char::from_u32(value),
        (Ok(value), _) => char::from_digit(value, 16),
        (Err(_), _) => Some(if part.contains(['z', 'Z']) { 'z' } else { 'x' }),
    };
    parts.filter_map(letter).collect()
}

/// The files of the RTL, if the run directory has them and they fit.
pub fn rtl(folder: &Path) -> Option<Json> {
    let copy = RtlCopy::read(folder).ok()??;
    let texts: BTreeMap<&str, &str> = copy.texts().collect();
    let size: usize = texts.values().map(|text| text.len()).sum();
    (size <= LARGEST_RTL).then(|| Json::serialize(&texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hexadecimal_and_texts_are_read() {
        assert_eq!(digits("1", 1), "1");
        assert_eq!(digits("101011", 6), "2b");
        assert_eq!(digits("1x10", 4), "x");
        assert_eq!(digits(&format!("{:016}{:08b}{:08b}", 0, b'R', b'1'), 0), "R1");
    }

    /// Does a file that is no waveform, or a broken one, give no waves and no panic?
    #[test]
    fn broken_waves_are_left_out() {
        for bytes in [&b""[..], b"\0\0\0", b"$date today $end", &[0xfe; 4096]] {
            assert!(read(bytes.to_vec()).is_none_or(|it| it.2.is_empty()));
        }
    }
}
