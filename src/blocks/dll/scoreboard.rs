//! The judge at transaction level: every TLP that A takes comes out of B exactly once and in order.
//!
//! It numbers TLPs from 0 since the reset, without roll-over, and follows each of them from A's buffer
//! over the link to B. It shares no arithmetic with the golden model, and judges both models alike.

use super::Dll;
use super::rtl::{Bits1, Inputs, Outputs};
use super::rules::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT, fix};
use super::stimulus::{Fate, Traffic};
use crate::harness::{self, Violation};

/// What B delivers is what A took, each TLP once, in order.
const DELIVERY: &str = "delivered-once-in-order";
/// A TLP that arrives whole and is the wanted one is delivered in the next cycle, nothing else is.
const WANTED: &str = "wanted-is-delivered";
/// An Ack or Nak never names more than was received, and never less than the one before.
const ANSWER: &str = "answers-what-arrived";
/// A good TLP is answered within ACKNAK_LATENCY cycles, unless B may be silent.
const ANSWERED: &str = "answered-in-time";
/// A frees what a good DLLP acknowledges, when it comes, and nothing else.
const FREED: &str = "frees-what-is-acknowledged";
/// A holds no more TLPs than its buffer has entries.
const ROOM: &str = "buffer-has-room";
/// A TLP on the link has the payload that was taken with its number.
const PAYLOAD: &str = "sent-as-taken";
/// An offer to the link stays until it is taken.
const HELD: &str = "offer-held";
/// TLPs go to the link in order; after a rewind from the oldest unacknowledged one on.
const ORDER: &str = "replay-from-the-oldest";
/// REPLAY_NUM counts rewinds since the last Ack with progress, and a roll-over asks for retraining.
const REPLAYS: &str = "replays-counted";
/// The oldest unacknowledged TLP is on the link again after each timeout.
const RESENT: &str = "resent-in-time";
/// Deliveries and acknowledges go on.
const PROGRESS: &str = "progress";
/// At the end everything that may be demanded was taken, delivered and acknowledged.
const COMPLETE: &str = "complete";

/// Sequence numbers.
const NUMBERS: u64 = 4096;
/// Cycles within which the oldest TLP is handed to the link again: the timer, its rewind, a beat of
/// the replay that was on offer, and the cycles in which a rewind and a load are seen.
const RESENT_WITHIN: u32 = REPLAY_LIMIT + 8;
/// Cycles from a good TLP to the DLLP it is owed.
const ANSWER_WITHIN: u32 = ACKNAK_LATENCY + 1;
/// Cycles without progress that random loss explains (specification, section 10).
const PROGRESS_WITHIN: u64 = 20_000;

/// What the scoreboard counts without judging.
pub const COUNTERS: &[&str] = &[
    "TLPs sent",
    "TLPs sent again",
    "TLPs arrived damaged",
    "TLPs dropped",
    "TLPs lost to resets",
    "Acks",
    "Naks",
    "DLLPs arrived damaged",
    "timeouts",
    "retrains",
    "DLLPs out of range",
    "cases stalled by S3 5.8",
];

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    /// F0: B answers duplicates while a Nak is out.
    answers_duplicates: bool,
    /// TLPs the traffic offers.
    offered: u64,
    /// Cycles without progress that the traffic explains.
    patience: u64,
    /// TLPs taken, those before a reset included.
    taken_ever: u64,
    a: DeviceA,
    b: DeviceB,
    /// Payloads of the TLPs taken, by sequence number.
    payloads: Box<[u32; NUMBERS as usize]>,
    counts: Counts,
}

/// What is known of A. TLPs are numbered from 0 since the reset.
#[derive(Debug, Clone, Default)]
struct DeviceA {
    taken: u64,
    /// TLPs that were handed to the link at least once.
    sent: u64,
    acknowledged: u64,
    /// The TLP on offer, if it waits.
    waiting: Option<u64>,
    /// The TLP after the one offered last.
    following: u64,
    /// A rewind has happened that no offer has shown yet.
    rewound: bool,
    replays: u64,
    /// The rewind that the DLLP of the last cycle asks for.
    nak_came: bool,
    /// What the Ack of the last cycle acknowledges.
    ack_came: Option<u64>,
    /// Cycles since the oldest unacknowledged TLP was sent, without stalls of the link.
    unsent_cycles: u32,
    idle_cycles: u64,
}

/// What is known of B.
#[derive(Debug, Clone, Default)]
struct DeviceB {
    delivered: u64,
    /// Payload of the wanted TLP that came in the last cycle.
    wanted: Option<u32>,
    /// TLPs that the newest DLLP on offer acknowledges.
    answered: u64,
    /// Cycles an answer has been owed.
    owes: Option<u32>,
    /// B is silent until the wanted TLP comes, as far as S3 5.8 lets it.
    nak_scheduled: bool,
    ready_for_more: bool,
}

