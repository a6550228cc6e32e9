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
fn t04_t35_f6c_a_checked_rdma_write_is_acknowledged_by_service() {
    for (mask, services) in [(SPEC, 0..=7), (0x40, 0..=0), (REPAIRED, 0..=0)] {
        under(&[mask], |bench| {
            for (opcode, service) in
                PLAIN_WRITES.into_iter().flat_map(|o| services.clone().map(move |s| (o, s)))
            {
                bench.takes(&Packet { opcode, service, ..PACKET }).judges("T04");
                bench.requests("T35", &Mr { opcode, ..WRITE_MR }).requests("T44", &ACK).idles();
            }
        });
    }
    under(&[0x40, REPAIRED], |bench| {
        for (opcode, service) in PLAIN_WRITES.into_iter().flat_map(|o| UNRELIABLE.map(|s| (o, s))) {
            bench.takes(&Packet { opcode, service, ..PACKET }).judges("T04");
            bench.requests("F6c", &Mr { opcode, ..WRITE_MR }).idles();
        }
    });
}

#[test]
fn t35_f3_f6c_an_rdma_write_with_immediate_is_completed_with_f3_alone() {
    for (opcode, end) in WRITES_WITH_IMM {
        let request = Mr { opcode, ..WRITE_MR };
        under(&[SPEC], |bench| {
            for service in 0..=7 {
                consumes_wqe(bench, &Packet { opcode, service, ..PACKET }, end);
                bench.requests("T35", &request).requests("T44", &ACK).idles();
            }
        });
        under(&[0x40], |bench| {
            consumes_wqe(bench, &Packet { opcode, service: UC, ..PACKET }, end);
            bench.requests("F6c", &request).idles();
        });
        under(&[0x08, REPAIRED], |bench| {
            consumes_wqe(bench, &Packet { opcode, ..PACKET }, end);
            bench.requests("F3", &request).fetches_cq_address();
            bench.requests("T40", &Mr { net_opcode: opcode, ..CQ_MR }).requests("T44", &ACK);
            bench.idles();
        });
    }
}

#[test]
fn t05_t38_t39_f4_an_rdma_read_is_passed_on_as_its_response() {
    for (mask, row, bypass) in
        [(SPEC, "T38", 1), (0x20, "T38", 1), (0x10, "F4", 0), (REPAIRED, "F4", 0)]
    {
        let mut bench = Bench::new(mask);
        for (opcode, service) in (RDMA_READ_REQUEST_FIRST..=RDMA_READ_REQUEST_ONLY)
            .flat_map(|o| (0..=7).map(move |s| (o, s)))
        {
            // Responses 16 to 19 belong to requests 12 to 15.
            let mr = Mr { opcode: opcode + 4, bypass, ..READ_MR };
            bench.takes(&Packet { opcode, service, ..PACKET }).judges("T05");
            bench.offers("T39", &mr).requests(row, &mr).idles();
        }
    }
}

#[test]
fn an_rdma_operation_of_any_size_is_requested_whole() {
    for length in [0, 0xffff] {
        let write = Packet { opcode: RDMA_WRITE_ONLY, length, ..PACKET };
        let read = Packet { opcode: RDMA_READ_REQUEST_ONLY, ..write };
        for (mask, row, bypass) in [(SPEC, "T38", 1), (REPAIRED, "F4", 0)] {
            let mut bench = Bench::new(mask);
            bench.takes(&write).judges("T04").requests("T35", &Mr { length, ..WRITE_MR });
            bench.requests("T44", &ACK).takes(&read).judges("T05");
            bench.requests(row, &Mr { length, bypass, ..READ_MR }).idles();
        }
    }
}
