//! Checks of the pins of the top-level logic in every cycle.

use super::super::rtl::{Bits12, Inputs, Outputs};
use super::STATE;
use crate::blocks::recv::scoreboard::{require, require_idle};
use cosim_core::harness::{self, Violation};

/// In reset every output is 0, except for the newest acknowledged sequence number, which is 4095.
pub const RESET: &str = "values-in-reset";
/// Payload of the top-level logic is 0 while its valid is 0.
pub const IDLE: &str = "zero-while-idle";

/// Checks the pins in reset.
#[inline]
pub fn in_reset(outputs: &Outputs) -> Result<(), Violation> {
    let expected = Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() };
    harness::in_reset(RESET, outputs, &expected)
}

/// Checks the pins outside of reset.
#[inline]
pub fn in_cycle(outputs: &Outputs) -> Result<(), Violation> {
    let any = |words: &[u32]| u64::from(words.iter().fold(0, |any, word| any | word));
    let requested =
        outputs.x_msg_qpn.get() | outputs.x_msg_consumes_wqe.get() | outputs.x_msg_error.get();
    let reported = outputs.x_hw_qpn.get() | outputs.x_hw_kind.get();
    let packet = outputs.x_pkt_kind.get()
        | outputs.x_pkt_id.get()
        | outputs.x_pkt_len.get()
        | outputs.x_pkt_msg_len.get()
        | outputs.x_pkt_last.get();
    let fate = outputs.req_fate.get()
        | outputs.req_qpn.get()
        | outputs.req_handle.get()
        | outputs.req_ack.get()
        | outputs.req_take_wqe.get();
    let context = any(outputs.x_cxt_head.words()) | any(outputs.x_cxt_data.words());
    require_idle(
        IDLE,
        [
            ("x_msg", outputs.x_msg_valid, requested),
            ("x_hw", outputs.x_hw_valid, reported),
            ("x_cxt", outputs.x_cxt_valid, context),
            ("x_pkt", outputs.x_pkt_valid, packet),
            ("req", outputs.req_valid, fate),
        ],
    )
}

/// Checks the state that thread2 gets, and the rest of the context.
#[inline]
pub fn in_context(state: u64, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
    let mut expected = *inputs.cxt_head.words();
    expected[1] = expected[1] & !0x38 | (state as u32) << 3;
    let is_same = *outputs.x_cxt_head.words() == expected && outputs.x_cxt_data == inputs.cxt_data;
    require(is_same, STATE, || format!("not what was fetched with state {state} inserted"))
}
