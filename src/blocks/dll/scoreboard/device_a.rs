//! Checks of device A: its buffer, replays and offers. TLPs are numbered from 0 since the reset.

use super::{
    Counts, FREED, HELD, NUMBERS, ORDER, PAYLOAD, Payloads, REPLAYS, RESENT, ROOM, STRAY, TIMEOUT,
    number, place, require,
};
use crate::blocks::dll::rtl::{Inputs, Outputs};
use cosim_core::harness::Violation;

/// Maximum number of cycles from a timeout to the next offer of the oldest TLP: the rewind, a TLP
/// that was on offer, and the delays of rewind and load.
const RESENT_WITHIN: u32 = 8;

#[derive(Debug, Clone, Default)]
pub struct DeviceA {
    /// Number of entries of the replay buffer.
    entries: u64,
    /// Cycles without progress until the timeout.
    timeout_after: u32,
    pub taken: u64,
    pub acknowledged: u64,
    pub is_ready: bool,
    /// TLPs that were handed to the link at least once.
    sent: u64,
    /// An edge has passed since the reset.
    awake: bool,
    /// The TLP on offer, if it waits.
    waiting: Option<u64>,
    /// The TLP after the last one offered.
    following: u64,
    /// A rewind happened and no offer has followed it yet.
    rewound: bool,
    replays: u64,
    /// The obligations from the last cycle.
    requested: CycleObligations,
    /// Cycles since the first of the unacknowledged TLPs was sent, or since the last progress, Nak
    /// or timeout.
    timer: u32,
    /// Cycles since the oldest unacknowledged TLP was due, without stalls of the link.
    unsent_cycles: u32,
}

/// What A must do because of the last cycle.
#[derive(Debug, Clone, Copy, Default)]
struct CycleObligations {
    /// Number of acknowledged TLPs since the reset, if it increases.
    frees: Option<u64>,
    /// A rewind by a Nak.
    nak: bool,
    /// A rewind by the timer.
    timeout: bool,
    /// `dl_error`.
    stray: bool,
}

impl DeviceA {
    pub fn new(entries: u64, timeout_after: u32) -> Self {
        Self { entries, timeout_after, ..Self::default() }
    }

    pub fn after_reset(&self) -> Self {
        Self::new(self.entries, self.timeout_after)
    }

    #[inline]
    pub fn observe(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        payloads: &mut Payloads,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        let (oldest, sent) = (self.acknowledged, self.sent);
        let (error, is_stray) = (outputs.a_dl_error.is_high(), self.requested.stray);
        require!(error == is_stray, STRAY, "a_dl_error is {error}, a stray DLLP: {is_stray}")?;
        self.observe_buffer(inputs, outputs, payloads)?;
        self.observe_replays(outputs, counts)?;
        self.observe_offer(inputs, outputs, oldest, payloads, counts)?;
        self.observe_dllp(inputs, sent, counts);
        self.run_timer(sent);
        self.awake = true;
        self.observe_resending()
    }

    #[inline]
    fn observe_buffer(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        payloads: &mut Payloads,
    ) -> Result<(), Violation> {
        let acknowledged = number((outputs.a_ackd_seq.get() + 1) % NUMBERS, self.acknowledged);
        let expected = self.requested.frees.unwrap_or(self.acknowledged);
        require!(acknowledged == expected, FREED, "{acknowledged} TLPs, expected {expected}")?;
        if acknowledged != self.acknowledged {
            self.acknowledged = acknowledged;
            self.unsent_cycles = 0;
        }
        let held = self.taken - self.acknowledged;
        self.is_ready = outputs.a_tlp_ready.is_high();
        let has_room = self.awake && held < self.entries;
        require!(self.is_ready == has_room, ROOM, "{held} TLPs held, expected {has_room}")?;
        if self.is_ready && inputs.a_tlp_valid.is_high() {
            payloads[place(self.taken)] = inputs.a_tlp_data.get() as u32;
            self.taken += 1;
        }
        Ok(())
    }

    /// REPLAY_NUM counts rewinds by Naks and timeouts.
    #[inline]
    fn observe_replays(&mut self, outputs: &Outputs, counts: &mut Counts) -> Result<(), Violation> {
        let before = self.replays;
        let rewinds = self.requested.nak || self.requested.timeout;
        if rewinds {
            self.replays += 1;
            self.rewound = true;
            counts.timeouts += u64::from(self.requested.timeout);
        } else if self.requested.frees.is_some() {
            self.replays = 0;
        }
        let rolled_over = rewinds && self.replays.is_multiple_of(4);
        counts.retrains += u64::from(outputs.a_retrain.is_high());
        let seen = outputs.a_replay_num.get();
        if seen == self.replays % 4 && outputs.a_retrain.is_high() == rolled_over {
            return Ok(());
        }
        Err(self.wrong_replays(outputs, before))
    }

