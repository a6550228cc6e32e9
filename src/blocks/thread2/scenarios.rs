//! The built-in scenarios, each a set of weights.

use super::rtl::Inputs;
use super::stimulus::Traffic;
use super::{Thread2, chaos, generator};
use cosim_core::harness::{
    self, CaseRng, Checked, Parameters, Percent, Scenario, Span, beyond_all, checked,
    nothing_to_draw, percent,
};
use cosim_core::value::{Uint, n};
use serde::{Deserialize, Serialize};

/// What the generator draws how often. Fields that a file leaves out have the values of `default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Raw random pins for that many cycles per packet instead of traffic; 0: traffic.
    pub raw_cycles_per_packet: Uint<8>,
    /// Queue pairs in use.
    pub qps: Span<8, 1>,
    /// Relative weights of operations.
    #[serde(deserialize_with = "checked")]
    pub operations: Operations,
    /// Relative weights of service types.
    #[serde(deserialize_with = "checked")]
    pub services: Services,
    /// Packets of a multi-packet message.
    pub message_packets: Span<12, 2>,
    /// Messages of several packets that have as many as the case, since those in the middle come again and again.
    #[serde(deserialize_with = "percent")]
    pub again: Percent,
    /// Payload bytes of a packet.
    pub payload: Span<16>,
    /// DataUnits of a WQE, the terminator not counted.
    pub units: Span<6, 1>,
    /// Packets without payload, in percent.
    #[serde(deserialize_with = "percent")]
    pub empty: Percent,
    /// Packets with payload far beyond any MTU; drawn of those with payload.
    #[serde(deserialize_with = "percent")]
    pub jumbo: Percent,
    /// Units that end where a packet ends, or a byte beside it.
    #[serde(deserialize_with = "percent")]
    pub packet_edge: Percent,
    /// WQEs whose last unit is far larger than the message.
    #[serde(deserialize_with = "percent")]
    pub large_unit: Percent,
    /// Units whose address is about to carry out of its low 32 or its 64 bits.
    #[serde(deserialize_with = "percent")]
    pub address_edge: Percent,
    /// QPs whose RQ is so large that its offsets need all their bits.
    #[serde(deserialize_with = "percent")]
    pub large_ring: Percent,
    /// Chance of a gap before a packet, a beat or a response.
    #[serde(deserialize_with = "percent")]
    pub gap: Percent,
    /// Longest gap in cycles.
    pub longest_gap: Uint<12>,
    /// Chance that a request waits.
    #[serde(deserialize_with = "percent")]
    pub stall: Percent,
    /// Longest stall in cycles.
    pub longest_stall: Uint<12>,
    /// Packets that ask for an event.
    #[serde(deserialize_with = "percent")]
    pub solicited: Percent,
    /// Units whose data is inline.
    #[serde(deserialize_with = "percent")]
    pub inline: Percent,
    /// WQEs too short for their message (only under F5).
    #[serde(deserialize_with = "percent")]
    pub short_wqe: Percent,
    /// QPs whose RQ entry size is illegal.
    #[serde(deserialize_with = "percent")]
    pub illegal_entry: Percent,
    /// QPs in a state that does not process messages.
    #[serde(deserialize_with = "percent")]
    pub idle_qp: Percent,
    /// Packets before which the QP's state, CQ or EQ changes.
    #[serde(deserialize_with = "percent")]
    pub new_context: Percent,
    /// QPs whose RQ is near its end at first.
    #[serde(deserialize_with = "percent")]
    pub near_wrap: Percent,
    /// WQEs whose successor lies around the end of the cache cell.
    #[serde(deserialize_with = "percent")]
    pub cell_edge: Percent,
    /// WQEs whose successor lies far from them, by about a power of two, or just where they are.
    #[serde(deserialize_with = "percent")]
    pub far_next: Percent,
    /// QPs that share a cache cell with another.
    #[serde(deserialize_with = "percent")]
    pub shared_cell: Percent,
    /// QPs whose number ends with 0x00, the address that RTL often has where none is meant.
    #[serde(deserialize_with = "percent")]
    pub zero_index: Percent,
    /// Packets at which the cache cell changes its owner.
    #[serde(deserialize_with = "percent")]
    pub new_owner: Percent,
    /// Packets followed by a reset.
    #[serde(deserialize_with = "percent")]
    pub reset: Percent,
}

