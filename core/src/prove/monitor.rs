//! Promises as Verilog: a module around the RTL with an output for each property.

use super::{Kind, Property};
use crate::error::Error;
use crate::fourvalue::governor;
use crate::harness::{Block, Explain, Held, Parameters, Promises, Role};
use std::fmt::Write as _;
use verilated::{Pins, Port};

/// The file of the monitor.
pub const MONITOR: &str = "monitor.v";
/// The largest code that a state is looked for under.
const STATE_CODES: u64 = 0xff;

/// A monitor.
#[derive(Debug)]
pub struct Monitor {
    /// Its text.
    pub text: String,
    /// The register of the RTL that it looks at.
    pub state: Option<&'static str>,
    /// The properties, in the order of its outputs.
    pub properties: Vec<Property>,
    /// Whether the block has partners that offer it something.
    pub assumes: bool,
}

/// A channel that waits: names of its valid and ready, and the payload that stays.
struct Waits {
    valid: &'static str,
    ready: &'static str,
    payload: Vec<&'static Port>,
}

impl Monitor {
    /// The monitor of a block's promises.
    ///
    /// # Errors
    /// [`Error::Usage`] if they name what is not there.
    pub fn new<B: Explain>(parameters: &Parameters) -> Result<Self, Error> {
        let promises = B::promises(parameters);
        let mut bad = Vec::new();
        zeros::<B>(&promises, &mut bad)?;
        let mut text = String::new();
        for Held { valid, payload } in &promises.held {
            held::<B>(valid, *payload, &mut bad, &mut text)?;
        }
        states::<B>(&promises, &mut bad)?;
        let offers = offers::<B>();
        let mut breaks = Vec::new();
        for (place, offer) in offers.iter().enumerate() {
            breaks.push(withdrawn::<B>(offer, &format!("offer_{place}"), &mut text));
        }
        let _ = writeln!(
            text,
            "  wire breaks = {};\n  reg broken = 1'b0;\n  always @(posedge {}) broken <= broken | breaks;",
            if breaks.is_empty() { "1'b0".to_owned() } else { breaks.join(" | ") },
            B::RTL.clock
        );
        for (place, (_, expression)) in bad.iter().enumerate() {
            let _ = writeln!(
                text,
                "  assign cosim_bad_{place} = {expression};\n  assign cosim_legal_{place} = cosim_bad_{place} & ~broken \
                 & ~breaks;"
            );
        }
        let text = format!("{}{text}endmodule\n", around::<B>(bad.len()));
        let properties = bad.into_iter().map(|(property, _)| property).collect();
        Ok(Self { text, state: B::STATE_REGISTER, properties, assumes: !offers.is_empty() })
    }
}

/// The head of the module, with the RTL in it.
fn around<B: Block>(properties: usize) -> String {
    let range = |port: &Port| format!("[{}:0] {}", port.width - 1, port.name);
    let mut pins = vec![format!("input {}", B::RTL.clock)];
    pins.extend(B::Inputs::PORTS.iter().map(|port| format!("input {}", range(port))));
    for place in 0..properties {
        pins.push(format!("output cosim_bad_{place}, output cosim_legal_{place}"));
    }
    let mut text = format!("module cosim_monitor (\n  {}\n);\n", pins.join(",\n  "));
    for port in B::Outputs::PORTS {
        let _ = writeln!(text, "  wire {};", range(port));
    }
    let names = B::Inputs::PORTS.iter().chain(B::Outputs::PORTS).map(|port| port.name);
    let mut connections: Vec<String> =
        std::iter::once(B::RTL.clock).chain(names).map(|name| format!(".{name}({name})")).collect();
    if let Some(state) = B::STATE_REGISTER {
        // As wide as it may be: what the register has not is 0.
        let _ = writeln!(text, "  wire [63:0] cosim_state;");
        connections.push(format!(".{state}(cosim_state)"));
    }
    let reset = match B::RESET.map(|pin| pin.name_and_level()) {
        Some((name, true)) => name.to_owned(),
        Some((name, false)) => format!("~{name}"),
        None => "1'b0".to_owned(),
    };
    let _ = writeln!(text, "  wire in_reset = {reset};");
    let _ = writeln!(text, "  {} dut ({});", B::RTL.top, connections.join(", "));
    text
}

fn unknown<B: Block>(what: &str, name: &str) -> Error {
    Error::Usage(format!(
        "block {} promises something of `{name}`, which is {what}: see Block::promises",
        B::NAME
    ))
}

