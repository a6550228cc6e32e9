//! Translates properties to Verilog: a module around the RTL with an output for each property.

pub mod progress;

use crate::assertions::{Assertions, Signal};
use cosim_base::error::{Error, codes};
use cosim_block::program;
use cosim_harness::harness::{
    BlockInfo, Facts, Parameters, Properties, Role, StableChannel, TransitionProperty,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use verilated::Port;

pub const MONITOR: &str = "monitor.v";
pub const TOP: &str = "cosim_monitor";
/// Yosys commands that read the monitor around the flat RTL, and make one flat netlist of both.
pub const AROUND: &str = "read_verilog -sv -noautowire monitor.v\nhierarchy -check -top cosim_monitor\n\
                          proc\nflatten\nasync2sync\nopt_clean";
/// The wire of the RTL's state register.
const STATE: &str = "cosim_state";

/// The kind of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Payload is 0 while its valid or enable is 0.
    Zero,
    /// A valid and its payload stay until ready.
    Held,
    /// The state register holds the code of a known state.
    State,
    /// An enable is 1 only in its states.
    Enabled,
    /// An invariant: an expression is 1 in every cycle.
    Always,
    /// Exactly one transition of a family applies.
    OneRule,
    /// When a transition applies, outputs and next register values are as specified.
    Rule,
    /// A transition that is listed as unreachable never applies.
    Never,
    /// An operation finishes within a number of cycles if the environment keeps the assumptions.
    Progress,
    /// A known deadlock of the source is reachable.
    Hang,
    /// An output is free of unknown values.
    XFree,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    pub kind: Kind,
    /// The property as shown to users.
    pub text: String,
    /// The property depends on registers of the RTL that the block names.
    pub of_registers: bool,
}

impl Property {
    /// Whether `only` selects the property: its text contains `only`. `None` selects all.
    pub fn is_selected(&self, only: Option<&str>) -> bool {
        only.is_none_or(|only| self.text.contains(only))
    }
}

#[derive(Debug)]
pub struct Monitor {
    pub text: String,
    /// The RTL's state register, if the monitor connects to it.
    pub state: Option<&'static str>,
    /// The signals of the RTL that its assertions use.
    pub signals: Vec<Signal>,
    /// The properties, in the order of its outputs.
    pub properties: Vec<Property>,
    /// Whether the block has input channels, so that protocol assumptions apply.
    pub assumes: bool,
}

/// A handshake channel: valid, ready, and the payload that must be stable.
struct Handshake {
    valid: &'static str,
    ready: &'static str,
    payload: Vec<&'static Port>,
}

impl Monitor {
    /// The monitor of a block's properties. If `only` is given, it has outputs only for invariants
    /// and for properties whose text contains `only`, beside those of the RTL and of `offer` (see
    /// [`Self::from_protocol`]).
    ///
    /// # Errors
    /// [`Error::Usage`] if a property names a signal, register or state that does not exist.
    pub fn new(
        info: &'static BlockInfo,
        parameters: &Parameters,
        assertions: Option<&Assertions>,
        only: Option<&str>,
        offer: &str,
    ) -> Result<Self, Error> {
        let facts = program::facts(info, parameters)?;
        let properties = &facts.properties;
        let mut bad = Vec::new();
        zeros(info, properties, &mut bad)?;
        let mut text = String::new();
        for StableChannel { valid, payload } in &properties.stable {
            add_stable_valid(info, valid, *payload, &mut bad, &mut text)?;
        }
        states(info, properties, &mut bad)?;
        invariants(assertions, &mut bad);
        rules(info, &facts, assertions, &mut bad, &mut text)?;
        progress::progress(properties, info.rtl.clock, &mut bad, &mut text);
        let offers = offers(info);
        let mut breaks = Vec::new();
        // The outputs of the RTL and the assumptions are compared with simulated cases.
        let mut pins: Vec<String> =
            info.outputs.iter().map(|port| format!("output {}", range(port))).collect();
        for (place, offered) in offers.iter().enumerate() {
            let now = withdrawn(info, offered, &format!("offer_{place}"), &mut text);
            let _ = writeln!(text, "  assign {offer}{place} = {now};");
            pins.push(format!("output {offer}{place}"));
            breaks.push(format!("{offer}{place}"));
        }
        let breaks = if breaks.is_empty() { "1'b0".to_owned() } else { breaks.join(" | ") };
        // Properties that are not selected are left out of the network. The others keep their
        // numbers.
        let is_selected =
            |property: &Property| property.kind == Kind::Always || property.is_selected(only);
        let requested: Vec<usize> =
            (0..bad.len()).filter(|place| is_selected(&bad[*place].0)).collect();
        outputs(&bad, &requested, &breaks, info.rtl.clock, &mut text);
        let of = |place| {
            ["bad", "legal", "known", "given"].map(|of| format!("output cosim_{of}_{place}"))
        };
        pins.extend(requested.into_iter().flat_map(of));
        let shared: Vec<&str> = info.outputs.iter().map(|port| port.name).collect();
        let text = format!("{}{text}endmodule\n", around(info, &pins, &shared, assertions, &text));
        let properties = bad.into_iter().map(|(property, _)| property).collect();
        let assumes = !offers.is_empty();
        let signals = signals(assertions).to_vec();
        Ok(Self { text, state: info.state_register, signals, properties, assumes })
    }

