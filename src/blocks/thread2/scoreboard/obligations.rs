//! The obligations of the current packet: those that it has, and those that are met.

use super::*;
use crate::blocks::thread2::rtl::Bits64;
use cosim_core::verilated::Bits;

/// Declares the kinds of obligations, with the check and the noun that each counts.
macro_rules! obligations {
    ($($kind:ident, $check:ident, $what:literal;)+) => {
        /// The kinds of obligations; requests are in their required order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Obligation { $($kind,)+ }

        impl Obligation {
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The check, and the noun that it counts.
            pub fn check(self) -> (&'static str, &'static str) {
                match self { $(Self::$kind => ($check, $what),)+ }
            }
        }
    };
}

obligations! {
    Loss, LOST, "losses";
    Wqe, WQE, "WQEs taken";
    Beats, BEATS, "beats of its WQE taken";
    CqRequested, QUEUE, "CQ requests";
    CqAnswered, ANSWERED, "answers of the CQ taken";
    EqRequested, QUEUE, "EQ requests";
    EqAnswered, ANSWERED, "answers of the EQ taken";
    Payload, PAYLOAD, "payload bytes requested";
    Remote, REMOTE, "RDMA checks";
    RqStep, RQ_STEP, "RQ steps";
    Cqe, CQE, "CQEs";
    Event, EVENT, "events";
    Ack, ACK, "acknowledges";
}

/// An amount of each obligation.
pub type Bill = [u64; Obligation::ALL.len()];

/// The current packet: its obligations, those that are met, and the position in its payload.
#[derive(Debug, Clone)]
pub struct PacketObligations {
    pub packet: usize,
    pub owed: Bill,
    pub paid: Bill,
    /// The message ends with this packet, successfully or not.
    pub completes: bool,
    pub length_error: bool,
    /// Bytes of the WQE before the next payload byte.
    pub cursor: u64,
    /// The offset of the packet's WQE in the RQ, in slots.
    pub wqe_addr: u64,
    /// The purpose of the last request.
    pub stage: Obligation,
}

impl PacketObligations {
    pub fn owe(&mut self, amount: u64, due: &[Obligation]) {
        due.iter().for_each(|due| self.owed[*due as usize] = amount);
    }

    /// Meets an obligation. An excess is reported at once, even if a reset ends the packet later.
    #[inline]
    pub fn pay(&mut self, due: Obligation, amount: u64) -> Result<(), Violation> {
        let (owed, paid) = (self.owed[due as usize], self.paid[due as usize] + amount);
        self.paid[due as usize] = paid;
        require!(paid <= owed, due.check().0, "{paid} {}, owed {owed}", due.check().1)
    }

    /// Compares the obligations with those that were met.
    pub fn close(&self) -> Result<(), Violation> {
        for due in Obligation::ALL {
            let (owed, paid) = (self.owed[*due as usize], self.paid[*due as usize]);
            require!(paid == owed, due.check().0, "{paid} {}, owed {owed}", due.check().1)?;
        }
        Ok(())
    }

    /// Whether a request was made and has no answer yet.
    #[inline]
    pub fn awaits(&self, requested: Obligation, answered: Obligation) -> bool {
        self.paid[requested as usize] > self.paid[answered as usize]
    }

    /// Meets a request to the CQ or EQ, and checks it.
    #[inline]
    pub fn request_queue(
        &mut self,
        due: Obligation,
        seen: Bits64,
        expected: u64,
    ) -> Result<(), Violation> {
        self.pay(due, 1)?;
        let seen = seen.get();
        require!(seen == expected, FIELDS, "{due:?} with {seen:#x}, expected {expected:#x}")
    }

    /// Compares the words of a port.
    #[inline]
    pub fn compare<const WIDTH: u32, const WORDS: usize>(
        &self,
        port: &str,
        seen: &Bits<WIDTH, [u32; WORDS]>,
        expected: [u32; WORDS],
    ) -> Result<(), Violation> {
        let holds = *seen.words() == expected;
        require!(holds, FIELDS, "{}", requests::differences(port, seen, expected))
    }
}

/// The current packet, which must exist.
#[inline]
pub fn in_flight<'a>(
    account: &'a mut Option<PacketObligations>,
    what: &str,
) -> Result<&'a mut PacketObligations, Violation> {
    let unasked = || Violation::new(UNASKED, format_args!("{what} without a packet"));
    account.as_mut().ok_or_else(unasked)
}
