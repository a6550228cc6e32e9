//! The rules as data: transitions by Modify QP, hardware events, and answers to packets.
//!
//! Each row has a guard, as a set of cases, and its effects. The golden model executes the row
//! whose guard holds. The tables compile only if exactly one guard holds in each case.

use cosim_core::harness::RuleSet;

cosim_core::rules! {
    C1: "RESET to INIT, with a service";
    C2: "INIT to INIT";
    C3: "INIT to RTR";
    C4: "RTR to RTS";
    C5: "RTS to SQD, with or without notification";
    C6: "SQD to RTS, nothing is owed any more";
    C7: "SQD to SQD, what is owed stays owed";
    C8: "SQE to RTS";
    C9: "any state to RESET";
    C10: "any state to ERR";
    C11: "Destroy QP";
    C12: "no such transition: refused";
    C13: "notification is asked for where it is not permitted: refused";
    H1: "the first request packet establishes the connection: RTR to RTS";
    H2: "a first request packet with nothing to establish: ignored";
    H3: "the send queue has drained and software is owed the news";
    H4: "the send queue has drained without a request for notification: ignored";
    H5: "a send completes with an error, unreliable service: SQE";
    H6: "a send completes with an error, reliable service: ERR";
    H7: "a send completes with an error outside of RTS: ignored";
    H8: "fatal error: ERR";
    H9: "fatal error of a QP in RESET: ignored";
    M1: "the QP takes no packets in its state";
    M2: "packet of an unreliable service: taken without an answer";
    M3: "packet of a reliable service: taken with an Ack";
    M4: "packet of a reliable service that cannot be executed: Nak";
    Q1: "the state of a QP and what follows from it";
    E1: "an event goes into the queue";
    E2: "software takes an event";
    E3: "the queue is full: a command waits";
    E4: "the queue is full: an event that needs an entry waits";
    X1: "an event and a command for one QP: the event goes first";
    R1: "reset";
}

cosim_core::rules! {
    pub enum State {
        Reset = "RESET": "nothing is set up",
        Init = "INIT": "its service is known",
        Rtr = "RTR": "ready to receive",
        Rts = "RTS": "ready to send",
        Sqd = "SQD": "send queue drain",
        Sqe = "SQE": "send queue error",
        Err = "ERR": "error",
    }
}

use State::{Err, Init, Reset, Rtr, Rts, Sqd, Sqe};

/// `cmd_next` of Destroy QP.
pub const DESTROY: u8 = 7;

/// Service types with acknowledgements: RC, RD, XRC.
pub const RELIABLE: u8 = 1 << 0 | 1 << 2 | 1 << 5;
/// Service types that the first request packet moves to RTS: RC, UC, RD, XRC.
pub const CONNECTED: u8 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5;
const ANY_SERVICE: u8 = 0xff;

/// The update of a register: it keeps its value, loads the command's value, or becomes 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Keep,
    Load,
    Clear,
}

use Store::{Clear, Keep, Load};

impl Store {
    /// The value of a register after the row.
    #[inline]
    pub fn next_value<T: Default>(self, kept: T, loaded: T) -> T {
        match self {
            Keep => kept,
            Load => loaded,
            Clear => T::default(),
        }
    }
}

/// `rsp_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Done,
    Illegal,
    NotPermitted,
}

/// `evt_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Drained,
    Established,
    Fatal,
}

/// A row of the rules for Modify QP.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    pub rule: RuleSet,
    /// By state, requested state, and whether notification is asked for.
    pub(super) cases: u128,
    pub answer: Answer,
    /// The next state; `None` keeps it.
    pub to: Option<State>,
    pub service: Store,
    pub notify: Store,
}

/// A row of the rules for hardware events.
#[derive(Debug, Clone, Copy)]
pub struct EventRule {
    pub rule: RuleSet,
    pub(super) kind: u8,
    /// By state, service and the notification flag.
    pub(super) cases: u128,
    /// The next state; `None` keeps it.
    pub to: Option<State>,
    pub notify: Store,
    pub event: Option<Event>,
}

/// A row of the rules for request packets.
#[derive(Debug, Clone, Copy)]
pub struct RequestRule {
    pub rule: RuleSet,
    /// By state, service, and whether the packet cannot be executed.
    pub(super) cases: u128,
    pub accept: bool,
    /// The packet uses up a WQE, if it is of that kind.
    pub takes_wqe: bool,
    pub ack: bool,
    pub nak: bool,
}

/// All cases: seven states, eight values, one bit.
const EVERY: u128 = (1 << (7 * 16)) - 1;

