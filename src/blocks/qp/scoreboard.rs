//! The checks at transaction level: the state of each QP, and that software receives each event
//! exactly once.
//!
//! It tracks each QP by the transfers on the pins, and stores the events that software has not
//! received. The legal predecessors of each state come from the text of the source. It shares no
//! tables and no arithmetic with the golden model, and checks both models.

use super::name_of;
use super::rtl::{Bits1, Inputs, Outputs};
use super::traffic::{Step, Traffic};
use cosim_core::harness::{self, Counter, Parameters, Violation, check_list, in_reset, require};
use std::collections::VecDeque;

cosim_core::check_names! {
    CHECKS;
    /// In reset every output is 0.
    IN_RESET = "silent-in-reset";
    /// A command is accepted exactly while the queue has room for an event.
    COMMAND_WAITS = "command-waits-for-room";
    /// An event waits exactly if it notifies software and the queue has no room.
    EVENT_WAITS = "event-waits-for-room";
    /// Each command is answered in the next cycle with its QP. There are no other answers.
    ANSWERED = "one-answer-for-each-command";
    /// The answer depends on whether the diagram has the transition and permits its parameter.
    JUDGED = "answer-by-the-diagram";
    /// A QP is in the state that its commands and events lead to.
    STATE = "state-by-what-happened";
    /// The state determines what may be posted and is processed.
    PERMITS = "posting-by-state";
    /// A QP accepts no packet in RESET, INIT and ERR.
    CLOSED = "no-packet-in-reset-init-err";
    /// A QP accepts each packet in the other states.
    OPEN = "packet-taken-when-ready";
    /// A packet that needs an RQ WQE uses one, unless there is a Nak.
    WQE = "wqe-for-the-packet-that-takes-it";
    /// A reliable QP answers an accepted packet with either an Ack or a Nak; there are no other
    /// answers.
    ACK_OR_NAK = "ack-or-nak";
    /// Events are offered to software from the cycle after their cause until they are accepted.
    SHOWN = "event-shown-until-taken";
    /// Each drain with notification causes one drained event.
    DRAINED = "one-drained-event-per-notified-drain";
    /// Each event has a cause, and no cause has two events.
    CAUSED = "event-has-a-cause";
    /// The events of a QP are in the order of their causes.
    ORDER_IN_QP = "events-of-a-qp-in-order";
    /// All events are in the order of their causes.
    ORDER = "events-in-order";
    /// Payload is 0 while its valid is 0.
    IDLE = "idle-pins-are-0";
    /// At the end nothing is on offer and no event is left.
    COMPLETE = "complete";
}

/// Capacity of the event queue.
const ROOM: usize = 16;

// State codes of the specification.
const RESET: u8 = 0;
const INIT: u8 = 1;
const RTR: u8 = 2;
const RTS: u8 = 3;
const SQD: u8 = 4;
const SQE: u8 = 5;
const ERR: u8 = 6;
const DESTROY: u8 = 7;

/// The tracked state of a QP. It is small, because each reset clears those of all QPs.
#[derive(Debug, Clone, Copy)]
struct QpRecord {
    state: u8,
    service: u8,
    /// Software requested an event for the end of the drain.
    owes_event: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExpectedEvent {
    qpn: u64,
    code: u64,
}

const DRAINED_CODE: u64 = 0;
const ESTABLISHED_CODE: u64 = 1;
const FATAL_CODE: u64 = 2;

#[derive(Debug, Clone, Copy)]
struct ExpectedResponse {
    qpn: u64,
    code: u64,
    from: u8,
    next: u8,
}

#[derive(Debug, Clone, Default)]
struct Counts {
    /// By `rsp_code`.
    answers: [u64; 3],
    /// By `evt_code`.
    events: [u64; 3],
    send_errors: u64,
    packets_taken: u64,
    packets_refused: u64,
    naks: u64,
    waited: u64,
    lost_to_resets: u64,
}

#[derive(Debug, Clone)]
pub struct Scoreboard {
    records: Box<[QpRecord; 256]>,
    pending_events: VecDeque<ExpectedEvent>,
    due: Option<ExpectedResponse>,
    /// Commands and events still to be accepted. If offers may be withdrawn: 1 while there is one.
    on_offer: u64,
    may_withdraw: bool,
    counts: Counts,
}

/// Whether packets are acknowledged: RC, RD and XRC.
#[inline]
pub(crate) fn is_reliable(service: u8) -> bool {
    matches!(service, 0 | 2 | 5)
}

/// Whether the first packet establishes communication: RC, UC, RD and XRC.
#[inline]
fn is_connected(service: u8) -> bool {
    is_reliable(service) || service == 1
}

impl QpRecord {
    const NEW: Self = Self { state: RESET, service: 0, owes_event: false };

