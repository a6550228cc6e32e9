//! SEND placement: which bytes of which unit does each packet of a message get?

use super::beats::*;
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect::{ACK, CQ_MR, Mr, SEND_MR, WRITE_MR, WRITTEN};

/// A second unit at another address.
fn other_unit(bytes: u64) -> Unit {
    Unit { bytes, inline: 0, lkey: 0xbbbb, laddr: 0xaaaa_0000 }
}

/// The request for a piece of [`UNIT`].
fn piece(opcode: u64, address: u64, length: u64, tail: u64) -> Mr {
    Mr { opcode, address, length, tail, ..SEND_MR }
}

/// The request for a piece of [`other_unit`].
fn other_piece(opcode: u64, address: u64, length: u64, tail: u64) -> Mr {
    Mr { key: 0xbbbb, ..piece(opcode, address, length, tail) }
}

/// A first or middle packet ends with its WQE.
#[track_caller]
fn acknowledges(bench: &mut Bench) {
    bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK);
}

/// A message ends with its WQE, in row `end`.
#[track_caller]
fn completes(bench: &mut Bench, end: &str, opcode: u64) {
    bench.consumes(end, &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN).fetches_cq_address();
    bench.requests("T40", &Mr { net_opcode: opcode, ..CQ_MR }).requests("T44", &ACK).idles();
}

#[test]
fn the_tail_marks_the_request_that_ends_the_packet() {
    under(&[SPEC, REPAIRED], |bench| {
        for (bytes, length, tail) in
            [(1, 1, 0), (99, 99, 0), (100, 100, 0xff), (101, 100, 0xff), (0x7fff_ffff, 100, 0xff)]
        {
            let mr = piece(SEND_ONLY, 0x7fff_1234_5000, length, tail);
            bench.fetches_wqe(&PACKET).keeps(&unit_of(bytes));
            bench.places("T33", &unit_of(bytes), More, &mr).reset();
        }
    });
}

#[test]
fn each_unit_says_whether_it_is_inline() {
    let inline = Unit { inline: 1, ..unit_of(40) };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&inline);
        bench.places("T33", &inline, More, &Mr { bypass: 1, length: 40, tail: 0, ..SEND_MR });
        bench.keeps(&unit_of(60));
        bench.places("T33", &unit_of(60), More, &Mr { bypass: 0, length: 60, ..SEND_MR });
        completes(bench, "T14", SEND_ONLY);
    });
}

#[test]
fn addresses_wrap_at_64_bits() {
    let top = Unit { laddr: 0xffff_ffff_ffff_fff0, ..UNIT };
    let first = Packet { opcode: SEND_FIRST, length: 32, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 8, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&first).keeps(&top);
        bench.places("T33", &top, More, &piece(SEND_FIRST, 0xffff_ffff_ffff_fff0, 32, 0xff));
        acknowledges(bench);
        // 0xffff_ffff_ffff_fff0 + 32 = 0x1_0000_0000_0000_0010.
        bench.fetches_wqe(&last).keeps(&top);
        bench.places("T33", &top, More, &piece(SEND_LAST, 0x10, 8, 0xff));
        completes(bench, "T13", SEND_LAST);
    });
}

/// Two messages alternate, each split inside its units. The QPs only share a cache cell.
#[test]
fn interleaved_messages_keep_their_places() {
    let b = Qp { qpn: 0x00_0043, entry: 0x43, cell: 0x43 };
    let of = |qp, opcode, length| Packet { qp, opcode, length, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&of(QP, SEND_FIRST, 60)).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_FIRST, 0x7fff_1234_5000, 60, 0xff));
        acknowledges(bench);

        bench.fetches_wqe(&of(b, SEND_FIRST, 30)).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_FIRST, 0x7fff_1234_5000, 30, 0xff));
        acknowledges(bench);

        // A continues at byte 60 of its first unit and ends 30 bytes into the second.
        bench.fetches_wqe(&of(QP, SEND_MIDDLE, 70)).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_MIDDLE, 0x7fff_1234_503c, 40, 0));
        bench.keeps(&other_unit(80));
        let mr = other_piece(SEND_MIDDLE, 0xaaaa_0000, 30, 0xff);
        bench.places("T33", &other_unit(80), More, &mr);
        acknowledges(bench);

        // B continues at byte 30 and ends: only its own position is cleared.
        bench.fetches_wqe(&of(b, SEND_LAST, 70)).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_LAST, 0x7fff_1234_501e, 70, 0xff));
        completes(bench, "T13", SEND_LAST);

        // A: the first unit is used up, byte 30 of the second is next.
        bench.fetches_wqe(&of(QP, SEND_LAST, 50)).consumes("T21", &UNIT, More);
        bench.keeps(&other_unit(80));
        let mr = other_piece(SEND_LAST, 0xaaaa_001e, 50, 0xff);
        bench.places("T33", &other_unit(80), More, &mr);
        completes(bench, "T13", SEND_LAST);

        for qp in [QP, b] {
            bench.fetches_wqe(&of(qp, SEND_ONLY, 100)).keeps(&UNIT);
            bench.places("T33", &UNIT, More, &SEND_MR);
            completes(bench, "T14", SEND_ONLY);
        }
    });
}