    #[cold]
    fn wrong_replays(&self, outputs: &Outputs, before: u64) -> Violation {
        let seen = outputs.a_replay_num.get();
        let nothing_happened =
            !self.requested.nak && !self.requested.timeout && self.requested.frees.is_none();
        if self.requested.timeout && seen == before % 4 {
            return Violation::new(TIMEOUT, format!("none after {} cycles", self.timeout_after));
        }
        if nothing_happened && seen == (before + 1) % 4 {
            // A timer of 0 rests.
            return Violation::new(TIMEOUT, format!("one after {} cycles", self.timer));
        }
        let message = format!(
            "a_replay_num is {seen} and a_retrain {} after {} replays, {before} before",
            outputs.a_retrain.get(),
            self.replays
        );
        Violation::new(REPLAYS, message)
    }

    /// Checks the offer. `oldest` is the oldest TLP when the offer was loaded.
    #[inline]
    fn observe_offer(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        oldest: u64,
        payloads: &Payloads,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        if !outputs.a_link_valid.is_high() {
            let waiting = self.waiting.take();
            let number = waiting.unwrap_or_default();
            return require!(waiting.is_none(), HELD, "the offer of TLP {number} was withdrawn");
        }
        let (seq, data) = (outputs.a_link_seq.get(), outputs.a_link_data.get() as u32);
        // A offers the next new TLP or one that it sent before.
        let behind = (self.sent + NUMBERS - seq) % NUMBERS;
        let offered = self.sent.checked_sub(behind).filter(|offered| *offered < self.taken);
        let Some(offered) = offered else {
            return Err(Violation::new(ORDER, format!("TLP {seq:#x}, {} taken", self.taken)));
        };
        if let Some(waiting) = self.waiting {
            require!(offered == waiting, HELD, "the offer of TLP {waiting} became TLP {offered}")?;
        } else {
            // An Ack during a replay skips the TLPs that it frees.
            let expected = if self.rewound { oldest } else { self.following.max(oldest) };
            require!(offered == expected, ORDER, "TLP {offered} is offered, expected {expected}")?;
            self.rewound = false;
            self.following = offered + 1;
        }
        let taken = payloads[place(offered)];
        require!(data == taken, PAYLOAD, "TLP {offered} has {data:#x}, expected {taken:#x}")?;
        if !inputs.a_link_ready.is_high() {
            self.waiting = Some(offered);
            self.unsent_cycles = 0;
            return Ok(());
        }
        self.waiting = None;
        counts.sent += 1;
        counts.sent_again += u64::from(offered < self.sent);
        self.sent = self.sent.max(offered + 1);
        if offered == self.acknowledged {
            self.unsent_cycles = 0;
        }
        Ok(())
    }

    /// Derives obligations from a DLLP. `sent`: number of TLPs sent before this cycle.
    #[inline]
    fn observe_dllp(&mut self, inputs: &Inputs, sent: u64, counts: &mut Counts) {
        self.requested = CycleObligations::default();
        if !inputs.a_dllp_valid.is_high() {
            return;
        }
        if !inputs.a_dllp_crc_ok.is_high() {
            counts.dllps_damaged += 1;
            return;
        }
        let acknowledges = number((inputs.a_dllp_seq.get() + 1) % NUMBERS, self.acknowledged);
        // A TLP that is first sent in this cycle cannot be acknowledged yet.
        if acknowledges > sent {
            counts.out_of_range += 1;
            self.requested.stray = true;
            return;
        }
        self.requested.frees = (acknowledges > self.acknowledged).then_some(acknowledges);
        self.requested.nak = inputs.a_dllp_nak.is_high();
    }

    /// The timer runs while one of the `sent` TLPs is unacknowledged. Progress and Naks restart it.
    #[inline]
    fn run_timer(&mut self, sent: u64) {
        let restarts = self.requested.nak || self.requested.frees.is_some();
        self.timer = if restarts || sent == self.acknowledged { 0 } else { self.timer + 1 };
        self.requested.timeout = self.timer == self.timeout_after;
        if self.requested.timeout {
            self.timer = 0;
        }
    }

    #[inline]
    fn observe_resending(&mut self) -> Result<(), Violation> {
        let unacknowledged = self.taken > self.acknowledged;
        self.unsent_cycles = if unacknowledged { self.unsent_cycles + 1 } else { 0 };
        let within = self.timeout_after + RESENT_WITHIN;
        let oldest = self.acknowledged;
        require!(self.unsent_cycles <= within, RESENT, "TLP {oldest} waits {within} cycles")
    }
}
