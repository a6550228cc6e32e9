//! Recognizes interfaces of standard protocols among the ports of a module, for `cosim new`.
//!
//! The names of the ports are those that the agents look for. Each interface is taken with all of
//! its ports, the protocols with the most telling names first.

use cosim_agents::ports::{PortRule, is_port, patterns};
use cosim_agents::{apb, axi_lite, axi4, memory_port, stream, wishbone};
use std::collections::BTreeSet;
use verilated_build::{Port, Ports};

/// A protocol with agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Axi4,
    AxiLite,
    Stream,
    Apb,
    Wishbone,
    MemoryPort,
}

use Protocol::{Apb, Axi4, AxiLite, MemoryPort, Stream, Wishbone};

impl Protocol {
    const ALL: [Self; 6] = [Axi4, AxiLite, Stream, Apb, Wishbone, MemoryPort];

    /// Its name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Axi4 => "AXI4",
            AxiLite => "AXI4-Lite",
            Stream => "AXI4-Stream",
            Apb => "APB",
            Wishbone => "Wishbone",
            MemoryPort => "memory port or register bus",
        }
    }

    /// The name of an interface whose ports have nothing around the names of the protocol.
    fn short(self) -> &'static str {
        match self {
            Axi4 => "axi",
            AxiLite => "axil",
            Stream => "axis",
            Apb => "apb",
            Wishbone => "wb",
            MemoryPort => "bus",
        }
    }

    fn rules(self) -> &'static [PortRule] {
        match self {
            Axi4 => axi4::PORTS,
            AxiLite => axi_lite::PORTS,
            Stream => stream::PORTS,
            Apb => apb::PORTS,
            Wishbone => wishbone::PORTS,
            MemoryPort => memory_port::PORTS,
        }
    }

    /// Ports that an interface of it has at least one of, each of one bit.
    fn anchors(self) -> &'static [&'static str] {
        match self {
            Axi4 | AxiLite => &["awvalid", "arvalid"],
            Stream => &["tvalid"],
            Apb => &["psel"],
            Wishbone => &["cyc"],
            MemoryPort => &["we"],
        }
    }

    /// Ports of similar protocols that have no agents.
    fn strangers(self) -> &'static [&'static str] {
        match self {
            // AXI3.
            Axi4 => &["wid"],
            AxiLite => &["awlen", "awid", "awburst", "arlen", "arid", "arburst", "wlast", "rlast"],
            _ => &[],
        }
    }

    /// Whether the widths of an interface are those of the protocol.
    fn has_widths(self, agent: &Interface) -> bool {
        let width = |name: &str| agent.found(name).map(|port| port.width);
        let data = |names: [&str; 2], most: u32| {
            let [one, other] = names.map(width);
            let is_bus = |bits: u32| bits.is_multiple_of(8) && bits > 0 && bits <= most;
            one.is_none_or(is_bus) && other.is_none_or(is_bus) && (one == other || one.is_none() || other.is_none())
        };
        let strobes = |strobe: &str, of: &str| match (width(strobe), width(of)) {
            (Some(strobe), Some(bits)) => strobe == bits / 8,
            _ => true,
        };
        let fits = |name: &str, most: u32| width(name).is_none_or(|bits| bits <= most);
        match self {
            Axi4 => {
                let is_power = width("wdata").or(width("rdata")).is_some_and(u32::is_power_of_two);
                let ids = ["awid", "arid", "bid", "rid"].iter().all(|name| fits(name, 32));
                data(["wdata", "rdata"], 1024) && is_power && strobes("wstrb", "wdata") && ids
            }
            AxiLite => data(["wdata", "rdata"], 64) && strobes("wstrb", "wdata"),
            Stream => {
                let numbers = fits("tid", 32) && fits("tdest", 32) && fits("tuser", 128);
                let lanes = strobes("tkeep", "tdata") && strobes("tstrb", "tdata");
                data(["tdata", "tdata"], 1024) && numbers && lanes
            }
            Apb => data(["pwdata", "prdata"], 64) && strobes("pstrb", "pwdata"),
            Wishbone => data(["dat_w", "dat_r"], 64) && strobes("sel", "dat_w"),
            MemoryPort => {
                let has_data = width("wdata").is_some();
                has_data && data(["wdata", "rdata"], 1024) && strobes("be", "wdata")
            }
        }
    }
}

/// An interface of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub protocol: Protocol,
    /// Whether the module starts the transfers, or transmits.
    pub is_manager: bool,
    /// What is around the names of the protocol: that of writes, and that of reads if it differs.
    pub pattern: String,
    pub reads: Option<String>,
    /// The name of the agent.
    pub name: String,
    /// Its ports, with the names of the protocol.
    ports: Vec<(&'static str, Port)>,
}

impl Interface {
    fn found(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|(own, _)| *own == name).map(|(_, port)| port)
    }

    /// Whether it has the port with this name of the protocol.
    pub fn has(&self, name: &str) -> bool {
        self.found(name).is_some()
    }

    /// Whether it is a bus of registers, which are read without a delay.
    pub fn is_of_registers(&self) -> bool {
        self.protocol == MemoryPort
            && self.found("en").is_some_and(|port| is_port(&port.name, &self.pattern, "cs"))
    }

    fn is_complete(&self) -> bool {
        self.has("awvalid") && self.has("arvalid")
    }

    /// The words of its patterns, without those for writes and reads.
    fn words(&self) -> Vec<String> {
        let pattern = self.pattern.to_ascii_lowercase();
        let words = pattern.split(['_', '*']).filter(|word| !word.is_empty());
        let halves = ["w", "wr", "write", "r", "rd", "read"];
        words.filter(|word| !halves.contains(word)).map(str::to_owned).collect()
    }
}

