//! The functional coverage of `qp` in addition to its rules.

use super::Qp;
use super::golden::{Cycle, Golden, QueuePair};
use super::rtl::{Bits1, Bits8, Inputs};
use super::rules::{CONNECTED, E1, E2, RELIABLE, State};
use cosim_core::harness::{
    self, Axis, Bins, CORNERS, Covergroup, Document, Edge, Parameters, corner_class,
};

/// The QP's state before what is counted.
const STATE: Axis = Axis::new("state", State::VALUES);
/// The number of a QP, by its place among all.
const QPN: Axis = Axis::new("QP", CORNERS);

cosim_core::coverage! {
    axis NEXT = "next" {
        "RESET": "Modify QP to RESET",
        "INIT": "Modify QP to INIT",
        "RTR": "Modify QP to RTR",
        "RTS": "Modify QP to RTS",
        "SQD": "Modify QP to SQD",
        "SQE": "Modify QP to SQE",
        "ERR": "Modify QP to ERR",
        "destroy": "Destroy QP",
    }
    axis ANSWER = "answer" {
        "done": "the command is executed",
        "illegal": "there is no such transition",
        "not permitted": "notification is asked for where it is not permitted",
    }
    axis KIND = "event" {
        "first packet": "the first request packet has arrived",
        "drained": "the send queue has drained",
        "send error": "a send has completed with an error",
        "fatal": "a fatal error",
    }
    axis SERVICE = "service" {
        "reliable": "RC, RD or XRC: connected, with acknowledgements",
        "UC": "connected, without acknowledgements",
        "UD": "UD, CNP and the reserved codes: neither",
    }
    axis OWED = "notification" {
        "none": "no drain event is owed",
        "owed": "a drain event is owed to software",
    }
    axis ERROR = "packet" { "good": "it can be executed", "bad": "it cannot be executed" }
    axis WQE = "WQE" {
        "no WQE": "it takes no WQE", "WQE": "it is the packet of its message that takes the WQE",
    }
    axis LEVEL = "events" {
        "0": "the queue is empty", "1": "1 event", "2": "2 events", "3": "3 events",
        "4": "4 events", "5": "5 events", "6": "6 events", "7": "7 events", "8": "8 events",
        "9": "9 events", "10": "10 events", "11": "11 events", "12": "12 events",
        "13": "13 events", "14": "14 events", "15": "one less than full", "16": "the queue is full",
    }
    axis MOVE = "move" {
        "in": "an event goes in, none leaves",
        "out": "an event leaves, none goes in",
        "both": "one leaves and one goes in at the same edge",
    }
    axis HELD = "at a full queue" {
        "command": "a command waits",
        "event": "an event that needs an entry waits",
        "both": "a command and an event wait",
        "other event": "an event that needs no entry is taken",
    }
    axis CHANNEL = "channel" {
        "command": "a command is taken", "event": "an event of hardware is taken",
        "packet": "a request packet", "query": "a query, at an edge with a command, an event or a packet",
        "event to software": "E2",
    }
    axis LOST = "lost" {
        "nothing": "no answer and no event is on its way",
        "answer": "an answer is shown in the cycle of the reset",
        "events": "some events are in the queue, no answer is shown",
        "answer and events": "an answer is shown, and some events are in the queue",
        "full queue": "the queue is full",
    }

    groups GROUPS;
    MODIFY = "modify": "commands taken: state after an event at the same edge, state asked for, answer"
        [STATE, NEXT, ANSWER]
        unless no_such_answer;
    DRAINS = "drains": "commands taken of a QP in SQD, by what is owed" [NEXT, OWED];
    EVENTS = "events": "events of hardware taken: kind, state and service before"
        [KIND, STATE, SERVICE]
        unless |at, _| no_such_qp(at[1], at[2]);
    SAME_QP = "same-qp": "an event and a command for one QP at one edge (X1): kind, state before both, state asked for"
        [KIND, STATE, NEXT];
    PACKETS = "packets": "request packets: state and service before, error, WQE"
        [STATE, SERVICE, ERROR, WQE]
        unless |at, _| no_such_qp(at[0], at[1]);
    QUEUE = "queue": "the event queue: events before the edge, what moves" [LEVEL, MOVE]
        unless no_such_move;
    FULL = "full": "what is on offer while the queue is full" [HELD];
    QUERY = "query": "queries: state shown" [STATE];
    RESET = "reset": "resets, by the state they interrupt" [LOST];
    QPNS = "qpns": "numbers of QPs: where they are read or shown" [CHANNEL, QPN];
}

/// Whether C1 to C11 of section 6 allow the pair of a state and `cmd_next`.
const fn is_transition(from: usize, next: usize) -> bool {
    matches!((from, next), (_, 0 | 6 | 7) | (0, 1) | (1, 1 | 2) | (2 | 4 | 5, 3) | (3 | 4, 4))
}

const RTS_TO_SQD: [usize; 2] = [3, 4];
const DONE: usize = 0;
const ILLEGAL: usize = 1;
const NOT_PERMITTED: usize = 2;

/// Section 6: impossible answers to a command.
fn no_such_answer(at: &[usize], _: &Parameters) -> Option<&'static str> {
    let [from, next, answer] = *at else { return None };
    match (is_transition(from, next), answer) {
        (false, DONE | NOT_PERMITTED) => {
            Some("C12: there is no such transition, and that is the answer")
        }
        (true, ILLEGAL) => Some("C1 to C11 have this transition"),
        (true, NOT_PERMITTED) if [from, next] == RTS_TO_SQD => {
            Some("C5: here notification may be asked for")
        }
        _ => None,
    }
}

