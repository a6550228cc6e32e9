//! The end-to-end check of bytes: all bytes of the traffic get to the right addresses.

use super::super::rtl::{Inputs, Outputs};
use super::super::traffic::Request;
use crate::blocks::recv::environment::Sender;
use crate::blocks::recv::traffic::Message;
use crate::blocks::thread2::rules::layout::opcode::{
    GEN_CQE, RDMA_WRITE_FIRST, RDMA_WRITE_LAST_WITH_IMM, RDMA_WRITE_ONLY_WITH_IMM, SEND_FIRST,
    SEND_LAST_WITH_IMM, SEND_MIDDLE, SEND_ONLY_WITH_IMM,
};
use crate::blocks::thread2::traffic::Packet;
use cosim_core::harness::{Violation, require, require_equal};
use std::collections::VecDeque;

/// The bytes of a SEND go to the addresses of its WQE, in order, each once.
pub const MESSAGE: &str = "bytes-of-a-message";
/// The bytes of an RDMA WRITE go to the address in its header.
pub const WRITE: &str = "bytes-of-a-write";
/// The packets of recv's messages are copied or kept with their full length, in order, each once.
pub const RECEIVE: &str = "bytes-of-a-receive";

fn is_send(opcode: u64) -> bool {
    opcode <= SEND_ONLY_WITH_IMM
}

fn is_write(opcode: u64) -> bool {
    (RDMA_WRITE_FIRST..=RDMA_WRITE_ONLY_WITH_IMM).contains(&opcode)
}

/// The memory and the packet bytes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placement {
    key: u64,
    address: u64,
    length: u64,
    from: u64,
}

/// The current message of a QP.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// Number of bytes placed.
    placed: u64,
    /// A packet of it was not accepted, so the place of its bytes is not specified.
    broken: bool,
}

/// Tracks the requests of thread2 for packets.
#[derive(Debug, Clone)]
pub struct PlacedBytes<'a> {
    requests: &'a [Request],
    /// Packets are lost if their WQE request waits (thread2 without F0).
    loses: bool,
    /// By the low byte of the QPN.
    open: Vec<Open>,
    current: Option<CurrentPacket<'a>>,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct CurrentPacket<'a> {
    packet: &'a Packet,
    /// Number of its bytes that were requested.
    bytes: u64,
    /// Number of requests for an RDMA WRITE.
    writes: u64,
    length_error: bool,
}

impl<'a> PlacedBytes<'a> {
    pub fn new(requests: &'a [Request], fixes: u8) -> Self {
        let open = vec![Open::default(); 256];
        Self { requests, loses: fixes & 1 == 0, open, current: None, bytes: 0 }
    }

    pub fn forget(&mut self) {
        self.current = None;
        self.open.fill(Open::default());
    }

    /// Handles a request packet that leaves the FIFO.
    pub fn leaves(&mut self, request: usize, taken: bool) -> Result<(), Violation> {
        let Some(packet) = self.requests.get(request).map(|request| &request.packet) else {
            return Ok(());
        };
        let header = &packet.header;
        let open = &mut self.open[(header.local_qpn.get() & 0xff) as usize];
        let opcode = header.net_opcode.get();
        if !taken {
            open.broken |= opcode <= SEND_LAST_WITH_IMM;
            return Ok(());
        }
        // If no bytes of an earlier message are placed, a new message begins.
        open.broken &= open.placed > 0 || matches!(opcode, SEND_MIDDLE..=SEND_LAST_WITH_IMM);
        self.current = Some(CurrentPacket { packet, bytes: 0, writes: 0, length_error: false });
        Ok(())
    }