/// One transition without a parameter.
const fn plain(from: State, next: u8) -> u128 {
    1 << case(from, next, false)
}

/// The transitions from all states, without a parameter.
const fn from_any(next: u8) -> u128 {
    let mut cases = 0;
    let mut index = 0;
    while index < State::ALL.len() {
        cases |= plain(State::ALL[index], next);
        index += 1;
    }
    cases
}

/// The cases of a state and a set of services, with both values of the bit.
const fn qps(state: State, services: u8) -> u128 {
    let mut cases = 0;
    let mut service = 0;
    while service < 8 {
        if services >> service & 1 == 1 {
            cases |= 0b11 << case(state, service, false);
        }
        service += 1;
    }
    cases
}

/// The cases in which the bit is set.
const fn with_bit(cases: u128) -> u128 {
    cases & 0xaaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa
}

/// The cases in which a QP accepts packets.
const fn receiving(services: u8) -> u128 {
    qps(Rtr, services) | qps(Rts, services) | qps(Sqd, services) | qps(Sqe, services)
}

const RTS_TO_SQD: u128 = 0b11 << case(Rts, Sqd as u8, false);
const PLAIN: u128 = plain(Reset, Init as u8)
    | plain(Init, Init as u8)
    | plain(Init, Rtr as u8)
    | plain(Rtr, Rts as u8)
    | plain(Sqd, Rts as u8)
    | plain(Sqd, Sqd as u8)
    | plain(Sqe, Rts as u8)
    | from_any(Reset as u8)
    | from_any(Err as u8)
    | from_any(DESTROY);
/// The same transitions with the parameter.
const WITH_PARAMETER: u128 = PLAIN << 1;

const fn done(rule: RuleSet, cases: u128, to: State, service: Store, notify: Store) -> Transition {
    Transition { rule, cases, answer: Answer::Done, to: Some(to), service, notify }
}

const fn refused(rule: RuleSet, cases: u128, answer: Answer) -> Transition {
    Transition { rule, cases, answer, to: None, service: Keep, notify: Keep }
}

/// Section 6 of the specification.
pub const TRANSITIONS: [Transition; 13] = [
    done(C1, plain(Reset, Init as u8), Init, Load, Keep),
    done(C2, plain(Init, Init as u8), Init, Keep, Keep),
    done(C3, plain(Init, Rtr as u8), Rtr, Keep, Keep),
    done(C4, plain(Rtr, Rts as u8), Rts, Keep, Keep),
    done(C5, RTS_TO_SQD, Sqd, Keep, Load),
    done(C6, plain(Sqd, Rts as u8), Rts, Keep, Clear),
    done(C7, plain(Sqd, Sqd as u8), Sqd, Keep, Keep),
    done(C8, plain(Sqe, Rts as u8), Rts, Keep, Keep),
    done(C9, from_any(Reset as u8), Reset, Keep, Clear),
    done(C10, from_any(Err as u8), Err, Keep, Clear),
    done(C11, from_any(DESTROY), Reset, Clear, Clear),
    refused(C12, EVERY & !(PLAIN | WITH_PARAMETER | RTS_TO_SQD), Answer::Illegal),
    refused(C13, WITH_PARAMETER, Answer::NotPermitted),
];

const ESTABLISHES: u128 = qps(Rtr, CONNECTED);
const DRAINS: u128 = with_bit(qps(Sqd, ANY_SERVICE));
const BREAKS_SQ: u128 = qps(Rts, !RELIABLE);
const BREAKS_QP: u128 = qps(Rts, RELIABLE);
const UNUSED: u128 = qps(Reset, ANY_SERVICE);

const fn row(
    rule: RuleSet,
    kind: u8,
    cases: u128,
    to: State,
    notify: Store,
    event: Option<Event>,
) -> EventRule {
    EventRule { rule, kind, cases, to: Some(to), notify, event }
}

const fn ignored(rule: RuleSet, kind: u8, cases: u128) -> EventRule {
    EventRule { rule, kind, cases, to: None, notify: Keep, event: None }
}

/// Section 7 of the specification.
pub const HARDWARE_EVENTS: [EventRule; 9] = [
    row(H1, 0, ESTABLISHES, Rts, Keep, Some(Event::Established)),
    ignored(H2, 0, EVERY & !ESTABLISHES),
    row(H3, 1, DRAINS, Sqd, Clear, Some(Event::Drained)),
    ignored(H4, 1, EVERY & !DRAINS),
    row(H5, 2, BREAKS_SQ, Sqe, Keep, None),
    row(H6, 2, BREAKS_QP, Err, Keep, None),
    ignored(H7, 2, EVERY & !(BREAKS_SQ | BREAKS_QP)),
    row(H8, 3, EVERY & !UNUSED, Err, Clear, Some(Event::Fatal)),
    ignored(H9, 3, UNUSED),
];

