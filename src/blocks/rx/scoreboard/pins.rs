//! Checks of the pins of the top-level logic in every cycle.

use super::super::rtl::{Bits1, Bits12, Outputs};
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
    let loud = |valid: Bits1, payload: u64| !valid.is_high() & (payload != 0);
    // By channel, as in `loud_channels`.
    let loud = [
        loud(outputs.x_msg_valid, requested),
        loud(outputs.x_hw_valid, reported),
        loud(outputs.x_cxt_valid, context),
        loud(outputs.x_pkt_valid, packet),
        loud(outputs.req_valid, fate),
    ];
    if loud == [false; 5] { Ok(()) } else { Err(loud_channels(loud)) }
}

#[cold]
fn loud_channels(loud: [bool; 5]) -> Violation {
    let channels = ["x_msg", "x_hw", "x_cxt", "x_pkt", "req"].into_iter().zip(loud);
    let loud: Vec<&str> = channels.filter(|(_, loud)| *loud).map(|(channel, _)| channel).collect();
    let message = format!("{} are not 0 while valid is 0", loud.join(", "));
    Violation::new(IDLE, message)
}
