//! Reset: is everything 0 while it is active, and cleared after it?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect::{self, ACK, CQ_HEAD, CQ_LADDR, CQ_MR, EQ_HEAD, EQ_LADDR, EQ_MR, Mr};
use super::expect::{READ_MR, SEND_MR, WRITE_MR, WRITTEN};
use crate::blocks::thread2::rtl::Outputs;

/// A cycle of a packet.
type Step = fn(&mut Bench) -> &mut Bench;

const SOLICITED: Packet = Packet { solicited: 1, ..PACKET };
const WRITE: Packet = Packet { opcode: RDMA_WRITE_ONLY, ..PACKET };
const READ: Packet = Packet { opcode: RDMA_READ_REQUEST_ONLY, ..PACKET };

/// Visits every state except for MR_FOR_WRITE_s and MR_FOR_READ_s.
const SEND: [Step; 13] = [
    |bench| bench.takes(&SOLICITED),
    |bench| bench.judges("T03"),
    |bench| bench.requests_wqe("T07"),
    |bench| bench.takes_next_unit("T09", &NEXT),
    |bench| bench.keeps(&UNIT),
    |bench| bench.places("F5b", &UNIT, Last, &SEND_MR),
    |bench| bench.updates("T30", &TABLES, &WRITTEN),
    |bench| bench.requests_cq("T22", CQ_HEAD),
    |bench| bench.takes_cq_address("T24", CQ_LADDR),
    |bench| bench.requests("F1", &CQ_MR),
    |bench| bench.requests_eq("T26", EQ_HEAD),
    |bench| bench.takes_eq_address("T28", EQ_LADDR),
    |bench| bench.requests("T42", &EQ_MR),
];

const WRITE_STEPS: [Step; 3] = [
    |bench| bench.takes(&WRITE),
    |bench| bench.judges("T04"),
    |bench| bench.requests("T35", &WRITE_MR),
];

const READ_STEPS: [Step; 2] = [|bench| bench.takes(&READ), |bench| bench.judges("T05")];

#[test]
fn every_state_is_left_at_once() {
    let scripts: [&[Step]; 3] = [&SEND, &WRITE_STEPS, &READ_STEPS];
    let mut bench = Bench::new(REPAIRED);
    for script in scripts {
        for cycles in 0..=script.len() {
            for step in &script[..cycles] {
                step(&mut bench);
            }
            // `reset` compares the outputs with 0 before its rising edge.
            bench.reset().idles();
        }
    }
    bench.takes(&READ).judges("T05").requests("F4", &Mr { bypass: 0, ..READ_MR }).idles();
}

#[test]
fn nothing_is_taken_while_reset_is_on() {
    under(&[SPEC, REPAIRED], |bench| {
        for _ in 0..3 {
            bench.shows("reset", Drive::reset().packet(&PACKET), &Outputs::default()).reset();
        }
        bench.cycle("T02", Drive::new().packet_valid(0), &expect::idle()).idles();
    });
}

#[test]
fn message_offsets_are_cleared() {
    let other = Qp { qpn: 0x00_0007, entry: 0x07, cell: 0x07 };
    under(&[SPEC, REPAIRED], |bench| {
        for qp in [QP, other] {
            let first = Packet { qp, opcode: SEND_FIRST, length: 60, ..PACKET };
            let mr = Mr { opcode: SEND_FIRST, length: 60, ..SEND_MR };
            bench.fetches_wqe(&first).keeps(&UNIT).places("T33", &UNIT, More, &mr);
            bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK).idles();
        }
        bench.reset();
        for qp in [QP, other] {
            // Neither skips the 60 bytes: one byte is room again.
            bench.fetches_wqe(&Packet { qp, ..PACKET }).keeps(&unit_of(1));
            let byte = Mr { length: 1, tail: 0, ..SEND_MR };
            bench.places("T33", &unit_of(1), More, &byte).keeps(&UNIT);
            bench.places("T33", &UNIT, More, &Mr { length: 99, ..SEND_MR });
            bench.consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
            bench.fetches_cq_address().requests("T40", &CQ_MR).requests("T44", &ACK);
        }
    });
}
