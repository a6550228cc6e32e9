//! MR_FOR_WRITE_s and MR_FOR_READ_s: is a remote operation checked, then acknowledged or completed?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_MR, Mr, READ_MR, WRITE_MR, WRITTEN};

const PLAIN_WRITES: [u64; 4] =
    [RDMA_WRITE_FIRST, RDMA_WRITE_MIDDLE, RDMA_WRITE_LAST, RDMA_WRITE_ONLY];

/// An RDMA WRITE with immediate, and the row that ends its WQE.
const WRITES_WITH_IMM: [(u64, &str); 2] =
    [(RDMA_WRITE_LAST_WITH_IMM, "T11"), (RDMA_WRITE_ONLY_WITH_IMM, "T12")];

/// From IDLE_s to MR_FOR_WRITE_s.
fn consumes_wqe(bench: &mut Bench, packet: &Packet, end: &str) {
    bench.fetches_wqe(packet).consumes(end, &TERMINATOR, Last);
    bench.updates("T31", &TABLES, &WRITTEN);
}

#[test]
fn t35_a_checked_rdma_write_is_acknowledged() {
    under(&[SPEC, REPAIRED], |bench| {
        for opcode in PLAIN_WRITES {
            for service in RELIABLE {
                bench.takes(&Packet { opcode, service, ..PACKET }).judges("T04");
                bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
            }
        }
    });
}

#[test]
fn t35_under_s0_every_service_and_the_writes_with_immediate_too() {
    let mut bench = Bench::new(SPEC);
    for service in 0..=7 {
        for opcode in PLAIN_WRITES {
            bench.takes(&Packet { opcode, service, ..PACKET }).judges("T04");
            bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
        }
        for (opcode, end) in WRITES_WITH_IMM {
            consumes_wqe(&mut bench, &Packet { opcode, service, ..PACKET }, end);
            bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
        }
    }
}

#[test]
fn f3_an_rdma_write_with_immediate_is_completed() {
    under(&[0x08, REPAIRED], |bench| {
        for (opcode, end) in WRITES_WITH_IMM {
            consumes_wqe(bench, &Packet { opcode, ..PACKET }, end);
            bench.requests("F3", &Mr { opcode, ..WRITE_MR }).fetches_cq_address();
            bench.requests("T40", &Mr { net_opcode: opcode, ..CQ_MR }).requests("T44", &ACK);
            bench.idles();
        }
        for opcode in PLAIN_WRITES {
            bench.takes(&Packet { opcode, ..PACKET }).judges("T04");
            bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
        }
    });
}

#[test]
fn f6c_a_checked_rdma_write_of_an_unreliable_service_is_not_acknowledged() {
    under(&[0x40, REPAIRED], |bench| {
        for opcode in PLAIN_WRITES {
            for service in UNRELIABLE {
                bench.takes(&Packet { opcode, service, ..PACKET }).judges("T04");
                bench.requests("F6c", &Mr { opcode, ..WRITE_MR }).idles();
            }
        }
    });
    // Without F3 a write with immediate is not completed either.
    under(&[0x40], |bench| {
        for (opcode, end) in WRITES_WITH_IMM {
            consumes_wqe(bench, &Packet { opcode, service: UC, ..PACKET }, end);
            bench.requests("F6c", &Mr { opcode, ..WRITE_MR }).idles();
        }
    });
}

#[test]
fn t37_an_rdma_writes_request_waits_until_it_is_taken() {
    let packet = Packet { opcode: RDMA_WRITE_ONLY, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&packet).judges("T04");
        for _ in 0..3 {
            bench.offers("T37", &WRITE_MR);
        }
        bench.requests("T35", &WRITE_MR).requests("T44", &ACK).idles();
    });
}

#[test]
fn t38_under_s0_an_rdma_read_is_passed_on_unchecked() {
    // Every mask without F4; 0x20 stands for them.
    under(&[SPEC, 0x20], |bench| {
        for service in 0..=7 {
            let packet = Packet { opcode: RDMA_READ_REQUEST_ONLY, service, ..PACKET };
            bench.takes(&packet).judges("T05").requests("T38", &READ_MR).idles();
        }
    });
}

#[test]
fn f4_an_rdma_reads_key_is_checked() {
    let packet = Packet { opcode: RDMA_READ_REQUEST_ONLY, ..PACKET };
    let checked = Mr { bypass: 0, ..READ_MR };
    under(&[0x10, REPAIRED], |bench| {
        bench.takes(&packet).judges("T05");
        bench.offers("T39", &checked).requests("F4", &checked).idles();
    });
}

#[test]
fn t39_an_rdma_reads_request_waits_until_it_is_taken() {
    let packet = Packet { opcode: RDMA_READ_REQUEST_ONLY, ..PACKET };
    let mut bench = Bench::new(SPEC);
    bench.takes(&packet).judges("T05");
    bench.offers("T39", &READ_MR).offers("T39", &READ_MR).offers("T39", &READ_MR);
    bench.requests("T38", &READ_MR).idles();
}

#[test]
fn operations_without_payload_are_requested_all_the_same() {
    let write = Packet { opcode: RDMA_WRITE_ONLY, length: 0, ..PACKET };
    let read = Packet { opcode: RDMA_READ_REQUEST_ONLY, length: 0, ..PACKET };
    for (mask, row, bypass) in [(SPEC, "T38", 1), (REPAIRED, "F4", 0)] {
        let mut bench = Bench::new(mask);
        bench.takes(&write).judges("T04").requests("T35", &Mr { length: 0, ..WRITE_MR });
        bench.requests("T44", &ACK).idles();
        bench.takes(&read).judges("T05").requests(row, &Mr { length: 0, bypass, ..READ_MR });
        bench.idles();
    }
}

#[test]
fn an_rdma_write_of_the_largest_packet_is_requested_whole() {
    let packet = Packet { opcode: RDMA_WRITE_ONLY, length: 0xffff, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&packet).judges("T04").requests("T35", &Mr { length: 0xffff, ..WRITE_MR });
    });
}
