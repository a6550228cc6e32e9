//! The properties of the top-level logic of `rx`, and of the inner blocks at their boundaries,
//! for `cosim prove`.
//!
//! The rules of the inner blocks are proved for each block. Here, their offers are checked where
//! the blocks meet.

use cosim_core::harness::{Parameters, ProofRegister, Properties, StableChannel};

/// All properties.
pub fn properties(parameters: &Parameters) -> Properties {
    let is_fixed = |number: u32| parameters.fixes() >> number & 1 == 1;
    // As thread2, recv and qp guarantee.
    let mut stable = vec![
        StableChannel::whole("t2_cq_req_valid"),
        StableChannel::whole("t2_eq_req_valid"),
        StableChannel::valid("t2_fetch_mr_ingress_valid"),
        StableChannel::valid("rv_credit_valid"),
        StableChannel::valid("qp_evt_valid"),
        StableChannel::valid("b_dllp_valid"),
    ];
    if is_fixed(0) {
        stable.push(StableChannel::whole("t2_wqe_req_valid"));
    }
    Properties {
        quiescent: vec![
            "fetch_valid",
            "x_hw_valid",
            "x_cxt_valid",
            "x_pkt_valid",
            "req_valid",
            "t2_fetch_mr_ingress_valid",
            "t2_wqe_req_valid",
            "t2_cq_req_valid",
            "t2_eq_req_valid",
            "rv_copy_valid",
            "rv_keep_valid",
            "rv_release_valid",
            "rv_alloc_valid",
            "rv_temp_alloc_valid",
            "rv_credit_valid",
        ],
        stable,
        invariants: invariants(),
        proof_registers: vec![ProofRegister {
            name: "expected_level",
            width: 5,
            next: "x_fifo_level + (x_b_deliver_valid & x_fifo_level != 5'd16) - \
                   (req_valid | x_pkt_valid & x_pkt_ready)"
                .to_owned(),
        }],
        ..Properties::default()
    }
}

/// Invariants of the top-level logic, over ports only.
fn invariants() -> Vec<(String, String)> {
    let all = [
        ("CR: at most 16 credits are in use", "x_credits_used <= 5'd16"),
        ("FI: the FIFO has at most 16 entries", "x_fifo_level <= 5'd16"),
        (
            "FI: there is a head while the FIFO is not empty",
            "fetch_valid == (x_fifo_level != 5'd0)",
        ),
        ("CR5: A sees a descriptor that has a credit", "~x_a_tlp_valid | a_tlp_valid"),
        ("the head goes to thread2 or to recv", "~(x_cxt_valid & x_pkt_valid)"),
        (
            "thread2 is offered what qp accepts without a Nak",
            "x_cxt_valid == (x_msg_accept & ~x_msg_nak)",
        ),
        (
            "RQ4: what thread2 takes leaves with fate 0",
            "~(x_cxt_valid & x_cxt_ready) | req_valid & req_fate == 2'd0 & req_ack == x_msg_ack & \
             req_take_wqe == x_msg_take_wqe",
        ),
        (
            "RQ5: what qp refuses with a Nak leaves with fate 1",
            "~(x_msg_valid & x_msg_nak) | req_valid & req_fate == 2'd1 & ~req_ack & ~req_take_wqe",
        ),
        (
            "RQ6: what qp does not accept leaves with fate 2",
            "~(x_msg_valid & ~x_msg_accept) | req_valid & req_fate == 2'd2 & ~req_ack & ~req_take_wqe",
        ),
        (
            "RQ3: what waits for thread2 does not leave",
            "~(x_cxt_valid & ~x_cxt_ready) | ~req_valid",
        ),
        (
            "FI, RQ, PK: the head is offered to thread2 or recv, or leaves, or waits for its context, its lengths or an event",
            "~fetch_valid | x_cxt_valid | x_pkt_valid | req_valid | \
             (fetch_request ? ~cxt_valid | x_hw_valid : ~len_valid)",
        ),
        (
            "FI1 to FI3: what is delivered goes into the FIFO, and what leaves makes room",
            "x_fifo_level == expected_level",
        ),
        ("EV6: an event from outside waits for those of the system", "~qp_hw_ready | x_hw_ready"),
    ];
    all.into_iter().map(|(what, holds)| (what.to_owned(), holds.to_owned())).collect()
}