/// Payload is 0 without its valid.
fn zeros<B: Block>(promises: &Promises, bad: &mut Vec<(Property, String)>) -> Result<(), Error> {
    for wanted in &promises.zero {
        let before = bad.len();
        for port in B::Outputs::PORTS {
            let Some(valid) = governor::<B>(port, B::Outputs::PORTS, true) else { continue };
            if *wanted == port.name || *wanted == valid.name {
                let text = format!("{} is 0 while {} is 0", port.name, valid.name);
                let expression = format!("~{} & (|{})", valid.name, port.name);
                bad.push((Property { kind: Kind::Zero, text }, expression));
            }
        }
        if bad.len() == before {
            return Err(unknown::<B>("no valid, enable or payload of one", wanted));
        }
    }
    Ok(())
}

/// A valid stays until ready.
fn held<B: Block>(
    valid: &'static str,
    with_payload: bool,
    bad: &mut Vec<(Property, String)>,
    text: &mut String,
) -> Result<(), Error> {
    let channel = B::NAMING.channel(valid);
    let ready = channel.and_then(|channel| {
        B::Inputs::PORTS.iter().find(|port| B::NAMING.is_ready_of(port.name, channel))
    });
    let (Some(ready), true) = (ready, B::Outputs::PORTS.iter().any(|port| port.name == valid))
    else {
        return Err(unknown::<B>("no output that waits for a ready", valid));
    };
    let payload = payload_of::<B>(valid, B::Outputs::PORTS);
    let place = bad.len();
    let whole = Waits {
        valid,
        ready: ready.name,
        payload: if with_payload { payload } else { Vec::new() },
    };
    let what = match with_payload && !whole.payload.is_empty() {
        true => format!("{valid} and its payload stay until {}", ready.name),
        false => format!("{valid} stays until {}", ready.name),
    };
    let expression = withdrawn::<B>(&whole, &format!("held_{place}"), text);
    bad.push((Property { kind: Kind::Held, text: what }, expression));
    Ok(())
}

/// The payload of a valid among some ports.
fn payload_of<B: Block>(valid: &str, ports: &'static [Port]) -> Vec<&'static Port> {
    let is_its =
        |port: &&Port| governor::<B>(port, ports, false).is_some_and(|of| of.name == valid);
    ports.iter().filter(is_its).collect()
}

/// The channels by which a block is offered something and says when it takes it.
fn offers<B: Block>() -> Vec<Waits> {
    let channel = |port: &'static Port| {
        let channel = B::NAMING.channel(port.name)?;
        let ready =
            B::Outputs::PORTS.iter().find(|port| B::NAMING.is_ready_of(port.name, channel))?;
        let is_its = |other: &&Port| {
            B::NAMING.role(other.name) == Role::Payload
                && other.name.strip_prefix(channel).is_some_and(|rest| rest.starts_with('_'))
        };
        let payload = B::Inputs::PORTS.iter().filter(is_its).collect();
        Some(Waits { valid: port.name, ready: ready.name, payload })
    };
    B::Inputs::PORTS.iter().filter_map(channel).collect()
}

/// Declares the registers that know of a wait; the expression that is 1 where it ends without ready.
fn withdrawn<B: Block>(waits: &Waits, name: &str, text: &mut String) -> String {
    let Waits { valid, ready, payload } = waits;
    let clock = B::RTL.clock;
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

/// The state register has the code of a state, and enables are 1 in theirs.
fn states<B: Explain>(promises: &Promises, bad: &mut Vec<(Property, String)>) -> Result<(), Error> {
    let Some(register) = B::STATE_REGISTER else {
        return match promises.enabled.first() {
            Some((enable, _)) => {
                Err(unknown::<B>("of a block without Block::STATE_REGISTER", enable))
            }
            None => Ok(()),
        };
    };
    let codes: Vec<(u64, &str)> = (0..=STATE_CODES)
        .filter_map(|code| Some((code, B::state_name(code)?)))
        .filter(|(_, name)| !promises.no_states.contains(name))
        .collect();
    let is_one_of = |codes: &[u64]| {
        let each: Vec<String> =
            codes.iter().map(|code| format!("(cosim_state == 64'd{code})")).collect();
        format!("({})", each.join(" | "))
    };
    if !codes.is_empty() {
        let all: Vec<u64> = codes.iter().map(|(code, _)| *code).collect();
        let text = format!("{register} has the code of one of {} states", all.len());
        // Before the first edge in reset it may hold anything.
        let expression = format!("~in_reset & ~{}", is_one_of(&all));
        bad.push((Property { kind: Kind::State, text }, expression));
    }
    for (enable, states) in &promises.enabled {
        let is_port = B::Outputs::PORTS.iter().any(|port| port.name == *enable);
        let known: Vec<u64> =
            codes.iter().filter(|(_, name)| states.contains(name)).map(|(code, _)| *code).collect();
        if !is_port || known.len() != states.len() {
            return Err(unknown::<B>("no output, or one of a state that is not there", enable));
        }
        let text = format!("{enable} is 1 in {} only", states.join(", "));
        let expression = format!("{enable} & ~{}", is_one_of(&known));
        bad.push((Property { kind: Kind::Enabled, text }, expression));
    }
    Ok(())
}
