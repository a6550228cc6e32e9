//! The checks at transaction level: the location of each buffer, the outcome of each packet, and
//! that each credit is sent once.
//!
//! It tracks messages by the transfers on the pins and has no transition table. The progress of a
//! message determines which packets may be accepted and what must happen in the same cycle. It
//! checks both models.

mod messages;

use super::environment::Receiver;
use super::kind_name;
use super::rtl::{Bits1, Inputs, Outputs};
use super::rules::State;
use super::rules::parameters::{self, HIGH, KEEP, LOW, is_repaired};
use super::traffic::{DP, EAGER, RNDV_DATA, Traffic};
use cosim_core::harness::{
    self, Counter, Parameters, Violation, check_list, in_reset, require, require_equal,
    require_idle,
};
use messages::{
    AWAIT_UNEXP_DP, BETWEEN, Cp, DETERMINE_CP_TYPE, MessageState, PROC_UNEXP_DP, RECV_POSTED_DATA,
};

cosim_core::check_names! {
    CHECKS;
    /// In reset every output is 0.
    IN_RESET = "silent-in-reset";
    /// After reset the ring is full.
    FULL = "ring-full-after-reset";
    /// Payload is 0 while its valid is 0.
    IDLE = "idle-pins-are-0";
    /// The total of buffers in the ring, free, with a packet and kept is constant.
    CONSERVED = "buffers-are-conserved";
    /// The state fits the progress of the message.
    STATE = "state-by-what-is-awaited";
    /// Buffers go into the ring exactly when it is low.
    REFILLED = "refill-when-low";
    /// A refill uses as many buffers as are free and fit.
    AS_MANY = "refill-as-far-as-possible";
    /// Each buffer that goes into the ring is a credit, which is on offer until it is accepted
    /// once.
    CREDIT = "each-credit-once";
    /// A packet is accepted only with a buffer, after the packet before it is processed, and,
    /// during a posted message, only if it belongs to that message.
    TAKEN = "taken-when-its-turn";
    /// The block is ready exactly when it can accept a packet, whether there is one or not.
    READY = "ready-where-it-can-take";
    /// A packet that can be accepted does not wait too long.
    PROMPT = "packet-not-left-waiting";
    /// The block asks about an eager message until there is an answer.
    REQUESTED = "match-asked-until-answered";
    /// If the pool is low, the block requests a temporary buffer for the whole message.
    TEMPORARY = "temporary-buffer-when-pool-low";
    /// Data is copied once if its message is copied.
    COPIED = "copied-as-chosen";
    /// A handle is kept once if its message is kept.
    KEPT = "kept-as-chosen";
    /// The buffer of every packet that is not kept is released once.
    RELEASED = "released-unless-kept";
    /// The block reports exactly the packets that do not fit.
    ERROR = "error-for-what-does-not-fit";
    /// At the end nothing is left.
    COMPLETE = "complete";
}

/// Maximum number of cycles that an acceptable packet may wait: one to detect it, and one to detect
/// that the message before it was complete.
const MOST_WAITED: u64 = 2;
const MOST_CREDITS: u64 = 255;

/// What must happen to packets in one cycle.
#[derive(Debug, Clone, Copy, Default)]
struct ExpectedActions {
    copy: Option<(u64, u64)>,
    keep: Option<u64>,
    release: Option<u64>,
    temporary: Option<u64>,
    error: bool,
}

#[derive(Debug, Clone, Default)]
struct Counts {
    copied: u64,
    kept: u64,
    posted: u64,
    finished: u64,
    controls: u64,
    errors: u64,
    credits: u64,
}

#[derive(Debug, Clone)]
pub struct Scoreboard<'a> {
    low: u64,
    high: u64,
    keep: u64,
    repaired: bool,
    /// Number of all buffers.
    total: u64,
    /// Number of packets in the traffic; `None` if a reset may drop some.
    packets: Option<u64>,
    taken: u64,
    after_reset: bool,
    message_state: MessageState,
    /// Number of packets that were accepted and neither kept nor released.
    in_hand: i64,
    receiver: Receiver<'a>,
    /// Number of credits that were not accepted yet.
    owed: u64,
    waited: u64,
    counts: Counts,
}