    /// A monitor of the invariants for an RTL with mutations. It has the ports of the RTL, the
    /// input `select` of `bits` bits, and an output for each invariant: `never` and a number, which
    /// is 1 in a cycle that violates it. `None` if the block has no invariants.
    pub fn from_invariants(
        info: &'static BlockInfo,
        parameters: &Parameters,
        assertions: Option<&Assertions>,
        select: &str,
        bits: u32,
        never: &str,
    ) -> Result<Option<Self>, Error> {
        let facts = program::facts(info, parameters)?;
        let (mut bad, mut text) = (Vec::new(), String::new());
        invariants(assertions, &mut bad);
        rules(info, &facts, assertions, &mut bad, &mut text)?;
        bad.retain(|(property, _)| matches!(property.kind, Kind::Always | Kind::Never));
        if bad.is_empty() {
            return Ok(None);
        }
        let mut pins = vec![format!("input [{}:0] {select}", bits - 1)];
        pins.extend(info.outputs.iter().map(|port| format!("output {}", range(port))));
        for (place, (_, expression)) in bad.iter().enumerate() {
            pins.push(format!("output {never}{place}"));
            let _ = writeln!(text, "  assign {never}{place} = {expression};");
        }
        let shared: Vec<&str> = info.outputs.iter().map(|port| port.name).chain([select]).collect();
        let text = format!("{}{text}endmodule\n", around(info, &pins, &shared, assertions, &text));
        let properties = bad.into_iter().map(|(property, _)| property).collect();
        let signals = signals(assertions).to_vec();
        Ok(Some(Self { text, state: info.state_register, signals, properties, assumes: false }))
    }

    /// A monitor of the protocol. It has the ports of the RTL, and an output for each channel on
    /// which the environment offers something: `offer` and a number, which is 1 in a cycle in which
    /// an offer is withdrawn or changed. Returns it with what each output means. With `assertions`,
    /// it has an output of the given prefix for each, too, that is 1 in a cycle that violates it.
    pub fn from_protocol(
        info: &'static BlockInfo,
        offer: &str,
        assertions: Option<(&Assertions, &str)>,
    ) -> (Self, Vec<String>) {
        let mut text = String::new();
        let mut pins: Vec<String> =
            info.outputs.iter().map(|port| format!("output {}", range(port))).collect();
        let mut meanings = Vec::new();
        for (place, waits) in offers(info).iter().enumerate() {
            let breaks = withdrawn(info, waits, &format!("cosim_wait_{place}"), &mut text);
            let _ = writeln!(text, "  assign {offer}{place} = {breaks};");
            pins.push(format!("output {offer}{place}"));
            let payload = if waits.payload.is_empty() { "" } else { " or its payload" };
            let Handshake { valid, ready, .. } = waits;
            meanings.push(format!("{valid}{payload} changed before {ready}"));
        }
        if let Some((assertions, fails)) = assertions {
            for place in 0..assertions.all.len() {
                let _ = writeln!(text, "  assign {fails}{place} = {};", Assertions::fails(place));
                pins.push(format!("output {fails}{place}"));
            }
        }
        let assertions = assertions.map(|(assertions, _)| assertions);
        let shared: Vec<&str> = info.outputs.iter().map(|port| port.name).collect();
        let mut around = around(info, &pins, &shared, assertions, &text);
        // The RTL may be any, so that nothing inside of it is connected.
        if let Some(state) = info.state_register {
            around = around.replace(&format!(", {}", connection(state, STATE)), "");
        }
        let text = format!("{around}{text}endmodule\n");
        let signals = signals(assertions).to_vec();
        let monitor = Self { text, state: None, signals, properties: Vec::new(), assumes: true };
        (monitor, meanings)
    }