/// A packet has at most 0xffff bytes; units, positions and address offsets have no such limit.
#[test]
fn a_message_beyond_64_kib_keeps_its_place() {
    let of = |opcode, length| Packet { opcode, length, ..PACKET };
    let unit = unit_of(0x2_0000);
    let largest = other_unit(0x7fff_ffff);
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&of(SEND_FIRST, 0xffff)).keeps(&unit);
        bench.places("T33", &unit, More, &piece(SEND_FIRST, 0x7fff_1234_5000, 0xffff, 0xff));
        acknowledges(bench);
        bench.fetches_wqe(&of(SEND_MIDDLE, 0xffff)).keeps(&unit);
        bench.places("T33", &unit, More, &piece(SEND_MIDDLE, 0x7fff_1235_4fff, 0xffff, 0xff));
        acknowledges(bench);
        // 0x1_fffe bytes are placed; the unit's last two follow.
        bench.fetches_wqe(&of(SEND_MIDDLE, 2)).keeps(&unit);
        bench.places("T33", &unit, More, &piece(SEND_MIDDLE, 0x7fff_1236_4ffe, 2, 0xff));
        acknowledges(bench);
        bench.fetches_wqe(&of(SEND_LAST, 0x8000)).consumes("T21", &unit, More).keeps(&largest);
        bench.places("T33", &largest, More, &other_piece(SEND_LAST, 0xaaaa_0000, 0x8000, 0xff));
        completes(bench, "T13", SEND_LAST);
    });
}

/// Every UPDATE_RQ_s clears the position of the QP, not only that of a SEND.
#[test]
fn an_rdma_write_with_immediate_forgets_the_place() {
    let first = Packet { opcode: SEND_FIRST, length: 60, ..PACKET };
    let opcode = RDMA_WRITE_ONLY_WITH_IMM;
    for (mask, row) in [(SPEC, "T35"), (REPAIRED, "F3")] {
        let mut bench = Bench::new(mask);
        bench.fetches_wqe(&first).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_FIRST, 0x7fff_1234_5000, 60, 0xff));
        acknowledges(&mut bench);
        bench.fetches_wqe(&Packet { opcode, ..PACKET }).consumes("T12", &UNIT, Last);
        bench.updates("T31", &TABLES, &WRITTEN).requests(row, &Mr { opcode, ..WRITE_MR });
        if mask == REPAIRED {
            bench.fetches_cq_address().requests("T40", &Mr { net_opcode: opcode, ..CQ_MR });
        }
        bench.requests("T44", &ACK).idles();
        bench.fetches_wqe(&PACKET).keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
    }
}

/// Random pins: MR_FOR_SEND_s uses the beat on its pins, whatever was there in DATA_UNIT_s.
#[test]
fn a_request_is_made_for_the_beat_on_the_pins() {
    let first = Packet { opcode: SEND_FIRST, length: 60, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 40, ..PACKET };
    under(&[SPEC, REPAIRED], |bench| {
        bench.fetches_wqe(&first).keeps(&UNIT);
        let ten = other_piece(SEND_FIRST, 0xaaaa_0000, 10, 0);
        bench.offers_to_place("T34", &other_unit(10), &ten);
        bench.places("T33", &UNIT, More, &piece(SEND_FIRST, 0x7fff_1234_5000, 60, 0xff));
        acknowledges(bench);
        // A used-up unit requests nothing, at the position where the message continues.
        bench.fetches_wqe(&last).keeps(&UNIT);
        let nothing = other_piece(SEND_LAST, 0xaaaa_003c, 0, 0);
        bench.places("T33", &other_unit(50), More, &nothing);
        // It was counted: parsed is 50, and 10 bytes more are used up.
        bench.consumes("T21", &unit_of(10), More).keeps(&UNIT);
        bench.places("T33", &UNIT, More, &piece(SEND_LAST, 0x7fff_1234_5000, 40, 0xff));
        completes(bench, "T13", SEND_LAST);
    });
}