    /// Whether software can move a QP from this state to `next`.
    #[inline]
    fn leads_to(&self, next: u8) -> bool {
        match next {
            RESET | ERR | DESTROY => true,
            INIT => matches!(self.state, RESET | INIT),
            RTR => self.state == INIT,
            RTS => matches!(self.state, RTR | SQD | SQE),
            SQD => matches!(self.state, RTS | SQD),
            _ => false,
        }
    }

    /// Applies an accepted command. Returns the expected answer code.
    #[inline]
    fn command(&mut self, next: u8, service: u8, notify: bool) -> u64 {
        if !self.leads_to(next) {
            return 1;
        }
        let begins_to_drain = self.state == RTS && next == SQD;
        if notify && !begins_to_drain {
            return 2;
        }
        if begins_to_drain {
            self.owes_event = notify;
        }
        if self.state == RESET && next == INIT {
            self.service = service;
        }
        // Leaving SQD cancels the notification.
        self.owes_event &= next == SQD;
        self.state = if next == DESTROY { RESET } else { next };
        0
    }

    /// Applies an accepted hardware event. Returns the event code for software.
    #[inline]
    fn event(&mut self, kind: u64) -> Option<u64> {
        match (kind, self.state) {
            (0, RTR) if is_connected(self.service) => self.state = RTS,
            (1, SQD) if self.owes_event => self.owes_event = false,
            (2, RTS) => {
                self.state = if is_reliable(self.service) { ERR } else { SQE };
                return None;
            }
            (3, INIT..) => (self.state, self.owes_event) = (ERR, false),
            _ => return None,
        }
        Some([ESTABLISHED_CODE, DRAINED_CODE, 0, FATAL_CODE][kind as usize])
    }

    /// What the state permits and does: `sq_post`, `rq_post`, `sq_run`, and `rq_run`, with which a
    /// QP accepts packets.
    #[inline]
    fn permits(&self) -> [bool; 4] {
        let receives = !matches!(self.state, RESET | INIT | ERR);
        [self.state >= RTS, self.state != RESET, self.state == RTS, receives]
    }
}

impl Scoreboard {
    #[inline]
    pub(crate) fn state_and_service(&self, qpn: u64) -> (u64, u8) {
        let QpRecord { state, service, .. } = self.records[qpn as usize];
        (state.into(), service)
    }

    #[inline]
    fn observe_answer(&self, outputs: &Outputs) -> Result<(), Violation> {
        let (valid, qpn) = (outputs.rsp_valid.is_high(), outputs.rsp_qpn.get());
        let code = outputs.rsp_code.get();
        let seen = valid.then_some(qpn);
        let expected = self.due.map(|due| due.qpn);
        require!(seen == expected, ANSWERED, "for QP {seen:?}, expected for QP {expected:?}")?;
        let Some(due) = self.due else {
            return require!((qpn, code) == (0, 0), IDLE, "rsp_qpn {qpn}, rsp_code {code}");
        };
        let ExpectedResponse { code: expected, from, next, .. } = due;
        require!(
            code == expected,
            JUDGED,
            "QP {qpn}, state {from} to {next}: {code}, not {expected}"
        )
    }

