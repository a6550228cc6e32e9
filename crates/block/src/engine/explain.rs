//! Explains a failure: one sentence, decoded values, and the surrounding cycles.

use super::{BlockEngine, RunBlock, replay};
use crate::explanation::{
    CycleLine, Difference, Explanation, InputLine, PortValue, Signal, SignalKind, Step,
};
use crate::observe::Record;
use cosim_base::error::Error;
use cosim_harness::harness::{
    BlockInfo, Drive, Dut, Environment, Explain, Golden, Outcome, Parameters, Profile, Recording,
    Stimulus, Transfer, Verdict, Violation, Watch, before_reset_in_words, environment_at,
    follows_dut, in_words, reset_inputs,
};
use std::collections::BTreeSet;
use verilated::{BeforeReset, Field, ModelKind, Pins, Port};

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

/// The functions of a block that explanations call, on the bytes of its pins.
trait ExplainBlock: RunBlock {
    fn state_name(&self, code: u64) -> Option<&'static str>;
    fn rules_between(&self, from: &str, to: &str) -> Vec<&'static str>;
    fn words(&self, channel: &str, inputs: &[u8], outputs: &[u8]) -> Option<String>;
    fn transfers(&self, inputs: &[u8], outputs: &[u8]) -> Vec<Transfer>;
}

impl<B: Explain> ExplainBlock for BlockEngine<B> {
    fn state_name(&self, code: u64) -> Option<&'static str> {
        B::state_name(code)
    }

    fn rules_between(&self, from: &str, to: &str) -> Vec<&'static str> {
        B::rules_between(from, to)
    }

    fn words(&self, channel: &str, inputs: &[u8], outputs: &[u8]) -> Option<String> {
        B::words(channel, &B::Inputs::from_bytes(inputs), &B::Outputs::from_bytes(outputs))
    }

    fn transfers(&self, inputs: &[u8], outputs: &[u8]) -> Vec<Transfer> {
        let (inputs, outputs) = (B::Inputs::from_bytes(inputs), B::Outputs::from_bytes(outputs));
        B::Environment::<'static>::transfers(&inputs, &outputs)
    }
}

/// Explains the outcome of a four-state simulation, from the golden model's side of the case.
pub fn explain_four<B: Explain>(
    stimulus: &Stimulus<B>,
    profile: &Profile,
    outcome: &Outcome,
) -> Explanation {
    let parameters = &profile.parameters;
    let decisive = outcome.verdict.cycle();
    let records = golden_records(stimulus, parameters, decisive.unwrap_or(outcome.cycles));
    let environment = |traffic, cycle| environment_at::<B>(traffic, parameters, cycle);
    let (in_flight, inputs) = stimulus_in_words(stimulus, decisive, environment);
    let block = &BlockEngine::<B>::NEW;
    let explained = explain_records(block, profile, outcome, &records);
    Explanation { in_flight, inputs, ..explained }
}

/// The golden model's records of the cycles around `around`.
fn golden_records<B: Explain>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    around: u64,
) -> Vec<Record> {
    let recording = Recording::new(stimulus, parameters);
    let mut golden = B::Golden::new(parameters);
    let mut records = Vec::new();
    for (cycle, (inputs, expected)) in
        (0..=around + AFTER).zip(recording.inputs().iter().zip(recording.expected()))
    {
        let state = golden.state();
        let rules = golden.edge(inputs);
        if cycle + BEFORE >= around {
            let expected = expected.as_bytes().to_vec();
            records.push(Record {
                cycle,
                inputs: inputs.as_bytes().to_vec(),
                actual: expected.clone(),
                expected,
                state,
                rules: rules.names(B::Golden::RULES),
                rtl_state: None,
            });
        }
    }
    records
}

/// The records of the decisive cycle and of the next one.
fn decisive_records<'a>(records: &'a [Record], outcome: &Outcome) -> [Option<&'a Record>; 2] {
    let decisive = outcome.verdict.cycle();
    let place = records.iter().position(|record| Some(record.cycle) == decisive);
    [0, 1].map(|after| records.get(place? + after))
}

