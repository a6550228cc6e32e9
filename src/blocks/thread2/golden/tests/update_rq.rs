//! UPDATE_RQ_s: what is written to the tables, and what is the next state?

use super::beats::*;
use super::bench::{REPAIRED, SPEC, under};
use super::expect::{CQ_HEAD, Written};

/// One update: a packet with the RQ's geometry, the WQE's NextUnit, the tables, and the writes.
#[track_caller]
fn updates(packet: Packet, next: NextUnit, tables: Tables, written: Written) {
    let packet = Packet { length: 0, ..packet };
    under(&[SPEC, REPAIRED], |bench| {
        bench.takes(&packet).judges("T03").requests_wqe("T07").takes_next_unit("T09", &next);
        bench.consumes("T14", &TERMINATOR, Last).updates("T30", &tables, &written);
        bench.requests_cq("T22", CQ_HEAD);
    });
}

/// Only the RQ: entry size, RQ bytes, WQE slots, RQ offset before and after.
#[track_caller]
fn rq_offset(entry_log: u64, rq_length: u64, cur_size: u64, before: u64, after: u64) {
    let packet = Packet { entry_log, rq_length, ..PACKET };
    let next = NextUnit { next_addr: before, cur_size, ..NEXT };
    let tables = Tables { rq_offset: before, ..TABLES };
    // The next WQE begins at the RQ offset: the cache offset stays.
    updates(packet, next, tables, Written { rq_offset: after, cache_offset: 0x20, frees_cell: 0 });
}

#[test]
fn the_rq_offset_advances_by_whole_entries() {
    // Entries of 4, 8, 16, 32 and 64 slots.
    for (entry_log, cur_size, after) in [
        (6, 1, 0x1004),
        (6, 4, 0x1004),
        (6, 5, 0x1008),
        (7, 8, 0x1008),
        (7, 9, 0x1010),
        (8, 1, 0x1010),
        (8, 17, 0x1020),
        (9, 32, 0x1020),
        (9, 33, 0x1040),
        (10, 64, 0x1040),
        (10, 65, 0x1080),
        (6, 255, 0x1100),
        (10, 255, 0x1100),
        (10, 193, 0x1100),
        (10, 192, 0x10c0),
        (6, 0, 0x1000),
    ] {
        rq_offset(entry_log, 0x0010_0000, cur_size, 0x1000, after);
    }
}

#[test]
fn the_rq_offset_wraps_when_no_entry_fits_after_it() {
    // next = 104 slots: 104 * 16 + 64 = 1728 bytes.
    rq_offset(6, 1728, 4, 100, 104);
    rq_offset(6, 1727, 4, 100, 0);
    // One entry on: 108 * 16 + 64 = 1792.
    rq_offset(6, 1728, 4, 104, 0);
    rq_offset(6, 1792, 4, 104, 108);
    // 64 slots are 1024 bytes: (64 + 64) * 16 + 1024 = 3072.
    rq_offset(10, 3072, 64, 64, 128);
    rq_offset(10, 3071, 64, 64, 0);
    rq_offset(6, 0, 4, 100, 0);
}

#[test]
fn the_rq_offset_keeps_its_low_24_bits() {
    // 0xff_fffe + 4 = 0x100_0002 slots are 0x1000_0020 bytes, and 64 more fit.
    rq_offset(6, 0xffff_ffff, 4, 0xff_fffe, 0x00_0002);
    rq_offset(6, 0x1000_0060, 4, 0xff_fffe, 0x00_0002);
    rq_offset(6, 0x1000_005f, 4, 0xff_fffe, 0);
    rq_offset(6, 0xffff_ffff, 4, 0xff_fffb, 0xff_ffff);
}

#[test]
fn an_illegal_entry_size_advances_nothing_and_needs_no_room() {
    // 22 and 134 have the low bits of 6; 38 is 6 + 32.
    for entry_log in [0, 4, 5, 11, 12, 22, 38, 134, 255] {
        rq_offset(entry_log, 4096, 4, 0x80, 0x80);
        // 256 * 16 = 4096: equality does not wrap.
        rq_offset(entry_log, 4096, 64, 256, 256);
        rq_offset(entry_log, 4096, 4, 257, 0);
        rq_offset(entry_log, 4095, 4, 256, 0);
    }
    // The neighbours are legal.
    rq_offset(6, 4096, 4, 0x80, 0x84);
    rq_offset(10, 4096, 4, 0x80, 0xc0);
}

