//! Explains a failure: one sentence, decoded values, and the surrounding cycles.

use super::replay;
use crate::explanation::{
    CycleLine, Difference, Explanation, InputLine, PortValue, Signal, SignalKind, Step,
};
use crate::observe::Record;
use cosim_base::error::Error;
use cosim_harness::harness::{
    Drive, Dut, Environment, Explain, Golden, Outcome, Parameters, Profile, Recording, Signature,
    Stimulus, Transfer, Verdict, Violation, Watch, before_reset_in_words, environment_at,
    follows_dut, in_words, reset_inputs,
};
use std::collections::{BTreeSet, VecDeque};
use verilated::{BeforeReset, Field, ModelKind, Pins, Port};
use zerocopy::IntoBytes;

/// Cycles shown before the end.
const BEFORE: u64 = 8;
/// Cycles shown after the end.
const AFTER: u64 = 2;
/// Maximum number of differing ports shown over time.
const MOST_DIFFERING: usize = 8;
/// Up to this number of ports, all are shown over time, otherwise only those that differ and those
/// of the channels.
const MOST_PORTS: usize = 48;
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
        in_flight: in_flight(stimulus, decisive, |traffic, cycle| {
            environment_at::<B>(traffic, parameters, cycle)
        }),
        inputs: raw_inputs(&stimulus.drive, decisive),
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
    let decisive = decisive_cycle(&outcome);
    let place = records.iter().position(|record| Some(record.cycle) == decisive);
    let here = place.and_then(|place| records.get(place));
    let next = place.and_then(|place| records.get(place + 1));
    let checked = Checked::of::<B>(&outcome.verdict, &records);
    let is_checked = |record: &Record<B>| Some(record.cycle) == decisive;
    let line = |record: &Record<B>| {
        let mut line = cycle_line(record);
        if let Some(checked) = checked.as_ref().filter(|_| is_checked(record)) {
            line.differing.push(checked.name.clone());
        }
        line
    };
    let mut differences = here.map(differences).unwrap_or_default();
    differences.extend(checked.iter().map(Checked::difference));
    let parameters = &profile.parameters;
    let environment = |traffic, cycle| match follows_dut::<B>() {
        true => environment_of_rtl::<B>(traffic, parameters, kind, stimulus.before_reset, cycle),
        false => environment_at::<B>(traffic, parameters, cycle),
    };
    Ok(Explanation {
        fixes: profile.name.to_string(),
        sentence: sentence::<B>(&outcome, here),
        signature: Signature::of(&outcome.verdict).map(|signature| signature.to_string()),
        judgement,
        differences,
        golden: here.filter(|_| has_golden::<B>()).map(|here| golden_step(here, next)),
        rtl: here.and_then(|here| rtl_step(here, next, &profile.parameters)),
        in_flight: in_flight(stimulus, decisive, environment),
        any: Vec::new(),
        inputs: raw_inputs(&stimulus.drive, decisive),
        cycles: records.iter().map(line).collect(),
        signals: match outcome.verdict.is_failure() {
            true => signals(here, &records, checked.as_ref()),
            false => Vec::new(),
        },
    })
}

/// Whether the golden model predicts anything: not if all outputs are transactions.
const fn has_golden<B: Explain>() -> bool {
    B::TRANSACTION_OUTPUTS.len() < B::Outputs::PORTS.len()
}

/// The channels in a cycle, as the environment declares them.
fn transfers<B: Explain>(inputs: &B::Inputs, outputs: &B::Outputs) -> Vec<Transfer> {
    <B::Environment<'static> as Environment<'static, B>>::transfers(inputs, outputs)
}

/// The values of a failed check.
struct Checked {
    /// The channel whose items the check compares, or the check.
    name: String,
    expected: String,
    actual: String,
    /// The cycle since which the value is expected.
    since: Option<u64>,
    /// The cycle of the failure.
    cycle: u64,
}

impl Checked {
    fn of<B: Explain>(verdict: &Verdict, records: &VecDeque<Record<B>>) -> Option<Self> {
        let Verdict::CheckFailed { cycle, violation } = verdict else { return None };
        let (actual, expected, since) = violation.values()?;
        let Violation { check, .. } = violation;
        let of_rtl = |record: &Record<B>| transfers::<B>(&record.inputs, &record.actual);
        let channels = records.front().map_or_else(Vec::new, of_rtl);
        let is_of = |channel: &String| {
            check.strip_prefix(channel.as_str()).is_some_and(|rest| rest.starts_with('-'))
        };
        let channels = channels.into_iter().map(|transfer| transfer.channel).filter(is_of);
        let name = channels.max_by_key(String::len).unwrap_or_else(|| check.clone());
        let (expected, actual) = (in_words(expected), in_words(actual));
        Some(Self { name, expected, actual, since, cycle: *cycle })
    }

    fn difference(&self) -> Difference {
        Difference {
            port: self.name.clone(),
            field: None,
            expected: self.expected.clone(),
            actual: self.actual.clone(),
        }
    }
}

/// The environment of a block whose environment follows the RTL, at the beginning of a cycle.
fn environment_of_rtl<'a, B: Explain>(
    traffic: &'a B::Traffic,
    parameters: &Parameters,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    before_reset: BeforeReset,
    cycle: u64,
) -> B::Environment<'a> {
    let mut environment = B::Environment::new(traffic, parameters);
    let Ok(mut model) = kind.create(before_reset) else { return environment };
    let (mut inputs, mut outputs) = (reset_inputs::<B>(), B::Outputs::new_zeroed());
    let mut works = Dut::<B>::power_up(&mut model).is_ok();
    let mut now = 0;
    while works && now < cycle && !environment.finished() {
        if now > 0 {
            environment.drive(&mut inputs);
        }
        works = Dut::<B>::settle(&mut model, &inputs, &mut outputs).is_ok();
        if works && now > 0 {
            environment.clock(&inputs, &outputs);
        }
        works = works && Dut::<B>::edge(&mut model).is_ok();
        now += 1;
    }
    environment
}

