//! Explains a failure: one sentence, decoded values, and the surrounding cycles.

use super::replay;
use crate::explanation::{CycleLine, Difference, Explanation, InputLine, PortValue, Signal, Step};
use crate::observe::Record;
use cosim_base::error::Error;
use cosim_harness::harness::{
    Drive, Explain, Golden, Outcome, Parameters, Profile, Recording, Signature, Stimulus, Verdict,
    Watch, before_reset_in_words, environment_at,
};
use std::collections::{BTreeSet, VecDeque};
use verilated::{Field, ModelKind, Pins, Port};
use zerocopy::IntoBytes;

/// Cycles shown before the end.
const BEFORE: u64 = 8;
/// Cycles shown after the end.
const AFTER: u64 = 2;
/// Maximum number of differing ports shown over time.
const MOST_DIFFERING: usize = 8;
/// Up to this number of raw cycles, all inputs are shown, otherwise only those of the cycles before
/// the end.
const RAW_CYCLES: u64 = 32;

/// Explains the outcome of a four-state simulation, from the golden model's side of the case.
pub fn explain_four<B: Explain>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    outcome: &Outcome,
) -> Explanation {
    let parameters = &profile.parameters;
    let decisive = decisive_cycle(outcome);
    let recording = Recording::new(stimulus, parameters);
    let records = golden_records(&recording, parameters, decisive.unwrap_or(outcome.cycles));
    let place = records.iter().position(|record| Some(record.cycle) == decisive);
    let here = place.and_then(|place| records.get(place));
    let next = place.and_then(|place| records.get(place + 1));
    let differences = match &outcome.verdict {
        Verdict::Mismatch(mismatch) | Verdict::Unknown(mismatch) => vec![Difference {
            port: mismatch.port.clone(),
            field: None,
            expected: mismatch.expected.clone(),
            actual: mismatch.actual.clone(),
        }],
        _ => Vec::new(),
    };
    let line = |record: &Record<B>| {
        let differing = differences.iter().filter(|_| Some(record.cycle) == decisive);
        let differing = differing.map(|difference| difference.port.clone()).collect();
        CycleLine { rtl: None, differing, ..cycle_line(record) }
    };
    Explanation {
        sentence: sentence::<B>(outcome, None),
        golden: here.map(|here| golden_step(here, next)),
        in_flight: in_flight(stimulus, parameters, decisive),
        inputs: match &stimulus.drive {
            Drive::Traffic(_) => Vec::new(),
            Drive::Cycles(cycles) => raw_inputs::<B>(cycles, decisive),
        },
        cycles: records.iter().map(line).collect(),
        differences,
        ..Explanation::lost(profile, &outcome.verdict)
    }
}

/// The golden model's records of the cycles around `around`.
fn golden_records<B: Explain>(
    recording: &Recording<'_, B>,
    parameters: &Parameters,
    around: u64,
) -> VecDeque<Record<B>> {
    let mut golden = B::Golden::new(parameters);
    let mut records = VecDeque::new();
    let cycles = recording.inputs().iter().zip(recording.expected()).zip(0..);
    for ((inputs, expected), cycle) in cycles.take_while(|(_, cycle)| *cycle <= around + AFTER) {
        let state = golden.state();
        let rules = golden.edge(inputs);
        if cycle + BEFORE >= around {
            let rules: Vec<&str> = rules.iter().map(|rule| B::Golden::RULES[rule].name).collect();
            let rules = rules.join("+");
            let (inputs, expected, actual) = (*inputs, *expected, *expected);
            records.push_back(Record {
                cycle,
                inputs,
                expected,
                actual,
                state,
                rules,
                rtl_state: 0,
            });
        }
    }
    records
}

/// The golden model's step in a cycle.
fn golden_step<B: Explain>(here: &Record<B>, next: Option<&Record<B>>) -> Step {
    Step {
        from: here.state.to_owned(),
        to: next.map(|next| next.state.to_owned()),
        rules: here.rules.split('+').filter(|rule| !rule.is_empty()).map(rule::<B>).collect(),
    }
}

