//! The traffic of `recv`, as vectors store it.

use super::kind_name;
use cosim_core::harness::{self, Reset, TrafficError, check_resets};
use cosim_core::value::Uint;

/// The kind of a DP.
pub const DP: u64 = 6;
/// The kind of an eager CP.
pub const EAGER: u64 = 4;
/// The kind of a CP with rendezvous data.
pub const RNDV_DATA: u64 = 5;

cosim_core::traffic! {
    /// The environment of one case. Gaps and waits are in cycles.
    pub struct Traffic {
        /// Key of the noise on payload pins whose valid is low; 0 is silence.
        noise: Uint<64>,
        /// Free buffers at the beginning and after a reset; reduced if the total with those of the
        /// ring would exceed 255.
        pool: Uint<8>,
        /// Messages in the order in which they are sent.
        messages: Vec<Message>,
        /// Cycles until each credit is accepted; 0 after the end of the list.
        credit_stalls: Vec<Uint<12>> = default,
        /// Cycles until each kept packet is read, after the one before it; 0 after the end of the
        /// list. Reading frees its buffer.
        reads: Vec<Uint<12>> = default,
    }

    /// A message, or a lone control packet.
    pub struct Message {
        /// Cycles before its CP is offered, after the packet before it was accepted.
        gap: Uint<12> = default,
        /// Kind of the CP: 0 flow, 1 rndv_rts, 2 rndv_cts, 3 short, 4 eager, 5 rndv_data; 6 and 7
        /// do not fit.
        kind: Uint<3>,
        /// Handle of the CP.
        id: Uint<8>,
        /// Bytes in the CP.
        len: Uint<16> = default,
        /// Bytes of the message.
        msg_len: Uint<32> = default,
        /// 1: a receive is posted for it.
        posted: Uint<1> = default,
        /// Cycles until the block gets the answer whether it is posted.
        match_wait: Uint<12> = default,
        /// 1: a temporary buffer is granted.
        temp_ok: Uint<1> = default,
        /// Cycles until `posted_done`, after the earliest possible cycle.
        done_wait: Uint<12> = default,
        /// The packets after the CP.
        data: Vec<Data> = default,
        /// A reset after the CP was accepted.
        reset: Option<Reset> = default,
    }

    /// Packets of a message after its CP.
    pub struct Data {
        /// Cycles before the first packet is offered, after the packet before it was accepted.
        gap: Uint<12> = default,
        /// Handle of the first packet; it increases by 1 for each further one.
        id: Uint<8>,
        /// Bytes in each packet.
        len: Uint<16> = default,
        /// Number of packets, at least 1; 1 if omitted.
        count: Option<Uint<12>> = default,
        /// If present, the packets are not DPs but stray packets of this kind.
        stray: Option<Stray> = default,
    }

    /// A packet that does not belong to the message it comes in.
    #[derive(Copy)]
    pub struct Stray {
        /// Any kind except for 6.
        kind: Uint<3>,
        /// 1: it is marked as the last packet of its message.
        last: Uint<1> = default,
    }
}

impl Data {
    /// Number of packets.
    pub fn count(&self) -> u64 {
        self.count.map_or(1, Uint::get)
    }
}

impl Message {
    /// Number of packets, including the CP.
    pub fn packets(&self) -> u64 {
        1 + self.data.iter().map(Data::count).sum::<u64>()
    }

    /// Whether its data is received by a posted receive, once the block has accepted it.
    pub fn is_posted(&self) -> bool {
        match self.kind.get() {
            EAGER => self.posted.get() == 1,
            kind => kind == RNDV_DATA,
        }
    }

    /// The field that is not legal, and the reason.
    fn objection(&self) -> Option<(String, String)> {
        let kind = self.kind.get();
        if !matches!(kind, EAGER | RNDV_DATA) && !self.data.is_empty() {
            let message = format!("{} is no message with data", kind_name(kind));
            return Some(("data".to_owned(), message));
        }
        self.data.iter().enumerate().find_map(|(index, data)| {
            let (field, message) = match data.stray {
                _ if data.count() == 0 => ("count", "0; an entry stands for at least one packet"),
                Some(stray) if stray.kind.get() == DP => ("stray.kind", "6 is a DP, which fits"),
                Some(_) if self.is_posted() => (
                    "stray",
                    "the `posted_done` of a posted message \
                    waits for the last DP, and the packet would wait for it",
                ),
                Some(_) if index + 1 == self.data.len() => {
                    ("stray", "the last packet of a message is a DP")
                }
                _ => return None,
            };
            Some((format!("data[{index}].{field}"), message.to_owned()))
        })
    }
}

impl Traffic {
    /// Number of packets in the case.
    pub fn packets(&self) -> u64 {
        self.messages.iter().map(Message::packets).sum()
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("messages", self.messages.iter().map(|message| message.reset))?;
        for (index, message) in self.messages.iter().enumerate() {
            if let Some((field, message)) = message.objection() {
                return Err(TrafficError { path: format!("messages[{index}].{field}"), message });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::Traffic as _;

    #[test]
    fn what_the_types_cannot_say_is_objected_to() {
        for (kind, rest, path) in [
            (0, r#""data": [{"id": 2}]"#, "data"),
            (6, r#""data": [{"id": 2}]"#, "data"),
            (4, r#""reset": {"after": 3, "cycles": 0}"#, "reset.cycles"),
            (4, r#""data": [{"id": 2}, {"id": 3, "count": 0}]"#, "data[1].count"),
            (4, r#""data": [{"id": 2, "stray": {"kind": 6}}, {"id": 3}]"#, "data[0].stray.kind"),
            (5, r#""data": [{"id": 2, "stray": {"kind": 0}}, {"id": 3}]"#, "data[0].stray"),
            (4, r#""data": [{"id": 2, "stray": {"kind": 0}}]"#, "data[0].stray"),
        ] {
            let message = format!(r#"{{"kind": {kind}, "id": 1, {rest}}}"#);
            let json = format!(r#"{{"noise": "0x0", "pool": 9, "messages": [{message}]}}"#);
            let objection = serde_json::from_str::<Traffic>(&json).unwrap().check().unwrap_err();
            assert_eq!(objection.path, format!("messages[0].{path}"));
        }
    }
}