fn golden_step(info: &BlockInfo, here: &Record, next: Option<&Record>) -> Step {
    let rules = here.rules.split('+').filter(|rule| !rule.is_empty());
    Step {
        from: here.state.to_owned(),
        to: next.map(|next| next.state.to_owned()),
        rules: rules.map(|name| rule(info, name)).collect(),
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
    let judge = || replay::judge(stimulus, profile, kind, watch);
    let judgement = outcome.verdict.is_failure().then(judge).transpose()?;
    let parameters = &profile.parameters;
    let environment = |traffic, cycle| match follows_dut::<B>() {
        true => environment_of_rtl::<B>(traffic, parameters, kind, stimulus.before_reset, cycle),
        false => environment_at::<B>(traffic, parameters, cycle),
    };
    let (in_flight, inputs) = stimulus_in_words(stimulus, outcome.verdict.cycle(), environment);
    let block = &BlockEngine::<B>::NEW;
    let explained = explain_records(block, profile, &outcome, &records);
    let signals = signals(block, &outcome, &records, &explained.pins);
    Ok(Explanation { judgement, in_flight, inputs, signals, ..explained })
}

/// The part of the explanation that records and verdict determine.
fn explain_records(
    block: &dyn ExplainBlock,
    profile: &Profile,
    outcome: &Outcome,
    records: &[Record],
) -> Explanation {
    let info = block.info();
    let [here, next] = decisive_records(records, outcome);
    let mut cycles: Vec<CycleLine> =
        records.iter().map(|record| cycle_line(block, record)).collect();
    let mut differences = here.map_or_else(Vec::new, |here| differences(info, here));
    let pins = records.first().map_or_else(Vec::new, |record| pins_of(block, outcome, record));
    if differences.is_empty() {
        differences.extend(difference(&outcome.verdict));
        let wrong = cycles.iter_mut().filter(|line| Some(line.cycle) == outcome.verdict.cycle());
        let of_check =
            outcome.verdict.violation().filter(|_| !pins.is_empty()).map(|it| &it.subject);
        let subject = outcome.verdict.mismatch().map(|mismatch| &mismatch.port).or(of_check);
        wrong.for_each(|line| line.differing.extend(subject.cloned()));
    }
    Explanation {
        pins: pins.iter().map(|port| port.name.to_owned()).collect(),
        sentence: sentence(outcome, &differences),
        differences,
        golden: here.filter(|_| has_golden(info)).map(|here| golden_step(info, here, next)),
        rtl: here.and_then(|here| rtl_step(block, here, next, &profile.parameters)),
        cycles,
        ..Explanation::lost(profile, &outcome.verdict)
    }
}

/// Whether the golden model predicts anything: not if all outputs are transactions.
fn has_golden(info: &BlockInfo) -> bool {
    info.transaction_outputs.len() < info.outputs.len()
}

/// All ports: inputs, then outputs.
fn ports(info: &BlockInfo) -> impl Iterator<Item = &'static Port> {
    info.inputs.iter().chain(info.outputs)
}

fn fields(info: &BlockInfo, port: &Port) -> &'static [(&'static str, Field)] {
    info.fields.get(port.name).copied().unwrap_or_default()
}

/// The values of a failed check, or of a mismatch if the RTL was not recorded.
fn difference(verdict: &Verdict) -> Option<Difference> {
    let (port, expected, actual) = match (verdict.violation(), verdict.mismatch()) {
        (Some(Violation { expected: None, actual: None, .. }) | None, None) => return None,
        (Some(Violation { subject, expected, actual, .. }), _) => {
            let [expected, actual] = [expected, actual]
                .map(|it| it.as_deref().map_or_else(|| "nothing".to_owned(), in_words));
            (subject, expected, actual)
        }
        (None, Some(it)) => (&it.port, it.expected.clone(), it.actual.clone()),
    };
    Some(Difference { port: port.clone(), field: None, expected, actual })
}

