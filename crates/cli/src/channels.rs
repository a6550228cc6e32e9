//! Recognizes channels among the ports of a module by their names, for `cosim new`.

use std::collections::BTreeSet;
use verilated_build::{Port, Ports};

/// The widest payload of a channel in bits.
const WIDEST: u32 = 64;

/// A channel of the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Whether the environment offers items.
    pub is_source: bool,
    /// The handshake that offers an item.
    pub valid: Handshake,
    /// The handshake that takes it.
    pub ready: Option<Handshake>,
    /// The ports of the payload, each with the name of its field.
    pub payload: Vec<(String, Port)>,
}

/// A pin of a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The port.
    pub port: String,
    /// Whether a low pin means yes, as in `full`.
    pub is_inverted: bool,
}

impl Handshake {
    /// As the `channels!` macro writes it.
    pub fn text(&self) -> String {
        format!("{}{}", if self.is_inverted { "!" } else { "" }, self.port)
    }
}

/// The channels of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    /// The channels, in the order of their names.
    pub channels: Vec<Channel>,
    /// Inputs that belong to no channel.
    pub other_inputs: Vec<Port>,
    /// Outputs that belong to no channel.
    pub other_outputs: Vec<Port>,
}

/// Names of valid and ready, without the name of the channel. The valid is the driver's pin.
const PAIRS: [(&str, &str); 8] = [
    ("valid", "ready"),
    ("vld", "rdy"),
    ("tvalid", "tready"),
    ("req", "gnt"),
    ("req", "grant"),
    ("req", "ack"),
    ("stb", "ack"),
    ("en", "rdy"),
];
/// Names of a request to write and of the full flag.
const WRITES: [&str; 7] = ["push", "winc", "wr_en", "wen", "we", "write", "wr"];
const FULLS: [&str; 4] = ["full", "wfull", "fifo_full", "full_o"];
/// Names of a request to read and of the empty flag.
const READS: [&str; 7] = ["pop", "rinc", "rd_en", "ren", "re", "read", "rd"];
const EMPTIES: [&str; 4] = ["empty", "rempty", "fifo_empty", "empty_o"];
/// Names of the data of such a FIFO.
const WRITE_DATA: [&str; 7] =
    ["wdata", "data_in", "din", "push_data", "wr_data", "w_data", "data_i"];
const READ_DATA: [&str; 7] =
    ["rdata", "data_out", "dout", "pop_data", "rd_data", "r_data", "data_o"];

/// Endings that name the direction of a port.
const DIRECTIONS: [&str; 2] = ["_i", "_o"];

/// A name without the ending of its direction.
fn bare(name: &str) -> &str {
    DIRECTIONS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The name of the channel, if a port is the `word` of a handshake, as in `rsp_valid_o`. The name
/// is empty if the port has no other word.
fn channel_of<'a>(port: &'a str, word: &str) -> Option<&'a str> {
    let stem = bare(port).strip_suffix(word)?;
    // In `s_axis_tvalid`, `t` belongs to the names of the pins.
    match stem.strip_suffix("_t").unwrap_or(stem) {
        "" | "t" => Some(""),
        stem => stem.strip_suffix('_').or_else(|| {
            // `s_axis_tvalid` and `awvalid` have no underscore before the word.
            stem.ends_with(|letter: char| letter.is_ascii_lowercase()).then_some(stem)
        }),
    }
}