/// Relative weights of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Operations {
    /// SEND of one packet.
    pub send: Uint<16>,
    /// SEND of several packets.
    pub long_send: Uint<16>,
    /// RDMA WRITE of one packet, with or without immediate.
    pub write: Uint<16>,
    /// RDMA WRITE of several packets.
    pub long_write: Uint<16>,
    /// RDMA READ request.
    pub read: Uint<16>,
    /// Opcodes that mean nothing here.
    pub unknown: Uint<16>,
}

/// Relative weights of service types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Services {
    /// Reliable connection.
    pub rc: Uint<16>,
    /// Unreliable connection.
    pub uc: Uint<16>,
    /// Reliable datagram.
    pub rd: Uint<16>,
    /// Unreliable datagram.
    pub ud: Uint<16>,
    /// Congestion notification.
    pub cnp: Uint<16>,
    /// Extended reliable connection.
    pub xrc: Uint<16>,
    /// The codes without meaning.
    pub reserved: Uint<16>,
}

impl Checked for Weights {
    fn objection(&self) -> Option<String> {
        beyond_all(&[("empty", self.empty), ("jumbo", self.jumbo)])
    }
}

impl Operations {
    /// Every weight, in the order of the fields.
    pub fn all(&self) -> [u64; 6] {
        let Self { send, long_send, write, long_write, read, unknown } = self;
        [send, long_send, write, long_write, read, unknown].map(|weight| weight.get())
    }
}

impl Checked for Operations {
    fn objection(&self) -> Option<String> {
        nothing_to_draw("operations", self.all())
    }
}

impl Services {
    /// Every weight, in the order of the fields.
    pub fn all(&self) -> [u64; 7] {
        let Self { rc, uc, rd, ud, cnp, xrc, reserved } = self;
        [rc, uc, rd, ud, cnp, xrc, reserved].map(|weight| weight.get())
    }
}

impl Checked for Services {
    fn objection(&self) -> Option<String> {
        nothing_to_draw("services", self.all())
    }
}

impl Default for Operations {
    fn default() -> Self {
        Self {
            send: n(4),
            long_send: n(3),
            write: n(3),
            long_write: n(2),
            read: n(2),
            unknown: n(1),
        }
    }
}

impl Default for Services {
    fn default() -> Self {
        Self { rc: n(4), uc: n(2), rd: n(1), ud: n(2), cnp: n(1), xrc: n(1), reserved: n(1) }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            raw_cycles_per_packet: n(0),
            qps: Span::new(2, 8),
            operations: Operations::default(),
            services: Services::default(),
            message_packets: Span::new(2, 5),
            again: n(0),
            payload: Span::new(1, 4096),
            units: Span::new(1, 6),
            empty: n(5),
            jumbo: n(2),
            packet_edge: n(40),
            large_unit: n(10),
            address_edge: n(20),
            large_ring: n(10),
            gap: n(20),
            longest_gap: n(6),
            stall: n(20),
            longest_stall: n(4),
            solicited: n(25),
            inline: n(10),
            short_wqe: n(5),
            illegal_entry: n(3),
            idle_qp: n(3),
            new_context: n(10),
            near_wrap: n(30),
            cell_edge: n(20),
            far_next: n(4),
            shared_cell: n(20),
            zero_index: n(0),
            new_owner: n(30),
            reset: n(0),
        }
    }
}

