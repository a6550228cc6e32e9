//! Checks of device B: received TLPs, and answers that are due. TLPs are numbered from 0 since the
//! reset.

use super::{
    ANSWER, ANSWERED, Counts, DELIVERY, DLLP_HELD, NAK_STATE, NUMBERS, Payloads, REFUSED, SILENT,
    WANTED, number, place, require,
};
use crate::blocks::dll::rtl::{Inputs, Outputs};
use cosim_core::harness::Violation;

#[derive(Debug, Clone, Default)]
pub struct DeviceB {
    /// Cycles from the first unanswered good TLP until the Ack is due.
    ack_after: u32,
    pub delivered: u64,
    /// A damaged or early TLP arrived, and the expected one has not arrived since.
    pub nak_scheduled: bool,
    /// The Nak of `nak_scheduled` was never sent, since an older one waited.
    pub nak_was_dropped: bool,
    /// Number of TLPs acknowledged by the DLLPs that were handed to the link.
    pub handed_over: u64,
    /// Payload of the expected TLP, if it arrived in the last cycle.
    wanted: Option<u32>,
    /// Cycles since the first good TLP for which no answer was due yet.
    owes: Option<u32>,
    /// The answer that is due in the next cycle.
    due: Option<Kind>,
    /// The DLLP that the link did not accept.
    waiting: Option<Dllp>,
    /// Number of TLPs that the newest DLLP on offer acknowledges.
    answered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ack,
    Nak,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dllp {
    kind: Kind,
    /// Number of TLPs that it acknowledges.
    received: u64,
}

impl DeviceB {
    pub fn new(ack_after: u32) -> Self {
        Self { ack_after, ..Self::default() }
    }

    pub fn after_reset(&self) -> Self {
        Self::new(self.ack_after)
    }

    #[inline]
    pub fn observe_deliveries(
        &mut self,
        outputs: &Outputs,
        taken: u64,
        payloads: &Payloads,
    ) -> Result<(), Violation> {
        let data = outputs.b_deliver_data.get() as u32;
        let delivers = outputs.b_deliver_valid.is_high();
        let wanted = self.wanted.take();
        let is_wanted = wanted == delivers.then_some(data);
        require!(
            is_wanted,
            WANTED,
            "payload {data:#x}, delivered: {delivers}, expected {wanted:x?}"
        )?;
        if delivers {
            let (number, expected) = (self.delivered, payloads[place(self.delivered)]);
            require!(number != taken, DELIVERY, "{data:#x}, everything was delivered before")?;
            require!(data == expected, DELIVERY, "TLP {number}: {data:#x}, not {expected:#x}")?;
            self.delivered += 1;
        }
        let (next, delivered) = (outputs.b_next_rcv_seq.get(), self.delivered);
        require!(next == delivered % NUMBERS, DELIVERY, "b_next_rcv_seq {next} after {delivered}")
    }

    /// Checks the DLLPs that B sends.
    #[inline]
    pub fn observe_answers(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        let (seen, expected) = (outputs.b_nak_scheduled.is_high(), self.nak_scheduled);
        require!(seen == expected, NAK_STATE, "b_nak_scheduled is {seen}, expected {expected}")?;
        if !outputs.b_dllp_valid.is_high() && self.due.is_none() && self.waiting.is_none() {
            return Ok(());
        }
        let shown = self.shown(outputs)?;
        let expected = self.expected();
        if shown != expected {
            return Err(self.wrong_answer(shown, expected));
        }
        self.waiting = shown.filter(|_| !inputs.b_dllp_ready.is_high());
        if let (Some(Dllp { kind, received }), None) = (shown, self.waiting) {
            self.handed_over = received;
            match kind {
                Kind::Ack => counts.acks += 1,
                Kind::Nak => counts.naks += 1,
            }
        }
        self.due = None;
        Ok(())
    }

    /// The DLLP on the pins. It must not acknowledge more than was received, nor less than the one
    /// before.
    #[inline]
    fn shown(&mut self, outputs: &Outputs) -> Result<Option<Dllp>, Violation> {
        if !outputs.b_dllp_valid.is_high() {
            return Ok(None);
        }
        let seq = outputs.b_dllp_seq.get();
        let received = number((seq + 1) % NUMBERS, self.answered);
        let (delivered, answered) = (self.delivered, self.answered);
        require!(received <= delivered, ANSWER, "{seq} of {delivered} TLPs, {answered} answered")?;
        self.answered = received;
        let kind = if outputs.b_dllp_nak.is_high() { Kind::Nak } else { Kind::Ack };
        Ok(Some(Dllp { kind, received }))
    }

    /// The DLLP that must be on the pins: the newest one, unless a Nak waits.
    #[inline]
    fn expected(&mut self) -> Option<Dllp> {
        let due = self.due.map(|kind| Dllp { kind, received: self.delivered });
        let nak_waits = self.waiting.is_some_and(|waiting| waiting.kind == Kind::Nak);
        if self.due == Some(Kind::Nak) {
            self.nak_was_dropped = nak_waits;
        }
        if nak_waits { self.waiting } else { due.or(self.waiting) }
    }

    #[cold]
    fn wrong_answer(&self, shown: Option<Dllp>, expected: Option<Dllp>) -> Violation {
        let name = |dllp: Option<Dllp>| match dllp {
            None => "no DLLP".to_owned(),
            Some(Dllp { kind, received }) => {
                format!("{kind:?} {}", (received + NUMBERS - 1) % NUMBERS)
            }
        };
        let (check, why) = match (expected, self.due) {
            (None, _) => (SILENT, "nothing is due"),
            (waiting, _) if waiting == self.waiting => (DLLP_HELD, "it waits for the link"),
            (_, Some(Kind::Nak)) => (REFUSED, "a spoiled TLP came"),
            _ => (ANSWERED, "a good TLP calls for an answer by now"),
        };
        let (shown, expected) = (name(shown), name(expected));
        Violation::new(check, format!("B offers {shown}, not {expected}: {why}"))
    }

    /// Derives obligations from a TLP.
    #[inline]
    pub fn observe_arrival(
        &mut self,
        inputs: &Inputs,
        answers_duplicates: bool,
        counts: &mut Counts,
    ) {
        let age = self.owes.map(|cycles| cycles + 1);
        (self.owes, self.due) = match age {
            Some(cycles) if cycles == self.ack_after => (None, Some(Kind::Ack)),
            age => (age, None),
        };
        if !inputs.b_link_valid.is_high() {
            return;
        }
        let whole = inputs.b_link_crc_ok.is_high();
        let behind = (self.delivered + NUMBERS - inputs.b_link_seq.get()) % NUMBERS;
        let duplicate = whole && (1..=NUMBERS / 2).contains(&behind);
        let wanted = whole && behind == 0;
        counts.tlps_damaged += u64::from(!whole);
        counts.dropped += u64::from(whole && !wanted);
        if wanted {
            self.wanted = Some(inputs.b_link_data.get() as u32);
        } else if !duplicate && !self.nak_scheduled {
            // A Nak includes the acknowledgement of the Ack that was due.
            (self.owes, self.due) = (None, Some(Kind::Nak));
            self.nak_scheduled = true;
            return;
        }
        let answers = wanted || duplicate && (answers_duplicates || !self.nak_scheduled);
        if wanted {
            self.nak_scheduled = false;
        }
        // An Ack that becomes due at the same time includes this TLP.
        if answers && age.is_none() {
            self.owes = Some(0);
        }
    }
}