/// Section 7: impossible services of a QP in a state.
fn no_such_qp(state: usize, service: usize) -> Option<&'static str> {
    let is_reliable = service == 0;
    (state == State::Sqe as usize && is_reliable).then_some(
        "H5: SQE is for unreliable services, and C1 alone gives a QP a service, in RESET",
    )
}

/// Section 8: impossible moves at a level of the queue.
fn no_such_move(at: &[usize], _: &Parameters) -> Option<&'static str> {
    match *at {
        [0, 1 | 2] => Some("E2: of an empty queue no event is shown, so none leaves"),
        [16, 0 | 2] => Some("E4: a full queue takes no event, not even while one leaves"),
        _ => None,
    }
}

/// The registers before the edge, and the QPs of what is on the pins.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    in_reset: bool,
    level: usize,
    answers: bool,
    of_command: Option<QueuePair>,
    of_event: Option<QueuePair>,
    of_packet: Option<QueuePair>,
}

/// The position of a service on its axis.
#[inline]
const fn class(service: u8) -> usize {
    match (RELIABLE >> service & 1, CONNECTED >> service & 1) {
        (1, _) => 0,
        (_, 1) => 1,
        _ => 2,
    }
}

/// Counts a command for `qp`, and the hardware event of the same edge.
#[inline]
fn count_command(edge: &Edge<'_, Qp>, qp: QueuePair, event: Option<usize>, bins: &mut Bins<'_>) {
    let Edge { golden, inputs, .. } = edge;
    let next = inputs.cmd_next.get() as usize;
    let mut met = qp;
    if let Some(kind) = event.filter(|_| inputs.hw_qpn == inputs.cmd_qpn) {
        bins.record(SAME_QP.bin([kind, qp.state as usize, next]));
        met.apply_event(kind as u8);
    }
    if let Some(response) = golden.response {
        bins.record(MODIFY.bin([met.state as usize, next, response.answer as usize]));
    }
    if met.state == State::Sqd {
        bins.record(DRAINS.bin([next, usize::from(met.notify)]));
    }
}

/// The position on an axis with two things, each by itself, and both; `None` without any.
#[inline]
pub fn one_or_both(first: bool, second: bool) -> Option<usize> {
    (usize::from(first) + 2 * usize::from(second)).checked_sub(1)
}

/// Counts the numbers of QPs where they are read or shown.
#[inline]
fn count_qpns(edge: &Edge<'_, Qp>, [modifies, applies]: [bool; 2], bins: &mut Bins<'_>) {
    let Edge { inputs, outputs, rules, .. } = edge;
    let packet = inputs.msg_valid.is_high();
    let is_used = modifies || applies || packet;
    let numbers = [
        (modifies, inputs.cmd_qpn),
        (applies, inputs.hw_qpn),
        (packet, inputs.msg_qpn),
        (is_used, inputs.query_qpn),
        (rules.contains_any(E2), outputs.evt_qpn),
    ];
    for (channel, (is_there, qpn)) in numbers.into_iter().enumerate() {
        if is_there {
            bins.record(QPNS.bin([channel, corner_class(qpn.get(), 0xff)]));
        }
    }
}

impl harness::Coverage<Qp> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage.rs"));

    fn new(_: &Parameters) -> Self {
        Self::default()
    }

    #[inline]
    fn before(&mut self, golden: &Golden, inputs: &Inputs, _: &Cycle) {
        let of = |valid: Bits1, qpn: Bits8| valid.is_high().then(|| *golden.qp(qpn));
        *self = Self {
            in_reset: self.in_reset,
            level: golden.queue.len(),
            answers: golden.response.is_some(),
            of_command: of(inputs.cmd_valid, inputs.cmd_qpn),
            of_event: of(inputs.hw_valid, inputs.hw_qpn),
            of_packet: of(inputs.msg_valid, inputs.msg_qpn),
        };
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Qp>, bins: &mut Bins<'_>) {
        let Edge { inputs, outputs, .. } = edge;
        let was_in_reset = std::mem::replace(&mut self.in_reset, inputs.rst.is_high());
        if self.in_reset {
            if !was_in_reset {
                bins.record(RESET.bin([match (self.level, self.answers) {
                    (0, answers) => usize::from(answers),
                    (16, _) => 4,
                    (_, answers) => 2 + usize::from(answers),
                }]));
            }
            return;
        }
        bins.record(QUERY.bin([outputs.query_state.get() as usize]));
        if let Some(QueuePair { state, service, .. }) = self.of_packet {
            let flags = [inputs.msg_error, inputs.msg_consumes_wqe].map(|pin| pin.get() as usize);
            bins.record(PACKETS.bin([state as usize, class(service), flags[0], flags[1]]));
        }
        let event = self.of_event.filter(|_| outputs.hw_ready.is_high());
        let command = self.of_command.filter(|_| outputs.cmd_ready.is_high());
        let (kind, applies) = (inputs.hw_kind.get() as usize, event.is_some());
        if let Some(QueuePair { state, service, .. }) = event {
            bins.record(EVENTS.bin([kind, state as usize, class(service)]));
        }
        if let Some(qp) = command {
            count_command(edge, qp, applies.then_some(kind), bins);
        }
        count_qpns(edge, [command.is_some(), applies], bins);
        if let Some(moves) = one_or_both(edge.rules.contains_any(E1), edge.rules.contains_any(E2)) {
            bins.record(QUEUE.bin([self.level, moves]));
        }
        if self.level == LEVEL.values.len() - 1 {
            let waits = inputs.hw_valid.is_high() && !applies;
            let held = one_or_both(inputs.cmd_valid.is_high(), waits);
            held.into_iter().chain(applies.then_some(3)).for_each(|at| bins.record(FULL.bin([at])));
        }
    }
}

#[cfg(test)]
mod tests;