    /// What it looks at inside of the RTL.
    pub fn inside(&self) -> impl Iterator<Item = &str> {
        self.state.into_iter().chain(self.signals.iter().map(|signal| signal.path.as_str()))
    }

    /// The signals that properties use and a netlist has not; of the state register the width does
    /// not matter, and is 0 here.
    pub fn missing(&self, netlist: &str) -> Vec<Signal> {
        let is_there = |name: &str, width: u32| {
            // A netlist that is not flat has the name local to its module.
            let names = [Some(name), name.rsplit('.').next()];
            netlist.lines().any(|line| {
                let mut words = line.split_whitespace();
                if words.next() != Some("wire") {
                    return false;
                }
                let words: Vec<&str> = words.collect();
                let place = words.iter().position(|word| *word == "width");
                let bits = place.and_then(|place| words.get(place + 1)?.parse().ok()).unwrap_or(1);
                let own = words.last().and_then(|last| last.strip_prefix('\\'));
                own.is_some() && names.contains(&own) && (bits == width || width == 0)
            })
        };
        let state = self.state.map(|name| Signal {
            name: STATE.to_owned(),
            path: name.to_owned(),
            width: 0,
            line: 0,
        });
        let all = self.signals.iter().cloned().chain(state);
        all.filter(|signal| !is_there(&signal.path, signal.width)).collect()
    }

    /// The same without the connections of some signals.
    pub fn without(mut self, missing: &[Signal]) -> Self {
        for signal in missing {
            for wire in [&*signal.name, STATE] {
                self.text = self.text.replace(&format!(", {}", connection(&signal.path, wire)), "");
            }
        }
        let is_there = |path: &str| !missing.iter().any(|other| other.path == path);
        self.signals.retain(|signal| is_there(&signal.path));
        self.state = self.state.filter(|name| is_there(name));
        self
    }
}

/// Writes four outputs for each selected property. `bad` is 1 where the property fails; `legal`
/// masks it once the environment has broken the protocol; `known` and `given` mask `bad` and
/// `legal` once an invariant has failed.
pub fn outputs(
    bad: &[(Property, String)],
    requested: &[usize],
    breaks: &str,
    clock: &str,
    text: &mut String,
) {
    for (so_far, now, expression) in
        [("broken", "breaks", breaks), ("failed", "fails", &any_invariant(bad))]
    {
        let _ = writeln!(
            text,
            "  wire {now} = {expression};\n  reg {so_far} = 1'b0;\n  \
             always @(posedge {clock}) {so_far} <= {so_far} | {now};"
        );
    }
    for place in requested {
        let (_, expression) = &bad[*place];
        let _ = writeln!(
            text,
            "  assign cosim_bad_{place} = {expression};\n  assign cosim_legal_{place} = cosim_bad_{place} & ~broken \
             & ~breaks;\n  assign cosim_known_{place} = cosim_bad_{place} & ~failed & ~fails;\n  \
             assign cosim_given_{place} = cosim_legal_{place} & ~failed & ~fails;"
        );
    }
}

/// The expression that is 1 where something does not hold that is to hold in every cycle.
fn any_invariant(bad: &[(Property, String)]) -> String {
    let all = bad.iter().enumerate().filter(|(_, (property, _))| property.kind == Kind::Always);
    all.fold("1'b0".to_owned(), |all, (place, _)| format!("{all} | cosim_bad_{place}"))
}

fn range(port: &Port) -> String {
    format!("[{}:0] {}", port.width - 1, port.name)
}

fn signals(assertions: Option<&Assertions>) -> &[Signal] {
    assertions.map_or(&[], |assertions| &assertions.signals)
}

fn connection(register: &str, wire: &str) -> String {
    match register.contains('.') {
        true => format!(".\\{register} ({wire})"),
        false => format!(".{register}({wire})"),
    }
}

