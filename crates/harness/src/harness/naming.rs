//! The role of a port in a handshake, derived from its name. It decides which of several
//! differing ports explains the others, and which ports an explanation shows.
//!
//! A wrong DUT often differs in many outputs at once. A missing valid takes its payload with it,
//! a write enable its address and data. The valid or enable is the cause and the others follow
//! from it. In a block that consists of several, an error shows at the boundary of the failing
//! part first, and then downstream.

use super::leaked;
use serde::{Deserialize, Serialize};
use verilated::{Field, Port};

/// The last words of port names, as in `cq_req_valid`, by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Naming {
    /// Valid: while it is high, the payload of its channel is meaningful.
    #[serde(deserialize_with = "leaked::list")]
    pub valid: &'static [&'static str],
    /// Enable: while it is high, a table is accessed at the address beside it.
    #[serde(deserialize_with = "leaked::list")]
    pub enable: &'static [&'static str],
    /// Ready: while it is high, the offer is accepted.
    #[serde(deserialize_with = "leaked::list")]
    pub ready: &'static [&'static str],
    /// The boundaries inside a block that consists of several, in the order of the data path.
    /// Each lists prefixes of port names; the longest matching prefix decides. A port belongs to
    /// the boundary after the part that drives it, also a ready. Ports without a boundary come
    /// last. A simple block has none.
    #[serde(deserialize_with = "leaked::lists")]
    pub boundaries: &'static [&'static [&'static str]],
    /// Payload of input channels that the block reads without their valid, as specified. It is
    /// known in every cycle, also in four-value simulation.
    #[serde(deserialize_with = "leaked::list")]
    pub looked_at: &'static [&'static str],
    /// Letters in front of the last word that name the channel, as `aw` in `s_axi_awvalid`. The
    /// words of `valid` and `ready` include them.
    #[serde(deserialize_with = "leaked::list")]
    pub joined: &'static [&'static str],
}

/// The role of a port. Roles that explain others come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A valid or an enable: it qualifies the payload of its channel.
    Governs,
    /// A ready.
    Ready,
    /// Anything else.
    Payload,
}

impl Naming {
    /// The naming rules of the blocks of this project.
    pub const DEFAULT: Self = Self {
        valid: &["valid", "vld"],
        enable: &["wen", "ren", "we", "en"],
        ready: &["ready", "rdy"],
        boundaries: &[],
        looked_at: &[],
        joined: &[],
    };

