//! IDLE_s and JUDGE_s: does a packet take the path of its opcode, and only if its QP may receive?

use super::beats::{PACKET, Packet};
use super::bench::{REPAIRED, SPEC, under};
use super::codes::*;
use super::drive::Drive;
use super::expect;

/// The row of an opcode in JUDGE_s.
fn row(opcode: u64) -> &'static str {
    match opcode {
        SEND_FIRST..=SEND_ONLY_WITH_IMM | RDMA_WRITE_LAST_WITH_IMM | RDMA_WRITE_ONLY_WITH_IMM => {
            "T03"
        }
        RDMA_WRITE_FIRST..=RDMA_WRITE_ONLY => "T04",
        RDMA_READ_REQUEST_FIRST..=RDMA_READ_REQUEST_ONLY => "T05",
        _ => "T06",
    }
}

#[test]
fn t01_no_second_packet_is_taken_while_one_is_in_work() {
    under(&[SPEC, REPAIRED], |bench| {
        let other = Packet { opcode: RDMA_WRITE_ONLY, length: 7, ..PACKET };
        let judged = expect::addresses(PACKET.qp);
        bench.takes(&PACKET).cycle("T03", Drive::packet(&other), &judged).requests_wqe("T07");
    });
}

#[test]
fn t03_to_t06_and_f7_opcode_and_qp_state_decide() {
    // S0 does not look at the QP's state.
    for (mask, dropped) in [(SPEC, &[][..]), (0x80, &NOT_RECEIVING), (REPAIRED, &NOT_RECEIVING)] {
        under(&[mask], |bench| {
            for (opcode, qp_state) in (0..=31).flat_map(|o| (0..=7).map(move |s| (o, s))) {
                bench.takes(&Packet { opcode, qp_state, solicited: 1, ..PACKET });
                if dropped.contains(&qp_state) {
                    bench.judges("F7").idles();
                } else {
                    bench.judges(row(opcode)).reset();
                }
            }
        });
    }
}
