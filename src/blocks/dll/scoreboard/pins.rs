//! Checks of the pins in every cycle (specification, sections 2 and 3).

use crate::blocks::dll::rtl::{Bits1, Bits12, Bits32, Outputs};
use cosim_core::harness::{self, Violation};

/// In reset every output has its reset value.
pub const RESET: &str = "values-in-reset";
/// Payload keeps its value while its valid is 0.
pub const KEPT: &str = "payload-kept";

#[derive(Debug, Clone, Copy, Default)]
pub struct Payloads {
    link: (Bits12, Bits32),
    deliver: Bits32,
    dllp: (Bits1, Bits12),
}

impl Payloads {
    #[inline]
    fn of(outputs: &Outputs) -> Self {
        Self {
            link: (outputs.a_link_seq, outputs.a_link_data),
            deliver: outputs.b_deliver_data,
            dllp: (outputs.b_dllp_nak, outputs.b_dllp_seq),
        }
    }

    /// Checks a cycle outside of reset.
    #[inline]
    pub fn observe(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let now = Self::of(outputs);
        // Separate variables rather than an array, so that the compiler keeps them in registers.
        let link = !outputs.a_link_valid.is_high() & (now.link != self.link);
        let deliver = !outputs.b_deliver_valid.is_high() & (now.deliver != self.deliver);
        let dllp = !outputs.b_dllp_valid.is_high() & (now.dllp != self.dllp);
        if link | deliver | dllp {
            let channel = match (link, deliver) {
                (true, _) => "a_link",
                (false, true) => "b_deliver",
                (false, false) => "b_dllp",
            };
            return Err(changed(channel, self, &now));
        }
        *self = now;
        Ok(())
    }
}

#[cold]
fn changed(channel: &str, before: &Payloads, now: &Payloads) -> Violation {
    let what =
        format_args!("{channel}_valid is 0, and its payload changes: {before:?}, then {now:?}");
    Violation::new(KEPT, what)
}

/// Checks a cycle in reset.
pub fn in_reset(outputs: &Outputs) -> Result<(), Violation> {
    let expected = Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() };
    harness::in_reset(RESET, outputs, &expected)
}