/// The pins of the subject of a failed check: those of a channel, of the channel of a port, or a
/// port and its handshake.
fn pins_of(block: &dyn ExplainBlock, outcome: &Outcome, record: &Record) -> Vec<&'static Port> {
    let Some(Violation { subject, .. }) = outcome.verdict.violation() else { return Vec::new() };
    let info = block.info();
    let channels = block.transfers(&record.inputs, &record.actual);
    let named = channels.iter().find(|channel| channel.channel == *subject);
    let of_port = || channels.iter().find(|channel| channel.pins.contains(&subject.as_str()));
    match (named.or_else(of_port), ports(info).find(|port| port.name == subject)) {
        (Some(channel), _) => {
            let port = |pin: &&str| ports(info).find(|port| port.name == *pin);
            channel.pins.iter().filter_map(port).collect()
        }
        (None, Some(port)) => with_handshake(info, port),
        (None, None) => Vec::new(),
    }
}

/// The pins that have a wrong value in the cycle of a failed check. Of a wrong item that is the
/// payload, if it is wider than a handshake.
pub fn wrong_pins<B: Explain>(outcome: &Outcome, record: &Record) -> Vec<String> {
    let mut pins = pins_of(&BlockEngine::<B>::NEW, outcome, record);
    let item =
        outcome.verdict.violation().and_then(|it| it.actual.as_ref().zip(it.expected.as_ref()));
    if item.is_some() && pins.iter().any(|port| port.width > 1) {
        pins.retain(|port| port.width > 1);
    }
    pins.iter().map(|port| port.name.to_owned()).collect()
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
/// channels, each with its pins, and the other ports. `pins`, whose check failed, come first.
fn signals(
    block: &dyn ExplainBlock,
    outcome: &Outcome,
    records: &[Record],
    pins: &[String],
) -> Vec<Signal> {
    if !outcome.verdict.is_failure() {
        return Vec::new();
    }
    let info = block.info();
    let [here, _] = decisive_records(records, outcome);
    let mut all = here.map_or_else(Vec::new, |here| differing_signals(info, here, records));
    let add = |all: &mut Vec<Signal>, port: &'static Port| {
        if !all.iter().any(|signal| signal.port == port.name) {
            all.push(signal_of(info, port, records));
        }
    };
    let of_rtl = |record: &Record| block.transfers(&record.inputs, &record.actual);
    let cycles: Vec<Vec<Transfer>> = records.iter().map(of_rtl).collect();
    let mut channels: Vec<_> = cycles.first().into_iter().flatten().enumerate().collect();
    channels.sort_by_key(|(_, channel)| channel.pins != pins);
    if channels.first().is_none_or(|(_, channel)| channel.pins != pins) {
        let pins = pins.iter().filter_map(|pin| ports(info).find(|port| port.name == *pin));
        pins.for_each(|port| add(&mut all, port));
    }
    let decisive = outcome.verdict.cycle();
    let violation = outcome.verdict.violation();
    for (place, channel) in channels {
        let items: Vec<&Transfer> = cycles.iter().filter_map(|cycle| cycle.get(place)).collect();
        let checked = violation.filter(|violation| violation.subject == channel.channel);
        // Items before a wrong one may be right.
        let begin = |it: &Violation| it.since.filter(|_| it.actual.is_none()).or(decisive);
        let due = checked.and_then(|it| Some((it.expected.as_ref()?, begin(it)?)));
        let words = |transfer: &&Transfer| match transfer.item.as_deref() {
            // A channel without payload.
            Some("") => "-".to_owned(),
            item => item.unwrap_or("").to_owned(),
        };
        all.push(Signal {
            port: channel.channel.clone(),
            width: 0,
            kind: SignalKind::Channel { taken: items.iter().map(|item| item.is_taken).collect() },
            values: due.map_or_else(Vec::new, |(expected, since)| {
                let due = |record: &Record| record.cycle >= since && Some(record.cycle) <= decisive;
                let value = |due| if due { in_words(expected) } else { String::new() };
                records.iter().map(|record| value(due(record))).collect()
            }),
            actual: Some(items.iter().map(words).collect()),
            wrong: None,
        });
        let pins = channel.pins.iter().filter_map(|pin| ports(info).find(|port| port.name == *pin));
        pins.for_each(|port| add(&mut all, port));
    }
    if ports(info).count() <= MOST_PORTS {
        ports(info).for_each(|port| add(&mut all, port));
    }
    let subject = violation.map(|violation| &violation.subject);
    if let Some(signal) = all.iter_mut().find(|signal| Some(&signal.port) == subject) {
        signal.wrong = records.iter().position(|record| Some(record.cycle) == decisive);
    }
    all
}

