//! DATA_UNIT_s: is each beat of a WQE placed, skipped or taken as the end, in the specified order?

use super::beats::*;
use super::bench::{REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_HEAD, CQ_LADDR, CQ_MR, Mr, SEND_MR, WRITTEN};

#[test]
fn d1_rdma_write_with_immediate_skips_beats_up_to_the_last() {
    under(&[SPEC, REPAIRED], |bench| {
        for (opcode, end) in [(RDMA_WRITE_LAST_WITH_IMM, "T11"), (RDMA_WRITE_ONLY_WITH_IMM, "T12")]
        {
            bench.fetches_wqe(&Packet { opcode, ..PACKET });
            bench.consumes("D1", &UNIT, More).consumes("D1", &TERMINATOR, More);
            bench.waits_for_unit("T19", &UNIT, 1).consumes("D1", &UNIT, More);
            bench.consumes(end, &UNIT, Last).updates("T31", &TABLES, &WRITTEN).reset();
        }
    });
}

/// A message's last packet, in one unit and a terminator.
#[test]
fn t13_to_t16_a_send_ends_with_the_wqe() {
    under(&[SPEC, REPAIRED], |bench| {
        for (row, opcode) in [
            ("T13", SEND_LAST),
            ("T14", SEND_ONLY),
            ("T15", SEND_LAST_WITH_IMM),
            ("T16", SEND_ONLY_WITH_IMM),
        ] {
            bench.fetches_wqe(&Packet { opcode, ..PACKET }).keeps(&UNIT);
            bench.places("T33", &UNIT, More, &Mr { opcode, ..SEND_MR });
            bench.consumes(row, &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
            bench.requests_cq("T22", CQ_HEAD).reset();
        }
    });
}

#[test]
fn t17_a_first_or_middle_packet_is_acknowledged_when_placed() {
    under(&[SPEC, REPAIRED], |bench| {
        for opcode in [SEND_FIRST, SEND_MIDDLE] {
            bench.fetches_wqe(&Packet { opcode, ..PACKET }).keeps(&UNIT);
            bench.places("T33", &UNIT, More, &Mr { opcode, ..SEND_MR });
            bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK).idles().reset();
        }
    });
}

#[test]
fn f6a_a_placed_packet_of_an_unreliable_service_is_not_acknowledged() {
    under(&[0x40, REPAIRED], |bench| {
        for service in UNRELIABLE {
            for opcode in [SEND_FIRST, SEND_MIDDLE] {
                bench.fetches_wqe(&Packet { opcode, service, ..PACKET }).keeps(&UNIT);
                bench.places("T33", &UNIT, More, &Mr { opcode, ..SEND_MR });
                bench.consumes("F6a", &TERMINATOR, Last).idles().reset();
            }
        }
        for service in RELIABLE {
            bench.fetches_wqe(&Packet { opcode: SEND_MIDDLE, service, length: 0, ..PACKET });
            bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK).idles();
        }
    });
}

#[test]
fn t19_a_beat_is_waited_for() {
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET);
        // ready = (pkt_left = 0 or avail = 0), even while there is no beat.
        bench.waits_for_unit("T19", &UNIT, 0).waits_for_unit("T19", &unit_of(1), 0);
        bench.waits_for_unit("T19", &unit_of(0), 1);
        bench.keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
        bench.waits_for_unit("T19", &UNIT, 1).waits_for_unit("T19", &unit_of(0), 1);
        bench.consumes("T14", &TERMINATOR, Last);
    });
}

#[test]
fn t20_units_after_the_packets_end_are_skipped() {
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
        bench.consumes("T20", &UNIT, More).consumes("T20", &unit_of(0), More);
        bench.consumes("T14", &UNIT, Last).updates("T30", &TABLES, &WRITTEN);
    });
}

#[test]
fn t21_used_up_units_are_skipped_and_counted() {
    let first = Packet { opcode: SEND_FIRST, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 50, ..PACKET };
    let third = Unit { laddr: 0xaaaa_0000, lkey: 0xbbbb, ..unit_of(61) };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&first).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &Mr { opcode: SEND_FIRST, ..SEND_MR });
        bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK);
        // 100 bytes are placed: units of 40, 0 and 60 are used up, the next byte is not.
        bench.fetches_wqe(&last).consumes("T21", &unit_of(40), More);
        bench.consumes("T21", &unit_of(0), More).consumes("T21", &unit_of(60), More);
        let rest =
            Mr { address: 0xaaaa_0000, key: 0xbbbb, length: 50, opcode: SEND_LAST, ..SEND_MR };
        bench.keeps(&third).places("T33", &third, More, &rest);
        bench.consumes("T13", &TERMINATOR, Last);
    });
}

#[test]
fn t21_a_unit_is_used_up_to_its_last_byte() {
    let first = Packet { opcode: SEND_FIRST, ..PACKET };
    let last = Packet { opcode: SEND_LAST, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&first).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &Mr { opcode: SEND_FIRST, ..SEND_MR });
        bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK);
        // parsed 40 + 61 = 101 > 100: one byte of the second unit is free, at laddr + 60.
        bench.fetches_wqe(&last).consumes("T21", &unit_of(40), More).keeps(&unit_of(61));
        let byte =
            Mr { address: 0x7fff_1234_503c, length: 1, tail: 0, opcode: SEND_LAST, ..SEND_MR };
        bench.places("T33", &unit_of(61), More, &byte);
    });
}

/// S0's erratum F5: the block waits for a beat that never comes.
#[test]
fn t21_under_s0_a_used_up_last_unit_does_not_end_the_wqe() {
    under(&[SPEC], |bench| {
        bench.fetches_wqe(&PACKET).consumes("T21", &unit_of(0), Either);
        bench.consumes("T21", &unit_of(0), Last).waits_for_unit("T19", &UNIT, 0);
    });
}

#[test]
fn f5a_a_used_up_last_unit_is_a_length_error() {
    let first = Packet { opcode: SEND_FIRST, length: 60, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 40, ..PACKET };
    under(&[0x20, REPAIRED], |bench| {
        bench.fetches_wqe(&first).keeps(&unit_of(60));
        let mr = Mr { length: 60, opcode: SEND_FIRST, ..SEND_MR };
        bench.places("F5c", &unit_of(60), Last, &mr).requests("T44", &ACK);
        bench.fetches_wqe(&last).consumes("F5a", &unit_of(60), Last);
        bench.updates("F5e", &TABLES, &WRITTEN).requests_cq("T22", CQ_HEAD);
        bench.takes_cq_address("T24", CQ_LADDR);
        bench.requests("T40", &Mr { net_opcode: SEND_LAST, status: 1, ..CQ_MR });
        bench.requests("T44", &Mr { status: 1, ..ACK }).idles();
    });
}