/// Explains the outcome of a stimulus.
pub fn explain<B: Explain>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    observed: &ModelKind<B::Inputs, B::Outputs>,
    watch: &Watch,
) -> Result<Explanation, Error> {
    let outcome = replay::replay(stimulus, profile, kind, watch)?;
    let records = replay::record(stimulus, profile, observed, &outcome, [BEFORE, AFTER], watch)?;
    let judgement = match outcome.verdict.is_failure() {
        true => Some(replay::judge(stimulus, profile, kind, watch)?),
        false => None,
    };
    // The golden model of a block whose outputs are all transactions predicts nothing.
    let has_golden = B::TRANSACTION_OUTPUTS.len() < B::Outputs::PORTS.len();
    let decisive = decisive_cycle(&outcome);
    let place = records.iter().position(|record| Some(record.cycle) == decisive);
    let here = place.and_then(|place| records.get(place));
    let next = place.and_then(|place| records.get(place + 1));
    Ok(Explanation {
        fixes: profile.name.to_string(),
        sentence: sentence::<B>(&outcome, here),
        signature: Signature::of(&outcome.verdict).map(|signature| signature.to_string()),
        judgement,
        differences: here.map(differences).unwrap_or_default(),
        golden: here.filter(|_| has_golden).map(|here| golden_step(here, next)),
        rtl: here.and_then(|here| rtl_step(here, next, &profile.parameters)),
        in_flight: in_flight(stimulus, &profile.parameters, decisive),
        inputs: match &stimulus.drive {
            Drive::Traffic(_) => Vec::new(),
            Drive::Cycles(cycles) => raw_inputs::<B>(cycles, decisive),
        },
        cycles: records.iter().map(cycle_line).collect(),
        signals: here.map_or_else(Vec::new, |here| signals(here, &records)),
    })
}

/// The ports that differ in the decisive cycle, each after the handshake of its channel.
fn signals<B: Explain>(here: &Record<B>, records: &VecDeque<Record<B>>) -> Vec<Signal> {
    let mut chosen: Vec<&'static Port> = Vec::new();
    let all = || B::Inputs::PORTS.iter().chain(B::Outputs::PORTS);
    let channels: Vec<&str> = all().filter_map(|port| B::NAMING.channel(port.name)).collect();
    for port in differing(here).take(MOST_DIFFERING) {
        let of = |channel: &&&str| B::NAMING.is_of(port.name, channel);
        if let Some(channel) = channels.iter().find(of) {
            let is_handshake = |other: &&Port| {
                B::NAMING.channel(other.name) == Some(channel)
                    || B::NAMING.is_ready_of(other.name, channel)
            };
            chosen.extend(all().filter(is_handshake));
        }
        chosen.push(port);
    }
    let mut shown_signals: Vec<Signal> = Vec::new();
    for port in chosen {
        if shown_signals.iter().any(|signal| signal.port == port.name) {
            continue;
        }
        let is_output = B::Outputs::PORTS.iter().any(|output| output.name == port.name);
        // The differing fields of a port are more useful than its whole value.
        let (expected, actual) = (here.expected.as_bytes(), here.actual.as_bytes());
        let fields = B::fields(port.name).iter().filter(|(_, field)| {
            is_output && port.field(expected, *field) != port.field(actual, *field)
        });
        for (name, field) in fields {
            let values = |of: fn(&Record<B>) -> &[u8]| {
                let value = |record| shown::<B>(name, port.field(of(record), *field));
                records.iter().map(value).collect::<Vec<_>>()
            };
            shown_signals.push(Signal {
                port: format!("{}.{name}", port.name),
                width: field.range().len() as u32,
                values: values(|record| record.expected.as_bytes()),
                actual: Some(values(|record| record.actual.as_bytes())),
            });
        }
        let values = |of: fn(&Record<B>) -> &[u8]| {
            records.iter().map(|record| whole::<B>(port, of(record))).collect::<Vec<_>>()
        };
        shown_signals.push(Signal {
            port: port.name.to_owned(),
            width: port.width,
            values: match is_output {
                true => values(|record| record.expected.as_bytes()),
                false => values(|record| record.inputs.as_bytes()),
            },
            actual: is_output.then(|| values(|record| record.actual.as_bytes())),
        });
    }
    shown_signals
}

/// Descriptions of the stimulus in flight in a cycle.
fn in_flight<B: Explain>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    cycle: Option<u64>,
) -> Vec<String> {
    let mut lines = match &stimulus.drive {
        Drive::Traffic(traffic) => {
            let environment = environment_at::<B>(traffic, parameters, cycle.unwrap_or(u64::MAX));
            B::in_flight(&environment)
        }
        Drive::Cycles(cycles) => {
            vec![format!("unconstrained random stimulus, {} cycles", cycles.len())]
        }
    };
    lines.extend(before_reset_in_words(stimulus.before_reset).map(Into::into));
    lines
}

