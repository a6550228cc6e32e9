//! Traffic in the block's own terms: what a vector of `thread2` holds.

use super::layout::{Context, DataUnit, Header, NextUnit};
use crate::value::Uint;
use serde::{Deserialize, Serialize};

/// Everything that surrounds the block in one case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Key of the noise on payload pins whose valid is low, and on reserved bits; 0 is silence.
    pub noise: Uint<64>,
    /// What the tables hold at first; entries not listed are 0.
    pub tables: Tables,
    /// Packets in the order they are offered.
    pub packets: Vec<Packet>,
}

/// First contents of the three tables outside the block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tables {
    /// RQ consumer offsets in slots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rq_offset: Vec<Entry<8, 24>>,
    /// Cache offsets in slots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cache_offset: Vec<Entry<8, 8>>,
    /// Owners of cache cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cache_owned: Vec<Entry<7, 8>>,
}

/// One entry of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry<const ADDRESS: u32, const VALUE: u32> {
    /// The table's address: the low bits of a QPN.
    pub address: Uint<ADDRESS>,
    /// What it holds.
    pub value: Uint<VALUE>,
}

/// A packet and how its surroundings answer it. Gaps and stalls are in cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Cycles the block is idle before the packet is offered; 0: offered while the block is busy.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The contexts OoOStation fetched.
    pub context: Context,
    /// The packet's header.
    pub header: Header,
    /// RecvQueueMgt's side, if the packet consumes a WQE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wqe: Option<Wqe>,
    /// CompletionQueueMgt's side.
    #[serde(default)]
    pub cq: Queue,
    /// EventQueueMgt's side.
    #[serde(default)]
    pub eq: Queue,
    /// Cycles each MR request of the packet waits; requests beyond the list do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mr_stalls: Vec<Uint<12>>,
    /// Who takes the QP's cache cell while the packet is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_owner: Option<Uint<8>>,
    /// A reset after the packet was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// The answer to a WQE request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wqe {
    /// Cycles the request waits.
    #[serde(default)]
    pub stall: Uint<12>,
    /// Cycles before the NextUnit is offered.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The first beat.
    pub next: NextUnit,
    /// The further beats; the last one ends the response.
    pub units: Vec<Unit>,
}

/// A DataUnit and the cycles before it is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Cycles before the beat is offered.
    #[serde(default)]
    pub gap: Uint<12>,
    /// The beat.
    #[serde(flatten)]
    pub data: DataUnit,
}

/// The answer of CompletionQueueMgt or EventQueueMgt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Cycles a request waits.
    pub stall: Uint<12>,
    /// Cycles before the response is offered.
    pub gap: Uint<12>,
    /// Address of the queue's entry.
    pub laddr: Uint<64>,
}

/// A reset in mid-flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// Cycles after the packet was taken.
    pub after: Uint<12>,
    /// Cycles the reset lasts, at least 1.
    pub cycles: Uint<4>,
}