    #[inline]
    fn observe_query(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let qpn = inputs.query_qpn.get();
        let record = &self.records[qpn as usize];
        let seen = outputs.query_state.get();
        let state = u64::from(record.state);
        require!(seen == state, STATE, "QP {qpn} in {}, not {}", name_of(seen), name_of(state))?;
        let permits = record.permits();
        let post = [outputs.query_sq_post, outputs.query_rq_post];
        let run = [outputs.query_sq_run, outputs.query_rq_run];
        let pins = [post[0], post[1], run[0], run[1]].map(Bits1::is_high);
        require!(
            pins == permits,
            PERMITS,
            "sq_post, rq_post, sq_run, rq_run: {pins:?}, not {permits:?}"
        )
    }

    #[inline]
    fn observe_packet(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let [accept, wqe, ack, nak] =
            [outputs.msg_accept, outputs.msg_take_wqe, outputs.msg_ack, outputs.msg_nak]
                .map(Bits1::is_high);
        if !inputs.msg_valid.is_high() {
            return require!(!(accept || wqe || ack || nak), IDLE, "an answer without a packet");
        }
        let qpn = inputs.msg_qpn.get();
        let record = self.records[qpn as usize];
        let require = |holds: bool, check: &str, what: &str| {
            let state = record.state.into();
            require!(holds, check, "packet for QP {qpn} in {}: {what}", name_of(state))
        };
        let [.., receives] = record.permits();
        require(!accept || receives, CLOSED, "taken")?;
        require(accept || !receives, OPEN, "not taken")?;
        let answered = accept && is_reliable(record.service);
        require(!(ack && nak), ACK_OR_NAK, "both an Ack and a Nak")?;
        let what = if answered { "neither Ack nor Nak" } else { "answered" };
        require((ack || nak) == answered, ACK_OR_NAK, what)?;
        let what = if nak { "a Nak" } else { "an Ack for an error" };
        require(!answered || nak == inputs.msg_error.is_high(), ACK_OR_NAK, what)?;
        let expected = accept && inputs.msg_consumes_wqe.is_high() && !nak;
        require(wqe == expected, WQE, if wqe { "it takes a WQE" } else { "it takes no WQE" })?;
        self.counts.packets_taken += u64::from(accept);
        self.counts.packets_refused += u64::from(!accept);
        self.counts.naks += u64::from(nak);
        Ok(())
    }

    /// The event on the pins must be the oldest that software has not accepted.
    #[inline]
    fn observe_event(&self, outputs: &Outputs) -> Result<(), Violation> {
        let shown = ExpectedEvent { qpn: outputs.evt_qpn.get(), code: outputs.evt_code.get() };
        let oldest = self.pending_events.front();
        if !outputs.evt_valid.is_high() {
            if let Some(ExpectedEvent { qpn, code }) = oldest {
                return Err(Violation::new(SHOWN, format!("not event {code} of QP {qpn}")));
            }
            return require!(shown == ExpectedEvent { qpn: 0, code: 0 }, IDLE, "{shown:?}");
        }
        if oldest == Some(&shown) {
            return Ok(());
        }
        let check = match self.pending_events.iter().find(|event| event.qpn == shown.qpn) {
            _ if !self.pending_events.contains(&shown) => match shown.code {
                DRAINED_CODE => DRAINED,
                _ => CAUSED,
            },
            Some(first) if *first != shown => ORDER_IN_QP,
            _ => ORDER,
        };
        let name = |event: &ExpectedEvent| format!("event {} of QP {}", event.code, event.qpn);
        let expected = oldest.map_or("none".to_owned(), name);
        Err(Violation::new(check, format!("{}, expected {expected}", name(&shown))))
    }

    #[inline]
    fn observe_readies(&self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let waiting = self.pending_events.len();
        let ready = outputs.cmd_ready.get();
        let has_room = waiting < ROOM;
        require!((ready == 1) == has_room, COMMAND_WAITS, "cmd_ready {ready}, {waiting} wait")?;
        let (qpn, kind) = (inputs.hw_qpn.get(), inputs.hw_kind.get());
        let mut record = self.records[qpn as usize];
        let reports = inputs.hw_valid.is_high() && record.event(kind).is_some();
        let ready = outputs.hw_ready.get();
        let expected = !reports || has_room;
        require!((ready == 1) == expected, EVENT_WAITS, "hw_ready {ready}, {waiting} wait")
    }

