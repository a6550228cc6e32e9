//! The judge at transaction level: every TLP that A takes comes out of B exactly once and in order.
//!
//! It numbers TLPs from 0 since the reset, without roll-over, and follows each of them from A's buffer
//! over the link to B. What each device owes, and when, it derives from what arrived. It shares no
//! arithmetic and no constants with the golden model, and judges both models alike.

mod device_a;
mod device_b;
mod pins;

use super::Dll;
use super::parameters;
use super::rtl::{Inputs, Outputs};
use super::stimulus::{LinkEffect, Traffic};
use cosim_core::harness::{self, Counter, Parameters, Violation};
use device_a::DeviceA;
use device_b::DeviceB;

/// What B delivers is what A took, each TLP once, in order.
const DELIVERY: &str = "delivered-once-in-order";
/// A TLP that arrives whole and is the wanted one is delivered in the next cycle, nothing else is.
const WANTED: &str = "wanted-is-delivered";
/// An Ack or Nak never names more than was received, and never less than the one before.
const ANSWER: &str = "answers-what-arrived";
/// An Ack of everything received comes ACKNAK_LATENCY cycles after the good TLP that first called for
/// it, unless a Nak waits.
const ANSWERED: &str = "answered-in-time";
/// The first bad or early TLP brings a Nak at once.
const REFUSED: &str = "spoiled-brings-a-nak";
/// B says nothing that is not due: no early Ack, one Nak only, silence after it.
const SILENT: &str = "silent-until-due";
/// A DLLP stays until the link takes it, but for a newer one that may take its place.
const DLLP_HELD: &str = "dllp-held";
/// NAK_SCHEDULED is up from a spoiled TLP until the wanted one.
const NAK_STATE: &str = "nak-until-the-wanted";
/// A frees what a good DLLP acknowledges, when it comes, and nothing else.
const FREED: &str = "frees-what-is-acknowledged";
/// A takes TLPs while its buffer has room, and only then.
const ROOM: &str = "buffer-has-room";
/// A TLP on the link has the payload that was taken with its number.
const PAYLOAD: &str = "sent-as-taken";
/// An offer to the link stays until it is taken.
const HELD: &str = "offer-held";
/// TLPs go to the link in order; after a rewind from the oldest unacknowledged one on.
const ORDER: &str = "replay-from-the-oldest";
/// A rewinds by itself REPLAY_LIMIT cycles after the first TLP, or the last progress, Nak or timeout.
const TIMEOUT: &str = "timeout-in-time";
/// REPLAY_NUM counts rewinds since the last Ack with progress, and a roll-over asks for retraining.
const REPLAYS: &str = "replays-counted";
/// The oldest unacknowledged TLP is on the link again after each timeout.
const RESENT: &str = "resent-in-time";
/// A DLLP that names what was not sent, or what was long acknowledged, is an error, nothing else is.
const STRAY: &str = "stray-dllp-is-an-error";
/// A numbers its TLPs in the order in which it takes them.
const NUMBERED: &str = "numbered-as-taken";
/// Deliveries and acknowledges go on.
const PROGRESS: &str = "progress";
/// At the end everything that may be demanded was taken, delivered and acknowledged.
const COMPLETE: &str = "complete";

/// Sequence numbers.
const NUMBERS: u64 = 4096;
/// Cycles without progress that random loss explains (specification, section 10).
const PROGRESS_WITHIN: u64 = 20_000;
/// The same for each cycle of both timers, where these are long.
const PROGRESS_PER_TIMER_CYCLE: u64 = 250;
/// Cycles of the way there and back at most.
const WAYS: u64 = 2 * 512;

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    /// F0: B answers duplicates while a Nak is out.
    answers_duplicates: bool,
    /// Replays come to the buffer's end before the timer expires, if the link is ready.
    replays_end: bool,
    /// TLPs the traffic offers.
    offered: u64,
    /// Cycles without progress that the traffic explains.
    progress_timeout: u64,
    /// Cycles without progress so far.
    idle_cycles: u64,
    /// TLPs taken before the last reset.
    taken_before: u64,
    a: DeviceA,
    b: DeviceB,
    payloads: Payloads,
    /// What the payload pins held in the last cycle.
    shown: pins::Payloads,
    counts: Counts,
}