/// Random pins: a used-up last beat in MR_FOR_SEND_s leaves the packet unplaced.
#[test]
fn a_request_for_nothing_that_is_the_last_is_a_length_error() {
    under(&[0x20, REPAIRED], |bench| {
        bench.fetches_wqe(&PACKET).keeps(&UNIT);
        let nothing = other_piece(SEND_ONLY, 0xaaaa_0000, 0, 0);
        bench.places("F5d", &other_unit(0), Last, &nothing).updates("F5e", &TABLES, &WRITTEN);
    });
}

/// Random pins: 65538 packets of one message bring msg_offset and parsed to 2^32 and beyond.
///
/// msg_offset grows by at most 65535 per packet, so there is no shorter way.
#[test]
fn places_wrap_at_32_bits() {
    let packet = Packet { opcode: SEND_MIDDLE, service: UC, length: 0xffff, ..PACKET };
    let beat = |unit: &Unit, end| Drive::unit("wqe_resp_valid=1", unit, end);
    let half = unit_of(0x7fff_8000);
    let largest = unit_of(0x7fff_ffff);
    let before = [
        Drive::packet(&packet),
        Drive::new(""),
        Drive::new("wqe_req_ready=1"),
        Drive::next_unit(&NEXT),
    ];
    let placing = [beat(&largest, Either), beat(&largest, Last).and("fetch_mr_ingress_ready=1")];
    let skipping = [beat(&half, More)];

    let mut bench = Bench::one_lane(REPAIRED);
    // 32768 * 65535 = 0x7fff_8000 bytes; above that a first unit is used up.
    bench.repeat(32768, &[&before[..], &placing].concat());
    bench.repeat(32768, &[&before[..], &skipping, &placing].concat());
    bench.idles();

    // 0xffff_0000 placed: parsed 0xffff_0000 + 0x7fff_ffff needs 33 bits.
    bench.fetches_wqe(&Packet { length: 0x8000, ..packet });
    bench.consumes("T21", &half, More).consumes("T21", &half, More).keeps(&largest);
    bench.places("F6b", &largest, Last, &piece(SEND_MIDDLE, 0x7fff_1234_5000, 0x8000, 0xff));

    // 0xffff_8000 placed: 0x9000 bytes more bring both registers to 0x1000.
    bench.fetches_wqe(&packet).consumes("T21", &half, More).consumes("T21", &half, More);
    bench.consumes("T21", &unit_of(0x8000), More).keeps(&unit_of(0x9000));
    let crossing = piece(SEND_MIDDLE, 0x7fff_1234_5000, 0x9000, 0);
    bench.places("T33", &unit_of(0x9000), More, &crossing).keeps(&other_unit(0x1_0000));
    let rest = other_piece(SEND_MIDDLE, 0xaaaa_0000, 0x6fff, 0xff);
    bench.places("F6b", &other_unit(0x1_0000), Last, &rest).idles();

    // 0x1000 + 0x6fff = 0x7fff placed, as the next packet sees.
    bench.fetches_wqe(&Packet { opcode: SEND_LAST, service: UC, length: 0x10, ..PACKET });
    bench.consumes("T21", &unit_of(0x7ffe), More).keeps(&other_unit(0x10));
    // One byte of the second unit is used.
    let rest = other_piece(SEND_LAST, 0xaaaa_0001, 0x0f, 0);
    bench.places("T33", &other_unit(0x10), More, &rest).keeps(&UNIT);
    bench.places("F5b", &UNIT, Last, &piece(SEND_LAST, 0x7fff_1234_5000, 1, 0xff));
    bench.updates("T30", &TABLES, &WRITTEN);
}