    #[inline]
    fn apply_accepted(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if outputs.evt_valid.is_high() && inputs.evt_ready.is_high() {
            self.pending_events.pop_front();
        }
        if inputs.hw_valid.is_high() && outputs.hw_ready.is_high() {
            let (qpn, kind) = (inputs.hw_qpn.get(), inputs.hw_kind.get());
            let record = &mut self.records[qpn as usize];
            self.counts.send_errors += u64::from(kind == 2 && record.state == RTS);
            if let Some(code) = record.event(kind) {
                self.pending_events.push_back(ExpectedEvent { qpn, code });
                self.counts.events[code as usize] += 1;
            }
            self.on_offer = self.on_offer.saturating_sub(1);
        }
        self.due = None;
        if inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high() {
            let (qpn, next) = (inputs.cmd_qpn.get(), inputs.cmd_next.get() as u8);
            let (service, notify) = (inputs.cmd_service.get() as u8, inputs.cmd_notify.is_high());
            let record = &mut self.records[qpn as usize];
            let from = record.state;
            let code = record.command(next, service, notify);
            self.due = Some(ExpectedResponse { qpn, code, from, next });
            self.counts.answers[code as usize] += 1;
            self.on_offer = self.on_offer.saturating_sub(1);
        }
        let waits = inputs.cmd_valid.is_high() && !outputs.cmd_ready.is_high();
        self.counts.waited += u64::from(waits);
        if self.may_withdraw {
            let event_waits = inputs.hw_valid.is_high() && !outputs.hw_ready.is_high();
            self.on_offer = u64::from(waits || event_waits);
        }
    }

    /// In reset all state is cleared and all outputs are 0.
    fn observe_reset(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        self.counts.lost_to_resets += self.pending_events.len() as u64;
        *self.records = [QpRecord::NEW; 256];
        self.pending_events.clear();
        self.due = None;
        in_reset(IN_RESET, outputs, &Outputs::default())
    }
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        check_list(CHECKS)
    }

    fn new(traffic: &Traffic, _: &Parameters) -> Self {
        let offers =
            |step: &Step| u64::from(step.command.is_some()) + u64::from(step.event.is_some());
        Self {
            records: Box::new([QpRecord::NEW; 256]),
            pending_events: VecDeque::with_capacity(2 * ROOM),
            due: None,
            on_offer: traffic.steps.iter().map(offers).sum(),
            may_withdraw: traffic.steps.iter().any(|step| step.instead.get() == 1),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if inputs.rst.is_high() {
            return self.observe_reset(outputs);
        }
        self.observe_answer(outputs)?;
        self.observe_event(outputs)?;
        self.observe_packet(inputs, outputs)?;
        self.observe_query(inputs, outputs)?;
        self.observe_readies(inputs, outputs)?;
        self.apply_accepted(inputs, outputs);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let Self { on_offer, pending_events, due, .. } = self;
        let left = pending_events.len();
        let is_complete = *on_offer == 0 && left == 0 && due.is_none();
        require!(is_complete, COMPLETE, "{on_offer} offers, {left} events, last answer {due:?}")
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("commands done", |board| board.counts.answers[0]),
            Counter::sum("transitions refused", |board| board.counts.answers[1]),
            Counter::sum("parameters refused", |board| board.counts.answers[2]),
            Counter::sum("connections established", |board| board.counts.events[1]),
            Counter::sum("drains told", |board| board.counts.events[0]),
            Counter::sum("fatal errors told", |board| board.counts.events[2]),
            Counter::sum("send errors", |board| board.counts.send_errors),
            Counter::sum("packets taken", |board| board.counts.packets_taken),
            Counter::sum("packets refused", |board| board.counts.packets_refused),
            Counter::sum("Naks", |board| board.counts.naks),
            Counter::sum("cycles commands waited", |board| board.counts.waited),
            Counter::sum("events lost to resets", |board| board.counts.lost_to_resets),
        ]
    }
}

#[cfg(test)]
mod tests;
