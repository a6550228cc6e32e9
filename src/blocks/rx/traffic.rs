//! The traffic of `rx`, as vectors store it. It combines the traffic of the inner blocks.

use crate::blocks::thread2::rules::layout::opcode;
use crate::blocks::thread2::traffic::{self as thread2, Packet, Tables};
use crate::blocks::{dll, qp, recv};
use cosim_core::harness::{self, TrafficError};
use cosim_core::value::Uint;

cosim_core::traffic! {
    /// The environment of one case. Gaps and waits are in cycles.
    pub struct Traffic {
        /// Key of the noise on payload pins whose valid is low, and on ignored bits; 0 is silence.
        noise: Uint<64>,
        /// Initial contents of thread2's tables; entries that are not listed are 0.
        #[serde(default)]
        tables: Tables,
        /// Request packets in order. They are interleaved with packets of the message layer.
        #[serde(default)]
        requests: Vec<Request>,
        /// The message layer: its packets in order, and the buffers around recv.
        receive: recv::traffic::Traffic,
        /// The actions of software and hardware beside qp, without packets.
        software: qp::traffic::Traffic,
        /// The link, without TLPs: these are the descriptors of the packets.
        link: dll::traffic::Traffic,
        /// Cycles that each head of the FIFO waits for its context or lengths; 0 after the end of
        /// the list.
        fetch_waits: Vec<Uint<12>> = default,
    }

    /// A request packet.
    pub struct Request {
        /// Header, contexts, and the answers of thread2's environment. The gap is before its
        /// descriptor is offered. The QP state in the context is that in memory. A reset follows
        /// after it left the FIFO.
        packet: Packet,
        /// 1: it cannot be executed.
        error: Uint<1> = default,
    }
}

/// Whether a packet with this opcode uses the RQ WQE of its message.
pub fn takes_wqe(net_opcode: u64) -> bool {
    use opcode::{
        RDMA_WRITE_LAST_WITH_IMM, RDMA_WRITE_ONLY_WITH_IMM, SEND_LAST, SEND_ONLY_WITH_IMM,
    };
    matches!(net_opcode, SEND_LAST..=SEND_ONLY_WITH_IMM)
        || matches!(net_opcode, RDMA_WRITE_LAST_WITH_IMM | RDMA_WRITE_ONLY_WITH_IMM)
}

/// QPs with multi-packet SENDs. If the rest of such a message were dropped, thread2 would keep its
/// partial state. So these QPs must not stop to accept packets, except after a length error.
pub fn of_long_sends<'a>(packets: impl Iterator<Item = &'a Packet>) -> [bool; 256] {
    let mut qps = [false; 256];
    for Packet { header, .. } in packets {
        let is_long = header.net_opcode.get() <= opcode::SEND_LAST_WITH_IMM;
        qps[(header.local_qpn.get() & 0xff) as usize] |= is_long;
    }
    qps
}

/// The field of a command or event that could make an open QP drop packets.
pub fn may_close(step: &qp::traffic::Step, is_open: &[bool; 256]) -> Option<&'static str> {
    let closes = |next: u64| matches!(next, 0 | 6 | 7);
    let hit = |qpn: Uint<8>| is_open[qpn.get() as usize];
    let command = step.command.filter(|command| hit(command.qpn) && closes(command.next.get()));
    let event = step.event.filter(|event| hit(event.qpn) && event.kind.get() >= 2);
    command.map(|_| "command.next").or(event.map(|_| "event.kind"))
}