impl Channels {
    /// Recognizes the channels of a module. `own` are inputs that the harness drives by itself:
    /// clocks and resets.
    pub fn of(ports: &Ports, own: &[&str]) -> Self {
        let is_free = |port: &&Port| !own.contains(&port.name.as_str());
        let inputs: Vec<&Port> = ports.inputs.iter().filter(is_free).collect();
        let outputs: Vec<&Port> = ports.outputs.iter().collect();
        let mut taken = BTreeSet::new();
        let mut channels = Vec::new();
        for (valid, ready) in PAIRS {
            for (from, to, is_source) in [(&inputs, &outputs, true), (&outputs, &inputs, false)] {
                for port in from.iter().filter(|port| port.width == 1) {
                    let Some(name) = channel_of(&port.name, valid) else { continue };
                    let is_ready = |other: &&&Port| {
                        other.width == 1 && channel_of(&other.name, ready) == Some(name)
                    };
                    let Some(partner) = to.iter().find(is_ready) else { continue };
                    if taken.contains(&port.name) || taken.contains(&partner.name) {
                        continue;
                    }
                    taken.extend([port.name.clone(), partner.name.clone()]);
                    let handshake =
                        |port: &Port| Handshake { port: port.name.clone(), is_inverted: false };
                    // A reader that enables takes the item of the block: the data is an output.
                    let has_data = |ports: &[&Port], own: &Port| {
                        let begins = |port: &&&Port| port.name.starts_with(&format!("{name}_"));
                        ports.iter().filter(begins).any(|port| port.name != own.name)
                    };
                    let is_taken = valid == "en"
                        && is_source
                        && has_data(to, partner)
                        && !has_data(from, port);
                    let (offers, takes) =
                        if is_taken { (*partner, *port) } else { (*port, *partner) };
                    channels.push(Channel {
                        name: name.to_owned(),
                        is_source: is_source && !is_taken,
                        valid: handshake(offers),
                        ready: Some(handshake(takes)),
                        payload: Vec::new(),
                    });
                }
            }
        }
        channels.extend(fifo(&inputs, &outputs, &mut taken));
        // The longest names first: `s_axi_aw` before `s_axi`.
        channels.sort_by_key(|channel| std::cmp::Reverse(channel.name.len()));
        for channel in &mut channels {
            let ports = if channel.is_source { &inputs } else { &outputs };
            channel.add_payload(ports, &mut taken);
        }
        let is_alone = channels.iter().filter(|channel| channel.name.is_empty()).count() <= 2;
        for channel in channels.iter_mut().filter(|channel| channel.name.is_empty() && is_alone) {
            // A module with one channel in each direction often names its data without a prefix.
            let ports = if channel.is_source { &inputs } else { &outputs };
            for port in ports.iter().filter(|port| !taken.contains(&port.name)) {
                channel.payload.push((bare(&port.name).to_owned(), (*port).clone()));
            }
            taken.extend(channel.payload.iter().map(|(_, port)| port.name.clone()));
        }
        for channel in &mut channels {
            if channel.name.is_empty() {
                channel.name = if channel.is_source { "input" } else { "output" }.to_owned();
            }
        }
        channels.sort_by(|left, right| {
            (!left.is_source, &left.name).cmp(&(!right.is_source, &right.name))
        });
        let free = |ports: &[&Port]| -> Vec<Port> {
            let free = ports.iter().filter(|port| !taken.contains(&port.name));
            free.map(|port| (*port).clone()).collect()
        };
        let (other_inputs, other_outputs) = (free(&inputs), free(&outputs));
        Self { channels, other_inputs, other_outputs }
    }

    /// Whether the module can be declared by its channels: there is one, and no payload is too
    /// wide.
    pub fn is_usable(&self) -> bool {
        let fits = |channel: &Channel| channel.payload.iter().all(|(_, port)| port.width <= WIDEST);
        let names: BTreeSet<&str> =
            self.channels.iter().map(|channel| channel.name.as_str()).collect();
        !self.channels.is_empty()
            && names.len() == self.channels.len()
            && self.channels.iter().all(fits)
            && self.other_inputs.iter().all(|port| port.width <= WIDEST)
    }
}

/// The channels of AXI4-Lite, sources of a subordinate first, with the names of their payload.
const AXI_LITE: [(&str, bool, [&str; 2]); 5] = [
    ("ar", true, ["addr", "prot"]),
    ("aw", true, ["addr", "prot"]),
    ("w", true, ["data", "strb"]),
    ("b", false, ["resp", "resp"]),
    ("r", false, ["data", "resp"]),
];

impl Channels {
    /// The prefix of the ports, if the channels are those of an AXI4-Lite subordinate.
    pub fn axi_lite(&self) -> Option<String> {
        let name = |channel: &Channel| channel.name.strip_suffix("ar").map(str::to_owned);
        let prefix = self.channels.iter().find_map(name)?;
        let has = |(suffix, is_source, payload): &(&str, bool, [&str; 2])| {
            let name = format!("{prefix}{suffix}");
            let is_it =
                |channel: &&Channel| channel.name == name && channel.is_source == *is_source;
            let Some(channel) = self.channels.iter().find(is_it) else { return false };
            let has_first = channel.payload.iter().any(|(field, _)| field == payload[0]);
            channel.valid.port == format!("{name}valid")
                && channel.ready.as_ref().is_some_and(|pin| pin.port == format!("{name}ready"))
                && channel.payload.iter().all(|(field, port)| {
                    payload.contains(&field.as_str()) && port.name == format!("{name}{field}")
                })
                && (has_first || *suffix == "b")
        };
        let is_it = self.channels.len() == AXI_LITE.len() && AXI_LITE.iter().all(has);
        is_it.then_some(prefix)
    }
}

