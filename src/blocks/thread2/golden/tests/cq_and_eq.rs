//! CQ_REQ_s, CQ_RESP_s, EQ_REQ_s, EQ_RESP_s: are the queues' addresses requested and kept?

use super::beats::{Last, PACKET, Packet, TABLES, TERMINATOR};
use super::bench::{Bench, REPAIRED, SPEC, under};
use super::drive::Drive;
use super::expect::{self, CQ_HEAD, CQ_LADDR, CQ_MR, EQ_HEAD, EQ_LADDR, EQ_MR, WRITTEN};

/// A SEND without payload, to CQ_REQ_s.
fn completes<'a>(bench: &'a mut Bench, packet: &Packet) -> &'a mut Bench {
    bench.fetches_wqe(packet).consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN)
}

const PLAIN: Packet = Packet { length: 0, ..PACKET };
const SOLICITED: Packet = Packet { solicited: 1, ..PLAIN };

/// A solicited SEND without payload, to EQ_REQ_s.
fn reports<'a>(bench: &'a mut Bench, packet: &Packet, cq_head: u64) -> &'a mut Bench {
    completes(bench, packet).requests_cq("T22", cq_head).takes_cq_address("T24", CQ_LADDR);
    bench.requests("F1", &CQ_MR)
}

#[test]
fn t22_an_accepted_cq_request_is_followed_by_the_address() {
    under(&[SPEC, REPAIRED], |bench| {
        completes(bench, &PLAIN).requests_cq("T22", 0x0000_0400_0000_beef);
        bench.takes_cq_address("T24", CQ_LADDR);
    });
}

#[test]
fn t23_a_cq_request_waits_until_it_is_accepted() {
    under(&[SPEC, REPAIRED], |bench| {
        completes(bench, &PLAIN).offers_cq_request("T23", CQ_HEAD);
        bench.offers_cq_request("T23", CQ_HEAD).offers_cq_request("T23", CQ_HEAD);
        bench.requests_cq("T22", CQ_HEAD);
    });
}

#[test]
fn t24_the_cq_address_is_kept() {
    under(&[SPEC, REPAIRED], |bench| {
        completes(bench, &PLAIN).requests_cq("T22", CQ_HEAD);
        bench.takes_cq_address("T24", 0xc0c0_1111_2222_3340).requests("T40", &CQ_MR);
    });
}

#[test]
fn t25_the_cq_address_is_waited_for() {
    let waiting = expect::cq_resp_ready(PACKET.qp);
    under(&[SPEC, REPAIRED], |bench| {
        completes(bench, &PLAIN).requests_cq("T22", CQ_HEAD);
        for _ in 0..3 {
            bench.cycle("T25", Drive::new().cq_resp_valid(0), &waiting);
        }
        bench.takes_cq_address("T24", CQ_LADDR).requests("T40", &CQ_MR);
    });
}

#[test]
fn t26_an_accepted_eq_request_is_followed_by_the_address() {
    under(&[0x02, REPAIRED], |bench| {
        reports(bench, &SOLICITED, CQ_HEAD).requests_eq("T26", 0x0000_0200_0056_7890);
        bench.takes_eq_address("T28", EQ_LADDR);
    });
}

#[test]
fn t27_an_eq_request_waits_until_it_is_accepted() {
    under(&[0x02, REPAIRED], |bench| {
        reports(bench, &SOLICITED, CQ_HEAD).offers_eq_request("T27", EQ_HEAD);
        bench.offers_eq_request("T27", EQ_HEAD).offers_eq_request("T27", EQ_HEAD);
        bench.requests_eq("T26", EQ_HEAD);
    });
}

#[test]
fn t28_the_eq_address_is_kept() {
    under(&[0x02, REPAIRED], |bench| {
        reports(bench, &SOLICITED, CQ_HEAD).requests_eq("T26", EQ_HEAD);
        bench.takes_eq_address("T28", 0xe0e0_4444_5555_6660).requests("T42", &EQ_MR);
    });
}

#[test]
fn t29_the_eq_address_is_waited_for() {
    let waiting = expect::eq_resp_ready(PACKET.qp);
    under(&[0x02, REPAIRED], |bench| {
        reports(bench, &SOLICITED, CQ_HEAD).requests_eq("T26", EQ_HEAD);
        for _ in 0..3 {
            bench.cycle("T29", Drive::new().eq_resp_valid(0), &waiting);
        }
        bench.takes_eq_address("T28", EQ_LADDR).requests("T42", &EQ_MR);
    });
}

/// log2 of the entries, bytes of the queue: 32 << log in 32 bits.
const LENGTHS: [(u64, u64); 10] = [
    (0, 0x20),
    (1, 0x40),
    (25, 0x4000_0000),
    (26, 0x8000_0000),
    (27, 0),
    (28, 0),
    // A shift by the low 5, 6 or 7 bits of these would give 32.
    (32, 0),
    (64, 0),
    (128, 0),
    (255, 0),
];

#[test]
fn the_cq_length_is_its_low_32_bits() {
    under(&[SPEC, REPAIRED], |bench| {
        for (cq_log_size, length) in LENGTHS {
            let packet = Packet { cq_log_size, ..PLAIN };
            completes(bench, &packet).requests_cq("T22", length << 32 | 0x0000_beef).reset();
        }
    });
}

#[test]
fn the_eq_length_is_its_low_32_bits() {
    under(&[0x02, REPAIRED], |bench| {
        for (eq_log_size, length) in LENGTHS {
            let packet = Packet { eq_log_size, ..SOLICITED };
            reports(bench, &packet, CQ_HEAD).requests_eq("T26", length << 32 | 0x0056_7890);
            bench.reset();
        }
    });
}
