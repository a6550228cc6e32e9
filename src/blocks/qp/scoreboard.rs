//! The checks at transaction level: the state of each QP, and that software receives each event
//! exactly once.
//!
//! It tracks each QP by the transfers on the pins, and stores the events that software has not
//! received. The legal predecessors of each state come from the text of the source. It shares no
//! tables and no arithmetic with the golden model, and checks both models.

use super::rtl::{Bits1, Inputs, Outputs};
use super::stimulus::Traffic;
use super::{Qp, name_of};
use cosim_core::harness::{self, Counter, Parameters, Violation};
use std::collections::VecDeque;

/// In reset every output is 0.
const IN_RESET: &str = "silent-in-reset";
/// A command is accepted exactly while the queue has room for an event.
const COMMAND_WAITS: &str = "command-waits-for-room";
/// An event waits exactly if it notifies software and the queue has no room.
const EVENT_WAITS: &str = "event-waits-for-room";
/// Each command is answered in the next cycle with its QP. There are no other answers.
const ANSWERED: &str = "one-answer-for-each-command";
/// The answer depends on whether the diagram has the transition and permits its parameter.
const JUDGED: &str = "answer-by-the-diagram";
/// A QP is in the state that its commands and events lead to.
const STATE: &str = "state-by-what-happened";
/// The state determines what may be posted and is processed.
const PERMITS: &str = "posting-by-state";
/// A QP accepts no packet in RESET, INIT and ERR.
const CLOSED: &str = "no-packet-in-reset-init-err";
/// A QP accepts each packet in the other states.
const OPEN: &str = "packet-taken-when-ready";
/// A packet that needs an RQ WQE uses one, unless there is a Nak.
const WQE: &str = "wqe-for-the-packet-that-takes-it";
/// A reliable QP answers an accepted packet with either an Ack or a Nak; there are no other
/// answers.
const ACK_OR_NAK: &str = "ack-or-nak";
/// Events are offered to software from the cycle after their cause until they are accepted.
const SHOWN: &str = "event-shown-until-taken";
/// Each drain with notification causes one drained event.
const DRAINED: &str = "one-drained-event-per-notified-drain";
/// Each event has a cause, and no cause has two events.
const CAUSED: &str = "event-has-a-cause";
/// The events of a QP are in the order of their causes.
const ORDER_IN_QP: &str = "events-of-a-qp-in-order";
/// All events are in the order of their causes.
const ORDER: &str = "events-in-order";
/// Payload is 0 while its valid is 0.
const IDLE: &str = "idle-pins-are-0";
/// At the end nothing is on offer and no event is left.
const COMPLETE: &str = "complete";

/// Capacity of the event queue.
const ROOM: usize = 16;

// State codes of the specification.
const RESET: u64 = 0;
const INIT: u64 = 1;
const RTR: u64 = 2;
const RTS: u64 = 3;
const SQD: u64 = 4;
const SQE: u64 = 5;
const ERR: u64 = 6;
const DESTROY: u64 = 7;

/// The tracked state of a QP.
#[derive(Debug, Clone, Copy)]
struct QpRecord {
    state: u64,
    service: u64,
    /// Software requested an event for the end of the drain.
    owes_news: bool,
}

/// An event that software must receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExpectedEvent {
    qpn: u64,
    code: u64,
}

const DRAINED_CODE: u64 = 0;
const ESTABLISHED_CODE: u64 = 1;
const FATAL_CODE: u64 = 2;

/// The expected answer.
#[derive(Debug, Clone, Copy)]
struct ExpectedResponse {
    qpn: u64,
    code: u64,
    from: u64,
    next: u64,
    notify: bool,
}

/// Counters for the report.
#[derive(Debug, Clone, Default)]
struct Counts {
    done: u64,
    illegal: u64,
    not_permitted: u64,
    established: u64,
    drained: u64,
    fatal: u64,
    send_errors: u64,
    packets_taken: u64,
    packets_refused: u64,
    naks: u64,
    waited: u64,
    lost_to_resets: u64,
}

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    lives: Box<[QpRecord; 256]>,
    untold: VecDeque<ExpectedEvent>,
    due: Option<ExpectedResponse>,
    /// Commands and events still to be accepted. If offers may be withdrawn: 1 while there is one.
    on_offer: u64,
    /// Whether offers may be withdrawn.
    may_withdraw: bool,
    counts: Counts,
}

/// Whether packets are acknowledged: RC, RD and XRC.
#[inline]
fn is_reliable(service: u64) -> bool {
    matches!(service, 0 | 2 | 5)
}

/// Whether the first packet establishes communication: RC, UC, RD and XRC.
#[inline]
fn is_connected(service: u64) -> bool {
    is_reliable(service) || service == 1
}

impl QpRecord {
    const NEW: Self = Self { state: RESET, service: 0, owes_news: false };

