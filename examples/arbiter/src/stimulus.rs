//! The traffic of a case: packets of each requester, and the stalls of the output.

use crate::REQUESTERS;
use cosim_core::harness::{self, Reset, TrafficError};
use cosim_core::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Key of the noise on payload pins whose valid is low; 0: zeros.
    pub noise: Uint<64>,
    /// The packets of each requester.
    pub requesters: [Vec<Packet>; REQUESTERS],
    /// Cycles that each beat waits on the output; 0 after the end of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_stalls: Vec<Uint<12>>,
}

/// A packet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Cycles before the packet is offered.
    #[serde(default)]
    pub gap: Uint<12>,
    /// Number of beats, at least 1.
    pub beats: Uint<10>,
    /// Cycles between two beats in which none is offered.
    #[serde(default)]
    pub delay: Uint<6>,
    /// Payload of the first beat; it increases by 1 for each further one.
    pub data: Uint<16>,
    /// A reset after the last beat was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        for (n, packets) in self.requesters.iter().enumerate() {
            for (index, packet) in packets.iter().enumerate() {
                let object = |field: &str, message: &str| {
                    let path = format!("requesters[{n}][{index}].{field}");
                    Err(TrafficError { path, message: message.to_owned() })
                };
                if packet.beats.get() == 0 {
                    return object("beats", "0; a packet has at least one beat");
                }
                if packet.reset.is_some_and(|reset| reset.cycles.get() == 0) {
                    return object("reset.cycles", "0; a reset lasts at least one cycle");
                }
            }
        }
        Ok(())
    }
}
