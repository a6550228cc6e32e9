//! Priorities of fixes: F7 first, then the state's own rule, then F1 and F3, then F6?

use super::beats::*;
use super::bench::{Bench, REPAIRED};
use super::codes::*;
use super::expect::{ACK, CQ_MR, EQ_MR, Mr, READ_MR, SEND_MR, WRITE_MR, WRITTEN};

const WRITE_WITH_IMM: Packet = Packet { opcode: RDMA_WRITE_ONLY_WITH_IMM, ..PACKET };
const WRITE_WITH_IMM_MR: Mr = Mr { opcode: RDMA_WRITE_ONLY_WITH_IMM, ..WRITE_MR };
const WRITE_WITH_IMM_CQ_MR: Mr = Mr { net_opcode: RDMA_WRITE_ONLY_WITH_IMM, ..CQ_MR };

/// From IDLE_s to MR_FOR_WRITE_s, with its WQE consumed.
fn consumes_wqe<'a>(bench: &'a mut Bench, packet: &Packet) -> &'a mut Bench {
    bench.fetches_wqe(packet).consumes("T12", &UNIT, Last).updates("T31", &TABLES, &WRITTEN)
}

/// A SEND ONLY in one exact unit, from IDLE_s to MR_FOR_CQ_s.
fn completes<'a>(bench: &'a mut Bench, packet: &Packet) -> &'a mut Bench {
    bench.fetches_wqe(packet).keeps(&UNIT).places("F5b", &UNIT, Last, &SEND_MR);
    bench.updates("T30", &TABLES, &WRITTEN).fetches_cq_address()
}

#[test]
fn f7_comes_before_every_opcode_and_service() {
    let mut bench = Bench::new(REPAIRED);
    for qp_state in NOT_RECEIVING {
        for service in [RC, UD] {
            for opcode in 0..=31 {
                let packet = Packet { qp_state, service, opcode, solicited: 1, ..PACKET };
                bench.takes(&packet).judges("F7").idles();
            }
        }
    }
}

#[test]
fn waiting_comes_before_f1_f3_and_f6() {
    let mut bench = Bench::new(REPAIRED);
    let solicited = Packet { service: UD, solicited: 1, ..PACKET };
    completes(&mut bench, &solicited).offers("T41", &CQ_MR).requests("F1", &CQ_MR);
    bench.fetches_eq_address().offers("F2", &EQ_MR).requests("F6e", &EQ_MR).idles();
    consumes_wqe(&mut bench, &Packet { service: UC, ..WRITE_WITH_IMM });
    bench.offers("T37", &WRITE_WITH_IMM_MR).requests("F3", &WRITE_WITH_IMM_MR);
}

#[test]
fn f3_comes_before_f6() {
    let mut bench = Bench::new(REPAIRED);
    for service in UNRELIABLE {
        consumes_wqe(&mut bench, &Packet { service, ..WRITE_WITH_IMM });
        bench.requests("F3", &WRITE_WITH_IMM_MR).fetches_cq_address();
        bench.requests("F6d", &WRITE_WITH_IMM_CQ_MR).idles();
    }
}

#[test]
fn f1_comes_before_f6() {
    let mut bench = Bench::new(REPAIRED);
    for service in UNRELIABLE {
        completes(&mut bench, &Packet { service, solicited: 1, ..PACKET });
        bench.requests("F1", &CQ_MR).fetches_eq_address().requests("F6e", &EQ_MR).idles();
    }
}

#[test]
fn f3_is_followed_by_f1() {
    let mut bench = Bench::new(REPAIRED);
    consumes_wqe(&mut bench, &Packet { solicited: 1, ..WRITE_WITH_IMM });
    bench.requests("F3", &WRITE_WITH_IMM_MR).fetches_cq_address();
    bench.requests("F1", &WRITE_WITH_IMM_CQ_MR).fetches_eq_address();
    bench.requests("T42", &EQ_MR).requests("T44", &ACK).idles();
}