fn signal_of(info: &BlockInfo, port: &'static Port, records: &[Record]) -> Signal {
    let values = |of: fn(&Record) -> &[u8]| {
        records.iter().map(|record| port_text(info, port, of(record))).collect::<Vec<_>>()
    };
    let is_output = info.outputs.iter().any(|output| output.name == port.name);
    let (kind, values, actual) = if info.transaction_outputs.contains(&port.name) {
        (SignalKind::Transactions, values(|record| &record.actual), None)
    } else if is_output {
        let actual = values(|record| &record.actual);
        (SignalKind::Output, values(|record| &record.expected), Some(actual))
    } else {
        (SignalKind::Input, values(|record| &record.inputs), None)
    };
    Signal { port: port.name.to_owned(), width: port.width, kind, values, actual, wrong: None }
}

/// A port after the handshake of its channel.
fn with_handshake(info: &BlockInfo, port: &'static Port) -> Vec<&'static Port> {
    let mut channels = ports(info).filter_map(|port| info.naming.channel(port.name));
    let channel = channels.find(|channel| info.naming.is_of(port.name, channel));
    let is_handshake = |other: &&Port| {
        channel.is_some_and(|channel| {
            info.naming.channel(other.name) == Some(channel)
                || info.naming.is_ready_of(other.name, channel)
        })
    };
    ports(info).filter(is_handshake).chain((!is_handshake(&port)).then_some(port)).collect()
}

/// The ports that differ in the decisive cycle, each after the handshake of its channel.
fn differing_signals(info: &BlockInfo, here: &Record, records: &[Record]) -> Vec<Signal> {
    let mut signals: Vec<Signal> = Vec::new();
    let chosen = differing(info, here).take(MOST_DIFFERING);
    for port in chosen.flat_map(|port| with_handshake(info, port)) {
        if signals.iter().any(|signal| signal.port == port.name) {
            continue;
        }
        let is_output = info.outputs.iter().any(|output| output.name == port.name);
        // The differing fields of a port are more useful than its whole value.
        let fields = fields(info, port).iter().filter(|(_, field)| {
            is_output && port.field(&here.expected, *field) != port.field(&here.actual, *field)
        });
        for (name, field) in fields {
            let values = |of: fn(&Record) -> &[u8]| {
                let value = |record| field_text(info, name, port.field(of(record), *field));
                records.iter().map(value).collect::<Vec<_>>()
            };
            signals.push(Signal {
                port: format!("{}.{name}", port.name),
                width: field.range().len() as u32,
                kind: SignalKind::Output,
                values: values(|record| &record.expected),
                actual: Some(values(|record| &record.actual)),
                wrong: None,
            });
        }
        signals.push(signal_of(info, port, records));
    }
    signals
}

/// Descriptions of the stimulus in flight in a cycle, at which `environment` is, and raw inputs.
fn stimulus_in_words<'a, B: Explain>(
    stimulus: &'a Stimulus<B>,
    cycle: Option<u64>,
    environment: impl FnOnce(&'a B::Traffic, u64) -> B::Environment<'a>,
) -> (Vec<String>, Vec<InputLine>) {
    let (mut lines, inputs) = match &stimulus.drive {
        Drive::Traffic(traffic) => {
            (B::in_flight(&environment(traffic, cycle.unwrap_or(u64::MAX))), Vec::new())
        }
        Drive::Cycles(cycles) => {
            let line = format!("unconstrained random stimulus, {} cycles", cycles.len());
            let cycles = B::Inputs::all_bytes(cycles).chunks_exact(size_of::<B::Inputs>().max(1));
            let cycles: Vec<&[u8]> = cycles.collect();
            (vec![line], raw_inputs(BlockInfo::from_block::<B>(), &cycles, cycle))
        }
    };
    lines.extend(before_reset_in_words(stimulus.before_reset).map(Into::into));
    (lines, inputs)
}

fn sentence(outcome: &Outcome, differences: &[Difference]) -> String {
    let Some(mismatch) = outcome.verdict.mismatch() else {
        return match &outcome.verdict {
            Verdict::Match => format!("Everything matched in {} cycles.", outcome.cycles),
            other => format!("The case failed: {other}."),
        };
    };
    let (what, expected, actual) = match differences.iter().find(|one| one.port == mismatch.port) {
        Some(Difference { port, field: Some(field), expected, actual }) => {
            (format!("{field} of {port}"), expected, actual)
        }
        Some(Difference { port, field: None, expected, actual }) => {
            (port.clone(), expected, actual)
        }
        None => (mismatch.port.clone(), &mismatch.expected, &mismatch.actual),
    };
    format!(
        "In cycle {}, in {}, the RTL drives {what} with {actual}; the golden model expects \
         {expected}.",
        mismatch.cycle, mismatch.state
    )
}

fn rule(info: &BlockInfo, name: &str) -> (String, String) {
    let meaning = info.rules.iter().find(|rule| rule.name == name).map_or("", |rule| rule.meaning);
    (name.to_owned(), meaning.to_owned())
}

fn rtl_step(
    block: &dyn ExplainBlock,
    here: &Record,
    next: Option<&Record>,
    parameters: &Parameters,
) -> Option<Step> {
    let info = block.info();
    let from = state(block, here.rtl_state?);
    let to = next.and_then(|next| Some(state(block, next.rtl_state?)));
    let mut rules = to.as_ref().map_or(Vec::new(), |to| block.rules_between(&from, to));
    let facts = info.answers.facts(parameters).ok()?;
    rules.retain(|name| {
        let index = info.rules.iter().position(|rule| rule.name == *name);
        index.is_some_and(|index| !facts.unreachable.contains_key(&index))
    });
    Some(Step { from, to, rules: rules.into_iter().map(|name| rule(info, name)).collect() })
}

fn state(block: &dyn ExplainBlock, code: u64) -> String {
    block.state_name(code).map_or_else(|| format!("undefined ({code:#x})"), str::to_owned)
}

/// Every differing port, by field if it has named fields.
fn differences(info: &BlockInfo, record: &Record) -> Vec<Difference> {
    let Record { expected, actual, .. } = record;
    let mut found = Vec::new();
    for port in differing(info, record) {
        let before = found.len();
        for (name, field) in fields(info, port) {
            let [expected, actual] = [expected, actual].map(|bytes| port.field(bytes, *field));
            if expected != actual {
                let [expected, actual] =
                    [expected, actual].map(|value| field_text(info, name, value));
                let field = Some((*name).to_owned());
                found.push(Difference { port: port.name.to_owned(), field, expected, actual });
            }
        }
        // The difference may lie outside of the named fields.
        if found.len() == before {
            let [expected, actual] = [expected, actual].map(|bytes| port_text(info, port, bytes));
            found.push(Difference { port: port.name.to_owned(), field: None, expected, actual });
        }
    }
    found
}

/// A field's value and its meaning.
fn field_text(info: &BlockInfo, field: &str, value: u64) -> String {
    with_meaning(info, field, format!("{value:#x}"), Some(value))
}

/// A port's value and its meaning.
fn port_text(info: &BlockInfo, port: &Port, bytes: &[u8]) -> String {
    let value = (port.width <= 64).then(|| port.field(bytes, Field::new(port.width - 1, 0)));
    with_meaning(info, port.name, port.show(bytes), value)
}

/// A value with its meaning. The program of the block, which explains its failures, always answers.
fn with_meaning(info: &BlockInfo, name: &str, text: String, value: Option<u64>) -> String {
    match value.and_then(|value| info.answers.meaning(name, value).ok().flatten()) {
        Some(meaning) => format!("{text} ({meaning})"),
        None => text,
    }
}

/// The raw inputs up to the decisive cycle, with equal cycles in one line.
fn raw_inputs(info: &BlockInfo, cycles: &[&[u8]], decisive: Option<u64>) -> Vec<InputLine> {
    // Cycle 0 is the harness's own cycle in reset.
    let end = decisive.unwrap_or(u64::MAX).min(cycles.len() as u64);
    let begin = if end <= RAW_CYCLES { 1 } else { end - BEFORE };
    let mut lines: Vec<InputLine> = Vec::new();
    for cycle in begin..=end {
        let (high, values) = inputs_above_zero(info, cycles[cycle as usize - 1]);
        match lines.last_mut() {
            Some(line) if line.high == high && line.values == values => line.last_cycle = cycle,
            _ => lines.push(InputLine { cycle, last_cycle: cycle, high, values }),
        }
    }
    lines
}

fn inputs_above_zero(info: &BlockInfo, bytes: &[u8]) -> (Vec<String>, Vec<PortValue>) {
    let is_set = |port: &&Port| port.bytes(bytes).iter().any(|byte| *byte != 0);
    let (single, wide): (Vec<&Port>, Vec<&Port>) =
        info.inputs.iter().filter(is_set).partition(|port| port.width == 1);
    let field = |port: &Port, (name, field): &(&'static str, Field)| {
        let value = port.field(bytes, *field);
        (value != 0).then(|| ((*name).to_owned(), field_text(info, name, value)))
    };
    let value = |port: &Port| PortValue {
        port: port.name.to_owned(),
        value: port_text(info, port, bytes),
        fields: fields(info, port).iter().filter_map(|named| field(port, named)).collect(),
    };
    let high = single.into_iter().map(|port| port.name.to_owned()).collect();
    (high, wide.into_iter().map(value).collect())
}

fn differing(info: &BlockInfo, record: &Record) -> impl Iterator<Item = &'static Port> {
    let differs = |port: &&Port| port.bytes(&record.expected) != port.bytes(&record.actual);
    info.outputs.iter().filter(differs)
}

