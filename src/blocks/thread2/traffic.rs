//! The traffic of `thread2`, as vectors store it.

use super::rules;
use super::rules::layout::{self, Context, DataUnit, Header, NextUnit, opcode};
use cosim_core::harness::{self, Reset, TrafficError};
use cosim_core::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes in a message.
pub const LONGEST_MESSAGE: u64 = u32::MAX as u64;

cosim_core::traffic! {
    /// The environment of one case.
    pub struct Traffic {
        /// Key of the noise on payload pins whose valid is low, and on reserved bits; 0 is silence.
        noise: Uint<64>,
        /// Initial contents of the tables; entries that are not listed are 0.
        tables: Tables,
        /// Packets in the order in which they are offered.
        packets: Vec<Packet>,
    }

    /// A packet and the answers of the environment. Gaps and stalls are in cycles.
    pub struct Packet {
        /// Cycles that the block is idle before the packet is offered; 0: offered while the block
        /// is busy.
        #[serde(default)]
        gap: Uint<12>,
        /// Number of repetitions, each with the same answers; only in the middle of a message.
        again: Uint<16> = default,
        /// The contexts that OoOStation fetched.
        context: Context,
        /// The packet's header.
        header: Header,
        /// The answer of RecvQueueMgt, if the packet consumes a WQE.
        wqe: Option<Wqe> = default,
        /// The answer of CompletionQueueMgt.
        #[serde(default)]
        cq: Queue,
        /// The answer of EventQueueMgt.
        #[serde(default)]
        eq: Queue,
        /// Cycles that each MR request of the packet waits; 0 after the end of the list.
        mr_stalls: Vec<Uint<12>> = default,
        /// The new owner of the QP's cache cell, if it changes once the packet is accepted.
        cell_owner: Option<Uint<8>> = default,
        /// A reset after the packet was accepted.
        reset: Option<Reset> = default,
    }

    /// The answer to a WQE request.
    pub struct Wqe {
        /// Cycles that the request waits.
        #[serde(default)]
        stall: Uint<12>,
        /// Cycles before the NextUnit is offered.
        #[serde(default)]
        gap: Uint<12>,
        /// The first beat.
        next: NextUnit,
        /// The further beats; the last one ends the response.
        units: Vec<Unit>,
    }

    /// A DataUnit and the cycles before it is offered.
    #[derive(Copy)]
    pub struct Unit {
        /// Cycles before the beat is offered.
        #[serde(default)]
        gap: Uint<12>,
        /// The beat.
        data: DataUnit,
    }

    /// Initial contents of the three tables outside of the block.
    pub struct Tables {
        /// RQ consumer offsets in slots.
        rq_offset: Vec<Entry<8, 24>> = default,
        /// Cache offsets in slots.
        cache_offset: Vec<Entry<8, 8>> = default,
        /// Owners of cache cells.
        cache_owned: Vec<Entry<7, 8>> = default,
    }
}

/// One entry of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry<const ADDRESS: u32, const VALUE: u32> {
    /// The address in the table: the low bits of a QPN.
    pub address: Uint<ADDRESS>,
    /// The contents.
    pub value: Uint<VALUE>,
}

/// A position in a list of packets with repetitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketCursor {
    /// Index of the next packet.
    pub index: usize,
    /// How often that packet was accepted already.
    times: u64,
}

impl PacketCursor {
    /// Before the first occurrence of a packet.
    pub fn at(index: usize) -> Self {
        Self { index, times: 0 }
    }

    /// The packet that was accepted last.
    pub fn last(self) -> Option<usize> {
        if self.times > 0 { Some(self.index) } else { self.index.checked_sub(1) }
    }

    /// Advances after `packet`, the one at this position, was accepted.
    #[inline]
    pub fn step(&mut self, packet: &Packet) {
        if self.times < packet.again.get() {
            self.times += 1;
        } else {
            *self = Self::at(self.index + 1);
        }
    }
}