impl Traffic {
    /// The request packets without the fields of the system.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.requests.iter().map(|request| &request.packet)
    }

    /// Whether it contains a reset.
    pub fn has_reset(&self) -> bool {
        self.packets().any(|packet| packet.reset.is_some())
            || self.receive.messages.iter().any(|message| message.reset.is_some())
            || self.software.steps.iter().any(|step| step.reset.is_some())
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        let object = |path, message: &str| Err(TrafficError { path, message: message.to_owned() });
        thread2::check(self.packets()).map_err(|(index, field, message)| {
            let path = format!("requests[{index}].packet.{field}");
            TrafficError { path, message }
        })?;
        let inside = |name: &str, result: Result<(), TrafficError>| {
            let path = |path| format!("{name}.{path}");
            result.map_err(|error| TrafficError { path: path(error.path), ..error })
        };
        inside("receive", self.receive.check())?;
        inside("software", self.software.check())?;
        inside("link", self.link.check())?;
        if !self.link.tlps.is_empty() {
            let message = "there are some; the system's TLPs are the descriptors of its packets";
            return object("link.tlps".to_owned(), message);
        }
        let is_open = of_long_sends(self.packets());
        for (index, step) in self.software.steps.iter().enumerate() {
            let at = |field: &str| format!("software.steps[{index}].{field}");
            if step.packet.is_some() {
                return object(at("packet"), "qp's packets are those of the system");
            }
            if let Some(field) = may_close(step, &is_open) {
                return object(at(field), "it may disable the QP in the middle of a SEND");
            }
        }
        for (index, Request { packet, error }) in self.requests.iter().enumerate() {
            if error.get() == 1 && is_open[(packet.header.local_qpn.get() & 0xff) as usize] {
                let message = "its QP has SENDs of several packets, of which none may be refused";
                return object(format!("requests[{index}].error"), message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::thread2::rules::layout::Header;
    use harness::Traffic as _;

    fn request(net_opcode: u64, error: u64) -> Request {
        let header = Header {
            net_opcode: Uint::new(net_opcode),
            local_qpn: Uint::new(5),
            ..Header::default()
        };
        let wqe = Some(thread2::Wqe { units: vec![Default::default()], ..Default::default() });
        let packet = Packet { header, wqe, ..Packet::default() };
        Request { packet, error: Uint::new(error) }
    }

    fn objection(change: impl FnOnce(&mut Traffic)) -> Option<String> {
        let requests = vec![request(opcode::SEND_FIRST, 0), request(opcode::SEND_LAST, 0)];
        let mut traffic = Traffic { requests, ..Traffic::default() };
        change(&mut traffic);
        traffic.check().err().map(|objection| objection.path)
    }

    #[test]
    fn the_parts_are_checked_and_hold_nothing_of_the_system() {
        assert_eq!(objection(|_| {}), None);
        let is = |path: &str, change: fn(&mut Traffic)| {
            assert_eq!(objection(change).as_deref(), Some(path));
        };
        is("requests[0].packet.header.net_opcode", |traffic| drop(traffic.requests.remove(0)));
        is("requests[0].packet.again", |traffic| traffic.requests[0].packet.again = Uint::new(1));
        is("requests[1].error", |traffic| traffic.requests[1].error = Uint::new(1));
        is("receive.messages[0].data", |traffic| {
            let message = r#"{"kind": 0, "id": 1, "data": [{"id": 2}]}"#;
            traffic.receive.messages.push(serde_json::from_str(message).unwrap());
        });
        is("link.tlp_link[0].again", |traffic| {
            let fate = r#"{"lost": 1, "again": 3}"#;
            traffic.link.tlp_link.push(serde_json::from_str(fate).unwrap());
        });
        is("link.tlps", |traffic| traffic.link.tlps.push(Default::default()));
        let single = |traffic: &mut Traffic| traffic.requests = vec![request(opcode::SEND_ONLY, 1)];
        assert_eq!(objection(single), None);
    }

    #[test]
    fn a_qp_is_not_taken_away_in_the_middle_of_a_send() {
        for (json, field) in [
            (r#"{"packet": {"qpn": 1}}"#, Some("packet")),
            (r#"{"command": {"qpn": 5, "next": 6}}"#, Some("command.next")),
            (r#"{"command": {"qpn": 5, "next": 0}}"#, Some("command.next")),
            (r#"{"event": {"qpn": 5, "kind": 3}}"#, Some("event.kind")),
            (r#"{"command": {"qpn": 5, "next": 4}}"#, None),
            (r#"{"command": {"qpn": 6, "next": 6}}"#, None),
            (r#"{"event": {"qpn": 5, "kind": 0}}"#, None),
        ] {
            let step = serde_json::from_str(json).unwrap();
            let path = objection(|traffic| traffic.software.steps.push(step));
            let expected = field.map(|field| format!("software.steps[0].{field}"));
            assert_eq!(path, expected, "{json}");
        }
    }
}