#[test]
fn f1_is_no_concern_of_packets_without_a_completion() {
    let mut bench = Bench::new(REPAIRED);
    let write = Packet { opcode: RDMA_WRITE_ONLY, solicited: 1, ..PACKET };
    bench.takes(&write).judges("T04").requests("T35", &WRITE_MR).requests("T44", &ACK).idles();
    let first = Packet { opcode: SEND_FIRST, solicited: 1, ..PACKET };
    bench.fetches_wqe(&first).keeps(&UNIT);
    bench.places("F5c", &UNIT, Last, &Mr { opcode: SEND_FIRST, ..SEND_MR });
    bench.requests("T44", &ACK).idles();
}

#[test]
fn f5_takes_a_short_wqe_to_its_completion_before_f6() {
    let mut bench = Bench::new(REPAIRED);
    for opcode in [SEND_FIRST, SEND_MIDDLE, SEND_LAST] {
        let packet = Packet { opcode, service: UC, ..PACKET };
        let short = Mr { opcode, length: 99, tail: 0, ..SEND_MR };
        bench.fetches_wqe(&packet).keeps(&unit_of(99)).places("F5d", &unit_of(99), Last, &short);
        bench.updates("F5e", &TABLES, &WRITTEN).fetches_cq_address();
        bench.requests("F6d", &Mr { net_opcode: opcode, status: 1, ..CQ_MR }).idles();
    }
}

#[test]
fn f5a_takes_a_used_up_wqe_to_its_completion_before_f6() {
    let mut bench = Bench::new(REPAIRED);
    let packet = Packet { opcode: SEND_MIDDLE, service: UC, ..PACKET };
    bench.fetches_wqe(&packet).consumes("F5a", &unit_of(0), Last);
    bench.updates("F5e", &TABLES, &WRITTEN).fetches_cq_address();
    bench.requests("F6d", &Mr { net_opcode: SEND_MIDDLE, status: 1, ..CQ_MR }).idles();
}

#[test]
fn f5_ends_a_message_whatever_f6_says() {
    let mut bench = Bench::new(REPAIRED);
    for service in UNRELIABLE {
        completes(&mut bench, &Packet { service, ..PACKET }).requests("F6d", &CQ_MR).idles();
    }
}

#[test]
fn a_length_error_marks_completion_and_acknowledge_but_not_the_event() {
    let mut bench = Bench::new(REPAIRED);
    let packet = Packet { opcode: SEND_MIDDLE, solicited: 1, ..PACKET };
    let short = Mr { opcode: SEND_MIDDLE, length: 99, tail: 0, ..SEND_MR };
    bench.fetches_wqe(&packet).keeps(&unit_of(99)).places("F5d", &unit_of(99), Last, &short);
    bench.updates("F5e", &TABLES, &WRITTEN).fetches_cq_address();
    bench.requests("F1", &Mr { net_opcode: SEND_MIDDLE, status: 1, ..CQ_MR });
    bench.fetches_eq_address().requests("T42", &EQ_MR);
    bench.requests("T44", &Mr { status: 1, ..ACK }).idles();
}

/// F5 adds to DATA_UNIT_s and replaces nothing: a WQE may still end after the packet.
#[test]
fn f5_leaves_beats_after_the_packet_to_s0() {
    let mut bench = Bench::new(REPAIRED);
    bench.fetches_wqe(&PACKET).keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
    bench.consumes("T20", &UNIT, More).consumes("T14", &UNIT, Last);
    bench.updates("T30", &TABLES, &WRITTEN).fetches_cq_address().requests("T40", &CQ_MR);
    bench.requests("T44", &ACK).idles();
}

#[test]
fn f0_and_f4_hold_for_every_service() {
    let mut bench = Bench::new(REPAIRED);
    for service in 0..=7 {
        let packet = Packet { service, ..PACKET };
        bench.takes(&packet).judges("T03").offers_wqe_request("F0").requests_wqe("T07").reset();
        bench.takes(&Packet { opcode: RDMA_READ_REQUEST_ONLY, ..packet }).judges("T05");
        bench.requests("F4", &Mr { bypass: 0, ..READ_MR }).idles();
    }
}
