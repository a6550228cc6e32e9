//! The handshakes of the top-level logic of `rx`, and of the inner blocks at their boundaries,
//! for `cosim prove`.
//!
//! What the specification says of that logic is in `rtl/rx/rx_sva.sv`. The rules of the inner
//! blocks are proved for each block; one invariant of `dll` is there again, as proofs inside of it
//! need it. Here, their offers are checked where the blocks meet.

use cosim_core::harness::{Parameters, Properties, StableChannel};

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
        ..Properties::default()
    }
}