/// The module header and the instance of the RTL. `pins` are ports in addition to the clock and the
/// inputs of the RTL. `shared` names those that are connected directly to the RTL.
fn around(
    info: &'static BlockInfo,
    pins: &[String],
    shared: &[&str],
    assertions: Option<&Assertions>,
    used: &str,
) -> String {
    let signals = signals(assertions);
    let mut all = vec![format!("input {}", info.rtl.clock)];
    all.extend(info.inputs.iter().map(|port| format!("input {}", range(port))));
    all.extend_from_slice(pins);
    let mut text = format!("module {TOP} (\n  {}\n);\n", all.join(",\n  "));
    for port in info.outputs.iter().filter(|port| !shared.contains(&port.name)) {
        let _ = writeln!(text, "  wire {};", range(port));
    }
    let names = info.inputs.iter().chain(info.outputs).map(|port| port.name);
    let names = std::iter::once(info.rtl.clock).chain(names);
    let beside = shared.iter().copied().filter(|name| !names.clone().any(|known| known == *name));
    let mut connections: Vec<String> =
        names.clone().chain(beside).map(|name| format!(".{name}({name})")).collect();
    for Signal { name, path, width, .. } in signals {
        let _ = writeln!(text, "  wire [{}:0] {name};", width - 1);
        connections.push(connection(path, name));
    }
    if let Some(state) = info.state_register {
        // As wide as it may be: what the register has not is 0.
        let _ = writeln!(text, "  wire [63:0] {STATE};");
        match signals.iter().find(|signal| signal.path == state) {
            Some(signal) => text += &format!("  assign {STATE} = {};\n", signal.name),
            None => connections.push(connection(state, STATE)),
        }
    }
    let reset = match info.reset.map(|pin| pin.name_and_level()) {
        Some((name, true)) => name.to_owned(),
        Some((name, false)) => format!("~{name}"),
        None => "1'b0".to_owned(),
    };
    let _ = writeln!(text, "  wire in_reset = {reset};");
    let _ = writeln!(text, "  {} dut ({});", info.rtl.top, connections.join(", "));
    if let Some(assertions) = assertions {
        text += &assertions.instance(used);
    }
    text
}

fn unknown(info: &'static BlockInfo, what: &str, name: &str) -> Error {
    Error::Usage(
        codes::UNKNOWN_SIGNAL,
        format!("block {}: Block::properties names `{name}`, which is {what}", info.name),
    )
}

/// A property of ports or of the state register.
fn property(kind: Kind, text: String) -> Property {
    Property { kind, text, of_registers: matches!(kind, Kind::State | Kind::Enabled) }
}

fn invariants(assertions: Option<&Assertions>, bad: &mut Vec<(Property, String)>) {
    let all = assertions.map_or(&[][..], |assertions| &assertions.all);
    for (place, assertion) in all.iter().enumerate() {
        let text = assertion.text.clone();
        let property = Property { kind: Kind::Always, text, of_registers: true };
        bad.push((property, Assertions::fails(place)));
    }
}

fn rules(
    info: &'static BlockInfo,
    facts: &Facts,
    assertions: Option<&Assertions>,
    bad: &mut Vec<(Property, String)>,
    text: &mut String,
) -> Result<(), Error> {
    let Facts { properties, unreachable } = facts;
    let of_registers = |kind, text| Property { kind, text, of_registers: true };
    for (place, rule) in properties.transitions.iter().enumerate() {
        let _ = writeln!(text, "  wire rule_{place} = ~in_reset & ({});", rule.when);
    }
    let mut families: Vec<&String> = Vec::new();
    for family in properties.transitions.iter().filter_map(|rule| rule.one_of.as_ref()) {
        if families.contains(&family) {
            continue;
        }
        families.push(family);
        let ones = (0..)
            .zip(&properties.transitions)
            .filter(|(_, rule)| rule.one_of.as_ref() == Some(family));
        let (wires, names): (Vec<String>, Vec<&str>) = ones
            .map(|(place, rule): (usize, _)| (format!("{{31'd0, rule_{place}}}"), rule.rule))
            .unzip();
        let what = format!("{family}: exactly one of {} applies", names.join(", "));
        bad.push((
            of_registers(Kind::OneRule, what),
            format!("~in_reset & ({} != 32'd1)", wires.join(" + ")),
        ));
    }
    for (place, rule) in properties.transitions.iter().enumerate() {
        let index = info.rules.iter().position(|known| known.name == rule.rule);
        if let Some(why) = index.and_then(|index| unreachable.get(&index)) {
            let what = format!("{} never applies: {why}", rule.rule);
            bad.push((of_registers(Kind::Never, what), format!("rule_{place}")));
        }
        if let Some(broken) = transition_condition(info, rule, place, assertions, text)? {
            let what = match (&rule.one_of, index) {
                // A transition that is no row of the specification is reported by its family.
                (Some(family), None) => format!("{family}, {}", gives(rule)),
                _ => gives(rule),
            };
            bad.push((of_registers(Kind::Rule, what), broken));
        }
    }
    Ok(())
}