/// Payloads of the TLPs taken.
#[derive(Debug, Clone)]
struct Payloads(Box<[u32; NUMBERS as usize]>);

impl Payloads {
    #[inline]
    fn of(&self, number: u64) -> u32 {
        self.0[(number % NUMBERS) as usize]
    }

    #[inline]
    fn keep(&mut self, number: u64, payload: u32) {
        self.0[(number % NUMBERS) as usize] = payload;
    }
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

/// The number from `low` on whose sequence number is `seq`.
#[inline]
fn number(seq: u64, low: u64) -> u64 {
    low + (seq + NUMBERS - low % NUMBERS) % NUMBERS
}

/// Cycles without progress that a traffic explains beyond random loss.
fn explained(traffic: &Traffic, timers: u64) -> u64 {
    fn spoiled<Damage>(fates: &[LinkEffect<Damage>]) -> u64 {
        let spoiling = fates.iter().filter(|fate| fate.spoils());
        spoiling.map(LinkEffect::count).sum()
    }
    let stalls = traffic.link_stalls.iter().chain(&traffic.dllp_stalls);
    let stalls: u64 = stalls.map(|stall| stall.get()).sum();
    let links = [spoiled(&traffic.ack_link), spoiled(&traffic.nak_link)];
    let spoiled = spoiled(&traffic.tlp_link) + links[0] + links[1];
    stalls + spoiled * (timers + WAYS)
}

impl Scoreboard {
    /// Nothing is awaited for longer than it may take.
    #[inline]
    fn observe_progress(&mut self, progress_before: u64) -> Result<(), Violation> {
        let Self { a, b, .. } = self;
        let unacknowledged = a.taken > a.acknowledged;
        let delivers = self.replays_end || self.answers_duplicates;
        let awaited =
            b.delivered < a.taken && delivers || unacknowledged && self.answers_duplicates;
        let goes_on = a.acknowledged + b.delivered > progress_before;
        self.idle_cycles = if awaited && !goes_on { self.idle_cycles + 1 } else { 0 };
        if self.idle_cycles > self.progress_timeout {
            let message = format!(
                "no progress after {} TLPs taken, {} delivered and {} acknowledged, for {} cycles",
                a.taken, b.delivered, a.acknowledged, self.progress_timeout
            );
            return Err(Violation::new(PROGRESS, message));
        }
        Ok(())
    }