    /// Whether software can move a QP from this state to `next`.
    #[inline]
    fn leads_to(&self, next: u64) -> bool {
        match next {
            RESET | ERR | DESTROY => true,
            INIT => matches!(self.state, RESET | INIT),
            RTR => self.state == INIT,
            RTS => matches!(self.state, RTR | SQD | SQE),
            SQD => matches!(self.state, RTS | SQD),
            _ => false,
        }
    }

    /// The event code for software when a hardware event of this kind is accepted.
    #[inline]
    fn tells(&self, kind: u64) -> Option<u64> {
        match kind {
            0 if self.state == RTR && is_connected(self.service) => Some(ESTABLISHED_CODE),
            1 if self.state == SQD && self.owes_news => Some(DRAINED_CODE),
            3 if self.state != RESET => Some(FATAL_CODE),
            _ => None,
        }
    }

    /// Applies an accepted command. Returns the expected answer code.
    #[inline]
    fn command(&mut self, next: u64, service: u64, notify: bool) -> u64 {
        if !self.leads_to(next) {
            return 1;
        }
        let begins_to_drain = self.state == RTS && next == SQD;
        if notify && !begins_to_drain {
            return 2;
        }
        if begins_to_drain {
            self.owes_news = notify;
        }
        if self.state == RESET && next == INIT {
            self.service = service;
        }
        // Leaving SQD cancels the notification.
        self.owes_news &= next == SQD;
        self.state = if next == DESTROY { RESET } else { next };
        0
    }

    /// Applies an accepted event.
    #[inline]
    fn event(&mut self, kind: u64) {
        match (kind, self.state) {
            (0, RTR) if is_connected(self.service) => self.state = RTS,
            (1, SQD) => self.owes_news = false,
            (2, RTS) => self.state = if is_reliable(self.service) { ERR } else { SQE },
            (3, RTR | RTS | SQD | SQE | INIT) => (self.state, self.owes_news) = (ERR, false),
            _ => {}
        }
    }

    #[inline]
    fn takes_packets(&self) -> bool {
        !matches!(self.state, RESET | INIT | ERR)
    }
}

impl Scoreboard {
    /// The state and the service of a QP.
    #[inline]
    pub(crate) fn state_and_service(&self, qpn: u64) -> (u64, u64) {
        let QpRecord { state, service, .. } = self.lives[qpn as usize];
        (state, service)
    }

    #[inline]
    fn life(&mut self, qpn: u64) -> &mut QpRecord {
        &mut self.lives[qpn as usize]
    }