fn gives(rule: &TransitionProperty) -> String {
    let counted = |what: &str, count: usize| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        count => Some(format!("{count} {what}s")),
    };
    let all = [counted("output", rule.outputs.len()), counted("next register", rule.next.len())];
    let all: Vec<String> = all.into_iter().flatten().collect();
    format!("{}: {} as specified", rule.rule, all.join(" and "))
}

/// The expression that is 1 where outputs or next registers differ from a transition; `None` if it
/// specifies none.
fn transition_condition(
    info: &'static BlockInfo,
    rule: &TransitionProperty,
    place: usize,
    assertions: Option<&Assertions>,
    text: &mut String,
) -> Result<Option<String>, Error> {
    let width_of = |name: &str| assertions.and_then(|assertions| assertions.width(name));
    let mut broken = Vec::new();
    for (output, value) in &rule.outputs {
        if width_of(output).is_none() && !info.outputs.iter().any(|port| port.name == *output) {
            return Err(unknown(
                info,
                "no output, and no signal or wire of the assertions",
                output,
            ));
        }
        broken.push(format!("(rule_{place} & ({output} != ({value})))"));
    }
    if !rule.next.is_empty() {
        let clock = info.rtl.clock;
        let _ = writeln!(
            text,
            "  reg was_rule_{place} = 1'b0;\n  always @(posedge {clock}) was_rule_{place} <= rule_{place};"
        );
        for (register, value) in &rule.next {
            let Some(width) = width_of(register) else {
                return Err(unknown(info, "no signal or wire of the assertions", register));
            };
            let next = format!("next_{place}_{register}");
            let _ = writeln!(
                text,
                "  reg [{}:0] {next};\n  always @(posedge {clock}) {next} <= {value};",
                width - 1
            );
            broken.push(format!("(was_rule_{place} & ~in_reset & ({register} != {next}))"));
        }
    }
    Ok((!broken.is_empty()).then(|| broken.join(" | ")))
}

/// Adds the properties that payload is 0 without its valid.
fn zeros(
    info: &'static BlockInfo,
    properties: &Properties,
    bad: &mut Vec<(Property, String)>,
) -> Result<(), Error> {
    for wanted in &properties.quiescent {
        let before = bad.len();
        for port in info.outputs {
            let Some(valid) = info.naming.governor(port, info.outputs, true) else { continue };
            if *wanted == port.name || *wanted == valid.name {
                let text = format!("{} is 0 while {} is 0", port.name, valid.name);
                let expression = format!("~{} & (|{})", valid.name, port.name);
                bad.push((property(Kind::Zero, text), expression));
            }
        }
        if bad.len() == before {
            return Err(unknown(info, "no valid, enable or payload of one", wanted));
        }
    }
    Ok(())
}

fn add_stable_valid(
    info: &'static BlockInfo,
    valid: &'static str,
    with_payload: bool,
    bad: &mut Vec<(Property, String)>,
    text: &mut String,
) -> Result<(), Error> {
    let channel = info.naming.channel(valid);
    let ready = channel.and_then(|channel| {
        info.inputs.iter().find(|port| info.naming.is_ready_of(port.name, channel))
    });
    let (Some(ready), true) = (ready, info.outputs.iter().any(|port| port.name == valid)) else {
        return Err(unknown(info, "no output that waits for a ready", valid));
    };
    let payload = payload_of(info, valid, info.outputs);
    let place = bad.len();
    let whole = Handshake {
        valid,
        ready: ready.name,
        payload: if with_payload { payload } else { Vec::new() },
    };
    let what = match with_payload && !whole.payload.is_empty() {
        true => format!("{valid} and its payload stay until {}", ready.name),
        false => format!("{valid} stays until {}", ready.name),
    };
    let expression = withdrawn(info, &whole, &format!("held_{place}"), text);
    bad.push((property(Kind::Held, what), expression));
    Ok(())
}

