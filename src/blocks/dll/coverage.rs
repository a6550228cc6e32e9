//! What a regression of `dll` is to have seen, beside its rules.
//!
//! Several rules fire at an edge, so most groups are crosses of a rule with what its device is like before the edge.

use super::Dll;
use super::golden::{Golden, Look};
use super::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::rtl::Inputs;
use super::rules::{
    A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, B1, B2, B3, B4, B5, B6,
    B7, B8, B9, B10, B11, B12, B13, F0, Rules, fix,
};
use cosim_core::harness::{self, Axis, Bins, Covergroup, Edge, Parameters, Place, RuleSet, Value};

macro_rules! values {
    ($( $name:literal: $meaning:literal, )*) => { &[$( Value { name: $name, meaning: $meaning }, )*] };
}

/// Rules of A but that of reset, in the order of their axis.
const OF_A: [Rules; 16] = [A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16];
/// Rules of B but that of reset.
const OF_B: [Rules; 14] = [B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, F0];

/// Rules of A that are counted by the buffer's level.
const OF_BUFFER: [Rules; 15] = [A1, A2, A3, A4, A5, A6, A7, A8, A9, A11, A12, A13, A14, A15, A16];
/// Rules of A that are counted by its timer; those of DLLPs are in a group of their own.
const OF_TIMER: [Rules; 8] = [A1, A2, A9, A10, A11, A13, A15, A16];
/// Rules of B that are counted by its timer.
const OF_ACK_TIMER: [Rules; 11] = [B1, B2, B3, B4, B5, B6, B7, B11, B12, B13, F0];

/// The values of an axis for some of its rules.
const fn chosen<const COUNT: usize>(all: &[Value], places: [usize; COUNT]) -> [Value; COUNT] {
    let mut chosen = [Value { name: "", meaning: "" }; COUNT];
    let mut index = 0;
    while index < COUNT {
        chosen[index] = all[places[index]];
        index += 1;
    }
    chosen
}

const BUFFER_RULE: Axis =
    Axis::new("rule", &chosen(A_RULE.values, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15]));
const TIMER_RULE: Axis = Axis::new("rule", &chosen(A_RULE.values, [0, 1, 8, 9, 10, 12, 14, 15]));
const ACK_TIMER_RULE: Axis =
    Axis::new("rule", &chosen(B_RULE.values, [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13]));