/// The interfaces of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interfaces {
    pub interfaces: Vec<Interface>,
    /// The ports that belong to one.
    pub taken: BTreeSet<String>,
}

/// Whether generated code can name a port.
fn is_plain(port: &&Port) -> bool {
    port.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Interfaces {
    /// Recognizes the interfaces of a module. `own` are inputs that the harness drives by itself.
    pub fn of(ports: &Ports, own: &[&str]) -> Self {
        let is_free = |port: &&Port| !own.contains(&port.name.as_str()) && is_plain(port);
        let inputs: Vec<&Port> = ports.inputs.iter().filter(is_free).collect();
        let outputs: Vec<&Port> = ports.outputs.iter().filter(is_plain).collect();
        let mut found = Self::default();
        for protocol in Protocol::ALL {
            for is_manager in [false, true] {
                let sides =
                    if is_manager { [&outputs, &inputs] } else { [&inputs, &outputs] };
                found.add(protocol, is_manager, sides);
            }
            found.join_halves(protocol);
        }
        found.name();
        found
    }

    /// Adds the interfaces of a protocol. The first side has the ports of the manager.
    fn add(&mut self, protocol: Protocol, is_manager: bool, sides: [&Vec<&Port>; 2]) {
        let rules = protocol.rules();
        for anchor in protocol.anchors() {
            let Some(rule) = rules.iter().find(|rule| rule.names[0] == *anchor) else { continue };
            for port in sides[0].iter().filter(|port| port.width == 1) {
                for name in rule.names {
                    for pattern in patterns(&port.name, name) {
                        if self.taken.contains(&port.name) {
                            continue;
                        }
                        if let Some(interface) =
                            self.interface(protocol, is_manager, pattern, sides)
                        {
                            let own = interface.ports.iter().map(|(_, port)| port.name.clone());
                            self.taken.extend(own);
                            self.interfaces.push(interface);
                        }
                    }
                }
            }
        }
    }

    /// The interface with a pattern, if all of its ports are there.
    fn interface(
        &self,
        protocol: Protocol,
        is_manager: bool,
        pattern: String,
        sides: [&Vec<&Port>; 2],
    ) -> Option<Interface> {
        let find = |rule: &PortRule| -> Option<Port> {
            let side = sides[usize::from(!rule.is_of_manager)];
            let mut names = rule.names.iter();
            names.find_map(|name| {
                let is_it = |port: &&&Port| {
                    is_port(&port.name, &pattern, name)
                        && !self.taken.contains(&port.name)
                        && (port.width == 1 || !rule.is_bit)
                };
                side.iter().find(is_it).map(|port| (**port).clone())
            })
        };
        let is_stranger = |name: &&str| {
            sides.iter().any(|side| side.iter().any(|port| is_port(&port.name, &pattern, name)))
        };
        if protocol.strangers().iter().any(|name| is_stranger(&name)) {
            return None;
        }
        let has = |name: &str| {
            let rule = protocol.rules().iter().find(|rule| rule.names[0] == name);
            rule.and_then(find).is_some()
        };
        let is_axi = matches!(protocol, Axi4 | AxiLite);
        let halves = [is_axi && !has("awvalid"), is_axi && !has("arvalid")];
        let mut ports = Vec::new();
        for rule in protocol.rules() {
            let is_read = rule.names[0].starts_with('r') || rule.names[0].starts_with("ar");
            if halves[usize::from(is_read)] {
                continue;
            }
            match find(rule) {
                Some(port) => ports.push((rule.names[0], port)),
                None if rule.is_required => return None,
                None => {}
            }
        }
        let interface =
            Interface { protocol, is_manager, pattern, reads: None, name: String::new(), ports };
        protocol.has_widths(&interface).then_some(interface)
    }

    /// Joins interfaces of which one has the writes and the other one the reads.
    fn join_halves(&mut self, protocol: Protocol) {
        let mut all = std::mem::take(&mut self.interfaces);
        while let Some(mut first) = (!all.is_empty()).then(|| all.remove(0)) {
            let is_half = |own: &Interface| own.protocol == protocol && !own.is_complete();
            let is_axi = matches!(protocol, Axi4 | AxiLite);
            let is_other = |other: &Interface| {
                is_half(other)
                    && other.is_manager == first.is_manager
                    && other.has("awvalid") != first.has("awvalid")
                    && other.words() == first.words()
            };
            if is_axi
                && is_half(&first)
                && let Some(place) = all.iter().position(is_other)
            {
                let mut other = all.remove(place);
                if other.has("awvalid") {
                    std::mem::swap(&mut first, &mut other);
                }
                first.ports.append(&mut other.ports);
                first.reads = Some(other.pattern).filter(|reads| *reads != first.pattern);
                match protocol.has_widths(&first) {
                    true => self.interfaces.push(first),
                    false => drop(first),
                }
                continue;
            }
            self.interfaces.push(first);
        }
    }

    /// Names the agents after what is around the names of the protocol.
    fn name(&mut self) {
        let mut used = BTreeSet::new();
        for interface in &mut self.interfaces {
            let mut words = interface.words();
            if interface.reads.is_none() {
                let pattern = interface.pattern.to_ascii_lowercase();
                let all = pattern.split(['_', '*']).filter(|word| !word.is_empty());
                words = all.map(str::to_owned).collect();
            }
            let mut name = words.join("_");
            if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
                let short = interface.protocol.short();
                name = if name.is_empty() { short.to_owned() } else { format!("{short}_{name}") };
            }
            let stem = name.clone();
            for number in 2.. {
                if used.insert(name.clone()) {
                    break;
                }
                name = format!("{stem}_{number}");
            }
            interface.name = name;
        }
    }
}
