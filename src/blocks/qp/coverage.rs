//! The functional coverage of `qp` in addition to its rules.

use super::Qp;
use super::golden::{Golden, QueuePair};
use super::rtl::{Bits1, Inputs};
use super::rules::{CONNECTED, E1, E2, RELIABLE, State};
use super::stimulus::{Command, Event, Packet};
use cosim_core::harness::{Axis, Edge, Parameters, Sample};
use cosim_core::value::Uint;

cosim_core::axes! {
    NEXT = "next" {
        "RESET": "Modify QP to RESET",
        "INIT": "Modify QP to INIT",
        "RTR": "Modify QP to RTR",
        "RTS": "Modify QP to RTS",
        "SQD": "Modify QP to SQD",
        "SQE": "Modify QP to SQE",
        "ERR": "Modify QP to ERR",
        "destroy": "Destroy QP",
    }
    ANSWER = "answer" {
        "done": "the command is executed",
        "illegal": "there is no such transition",
        "not permitted": "notification is asked for where it is not permitted",
    }
    KIND = "event" {
        "first packet": "the first request packet has arrived",
        "drained": "the send queue has drained",
        "send error": "a send has completed with an error",
        "fatal": "a fatal error",
    }
    SERVICE = "service" {
        "reliable": "RC, RD or XRC: connected, with acknowledgements",
        "UC": "connected, without acknowledgements",
        "UD": "UD, CNP and the reserved codes: neither",
    }
    OWED = "notification" {
        "none": "no drain event is owed",
        "owed": "a drain event is owed to software",
    }
    ERROR = "packet" { "good": "it can be executed", "bad": "it cannot be executed" }
    WQE = "WQE" {
        "no WQE": "it takes no WQE", "WQE": "it is the packet of its message that takes the WQE",
    }
    LEVEL = "events" {
        "0": "the queue is empty", "1": "1 event", "2": "2 events", "3": "3 events",
        "4": "4 events", "5": "5 events", "6": "6 events", "7": "7 events", "8": "8 events",
        "9": "9 events", "10": "10 events", "11": "11 events", "12": "12 events",
        "13": "13 events", "14": "14 events", "15": "one less than full", "16": "the queue is full",
    }
    MOVE = "move" {
        "in": "an event goes in, none leaves",
        "out": "an event leaves, none goes in",
        "both": "one leaves and one goes in at the same edge",
    }
    HELD = "at a full queue" {
        "command": "a command waits",
        "event": "an event that needs an entry waits",
        "both": "a command and an event wait",
        "other event": "an event that needs no entry is taken",
    }
    OFFER = "offer" { "command": "Modify QP", "event": "an event of hardware" }
    WAITS = "in the next cycle" {
        "unchanged": "it is on offer as before", "changed": "another one is on offer",
        "withdrawn": "nothing is on offer",
    }
    SINCE = "query" {
        "settled": "the QP's state has been the same for at least a cycle",
        "by command": "a command for the QP was taken at the edge before",
        "by event": "an event of the QP was taken at the edge before",
        "by both": "a command and an event for the QP were taken at the edge before",
    }
    LOST = "lost" {
        "nothing": "no answer and no event is on its way",
        "answer": "an answer is shown in the cycle of the reset",
        "events": "some events are in the queue, no answer is shown",
        "answer and events": "an answer is shown, and some events are in the queue",
        "full queue": "the queue is full",
    }
}

/// The QP's state before what is counted.
const STATE: Axis = Axis::new("state", State::VALUES);