const A_RULE: Axis = Axis::new(
    "rule",
    values! {
        "A1": "A takes a new TLP", "A2": "the link takes A's TLP", "A3": "Ack with progress",
        "A4": "Nak with progress", "A5": "Nak without progress", "A6": "Ack of nothing new",
        "A7": "DLLP out of range", "A8": "damaged DLLP", "A9": "REPLAY_TIMER expires",
        "A10": "REPLAY_NUM rolls over", "A11": "the replay buffer is full",
        "A12": "the next TLP is offered", "A13": "the offer waits", "A14": "Ack overtakes a replay",
        "A15": "REPLAY_TIMER counts", "A16": "REPLAY_TIMER rests",
    },
);
const B_RULE: Axis = Axis::new(
    "rule",
    values! {
        "B1": "wanted TLP", "B2": "duplicate while a Nak is out, silence", "B3": "duplicate",
        "B4": "bad CRC, Nak", "B5": "a TLP was lost, Nak", "B6": "bad or ahead while a Nak is out",
        "B7": "the Ack timer expires", "B8": "a newer Ack takes the place of one that waits",
        "B9": "a Nak takes the place of an Ack that waits", "B10": "the Nak that waits stays",
        "B11": "the link takes B's DLLP", "B12": "a DLLP is put out", "B13": "the Ack timer counts",
        "F0": "duplicate while a Nak is out, an Ack is owed",
    },
);
const BUFFER: Axis = Axis::new(
    "replay buffer",
    values! {
        "empty": "no entry is used",
        "some": "some entries are used, two or more are free",
        "one free": "one entry is free",
        "full": "no entry is free",
    },
);
const TIMER: Axis = Axis::new(
    "timer",
    values! {
        "0": "it begins or rests", "runs": "it is neither 0 nor at its limit",
        "limit": "it expires at this edge unless something forbids it",
    },
);
const REPLAYS: Axis = Axis::new(
    "REPLAY_NUM",
    values! { "0": "no replay yet", "1": "one", "2": "two", "3": "the next one rolls over", },
);
const DLLP: Axis = Axis::new(
    "DLLP",
    values! {
        "none": "no DLLP arrives", "Ack": "A3: an Ack with progress",
        "Nak": "A4, A5: a Nak, with or without progress",
        "ignored": "A6, A7, A8: nothing new, out of range, or damaged",
    },
);
const OFFER: Axis = Axis::new(
    "offer",
    values! {
        "none": "there is no offer, and none is made",
        "made": "there is none, and one is made",
        "taken": "it is taken, and no other is made",
        "next": "it is taken, and the next one is made",
        "held": "it waits for the link",
    },
);
const NEW: Axis = Axis::new("new TLP", values! { "no": "none is taken", "yes": "A takes one", });
const ACKED: Axis = Axis::new(
    "n",
    values! {
        "ackd": "it is ackd_seq: nothing new",
        "oldest": "it is the oldest TLP that is not acknowledged, and not the only one that was sent",
        "inside": "it is neither the oldest nor the newest",
        "newest": "it is the newest TLP that was sent",
        "ahead": "it is ahead of all that were sent",
        "one behind": "it is the number before ackd_seq",
        "behind": "it is further behind",
    },
);
const NAK: Axis = Axis::new("kind", values! { "Ack": "an Ack", "Nak": "a Nak", });
const GOOD: Axis = Axis::new("CRC", values! { "good": "it is whole", "bad": "it is damaged", });
const NUMBER: Axis = Axis::new(
    "number",
    values! {
        "wanted": "the TLP that B wants", "one ahead": "the one after it",
        "ahead": "further ahead, less than half of the numbers",
        "one behind": "the one before it",
        "behind": "further behind",
    },
);
const NAK_OUT: Axis = Axis::new(
    "NAK_SCHEDULED",
    values! { "no Nak": "no Nak is out", "Nak out": "a Nak is out and its TLP has not come", },
);
const ACK_TIMER: Axis = Axis::new(
    "Ack timer",
    values! {
        "stopped": "it is stopped", "0": "it has just started", "runs": "it runs",
        "limit": "it expires at this edge unless something forbids it",
    },
);
const PENDING: Axis = Axis::new(
    "DLLP of B",
    values! {
        "none": "none is on offer", "Ack taken": "an Ack is taken at this edge",
        "Ack waits": "an Ack waits for the link", "Nak taken": "a Nak is taken at this edge",
        "Nak waits": "a Nak waits for the link",
    },
);
const A_NUMBERS: Axis = Axis::new(
    "numbers",
    values! {
        "inside": "4095 and 0 are both in the buffer, or 0 is the next one and 4095 is in it",
    },
);
const B_NUMBERS: Axis = Axis::new(
    "next_rcv_seq",
    values! {
        "before": "it is less than 256 away from 4095", "after": "it has rolled over less than 256 numbers ago",
    },
);

