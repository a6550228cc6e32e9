//! Interfaces with agents, for templates.

use super::texts::clock_of;
use crate::agents::{Interface, Interfaces, MemoryKind, Protocol};
use crate::channels::{Channel, Channels, Handshake};
use crate::names::{Ident, Scope, Text, Word};
use serde::Serialize;
use verilated_build::Port;

/// Inputs without a protocol that get an agent; more are held at 0.
const MOST_INPUTS: usize = 32;

/// An agent.
#[derive(Debug, Clone, Serialize)]
struct AgentText {
    name: Word,
    field: Ident,
    /// The constant of the ports.
    constant: Ident,
    title: &'static str,
    /// The module of the protocol, and types in it.
    module: &'static str,
    pins: &'static str,
    agent: &'static str,
    monitor: &'static str,
    /// The list of the checks that the module can break.
    checks: &'static str,
    pattern: Text,
    reads: Option<Text>,
    /// What follows the pattern, and the call.
    argument: &'static str,
    more: &'static str,
    /// Whether the module starts the transfers.
    is_manager: bool,
    /// The function of the reference memory, if the module may be one.
    memory: Option<&'static str>,
    /// The field of the memory, and the number of the port.
    memory_field: Option<Ident>,
    port: usize,
    /// Whether the payload of each channel has words.
    has_channels: bool,
    /// The clock of a module with several.
    clock: Option<Ident>,
}

/// A channel beside the interfaces.
#[derive(Debug, Clone, Serialize)]
struct HandshakeText {
    name: Word,
    field: Ident,
    constant: Ident,
    is_source: bool,
    valid: Text,
    is_valid_low: bool,
    ready: Option<Text>,
    is_ready_low: bool,
    payload: Vec<Text>,
    clock: Option<Ident>,
}

/// An input without a protocol.
#[derive(Debug, Clone, Serialize)]
struct InputText {
    field: Ident,
    name: Text,
    clock: Option<Ident>,
}

/// The agents of a block.
#[derive(Debug, Clone, Serialize)]
pub struct Agents {
    agents: Vec<AgentText>,
    /// The types of each module that the declaration and the scoreboard need.
    declared: Vec<(&'static str, Vec<&'static str>)>,
    monitors: Vec<(&'static str, &'static str)>,
    /// The lists of checks, each once: module, monitor, list, and whether the ports of the
    /// manager are outputs.
    checks: Vec<(&'static str, &'static str, bool)>,
    memories: Vec<Ident>,
    handshakes: Vec<HandshakeText>,
    inputs: Vec<InputText>,
    /// Inputs that nothing drives.
    tied: Vec<Ident>,
    /// Outputs of interfaces and channels.
    outputs: Vec<Word>,
    has_all_outputs: bool,
    has_naming: bool,
    /// Whether responses are those of the module, and not passed on from behind it.
    has_responses: bool,
    has_axi_responses: bool,
    has_wishbone_responses: bool,
}

impl Agents {
    /// The inputs that nothing drives.
    pub fn tied(&self) -> Vec<String> {
        self.tied.iter().map(ToString::to_string).collect()
    }

