//! The expected requests of the block, word by word as in section 3 of the specification, written
//! again for the scoreboard only.

use crate::blocks::thread2::rules::layout::{self, Header};
use crate::blocks::thread2::traffic::Packet;
use cosim_core::value::Uint;
use cosim_core::verilated::Bits;

/// Flags of an MR request.
const ABSOLUTE: u32 = 1 << 26;
const RELATIVE: u32 = 1 << 25;
const REMOTE_READ: u32 = 1 << 2;
const REMOTE_WRITE: u32 = 1 << 1;
const LOCAL_WRITE: u32 = 1;

/// Bytes of an entry of a CQ or EQ.
pub const ENTRY: u64 = 32;

/// The memory range of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub key: u64,
    pub address: u64,
    pub length: u64,
}

/// An MR request.
#[derive(Debug, Clone, Copy)]
pub struct MrRequest {
    bypass: u32,
    flags: u32,
    pd: u64,
    memory: Memory,
    /// The last request of its kind.
    is_last: bool,
    /// The offset of the consumed WQE and the packet's opcode; only in CQ requests.
    wqe: (u64, u64),
}

impl MrRequest {
    /// The request for a piece of a SEND's payload.
    pub fn send(packet: &Packet, memory: Memory, inline: u64, is_last: bool) -> Self {
        let pd = packet.context.qp_pd.get();
        let flags = ABSOLUTE | LOCAL_WRITE;
        Self { bypass: inline as u32, flags, pd, memory, is_last, wqe: (0, 0) }
    }

    /// The request for the target of an RDMA WRITE.
    pub fn write(packet: &Packet, memory: Memory) -> Self {
        let flags = ABSOLUTE | REMOTE_WRITE;
        Self { bypass: 0, flags, ..Self::send(packet, memory, 0, true) }
    }

    /// The request for the source of an RDMA READ, whose key is checked or not (F4).
    pub fn read(packet: &Packet, memory: Memory, is_checked: bool) -> Self {
        let flags = ABSOLUTE | REMOTE_READ;
        Self { bypass: u32::from(!is_checked), flags, ..Self::send(packet, memory, 0, true) }
    }

    /// The request for the CQE of a packet that consumed the WQE at `wqe_addr`.
    pub fn cqe(packet: &Packet, wqe_addr: u64) -> Self {
        let (context, address) = (&packet.context, packet.cq.laddr.get());
        let memory = Memory { key: context.cq_lkey.get(), address, length: ENTRY };
        let wqe = (wqe_addr, packet.header.net_opcode.get());
        Self { wqe, ..Self::queue(context.cq_pd.get(), memory) }
    }

    /// The request for the event.
    pub fn event(packet: &Packet) -> Self {
        let (context, address) = (&packet.context, packet.eq.laddr.get());
        let memory = Memory { key: context.eq_lkey.get(), address, length: ENTRY };
        Self::queue(context.eq_pd.get(), memory)
    }

    fn queue(pd: u64, memory: Memory) -> Self {
        let flags = RELATIVE | LOCAL_WRITE;
        Self { bypass: 0, flags, pd, memory, is_last: true, wqe: (0, 0) }
    }

    /// The request for the acknowledge, which accesses no memory.
    pub fn ack() -> Self {
        let memory = Memory { key: 0, address: 0, length: 0 };
        Self { bypass: 1, flags: 0, pd: 0, memory, is_last: true, wqe: (0, 0) }
    }

    /// The words of `fetch_mr_ingress_head`.
    #[inline]
    pub fn head(&self, header: &Header) -> [u32; 7] {
        let Memory { key, address, length } = self.memory;
        let slots = 1 << 24;
        [
            header.local_qpn.get() as u32 & 0xff | slots | self.bypass << 31,
            self.flags,
            self.pd as u32,
            key as u32,
            address as u32,
            (address >> 32) as u32,
            length as u32,
        ]
    }

    /// The words of `fetch_mr_ingress_data`.
    #[inline]
    pub fn data(&self, header: &Header, opcode: u64, status: u64) -> [u32; 8] {
        let tail = if self.is_last { 0xff } else { 0 };
        let (wqe_addr, net_opcode) = self.wqe;
        [
            (header.local_qpn.get() | tail << 24) as u32,
            (header.remote_qpn.get() | opcode << 24 | header.service_type.get() << 29) as u32,
            header.immediate.get() as u32,
            (header.pkt_length.get() | header.pkt_start_addr.get() << 16) as u32,
            (wqe_addr | net_opcode << 24 | status << 29) as u32,
            header.sip.get() as u32,
            header.dip.get() as u32,
            0,
        ]
    }
}

/// The words of `wqe_req_head`.
#[inline]
pub fn wqe_head(packet: &Packet) -> [u32; 18] {
    let (header, context) = (&packet.header, &packet.context);
    let mut words = [0; 18];
    words[0] = (header.local_qpn.get() | context.rq_entry_sz_log.get() << 24) as u32;
    words[1] = context.rq_lkey.get() as u32;
    words[2] = context.rq_length.get() as u32;
    words[3] = context.qp_pd.get() as u32;
    words
}

/// `cq_req_head` or `eq_req_head` for a queue: the low 24 bits of its number, and the low 32 bits
/// of its size in bytes.
#[inline]
pub fn queue_head(number: u64, log_size: Uint<8>) -> u64 {
    let bytes = if log_size.get() < 32 { ENTRY << log_size.get() } else { 0 };
    number & 0xff_ffff | bytes << 32
}

/// Describes the fields of a port in which two values differ.
#[cold]
pub fn differences<const WIDTH: u32, const WORDS: usize>(
    port: &str,
    seen: &Bits<WIDTH, [u32; WORDS]>,
    expected: [u32; WORDS],
) -> String {
    let expected = Bits::<WIDTH, [u32; WORDS]>::from_words(expected);
    let fields = layout::fields(port).iter().filter_map(|(name, field)| {
        let (seen, expected) = (seen.field(*field), expected.field(*field));
        (seen != expected).then(|| format!("{name} {seen:#x}, expected {expected:#x}"))
    });
    let fields: Vec<String> = fields.collect();
    let what = if fields.is_empty() { "reserved bits".to_owned() } else { fields.join("; ") };
    format!("{port} with {what}")
}