/// Every group.
pub(super) const GROUPS: [Covergroup; 13] = [
    Covergroup::new(
        "a-buffer",
        "rules of A, by the replay buffer before the edge",
        &[BUFFER_RULE, BUFFER],
    )
    .unless(|at, parameters| {
        no_such_level(OF_BUFFER[at[0]], BUFFER.values[at[1]].name, parameters)
    }),
    Covergroup::new("a-timer", "rules of A, by REPLAY_TIMER before the edge", &[TIMER_RULE, TIMER])
        .unless(|at, parameters| {
            no_such_replay_timer(OF_TIMER[at[0]], TIMER.values[at[1]].name, parameters)
        }),
    Covergroup::new("a-replays", "rules of A, by REPLAY_NUM before the edge", &[A_RULE, REPLAYS])
        .unless(|at, _| no_such_replays(OF_A[at[0]], at[1])),
    Covergroup::new(
        "a-edge",
        "what happens to A at one edge: a DLLP, the offer to the link, a new TLP",
        &[DLLP, OFFER, NEW],
    )
    .unless(no_such_edge),
    Covergroup::new("a-limit", "DLLPs at the edge at which REPLAY_TIMER would expire", &[DLLP]),
    Covergroup::new(
        "a-rewind",
        "rewinds of A: the rule, and the offer to the link",
        &[
            Axis::new(
                "rewind",
                values! { "A4": "Nak with progress", "A5": "Nak without progress", "A9": "REPLAY_TIMER expires", },
            ),
            Axis::new(
                "offer",
                values! { "none": "there is none", "taken": "it is taken at this edge", "held": "it waits", },
            ),
        ],
    ),
    Covergroup::new("a-dllp", "whole DLLPs at A: kind and number", &[NAK, ACKED])
        .unless(|at, parameters| no_such_number(ACKED.values[at[1]].name, parameters)),
    Covergroup::new(
        "b-tlp",
        "TLPs at B: whole or damaged, number as it arrives, whether a Nak is out",
        &[GOOD, NUMBER, NAK_OUT],
    )
    .unless(|at, parameters| no_such_tlp(at[0], NUMBER.values[at[1]].name, parameters)),
    Covergroup::new(
        "b-timer",
        "rules of B, by its Ack timer before the edge",
        &[ACK_TIMER_RULE, ACK_TIMER],
    )
    .unless(|at, parameters| {
        no_such_ack_timer(OF_ACK_TIMER[at[0]], ACK_TIMER.values[at[1]].name, parameters)
    }),
    Covergroup::new("b-dllp", "rules of B, by its DLLP", &[B_RULE, PENDING])
        .unless(|at, parameters| no_such_dllp(OF_B[at[0]], PENDING.values[at[1]].name, parameters)),
    Covergroup::new("b-nak", "rules of B, by NAK_SCHEDULED before the edge", &[B_RULE, NAK_OUT])
        .unless(|at, parameters| no_such_nak(OF_B[at[0]], at[1] == 1, parameters)),
    Covergroup::new("a-roll-over", "rules of A, where its numbers roll over", &[A_RULE, A_NUMBERS]),
    Covergroup::new("b-roll-over", "rules of B, where its numbers roll over", &[B_RULE, B_NUMBERS])
        .unless(|at, parameters| not_in_profile(OF_B[at[0]], parameters)),
];

const A_BUFFER: Place<2> = Place::of(&GROUPS, "a-buffer");
const A_TIMER: Place<2> = Place::of(&GROUPS, "a-timer");
const A_REPLAYS: Place<2> = Place::of(&GROUPS, "a-replays");
const A_EDGE: Place<3> = Place::of(&GROUPS, "a-edge");
const A_LIMIT: Place<1> = Place::of(&GROUPS, "a-limit");
const A_REWIND: Place<2> = Place::of(&GROUPS, "a-rewind");
const A_ACKED: Place<2> = Place::of(&GROUPS, "a-dllp");
const B_TLP: Place<3> = Place::of(&GROUPS, "b-tlp");
const B_TIMER: Place<2> = Place::of(&GROUPS, "b-timer");
const B_DLLP: Place<2> = Place::of(&GROUPS, "b-dllp");
const B_NAK: Place<2> = Place::of(&GROUPS, "b-nak");
const A_ROLL_OVER: Place<2> = Place::of(&GROUPS, "a-roll-over");
const B_ROLL_OVER: Place<2> = Place::of(&GROUPS, "b-roll-over");

/// Entries that are used at most, whatever REPLAY_DEPTH is: the sequence numbers of more would not tell old from
/// new (A11).
const MOST_USED: u16 = 2047;

/// Whether a rule is one of some.
fn is(rule: Rules, of: Rules) -> bool {
    of.has(rule)
}

fn f0_on(parameters: &Parameters) -> bool {
    parameters.fixes() & fix(0) != 0
}

fn depth(parameters: &Parameters) -> u64 {
    parameters.get(REPLAY_DEPTH)
}

/// Rules that F0 switches on and off.
fn not_in_profile(rule: Rules, parameters: &Parameters) -> Option<&'static str> {
    match f0_on(parameters) {
        true => is(rule, B2).then_some("replaced by F0"),
        false => is(rule, F0).then_some("needs F0"),
    }
}

fn no_such_level(rule: Rules, level: &str, parameters: &Parameters) -> Option<&'static str> {
    match level {
        "some" if depth(parameters) == 2 => {
            Some("REPLAY_DEPTH is 2: with an entry used one is free")
        }
        "full" if is(rule, A1) => Some("A11: tlp_ready is 0 while no entry is free"),
        "empty" if is(rule, A3.or(A4).or(A9).or(A14).or(A15)) => Some(
            "section 4: with an empty buffer last_sent_seq is ackd_seq, and nothing is unacknowledged",
        ),
        "empty" if is(rule, A12) => Some("section 4: with an empty buffer send_seq is next_seq"),
        "empty" | "some" if is(rule, A11) => Some("A1: one TLP at most is taken at an edge"),
        _ => None,
    }
}