impl Scoreboard<'_> {
    /// The scoreboard for a system in which packets may be lost before the block.
    pub(crate) fn for_some_packets(self) -> Self {
        Self { packets: None, ..self }
    }

    /// Checks the pins in reset and in the first cycle after it.
    #[inline]
    fn observe_reset(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<bool, Violation> {
        if inputs.rst.is_high() {
            in_reset(IN_RESET, outputs, &Outputs::default())?;
            self.message_state = MessageState::Over(BETWEEN);
            (self.in_hand, self.owed, self.waited) = (0, 0, 0);
            self.receiver.kept = 0;
            self.after_reset = true;
            return Ok(true);
        }
        if std::mem::take(&mut self.after_reset) {
            require_equal(FULL, "ring_level", outputs.ring_level.get(), self.high)?;
        }
        Ok(false)
    }

    #[inline]
    fn observe_idle(outputs: &Outputs) -> Result<(), Violation> {
        require_idle(IDLE, || {
            [
                ("match_id", outputs.match_req.is_high(), outputs.match_id.get()),
                ("alloc_count", outputs.alloc_valid.is_high(), outputs.alloc_count.get()),
                ("credit_count", outputs.credit_valid.is_high(), outputs.credit_count.get()),
                ("copy_id", outputs.copy_valid.is_high(), outputs.copy_id.get()),
                ("copy_len", outputs.copy_valid.is_high(), outputs.copy_len.get()),
                ("keep_id", outputs.keep_valid.is_high(), outputs.keep_id.get()),
                ("release_id", outputs.release_valid.is_high(), outputs.release_id.get()),
                (
                    "temp_alloc_len",
                    outputs.temp_alloc_valid.is_high(),
                    outputs.temp_alloc_len.get(),
                ),
            ]
        })
    }

    /// Checks the number of all buffers at the beginning of the cycle.
    #[inline]
    fn observe_buffers(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (ring, free) = (outputs.ring_level.get(), inputs.pool_free.get());
        let kept = self.receiver.kept;
        let all = (ring + free + kept) as i64 + self.in_hand;
        let (held, total) = (self.in_hand, self.total as i64);
        require!(all == total, CONSERVED, "ring {ring}, free {free}, taken {held}, kept {kept}")
    }

    #[inline]
    fn observe_state(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let state = outputs.state.get();
        let fits = self.message_state.states();
        if fits >> state & 1 == 0 {
            let named = State::ALL.into_iter().filter(|state| fits >> *state as u8 & 1 == 1);
            let names: Vec<&str> = named.map(State::name).collect();
            let message = format_args!("state {state}, expected {}", names.join(" or "));
            return Err(Violation::new(STATE, message));
        }
        // Once the block has detected the end of a message, it must be between messages.
        if let MessageState::Over(states) = &mut self.message_state
            && BETWEEN >> state & 1 == 1
        {
            *states = BETWEEN;
        }
        Ok(())
    }

    #[inline]
    fn observe_ready(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let can_take = match 1 << outputs.state.get() {
            DETERMINE_CP_TYPE => true,
            PROC_UNEXP_DP => matches!(self.message_state, MessageState::Unexpected { .. }),
            RECV_POSTED_DATA => inputs.pkt_valid.is_high() && inputs.pkt_kind.get() == DP,
            _ => false,
        };
        let expected = u64::from(can_take && outputs.ring_level.get() > 0);
        require_equal(READY, "pkt_ready", outputs.pkt_ready.get(), expected)
    }

    #[inline]
    fn observe_credit(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (valid, count) = (outputs.credit_valid.is_high(), outputs.credit_count.get());
        let expected = (self.owed > 0, self.owed);
        require_equal(CREDIT, "(valid, credit_count)", (valid, count), expected)?;
        if valid && inputs.credit_ready.is_high() {
            self.counts.credits += count;
            self.owed = 0;
        }
        Ok(())
    }

    /// Checks refills of the ring. Must be called before the credit on offer is accepted.
    #[inline]
    fn observe_ring(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        taken: bool,
    ) -> Result<u64, Violation> {
        let (level, free) = (outputs.ring_level.get(), inputs.pool_free.get());
        let count = outputs.alloc_count.get();
        let left = level - u64::from(taken);
        let is_low = if taken { left < self.low } else { level == 0 };
        let places = self.high.saturating_sub(left);
        let possible = if is_low { places.min(free) } else { 0 };
        let expected = if self.owed + possible > MOST_CREDITS { 0 } else { possible };
        let refills = outputs.alloc_valid.is_high();
        require!(refills == (expected > 0), REFILLED, "{left} left, {free} free: {refills}")?;
        require_equal(AS_MANY, "alloc_count", count, expected)?;
        Ok(count)
    }

    /// Applies an accepted packet: its due outcome and the new state of its message.
    fn apply_packet(&mut self, inputs: &Inputs, due: &mut ExpectedActions) {
        let (kind, id) = (inputs.pkt_kind.get(), inputs.pkt_id.get());
        let (len, last) = (inputs.pkt_len.get(), inputs.pkt_last.is_high());
        let fits = match self.message_state {
            MessageState::Over(_) => kind <= RNDV_DATA,
            _ => kind == DP,
        };
        due.error = !fits;
        due.release = Some(id);
        match self.message_state {
            _ if !fits => {}
            MessageState::Over(_) if kind == EAGER => {
                due.release = None;
                let msg_len = inputs.pkt_msg_len.get();
                self.message_state = MessageState::Requested(Cp { id, len, msg_len, last });
            }
            MessageState::Over(_) if kind == RNDV_DATA => {
                due.copy = Some((id, len));
                self.message_state = MessageState::Posted;
            }
            MessageState::Over(_) => self.counts.controls += 1,
            MessageState::Unexpected { copies } => {
                match copies {
                    true => due.copy = Some((id, len)),
                    false => (due.keep, due.release) = (Some(id), None),
                }
                if last {
                    self.message_state = MessageState::Over(BETWEEN | PROC_UNEXP_DP);
                }
            }
            MessageState::Posted => due.copy = Some((id, len)),
            MessageState::Requested(_) | MessageState::Chosen(_) => {}
        }
        self.counts.errors += u64::from(due.error);
    }

    /// Applies the choice for an unexpected message.
    fn choose(&mut self, cp: Cp, inputs: &Inputs, due: &mut ExpectedActions) {
        let is_low = inputs.pool_free.get() < self.keep;
        let copies = is_low && inputs.temp_alloc_ok.is_high();
        due.temporary = is_low.then_some(cp.msg_len);
        match copies {
            true => (due.copy, due.release) = (Some((cp.id, cp.len)), Some(cp.id)),
            false => due.keep = Some(cp.id),
        }
        self.counts.copied += u64::from(copies);
        self.counts.kept += u64::from(!copies);
        self.message_state = match cp.last {
            false => MessageState::Unexpected { copies },
            true if self.repaired => MessageState::Over(BETWEEN),
            // The block has not detected the end yet.
            true => MessageState::Over(AWAIT_UNEXP_DP | PROC_UNEXP_DP | BETWEEN),
        };
    }

    /// The outcomes of packets that are due in this cycle.
    #[inline]
    fn due(&mut self, inputs: &Inputs, taken: bool) -> ExpectedActions {
        let mut due = ExpectedActions::default();
        let before = self.message_state;
        if taken {
            self.apply_packet(inputs, &mut due);
        }
        match before {
            MessageState::Requested(cp) if inputs.match_rsp.is_high() => {
                self.message_state = if inputs.match_found.is_high() {
                    (due.copy, due.release) = (Some((cp.id, cp.len)), Some(cp.id));
                    MessageState::Posted
                } else {
                    MessageState::Chosen(cp)
                };
            }
            MessageState::Chosen(cp) => self.choose(cp, inputs, &mut due),
            MessageState::Posted if inputs.posted_done.is_high() => {
                self.counts.finished += 1;
                self.message_state = MessageState::Over(BETWEEN);
            }
            _ => {}
        }
        let placed = matches!(before, MessageState::Posted)
            || matches!(self.message_state, MessageState::Posted);
        self.counts.posted += u64::from(placed && due.copy.is_some());
        due
    }

    /// Checks the outcomes of packets. Idle payloads are 0, see [`IDLE`].
    #[inline]
    fn observe_fates(outputs: &Outputs, due: &ExpectedActions) -> Result<(), Violation> {
        let ExpectedActions { copy, keep, release, temporary, error } = *due;
        let (copy_id, copy_len) = copy.unzip();
        let (error, length) = (error.then_some(0), outputs.temp_alloc_len.get());
        type Fate<'a> = (&'a str, &'a str, Bits1, u64, Option<u64>);
        let fates = || -> [Fate<'_>; 6] {
            [
                (TEMPORARY, "bytes", outputs.temp_alloc_valid, length, temporary),
                (COPIED, "copied", outputs.copy_valid, outputs.copy_id.get(), copy_id),
                (COPIED, "copied bytes", outputs.copy_valid, outputs.copy_len.get(), copy_len),
                (KEPT, "kept", outputs.keep_valid, outputs.keep_id.get(), keep),
                (RELEASED, "released", outputs.release_valid, outputs.release_id.get(), release),
                (ERROR, "error", outputs.protocol_error, 0, error),
            ]
        };
        let differs = |(.., valid, seen, due): &Fate<'_>| {
            (valid.get() ^ u64::from(due.is_some())) | (seen ^ due.unwrap_or(0))
        };
        if fates().iter().fold(0, |any, fate| any | differs(fate)) != 0 {
            for (check, what, valid, seen, due) in fates() {
                require_equal(check, what, valid.is_high().then_some(seen), due)?;
            }
        }
        Ok(())
    }

    /// Checks whether a packet may be accepted and whether it waits too long.
    #[inline]
    fn observe_turn(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (kind, level) = (inputs.pkt_kind.get(), outputs.ring_level.get());
        let (valid, ready) = (inputs.pkt_valid.is_high(), outputs.pkt_ready.is_high());
        let can = level > 0 && self.message_state.can_take(kind);
        let taken = valid && ready;
        let state = &self.message_state;
        require!(!ready || level > 0, TAKEN, "pkt_ready while the ring is empty")?;
        require!(!taken || can, TAKEN, "{} is taken, {state:?}", kind_name(kind))?;
        let waited = if valid && can && !taken { self.waited + 1 } else { 0 };
        let is_prompt = waited <= MOST_WAITED;
        require!(is_prompt, PROMPT, "{} waits, {state:?}", kind_name(kind))?;
        self.waited = waited;
        Ok(())
    }

    #[inline]
    fn observe_match(&self, outputs: &Outputs) -> Result<(), Violation> {
        let requested = match self.message_state {
            MessageState::Requested(cp) => Some(cp.id),
            _ => None,
        };
        let seen = outputs.match_req.is_high().then(|| outputs.match_id.get());
        require_equal(REQUESTED, "packet asked about", seen, requested)
    }
}