/// The answer of CompletionQueueMgt or EventQueueMgt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Cycles that a request waits.
    pub stall: Uint<12>,
    /// Cycles before the response is offered.
    pub gap: Uint<12>,
    /// Address of the queue's entry.
    pub laddr: Uint<64>,
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        check(self.packets.iter()).map_err(|(index, field, message)| TrafficError {
            path: format!("packets[{index}].{field}"),
            message,
        })
    }
}

/// Rejects what the types allow: a packet that consumes a WQE without a last beat, and packets of a
/// message in a wrong order. Returns the index of the packet, the field and the message.
pub(crate) fn check<'a>(
    packets: impl Iterator<Item = &'a Packet>,
) -> Result<(), (usize, &'static str, String)> {
    // The operation of the open message and its bytes so far, for each QP.
    let mut open = [(None, 0); 256];
    for (index, packet) in packets.enumerate() {
        let object = |field: &'static str, message: String| Err((index, field, message));
        let net_opcode = packet.header.net_opcode.get();
        let name = opcode::NAMES[net_opcode as usize];
        if rules::is_in(rules::WITH_WQE, net_opcode) {
            match &packet.wqe {
                None => return object("wqe", format!("missing; a {name} packet consumes a WQE")),
                Some(wqe) if wqe.units.is_empty() => {
                    let message = "empty; the last beat of a WQE is a DataUnit".to_owned();
                    return object("wqe.units", message);
                }
                Some(_) => {}
            }
        }
        if packet.reset.is_some_and(|reset| reset.cycles.get() == 0) {
            return object("reset.cycles", "0; a reset lasts at least one cycle".to_owned());
        }
        if packet.again.get() > 0 && (!name.contains("_MIDDLE") || packet.reset.is_some()) {
            let message =
                "only a packet in the middle of a message comes again, and none with a reset";
            return object("again", message.to_owned());
        }
        let operation = match net_opcode {
            code if rules::is_in(rules::SENDS, code) => "SEND",
            code if rules::is_in(rules::WRITES, code) => "RDMA_WRITE",
            _ => continue,
        };
        let (open, bytes) = &mut open[(packet.header.local_qpn.get() & 0xff) as usize];
        let continues = name.contains("_MIDDLE") || name.contains("_LAST");
        if continues && *open != Some(operation) {
            let message = format!("{name} without a {operation}_FIRST of the same QP before it");
            return object("header.net_opcode", message);
        }
        let goes_on = name.contains("_FIRST") || name.contains("_MIDDLE");
        *open = goes_on.then_some(operation);
        let before = if continues { *bytes } else { 0 };
        *bytes = before + packet.header.pkt_length.get() * (1 + packet.again.get());
        if *bytes > LONGEST_MESSAGE {
            let message = format!(
                "{name} ends a message's first {bytes} bytes; it has at most {LONGEST_MESSAGE}"
            );
            return object("header.pkt_length", message);
        }
    }
    Ok(())
}

/// Describes the packet that is processed and the one that waits.
pub fn in_flight(packets: &[Packet], taken: PacketCursor) -> Vec<String> {
    let describe = |index: usize, role: &str| {
        let Packet { header, wqe, .. } = packets.get(index)?;
        let name = opcode::NAMES[header.net_opcode.get() as usize];
        let service = layout::meaning("service_type", header.service_type.get());
        let units = wqe.as_ref().map_or_else(String::new, |wqe| {
            let bytes: Vec<String> =
                wqe.units.iter().map(|unit| unit.data.byte_cnt.get().to_string()).collect();
            format!(", WQE units of {} bytes", bytes.join("+"))
        });
        Some(format!(
            "packet {index} {role}: {} on QP {:#x} ({}), {} bytes{units}",
            if name.is_empty() { "unknown opcode" } else { name },
            header.local_qpn.get(),
            service.unwrap_or_else(|| "unknown service".to_owned()),
            header.pkt_length.get(),
        ))
    };
    let current = taken.last().and_then(|index| describe(index, "in flight"));
    current.into_iter().chain(describe(taken.index, "next")).collect()
}