fn decisive_cycle(outcome: &Outcome) -> Option<u64> {
    match &outcome.verdict {
        Verdict::Mismatch(mismatch) | Verdict::Unknown(mismatch) => Some(mismatch.cycle),
        Verdict::CheckFailed { cycle, .. } => Some(*cycle),
        Verdict::Hang { cycle, .. } | Verdict::Crashed { cycle, .. } => *cycle,
        Verdict::Match | Verdict::NoGoldenModel | Verdict::Cancelled => None,
    }
}

fn sentence<B: Explain>(outcome: &Outcome, here: Option<&Record<B>>) -> String {
    let (Verdict::Mismatch(mismatch) | Verdict::Unknown(mismatch)) = &outcome.verdict else {
        return match &outcome.verdict {
            Verdict::Match => format!("Everything matched in {} cycles.", outcome.cycles),
            other => format!("The case failed: {other}."),
        };
    };
    let first = here.and_then(|here| differences(here).into_iter().next());
    let (what, expected, actual) = match first {
        Some(Difference { port, field: Some(field), expected, actual }) => {
            (format!("{field} of {port}"), expected, actual)
        }
        Some(Difference { port, field: None, expected, actual }) => (port, expected, actual),
        None => (mismatch.port.clone(), mismatch.expected.clone(), mismatch.actual.clone()),
    };
    format!(
        "In cycle {}, in {}, the RTL drives {what} with {actual}; the golden model expects \
         {expected}.",
        mismatch.cycle, mismatch.state
    )
}

fn rule<B: Explain>(name: &str) -> String {
    let meaning =
        B::Golden::RULES.iter().find(|rule| rule.name == name).map_or("", |rule| rule.meaning);
    format!("{name}: {meaning}")
}

fn rtl_step<B: Explain>(
    here: &Record<B>,
    next: Option<&Record<B>>,
    parameters: &Parameters,
) -> Option<Step> {
    B::STATE_REGISTER?;
    let from = state::<B>(here.rtl_state);
    let to = next.map(|next| state::<B>(next.rtl_state));
    let mut rules = to.as_ref().map_or(Vec::new(), |to| B::rules_between(&from, to));
    rules.retain(|name| {
        let index = B::Golden::RULES.iter().position(|rule| rule.name == *name);
        index.is_some_and(|index| B::Golden::unreachable(index, parameters).is_none())
    });
    Some(Step { from, to, rules: rules.into_iter().map(rule::<B>).collect() })
}

fn state<B: Explain>(code: u64) -> String {
    B::state_name(code).map_or_else(|| format!("undefined ({code:#x})"), str::to_owned)
}

/// Every differing port, by field if it has named fields.
fn differences<B: Explain>(record: &Record<B>) -> Vec<Difference> {
    let (expected, actual) = (record.expected.as_bytes(), record.actual.as_bytes());
    let mut found = Vec::new();
    for port in differing(record) {
        let before = found.len();
        for (name, field) in B::fields(port.name) {
            let value = |bytes| port.field(bytes, *field);
            let (left, right) = (value(expected), value(actual));
            if left != right {
                found.push(Difference {
                    port: port.name.to_owned(),
                    field: Some((*name).to_owned()),
                    expected: shown::<B>(name, left),
                    actual: shown::<B>(name, right),
                });
            }
        }
        // The difference may lie outside of the named fields.
        if found.len() == before {
            found.push(Difference {
                port: port.name.to_owned(),
                field: None,
                expected: whole::<B>(port, expected),
                actual: whole::<B>(port, actual),
            });
        }
    }
    found
}

/// A field's value and its meaning.
fn shown<B: Explain>(field: &str, value: u64) -> String {
    match B::meaning(field, value) {
        Some(meaning) => format!("{value:#x} ({meaning})"),
        None => format!("{value:#x}"),
    }
}

/// A port's value and its meaning.
fn whole<B: Explain>(port: &Port, bytes: &[u8]) -> String {
    let text = port.show(bytes);
    let value = (port.width <= 64).then(|| port.field(bytes, Field::new(port.width - 1, 0)));
    match value.and_then(|value| B::meaning(port.name, value)) {
        Some(meaning) => format!("{text} ({meaning})"),
        None => text,
    }
}

