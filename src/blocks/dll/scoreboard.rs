//! The checks at transaction level: every TLP that A takes comes out of B exactly once and in
//! order.
//!
//! It numbers TLPs from 0 since the reset, without roll-over, and tracks each from A's buffer over
//! the link to B. What arrived at a device determines what it must do. The scoreboard shares no
//! arithmetic and no constants with the golden model, and checks both models.

mod device_a;
mod device_b;

use super::rtl::{Bits12, Inputs, Outputs};
use super::rules::parameters;
use super::traffic::{LinkEffect, Traffic};
use cosim_core::harness::{self, Counter, Parameters, Violation, check_list, in_reset, require};
use device_a::DeviceA;
use device_b::DeviceB;

cosim_core::check_names! {
    CHECKS;
    /// B delivers each TLP that A accepted once and in order.
    DELIVERY = "delivered-once-in-order";
    /// B delivers an undamaged TLP with the expected number in the next cycle, and nothing else.
    WANTED = "wanted-is-delivered";
    /// An Ack or Nak never acknowledges more than was received, and never less than the one before.
    ANSWER = "answers-what-arrived";
    /// An Ack of everything received comes ACKNAK_LATENCY cycles after the first unanswered good
    /// TLP, unless a Nak waits.
    ANSWERED = "answered-in-time";
    /// The first damaged or early TLP causes a Nak at once.
    REFUSED = "spoiled-brings-a-nak";
    /// B sends only what is due: no early Ack, one Nak only, and then no more.
    SILENT = "silent-until-due";
    /// A DLLP stays until the link accepts it or a newer one may replace it.
    DLLP_HELD = "dllp-held";
    /// NAK_SCHEDULED is 1 from a damaged or early TLP until the expected one.
    NAK_STATE = "nak-until-the-wanted";
    /// A frees exactly what a good DLLP acknowledges, when it arrives.
    FREED = "frees-what-is-acknowledged";
    /// A accepts TLPs exactly while its buffer has room.
    ROOM = "buffer-has-room";
    /// A TLP on the link has the payload that A accepted with its number.
    PAYLOAD = "sent-as-taken";
    /// An offer to the link stays until it is accepted.
    HELD = "offer-held";
    /// TLPs go to the link in order, and after a rewind again from the oldest unacknowledged one.
    ORDER = "replay-from-the-oldest";
    /// A rewinds REPLAY_LIMIT cycles after the first TLP, or the last progress, Nak or timeout.
    TIMEOUT = "timeout-in-time";
    /// REPLAY_NUM counts rewinds since the last Ack with progress. A roll-over requests retraining.
    REPLAYS = "replays-counted";
    /// The oldest unacknowledged TLP is sent again after each timeout.
    RESENT = "resent-in-time";
    /// A DLLP is an error exactly if its number was not sent, or was acknowledged long ago.
    STRAY = "stray-dllp-is-an-error";
    /// A numbers TLPs in the order in which it accepts them.
    NUMBERED = "numbered-as-taken";
    /// Deliveries and acknowledgements make progress.
    PROGRESS = "progress";
    /// At the end every TLP is accepted, delivered and acknowledged, except for known stalls.
    COMPLETE = "complete";
    /// In reset every output has its reset value.
    RESET = "values-in-reset";
    /// Payload keeps its value while its valid is 0.
    KEPT = "payload-kept";
}

/// Sequence numbers.
const NUMBERS: u64 = 4096;
/// Cycles without progress to tolerate with random loss (specification, section 10).
const PROGRESS_WITHIN: u64 = 20_000;
/// Cycles without progress to tolerate per cycle of both timers, if these are long.
const PROGRESS_PER_TIMER_CYCLE: u64 = 250;
/// Maximum number of cycles for the way there and back.
const WAYS: u64 = 2 * 512;

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    /// F0: B answers duplicates while a Nak is out.
    answers_duplicates: bool,
    /// Replays reach the end of the buffer before the timer expires, if the link is ready.
    replays_end: bool,
    /// Number of TLPs in the traffic.
    offered: u64,
    /// Cycles without progress that the traffic can cause.
    progress_timeout: u64,
    /// Cycles without progress so far.
    idle_cycles: u64,
    /// TLPs accepted before the last reset.
    taken_before: u64,
    a: DeviceA,
    b: DeviceB,
    payloads: Payloads,
    /// The outputs of the last cycle.
    shown: Outputs,
    counts: Counts,
}

/// Payloads of accepted TLPs, by [`place`].
type Payloads = Box<[u32; NUMBERS as usize]>;

#[inline]
const fn place(number: u64) -> usize {
    (number % NUMBERS) as usize
}

/// Counters for the report.
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

/// The TLP number from `low` on that has this sequence number.
#[inline]
fn number(seq: u64, low: u64) -> u64 {
    low + (seq + NUMBERS - low % NUMBERS) % NUMBERS
}