    /// The channel of a port that is part of a handshake, and the last word of the port.
    fn split<'a>(&self, port: &'a str) -> Option<(&'a str, &'a str)> {
        let (stem, last) = match port.rsplit_once('_') {
            None if !self.joined.is_empty() => ("", port),
            words => words?,
        };
        let letters = self.joined.iter().filter(|letters| last.starts_with(**letters));
        let end = match letters.map(|letters| letters.len()).max() {
            None => stem.len(),
            Some(letters) => port.len() - last.len() + letters,
        };
        Some((&port[..end], last))
    }

    /// The channel of a valid: its name without the last word, as `s_axis` of `s_axis_valid` and
    /// `s_axi_aw` of `s_axi_awvalid`.
    pub fn channel<'a>(&self, port: &'a str) -> Option<&'a str> {
        let (channel, last) = self.split(port)?;
        self.valid.contains(&last).then_some(channel)
    }

    /// Whether a port belongs to a channel.
    pub fn is_of(&self, port: &str, channel: &str) -> bool {
        let last = channel.rsplit_once('_').map_or(channel, |(_, last)| last);
        let is_joined = self.joined.contains(&last);
        let rest = port.strip_prefix(channel);
        rest.is_some_and(|rest| rest.starts_with('_') || is_joined && !rest.is_empty())
    }

    /// The port that qualifies a payload: a valid of its channel, or an enable.
    pub fn governor(
        &self,
        payload: &Port,
        ports: &'static [Port],
        or_enable: bool,
    ) -> Option<&'static Port> {
        if self.role(payload.name) != Role::Payload || self.looked_at.contains(&payload.name) {
            return None;
        }
        let channel = |port: &Port| {
            let (channel, _) = self.split(port.name)?;
            let governs = self.role(port.name) == Role::Governs
                && (or_enable || self.channel(port.name).is_some());
            (governs && self.is_of(payload.name, channel)).then_some(channel.len())
        };
        let known = ports.iter().filter_map(|port| Some((port, channel(port)?)));
        known.max_by_key(|(_, length)| *length).map(|(port, _)| port)
    }

    /// Whether a port is the ready of a channel.
    pub fn is_ready_of(&self, port: &str, channel: &str) -> bool {
        self.split(port).is_some_and(|(own, last)| own == channel && self.ready.contains(&last))
    }

    /// A port's role.
    pub fn role(&self, port: &str) -> Role {
        match self.split(port) {
            Some((_, last)) if self.valid.contains(&last) || self.enable.contains(&last) => {
                Role::Governs
            }
            Some((_, last)) if self.ready.contains(&last) => Role::Ready,
            _ => Role::Payload,
        }
    }

    /// The position of a port on the data path: the boundary with the longest matching prefix.
    fn place(&self, port: &str) -> usize {
        let length = |boundary: &[&str]| {
            let of_port = boundary.iter().filter(|beginning| port.starts_with(**beginning));
            of_port.map(|beginning| beginning.len()).max()
        };
        let lengths = self.boundaries.iter().map(|boundary| length(boundary)).enumerate();
        let known = lengths.filter_map(|(place, length)| Some((place, length?)));
        known.max_by_key(|(_, length)| *length).map_or(self.boundaries.len(), |(place, _)| place)
    }

    /// Sorts ports so that each explains those after it.
    pub fn in_order(&self, ports: &[&'static Port]) -> Vec<&'static Port> {
        let mut ports = ports.to_vec();
        ports.sort_by_key(|port| (self.place(port.name), self.role(port.name)));
        ports
    }

    /// Selects the differing ports that others do not explain. A difference at one boundary
    /// explains differences downstream. At one boundary, a payload that differs together with a
    /// handshake follows from it.
    pub fn leading(&self, differing: &[&'static Port]) -> Vec<&'static Port> {
        let rank = |port: &&'static Port| (self.place(port.name), self.role(port.name));
        let first = differing.iter().map(rank).min();
        differing.iter().copied().filter(|port| Some(rank(port)) == first).collect()
    }

    /// The first port that explains a difference of outputs, and every leading port or field:
    /// `port`, or `port.field` if the block has named fields. Empty if no port differs.
    pub(super) fn differing(
        &self,
        outputs: &'static [Port],
        fields: fn(&str) -> &'static [(&'static str, Field)],
        [expected, actual]: [&[u8]; 2],
    ) -> (Option<&'static Port>, Vec<String>) {
        let differs = |port: &&Port| port.bytes(expected) != port.bytes(actual);
        let ports: Vec<&'static Port> = outputs.iter().filter(differs).collect();
        let leading = self.leading(&ports);
        let mut names = Vec::new();
        for port in &leading {
            let before = names.len();
            let fields = fields(port.name);
            let differs = |field| port.field(expected, field) != port.field(actual, field);
            for (name, _) in fields.iter().filter(|(_, field)| differs(*field)) {
                names.push(format!("{}.{name}", port.name));
            }
            let is_outside =
                |bit: &u32| !fields.iter().any(|(_, field)| field.range().contains(bit));
            let mut outside = (0..port.width).filter(is_outside);
            if names.len() == before || outside.any(|bit| differs(Field::new(bit, bit))) {
                names.push(port.name.to_owned());
            }
        }
        (leading.first().copied(), names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn port(name: &'static str) -> Port {
        Port { name, width: 1, offset: 0 }
    }

    static PORTS: [Port; 7] = [
        port("cq_req_head"),
        port("cq_req_valid"),
        port("cq_resp_ready"),
        port("rq_addr"),
        port("rq_din"),
        port("rq_wen"),
        port("state"),
    ];

    fn leading(names: &[&str]) -> Vec<&'static str> {
        let differing: Vec<&'static Port> =
            PORTS.iter().filter(|port| names.contains(&port.name)).collect();
        Naming::DEFAULT.leading(&differing).iter().map(|port| port.name).collect()
    }

    #[test]
    fn a_handshake_explains_what_follows_from_it() {
        assert_eq!(leading(&["cq_req_head", "cq_req_valid"]), ["cq_req_valid"]);
        assert_eq!(leading(&["rq_addr", "rq_din", "rq_wen"]), ["rq_wen"]);
        // Payloads alone stand for themselves.
        assert_eq!(leading(&["rq_addr", "rq_din"]), ["rq_addr", "rq_din"]);
        assert_eq!(leading(&[]), [""; 0]);
        // A wrong state shows in handshakes everywhere; a payload elsewhere follows from the state.
        assert_eq!(leading(&["state", "cq_resp_ready", "cq_req_valid"]), ["cq_req_valid"]);
        assert_eq!(leading(&["state", "cq_resp_ready"]), ["cq_resp_ready"]);
        assert_eq!(leading(&["cq_req_valid", "rq_wen"]), ["cq_req_valid", "rq_wen"]);
        assert_eq!(leading(&["rq_din", "cq_req_valid"]), ["cq_req_valid"]);
    }

    static CHAIN: [Port; 6] = [
        port("in_ready"),
        port("mid_data"),
        port("mid_ready"),
        port("mid_valid"),
        port("other"),
        port("out_valid"),
    ];

    fn along(names: &[&str]) -> Vec<&'static str> {
        // What is in the middle is taken by the part that drives the output.
        const BOUNDARIES: &[&[&str]] = &[&["in_"], &["mid_"], &["mid_ready", "out_"]];
        const NAMING: Naming = Naming { boundaries: BOUNDARIES, ..Naming::DEFAULT };
        let differing: Vec<&'static Port> =
            CHAIN.iter().filter(|port| names.contains(&port.name)).collect();
        NAMING.leading(&differing).iter().map(|port| port.name).collect()
    }

    /// A wrong payload leads to a wrong valid behind it; without boundaries the valid is named.
    #[test]
    fn the_first_boundary_explains_those_behind_it() {
        assert_eq!(along(&["mid_data", "out_valid"]), ["mid_data"]);
        assert_eq!(along(&["mid_data", "mid_valid", "out_valid"]), ["mid_valid"]);
        assert_eq!(along(&["mid_valid", "in_ready"]), ["in_ready"]);
        // The longest beginning of a name counts, and a port of no boundary comes last.
        assert_eq!(along(&["mid_ready", "mid_data"]), ["mid_data"]);
        assert_eq!(along(&["mid_ready", "out_valid"]), ["out_valid"]);
        assert_eq!(along(&["other", "mid_ready"]), ["mid_ready"]);
        assert_eq!(along(&["other"]), ["other"]);
    }

    #[test]
    fn a_channel_is_what_comes_before_a_valid() {
        const NAMING: Naming = Naming { valid: &["tvalid"], ready: &["tready"], ..Naming::DEFAULT };
        assert_eq!(NAMING.channel("m_axis_tvalid"), Some("m_axis"));
        assert_eq!(NAMING.channel("m_axis_valid"), None);
        assert!(NAMING.is_ready_of("m_axis_tready", "m_axis"));
        assert!(!NAMING.is_ready_of("m_axis_ready", "m_axis"));
        assert!(!NAMING.is_ready_of("m_axis_2_tready", "m_axis"));
    }

    #[test]
    fn letters_before_the_last_word_can_name_the_channel() {
        const NAMING: Naming = Naming {
            valid: &["awvalid", "rvalid"],
            ready: &["awready", "rready"],
            joined: &["aw", "r"],
            ..Naming::DEFAULT
        };
        assert_eq!(NAMING.channel("s_axi_awvalid"), Some("s_axi_aw"));
        assert_eq!(NAMING.channel("rvalid"), Some("r"));
        assert!(NAMING.is_ready_of("s_axi_awready", "s_axi_aw"));
        assert!(!NAMING.is_ready_of("s_axi_rready", "s_axi_aw"));
        assert!(NAMING.is_of("s_axi_awaddr", "s_axi_aw") && NAMING.is_of("rdata", "r"));
        assert!(!NAMING.is_of("s_axi_rdata", "s_axi_aw"));
        assert_eq!(NAMING.role("rready"), Role::Ready);
        static PORTS: [Port; 3] =
            [port("s_axi_awaddr"), port("s_axi_awvalid"), port("s_axi_rvalid")];
        let governor = NAMING.governor(&PORTS[0], &PORTS, false).map(|port| port.name);
        assert_eq!(governor, Some("s_axi_awvalid"));
    }

    #[test]
    fn a_role_is_a_last_word() {
        assert_eq!(Naming::DEFAULT.role("cq_resp_ready"), Role::Ready);
        assert_eq!(Naming::DEFAULT.role("valid"), Role::Payload);
        assert_eq!(Naming::DEFAULT.role("cq_invalid"), Role::Payload);
    }
}
