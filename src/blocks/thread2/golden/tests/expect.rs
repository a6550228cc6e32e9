//! The expected outputs of each state. Outputs that are not named are 0.

use super::beats::{Packet, Qp};
use crate::blocks::thread2::rtl::{Bits224, Bits256, Bits576, Outputs};
use cosim_core::verilated::{Bits, Field};

pub fn idle() -> Outputs {
    Outputs { fetch_cxt_egress_ready: Bits::new(1), ..Outputs::default() }
}

/// Any state except for IDLE_s: the tables are addressed.
pub fn addresses(qp: Qp) -> Outputs {
    Outputs {
        rq_offset_addr: Bits::new(qp.entry),
        cache_offset_addr: Bits::new(qp.entry),
        cache_owned_addr: Bits::new(qp.cell),
        ..Outputs::default()
    }
}

pub fn wqe_request(packet: &Packet) -> Outputs {
    let head = [
        (23, 0, packet.qp.qpn),
        (31, 24, packet.entry_log),
        (63, 32, packet.rq_lkey),
        (95, 64, packet.rq_length),
        (127, 96, packet.qp_pd),
    ];
    wqe_request_port(packet.qp, place(&head))
}

/// WQE_REQ_s with the four words of the request that are not 0.
pub fn wqe_request_words(qp: Qp, head: [u32; 4]) -> Outputs {
    let mut words = [0; 18];
    words[..4].copy_from_slice(&head);
    wqe_request_port(qp, Bits::from_words(words))
}

fn wqe_request_port(qp: Qp, head: Bits576) -> Outputs {
    Outputs {
        wqe_req_valid: Bits::new(1),
        wqe_req_start: Bits::new(1),
        wqe_req_last: Bits::new(1),
        wqe_req_head: head,
        ..addresses(qp)
    }
}

/// NEXT_UNIT_s and DATA_UNIT_s.
pub fn wqe_resp_ready(qp: Qp, ready: u64) -> Outputs {
    Outputs { wqe_resp_ready: Bits::new(ready), ..addresses(qp) }
}

pub fn cq_request(qp: Qp, head: u64) -> Outputs {
    Outputs { cq_req_valid: Bits::new(1), cq_req_head: Bits::new(head), ..addresses(qp) }
}

pub fn cq_resp_ready(qp: Qp) -> Outputs {
    Outputs { cq_resp_ready: Bits::new(1), ..addresses(qp) }
}

pub fn eq_request(qp: Qp, head: u64) -> Outputs {
    Outputs { eq_req_valid: Bits::new(1), eq_req_head: Bits::new(head), ..addresses(qp) }
}

pub fn eq_resp_ready(qp: Qp) -> Outputs {
    Outputs { eq_resp_ready: Bits::new(1), ..addresses(qp) }
}

/// The table writes of UPDATE_RQ_s.
#[derive(Clone, Copy)]
pub struct Written {
    pub rq_offset: u64,
    pub cache_offset: u64,
    /// The cache cell is written free.
    pub frees_cell: u64,
}

/// For a packet, NextUnit and tables as in `beats`: the RQ advances by 4 slots, the cache cell by
/// 8.
pub const WRITTEN: Written = Written { rq_offset: 0x114, cache_offset: 0x28, frees_cell: 0 };

pub fn update(qp: Qp, written: &Written) -> Outputs {
    Outputs {
        rq_offset_wen: Bits::new(1),
        rq_offset_din: Bits::new(written.rq_offset),
        cache_offset_wen: Bits::new(1),
        cache_offset_din: Bits::new(written.cache_offset),
        cache_owned_wen: Bits::new(written.frees_cell),
        ..addresses(qp)
    }
}

/// The parts of an MR request that are not from the packet's header.
#[derive(Clone, Copy)]
pub struct Mr {
    pub bypass: u64,
    pub flags: u64,
    pub pd: u64,
    pub key: u64,
    pub address: u64,
    pub length: u64,
    pub opcode: u64,
    pub tail: u64,
    pub wqe_addr: u64,
    pub net_opcode: u64,
    pub status: u64,
}

