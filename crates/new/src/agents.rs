//! Recognizes interfaces of standard protocols among the ports of a module, for `cosim new`.
//!
//! The names of the ports are those that the agents look for. Each interface is taken with all of
//! its ports, the protocols with the most telling names first.

use crate::channels::Channels;
use cosim_agents::ports::{PortRule, is_port, patterns};
use cosim_agents::{apb, axi_lite, axi4, memory_port, stream, wishbone};
use std::collections::BTreeSet;
use verilated_build::{Port, Ports};

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

    /// Ports of similar protocols that have no agents. `has_name` says whether the ports of the
    /// interface have more than the names of the protocol.
    fn strangers(self, is_manager: bool, has_name: bool) -> &'static [&'static str] {
        match self {
            // AXI3.
            Axi4 => &["wid"],
            AxiLite => &["awlen", "awid", "awburst", "arlen", "arid", "arburst", "wlast", "rlast"],
            // Buses that answer when they like. A memory may say of its own accord that data comes.
            MemoryPort if is_manager => {
                &["gnt", "grant", "ack", "rdy", "ready", "stall", "busy", "rvalid", "rvld", "vld"]
            }
            MemoryPort if has_name => &["gnt", "grant", "ack", "rdy", "ready", "stall", "busy"],
            // `ready` and `busy` are often the state of what the registers control.
            MemoryPort => &["gnt", "grant", "ack", "rdy", "stall"],
            _ => &[],
        }
    }

    fn has_widths(self, agent: &Interface) -> bool {
        let width = |name: &str| agent.find_port(name).map(|port| port.width);
        let data = |names: [&str; 2], most: u32| {
            let [one, other] = names.map(width);
            let is_bus = |bits: u32| bits.is_multiple_of(8) && bits > 0 && bits <= most;
            one.is_none_or(is_bus)
                && other.is_none_or(is_bus)
                && (one == other || one.is_none() || other.is_none())
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
            Wishbone => {
                let has_direction = agent.has_port("we") || !agent.has_port("dat_w");
                has_direction && data(["dat_w", "dat_r"], 64) && strobes("sel", "dat_w")
            }
            MemoryPort => {
                let has_data = width("wdata").is_some();
                has_data && data(["wdata", "rdata"], 1024) && strobes("be", "wdata")
            }
        }
    }
}

/// At most so many interfaces share ports.
const MOST_LANES: u32 = 16;

/// The protocol, and the widths of address and data, of interfaces that may share a memory.
pub type MemoryKind = (Protocol, [u32; 2]);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub protocol: Protocol,
    /// Whether the module starts the transfers, or transmits.
    pub is_manager: bool,
    /// What is around the names of the protocol: that of writes, and that of reads if it differs.
    pub pattern: String,
    pub reads: Option<String>,
    /// Which of several interfaces it is whose ports have an equal part for each, and their number.
    pub lane: Option<(u32, u32)>,
    pub name: String,
    /// Its ports, with the names of the protocol.
    ports: Vec<(&'static str, Port)>,
}

