//! The built-in scenarios, each a set of weights.

use super::chaos;
use crate::blocks::thread2::Thread2;
use crate::blocks::thread2::rtl::Inputs;
use crate::blocks::thread2::traffic::Traffic;
use cosim_core::harness::{
    self, CaseRng, Parameters, Percent, Scenario, Span, beyond_all, nothing_to_draw,
};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Fields that a file omits have the values of `default`.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// Number of queue pairs.
        qps: Span<8, 1> = 2..=8,
        /// Relative weights of operations.
        operations: Operations = Operations::default(),
        /// Relative weights of service types.
        services: Services = Services::default(),
        /// Number of packets in a multi-packet message.
        message_packets: Span<12, 2> = 2..=5,
        /// Multi-packet messages as long as the case, since their middle packets are repeated.
        again: Percent = 0,
        /// Payload bytes of a packet.
        payload: Span<16> = 1..=4096,
        /// Number of DataUnits in a WQE, without the terminator.
        units: Span<6, 1> = 1..=6,
        /// Packets without payload, in percent.
        empty: Percent = 5,
        /// Packets with payload far beyond any MTU, among those with payload.
        jumbo: Percent = 2,
        /// Units that end within a byte of the end of a packet.
        packet_edge: Percent = 40,
        /// WQEs whose last unit is far larger than the message.
        large_unit: Percent = 10,
        /// Units whose address is about to carry out of its low 32 or its 64 bits.
        address_edge: Percent = 20,
        /// QPs with an RQ so large that its offsets need all their bits.
        large_ring: Percent = 10,
        /// QPs with a rest behind the last entry of their RQ.
        ring_rest: Percent = 0,
        /// Chance of a gap before a packet, a beat or a response.
        gap: Percent = 20,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 6,
        /// Chance that a request is stalled.
        stall: Percent = 20,
        /// Longest stall in cycles.
        longest_stall: Uint<12> = 4,
        /// Packets that request an event.
        solicited: Percent = 25,
        /// Units whose data is inline.
        inline: Percent = 10,
        /// WQEs that are too short for their message (only with F5).
        short_wqe: Percent = 5,
        /// QPs whose RQ entry size is illegal.
        illegal_entry: Percent = 3,
        /// QPs in a state that does not process messages.
        idle_qp: Percent = 3,
        /// Packets before which the state, CQ or EQ of the QP changes.
        new_context: Percent = 10,
        /// QPs whose RQ offset is initially near its end.
        near_wrap: Percent = 30,
        /// WQEs whose successor is near the end of the cache cell.
        cell_edge: Percent = 20,
        /// WQEs whose successor is at a distance of about a power of two, or at their own place.
        far_next: Percent = 4,
        /// QPs that share a cache cell with another.
        shared_cell: Percent = 20,
        /// QPs whose number ends with 0x00, the index that RTL often uses if none is meant.
        zero_index: Percent = 0,
        /// Packets during which the owner of the cache cell changes.
        new_owner: Percent = 30,
        /// Packets, units and QPs with fields that are 0, 1, a power of two, the largest number, or
        /// one less.
        corners: Percent = 10,
        /// Packets followed by a reset.
        reset: Percent = 0,
    }
    check |weights| beyond_all(&[("empty", weights.empty), ("jumbo", weights.jumbo)]);

    /// Relative weights of operations.
    pub struct Operations {
        /// SEND of one packet.
        send: Uint<16> = 4,
        /// SEND of several packets.
        long_send: Uint<16> = 3,
        /// RDMA WRITE of one packet, with or without immediate.
        write: Uint<16> = 3,
        /// RDMA WRITE of several packets.
        long_write: Uint<16> = 2,
        /// RDMA READ request.
        read: Uint<16> = 2,
        /// Opcodes without meaning for this block.
        unknown: Uint<16> = 1,
    }
    check |operations| nothing_to_draw("operations", operations.all_weights());

    /// Relative weights of service types.
    pub struct Services {
        /// Reliable connection.
        rc: Uint<16> = 4,
        /// Unreliable connection.
        uc: Uint<16> = 2,
        /// Reliable datagram.
        rd: Uint<16> = 1,
        /// Unreliable datagram.
        ud: Uint<16> = 2,
        /// Congestion notification.
        cnp: Uint<16> = 1,
        /// Extended reliable connection.
        xrc: Uint<16> = 1,
        /// Codes without meaning.
        reserved: Uint<16> = 1,
    }
    check |services| nothing_to_draw("services", services.all_weights());
}

impl Operations {
    /// Every weight, in the order of the fields.
    pub fn all_weights(&self) -> [u64; 6] {
        let Self { send, long_send, write, long_write, read, unknown } = self;
        [send, long_send, write, long_write, read, unknown].map(|weight| weight.get())
    }
}

impl Services {
    /// Every weight, in the order of the fields.
    pub fn all_weights(&self) -> [u64; 7] {
        let Self { rc, uc, rd, ud, cnp, xrc, reserved } = self;
        [rc, uc, rd, ud, cnp, xrc, reserved].map(|weight| weight.get())
    }
}

impl harness::Weights<Thread2> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        harness::scenarios_from(include_str!("scenarios.toml"))
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        super::traffic(self, parameters, packets, rng)
    }

    fn raw_cycles_per_packet(&self) -> Uint<8> {
        self.raw_cycles_per_packet
    }

    fn raw_pins(cycles: u32, parameters: &Parameters, rng: &mut CaseRng) -> Vec<Inputs> {
        chaos::cycles(cycles, parameters, rng)
    }
}