/// What is counted without being judged.
#[derive(Debug, Clone, Default)]
struct Counts {
    sent: u64,
    sent_again: u64,
    tlps_damaged: u64,
    dropped: u64,
    lost_to_resets: u64,
    acks: u64,
    naks: u64,
    dllps_damaged: u64,
    timeouts: u64,
    retrains: u64,
    out_of_range: u64,
    stalled: u64,
}

fn high(pin: Bits1) -> bool {
    pin.get() == 1
}

/// The number from `low` on whose sequence number is `seq`.
fn number(seq: u64, low: u64) -> u64 {
    low + (seq + NUMBERS - low % NUMBERS) % NUMBERS
}

/// Cycles without progress that a traffic explains beyond random loss.
fn explained(traffic: &Traffic) -> u64 {
    fn spoiled<Damage>(fates: &[Fate<Damage>]) -> u64 {
        let spoiling = fates.iter().filter(|fate| fate.spoils());
        spoiling.map(Fate::count).sum()
    }
    let stalls = traffic.link_stalls.iter().chain(&traffic.dllp_stalls);
    let stalls: u64 = stalls.map(|stall| stall.get()).sum();
    let links = [spoiled(&traffic.ack_link), spoiled(&traffic.nak_link)];
    let spoiled = spoiled(&traffic.tlp_link) + links[0] + links[1];
    // A spoiled transmission costs a timeout at most, and the way there and back.
    let round = u64::from(REPLAY_LIMIT + ACKNAK_LATENCY) + 2 * 512;
    stalls + spoiled * round
}

impl Scoreboard {
    /// A's pins: the buffer.
    #[inline]
    fn observe_buffer(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let a = &mut self.a;
        let acknowledged = number((outputs.a_ackd_seq.get() + 1) % NUMBERS, a.acknowledged);
        let expected = a.ack_came.take().unwrap_or(a.acknowledged);
        if acknowledged != expected {
            let message = format!(
                "a_ackd_seq is {}: {acknowledged} TLPs are free, {expected} were acknowledged",
                outputs.a_ackd_seq.get()
            );
            return Err(Violation::new(FREED, message));
        }
        if acknowledged != a.acknowledged {
            a.acknowledged = acknowledged;
            (a.unsent_cycles, a.idle_cycles) = (0, 0);
        }
        if high(inputs.a_tlp_valid) && high(outputs.a_tlp_ready) {
            self.payloads[(a.taken % NUMBERS) as usize] = inputs.a_tlp_data.get() as u32;
            a.taken += 1;
            self.taken_ever += 1;
            let held = a.taken - a.acknowledged;
            if held > u64::from(REPLAY_DEPTH) {
                let message = format!("A took TLP {}, its buffer holds {held}", a.taken - 1);
                return Err(Violation::new(ROOM, message));
            }
        }
        Ok(())
    }

    /// REPLAY_NUM tells of rewinds: those that a Nak asked for, and timeouts.
    #[inline]
    fn observe_replays(
        &mut self,
        outputs: &Outputs,
        asked: bool,
        freed: bool,
    ) -> Result<(), Violation> {
        let a = &mut self.a;
        let seen = outputs.a_replay_num.get();
        let before = a.replays;
        if asked {
            a.replays += 1;
        } else if freed {
            a.replays = 0;
        } else if seen == (before + 1) % 4 && a.sent > a.acknowledged {
            a.replays += 1;
            self.counts.timeouts += 1;
        }
        a.rewound |= a.replays > before;
        let rolled_over = a.replays > before && a.replays.is_multiple_of(4);
        self.counts.retrains += u64::from(high(outputs.a_retrain));
        if seen != a.replays % 4 || high(outputs.a_retrain) != rolled_over {
            let message = format!(
                "a_replay_num is {seen} and a_retrain {} after {} replays, {before} before",
                outputs.a_retrain.get(),
                a.replays
            );
            return Err(Violation::new(REPLAYS, message));
        }
        Ok(())
    }