    /// Checks the requests at this edge, and the end of the packet before.
    #[inline]
    pub fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if outputs.x_cxt_ready.is_high() {
            self.finish()?;
        }
        if outputs.t2_fetch_mr_ingress_valid.is_high() && inputs.t2_fetch_mr_ingress_ready.is_high()
        {
            self.request(outputs)?;
        }
        Ok(())
    }

    fn request(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let head = outputs.t2_fetch_mr_ingress_head.words();
        let data = outputs.t2_fetch_mr_ingress_data.words();
        let opcode = u64::from(data[1] >> 24 & 0x1f);
        let seen = Placement {
            key: u64::from(head[3]),
            address: u64::from(head[5]) << 32 | u64::from(head[4]),
            length: u64::from(head[6]),
            from: u64::from(data[3] >> 16),
        };
        let Some(current) = &mut self.current else { return Ok(()) };
        let packet = current.packet;
        let header = &packet.header;
        let open = &mut self.open[(header.local_qpn.get() & 0xff) as usize];
        let from = header.pkt_start_addr.get();
        current.length_error |= opcode == GEN_CQE && data[4] >> 29 == 1;
        if is_send(opcode) {
            if !open.broken {
                let left = header.pkt_length.get().saturating_sub(current.bytes);
                let expected = piece(packet, open.placed, left);
                require_equal(MESSAGE, "place of the bytes", Some(seen), expected)?;
            }
            open.placed += seen.length;
            current.bytes += seen.length;
            self.bytes += seen.length;
        }
        if is_write(opcode) {
            let expected = Placement {
                key: header.rkey.get(),
                address: header.raddr.get(),
                length: header.pkt_length.get(),
                from,
            };
            current.writes += 1;
            require_equal(WRITE, "place of the bytes", seen, expected)?;
        }
        Ok(())
    }

    /// Checks the completed packet, if there is one.
    pub fn finish(&mut self) -> Result<(), Violation> {
        let Some(CurrentPacket { packet, bytes, writes, length_error }) = self.current.take()
        else {
            return Ok(());
        };
        let header = &packet.header;
        let opcode = header.net_opcode.get();
        let open = &mut self.open[(header.local_qpn.get() & 0xff) as usize];
        let lost = self.loses && packet.wqe.as_ref().is_some_and(|wqe| wqe.stall.get() > 0);
        let expected = u64::from(is_write(opcode) && !lost);
        require_equal(WRITE, "requests for an RDMA WRITE", writes, expected)?;
        if !is_send(opcode) {
            // Its step of the RQ ends an open message.
            let has_immediate =
                matches!(opcode, RDMA_WRITE_LAST_WITH_IMM | RDMA_WRITE_ONLY_WITH_IMM);
            if has_immediate && !lost {
                *open = Open::default();
            }
            return Ok(());
        }
        if lost {
            return Ok(());
        }
        let length = header.pkt_length.get();
        let is_whole = bytes == length || length_error && bytes < length || open.broken;
        require!(is_whole, MESSAGE, "{bytes} of {length} bytes of a packet were placed")?;
        if length_error || !matches!(opcode, SEND_FIRST | SEND_MIDDLE) {
            *open = Open::default();
        }
        Ok(())
    }
}

/// The place of `left` bytes of a packet from byte `at` of the message on: as many as fit into one
/// unit of its WQE.
fn piece(packet: &Packet, at: u64, left: u64) -> Option<Placement> {
    let mut start = 0;
    for unit in packet.wqe.iter().flat_map(|wqe| &wqe.units) {
        let bytes = unit.data.byte_cnt.get();
        if at < start + bytes {
            let inside = at - start;
            let address = unit.data.laddr.get().wrapping_add(inside);
            let from = packet.header.pkt_start_addr.get();
            let length = left.min(bytes - inside);
            return Some(Placement { key: unit.data.lkey.get(), address, length, from });
        }
        start += bytes;
    }
    None
}

/// Tracks what recv does with message packets.
#[derive(Debug, Clone)]
pub struct Received<'a> {
    /// The next packet to be sent.
    sender: Sender<'a>,
    /// Handle and length of the sent packets whose data has a destination.
    due: VecDeque<(u64, u64)>,
    pub bytes: u64,
}

impl<'a> Received<'a> {
    pub fn new(messages: &'a [Message]) -> Self {
        Self { sender: Sender::new(messages), due: VecDeque::with_capacity(64), bytes: 0 }
    }

    pub fn all_sent(&self) -> bool {
        self.sender.is_done()
    }

    /// Handles a packet that A accepts.
    pub fn send(&mut self) {
        if let Some(packet) = self.sender.packet
            && self.sender.carries_data()
        {
            self.due.push_back((packet.id, packet.len));
        }
        self.sender.advance();
    }

    pub fn forget(&mut self) {
        self.due.clear();
        self.sender.drop_message();
    }

    /// Checks what is copied or kept at this edge.
    #[inline]
    pub fn observe(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let copy = (outputs.rv_copy_id.get(), Some(outputs.rv_copy_len.get()));
        let keep = (outputs.rv_keep_id.get(), None);
        let seen = [(outputs.rv_copy_valid, copy), (outputs.rv_keep_valid, keep)];
        for (_, (id, len)) in seen.into_iter().filter(|(valid, _)| valid.is_high()) {
            let due = self.due.pop_front();
            let fits = due.is_some_and(|due| due.0 == id && len.is_none_or(|len| len == due.1));
            require!(fits, RECEIVE, "packet {id:#04x}, bytes {len:?}; (id, bytes) sent: {due:x?}")?;
            self.bytes += len.unwrap_or(0);
        }
        Ok(())
    }

    pub fn finish(&self) -> Result<(), Violation> {
        let (left, next) = (self.due.len(), self.due.front());
        require!(left == 0, RECEIVE, "{left} packets were not placed, first {next:x?}")
    }
}