    #[inline]
    fn observe_answer(&self, outputs: &Outputs) -> Result<(), Violation> {
        let (valid, qpn) = (outputs.rsp_valid.is_high(), outputs.rsp_qpn.get());
        let code = outputs.rsp_code.get();
        match self.due {
            Some(due) if !valid => {
                let message = format!("the command for QP {} has no answer", due.qpn);
                Err(Violation::new(ANSWERED, message))
            }
            Some(due) if due.qpn != qpn => {
                let message = format!("the command for QP {} is answered for QP {qpn}", due.qpn);
                Err(Violation::new(ANSWERED, message))
            }
            Some(due) if due.code != code => {
                let notify = if due.notify { ", with notification" } else { "" };
                let message = format!(
                    "QP {qpn} from {} to {}{notify}: answered {code}, expected {}",
                    name_of(due.from),
                    if due.next == DESTROY { "nothing" } else { name_of(due.next) },
                    due.code
                );
                Err(Violation::new(JUDGED, message))
            }
            None if valid => {
                let message = format!("an answer for QP {qpn} without a command");
                Err(Violation::new(ANSWERED, message))
            }
            None if qpn != 0 || code != 0 => {
                let message = format!("rsp_qpn {qpn}, rsp_code {code} without an answer");
                Err(Violation::new(IDLE, message))
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn observe_query(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let qpn = inputs.query_qpn.get();
        let state = self.life(qpn).state;
        let seen = outputs.query_state.get();
        if seen != state {
            let message = format!("QP {qpn} is in {}, expected {}", name_of(seen), name_of(state));
            return Err(Violation::new(STATE, message));
        }
        let pins = [
            (outputs.query_sq_post, "WRs to the SQ", matches!(state, RTS | SQD | SQE | ERR)),
            (outputs.query_rq_post, "WRs to the RQ", state != RESET),
            (outputs.query_sq_run, "processing of the SQ", state == RTS),
            (outputs.query_rq_run, "processing of the RQ", self.life(qpn).takes_packets()),
        ];
        for (pin, what, expected) in pins {
            if pin.is_high() != expected {
                let state = name_of(state);
                let message = format!("QP {qpn} in {state}: {what} is {}", u64::from(!expected));
                return Err(Violation::new(PERMITS, message));
            }
        }
        Ok(())
    }

    #[inline]
    fn observe_packet(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let [accept, wqe, ack, nak] =
            [outputs.msg_accept, outputs.msg_take_wqe, outputs.msg_ack, outputs.msg_nak]
                .map(Bits1::is_high);
        if !inputs.msg_valid.is_high() {
            if accept || wqe || ack || nak {
                return Err(Violation::new(IDLE, "an answer to a packet that is not there"));
            }
            return Ok(());
        }
        let qpn = inputs.msg_qpn.get();
        let life = *self.life(qpn);
        let object = |check: &str, message: &str| {
            let state = name_of(life.state);
            let message =
                format!("packet for QP {qpn} in {state}, service {}: {message}", life.service);
            Err(Violation::new(check, message))
        };
        if accept && !life.takes_packets() {
            return object(CLOSED, "taken");
        }
        if !accept && life.takes_packets() {
            return object(OPEN, "not taken");
        }
        let answered = accept && is_reliable(life.service);
        if ack && nak {
            return object(ACK_OR_NAK, "both an Ack and a Nak");
        }
        if (ack || nak) != answered {
            return object(ACK_OR_NAK, if answered { "neither Ack nor Nak" } else { "answered" });
        }
        if answered && nak != inputs.msg_error.is_high() {
            return object(ACK_OR_NAK, if nak { "a Nak" } else { "an Ack for an error" });
        }
        if wqe != (accept && inputs.msg_consumes_wqe.is_high() && !nak) {
            return object(WQE, if wqe { "it takes a WQE" } else { "it takes no WQE" });
        }
        self.counts.packets_taken += u64::from(accept);
        self.counts.packets_refused += u64::from(!accept);
        self.counts.naks += u64::from(nak);
        Ok(())
    }

    /// The event on the pins must be the oldest that software has not accepted.
    #[inline]
    fn observe_news(&self, outputs: &Outputs) -> Result<(), Violation> {
        let shown = ExpectedEvent { qpn: outputs.evt_qpn.get(), code: outputs.evt_code.get() };
        let oldest = self.untold.front();
        if !outputs.evt_valid.is_high() {
            return match oldest {
                Some(news) => {
                    let message = format!("event {} of QP {} is not shown", news.code, news.qpn);
                    Err(Violation::new(SHOWN, message))
                }
                None if shown != (ExpectedEvent { qpn: 0, code: 0 }) => {
                    let message = format!("evt_qpn {}, evt_code {}", shown.qpn, shown.code);
                    Err(Violation::new(IDLE, message))
                }
                None => Ok(()),
            };
        }
        if oldest == Some(&shown) {
            return Ok(());
        }
        let check = match self.untold.iter().find(|news| news.qpn == shown.qpn) {
            _ if !self.untold.contains(&shown) => match shown.code {
                DRAINED_CODE => DRAINED,
                _ => CAUSED,
            },
            Some(first) if *first != shown => ORDER_IN_QP,
            _ => ORDER,
        };
        let expected = match oldest {
            Some(news) => format!("event {} of QP {}", news.code, news.qpn),
            None => "none".to_owned(),
        };
        let message = format!("event {} of QP {}, expected {expected}", shown.code, shown.qpn);
        Err(Violation::new(check, message))
    }

    #[inline]
    fn observe_readies(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let waiting = self.untold.len();
        if outputs.cmd_ready.is_high() == (waiting >= ROOM) {
            let message =
                format!("cmd_ready is {}, {waiting} events wait", outputs.cmd_ready.get());
            return Err(Violation::new(COMMAND_WAITS, message));
        }
        let (qpn, kind) = (inputs.hw_qpn.get(), inputs.hw_kind.get());
        let tells = inputs.hw_valid.is_high() && self.life(qpn).tells(kind).is_some();
        if outputs.hw_ready.is_high() == (tells && waiting >= ROOM) {
            let message = format!(
                "hw_ready is {} for kind {kind} of QP {qpn}, {waiting} events wait",
                outputs.hw_ready.get()
            );
            return Err(Violation::new(EVENT_WAITS, message));
        }
        Ok(())
    }

    /// Applies everything that is accepted at the edge.
    #[inline]
    fn take(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if outputs.evt_valid.is_high() && inputs.evt_ready.is_high() {
            self.untold.pop_front();
        }
        if inputs.hw_valid.is_high() && outputs.hw_ready.is_high() {
            let (qpn, kind) = (inputs.hw_qpn.get(), inputs.hw_kind.get());
            let told = self.life(qpn).tells(kind);
            let before = self.life(qpn).state;
            self.life(qpn).event(kind);
            self.untold.extend(told.map(|code| ExpectedEvent { qpn, code }));
            self.counts.established += u64::from(told == Some(ESTABLISHED_CODE));
            self.counts.drained += u64::from(told == Some(DRAINED_CODE));
            self.counts.fatal += u64::from(told == Some(FATAL_CODE));
            self.counts.send_errors += u64::from(kind == 2 && before == RTS);
            self.on_offer = self.on_offer.saturating_sub(1);
        }
        self.due = None;
        if inputs.cmd_valid.is_high() && outputs.cmd_ready.is_high() {
            let (qpn, next) = (inputs.cmd_qpn.get(), inputs.cmd_next.get());
            let (service, notify) = (inputs.cmd_service.get(), inputs.cmd_notify.is_high());
            let from = self.life(qpn).state;
            let code = self.life(qpn).command(next, service, notify);
            self.due = Some(ExpectedResponse { qpn, code, from, next, notify });
            self.counts.done += u64::from(code == 0);
            self.counts.illegal += u64::from(code == 1);
            self.counts.not_permitted += u64::from(code == 2);
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
        self.counts.lost_to_resets += self.untold.len() as u64;
        *self.lives = [QpRecord::NEW; 256];
        self.untold.clear();
        self.due = None;
        // Exhaustive, so that a changed port list of the RTL does not compile.
        let Outputs {
            cmd_ready,
            rsp_valid,
            rsp_qpn,
            rsp_code,
            hw_ready,
            msg_accept,
            msg_take_wqe,
            msg_ack,
            msg_nak,
            query_state,
            query_sq_post,
            query_rq_post,
            query_sq_run,
            query_rq_run,
            evt_valid,
            evt_qpn,
            evt_code,
            padding: _,
        } = outputs;
        let pins = [
            ("cmd_ready", cmd_ready.get()),
            ("rsp_valid", rsp_valid.get()),
            ("rsp_qpn", rsp_qpn.get()),
            ("rsp_code", rsp_code.get()),
            ("hw_ready", hw_ready.get()),
            ("msg_accept", msg_accept.get()),
            ("msg_take_wqe", msg_take_wqe.get()),
            ("msg_ack", msg_ack.get()),
            ("msg_nak", msg_nak.get()),
            ("query_state", query_state.get()),
            ("query_sq_post", query_sq_post.get()),
            ("query_rq_post", query_rq_post.get()),
            ("query_sq_run", query_sq_run.get()),
            ("query_rq_run", query_rq_run.get()),
            ("evt_valid", evt_valid.get()),
            ("evt_qpn", evt_qpn.get()),
            ("evt_code", evt_code.get()),
        ];
        match pins.iter().find(|(_, value)| *value != 0) {
            Some((name, value)) => {
                Err(Violation::new(IN_RESET, format!("{name} is {value} in reset, expected 0")))
            }
            None => Ok(()),
        }
    }
}

impl harness::Scoreboard<'_, Qp> for Scoreboard {
    const CHECKS: &'static [&'static str] = &[
        IN_RESET,
        COMMAND_WAITS,
        EVENT_WAITS,
        ANSWERED,
        JUDGED,
        STATE,
        PERMITS,
        CLOSED,
        OPEN,
        WQE,
        ACK_OR_NAK,
        SHOWN,
        DRAINED,
        CAUSED,
        ORDER_IN_QP,
        ORDER,
        IDLE,
        COMPLETE,
    ];

    fn new(traffic: &Traffic, _: &Parameters) -> Self {
        let commands = traffic.steps.iter().filter(|step| step.command.is_some()).count();
        let events = traffic.steps.iter().filter(|step| step.event.is_some()).count();
        Self {
            lives: Box::new([QpRecord::NEW; 256]),
            untold: VecDeque::with_capacity(2 * ROOM),
            due: None,
            on_offer: (commands + events) as u64,
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
        self.observe_news(outputs)?;
        self.observe_packet(inputs, outputs)?;
        self.observe_query(inputs, outputs)?;
        self.observe_readies(inputs, outputs)?;
        self.take(inputs, outputs);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let left = self.untold.len();
        if self.on_offer > 0 {
            let message = format!("{} commands and events were not taken", self.on_offer);
            return Err(Violation::new(COMPLETE, message));
        }
        if left > 0 {
            return Err(Violation::new(COMPLETE, format!("{left} events were not taken")));
        }
        match self.due {
            Some(due) => {
                let message = format!("the command for QP {} has no answer yet", due.qpn);
                Err(Violation::new(COMPLETE, message))
            }
            None => Ok(()),
        }
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("commands done", |board| board.counts.done),
            Counter::sum("transitions refused", |board| board.counts.illegal),
            Counter::sum("parameters refused", |board| board.counts.not_permitted),
            Counter::sum("connections established", |board| board.counts.established),
            Counter::sum("drains told", |board| board.counts.drained),
            Counter::sum("fatal errors told", |board| board.counts.fatal),
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
