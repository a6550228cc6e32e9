//! WQE_REQ_s and NEXT_UNIT_s: is the WQE requested, awaited, and its first beat stored?

use super::beats::*;
use super::bench::{REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect::{self, ACK, CQ_MR, Mr, SEND_MR, WRITTEN, Written};

#[test]
fn t07_an_accepted_request_is_followed_by_the_wqe() {
    let request =
        expect::wqe_request_words(PACKET.qp, [0x0612_34c3, 0x3333_4444, 0x0001_0000, 0x1111_2222]);
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&PACKET).judges("T03");
        bench.cycle("T07", Drive::new().wqe_req_ready(1), &request);
        bench.takes_next_unit("T09", &NEXT);
    });
}

#[test]
fn t08_a_request_that_is_not_accepted_loses_the_packet() {
    // Every mask without F0; 0x20 stands for those with other fixes.
    under(&[SPEC, 0x20], |bench| {
        bench.takes(&PACKET).judges("T03").offers_wqe_request("T08").idles();
        bench.takes(&PACKET).judges("T03").requests_wqe("T07");
    });
}

#[test]
fn t08_a_lost_packet_leaves_the_message_offset_as_it_was() {
    let first = Packet { opcode: SEND_FIRST, length: 60, ..PACKET };
    let lost = Packet { opcode: SEND_MIDDLE, length: 10, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 40, ..PACKET };
    under(&[SPEC], |bench| {
        bench.fetches_wqe(&first).keeps(&UNIT);
        bench.places("T33", &UNIT, Either, &Mr { length: 60, opcode: SEND_FIRST, ..SEND_MR });
        bench.consumes("T17", &TERMINATOR, Last).requests("T44", &ACK);
        bench.takes(&lost).judges("T03").offers_wqe_request("T08").idles();
        bench.fetches_wqe(&last).keeps(&UNIT);
        // 60 bytes of the unit's 100 are used: 40 are left, at laddr + 60.
        let rest = Mr { address: 0x7fff_1234_503c, length: 40, opcode: SEND_LAST, ..SEND_MR };
        bench.places("T33", &UNIT, Either, &rest);
    });
}

#[test]
fn f0_a_request_waits_until_it_is_accepted() {
    under(&[0x01, REPAIRED], |bench| {
        bench.takes(&PACKET).judges("T03");
        bench.offers_wqe_request("F0").offers_wqe_request("F0").offers_wqe_request("F0");
        bench.requests_wqe("T07").takes_next_unit("T09", &NEXT);
    });
}

/// Every field of the NextUnit and the RQ offset with it are used later: the sizes and the next
/// address in UPDATE_RQ_s, the RQ offset as the CQE's WQE address.
#[test]
fn t09_the_next_unit_and_the_rq_offset_are_kept() {
    let next = NextUnit { next_addr: 0x305, next_size: 0x2a, cur_size: 9, rq_offset: 0x012_345 };
    let tables = Tables { rq_offset: 0x300, cache_offset: 0xd0, owner: 0xc3 };
    // 9 slots are 3 entries of 4: 0x300 + 12. 0xd0 + 5 + 0x2a = 0xff slots fit the cell.
    let written = Written { rq_offset: 0x30c, cache_offset: 0xd5, frees_cell: 0 };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&PACKET).judges("T03").requests_wqe("T07").takes_next_unit("T09", &next);
        bench.keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
        bench.consumes("T14", &TERMINATOR, Last).updates("T30", &tables, &written);
        bench.fetches_cq_address().requests("T40", &Mr { wqe_addr: 0x012_345, ..CQ_MR });
    });
}

#[test]
fn t10_the_first_beat_is_waited_for() {
    let waiting = expect::wqe_resp_ready(PACKET.qp, 1);
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&PACKET).judges("T03").requests_wqe("T07");
        for _ in 0..3 {
            bench.cycle("T10", Drive::new().wqe_resp_valid(0), &waiting);
        }
        // The values on the pins in the meantime were not stored.
        bench.takes_next_unit("T09", &NEXT).keeps(&UNIT).places("T33", &UNIT, More, &SEND_MR);
        bench.consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
    });
}
