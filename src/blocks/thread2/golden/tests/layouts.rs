//! Layouts: is every field of every wide port where the specification puts it?
//!
//! All values are whole words, the least significant first, for inputs and outputs.

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC};
use super::codes::*;
use super::drive::Drive;
use super::expect::{self, WRITTEN};

/// `PACKET`'s context; reserved and ignored bits are 1.
const CONTEXT: [u32; 13] = [
    0xffff_ffff, // common head
    0xbeef_06df, // rcv_cqn, rq_entry_sz_log 6, 2 reserved bits, qp_state 3, qp_service_type 7
    0x1111_2222, // qp_pd
    0x3333_4444, // rq_lkey
    0x0001_0000, // rq_length
    0xffff_ff05, // cq_log_size
    0x7756_7890, // cq_comp_eqn
    0x5555_6666, // cq_pd
    0x7777_8888, // cq_lkey
    0xffff_ff04, // eq_msix, eq_log_size
    0x9999_aaaa, // eq_pd
    0xbbbb_cccc, // eq_lkey
    0xffff_ffff,
];

/// `PACKET`'s header, solicited, service XRC, with an opcode; reserved and ignored bits are 1.
fn header(opcode: u32) -> [u32; 16] {
    [
        5 << 29 | opcode << 24 | 0x00ab_cdef, // service_type, net_opcode, remote_qpn
        0xff12_34c3,                          // solicited, local_qpn
        0x51e5_7e11,                          // rkey
        0x89ab_cdef,                          // raddr
        0x0123_4567,
        0xd00d_feed, // immediate
        0xffff_ffff, // dmac, smac
        0xffff_ffff,
        0xffff_ffff,
        0x0a0b_0c0d, // dip
        0xc0a8_0102, // sip
        0x0064_4321, // pkt_length, pkt_start_addr
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xff,
    ]
}

/// `NEXT`: reserved bits and the next WQE's opcode are 1.
const NEXT_WORDS: [u32; 4] = [0x0000_463f, 0xffff_ffc8, 0xffff_c13f, 0xffff_ffff];
/// `UNIT`.
const UNIT_WORDS: [u32; 4] = [0x0000_0064, 0x0dd0_1ee1, 0x1234_5000, 0x0000_7fff];

#[track_caller]
fn takes(bench: &mut Bench, context: [u32; 13], header: [u32; 16]) {
    let packet = Drive::new("fetch_cxt_egress_valid=1")
        .words(|pins| &mut pins.fetch_cxt_egress_head, context)
        .words(|pins| &mut pins.fetch_cxt_egress_data, header);
    bench.packet = Packet { service: XRC, ..PACKET };
    bench.cycle("T01", packet, &expect::idle());
}

#[test]
fn a_solicited_send_in_words() {
    let next = Drive::new("wqe_resp_valid=1")
        .words(|pins| &mut pins.wqe_resp_data, NEXT_WORDS)
        .and("rq_offset_dout=0x110");
    let unit = Drive::new("").words(|pins| &mut pins.wqe_resp_data, UNIT_WORDS);
    let cq_address = Drive::new("cq_resp_valid=1")
        .words(|pins| &mut pins.cq_resp_head, [0xffff_ffff, 0x2222_3340, 0xc0c0_1111]);
    let eq_address = Drive::new("eq_resp_valid=1")
        .words(|pins| &mut pins.eq_resp_head, [0xffff_ffff, 0x5555_6660, 0xe0e0_4444]);

    let request = [0x0612_34c3, 0x3333_4444, 0x0001_0000, 0x1111_2222];
    let mut send = expect::mr_words(
        QP,
        [0x0100_00c3, 0x0400_0001, 0x1111_2222, 0x0dd0_1ee1, 0x1234_5000, 0x0000_7fff, 0x64],
        [0xff12_34c3, 0xa4ab_cdef, 0xd00d_feed, 0x4321_0064, 0, 0xc0a8_0102, 0x0a0b_0c0d, 0],
    );
    send.wqe_resp_ready = cosim_core::verilated::Bits::new(1);
    let completion = expect::mr_words(
        QP,
        [0x0100_00c3, 0x0200_0001, 0x5555_6666, 0x7777_8888, 0x2222_3340, 0xc0c0_1111, 0x20],
        [
            0xff12_34c3,
            0xbaab_cdef,
            0xd00d_feed,
            0x4321_0064,
            0x0400_0110,
            0xc0a8_0102,
            0x0a0b_0c0d,
            0,
        ],
    );
    let event = expect::mr_words(
        QP,
        [0x0100_00c3, 0x0200_0001, 0x9999_aaaa, 0xbbbb_cccc, 0x5555_6660, 0xe0e0_4444, 0x20],
        [0xff12_34c3, 0xbbab_cdef, 0xd00d_feed, 0x4321_0064, 0, 0xc0a8_0102, 0x0a0b_0c0d, 0],
    );
    let acknowledge = expect::mr_words(
        QP,
        [0x8100_00c3, 0, 0, 0, 0, 0, 0],
        [0xff12_34c3, 0xb4ab_cdef, 0xd00d_feed, 0x4321_0064, 0, 0xc0a8_0102, 0x0a0b_0c0d, 0],
    );
    let ready = Drive::new("fetch_mr_ingress_ready=1");

    let mut bench = Bench::new(REPAIRED);
    takes(&mut bench, CONTEXT, header(4));
    bench
        .judges("T03")
        .cycle("T07", Drive::new("wqe_req_ready=1"), &expect::wqe_request_words(QP, request))
        .cycle("T09", next, &expect::wqe_resp_ready(QP, 1))
        .cycle("T18", unit.and("wqe_resp_valid=1"), &expect::wqe_resp_ready(QP, 0))
        .cycle("F5b", unit.and("fetch_mr_ingress_ready=1").and("wqe_resp_last=1"), &send)
        .updates("T30", &TABLES, &WRITTEN)
        .requests_cq("T22", 0x0000_0400_0000_beef)
        .cycle("T24", cq_address, &expect::cq_resp_ready(QP))
        .cycle("F1", ready, &completion)
        .requests_eq("T26", 0x0000_0200_0056_7890)
        .cycle("T28", eq_address, &expect::eq_resp_ready(QP))
        .cycle("T42", ready, &event)
        .cycle("T44", ready, &acknowledge)
        .idles();
}

