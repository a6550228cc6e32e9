//! CQ_REQ_s, CQ_RESP_s, EQ_REQ_s, EQ_RESP_s: are the queues' addresses requested and kept?

use super::beats::{Last, PACKET, Packet, TABLES, TERMINATOR};
use super::bench::{REPAIRED, SPEC, under};
use super::expect::{CQ_LADDR, CQ_MR, EQ_MR, Mr, WRITTEN};

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
fn t22_t24_a_cq_is_requested_with_the_low_32_bits_of_its_length_and_its_address_kept() {
    let address = 0xc0c0_aaaa_bbbb_cc40;
    under(&[SPEC, REPAIRED], |bench| {
        for (cq_log_size, length) in LENGTHS {
            bench.fetches_wqe(&Packet { cq_log_size, length: 0, ..PACKET });
            bench.consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
            bench.requests_cq("T22", length << 32 | 0x0000_beef).takes_cq_address("T24", address);
            bench.requests("T40", &Mr { address, ..CQ_MR }).reset();
        }
    });
}

#[test]
fn t26_t28_an_eq_is_requested_with_the_low_32_bits_of_its_length_and_its_address_kept() {
    let address = 0xe0e0_aaaa_bbbb_cc60;
    under(&[0x02, REPAIRED], |bench| {
        for (eq_log_size, length) in LENGTHS {
            bench.fetches_wqe(&Packet { eq_log_size, length: 0, solicited: 1, ..PACKET });
            bench.consumes("T14", &TERMINATOR, Last).updates("T30", &TABLES, &WRITTEN);
            bench.requests_cq("T22", 0x0400_0000_beef).takes_cq_address("T24", CQ_LADDR);
            bench.requests("F1", &CQ_MR).requests_eq("T26", length << 32 | 0x0056_7890);
            bench.takes_eq_address("T28", address).requests("T42", &Mr { address, ..EQ_MR });
            bench.reset();
        }
    });
}
