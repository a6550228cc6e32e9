//! Checks of the pins of the top-level logic in every cycle.

use super::super::rtl::{Bits12, Outputs};
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
    let is_zero = |words: &[u32]| words.iter().all(|word| *word == 0);
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
    let context = is_zero(outputs.x_cxt_head.words()) && is_zero(outputs.x_cxt_data.words());
    let channels = [
        ("x_msg", outputs.x_msg_valid, requested == 0),
        ("x_hw", outputs.x_hw_valid, reported == 0),
        ("x_cxt", outputs.x_cxt_valid, context),
        ("x_pkt", outputs.x_pkt_valid, packet == 0),
        ("req", outputs.req_valid, fate == 0),
    ];
    match channels.iter().find(|(_, valid, is_zero)| !(*valid).is_high() && !is_zero) {
        Some((channel, ..)) => {
            Err(Violation::new(IDLE, format!("{channel}_* are not 0 while {channel}_valid is 0")))
        }
        None => Ok(()),
    }
}
