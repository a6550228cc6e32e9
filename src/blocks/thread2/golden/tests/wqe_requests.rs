//! WQE_REQ_s and NEXT_UNIT_s: is the WQE requested, awaited, and its first beat stored?

use super::beats::*;
use super::bench::{REPAIRED, SPEC, under};
use super::codes::*;
use super::expect::{ACK, CQ_MR, Mr, SEND_MR, Written};

#[test]
fn t08_a_request_that_is_not_accepted_loses_the_packet_and_nothing_else() {
    let first = Packet { opcode: SEND_FIRST, length: 60, ..PACKET };
    let lost = Packet { opcode: SEND_MIDDLE, length: 10, ..PACKET };
    let last = Packet { opcode: SEND_LAST, length: 40, ..PACKET };
    // Every mask without F0; 0x10 stands for those with other fixes.
    under(&[SPEC, 0x10], |bench| {
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
