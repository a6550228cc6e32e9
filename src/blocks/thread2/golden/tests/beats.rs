//! Inputs of the block: packets with their context, beats of a WQE, table entries.

/// A local QPN and its parts that address tables.
#[derive(Clone, Copy)]
pub struct Qp {
    pub qpn: u64,
    /// qpn[7:0]: entry of the message offset, the RQ offset and the cache offset.
    pub entry: u64,
    /// qpn[6:0]: cell of the cache.
    pub cell: u64,
}

/// A context and a header.
#[derive(Clone, Copy)]
pub struct Packet {
    pub qp: Qp,
    pub opcode: u64,
    pub service: u64,
    pub solicited: u64,
    pub length: u64,
    pub remote_qpn: u64,
    pub rkey: u64,
    pub raddr: u64,
    pub immediate: u64,
    pub dip: u64,
    pub sip: u64,
    pub start_addr: u64,
    pub qp_state: u64,
    pub entry_log: u64,
    pub rcv_cqn: u64,
    pub qp_pd: u64,
    pub rq_lkey: u64,
    pub rq_length: u64,
    pub cq_log_size: u64,
    pub cq_comp_eqn: u64,
    pub cq_pd: u64,
    pub cq_lkey: u64,
    pub eq_log_size: u64,
    pub eq_pd: u64,
    pub eq_lkey: u64,
}

pub const QP: Qp = Qp { qpn: 0x12_34c3, entry: 0xc3, cell: 0x43 };

/// A SEND ONLY of 100 bytes. No two fields are equal, so that none can be mistaken for another.
pub const PACKET: Packet = Packet {
    qp: QP,
    opcode: 4,
    service: 0,
    solicited: 0,
    length: 100,
    remote_qpn: 0xab_cdef,
    rkey: 0x51e5_7e11,
    raddr: 0x0123_4567_89ab_cdef,
    immediate: 0xd00d_feed,
    dip: 0x0a0b_0c0d,
    sip: 0xc0a8_0102,
    start_addr: 0x4321,
    qp_state: 3,
    entry_log: 6,
    rcv_cqn: 0xbeef,
    qp_pd: 0x1111_2222,
    rq_lkey: 0x3333_4444,
    rq_length: 0x0001_0000,
    cq_log_size: 5,
    cq_comp_eqn: 0x7756_7890,
    cq_pd: 0x5555_6666,
    cq_lkey: 0x7777_8888,
    eq_log_size: 4,
    eq_pd: 0x9999_aaaa,
    eq_lkey: 0xbbbb_cccc,
};

/// A NextUnit beat and the RQ offset that the table returns with it, in slots.
#[derive(Clone, Copy)]
pub struct NextUnit {
    pub next_addr: u64,
    pub next_size: u64,
    pub cur_size: u64,
    pub rq_offset: u64,
}

pub const NEXT: NextUnit =
    NextUnit { next_addr: 0x118, next_size: 8, cur_size: 4, rq_offset: 0x110 };

/// A DataUnit beat.
#[derive(Clone, Copy)]
pub struct Unit {
    pub bytes: u64,
    pub inline: u64,
    pub lkey: u64,
    pub laddr: u64,
}

/// A unit that holds [`PACKET`] exactly.
pub const UNIT: Unit =
    Unit { bytes: 100, inline: 0, lkey: 0x0dd0_1ee1, laddr: 0x0000_7fff_1234_5000 };

/// The terminator of every WQE in profile `spec`.
pub const TERMINATOR: Unit = Unit { bytes: 0, inline: 0, lkey: 0, laddr: 0 };

/// A unit of `bytes` where [`UNIT`] is.
pub fn unit_of(bytes: u64) -> Unit {
    Unit { bytes, ..UNIT }
}

/// Whether a beat is the WQE's last.
#[derive(Clone, Copy)]
pub enum End {
    More,
    Last,
    /// It must not matter: the pin is open.
    Either,
}
pub use End::{Either, Last, More};

/// The contents of the three tables in UPDATE_RQ_s.
#[derive(Clone, Copy)]
pub struct Tables {
    pub rq_offset: u64,
    pub cache_offset: u64,
    pub owner: u64,
}

pub const TABLES: Tables = Tables { rq_offset: 0x110, cache_offset: 0x20, owner: 0x99 };