    /// The stall of the specification's section 10: B has everything A took and keeps silent after
    /// its Nak, A has not heard the Nak and gets nothing new.
    pub(crate) fn is_stalled(&self) -> bool {
        let Self { a, b, .. } = self;
        let gets_more = a.is_ready && self.taken_before + a.taken < self.offered;
        let heard_nothing = b.nak_was_dropped || b.handed_over > a.acknowledged;
        let unacknowledged = a.acknowledged < a.taken;
        // Where replays do not end, B may also wait for what A has and never comes to.
        let never_comes = b.delivered == a.taken && !gets_more || !self.replays_end;
        b.nak_scheduled && heard_nothing && unacknowledged && never_comes
    }
}

impl harness::Scoreboard<'_, Dll> for Scoreboard {
    const CHECKS: &'static [&'static str] = &[
        DELIVERY,
        WANTED,
        ANSWER,
        ANSWERED,
        REFUSED,
        SILENT,
        DLLP_HELD,
        NAK_STATE,
        FREED,
        ROOM,
        PAYLOAD,
        HELD,
        ORDER,
        TIMEOUT,
        REPLAYS,
        RESENT,
        STRAY,
        NUMBERED,
        PROGRESS,
        COMPLETE,
        pins::RESET,
        pins::KEPT,
    ];

    fn new(traffic: &Traffic, parameters: &Parameters) -> Self {
        let depth = parameters.get(parameters::REPLAY_DEPTH);
        // Half the sequence numbers can never be unacknowledged.
        let entries = depth.min(NUMBERS / 2 - 1);
        let limit = parameters.get(parameters::REPLAY_LIMIT);
        let latency = parameters.get(parameters::ACKNAK_LATENCY);
        let timers = limit + latency;
        Self {
            answers_duplicates: parameters.fixes() & 0x01 != 0,
            replays_end: parameters::replays_end(parameters),
            offered: traffic.total(),
            progress_timeout: PROGRESS_WITHIN.max(PROGRESS_PER_TIMER_CYCLE * timers)
                + explained(traffic, timers),
            idle_cycles: 0,
            taken_before: 0,
            a: DeviceA::new(entries, limit as u32),
            b: DeviceB::new(latency as u32),
            payloads: Payloads(Box::new([0; NUMBERS as usize])),
            shown: pins::Payloads::default(),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let Self { a, b, payloads, counts, .. } = self;
        if inputs.rst.is_high() {
            counts.lost_to_resets += a.taken - b.delivered;
            self.taken_before += a.taken;
            (self.a, self.b) = (a.after_reset(), b.after_reset());
            self.idle_cycles = 0;
            self.shown = pins::Payloads::default();
            return pins::in_reset(outputs);
        }
        let (progress, taken) = (a.acknowledged + b.delivered, a.taken);
        b.observe_deliveries(outputs, a.taken, payloads)?;
        b.observe_answers(inputs, outputs, counts)?;
        b.observe_arrival(inputs, self.answers_duplicates, counts);
        a.observe(inputs, outputs, payloads, counts)?;
        if outputs.a_next_seq.get() != taken % NUMBERS {
            let next = outputs.a_next_seq.get();
            let message = format!("a_next_seq is {next} after {taken} TLPs were taken");
            return Err(Violation::new(NUMBERED, message));
        }
        self.shown.observe(outputs)?;
        self.observe_progress(progress)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let object = |what: &str, done: u64, due: u64| {
            let message = format!("{done} of {due} TLPs {what}");
            Err(Violation::new(COMPLETE, message))
        };
        let (taken, delivered) = (self.a.taken, self.b.delivered);
        if !self.answers_duplicates && self.is_stalled() {
            self.counts.stalled += 1;
            return Ok(());
        }
        if delivered < taken {
            return object("taken were delivered", delivered, taken);
        }
        let taken_ever = self.taken_before + taken;
        if taken_ever < self.offered {
            return object("offered were taken", taken_ever, self.offered);
        }
        if self.a.acknowledged < taken {
            return object("taken were acknowledged", self.a.acknowledged, taken);
        }
        Ok(())
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("TLPs sent", |board| board.counts.sent),
            Counter::sum("TLPs sent again", |board| board.counts.sent_again),
            Counter::sum("TLPs arrived damaged", |board| board.counts.tlps_damaged),
            Counter::sum("TLPs dropped", |board| board.counts.dropped),
            Counter::sum("TLPs lost to resets", |board| board.counts.lost_to_resets),
            Counter::sum("Acks", |board| board.counts.acks),
            Counter::sum("Naks", |board| board.counts.naks),
            Counter::sum("DLLPs arrived damaged", |board| board.counts.dllps_damaged),
            Counter::sum("timeouts", |board| board.counts.timeouts),
            Counter::sum("retrains", |board| board.counts.retrains),
            Counter::sum("DLLPs out of range", |board| board.counts.out_of_range),
            Counter::sum("cases stalled by S3 5.8", |board| board.counts.stalled),
        ]
    }
}

#[cfg(test)]
mod tests;