cosim_core::coverage! {
    /// The coverage of `qp` beside its rules.
    pub Coverage of Qp;
    before Before = Before::of;
    reset |inputs| inputs.rst.is_high(), memory Memory = Memory::remember, source "coverage.rs";
    MODIFY = "modify": "commands taken: state after an event at the same edge, state asked for, answer"
        [STATE, NEXT, ANSWER] unless no_such_answer,
        hit |at| modified(at).zip(at.golden.answer())
            .map(|((qp, next), answer)| [qp.state as usize, next, answer as usize]);
    DRAINS = "drains": "commands taken of a QP in SQD, by what is owed" [NEXT, OWED],
        hit |at| modified(at).filter(|(qp, _)| qp.state == State::Sqd)
            .map(|(qp, next)| [next, usize::from(qp.notify)]);
    EVENTS = "events": "events of hardware taken: kind, state and service before"
        [KIND, STATE, SERVICE] unless |at, _| no_such_qp(at[1], at[2]),
        hit |at| event(at).map(|event| {
            let QueuePair { state, service, .. } = at.before.of_event;
            [event.kind.get() as usize, state as usize, class(service)]
        });
    SAME_QP = "same-qp": "an event and a command for one QP at one edge (X1): kind, state before both, state asked for"
        [KIND, STATE, NEXT],
        hit |at| both(at, true).map(|[kind, next]| [kind, at.before.of_command.state as usize, next]);
    TWO_QPS = "two-qps": "an event and a command for two QPs at one edge: kind, state asked for"
        [KIND, NEXT],
        hit |at| both(at, false);
    PACKETS = "packets": "request packets: state and service before, error, WQE"
        [STATE, SERVICE, ERROR, WQE] unless |at, _| no_such_qp(at[0], at[1]),
        hit |at| Packet::offered(at.inputs).map(|packet| {
            let QueuePair { state, service, .. } = at.before.of_packet;
            let flags = [packet.error, packet.consumes_wqe].map(|flag| flag.get() as usize);
            [state as usize, class(service), flags[0], flags[1]]
        });
    QUEUE = "queue": "the event queue: events before the edge, what moves" [LEVEL, MOVE]
        unless no_such_move,
        hit |at| {
            let moves = usize::from(at.rules.has(E1)) | usize::from(at.rules.has(E2)) << 1;
            moves.checked_sub(1).map(|moves| [at.before.level, moves])
        };
    FULL = "full": "what is on offer while the queue is full" [HELD],
        hit |at| {
            let (is_full, taken) = (at.before.level == FULL_LEVEL, event(at));
            let event_waits = at.inputs.hw_valid.is_high() && taken.is_none();
            let waits = usize::from(at.inputs.cmd_valid.is_high()) | usize::from(event_waits) << 1;
            let other = taken.map(|_| [3]);
            waits.checked_sub(1).map(|waits| [waits]).into_iter().chain(other).filter(move |_| is_full)
        };
    OFFERS = "offers": "an offer that is not taken, and its change" [OFFER, WAITS],
        hit |at| {
            let command = at.memory.command.map(|before| became(before, Command::offered(at.inputs)));
            let event = at.memory.event.map(|before| became(before, Event::offered(at.inputs)));
            let event = event.map(|event| [1, event]);
            command.map(|command| [0, command]).into_iter().chain(event)
        };
    QUERY = "query": "queries: state shown, and how old it is" [STATE, SINCE],
        hit |at| {
            let asked = Some(Uint::new(at.inputs.query_qpn.get()));
            let [command, event] = [at.memory.commanded, at.memory.happened]
                .map(|changed| usize::from(changed == asked));
            [[at.outputs.query_state.get() as usize, command | event << 1]]
        };
    RESET = "reset": "resets, by the state they interrupt" [LOST],
        on reset |at| [[match (at.before.level, at.before.answers) {
            (FULL_LEVEL, _) => 4,
            (level, answers) => usize::from(answers) | usize::from(level > 0) << 1,
        }]];
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

/// The events of a full queue.
const FULL_LEVEL: usize = LEVEL.values.len() - 1;

/// Registers before the edge.
#[derive(Debug)]
pub struct Before {
    level: usize,
    answers: bool,
    of_command: QueuePair,
    of_event: QueuePair,
    of_packet: QueuePair,
}

impl Before {
    #[inline]
    fn of(golden: &Golden, inputs: &Inputs) -> Self {
        let [of_command, of_event, of_packet] =
            [inputs.cmd_qpn, inputs.hw_qpn, inputs.msg_qpn].map(|qpn| *golden.qp(qpn));
        let answers = golden.answer().is_some();
        Self { level: golden.level(), answers, of_command, of_event, of_packet }
    }
}

/// What happened at the edge before: the QPs whose command and event were accepted, and a command
/// and an event that were not.
#[derive(Debug, Default)]
pub struct Memory {
    commanded: Option<Uint<8>>,
    happened: Option<Uint<8>>,
    command: Option<Command>,
    event: Option<Event>,
}

impl Memory {
    #[inline]
    fn remember(&mut self, _: &Before, edge: &Edge<'_, Qp>) {
        let (command, event) = (Command::offered(edge.inputs), Event::offered(edge.inputs));
        let [takes_command, takes_event] =
            [edge.outputs.cmd_ready, edge.outputs.hw_ready].map(Bits1::is_high);
        self.commanded = command.filter(|_| takes_command).map(|command| command.qpn);
        self.happened = event.filter(|_| takes_event).map(|event| event.qpn);
        self.command = command.filter(|_| !takes_command);
        self.event = event.filter(|_| !takes_event);
    }
}

/// The place of an offer that waits, after another cycle.
#[inline]
fn became<T: PartialEq>(before: T, now: Option<T>) -> usize {
    now.map_or(2, |now| usize::from(now != before))
}

type At<'a> = Sample<'a, Qp, Before, Memory>;

/// An accepted command.
#[inline]
fn command(at: &At<'_>) -> Option<Command> {
    Command::offered(at.inputs).filter(|_| at.outputs.cmd_ready.is_high())
}

/// An accepted event.
#[inline]
fn event(at: &At<'_>) -> Option<Event> {
    Event::offered(at.inputs).filter(|_| at.outputs.hw_ready.is_high())
}

/// An accepted command as place on its axis, and its QP after an event at the same edge if that is
/// for the same QP.
#[inline]
fn modified(at: &At<'_>) -> Option<(QueuePair, usize)> {
    let (command, mut qp) = (command(at)?, at.before.of_command);
    if let Some(event) = event(at).filter(|event| event.qpn == command.qpn) {
        qp.happens(event.kind.get() as u8);
    }
    Some((qp, command.next.get() as usize))
}

/// The kind of an accepted event and the state that a command at the same edge asks for, for one QP
/// or for two.
#[inline]
fn both(at: &At<'_>, same_qp: bool) -> Option<[usize; 2]> {
    let (event, command) = (event(at)?, command(at)?);
    let codes = [event.kind.get(), command.next.get()].map(|code| code as usize);
    Some(codes).filter(|_| (event.qpn == command.qpn) == same_qp)
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

#[cfg(test)]
mod tests;