fn cycle_line(block: &dyn ExplainBlock, record: &Record) -> CycleLine {
    let info = block.info();
    CycleLine {
        cycle: record.cycle,
        golden: if has_golden(info) { record.state } else { "" }.to_owned(),
        rules: record.rules.clone(),
        rtl: record.rtl_state.map(|code| state(block, code)),
        handshakes: handshakes(block, record),
        differing: differing(info, record).map(|port| port.name.to_owned()).collect(),
    }
}

/// Channels with a high valid, and other 1-bit pins that are high.
fn handshakes(block: &dyn ExplainBlock, record: &Record) -> Vec<String> {
    let info = block.info();
    // At power-up only resets that are active low are high. A reset is shown while it is active.
    let inputs = info.inputs.iter();
    let inputs = inputs.filter(|port| port.bytes(&record.inputs) != port.bytes(&info.power_up));
    let outputs = info.outputs.iter().filter(|port| port.bytes(&record.expected) != [0]);
    let single = inputs.chain(outputs).filter(|port| port.width == 1);
    let mut high: BTreeSet<&str> = single.map(|port| port.name).collect();
    let all: BTreeSet<&str> = ports(info).map(|port| port.name).collect();
    let mut shown = Vec::new();
    for transfer in block.transfers(&record.inputs, &record.expected) {
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
    let channels: Vec<&str> = all.iter().filter_map(|name| info.naming.channel(name)).collect();
    let channel_of =
        |name: &str| channels.iter().find(|channel| info.naming.is_of(name, channel)).copied();
    for name in &high {
        let Some(channel) = channel_of(name) else {
            shown.push((*name).to_owned());
            continue;
        };
        if info.naming.channel(name) != Some(channel) {
            continue;
        }
        let ready = all.iter().find(|port| info.naming.is_ready_of(port, channel));
        let handshake = match ready {
            None => "",
            Some(ready) if high.contains(ready) => ":VR",
            Some(_) => ":V-",
        };
        let words = block.words(channel, &record.inputs, &record.expected);
        let words = words.map_or(String::new(), |words| format!("({words})"));
        shown.push(format!("{channel}{handshake}{words}"));
    }
    shown
}