impl<'a> harness::Scoreboard<'a, Inputs, Outputs, Traffic> for Scoreboard<'a> {
    fn checks() -> Vec<String> {
        check_list(CHECKS)
    }

    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let resets = traffic.messages.iter().any(|message| message.reset.is_some());
        Self {
            low: parameters.get(LOW),
            high: parameters.get(HIGH),
            keep: parameters.get(KEEP),
            repaired: is_repaired(parameters),
            total: parameters.get(HIGH) + parameters::pool(traffic.pool.get(), parameters),
            packets: (!resets).then(|| traffic.packets()),
            taken: 0,
            after_reset: false,
            message_state: MessageState::Over(BETWEEN),
            in_hand: 0,
            receiver: Receiver::new(&traffic.reads),
            owed: 0,
            waited: 0,
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if self.observe_reset(inputs, outputs)? {
            return Ok(());
        }
        Self::observe_idle(outputs)?;
        self.observe_buffers(inputs, outputs)?;
        self.observe_state(outputs)?;
        self.observe_turn(inputs, outputs)?;
        self.observe_ready(inputs, outputs)?;
        self.observe_match(outputs)?;
        let taken = inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high();
        let alloc = self.observe_ring(inputs, outputs, taken)?;
        self.observe_credit(inputs, outputs)?;
        let due = self.due(inputs, taken);
        Self::observe_fates(outputs, &due)?;
        self.taken += u64::from(taken);
        self.owed += alloc;
        self.in_hand += i64::from(taken)
            - i64::from(outputs.keep_valid.is_high())
            - i64::from(outputs.release_valid.is_high());
        self.receiver.clock(outputs.keep_valid.is_high());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let Self { taken, owed, message_state, .. } = *self;
        let packets = self.packets.unwrap_or(taken);
        let is_over = matches!(message_state, MessageState::Over(_));
        let is_complete = taken == packets && owed == 0 && is_over;
        require!(is_complete, COMPLETE, "{taken} of {packets}, {owed} owed, {message_state:?}")
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("unexpected messages copied", |board| board.counts.copied),
            Counter::sum("unexpected messages kept", |board| board.counts.kept),
            Counter::sum("packets copied to their place", |board| board.counts.posted),
            Counter::sum("posted messages finished", |board| board.counts.finished),
            Counter::sum("control packets", |board| board.counts.controls),
            Counter::sum("protocol errors", |board| board.counts.errors),
            Counter::sum("credits taken", |board| board.counts.credits),
        ]
    }
}

#[cfg(test)]
mod tests;