impl harness::Weights<Thread2> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let base = Weights::default;
        let scenario = Scenario::new;
        vec![
            scenario(
                "smoke",
                "single-packet messages without gaps or stalls",
                Weights {
                    qps: Span::new(1, 2),
                    operations: Operations {
                        long_send: n(0),
                        long_write: n(0),
                        ..Operations::default()
                    },
                    units: Span::new(1, 2),
                    gap: n(0),
                    stall: n(0),
                    short_wqe: n(0),
                    illegal_entry: n(0),
                    idle_qp: n(0),
                    ..base()
                },
            ),
            scenario("default", "a bit of everything", base()),
            scenario(
                "backpressure",
                "every channel stalls, for long",
                Weights {
                    gap: n(60),
                    longest_gap: n(20),
                    stall: n(70),
                    longest_stall: n(20),
                    ..base()
                },
            ),
            scenario(
                "long-messages",
                "many packets and units, units split across packets, QPs interleaved",
                Weights {
                    qps: Span::new(3, 6),
                    operations: Operations {
                        send: n(1),
                        long_send: n(8),
                        write: n(1),
                        long_write: n(2),
                        read: n(0),
                        unknown: n(0),
                    },
                    message_packets: Span::new(3, 16),
                    units: Span::new(4, 24),
                    jumbo: n(20),
                    gap: n(5),
                    stall: n(5),
                    short_wqe: n(10),
                    ..base()
                },
            ),
            scenario(
                "ring",
                "RQs that wrap, WQEs around the end of a cache cell, QPs that share a cell",
                Weights {
                    operations: Operations { send: n(6), long_send: n(1), ..Operations::default() },
                    payload: Span::new(1, 256),
                    units: Span::new(1, 8),
                    near_wrap: n(70),
                    cell_edge: n(60),
                    far_next: n(20),
                    shared_cell: n(80),
                    new_owner: n(60),
                    ..base()
                },
            ),
            scenario(
                "crowd",
                "messages of up to 255 QPs in progress at once",
                Weights {
                    qps: Span::new(64, 255),
                    operations: Operations {
                        send: n(2),
                        long_send: n(10),
                        write: n(1),
                        long_write: n(1),
                        read: n(0),
                        unknown: n(0),
                    },
                    message_packets: Span::new(2, 3),
                    units: Span::new(1, 2),
                    gap: n(5),
                    stall: n(5),
                    ..base()
                },
            )
            .with_long(3, Span::new(4000, 8000)),
            scenario(
                "giant-messages",
                "one QP whose messages are as long as the case and need many bits to count",
                Weights {
                    qps: Span::new(1, 1),
                    operations: Operations {
                        send: n(1),
                        long_send: n(20),
                        write: n(0),
                        long_write: n(0),
                        read: n(0),
                        unknown: n(0),
                    },
                    message_packets: Span::new(24, 200),
                    again: n(100),
                    zero_index: n(70),
                    payload: Span::new(0xa000, 0xffff),
                    units: Span::new(2, 6),
                    packet_edge: n(70),
                    large_unit: n(40),
                    gap: n(5),
                    stall: n(2),
                    idle_qp: n(0),
                    new_context: n(2),
                    ..base()
                },
            )
            .with_long(1, Span::new(45_000, 75_000)),
            scenario(
                "events",
                "nearly every packet asks for an event",
                Weights { solicited: n(90), stall: n(40), gap: n(30), ..base() },
            ),
            scenario(
                "errors",
                "unknown opcodes, illegal entry sizes, idle QPs, WQEs too short",
                Weights {
                    operations: Operations { unknown: n(4), ..Operations::default() },
                    short_wqe: n(50),
                    illegal_entry: n(30),
                    idle_qp: n(30),
                    ..base()
                },
            ),
            scenario(
                "reset",
                "resets in mid-flight",
                Weights { reset: n(20), gap: n(40), ..base() },
            ),
            scenario(
                "chaos",
                "unconstrained random stimulus, no protocol",
                Weights { raw_cycles_per_packet: n(16), ..base() },
            ),
        ]
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        generator::traffic(self, parameters.fixes(), packets, rng)
    }

    fn raw_pins(&self, _: &Parameters, packets: u32, rng: &mut CaseRng) -> Option<Vec<Inputs>> {
        let cycles = self.raw_cycles_per_packet.get() as u32 * packets;
        (cycles > 0).then(|| chaos::cycles(cycles, rng))
    }
}