/// The ports that differ in the decisive cycle, each after the handshake of its channel, then the
/// channels, each with its pins, and the other ports.
fn signals<B: Explain>(
    here: Option<&Record<B>>,
    records: &VecDeque<Record<B>>,
    checked: Option<&Checked>,
) -> Vec<Signal> {
    let mut all = here.map_or_else(Vec::new, |here| differing_signals(here, records));
    let ports = || B::Inputs::PORTS.iter().chain(B::Outputs::PORTS);
    let add = |all: &mut Vec<Signal>, port: &'static Port| {
        if !all.iter().any(|signal| signal.port == port.name) {
            all.push(signal_of::<B>(port, records));
        }
    };
    let of_rtl = |record: &Record<B>| transfers::<B>(&record.inputs, &record.actual);
    let cycles: Vec<Vec<Transfer>> = records.iter().map(of_rtl).collect();
    for (place, channel) in cycles.first().into_iter().flatten().enumerate() {
        let items: Vec<&Transfer> = cycles.iter().filter_map(|cycle| cycle.get(place)).collect();
        let checked = checked.filter(|checked| checked.name == channel.channel);
        let is_due = |cycle: u64, checked: &&Checked| {
            checked.since.unwrap_or(checked.cycle) <= cycle && cycle <= checked.cycle
        };
        let expected = |record: &Record<B>| {
            let due = checked.filter(|checked| is_due(record.cycle, checked));
            due.map_or_else(String::new, |checked| checked.expected.clone())
        };
        let words = |transfer: &&Transfer| match transfer.item.as_deref() {
            // A channel without payload.
            Some("") => "-".to_owned(),
            item => item.unwrap_or("").to_owned(),
        };
        all.push(Signal {
            port: channel.channel.clone(),
            width: 0,
            kind: SignalKind::Channel {
                taken: items.iter().map(|item| item.is_taken).collect(),
                wrong: checked.and_then(|checked| {
                    records.iter().position(|record| record.cycle == checked.cycle)
                }),
            },
            values: match checked {
                Some(_) => records.iter().map(expected).collect(),
                None => Vec::new(),
            },
            actual: Some(items.iter().map(words).collect()),
        });
        let pins = channel.pins.iter().filter_map(|pin| ports().find(|port| port.name == *pin));
        pins.for_each(|port| add(&mut all, port));
    }
    if ports().count() <= MOST_PORTS {
        ports().for_each(|port| add(&mut all, port));
    }
    all
}

/// A port over time.
fn signal_of<B: Explain>(port: &'static Port, records: &VecDeque<Record<B>>) -> Signal {
    let values = |of: fn(&Record<B>) -> &[u8]| {
        records.iter().map(|record| whole::<B>(port, of(record))).collect::<Vec<_>>()
    };
    let is_output = B::Outputs::PORTS.iter().any(|output| output.name == port.name);
    let (kind, values, actual) = if B::TRANSACTION_OUTPUTS.contains(&port.name) {
        (SignalKind::Transactions, values(|record| record.actual.as_bytes()), None)
    } else if is_output {
        let actual = values(|record| record.actual.as_bytes());
        (SignalKind::Output, values(|record| record.expected.as_bytes()), Some(actual))
    } else {
        (SignalKind::Input, values(|record| record.inputs.as_bytes()), None)
    };
    Signal { port: port.name.to_owned(), width: port.width, kind, values, actual }
}

/// The ports that differ in the decisive cycle, each after the handshake of its channel.
fn differing_signals<B: Explain>(here: &Record<B>, records: &VecDeque<Record<B>>) -> Vec<Signal> {
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
                kind: SignalKind::Output,
                values: values(|record| record.expected.as_bytes()),
                actual: Some(values(|record| record.actual.as_bytes())),
            });
        }
        shown_signals.push(signal_of::<B>(port, records));
    }
    shown_signals
}

/// Descriptions of the stimulus in flight in a cycle, at which `environment` is.
fn in_flight<'a, B: Explain>(
    stimulus: &'a Stimulus<B>,
    cycle: Option<u64>,
    environment: impl FnOnce(&'a B::Traffic, u64) -> B::Environment<'a>,
) -> Vec<String> {
    let mut lines = match &stimulus.drive {
        Drive::Traffic(traffic) => B::in_flight(&environment(traffic, cycle.unwrap_or(u64::MAX))),
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
fn raw_inputs<B: Explain>(drive: &Drive<B>, decisive: Option<u64>) -> Vec<InputLine> {
    let Drive::Cycles(cycles) = drive else { return Vec::new() };
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
        golden: if has_golden::<B>() { record.state } else { "" }.to_owned(),
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
    let mut shown = Vec::new();
    for transfer in transfers::<B>(&record.inputs, &record.expected) {
        high.retain(|name| !transfer.pins.contains(name));
        let Some(item) = &transfer.item else { continue };
        let handshake = match (transfer.has_ready, transfer.is_taken) {
            (false, _) => "",
            (true, true) => ":VR",
            (true, false) => ":V-",
        };
        let item = if item.is_empty() { String::new() } else { format!("({item})") };
        shown.push(format!("{}{handshake}{item}", transfer.channel));
    }
    // Other pins of a channel matter only while its valid is high.
    let channels: Vec<&str> = all.iter().filter_map(|name| B::NAMING.channel(name)).collect();
    let channel_of =
        |name: &str| channels.iter().find(|channel| B::NAMING.is_of(name, channel)).copied();
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