fn no_such_replay_timer(rule: Rules, timer: &str, parameters: &Parameters) -> Option<&'static str> {
    match timer {
        "runs" if parameters.get(REPLAY_LIMIT) == 2 => {
            Some("REPLAY_LIMIT is 2: it is 0 or at its limit")
        }
        "0" | "runs" if is(rule, A9) => Some("A9: the timer is at its limit"),
        "limit" if is(rule, A15) => Some("A9 fires in its place, unless A3, A4 or A5 does"),
        "runs" | "limit" if is(rule, A16) => {
            Some("A3, A4 and A16: while nothing is unacknowledged the timer is 0")
        }
        _ => None,
    }
}

fn no_such_replays(rule: Rules, replays: usize) -> Option<&'static str> {
    (is(rule, A10) && replays != 3).then_some("A10: REPLAY_NUM is 3")
}

fn no_such_edge(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    match (DLLP.values[at[0]].name, OFFER.values[at[1]].name, NEW.values[at[2]].name) {
        ("Nak", "made" | "next", _) => Some("A12: no TLP is offered at the edge of a rewind"),
        ("Ack", "made" | "next", "yes") if depth(parameters) == 2 => Some(
            "REPLAY_DEPTH is 2: one entry is free for the new TLP, the other is the one that is acknowledged, \
             and A14 skips it",
        ),
        _ => None,
    }
}

fn no_such_number(number: &str, parameters: &Parameters) -> Option<&'static str> {
    match number {
        "ahead" => Some("B names what arrived, and that was sent"),
        "inside" if depth(parameters) == 2 => Some("REPLAY_DEPTH is 2: the oldest or the newest"),
        _ => None,
    }
}

fn no_such_tlp(bad: usize, number: &str, parameters: &Parameters) -> Option<&'static str> {
    match number {
        "ahead" if bad == 0 && depth(parameters) == 2 => {
            Some("REPLAY_DEPTH is 2: A sends no more than one TLP beyond the one that B wants")
        }
        _ => None,
    }
}

/// With F0 off the Ack timer does not run while a Nak is out: section 6.
const SILENT: &str = "section 6: with F0 off the Ack timer is stopped while a Nak is out";

fn no_such_ack_timer(rule: Rules, timer: &str, parameters: &Parameters) -> Option<&'static str> {
    match timer {
        _ if not_in_profile(rule, parameters).is_some() => not_in_profile(rule, parameters),
        "runs" if parameters.get(ACKNAK_LATENCY) == 2 => {
            Some("ACKNAK_LATENCY is 2: it is 0 or at its limit")
        }
        "stopped" if is(rule, B7.or(B8).or(B13)) => Some("B7, B13: the timer runs"),
        "0" | "runs" if is(rule, B7.or(B8)) => Some("B7: the timer is at its limit"),
        "limit" if is(rule, B13) => Some("B7 fires in its place, unless B4 or B5 does"),
        "0" | "runs" | "limit" if is(rule, B2.or(B6)) && !f0_on(parameters) => Some(SILENT),
        _ => None,
    }
}

fn no_such_dllp(rule: Rules, pending: &str, parameters: &Parameters) -> Option<&'static str> {
    match pending {
        _ if not_in_profile(rule, parameters).is_some() => not_in_profile(rule, parameters),
        "Ack waits" if is(rule, B8.or(B9)) => None,
        _ if is(rule, B8.or(B9)) => Some("B8, B9: an Ack waits"),
        "Nak waits" if is(rule, B10) => None,
        _ if is(rule, B10) => Some("B10: a Nak waits"),
        "none" | "Ack waits" | "Nak waits" if is(rule, B11) => Some("B11: a DLLP is taken"),
        "Ack waits" | "Nak waits" if is(rule, B12) => Some("B12: no DLLP waits"),
        "Ack taken" | "Ack waits" if is(rule, B2.or(B6)) && !f0_on(parameters) => Some(SILENT),
        "Nak taken" | "Nak waits" if is(rule, B5) && depth(parameters) == 2 => Some(
            "REPLAY_DEPTH is 2: before A sends the one after the next TLP it has heard of one that B took after this Nak",
        ),
        _ => None,
    }
}