    /// A's pins: the offer. `oldest` is the oldest TLP when the offer was loaded.
    #[inline]
    fn observe_offer(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        oldest: u64,
    ) -> Result<(), Violation> {
        let a = &mut self.a;
        if !high(outputs.a_link_valid) {
            if let Some(waiting) = a.waiting.take() {
                let message = format!("the offer of TLP {waiting} was withdrawn");
                return Err(Violation::new(HELD, message));
            }
            return Ok(());
        }
        let (seq, data) = (outputs.a_link_seq.get(), outputs.a_link_data.get() as u32);
        // A offers the next new TLP, or one that was sent before.
        let behind = (a.sent + NUMBERS - seq) % NUMBERS;
        let Some(offered) = a.sent.checked_sub(behind).filter(|offered| *offered < a.taken) else {
            let message =
                format!("TLP {seq:#x} is offered; {} were sent, {} taken", a.sent, a.taken);
            return Err(Violation::new(ORDER, message));
        };
        match a.waiting {
            Some(waiting) if waiting != offered => {
                let message = format!("the offer of TLP {waiting} became TLP {offered}");
                return Err(Violation::new(HELD, message));
            }
            Some(_) => {}
            None => {
                // An Ack that overtakes a replay skips what it frees.
                let expected = if a.rewound { oldest } else { a.following.max(oldest) };
                if offered != expected {
                    let why = if a.rewound { "after a rewind" } else { "in order" };
                    let message = format!("TLP {offered} is offered, TLP {expected} is next {why}");
                    return Err(Violation::new(ORDER, message));
                }
                a.rewound = false;
                a.following = offered + 1;
            }
        }
        let taken = self.payloads[(offered % NUMBERS) as usize];
        if data != taken {
            let message =
                format!("TLP {offered} has payload {data:#x}, it was taken with {taken:#x}");
            return Err(Violation::new(PAYLOAD, message));
        }
        if !high(inputs.a_link_ready) {
            a.waiting = Some(offered);
            a.unsent_cycles = 0;
            return Ok(());
        }
        a.waiting = None;
        self.counts.sent += 1;
        if offered == a.sent {
            a.sent += 1;
        } else {
            self.counts.sent_again += 1;
        }
        if offered == a.acknowledged {
            a.unsent_cycles = 0;
        }
        Ok(())
    }

    /// What a DLLP asks of A.
    #[inline]
    fn observe_dllp_at_a(&mut self, inputs: &Inputs, sent_before: u64) {
        let a = &mut self.a;
        (a.nak_came, a.ack_came) = (false, None);
        if !high(inputs.a_dllp_valid) {
            return;
        }
        if !high(inputs.a_dllp_crc_ok) {
            self.counts.dllps_damaged += 1;
            return;
        }
        let acknowledges = number((inputs.a_dllp_seq.get() + 1) % NUMBERS, a.acknowledged);
        // What was first sent in this very cycle cannot have been answered.
        if acknowledges > sent_before {
            self.counts.out_of_range += 1;
            return;
        }
        a.ack_came = (acknowledges > a.acknowledged).then_some(acknowledges);
        a.nak_came = high(inputs.a_dllp_nak);
    }

    #[inline]
    fn observe_deliveries(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let b = &mut self.b;
        let data = outputs.b_deliver_data.get() as u32;
        let delivers = high(outputs.b_deliver_valid);
        if b.wanted.take() != delivers.then_some(data) {
            let message = format!(
                "b_deliver_valid is {}, payload {data:#x}, which is not what came before it",
                outputs.b_deliver_valid.get()
            );
            return Err(Violation::new(WANTED, message));
        }
        if delivers {
            if b.delivered == self.a.taken {
                let message = format!("payload {data:#x} is delivered, everything was before");
                return Err(Violation::new(DELIVERY, message));
            }
            let taken = self.payloads[(b.delivered % NUMBERS) as usize];
            if data != taken {
                let message = format!(
                    "payload {data:#x} is delivered, TLP {} was taken with {taken:#x}",
                    b.delivered
                );
                return Err(Violation::new(DELIVERY, message));
            }
            b.delivered += 1;
            self.a.idle_cycles = 0;
        }
        if outputs.b_next_rcv_seq.get() != b.delivered % NUMBERS {
            let message = format!(
                "b_next_rcv_seq is {} after {} deliveries",
                outputs.b_next_rcv_seq.get(),
                b.delivered
            );
            return Err(Violation::new(DELIVERY, message));
        }
        Ok(())
    }

    #[inline]
    fn observe_answers(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let b = &mut self.b;
        if !high(outputs.b_dllp_valid) {
            b.owes = b.owes.map(|cycles| cycles + 1);
            if b.owes.is_some_and(|cycles| cycles >= ANSWER_WITHIN) {
                let message = format!("no DLLP for {ANSWER_WITHIN} cycles after a good TLP");
                return Err(Violation::new(ANSWERED, message));
            }
            return Ok(());
        }
        b.owes = None;
        let seq = outputs.b_dllp_seq.get();
        let answers = number((seq + 1) % NUMBERS, b.answered);
        if answers > b.delivered {
            let message = format!(
                "a DLLP names {seq}; {} TLPs were received and {} answered",
                b.delivered, b.answered
            );
            return Err(Violation::new(ANSWER, message));
        }
        b.answered = answers;
        if high(inputs.b_dllp_ready) {
            match high(outputs.b_dllp_nak) {
                true => self.counts.naks += 1,
                false => self.counts.acks += 1,
            }
        }
        Ok(())
    }

