//! Priorities of fixes: F7 first, then the state's own rule, then F1 and F3, then F6?

use super::beats::*;
use super::bench::{Bench, REPAIRED};
use super::codes::*;
use super::expect::{ACK, CQ_MR, EQ_MR, Mr, READ_MR, SEND_MR, WRITE_MR, WRITTEN};

const WRITE_WITH_IMM: Packet = Packet { opcode: RDMA_WRITE_ONLY_WITH_IMM, ..PACKET };
const WRITE_WITH_IMM_MR: Mr = Mr { opcode: RDMA_WRITE_ONLY_WITH_IMM, ..WRITE_MR };
const WRITE_WITH_IMM_CQ_MR: Mr = Mr { net_opcode: RDMA_WRITE_ONLY_WITH_IMM, ..CQ_MR };

#[test]
fn f3_and_f1_come_before_f6_and_f3_is_followed_by_f1() {
    let mut bench = Bench::new(REPAIRED);
    for (service, solicited) in [(RC, 1), (UC, 0), (UD, 1), (7, 1)] {
        let packet = Packet { service, solicited, ..WRITE_WITH_IMM };
        bench.fetches_wqe(&packet).consumes("T12", &UNIT, Last).updates("T31", &TABLES, &WRITTEN);
        bench.offers("T37", &WRITE_WITH_IMM_MR).requests("F3", &WRITE_WITH_IMM_MR);
        bench.fetches_cq_address().offers("T41", &WRITE_WITH_IMM_CQ_MR);
        if solicited == 1 {
            bench.requests("F1", &WRITE_WITH_IMM_CQ_MR).fetches_eq_address().offers("F2", &EQ_MR);
            bench.requests(if service == RC { "T42" } else { "F6e" }, &EQ_MR);
        } else {
            bench.requests("F6d", &WRITE_WITH_IMM_CQ_MR);
        }
        if service == RC {
            bench.requests("T44", &ACK);
        }
        bench.idles();
    }
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
fn f5_takes_a_short_or_used_up_wqe_to_its_completion_before_f6() {
    let mut bench = Bench::new(REPAIRED);
    for opcode in [SEND_FIRST, SEND_MIDDLE, SEND_LAST] {
        let packet = Packet { opcode, service: UC, ..PACKET };
        let short = Mr { opcode, length: 99, tail: 0, ..SEND_MR };
        for used_up in [false, true] {
            bench.fetches_wqe(&packet);
            if used_up {
                bench.consumes("F5a", &unit_of(0), Last);
            } else {
                bench.keeps(&unit_of(99)).places("F5d", &unit_of(99), Last, &short);
            }
            bench.updates("F5e", &TABLES, &WRITTEN).fetches_cq_address();
            bench.requests("F6d", &Mr { net_opcode: opcode, status: 1, ..CQ_MR }).idles();
        }
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