fn payload_of(info: &'static BlockInfo, valid: &str, ports: &'static [Port]) -> Vec<&'static Port> {
    let is_its =
        |port: &&Port| info.naming.governor(port, ports, false).is_some_and(|of| of.name == valid);
    ports.iter().filter(is_its).collect()
}

/// The channels on which the environment offers something to the block.
fn offers(info: &'static BlockInfo) -> Vec<Handshake> {
    let channel = |port: &'static Port| {
        let channel = info.naming.channel(port.name)?;
        let ready = info.outputs.iter().find(|port| info.naming.is_ready_of(port.name, channel))?;
        let is_its = |other: &&Port| {
            info.naming.role(other.name) == Role::Payload && info.naming.is_of(other.name, channel)
        };
        let payload = info.inputs.iter().filter(is_its).collect();
        Some(Handshake { valid: port.name, ready: ready.name, payload })
    };
    info.inputs.iter().filter_map(channel).collect()
}

/// Declares the registers that track a wait. Returns the expression that is 1 where the offer is
/// withdrawn or changed before ready.
fn withdrawn(info: &'static BlockInfo, waits: &Handshake, name: &str, text: &mut String) -> String {
    let Handshake { valid, ready, payload } = waits;
    let clock = info.rtl.clock;
    let _ = writeln!(
        text,
        "  reg {name} = 1'b0;\n  always @(posedge {clock}) {name} <= ~in_reset & {valid} & ~{ready};"
    );
    let mut ends = format!("~{valid}");
    if !payload.is_empty() {
        let names: Vec<&str> = payload.iter().map(|port| port.name).collect();
        let names = names.join(", ");
        let width: u32 = payload.iter().map(|port| port.width).sum();
        let _ = writeln!(
            text,
            "  reg [{}:0] {name}_was;\n  always @(posedge {clock}) {name}_was <= {{{names}}};",
            width - 1
        );
        ends += &format!(" | ({{{names}}} != {name}_was)");
    }
    format!("{name} & ~in_reset & ({ends})")
}

/// Adds the properties that the state register holds a known code and that enables are 1 only in
/// their states.
fn states(
    info: &'static BlockInfo,
    properties: &Properties,
    bad: &mut Vec<(Property, String)>,
) -> Result<(), Error> {
    let Some(register) = info.state_register else {
        return match properties.enabled.first() {
            Some((enable, _)) => {
                Err(unknown(info, "of a block without Block::STATE_REGISTER", enable))
            }
            None => Ok(()),
        };
    };
    let is_legal = |(_, name): &&(u64, &str)| !properties.illegal_states.contains(name);
    let codes: Vec<(u64, &str)> = info.states.iter().filter(is_legal).copied().collect();
    let is_one_of = |codes: &[u64]| {
        let each: Vec<String> =
            codes.iter().map(|code| format!("(cosim_state == 64'd{code})")).collect();
        format!("({})", each.join(" | "))
    };
    if !codes.is_empty() {
        let all: Vec<u64> = codes.iter().map(|(code, _)| *code).collect();
        let text = format!("{register} has the code of one of {} states", all.len());
        // Before the first clock edge in reset it may hold any value.
        let expression = format!("~in_reset & ~{}", is_one_of(&all));
        bad.push((property(Kind::State, text), expression));
    }
    for (enable, states) in &properties.enabled {
        let is_port = info.outputs.iter().any(|port| port.name == *enable);
        let known: Vec<u64> =
            codes.iter().filter(|(_, name)| states.contains(name)).map(|(code, _)| *code).collect();
        if !is_port || known.len() != states.len() {
            return Err(unknown(info, "no output, or one of a state that is not there", enable));
        }
        let text = format!("{enable} is 1 in {} only", states.join(", "));
        let expression = format!("{enable} & ~{}", is_one_of(&known));
        bad.push((property(Kind::Enabled, text), expression));
    }
    Ok(())
}