    /// What a TLP asks of B.
    #[inline]
    fn observe_tlp_at_b(&mut self, inputs: &Inputs) {
        let b = &mut self.b;
        if !high(inputs.b_link_valid) {
            return;
        }
        if !high(inputs.b_link_crc_ok) {
            self.counts.tlps_damaged += 1;
            return;
        }
        let wanted = inputs.b_link_seq.get() == b.delivered % NUMBERS;
        let behind = (b.delivered + NUMBERS - inputs.b_link_seq.get()) % NUMBERS;
        let duplicate = (1..=NUMBERS / 2).contains(&behind);
        if wanted {
            b.wanted = Some(inputs.b_link_data.get() as u32);
        } else {
            self.counts.dropped += 1;
        }
        let answers = wanted || duplicate && (self.answers_duplicates || !b.nak_scheduled);
        if answers && b.owes.is_none() {
            b.owes = Some(0);
        }
    }

    /// Nothing is awaited for longer than it may take.
    #[inline]
    fn observe_progress(&mut self) -> Result<(), Violation> {
        let Self { a, b, .. } = self;
        let unacknowledged = a.taken > a.acknowledged;
        a.unsent_cycles = if unacknowledged { a.unsent_cycles + 1 } else { 0 };
        if a.unsent_cycles > RESENT_WITHIN {
            let message = format!(
                "TLP {} is unacknowledged and was not sent for {RESENT_WITHIN} cycles",
                a.acknowledged
            );
            return Err(Violation::new(RESENT, message));
        }
        let awaited = b.delivered < a.taken || unacknowledged && self.answers_duplicates;
        a.idle_cycles = if awaited { a.idle_cycles + 1 } else { 0 };
        if a.idle_cycles > self.patience {
            let message = format!(
                "{} TLPs taken, {} delivered, {} acknowledged, and nothing more for {} cycles",
                a.taken, b.delivered, a.acknowledged, self.patience
            );
            return Err(Violation::new(PROGRESS, message));
        }
        Ok(())
    }
}

impl harness::Scoreboard<'_, Dll> for Scoreboard {
    fn new(traffic: &Traffic, mask: u8) -> Self {
        Self {
            answers_duplicates: mask & fix(0) != 0,
            offered: traffic.total(),
            patience: PROGRESS_WITHIN + explained(traffic),
            taken_ever: 0,
            a: DeviceA::default(),
            b: DeviceB::default(),
            payloads: Box::new([0; NUMBERS as usize]),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if high(inputs.rst) {
            self.counts.lost_to_resets += self.a.taken - self.b.delivered;
            (self.a, self.b) = Default::default();
            return Ok(());
        }
        self.b.nak_scheduled = high(outputs.b_nak_scheduled);
        self.b.ready_for_more = high(outputs.a_tlp_ready);
        self.observe_deliveries(outputs)?;
        self.observe_answers(inputs, outputs)?;
        let oldest = self.a.acknowledged;
        let (asked, freed) = (self.a.nak_came, self.a.ack_came.is_some());
        let sent = self.a.sent;
        self.observe_buffer(inputs, outputs)?;
        self.observe_replays(outputs, asked, freed)?;
        self.observe_offer(inputs, outputs, oldest)?;
        self.observe_dllp_at_a(inputs, sent);
        self.observe_tlp_at_b(inputs);
        self.observe_progress()
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let Self { a, b, offered, taken_ever, .. } = self;
        let object = |what: &str, done: u64, due: u64| {
            let message = format!("{done} of {due} TLPs {what}");
            Err(Violation::new(COMPLETE, message))
        };
        if b.delivered < a.taken {
            return object("taken were delivered", b.delivered, a.taken);
        }
        // Specification, section 10: B has everything and is silent, A gets nothing new.
        let gets_more = b.ready_for_more && *taken_ever < *offered;
        let stalled = b.nak_scheduled && a.acknowledged < a.taken && !gets_more;
        if stalled && !self.answers_duplicates {
            self.counts.stalled += 1;
            return Ok(());
        }
        if *taken_ever < *offered {
            return object("offered were taken", *taken_ever, *offered);
        }
        if a.acknowledged < a.taken {
            return object("taken were acknowledged", a.acknowledged, a.taken);
        }
        Ok(())
    }

    fn counters(&self) -> Vec<u64> {
        let Counts {
            sent,
            sent_again,
            tlps_damaged,
            dropped,
            lost_to_resets,
            acks,
            naks,
            dllps_damaged,
            timeouts,
            retrains,
            out_of_range,
            stalled,
        } = self.counts;
        vec![
            sent,
            sent_again,
            tlps_damaged,
            dropped,
            lost_to_resets,
            acks,
            naks,
            dllps_damaged,
            timeouts,
            retrains,
            out_of_range,
            stalled,
        ]
    }
}

#[cfg(test)]
mod tests;