/// The raw inputs up to the decisive cycle, with equal cycles in one line.
fn raw_inputs<B: Explain>(cycles: &[B::Inputs], decisive: Option<u64>) -> Vec<InputLine> {
    // Cycle 0 is the harness's own cycle in reset.
    let end = decisive.unwrap_or(u64::MAX).min(cycles.len() as u64);
    let begin = if end <= RAW_CYCLES { 1 } else { end - BEFORE };
    let mut lines: Vec<InputLine> = Vec::new();
    for cycle in begin..=end {
        let (high, values) = inputs_above_zero::<B>(&cycles[cycle as usize - 1]);
        match lines.last_mut() {
            Some(line) if line.high == high && line.values == values => line.last_cycle = cycle,
            _ => lines.push(InputLine { cycle, last_cycle: cycle, high, values }),
        }
    }
    lines
}

fn inputs_above_zero<B: Explain>(inputs: &B::Inputs) -> (Vec<String>, Vec<PortValue>) {
    let bytes = inputs.as_bytes();
    let is_set = |port: &&Port| port.bytes(bytes).iter().any(|byte| *byte != 0);
    let (single, wide): (Vec<&Port>, Vec<&Port>) =
        B::Inputs::PORTS.iter().filter(is_set).partition(|port| port.width == 1);
    let field = |port: &Port, (name, field): &(&'static str, Field)| {
        let value = port.field(bytes, *field);
        (value != 0).then(|| ((*name).to_owned(), shown::<B>(name, value)))
    };
    let value = |port: &Port| PortValue {
        port: port.name.to_owned(),
        value: whole::<B>(port, bytes),
        fields: B::fields(port.name).iter().filter_map(|named| field(port, named)).collect(),
    };
    let high = single.into_iter().map(|port| port.name.to_owned()).collect();
    (high, wide.into_iter().map(value).collect())
}

fn differing<B: Explain>(record: &Record<B>) -> impl Iterator<Item = &'static Port> {
    let (expected, actual) = (record.expected, record.actual);
    B::Outputs::PORTS
        .iter()
        .filter(move |port| port.bytes(expected.as_bytes()) != port.bytes(actual.as_bytes()))
}

fn cycle_line<B: Explain>(record: &Record<B>) -> CycleLine {
    CycleLine {
        cycle: record.cycle,
        golden: record.state.to_owned(),
        rules: record.rules.clone(),
        rtl: B::STATE_REGISTER.map(|_| state::<B>(record.rtl_state)),
        handshakes: handshakes::<B>(record),
        differing: differing(record).map(|port| port.name.to_owned()).collect(),
    }
}

/// Channels with a high valid, and other 1-bit pins that are high.
fn handshakes<B: Explain>(record: &Record<B>) -> Vec<String> {
    let is_active_low = |name: &str| {
        let mut resets = B::RESET.iter().chain(B::OTHER_RESETS);
        resets.any(|pin| pin.name_and_level() == (name, false))
    };
    let mut high = BTreeSet::new();
    for (ports, bytes) in [
        (B::Inputs::PORTS, record.inputs.as_bytes()),
        (B::Outputs::PORTS, record.expected.as_bytes()),
    ] {
        let single = ports.iter().filter(|port| port.width == 1);
        // A reset is shown while it is active.
        let is_shown = |port: &&Port| (port.bytes(bytes) != [0]) != is_active_low(port.name);
        high.extend(single.filter(is_shown).map(|port| port.name));
    }
    let all: BTreeSet<&str> =
        B::Inputs::PORTS.iter().chain(B::Outputs::PORTS).map(|port| port.name).collect();
    // Other pins of a channel matter only while its valid is high.
    let channels: Vec<&str> = all.iter().filter_map(|name| B::NAMING.channel(name)).collect();
    let channel_of =
        |name: &str| channels.iter().find(|channel| B::NAMING.is_of(name, channel)).copied();
    let mut shown = Vec::new();
    for name in &high {
        let Some(channel) = channel_of(name) else {
            shown.push((*name).to_owned());
            continue;
        };
        if B::NAMING.channel(name) != Some(channel) {
            continue;
        }
        let ready = all.iter().find(|port| B::NAMING.is_ready_of(port, channel));
        let handshake = match ready {
            None => "",
            Some(ready) if high.contains(ready) => ":VR",
            Some(_) => ":V-",
        };
        let words = B::words(channel, &record.inputs, &record.expected);
        let words = words.map_or(String::new(), |words| format!("({words})"));
        shown.push(format!("{channel}{handshake}{words}"));
    }
    shown
}
