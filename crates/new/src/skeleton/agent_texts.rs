//! Interfaces with agents, for templates.

use super::texts::clock_of;
use crate::agents::{Interface, Interfaces, MemoryKind, Protocol};
use crate::names::{Ident, Scope, Text, Word};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
struct AgentText {
    name: Word,
    field: Ident,
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
    /// The lane and the number of lanes of ports that several interfaces share.
    lane: Option<(u32, u32)>,
    /// What follows the pattern, and the call.
    argument: &'static str,
    more: &'static str,
    /// Whether a constant says where its ports are.
    is_explicit: bool,
    /// Whether the module starts the transfers.
    is_manager: bool,
    /// The function of the reference memory, if the module may be one.
    memory: Option<&'static str>,
    /// The field of the beats that the module owes, if it sends a stream.
    beats: Option<Ident>,
    /// The field of the memory, and the number of the port.
    memory_field: Option<Ident>,
    port: usize,
    /// Whether the payload of each channel has words.
    has_channels: bool,
    /// The clock of a module with several.
    clock: Option<Ident>,
}

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
    beats: Vec<Ident>,
    has_naming: bool,
    has_lanes: bool,
    /// Whether responses are those of the module, and not passed on from behind it.
    has_responses: bool,
    has_axi_responses: bool,
    has_wishbone_responses: bool,
}

impl Agents {
    /// The agents of these interfaces. `clocks` are those of a module with several, and `fields`
    /// the names of channels and agents.
    pub fn new(interfaces: &Interfaces, clocks: &[String], fields: &mut Scope) -> Self {
        let mut memories: Vec<(Option<MemoryKind>, Ident)> = Vec::new();
        let mut ports = Vec::new();
        let mut agents = Vec::new();
        for interface in &interfaces.interfaces {
            let mut text = agent(interface, clocks, fields);
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
            let own = [text.pins].into_iter().chain(text.mode()).filter(|_| text.is_explicit);
            for name in [text.agent].into_iter().chain(own) {
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
        let is_of = |module: &str| agents.iter().any(|of| of.module == module);
        let is_bridge = agents.iter().any(|of| of.is_manager && of.module != "stream");
        let has_axi = is_of("axi4") || is_of("axi_lite");
        let has_responses = !is_bridge && (has_axi || is_of("apb") || is_of("wishbone"));
        Self {
            has_responses,
            has_axi_responses: has_responses && has_axi,
            has_wishbone_responses: has_responses && is_of("wishbone"),
            has_lanes: agents.iter().any(|of| of.lane.is_some()),
            has_naming: agents.iter().any(|of| of.has_channels),
            beats: agents.iter().filter_map(|of| of.beats.clone()).collect(),
            memories: memories.into_iter().map(|(_, field)| field).collect(),
            agents,
            declared,
            monitors,
            checks,
        }
    }
}

impl AgentText {
    /// The type of its argument.
    fn mode(&self) -> Option<&'static str> {
        (!self.argument.is_empty()).then_some("WishboneMode")
    }
}

fn agent(interface: &Interface, clocks: &[String], fields: &mut Scope) -> AgentText {
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
        Protocol::Stream => of("", "checks"),
        Protocol::MemoryPort => of("", "manager_checks"),
        _ => of("subordinate_checks", "manager_checks"),
    };
    let argument = match interface.protocol {
        Protocol::Wishbone if interface.has_port("stall") => ", WishboneMode::Pipelined",
        Protocol::Wishbone => ", WishboneMode::Classic",
        _ => "",
    };
    let more = if interface.is_of_registers() && !is_manager { ".with_latency(0)" } else { "" };
    let field = fields.unique(Ident::field(&interface.name));
    let owes_beats = is_manager && module == "stream";
    let beats =
        owes_beats.then(|| fields.unique(Ident::field(&format!("{}_beats", interface.name))));
    AgentText {
        beats,
        name: Word::new(&interface.name),
        constant: Ident::constant(&field),
        field,
        is_explicit: interface.reads.is_some()
            || interface.lane.is_some()
            || !argument.is_empty()
            || !more.is_empty(),
        lane: interface.lane,
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
