//! All states: does each wait for what it needs, and does a reset leave each at once?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect::{self, ACK, CQ_HEAD, CQ_LADDR, CQ_MR, EQ_HEAD, EQ_LADDR, EQ_MR, Mr};
use super::expect::{READ_MR, SEND_MR, WRITE_MR, WRITTEN};
use crate::blocks::thread2::rtl::Outputs;

type Step = fn(&mut Bench) -> &mut Bench;

const SOLICITED: Packet = Packet { solicited: 1, ..PACKET };
const WRITE: Packet = Packet { opcode: RDMA_WRITE_ONLY, ..PACKET };
const READ: Packet = Packet { opcode: RDMA_READ_REQUEST_ONLY, ..PACKET };
const CHECKED_MR: Mr = Mr { bypass: 0, ..READ_MR };

const IDLE: Step =
    |bench| bench.cycle("T02", Drive::new("fetch_cxt_egress_valid=0"), &expect::idle());
const GOES_ON: Step = |bench| bench;

/// The states of packets: how each waits, and how it goes on.
const SEND: [(Step, Step); 14] = [
    (IDLE, |bench| bench.takes(&SOLICITED)),
    (GOES_ON, |bench| bench.judges("T03")),
    (|bench| bench.offers_wqe_request("F0"), |bench| bench.requests_wqe("T07")),
    (
        |bench| {
            let waiting = expect::wqe_resp_ready(QP, 1);
            bench.cycle("T10", Drive::new("wqe_resp_valid=0"), &waiting)
        },
        |bench| bench.takes_next_unit("T09", &NEXT),
    ),
    (|bench| bench.waits_for_unit("T19", &UNIT, 0), |bench| bench.keeps(&UNIT)),
    (
        |bench| bench.offers_to_place("T34", &UNIT, &SEND_MR),
        |bench| bench.places("F5b", &UNIT, Last, &SEND_MR),
    ),
    (GOES_ON, |bench| bench.updates("T30", &TABLES, &WRITTEN)),
    (|bench| bench.offers_cq_request("T23", CQ_HEAD), |bench| bench.requests_cq("T22", CQ_HEAD)),
    (
        |bench| bench.cycle("T25", Drive::new("cq_resp_valid=0"), &expect::cq_resp_ready(QP)),
        |bench| bench.takes_cq_address("T24", CQ_LADDR),
    ),
    (|bench| bench.offers("T41", &CQ_MR), |bench| bench.requests("F1", &CQ_MR)),
    (|bench| bench.offers_eq_request("T27", EQ_HEAD), |bench| bench.requests_eq("T26", EQ_HEAD)),
    (
        |bench| bench.cycle("T29", Drive::new("eq_resp_valid=0"), &expect::eq_resp_ready(QP)),
        |bench| bench.takes_eq_address("T28", EQ_LADDR),
    ),
    (|bench| bench.offers("F2", &EQ_MR), |bench| bench.requests("T42", &EQ_MR)),
    (|bench| bench.offers("T45", &ACK), |bench| bench.requests("T44", &ACK)),
];
const WRITES: [(Step, Step); 3] = [
    (IDLE, |bench| bench.takes(&WRITE)),
    (GOES_ON, |bench| bench.judges("T04")),
    (|bench| bench.offers("T37", &WRITE_MR), |bench| bench.requests("T35", &WRITE_MR)),
];
const READS: [(Step, Step); 3] = [
    (IDLE, |bench| bench.takes(&READ)),
    (GOES_ON, |bench| bench.judges("T05")),
    (|bench| bench.offers("T39", &CHECKED_MR), |bench| bench.requests("F4", &CHECKED_MR)),
];

#[test]
fn every_state_waits_for_what_it_needs() {
    for script in [&SEND[..], &WRITES, &READS] {
        let mut bench = Bench::new(REPAIRED);
        for (waits, goes_on) in script {
            waits(waits(waits(&mut bench)));
            goes_on(&mut bench);
        }
    }
}

#[test]
fn every_state_is_left_at_once_by_a_reset() {
    let mut bench = Bench::new(REPAIRED);
    for script in [&SEND[..], &WRITES, &READS] {
        for cycles in 0..=script.len() {
            for (_, goes_on) in &script[..cycles] {
                goes_on(&mut bench);
            }
            // `reset` compares the outputs with 0 before its rising edge. Nothing is taken.
            let reset = Drive::packet(&PACKET).and("rst=1");
            bench.shows("reset", reset, &Outputs::default()).reset().idles();
        }
    }
}

#[test]
fn message_offsets_are_cleared_by_a_reset() {
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
            bench.fetches_wqe(&Packet { qp, ..PACKET }).keeps(&unit_of(1)).reset();
        }
    });
}