fn no_such_nak(rule: Rules, is_out: bool, parameters: &Parameters) -> Option<&'static str> {
    match is_out {
        _ if not_in_profile(rule, parameters).is_some() => not_in_profile(rule, parameters),
        false if is(rule, B2.or(B6).or(F0)) => Some("B2, B6, F0: a Nak is out"),
        true if is(rule, B3.or(B4).or(B5)) => Some("B3, B4, B5: no Nak is out"),
        true if is(rule, B9) => Some("B4, B5: a Nak is due while none is out"),
        true if is(rule, B7.or(B8).or(B10).or(B12).or(B13)) && !f0_on(parameters) => Some(SILENT),
        _ => None,
    }
}

/// Sets of rules and registers that were seen already, by their hash; a power of two.
const SEEN: usize = 256;

/// What is to be seen of registers that an edge changes.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// Before the edge.
    before: Look,
    /// Numbers of B have rolled over since the reset.
    rolled: bool,
    /// What was counted, so that nothing is counted twice in vain: most edges are like one before them.
    seen: Box<[u64; SEEN]>,
}

/// Where an edge is on the axes, but for the rules. A number is a number's place on its axis.
#[derive(Debug, Clone, Copy)]
struct At {
    buffer: usize,
    replay_timer: usize,
    replays: usize,
    /// Of numbers of A that roll over; 3 if none do.
    a_numbers: usize,
    ack_timer: usize,
    pending: usize,
    nak_out: usize,
    /// Of numbers of B that roll over; 2 if none do.
    b_numbers: usize,
    /// Of the DLLP and the TLP that arrive, if some do.
    acked: usize,
    number: usize,
}

impl At {
    /// As a number of at most 32 bits, another one for each place.
    #[inline]
    fn key(self) -> u64 {
        let Self { buffer, replay_timer, replays, a_numbers, .. } = self;
        let Self { ack_timer, pending, nak_out, b_numbers, acked, number, .. } = self;
        let of_a = buffer | replay_timer << 2 | replays << 4 | a_numbers << 6;
        let of_b = ack_timer | pending << 2 | nak_out << 5 | b_numbers << 6;
        (of_a | of_b << 8 | acked << 16 | number << 19) as u64
    }
}

/// How far `x` is ahead of `y`.
#[inline]
const fn dist(x: u16, y: u16) -> u16 {
    x.wrapping_sub(y) & 0xfff
}

/// The place of the number of a DLLP on its axis.
#[inline]
fn acked(look: &Look, n: u16) -> usize {
    let (progress, sent) = (dist(n, look.ackd_seq), dist(look.last_sent_seq, look.ackd_seq));
    match progress {
        0 => 0,
        _ if progress == sent => 3,
        1 if progress < sent => 1,
        _ if progress < sent => 2,
        _ if progress - sent < 2048 => 4,
        4095 => 5,
        _ => 6,
    }
}

/// The place of the number of a TLP on its axis.
#[inline]
fn number(look: &Look, seq: u16) -> usize {
    match dist(seq, look.next_rcv_seq) {
        0 => 0,
        1 => 1,
        2..=2047 => 2,
        4095 => 3,
        _ => 4,
    }
}

/// The place of a timer on an axis that begins with 0.
#[inline]
const fn timer(timer: u32, limit: u32) -> usize {
    match timer {
        _ if timer + 1 == limit => 2,
        0 => 0,
        _ => 1,
    }
}

impl Coverage {
    #[inline]
    fn at(&self, inputs: &Inputs) -> At {
        let Look { built_as, ackd_seq, next_seq, next_rcv_seq, .. } = self.before;
        let held = dist(next_seq, ackd_seq) - 1;
        let a_numbers = match () {
            () if held > 0 && next_seq <= ackd_seq && next_seq < 2048 => 0,
            () => 3,
        };
        let pending = match (self.before.dllp_valid, self.before.dllp_nak) {
            (false, _) => 0,
            (true, nak) => 1 + usize::from(inputs.b_dllp_ready.get() == 0) + 2 * usize::from(nak),
        };
        At {
            buffer: match built_as.replay_depth.min(MOST_USED) - held {
                0 => 3,
                _ if held == 0 => 0,
                1 => 2,
                _ => 1,
            },
            replay_timer: timer(self.before.replay_timer, built_as.replay_limit),
            replays: usize::from(self.before.replay_num),
            a_numbers,
            ack_timer: match self.before.acknak_timer_on {
                false => 0,
                true => 1 + timer(self.before.acknak_timer, built_as.acknak_latency),
            },
            pending,
            nak_out: usize::from(self.before.nak_scheduled),
            b_numbers: match next_rcv_seq {
                3840.. => 0,
                0..256 if self.rolled => 1,
                _ => 2,
            },
            // What is beside a valid that is low is noise.
            acked: match inputs.a_dllp_valid.get() & inputs.a_dllp_crc_ok.get() {
                1 => acked(&self.before, inputs.a_dllp_seq.get() as u16),
                _ => ACKED.values.len(),
            },
            number: match inputs.b_link_valid.get() {
                1 => number(&self.before, inputs.b_link_seq.get() as u16),
                _ => NUMBER.values.len(),
            },
        }
    }