const fn reception_rule(rule: RuleSet, cases: u128, [accept, ack, nak]: [bool; 3]) -> RequestRule {
    RequestRule { rule, cases, accept, takes_wqe: accept && !nak, ack, nak }
}

/// Section 8 of the specification.
pub const RECEPTIONS: [RequestRule; 4] = [
    reception_rule(M1, EVERY & !receiving(ANY_SERVICE), [false, false, false]),
    reception_rule(M2, receiving(!RELIABLE), [true, false, false]),
    reception_rule(M3, receiving(RELIABLE) & !with_bit(receiving(RELIABLE)), [true, true, false]),
    reception_rule(M4, with_bit(receiving(RELIABLE)), [true, false, true]),
];

/// What a state permits and does, as `[sq_post, rq_post, sq_run, rq_run]`.
#[inline]
pub fn permits(state: State) -> [bool; 4] {
    const BITS: [u8; 7] = [0b0000, 0b0100, 0b0101, 0b1111, 0b1101, 0b1101, 0b1100];
    [3, 2, 1, 0].map(|bit| BITS[state as usize] >> bit & 1 == 1)
}

/// The number of cases: the highest ones have no state.
const CASES: usize = 128;

/// The index of the row of each case, and that of hardware events by kind. It compiles only if
/// exactly one row applies to each case.
macro_rules! row_of_case {
    ($rows:ident, |$row:ident| $is_selected:expr) => {{
        let (mut row_of, mut case) = ([0; CASES], 0);
        while case < CASES {
            let (mut found, mut index) = (0, 0);
            while index < $rows.len() {
                let $row = &$rows[index];
                if $is_selected && $row.cases >> case & 1 == 1 {
                    row_of[case] = index as u8;
                    found += 1;
                }
                index += 1;
            }
            assert!(found == (EVERY >> case & 1), "exactly one row applies to each case");
            case += 1;
        }
        row_of
    }};
}

static TRANSITION_OF: [u8; CASES] = row_of_case!(TRANSITIONS, |row| true);
static RECEPTION_OF: [u8; CASES] = row_of_case!(RECEPTIONS, |row| true);
static HARDWARE_EVENT_OF: [[u8; CASES]; 4] = [
    row_of_case!(HARDWARE_EVENTS, |row| row.kind == 0),
    row_of_case!(HARDWARE_EVENTS, |row| row.kind == 1),
    row_of_case!(HARDWARE_EVENTS, |row| row.kind == 2),
    row_of_case!(HARDWARE_EVENTS, |row| row.kind == 3),
];

/// The index of a case: state, 3 bits of command or service, 1 bit.
#[inline]
const fn case(state: State, three_bits: u8, bit: bool) -> usize {
    (state as usize) << 4 | (three_bits as usize & 7) << 1 | bit as usize
}

#[inline]
pub fn transition(state: State, next: u8, notify: bool) -> &'static Transition {
    &TRANSITIONS[usize::from(TRANSITION_OF[case(state, next, notify)])]
}

#[inline]
pub fn hardware_event(state: State, service: u8, owed: bool, kind: u8) -> &'static EventRule {
    let of_kind = &HARDWARE_EVENT_OF[usize::from(kind & 3)];
    &HARDWARE_EVENTS[usize::from(of_kind[case(state, service, owed)])]
}

#[inline]
pub fn reception(state: State, service: u8, error: bool) -> &'static RequestRule {
    &RECEPTIONS[usize::from(RECEPTION_OF[case(state, service, error)])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{qp::Qp, testing};

    #[test]
    fn every_rule_of_the_specification_is_there_and_no_other() {
        testing::rules_are_those_of_the_specification::<Qp>("CHME", &["Q1", "X1", "R1"]);
    }

    #[test]
    fn the_matrix_is_that_of_the_specification() {
        for state in State::ALL {
            let is_row = |cells: &Vec<&str>| cells.len() == 9 && cells[0] == state.name();
            let cells = testing::rows::<Qp>().find(is_row).unwrap();
            for (next, plain) in (0..8).zip(&cells[1..]) {
                let with_notification = match *plain {
                    "C12" | "C5" => *plain,
                    _ => "C13",
                };
                for (notify, expected) in [(false, *plain), (true, with_notification)] {
                    let row = transition(state, next, notify);
                    assert_eq!(row.rule.names(&RULES), expected, "{cells:?} {next}");
                }
            }
        }
    }
}
