//! IDLE_s and JUDGE_s: does a packet take the path of its opcode, and only if its QP may receive?

use super::beats::{PACKET, Packet};
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect::{self, ACK, Mr, READ_MR, WRITE_MR};

#[test]
fn t01_a_packet_is_taken_and_judged() {
    under(&[SPEC, REPAIRED], |bench| {
        bench.cycle("T01", Drive::new().packet(&PACKET), &expect::idle()).judges("T03");
    });
}

#[test]
fn t01_no_second_packet_is_taken_while_one_is_in_work() {
    under(&[SPEC, REPAIRED], |bench| {
        let other = Packet { opcode: RDMA_WRITE_ONLY, length: 7, ..PACKET };
        let judged = expect::addresses(PACKET.qp);
        bench.takes(&PACKET).cycle("T03", Drive::new().packet(&other), &judged).requests_wqe("T07");
    });
}

#[test]
fn t02_without_a_packet_the_block_stays_idle() {
    under(&[SPEC, REPAIRED], |bench| {
        for _ in 0..3 {
            bench.cycle("T02", Drive::new().packet_valid(0), &expect::idle());
        }
        bench.takes(&PACKET).judges("T03");
    });
}

#[test]
fn t03_what_consumes_a_wqe_requests_one() {
    let opcodes = [
        SEND_FIRST,
        SEND_MIDDLE,
        SEND_LAST,
        SEND_LAST_WITH_IMM,
        SEND_ONLY,
        SEND_ONLY_WITH_IMM,
        RDMA_WRITE_LAST_WITH_IMM,
        RDMA_WRITE_ONLY_WITH_IMM,
    ];
    under(&[SPEC, REPAIRED], |bench| {
        for opcode in opcodes {
            bench.takes(&Packet { opcode, ..PACKET }).judges("T03").requests_wqe("T07").reset();
        }
    });
}

#[test]
fn t04_an_rdma_write_without_immediate_is_checked_at_once() {
    let opcodes = [RDMA_WRITE_FIRST, RDMA_WRITE_MIDDLE, RDMA_WRITE_LAST, RDMA_WRITE_ONLY];
    under(&[SPEC, REPAIRED], |bench| {
        for opcode in opcodes {
            bench.takes(&Packet { opcode, ..PACKET }).judges("T04");
            bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
        }
    });
}

#[test]
fn t05_an_rdma_read_is_passed_on_as_its_response() {
    let opcodes = [
        (RDMA_READ_REQUEST_FIRST, RDMA_READ_RESPONSE_FIRST),
        (RDMA_READ_REQUEST_MIDDLE, RDMA_READ_RESPONSE_MIDDLE),
        (RDMA_READ_REQUEST_LAST, RDMA_READ_RESPONSE_LAST),
        (RDMA_READ_REQUEST_ONLY, RDMA_READ_RESPONSE_ONLY),
    ];
    for (mask, row, bypass) in [(SPEC, "T38", 1), (REPAIRED, "F4", 0)] {
        let mut bench = Bench::new(mask);
        for (request, response) in opcodes {
            bench.takes(&Packet { opcode: request, ..PACKET }).judges("T05");
            bench.requests(row, &Mr { opcode: response, bypass, ..READ_MR }).idles();
        }
    }
}

#[test]
fn t06_any_other_opcode_is_dropped() {
    under(&[SPEC, REPAIRED], |bench| {
        for opcode in 16..=31 {
            bench.takes(&Packet { opcode, ..PACKET }).judges("T06").idles();
        }
    });
}

#[test]
fn f7_a_qp_that_does_not_receive_drops_its_packets() {
    under(&[0x80, REPAIRED], |bench| {
        for qp_state in NOT_RECEIVING {
            for opcode in 0..=31 {
                bench.takes(&Packet { opcode, qp_state, ..PACKET }).judges("F7").idles();
            }
        }
    });
}

#[test]
fn f7_a_qp_that_receives_keeps_its_packets() {
    under(&[0x80, REPAIRED], |bench| {
        for qp_state in RECEIVING {
            bench.takes(&Packet { qp_state, ..PACKET }).judges("T03").requests_wqe("T07").reset();
            let opcode = RDMA_WRITE_ONLY;
            bench.takes(&Packet { qp_state, opcode, ..PACKET }).judges("T04").reset();
            let opcode = RDMA_READ_REQUEST_ONLY;
            bench.takes(&Packet { qp_state, opcode, ..PACKET }).judges("T05").reset();
            bench.takes(&Packet { qp_state, opcode: 20, ..PACKET }).judges("T06").idles();
        }
    });
}

#[test]
fn s0_does_not_look_at_the_qp_state() {
    let mut bench = Bench::new(SPEC);
    for qp_state in 0..=7 {
        bench.takes(&Packet { qp_state, ..PACKET }).judges("T03").requests_wqe("T07").reset();
    }
}
