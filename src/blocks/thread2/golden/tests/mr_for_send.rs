//! MR_FOR_SEND_s: is each unit requested, consumed with its request, and what if it is the last?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_HEAD, CQ_LADDR, CQ_MR, Mr, SEND_MR, WRITTEN};

#[test]
fn t33_a_taken_request_consumes_the_unit() {
    let second = Unit { laddr: 0xaaaa_0000, lkey: 0xbbbb, ..unit_of(70) };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&unit_of(30));
        bench.places("T33", &unit_of(30), More, &Mr { length: 30, tail: 0, ..SEND_MR });
        bench.keeps(&second);
        let mr = Mr { address: 0xaaaa_0000, key: 0xbbbb, length: 70, ..SEND_MR };
        bench.places("T33", &second, More, &mr).consumes("T14", &TERMINATOR, Last);
    });
}

/// S0's erratum F5: the packet is placed and the WQE complete, but the block waits for another
/// beat.
#[test]
fn t33_under_s0_the_last_unit_does_not_end_the_wqe() {
    let mut bench = Bench::new(SPEC);
    bench.fetches_wqe(&PACKET).keeps(&UNIT).places("T33", &UNIT, Last, &SEND_MR);
    bench.waits_for_unit("T19", &UNIT, 1).waits_for_unit("T19", &UNIT, 1);
    bench.reset();
    bench.fetches_wqe(&PACKET).keeps(&UNIT).places("T33", &UNIT, Either, &SEND_MR);
    bench.consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
}

#[test]
fn f5b_the_last_unit_ends_a_message() {
    under(&[0x20, REPAIRED], |bench| {
        for opcode in [SEND_LAST, SEND_ONLY, SEND_LAST_WITH_IMM, SEND_ONLY_WITH_IMM] {
            bench.fetches_wqe(&Packet { opcode, ..PACKET }).keeps(&UNIT);
            bench.places("F5b", &UNIT, Last, &Mr { opcode, ..SEND_MR });
            bench.updates("T30", &TABLES, &WRITTEN).fetches_cq_address();
            bench.requests("T40", &Mr { net_opcode: opcode, ..CQ_MR }).requests("T44", &ACK);
            bench.idles();
        }
    });
}

#[test]
fn f5c_the_last_unit_ends_a_packet_that_is_acknowledged() {
    under(&[0x20, REPAIRED], |bench| {
        for service in RELIABLE {
            for opcode in [SEND_FIRST, SEND_MIDDLE] {
                bench.fetches_wqe(&Packet { opcode, service, ..PACKET }).keeps(&UNIT);
                bench.places("F5c", &UNIT, Last, &Mr { opcode, ..SEND_MR });
                bench.requests("T44", &ACK).idles().reset();
            }
        }
    });
    // Without F6 every service is acknowledged.
    under(&[0x20], |bench| {
        for service in UNRELIABLE {
            bench.fetches_wqe(&Packet { opcode: SEND_FIRST, service, ..PACKET }).keeps(&UNIT);
            bench.places("F5c", &UNIT, Last, &Mr { opcode: SEND_FIRST, ..SEND_MR });
            bench.requests("T44", &ACK).idles().reset();
        }
    });
}

#[test]
fn f6b_the_last_unit_ends_a_packet_that_is_not_acknowledged() {
    under(&[0x60, REPAIRED], |bench| {
        for service in UNRELIABLE {
            for opcode in [SEND_FIRST, SEND_MIDDLE] {
                bench.fetches_wqe(&Packet { opcode, service, ..PACKET }).keeps(&UNIT);
                bench.places("F6b", &UNIT, Last, &Mr { opcode, ..SEND_MR }).idles().reset();
            }
        }
    });
}

#[test]
fn f5d_a_last_unit_that_is_too_short_is_a_length_error() {
    under(&[0x20, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&unit_of(30));
        bench.places("T33", &unit_of(30), More, &Mr { length: 30, tail: 0, ..SEND_MR });
        bench.keeps(&unit_of(69));
        bench.places("F5d", &unit_of(69), Last, &Mr { length: 69, tail: 0, ..SEND_MR });
        bench.updates("F5e", &TABLES, &WRITTEN).requests_cq("T22", CQ_HEAD);
        bench.takes_cq_address("T24", CQ_LADDR);
        bench.requests("T40", &Mr { status: 1, ..CQ_MR });
        bench.offers("T45", &Mr { status: 1, ..ACK }).requests("T44", &Mr { status: 1, ..ACK });
        bench.idles();
    });
}

/// A beat that is not the last is no length error, however small it is.
#[test]
fn f5d_needs_the_last_beat_and_f5b_an_exact_or_larger_unit() {
    under(&[0x20, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&unit_of(99));
        bench.places("T33", &unit_of(99), More, &Mr { length: 99, tail: 0, ..SEND_MR });
        let byte = Mr { length: 1, ..SEND_MR };
        bench.keeps(&unit_of(1)).places("F5b", &unit_of(1), Last, &byte).reset();
        bench.fetches_wqe(&PACKET).keeps(&unit_of(101));
        bench.places("F5b", &unit_of(101), Last, &SEND_MR);
        bench.updates("T30", &TABLES, &WRITTEN);
    });
}