    /// The agents of these interfaces. `others` has the channels and the ports beside them, and
    /// `clocks` the clocks of a module with several.
    pub fn new(
        interfaces: &Interfaces,
        others: &Channels,
        outputs: &[Port],
        clocks: &[String],
    ) -> Self {
        // Fields of the structs that the declaration generates.
        let reserved =
            ["noise", "reset", "idle", "counts", "progress_timeout", "raw_cycles_per_packet"];
        let (mut fields, mut constants) = (Scope::default(), Scope::of_types());
        for name in reserved {
            fields.unique(Ident::field(name));
        }
        let mut memories: Vec<(Option<MemoryKind>, Ident)> = Vec::new();
        let mut ports = Vec::new();
        let mut agents = Vec::new();
        for interface in &interfaces.interfaces {
            let mut text = agent(interface, clocks, &mut fields, &mut constants);
            if text.memory.is_some() {
                let key = interface.memory();
                let known = memories.iter().position(|(other, _)| key.is_some() && *other == key);
                let place = known.unwrap_or_else(|| {
                    let name = match memories.len() {
                        0 => "memory".to_owned(),
                        _ => format!("{}_memory", interface.name),
                    };
                    memories.push((key, fields.unique(Ident::field(&name))));
                    ports.push(0);
                    memories.len() - 1
                });
                text.memory_field = Some(memories[place].1.clone());
                text.port = ports[place];
                ports[place] += 1;
            }
            agents.push(text);
        }
        let mut declared: Vec<(&str, Vec<&str>)> = Vec::new();
        let (mut monitors, mut checks) = (Vec::new(), Vec::new());
        for text in &agents {
            if !declared.iter().any(|(module, _)| *module == text.module) {
                declared.push((text.module, Vec::new()));
                monitors.push((text.module, text.monitor));
            }
            let place = declared.iter().position(|(module, _)| *module == text.module);
            let names = [text.agent, text.pins].into_iter().chain(text.mode());
            for name in names {
                if let Some((_, list)) = place.and_then(|place| declared.get_mut(place))
                    && !list.contains(&name)
                {
                    list.push(name);
                }
            }
            let list = (text.monitor, text.checks, text.is_manager);
            if !text.checks.is_empty() && !checks.contains(&list) {
                checks.push(list);
            }
        }
        let (channels, left): (Vec<&Channel>, Vec<&Channel>) =
            others.channels.iter().partition(|channel| is_simple(channel, others, outputs));
        let handshakes: Vec<_> =
            channels.iter().map(|of| handshake(of, clocks, &mut fields, &mut constants)).collect();
        // A part of a channel that no agent drives is silent.
        let mut tied: Vec<&str> = Vec::new();
        for channel in &left {
            let handshakes = [Some(&channel.valid), channel.ready.as_ref()];
            tied.extend(handshakes.into_iter().flatten().map(|pin| pin.port.as_str()));
            tied.extend(channel.payload.iter().map(|(_, port)| port.name.as_str()));
        }
        tied.retain(|name| !outputs.iter().any(|port| port.name == *name));
        let is_near = |port: &Port| {
            let name = port.name.to_ascii_lowercase();
            let begins = |of: &Interface| {
                let pattern = of.pattern.to_ascii_lowercase();
                let stem = pattern.trim_matches(['*', '_']);
                !stem.is_empty()
                    && (name.starts_with(&format!("{stem}_"))
                        || name.ends_with(&format!("_{stem}")))
            };
            interfaces.interfaces.iter().any(begins)
        };
        let mut inputs = Vec::new();
        for port in &others.other_inputs {
            if is_near(port) || inputs.len() == MOST_INPUTS {
                tied.push(&port.name);
            } else {
                let field = fields.unique(Ident::field(&port.name));
                let clock = clock_of(&port.name, true, clocks);
                inputs.push(InputText { field, name: Text::new(&port.name), clock });
            }
        }
        let of_channels = |name: &str| !others.other_outputs.iter().any(|port| port.name == name);
        let own = outputs.iter().filter(|port| of_channels(&port.name));
        let is_of = |module: &str| agents.iter().any(|of| of.module == module);
        let is_bridge = agents.iter().any(|of| of.is_manager && of.module != "stream");
        let has_axi = is_of("axi4") || is_of("axi_lite");
        let has_responses = !is_bridge && (has_axi || is_of("apb") || is_of("wishbone"));
        Self {
            has_responses,
            has_axi_responses: has_responses && has_axi,
            has_wishbone_responses: has_responses && is_of("wishbone"),
            has_all_outputs: others.other_outputs.is_empty(),
            has_naming: agents.iter().any(|of| of.has_channels),
            outputs: own.map(|port| Word::new(&port.name)).collect(),
            memories: memories.into_iter().map(|(_, field)| field).collect(),
            tied: tied.into_iter().map(Ident::field).collect(),
            agents,
            declared,
            monitors,
            checks,
            handshakes,
            inputs,
        }
    }
}

impl AgentText {
    /// The type of its argument.
    fn mode(&self) -> Option<&'static str> {
        (!self.argument.is_empty()).then_some("WishboneMode")
    }
}