/// Cycles without progress that the traffic can cause, beyond random loss.
fn explained(traffic: &Traffic, timers: u64) -> u64 {
    fn spoiled<Damage>(effects: &[LinkEffect<Damage>]) -> u64 {
        let spoiling = effects.iter().filter(|effect| effect.spoils());
        spoiling.map(LinkEffect::count).sum()
    }
    let stalls = traffic.link_stalls.iter().chain(&traffic.dllp_stalls);
    let stalls: u64 = stalls.map(|stall| stall.get()).sum();
    let dllps = spoiled(&traffic.ack_link) + spoiled(&traffic.nak_link);
    let spoiled = spoiled(&traffic.tlp_link) + dllps;
    stalls + spoiled * (timers + WAYS)
}

impl Scoreboard {
    /// Checks that progress does not take too long.
    #[inline]
    fn observe_progress(&mut self, progress_before: u64) -> Result<(), Violation> {
        let Self { a, b, .. } = self;
        let unacknowledged = a.taken > a.acknowledged;
        let delivers = self.replays_end || self.answers_duplicates;
        let awaited =
            b.delivered < a.taken && delivers || unacknowledged && self.answers_duplicates;
        let goes_on = a.acknowledged + b.delivered > progress_before;
        self.idle_cycles = if awaited && !goes_on { self.idle_cycles + 1 } else { 0 };
        let (is_in_time, within) = (self.idle_cycles <= self.progress_timeout, self.idle_cycles);
        let (taken, delivered) = (a.taken, b.delivered);
        require!(is_in_time, PROGRESS, "{delivered} of {taken} TLPs, no more in {within} cycles")
    }

    /// Checks that payload keeps its value while its valid is 0.
    #[inline]
    fn observe_payloads(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let before = &self.shown;
        let link = |pins: &Outputs| (pins.a_link_seq, pins.a_link_data);
        let dllp = |pins: &Outputs| (pins.b_dllp_nak, pins.b_dllp_seq);
        let require = |valid: bool, is_kept: bool, channel: &str| {
            require!(valid | is_kept, KEPT, "{channel}_valid is 0, and its payload changes")
        };
        require(outputs.a_link_valid.is_high(), link(outputs) == link(before), "a_link")?;
        let is_kept = outputs.b_deliver_data == before.b_deliver_data;
        require(outputs.b_deliver_valid.is_high(), is_kept, "b_deliver")?;
        require(outputs.b_dllp_valid.is_high(), dllp(outputs) == dllp(before), "b_dllp")?;
        self.shown = *outputs;
        Ok(())
    }

    /// The stall of section 10 of the specification: B has every TLP that A accepted and sends
    /// nothing after its Nak, while A did not receive the Nak and gets no new TLP.
    pub(crate) fn is_stalled(&self) -> bool {
        let Self { a, b, .. } = self;
        let gets_more = a.is_ready && self.taken_before + a.taken < self.offered;
        let heard_nothing = b.nak_was_dropped || b.handed_over > a.acknowledged;
        let unacknowledged = a.acknowledged < a.taken;
        // If replays do not end, B may also wait for a TLP that A never reaches.
        let never_comes = b.delivered == a.taken && !gets_more || !self.replays_end;
        b.nak_scheduled && heard_nothing && unacknowledged && never_comes
    }
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        check_list(CHECKS)
    }

    fn new(traffic: &Traffic, parameters: &Parameters) -> Self {
        let depth = parameters.get(parameters::REPLAY_DEPTH);
        // At most half the sequence numbers, less one, can be unacknowledged.
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
            payloads: Box::new([0; NUMBERS as usize]),
            shown: Outputs::default(),
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
            self.shown = Outputs::default();
            let expected = Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() };
            return in_reset(RESET, outputs, &expected);
        }
        let (progress, taken) = (a.acknowledged + b.delivered, a.taken);
        b.observe_deliveries(outputs, a.taken, payloads)?;
        b.observe_answers(inputs, outputs, counts)?;
        b.observe_arrival(inputs, self.answers_duplicates, counts);
        a.observe(inputs, outputs, payloads, counts)?;
        let next = outputs.a_next_seq.get();
        require!(next == taken % NUMBERS, NUMBERED, "a_next_seq is {next} after {taken} TLPs")?;
        self.observe_payloads(outputs)?;
        self.observe_progress(progress)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let require = |what: &str, done: u64, due: u64| {
            require!(done >= due, COMPLETE, "{done} of {due} TLPs {what}")
        };
        let (taken, delivered) = (self.a.taken, self.b.delivered);
        if !self.answers_duplicates && self.is_stalled() {
            self.counts.stalled += 1;
            return Ok(());
        }
        require("taken were delivered", delivered, taken)?;
        require("offered were taken", self.taken_before + taken, self.offered)?;
        require("taken were acknowledged", self.a.acknowledged, taken)
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