/// [`UNIT`](super::beats::UNIT) for [`PACKET`](super::beats::PACKET).
pub const SEND_MR: Mr = Mr {
    bypass: 0,
    flags: 0x0400_0001,
    pd: 0x1111_2222,
    key: 0x0dd0_1ee1,
    address: 0x0000_7fff_1234_5000,
    length: 100,
    opcode: 4,
    tail: 0xff,
    wqe_addr: 0,
    net_opcode: 0,
    status: 0,
};

/// `PACKET` as RDMA_WRITE_ONLY.
pub const WRITE_MR: Mr = Mr {
    flags: 0x0400_0002,
    key: 0x51e5_7e11,
    address: 0x0123_4567_89ab_cdef,
    opcode: 10,
    ..SEND_MR
};

/// `PACKET` as RDMA_READ_REQUEST_ONLY, as specified by S0: without fix F4.
pub const READ_MR: Mr = Mr { bypass: 1, flags: 0x0400_0004, opcode: 19, ..WRITE_MR };

/// The address in the CQ that scripts use.
pub const CQ_LADDR: u64 = 0xc0c0_1111_2222_3340;
/// The address in the EQ that scripts use.
pub const EQ_LADDR: u64 = 0xe0e0_4444_5555_6660;

pub const CQ_MR: Mr = Mr {
    bypass: 0,
    flags: 0x0200_0001,
    pd: 0x5555_6666,
    key: 0x7777_8888,
    address: 0xc0c0_1111_2222_3340,
    length: 32,
    opcode: 26,
    tail: 0xff,
    wqe_addr: 0x110,
    net_opcode: 4,
    status: 0,
};

pub const EQ_MR: Mr = Mr {
    pd: 0x9999_aaaa,
    key: 0xbbbb_cccc,
    address: 0xe0e0_4444_5555_6660,
    opcode: 27,
    wqe_addr: 0,
    net_opcode: 0,
    ..CQ_MR
};

pub const ACK: Mr =
    Mr { bypass: 1, flags: 0, pd: 0, key: 0, address: 0, length: 0, opcode: 20, ..SEND_MR };

/// `PACKET`'s CQ request and EQ request.
pub const CQ_HEAD: u64 = 0x0000_0400_0000_beef;
pub const EQ_HEAD: u64 = 0x0000_0200_0056_7890;

/// A state that makes an MR request, with the two ports given as words.
pub fn mr_words(qp: Qp, head: [u32; 7], data: [u32; 8]) -> Outputs {
    mr_ports(qp, Bits::from_words(head), Bits::from_words(data))
}

/// A state that makes an MR request for a packet.
pub fn mr(packet: &Packet, mr: &Mr) -> Outputs {
    let head = [
        (7, 0, packet.qp.entry),
        (30, 24, 1),
        (31, 31, mr.bypass),
        (63, 32, mr.flags),
        (95, 64, mr.pd),
        (127, 96, mr.key),
        (191, 128, mr.address),
        (223, 192, mr.length),
    ];
    let data = [
        (23, 0, packet.qp.qpn),
        (31, 24, mr.tail),
        (55, 32, packet.remote_qpn),
        (60, 56, mr.opcode),
        (63, 61, packet.service),
        (95, 64, packet.immediate),
        (111, 96, packet.length),
        (127, 112, packet.start_addr),
        (151, 128, mr.wqe_addr),
        (156, 152, mr.net_opcode),
        (159, 157, mr.status),
        (191, 160, packet.sip),
        (223, 192, packet.dip),
    ];
    mr_ports(packet.qp, place(&head), place(&data))
}

fn mr_ports(qp: Qp, head: Bits224, data: Bits256) -> Outputs {
    Outputs {
        fetch_mr_ingress_valid: Bits::new(1),
        fetch_mr_ingress_start: Bits::new(1),
        fetch_mr_ingress_last: Bits::new(1),
        fetch_mr_ingress_head: head,
        fetch_mr_ingress_data: data,
        ..addresses(qp)
    }
}

fn place<const WIDTH: u32, const WORDS: usize>(
    fields: &[(u32, u32, u64)],
) -> Bits<WIDTH, [u32; WORDS]> {
    fields.iter().fold(Bits::ZERO, |bits, &(msb, lsb, value)| {
        let field = Field::new(msb, lsb);
        assert!(value <= field.max(), "{value:#x} is wider than [{msb}:{lsb}]");
        bits.with(field, value)
    })
}