/// Only the cache. The RQ offset steps from 0x110 to 0x114.
#[track_caller]
fn cache_offset(next_addr: u64, next_size: u64, cache_offset: u64, after: u64) {
    let next = NextUnit { next_addr, next_size, ..NEXT };
    let released = u64::from(after == RELEASED);
    for owner in [0x99, 0xc3] {
        let tables = Tables { rq_offset: 0x110, cache_offset, owner };
        // Only the owner, QP 0xc3, frees the cell.
        let frees_cell = if owner == 0xc3 { released } else { 0 };
        let cache_offset = if after == RELEASED { 0 } else { after };
        updates(PACKET, next, tables, Written { rq_offset: 0x114, cache_offset, frees_cell });
    }
}

/// Instead of a cache offset: the cell is released, its offset written as 0.
const RELEASED: u64 = u64::MAX;

#[test]
fn a_cell_is_kept_up_to_its_256th_slot() {
    // 200 + 40 + 16 = 256.
    cache_offset(0x138, 16, 200, 240);
    cache_offset(0x138, 17, 200, RELEASED);
    cache_offset(0x139, 16, 200, RELEASED);
    cache_offset(0x138, 16, 201, RELEASED);
    // 255 + 0 + 1 and 193 + 0 + 63.
    cache_offset(0x110, 1, 255, 255);
    cache_offset(0x110, 2, 255, RELEASED);
    cache_offset(0x110, 63, 193, 193);
    cache_offset(0x110, 63, 194, RELEASED);
    cache_offset(0x111, 1, 255, RELEASED);
}

#[test]
fn a_far_or_earlier_or_no_next_wqe_releases_the_cell() {
    // Distances that are 0 in their low 8, 9, 16 and 24 bits, and the largest address.
    cache_offset(0x0210, 1, 0, RELEASED);
    cache_offset(0x0310, 1, 0, RELEASED);
    cache_offset(0x1_0110, 1, 0, RELEASED);
    cache_offset(0x100_0110, 1, 0, RELEASED);
    cache_offset(0x3ff_ffff, 63, 255, RELEASED);
    // No next WQE.
    cache_offset(0x118, 0, 0x20, RELEASED);
    cache_offset(0x110, 0, 0, RELEASED);
    cache_offset(0x118, 1, 0x20, 0x28);
    // At the RQ offset, and before it.
    cache_offset(0x110, 8, 0x20, 0x20);
    cache_offset(0x10f, 8, 0x20, RELEASED);
    cache_offset(0, 8, 0x20, RELEASED);
}

#[test]
fn the_next_wqe_is_compared_in_26_bits() {
    let tables = Tables { rq_offset: 0xff_ffff, cache_offset: 0x20, owner: 0xc3 };
    let packet = Packet { rq_length: 0xffff_ffff, ..PACKET };
    // 0xff_ffff + 4 keeps 3 of 24 bits.
    let kept = Written { rq_offset: 3, cache_offset: 0x21, frees_cell: 0 };
    updates(packet, NextUnit { next_addr: 0x100_0000, ..NEXT }, tables, kept);
    let released = Written { rq_offset: 3, cache_offset: 0, frees_cell: 1 };
    updates(packet, NextUnit { next_addr: 0x00_fffe, ..NEXT }, tables, released);
    updates(packet, NextUnit { next_addr: 0, ..NEXT }, tables, released);
}

#[test]
fn a_cell_is_freed_only_on_release_and_only_by_its_owner() {
    let kept = NEXT;
    let released = NextUnit { next_size: 0, ..NEXT };
    // QP 0x43 has the same cell as QP 0xc3; 0 is a free cell.
    for (next, owner, cache_offset, frees_cell) in [
        (released, 0xc3, 0, 1),
        (released, 0x43, 0, 0),
        (released, 0xc2, 0, 0),
        (released, 0x00, 0, 0),
        (kept, 0xc3, 0x28, 0),
        (kept, 0x43, 0x28, 0),
    ] {
        let written = Written { rq_offset: 0x114, cache_offset, frees_cell };
        updates(PACKET, next, Tables { owner, ..TABLES }, written);
    }
}

#[test]
fn the_cell_of_qp_0_is_freed_like_any_other() {
    let qp = Qp { qpn: 0xffff00, entry: 0x00, cell: 0x00 };
    let written = Written { rq_offset: 0x114, cache_offset: 0, frees_cell: 1 };
    let next = NextUnit { next_size: 0, ..NEXT };
    updates(Packet { qp, ..PACKET }, next, Tables { owner: 0, ..TABLES }, written);
}