    /// Counts an edge that is like none before it.
    fn count(&self, fired: RuleSet, inputs: &Inputs, at: At, bins: &mut Bins<'_>) {
        let has = |rules: Rules| fired.has(rules.set());
        let of = |rules: &'static [Rules]| (0..rules.len()).filter(move |place| has(rules[*place]));
        of(&OF_BUFFER).for_each(|rule| bins.hit(A_BUFFER.bin([rule, at.buffer])));
        of(&OF_TIMER).for_each(|rule| bins.hit(A_TIMER.bin([rule, at.replay_timer])));
        of(&OF_ACK_TIMER).for_each(|rule| bins.hit(B_TIMER.bin([rule, at.ack_timer])));
        for a in of(&OF_A) {
            bins.hit(A_REPLAYS.bin([a, at.replays]));
            if at.a_numbers < A_NUMBERS.values.len() {
                bins.hit(A_ROLL_OVER.bin([a, at.a_numbers]));
            }
        }
        for b in of(&OF_B) {
            bins.hit(B_DLLP.bin([b, at.pending]));
            bins.hit(B_NAK.bin([b, at.nak_out]));
            if at.b_numbers < B_NUMBERS.values.len() {
                bins.hit(B_ROLL_OVER.bin([b, at.b_numbers]));
            }
        }
        let dllp = [A3, A4.or(A5), A6.or(A7).or(A8)].iter().position(|rules| has(*rules));
        let dllp = dllp.map_or(0, |place| place + 1);
        let offer = match (has(A2), has(A12)) {
            _ if has(A13) => 4,
            (false, false) => 0,
            (false, true) => 1,
            (true, false) => 2,
            (true, true) => 3,
        };
        bins.hit(A_EDGE.bin([dllp, offer, usize::from(has(A1))]));
        if at.replay_timer == 2 && has(A9.or(A3).or(A4).or(A5)) {
            bins.hit(A_LIMIT.bin([dllp]));
        }
        if let Some(rewind) = [A4, A5, A9].iter().position(|rule| has(*rule)) {
            let offer = if has(A13) { 2 } else { usize::from(has(A2)) };
            bins.hit(A_REWIND.bin([rewind, offer]));
        }
        if inputs.a_dllp_valid.get() == 1 && inputs.a_dllp_crc_ok.get() == 1 {
            bins.hit(A_ACKED.bin([inputs.a_dllp_nak.get() as usize, at.acked]));
        }
        if inputs.b_link_valid.get() == 1 {
            let bad = usize::from(inputs.b_link_crc_ok.get() == 0);
            bins.hit(B_TLP.bin([bad, at.number, at.nak_out]));
        }
    }
}

impl harness::Coverage<Dll> for Coverage {
    const GROUPS: &'static [Covergroup] = &GROUPS;

    fn new(_: &Parameters) -> Self {
        Self { before: Look::default(), rolled: false, seen: Box::new([0; SEEN]) }
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs) {
        self.before = golden.look();
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Dll>, bins: &mut Bins<'_>) {
        let Edge { inputs, rules, .. } = *edge;
        if inputs.rst.get() == 1 {
            self.rolled = false;
            return;
        }
        let at = self.at(inputs);
        let key = u64::from(rules.bits() as u32) | at.key() << 32;
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SEEN;
        if self.seen[slot] != key {
            self.seen[slot] = key;
            self.count(rules, inputs, at, bins);
        }
        self.rolled |= self.before.next_rcv_seq == 4095 && rules.has(B1.set());
    }
}

#[cfg(test)]
mod tests;