const ONES: u32 = 0xffff_ffff;
const TOP_QP: Qp = Qp { qpn: 0xff_ffff, entry: 0xff, cell: 0x7f };

#[test]
fn every_field_of_an_rdma_write_at_its_largest() {
    let mut header = [ONES; 16];
    // Service 7, RDMA_WRITE_ONLY.
    header[0] = 0xeaff_ffff;
    let request = expect::mr_words(
        TOP_QP,
        [0x0100_00ff, 0x0400_0002, ONES, ONES, ONES, ONES, 0x0000_ffff],
        [ONES, 0xeaff_ffff, ONES, ONES, 0, ONES, ONES, 0],
    );
    let mut bench = Bench::new(SPEC);
    takes(&mut bench, [ONES; 13], header);
    bench.packet.qp = TOP_QP;
    bench.judges("T04").cycle("T35", Drive::new("fetch_mr_ingress_ready=1"), &request);
}

#[test]
fn every_field_of_a_completion_at_its_largest() {
    let mut header = [ONES; 16];
    // Service 7, SEND_ONLY_WITH_IMM; no payload.
    header[0] = 0xe5ff_ffff;
    header[11] = 0x0000_ffff;
    let next = Drive::new("wqe_resp_valid=1")
        .words(|pins| &mut pins.wqe_resp_data, [ONES; 4])
        .and("rq_offset_dout=0xff_ffff");
    // Address 0x3ff_ffff and size 63 cross the cell; entry size 255 is illegal: the offset stays.
    let tables = Tables { rq_offset: 0x0f_ffff, cache_offset: 0xff, owner: 0xff };
    let written = expect::Written { rq_offset: 0x0f_ffff, cache_offset: 0, frees_cell: 1 };
    let completion = expect::mr_words(
        TOP_QP,
        [0x0100_00ff, 0x0200_0001, ONES, ONES, ONES, ONES, 0x20],
        // GEN_CQE in word 1; net_opcode 5 above the WQE's address in word 4.
        [ONES, 0xfaff_ffff, ONES, 0xffff_0000, 0x05ff_ffff, ONES, ONES, 0],
    );
    let mut bench = Bench::new(SPEC);
    takes(&mut bench, [ONES; 13], header);
    bench.packet.qp = TOP_QP;
    bench
        .judges("T03")
        .cycle(
            "T07",
            Drive::new("wqe_req_ready=1"),
            &expect::wqe_request_words(TOP_QP, [ONES, ONES, ONES, ONES]),
        )
        .cycle("T09", next, &expect::wqe_resp_ready(TOP_QP, 1))
        .consumes("T16", &UNIT, Last)
        .updates("T30", &tables, &written)
        .requests_cq("T22", 0x0000_0000_0000_ffff)
        .takes_cq_address("T24", 0xffff_ffff_ffff_ffff)
        .cycle("T40", Drive::new("fetch_mr_ingress_ready=1"), &completion);
}