impl Interface {
    fn find_port(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|(own, _)| *own == name).map(|(_, port)| port)
    }

    pub fn has_port(&self, name: &str) -> bool {
        self.find_port(name).is_some()
    }

    pub fn first_port(&self) -> &str {
        self.ports.first().map_or("", |(_, port)| &port.name)
    }

    /// Whether it is a bus of registers, which are read without a delay.
    pub fn is_of_registers(&self) -> bool {
        self.protocol == MemoryPort
            && self.find_port("en").is_some_and(|port| is_port(&port.name, &self.pattern, "cs"))
    }

    /// What interfaces of one memory have in common. The transfers of APB and Wishbone have no
    /// beginning that a reference memory knows, so they do not share one; nor do registers.
    pub fn memory(&self) -> Option<MemoryKind> {
        let width = |name: &str| self.find_port(name).map_or(0, |port| port.width);
        match self.protocol {
            Axi4 | AxiLite => Some((self.protocol, [0, 0])),
            MemoryPort if !self.is_of_registers() => {
                Some((self.protocol, [width("addr"), width("rdata")]))
            }
            _ => None,
        }
    }

    fn is_complete(&self) -> bool {
        self.has_port("awvalid") && self.has_port("arvalid")
    }

    /// The words of its patterns, without those for writes and reads.
    fn words(&self) -> Vec<String> {
        let pattern = self.pattern.to_ascii_lowercase();
        let words = pattern.split(['_', '*']).filter(|word| !word.is_empty());
        let halves = ["w", "wr", "write", "r", "rd", "read"];
        words.filter(|word| !halves.contains(word)).map(str::to_owned).collect()
    }
}

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
    /// Inputs of no channel that are held at a value: those that [`Channels`] knows, and those with
    /// the name of an interface, which belong to a part of its protocol without an agent.
    pub fn held_inputs<'a>(&self, others: &'a Channels) -> Vec<(&'a Port, u64)> {
        let near = others.varied().into_iter().filter(|port| self.is_near(port));
        others.held_inputs().into_iter().chain(near.map(|port| (port, 0))).collect()
    }

    /// The other inputs of no channel.
    pub fn varied<'a>(&self, others: &'a Channels) -> Vec<&'a Port> {
        others.varied().into_iter().filter(|port| !self.is_near(port)).collect()
    }

    fn is_near(&self, port: &Port) -> bool {
        let name = port.name.to_ascii_lowercase();
        let begins = |of: &Interface| {
            let pattern = of.pattern.to_ascii_lowercase();
            let stem = pattern.trim_matches(['*', '_']);
            !stem.is_empty()
                && (name.starts_with(&format!("{stem}_")) || name.ends_with(&format!("_{stem}")))
        };
        self.interfaces.iter().any(begins)
    }

    /// Recognizes the interfaces of a module. `own` are inputs that the harness drives by itself.
    pub fn recognize(ports: &Ports, own: &[&str]) -> Self {
        let is_free = |port: &&Port| !own.contains(&port.name.as_str()) && is_plain(port);
        let inputs: Vec<&Port> = ports.inputs.iter().filter(is_free).collect();
        let outputs: Vec<&Port> = ports.outputs.iter().filter(is_plain).collect();
        let mut found = Self::default();
        for protocol in Protocol::ALL {
            for is_manager in [false, true] {
                let sides = if is_manager { [&outputs, &inputs] } else { [&inputs, &outputs] };
                found.add(protocol, is_manager, sides);
            }
            found.join_halves(protocol);
        }
        found.name();
        found
    }

    fn add(&mut self, protocol: Protocol, is_manager: bool, sides: [&Vec<&Port>; 2]) {
        let rules = protocol.rules();
        for anchor in protocol.anchors() {
            let Some(rule) = rules.iter().find(|rule| rule.names[0] == *anchor) else { continue };
            let most = if protocol == MemoryPort { 1 } else { MOST_LANES };
            for port in sides[0].iter().filter(|port| port.width <= most) {
                for name in rule.names {
                    for pattern in patterns(&port.name, name) {
                        if self.taken.contains(&port.name) {
                            continue;
                        }
                        let lanes = port.width;
                        if let Some(interface) =
                            self.interface(protocol, is_manager, pattern, sides, lanes)
                        {
                            let own = interface.ports.iter().map(|(_, port)| port.name.clone());
                            self.taken.extend(own);
                            let lane = |lane| (lanes > 1).then_some((lane, lanes));
                            let all = (0..lanes)
                                .map(|at| Interface { lane: lane(at), ..interface.clone() });
                            self.interfaces.extend(all);
                        }
                    }
                }
            }
        }
    }

    /// One of `lanes` interfaces with a pattern, if all of its ports are there.
    fn interface(
        &self,
        protocol: Protocol,
        is_manager: bool,
        pattern: String,
        sides: [&Vec<&Port>; 2],
        lanes: u32,
    ) -> Option<Interface> {
        let find = |rule: &PortRule| -> Option<Port> {
            let side = sides[usize::from(!rule.is_of_manager)];
            let mut names = rule.names.iter();
            names.find_map(|name| {
                let is_it = |port: &&&Port| {
                    is_port(&port.name, &pattern, name)
                        && !self.taken.contains(&port.name)
                        && port.width.is_multiple_of(lanes)
                        && (port.width == lanes || !rule.is_bit)
                };
                let lane = |port: &&Port| Port { width: port.width / lanes, ..(**port).clone() };
                side.iter().find(is_it).map(lane)
            })
        };
        let is_stranger = |name: &str| {
            sides.iter().any(|side| side.iter().any(|port| is_port(&port.name, &pattern, name)))
        };
        let strangers = protocol.strangers(is_manager, !pattern.is_empty());
        if strangers.iter().any(|name| is_stranger(name)) {
            return None;
        }
        // A port that is shared by all lanes belongs to no agent.
        let is_shared = |rule: &PortRule| {
            find(rule).is_none() && rule.names.iter().any(|name| is_stranger(name))
        };
        if lanes > 1 && protocol.rules().iter().any(is_shared) {
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
        let interface = Interface {
            protocol,
            is_manager,
            pattern,
            reads: None,
            lane: None,
            name: String::new(),
            ports,
        };
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
                    && other.has_port("awvalid") != first.has_port("awvalid")
                    && other.words() == first.words()
                    && other.lane.or(first.lane).is_none()
            };
            if is_axi
                && is_half(&first)
                && let Some(place) = all.iter().position(is_other)
            {
                let mut other = all.remove(place);
                if other.has_port("awvalid") {
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
            if let Some((lane, _)) = interface.lane {
                name = format!("{name}_{lane}");
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The interfaces of a module in one line: name, protocol, side, patterns, ports left over.
    fn recognized(inputs: &str, outputs: &str) -> String {
        let all = |text: &str| -> Vec<Port> {
            let port = |word: &str| {
                let (name, width) = word.split_once('=').unwrap_or((word, "1"));
                Port { name: name.to_owned(), width: width.parse().unwrap() }
            };
            text.split_whitespace().map(port).collect()
        };
        let ports = Ports { inputs: all(inputs), outputs: all(outputs), ..Ports::default() };
        let Interfaces { interfaces, taken } = Interfaces::recognize(&ports, &["clk", "rst"]);
        let line = |of: &Interface| {
            let side = if of.is_manager { "manager" } else { "subordinate" };
            let reads = of.reads.as_ref().map_or_else(String::new, |reads| format!("+{reads}"));
            let lane = of.lane.map_or_else(String::new, |(_, lanes)| format!(" of {lanes}"));
            format!("{} {:?} {side} {}{reads}{lane}", of.name, of.protocol, of.pattern)
        };
        let free = ports.inputs.iter().chain(&ports.outputs);
        let free = free.filter(|port| !taken.contains(&port.name)).map(|port| port.name.clone());
        let mut lines: Vec<String> = interfaces.iter().map(line).collect();
        lines.push(
            free.filter(|name| !["clk", "rst"].contains(&name.as_str()))
                .collect::<Vec<_>>()
                .join(" "),
        );
        lines.join(", ")
    }

    /// The ports of an interface that a manager and a subordinate drive, between two texts.
    fn ports_between(protocol: Protocol, before: &str, behind: &str, only: &[&str]) -> [String; 2] {
        [true, false].map(|of_manager| {
            let rules = protocol.rules().iter().filter(|rule| rule.is_of_manager == of_manager);
            let is_in =
                |name: &str| only.is_empty() || only.iter().any(|begin| name.starts_with(begin));
            let port = |rule: &PortRule| {
                let width = match rule.names[0] {
                    _ if rule.is_bit => 1,
                    name if name.contains("strb") || ["tkeep", "sel", "be"].contains(&name) => 4,
                    name if name.contains("dat") => 32,
                    _ => 8,
                };
                format!("{before}{}{behind}={width} ", rule.names[0])
            };
            rules.filter(|rule| is_in(rule.names[0])).map(port).collect()
        })
    }

    #[test]
    fn each_protocol_is_found_on_both_sides_by_usual_names() {
        for protocol in Protocol::ALL {
            for (before, behind, pattern) in [
                ("s_", "", "s_"),
                ("S_X_", "", "S_X_"),
                ("", "", ""),
                ("p_", "_i", "p_"),
                ("", "_a", "*_a"),
            ] {
                let [mut m, mut s] = ports_between(protocol, before, behind, &[]);
                if behind == "_i" {
                    s = s.replace("_i=", "_o=");
                }
                let names = recognized(&m, &s);
                let name = pattern.to_ascii_lowercase();
                let name = name.trim_matches(['_', '*']);
                let name = if name.is_empty() { protocol.short() } else { name };
                assert_eq!(names, format!("{name} {protocol:?} subordinate {pattern}, "), "{m}");
                (m, s) = (m.replace("_i=", "_o="), s.replace("_o=", "_i="));
                let names = recognized(&s, &m);
                assert_eq!(names, format!("{name} {protocol:?} manager {pattern}, "), "{m}");
            }
        }
    }

    #[test]
    fn several_interfaces_and_other_ports_are_distinguished() {
        let of = |prefix: &str| ports_between(AxiLite, prefix, "", &[]);
        let [[m0, s0], [m1, s1]] = [of("s00_axil_"), of("s01_axil_")];
        let [[m2, s2], [m3, s3]] = [of("m00_axil_"), of("m01_axil_")];
        assert_eq!(
            recognized(
                &format!("clk rst mode=2 {m0}{m1}{s2}{s3}"),
                &format!("{s0}{s1}{m2}{m3} irq")
            ),
            "s00_axil AxiLite subordinate s00_axil_, s01_axil AxiLite subordinate s01_axil_, \
             m00_axil AxiLite manager m00_axil_, m01_axil AxiLite manager m01_axil_, mode irq"
        );
    }

    #[test]
    fn ports_may_hold_several_interfaces() {
        let wide = |text: String| -> String {
            let port = |word: &str| {
                let (name, width) = word.split_once('=').unwrap();
                format!("{name}={} ", 2 * width.parse::<u32>().unwrap())
            };
            text.split_whitespace().map(port).collect()
        };
        for protocol in [Axi4, AxiLite, Stream, Apb, Wishbone] {
            let [m, s] = ports_between(protocol, "s_", "", &[]).map(wide);
            let lane = |lane| format!("s_{lane} {protocol:?} subordinate s_ of 2, ");
            assert_eq!(recognized(&m, &s), lane(0) + &lane(1), "{m} {s}");
        }
        let expected = "we addr wdata rdata";
        assert_eq!(recognized("we=4 addr=8 wdata=32", "rdata=32"), expected, "bits for bytes");
    }

    #[test]
    fn writes_and_reads_may_have_names_of_their_own_or_be_alone() {
        for protocol in [Axi4, AxiLite] {
            let [mw, sw] = ports_between(protocol, "s_axil_wr_", "", &["aw", "w", "b"]);
            let [mr, sr] = ports_between(protocol, "s_axil_rd_", "", &["ar", "r"]);
            assert_eq!(
                recognized(&format!("{mr}{mw}"), &format!("{sw}{sr}")),
                format!("s_axil {protocol:?} subordinate s_axil_wr_+s_axil_rd_, ")
            );
            let alone = format!("s_axil_rd {protocol:?} manager s_axil_rd_, ");
            assert_eq!(recognized(&sr, &mr), alone);
            let alone = format!("s_axil_wr {protocol:?} subordinate s_axil_wr_, ");
            assert_eq!(recognized(&mw, &sw), alone);
        }
    }

    #[test]
    fn what_no_agent_can_drive_is_left() {
        let [m, s] = ports_between(AxiLite, "s_", "", &[]);
        // A response channel is missing; IDs without bursts; data of 12 bits; AXI3.
        assert!(recognized(&m.replace("s_bready=1 ", ""), &s).starts_with("s_awvalid "));
        assert!(recognized(&format!("{m} s_awid=4"), &s).starts_with("s_awvalid "));
        assert!(recognized(&m.replace("wdata=32", "wdata=12"), &s).starts_with("s_awvalid "));
        let [m, s] = ports_between(Axi4, "s_", "", &[]);
        assert!(recognized(&format!("{m} s_wid=4"), &s).starts_with("s_awvalid "));
        // Lanes share a port.
        assert_eq!(recognized("tvalid=4 tdata=32 tlast", "tready=4"), "tvalid tdata tlast tready");
        assert_eq!(
            recognized("push data_in=8 pop", "full data_out=8"),
            "push data_in pop full data_out"
        );
        assert_eq!(recognized("we a=4 b=4", "q=4"), "we a b q");
    }

    #[test]
    fn names_of_others_are_understood() {
        for (inputs, outputs, expected) in [
            (
                "cs we address=8 write_data=32",
                "read_data=32 error",
                "bus MemoryPort subordinate , error",
            ),
            (
                "i_wb_cyc i_wb_stb i_wb_we i_wb_addr=8 i_wb_data=32 i_wb_sel=4",
                "o_wb_ack o_wb_stall o_wb_data=32",
                "wb Wishbone subordinate wb_, ",
            ),
            (
                "i_scyc i_sstb i_swe i_saddr=8 i_sdata=32 i_ssel=4",
                "o_sack o_sdata=32",
                "s Wishbone subordinate s, ",
            ),
            (
                "wb_cyc_i wb_stb_i wb_adr_i=30",
                "wb_ack_o wb_dat_o=32 wb_err_o",
                "wb Wishbone subordinate wb_, ",
            ),
            ("wb_ack_i", "wb_cyc_o wb_stb_o wb_we_o wb_adr_o=3", "wb Wishbone manager wb_, "),
            ("cyc stb adr=8 dat_w=8", "ack", "cyc stb adr dat_w ack"),
            (
                "wbs_cyc_i wbs_stb_i wbs_we_i wbs_adr_i=8 wbs_dat_i=16",
                "wbs_ack_o wbs_dat_o=16",
                "wbs Wishbone subordinate wbs_, ",
            ),
            (
                "en_a we_a addr_a=8 din_a=8 en_b we_b addr_b=8 din_b=8",
                "dout_a=8 dout_b=8",
                "a MemoryPort subordinate *_a, b MemoryPort subordinate *_b, ",
            ),
            ("PSEL PENABLE PWRITE PADDR=8 PWDATA=32", "PRDATA=32", "apb Apb subordinate , "),
            (
                "clka ena wea addra=5 dina=8 enb web addrb=5 dinb=8",
                "douta=8 doutb=8",
                "a MemoryPort subordinate *a, b MemoryPort subordinate *b, clka",
            ),
            (
                "PSEL PENABLE PWRITE PADDR=8 PWDATA=32 PWSTRB=4",
                "PRDATA=32",
                "apb Apb subordinate , ",
            ),
            (
                "iBusWishbone_ACK iBusWishbone_DAT_MISO=32 iBusWishbone_ERR",
                "iBusWishbone_CYC iBusWishbone_STB iBusWishbone_WE iBusWishbone_ADR=30 \
                 iBusWishbone_DAT_MOSI=32 iBusWishbone_SEL=4",
                "ibuswishbone Wishbone manager iBusWishbone_, ",
            ),
            (
                "io_in_ar_valid io_in_ar_bits_addr=8 io_in_r_ready",
                "io_in_ar_ready io_in_r_valid io_in_r_bits_data=32",
                "io_in AxiLite subordinate io_in_, ",
            ),
            (
                "ar_valid ar_bits_i=8 r_ready",
                "ar_ready r_valid r_data=32",
                "ar_valid ar_bits_i r_ready ar_ready r_valid r_data",
            ),
            (
                "cs we address=8 write_data=32",
                "read_data=32 ready busy",
                "bus MemoryPort subordinate , ready busy",
            ),
            // An answer that comes when it likes is none of a memory port.
            (
                "data_gnt_i data_rvalid_i data_rdata_i=32",
                "data_req_o data_we_o data_addr_o=32 data_wdata_o=32",
                "data_gnt_i data_rvalid_i data_rdata_i data_req_o data_we_o data_addr_o data_wdata_o",
            ),
            (
                "m_axis_tready rx",
                "m_axis_tvalid m_axis_tdata=8",
                "m_axis Stream manager m_axis_, rx",
            ),
        ] {
            assert_eq!(recognized(inputs, outputs), expected, "{inputs}");
        }
    }
}