fn agent(
    interface: &Interface,
    clocks: &[String],
    fields: &mut Scope,
    constants: &mut Scope,
) -> AgentText {
    let is_manager = interface.is_manager;
    let of = |subordinate, manager| if is_manager { manager } else { subordinate };
    let (module, pins, agent, monitor, memory) = match interface.protocol {
        Protocol::Axi4 => {
            ("axi4", "Axi4Pins", of("Axi4Manager", "Axi4Subordinate"), "Axi4Monitor", "axi4")
        }
        Protocol::AxiLite => (
            "axi_lite",
            "AxiLitePins",
            of("AxiLiteManager", "AxiLiteSubordinate"),
            "AxiLiteMonitor",
            "axi_lite",
        ),
        Protocol::Stream => {
            ("stream", "StreamPins", of("StreamSource", "StreamSink"), "StreamMonitor", "")
        }
        Protocol::Apb => {
            ("apb", "ApbPins", of("ApbManager", "ApbSubordinate"), "ApbMonitor", "apb")
        }
        Protocol::Wishbone => (
            "wishbone",
            "WishbonePins",
            of("WishboneManager", "WishboneSubordinate"),
            "WishboneMonitor",
            "wishbone",
        ),
        Protocol::MemoryPort => (
            "memory_port",
            "MemoryPortPins",
            of("MemoryPortManager", "MemoryPortSubordinate"),
            "MemoryPortMonitor",
            "memory_port",
        ),
    };
    let checks = match interface.protocol {
        Protocol::Stream => of("", "CHECKS"),
        Protocol::MemoryPort => of("", "MANAGER_CHECKS"),
        _ => of("SUBORDINATE_CHECKS", "MANAGER_CHECKS"),
    };
    let argument = match interface.protocol {
        Protocol::Wishbone if interface.has("stall") => ", WishboneMode::Pipelined",
        Protocol::Wishbone => ", WishboneMode::Classic",
        _ => "",
    };
    let more = if interface.is_of_registers() && !is_manager { ".with_latency(0)" } else { "" };
    AgentText {
        name: Word::new(&interface.name),
        field: fields.unique(Ident::field(&interface.name)),
        constant: constants.unique(Ident::field(&interface.name.to_ascii_uppercase())),
        title: interface.protocol.title(),
        module,
        pins,
        agent,
        monitor,
        checks,
        pattern: Text::new(&interface.pattern),
        reads: interface.reads.as_deref().map(Text::new),
        argument,
        more,
        is_manager,
        memory: Some(memory).filter(|memory| !memory.is_empty() && !is_manager),
        memory_field: None,
        port: 0,
        has_channels: matches!(interface.protocol, Protocol::Axi4 | Protocol::AxiLite),
        clock: clock_of(interface.pattern.trim_matches('*'), !is_manager, clocks),
    }
}

/// Whether an agent can drive the channel: it has whole ports of its own.
fn is_simple(channel: &Channel, others: &Channels, outputs: &[Port]) -> bool {
    let uses = |name: &str| {
        let count = |of: &Channel| {
            let handshakes = [Some(&of.valid), of.ready.as_ref()];
            let pins = handshakes.into_iter().flatten().map(|pin| pin.port.as_str());
            pins.chain(of.payload.iter().map(|(_, port)| port.name.as_str()))
                .filter(|own| *own == name)
                .count()
        };
        others.channels.iter().map(count).sum::<usize>()
    };
    let is_output = |name: &str| outputs.iter().any(|port| port.name == name);
    let is_alone = |pin: &Handshake| uses(&pin.port) == 1;
    is_alone(&channel.valid)
        && channel.ready.as_ref().is_none_or(is_alone)
        && channel.payload.iter().all(|(_, port)| port.width <= 1024 && uses(&port.name) == 1)
        && is_output(&channel.valid.port) != channel.is_source
}

fn handshake(
    channel: &Channel,
    clocks: &[String],
    fields: &mut Scope,
    constants: &mut Scope,
) -> HandshakeText {
    let name = channel.name.to_ascii_lowercase();
    HandshakeText {
        name: Word::new(&name),
        field: fields.unique(Ident::field(&name)),
        constant: constants.unique(Ident::field(&name.to_ascii_uppercase())),
        is_source: channel.is_source,
        valid: Text::new(&channel.valid.port),
        is_valid_low: channel.valid.is_inverted,
        ready: channel.ready.as_ref().map(|ready| Text::new(&ready.port)),
        is_ready_low: channel.ready.as_ref().is_some_and(|ready| ready.is_inverted),
        payload: channel.payload.iter().map(|(_, port)| Text::new(&port.name)).collect(),
        clock: clock_of(&channel.name, channel.is_source, clocks),
    }
}