impl Channel {
    /// Whether an underscore follows the channel's name in its valid.
    fn has_underscore(&self) -> bool {
        let rest = self.valid.port.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.starts_with('_'))
    }

    /// Takes the ports that begin with the channel's name.
    fn add_payload(&mut self, ports: &[&Port], taken: &mut BTreeSet<String>) {
        for port in ports.iter().filter(|port| !taken.contains(&port.name)) {
            let rest = match self.name.as_str() {
                "" => None,
                // `awaddr` belongs to `awvalid`, but `big` does not belong to `b_valid`.
                name => port
                    .name
                    .strip_prefix(name)
                    .filter(|rest| rest.starts_with('_') || !self.has_underscore()),
            };
            let Some(field) = rest.map(|rest| bare(rest).trim_start_matches('_')) else { continue };
            if !field.is_empty() {
                self.payload.push((field.to_owned(), (*port).clone()));
            }
        }
        taken.extend(self.payload.iter().map(|(_, port)| port.name.clone()));
    }
}

/// The channels of a FIFO with `push` and `full`, `pop` and `empty`.
fn fifo(inputs: &[&Port], outputs: &[&Port], taken: &mut BTreeSet<String>) -> Vec<Channel> {
    let find = |ports: &[&Port], names: &[&str], is_bit: bool, taken: &BTreeSet<String>| {
        let is_it = |port: &&&Port| {
            (port.width == 1 || !is_bit)
                && !taken.contains(&port.name)
                && names.iter().any(|name| *name == port.name || *name == bare(&port.name))
        };
        ports.iter().find(is_it).map(|port| (*port).clone())
    };
    let mut channels = Vec::new();
    let pin = |port: &Port, is_inverted| Handshake { port: port.name.clone(), is_inverted };
    let data =
        |port: Option<Port>| port.map(|port| ("data".to_owned(), port)).into_iter().collect();
    let write = find(inputs, &WRITES, true, taken).zip(find(outputs, &FULLS, true, taken));
    if let Some((push, full)) = write {
        taken.extend([push.name.clone(), full.name.clone()]);
        let payload: Vec<(String, Port)> = data(find(inputs, &WRITE_DATA, false, taken));
        taken.extend(payload.iter().map(|(_, port)| port.name.clone()));
        channels.push(Channel {
            name: "push".to_owned(),
            is_source: true,
            valid: pin(&push, false),
            ready: Some(pin(&full, true)),
            payload,
        });
    }
    let read = find(inputs, &READS, true, taken).zip(find(outputs, &EMPTIES, true, taken));
    if let Some((pop, empty)) = read {
        taken.extend([pop.name.clone(), empty.name.clone()]);
        let payload: Vec<(String, Port)> = data(find(outputs, &READ_DATA, false, taken));
        taken.extend(payload.iter().map(|(_, port)| port.name.clone()));
        channels.push(Channel {
            name: "pop".to_owned(),
            is_source: false,
            valid: pin(&empty, true),
            ready: Some(pin(&pop, false)),
            payload,
        });
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(inputs: &[(&str, u32)], outputs: &[(&str, u32)]) -> Ports {
        let all = |ports: &[(&str, u32)]| {
            ports
                .iter()
                .map(|(name, width)| Port { name: (*name).to_owned(), width: *width })
                .collect()
        };
        Ports { inputs: all(inputs), outputs: all(outputs), ..Ports::default() }
    }

    /// A channel in one line, as the macro writes it.
    fn line(channel: &Channel) -> String {
        let kind = if channel.is_source { "source" } else { "sink" };
        let fields = channel.payload.iter().map(|(field, port)| format!("{field}={}", port.name));
        let fields: Vec<String> = fields.collect();
        let ready = channel.ready.as_ref().map_or_else(String::new, |ready| ready.text());
        format!("{kind} {} {{{}}} {} {ready}", channel.name, fields.join(" "), channel.valid.text())
    }

    fn lines(inputs: &[(&str, u32)], outputs: &[(&str, u32)]) -> Vec<String> {
        let channels = Channels::of(&ports(inputs, outputs), &["clk", "rst"]);
        channels.channels.iter().map(line).collect()
    }

    #[test]
    fn valid_and_ready_make_a_channel_of_the_ports_with_its_name() {
        let found = lines(
            &[("rst", 1), ("push_valid", 1), ("push_data", 8), ("push_last", 1), ("pop_ready", 1)],
            &[("push_ready", 1), ("pop_valid", 1), ("pop_data", 8), ("level", 3)],
        );
        let expected = [
            "source push {data=push_data last=push_last} push_valid push_ready",
            "sink pop {data=pop_data} pop_valid pop_ready",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn endings_of_direction_and_missing_prefixes_are_understood() {
        let found = lines(
            &[("valid_i", 1), ("data_i", 8), ("ready_i", 1)],
            &[("ready_o", 1), ("valid_o", 1), ("data_o", 8)],
        );
        let expected = [
            "source input {data=data_i} valid_i ready_o",
            "sink output {data=data_o} valid_o ready_i",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn streams_have_no_underscore_before_valid() {
        let found = lines(
            &[("s_axis_tvalid", 1), ("s_axis_tdata", 32), ("s_axis_tlast", 1)],
            &[("s_axis_tready", 1)],
        );
        let expected =
            "source s_axis {tdata=s_axis_tdata tlast=s_axis_tlast} s_axis_tvalid s_axis_tready";
        assert_eq!(found, [expected]);
    }

    /// The ports of a subordinate, without those that are left out.
    fn subordinate(without: &[&str]) -> Ports {
        let kept = |all: &[(&'static str, u32)]| -> Vec<(&'static str, u32)> {
            all.iter().filter(|(name, _)| !without.contains(name)).copied().collect()
        };
        let inputs = kept(&[
            ("rst", 1),
            ("s_awvalid", 1),
            ("s_awaddr", 8),
            ("s_awprot", 3),
            ("s_awid", 4),
            ("s_wvalid", 1),
            ("s_wdata", 32),
            ("s_wstrb", 4),
            ("s_bready", 1),
            ("s_arvalid", 1),
            ("s_araddr", 8),
            ("s_rready", 1),
        ]);
        let outputs = kept(&[
            ("s_awready", 1),
            ("s_wready", 1),
            ("s_bvalid", 1),
            ("s_bresp", 2),
            ("s_arready", 1),
            ("s_rvalid", 1),
            ("s_rdata", 32),
            ("irq", 1),
        ]);
        ports(&inputs, &outputs)
    }

    #[test]
    fn an_axi_lite_interface_has_five_channels_and_no_ids() {
        let prefix = |without: &[&str]| Channels::of(&subordinate(without), &["rst"]).axi_lite();
        assert_eq!(prefix(&["s_awid"]).as_deref(), Some("s_"));
        assert_eq!(prefix(&["s_awid", "s_bresp", "s_awprot"]).as_deref(), Some("s_"));
        assert_eq!(prefix(&[]), None, "AXI4");
        assert_eq!(prefix(&["s_awid", "s_bready"]), None);
        assert_eq!(prefix(&["s_awid", "s_rdata"]), None);
    }

    #[test]
    fn a_fifo_with_flags_has_inverted_handshakes() {
        let found = lines(
            &[("wr_en", 1), ("rd_en", 1), ("din", 16)],
            &[("full", 1), ("empty", 1), ("dout", 16)],
        );
        assert_eq!(
            found,
            ["source push {data=din} wr_en !full", "sink pop {data=dout} !empty rd_en"]
        );
    }

    #[test]
    fn a_name_that_only_begins_with_a_channel_is_no_payload() {
        let found = lines(
            &[("b_valid", 1), ("b_data", 8), ("big", 40), ("awvalid", 1), ("awaddr", 8)],
            &[("b_ready", 1), ("awready", 1)],
        );
        let expected =
            ["source aw {addr=awaddr} awvalid awready", "source b {data=b_data} b_valid b_ready"];
        assert_eq!(found, expected);
    }

    #[test]
    fn requests_and_grants_are_channels() {
        let found = lines(&[("req", 1), ("addr", 8)], &[("gnt", 1)]);
        assert_eq!(found, ["source input {addr=addr} req gnt"]);
    }

    #[test]
    fn enables_of_writer_and_reader_are_told_apart_by_their_direction() {
        let found = lines(
            &[("w_en", 1), ("w_data", 8), ("r_en", 1)],
            &[("w_rdy", 1), ("r_rdy", 1), ("r_data", 8)],
        );
        assert_eq!(found, ["source w {data=w_data} w_en w_rdy", "sink r {data=r_data} r_rdy r_en"]);
    }

    #[test]
    fn ports_of_no_channel_are_kept_and_wide_payloads_are_not_usable() {
        let of = |width| {
            let ports = ports(&[("a_valid", 1), ("a_data", width), ("mode", 2)], &[("a_ready", 1)]);
            Channels::of(&ports, &[])
        };
        assert_eq!(of(64).other_inputs, [Port { name: "mode".to_owned(), width: 2 }]);
        assert!(of(64).is_usable());
        assert!(!of(65).is_usable());
        assert!(!Channels::of(&ports(&[("mode", 2)], &[("done", 1)]), &[]).is_usable());
    }
}
