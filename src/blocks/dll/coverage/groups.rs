//! The covergroups of `dll`, and the reasons for unreachable bins.

use super::super::rules::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::super::rules::{
    A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, B1, B2, B3, B4, B5, B6,
    B7, B8, B9, B10, B11, B12, B13, F0, fix, values,
};
use cosim_core::harness::{Axis, CORNERS, Parameters, RuleSet};

/// A payload, and a sequence number, by its place in its range.
const PAYLOAD: Axis = Axis::new("payload", CORNERS);
const SEQ: Axis = Axis::new("sequence number", CORNERS);

cosim_core::coverage! {
    axis WHERE = "TLP" {
        "taken": "A1: A takes it", "sent": "A2: the link takes it", "delivered": "B1",
        "dropped": "it reaches B and is not delivered",
    }
    axis SHOWN = "number" {
        "sent": "A2: of a TLP that the link takes",
        "received": "A3 to A5: of an Ack with progress, or of a Nak",
        "delivered": "B1: of the TLP that B wants",
        "answered": "of an Ack or a Nak that the link takes from B",
    }
    axis BUFFER = "replay buffer" {
        "empty": "no entry is used",
        "some": "some entries are used, two or more are free",
        "one free": "one entry is free",
        "full": "no entry is free",
    }
    axis TIMER = "timer" {
        "0": "it begins or rests", "runs": "it is neither 0 nor at its limit",
        "limit": "it expires at this edge unless another rule prevents it",
    }
    axis REPLAYS = "REPLAY_NUM" { "0": "no replay yet", "1": "one", "2": "two", "3": "the next one rolls over" }
    axis DLLP = "DLLP" {
        "none": "no DLLP arrives", "Ack": "A3: an Ack with progress",
        "Nak": "A4, A5: a Nak, with or without progress",
        "ignored": "A6, A7, A8: nothing new, out of range, or damaged",
    }
    axis OFFER = "offer" {
        "none": "there is no offer, and none is made",
        "made": "there is none, and one is made",
        "taken": "it is taken, and no other is made",
        "next": "it is taken, and the next one is made",
        "held": "it waits for the link",
    }
    axis NEW = "new TLP" { "no": "none is taken", "yes": "A takes one" }
    axis REWIND = "rewind" {
        "A4": "Nak with progress", "A5": "Nak without progress", "A9": "REPLAY_TIMER expires",
    }
    axis REWOUND = "offer" {
        "none": "there is none", "taken": "it is taken at this edge", "held": "it waits",
    }
    axis pub(super) ACKED = "n" {
        "ackd": "it is ackd_seq: nothing new",
        "oldest": "it is the oldest TLP that is not acknowledged, and not the only one that was sent",
        "inside": "it is neither the oldest nor the newest",
        "newest": "it is the newest TLP that was sent",
        "ahead": "it is ahead of all that were sent",
        "one behind": "it is the number before ackd_seq",
        "behind": "it is further behind",
    }
    axis NAK = "kind" { "Ack": "an Ack", "Nak": "a Nak" }
    axis GOOD = "CRC" { "good": "it is whole", "bad": "it is damaged" }
    axis pub(super) NUMBER = "number" {
        "wanted": "the TLP that B wants", "one ahead": "the one after it",
        "ahead": "further ahead, less than half of the numbers",
        "one behind": "the one before it",
        "behind": "further behind",
    }
    axis NAK_OUT = "NAK_SCHEDULED" { "no Nak": "no Nak is out", "Nak out": "a Nak is out and its TLP has not come" }
    axis ACK_TIMER = "Ack timer" {
        "stopped": "it is stopped", "0": "it has just started", "runs": "it runs",
        "limit": "it expires at this edge unless another rule prevents it",
    }
    axis PENDING = "DLLP of B" {
        "none": "none is on offer", "Ack taken": "an Ack is taken at this edge",
        "Ack waits": "an Ack waits for the link", "Nak taken": "a Nak is taken at this edge",
        "Nak waits": "a Nak waits for the link",
    }
    axis pub(super) A_NUMBERS = "numbers" {
        "inside": "4095 and 0 are both in the buffer, or 0 is the next one and 4095 is in it",
    }
    axis pub(super) B_NUMBERS = "next_rcv_seq" {
        "before": "it is less than 256 away from 4095", "after": "it has rolled over less than 256 numbers ago",
    }
}

/// Rules of A except for reset, in the order of their axis.
pub(super) const OF_A: [RuleSet; 16] =
    [A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16];
/// Rules of B except for reset, in the order of their axis.
pub(super) const OF_B: [RuleSet; 14] = [B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, F0];

/// Rules of A that are crossed with the level of the buffer.
pub(super) const OF_BUFFER: [RuleSet; 15] =
    [A1, A2, A3, A4, A5, A6, A7, A8, A9, A11, A12, A13, A14, A15, A16];
/// Rules of A that are crossed with its timer; rules of DLLPs have their own group.
pub(super) const OF_TIMER: [RuleSet; 8] = [A1, A2, A9, A10, A11, A13, A15, A16];
/// Rules of B that are crossed with its timer.
pub(super) const OF_ACK_TIMER: [RuleSet; 11] = [B1, B2, B3, B4, B5, B6, B7, B11, B12, B13, F0];

const A_RULE: Axis = Axis::new("rule", &values(OF_A));
const B_RULE: Axis = Axis::new("rule", &values(OF_B));
const BUFFER_RULE: Axis = Axis::new("rule", &values(OF_BUFFER));
const TIMER_RULE: Axis = Axis::new("rule", &values(OF_TIMER));
const ACK_TIMER_RULE: Axis = Axis::new("rule", &values(OF_ACK_TIMER));

cosim_core::coverage! {
    groups pub(super) GROUPS;
    A_BUFFER = "a-buffer": "rules of A, by the replay buffer before the edge" [BUFFER_RULE, BUFFER]
        unless |at, parameters| { no_such_level(OF_BUFFER[at[0]], BUFFER.values[at[1]].name, parameters) };
    A_TIMER = "a-timer": "rules of A, by REPLAY_TIMER before the edge" [TIMER_RULE, TIMER]
        unless |at, parameters| { no_such_replay_timer(OF_TIMER[at[0]], TIMER.values[at[1]].name, parameters) };
    A_REPLAYS = "a-replays": "rules of A, by REPLAY_NUM before the edge" [A_RULE, REPLAYS]
        unless |at, _| (A10.contains_any(OF_A[at[0]]) && at[1] != 3).then_some("A10: REPLAY_NUM is 3");
    A_EDGE = "a-edge": "events at A at one edge: a DLLP, the offer to the link, a new TLP"
        [DLLP, OFFER, NEW]
        unless no_such_edge;
    A_LIMIT = "a-limit": "DLLPs at the edge at which REPLAY_TIMER would expire" [DLLP];
    A_REWIND = "a-rewind": "rewinds of A: the rule, and the offer to the link" [REWIND, REWOUND];
    A_ACKED = "a-dllp": "whole DLLPs at A: kind and number" [NAK, ACKED]
        unless |at, parameters| no_such_number(ACKED.values[at[1]].name, parameters);
    B_TLP = "b-tlp": "TLPs at B: whole or damaged, number as it arrives, whether a Nak is out"
        [GOOD, NUMBER, NAK_OUT]
        unless |at, parameters| (at[..2] == [0, 2] && depth(parameters) == 2)
            .then_some("REPLAY_DEPTH is 2: A sends no more than one TLP beyond the one that B wants");
    B_TIMER = "b-timer": "rules of B, by its Ack timer before the edge" [ACK_TIMER_RULE, ACK_TIMER]
        unless |at, parameters| not_in_profile(OF_ACK_TIMER[at[0]], parameters)
            .or_else(|| no_such_ack_timer(OF_ACK_TIMER[at[0]], ACK_TIMER.values[at[1]].name, parameters));
    B_DLLP = "b-dllp": "rules of B, by its DLLP" [B_RULE, PENDING]
        unless |at, parameters| not_in_profile(OF_B[at[0]], parameters)
            .or_else(|| no_such_dllp(OF_B[at[0]], PENDING.values[at[1]].name, parameters));
    B_NAK = "b-nak": "rules of B, by NAK_SCHEDULED before the edge" [B_RULE, NAK_OUT]
        unless |at, parameters| not_in_profile(OF_B[at[0]], parameters)
            .or_else(|| no_such_nak(OF_B[at[0]], at[1] == 1, parameters));
    A_ROLL_OVER = "a-roll-over": "rules of A, where its numbers roll over" [A_RULE, A_NUMBERS];
    B_ROLL_OVER = "b-roll-over": "rules of B, where its numbers roll over" [B_RULE, B_NUMBERS]
        unless |at, parameters| not_in_profile(OF_B[at[0]], parameters);
    PAYLOADS = "payloads": "TLPs: where they are, their payload" [WHERE, PAYLOAD];
    NUMBERS = "numbers": "sequence numbers: where they are shown" [SHOWN, SEQ];
}

/// Maximum number of used entries for any REPLAY_DEPTH. With more, sequence numbers would be
/// ambiguous (A11).
pub(super) const MOST_USED: u16 = 2047;

fn f0_on(parameters: &Parameters) -> bool {
    parameters.fixes() & fix(0) != 0
}

fn depth(parameters: &Parameters) -> u64 {
    parameters.get(REPLAY_DEPTH)
}

/// Rules that F0 enables or disables.
fn not_in_profile(rule: RuleSet, parameters: &Parameters) -> Option<&'static str> {
    match f0_on(parameters) {
        true => B2.contains_any(rule).then_some("replaced by F0"),
        false => F0.contains_any(rule).then_some("needs F0"),
    }
}

fn no_such_level(rule: RuleSet, level: &str, parameters: &Parameters) -> Option<&'static str> {
    match level {
        "some" if depth(parameters) == 2 => {
            Some("REPLAY_DEPTH is 2: with an entry used one is free")
        }
        "full" if A1.contains_any(rule) => Some("A11: tlp_ready is 0 while no entry is free"),
        "empty" if A3.with(A4).with(A9).with(A14).with(A15).contains_any(rule) => Some(
            "section 4: with an empty buffer last_sent_seq is ackd_seq, and nothing is unacknowledged",
        ),
        "empty" if A12.contains_any(rule) => {
            Some("section 4: with an empty buffer send_seq is next_seq")
        }
        "empty" | "some" if A11.contains_any(rule) => {
            Some("A1: one TLP at most is taken at an edge")
        }
        _ => None,
    }
}

fn no_such_replay_timer(
    rule: RuleSet,
    timer: &str,
    parameters: &Parameters,
) -> Option<&'static str> {
    match timer {
        "runs" if parameters.get(REPLAY_LIMIT) == 2 => {
            Some("REPLAY_LIMIT is 2: it is 0 or at its limit")
        }
        "0" | "runs" if A9.contains_any(rule) => Some("A9: the timer is at its limit"),
        "limit" if A15.contains_any(rule) => Some("A9 fires instead, unless A3, A4 or A5 does"),
        "runs" | "limit" if A16.contains_any(rule) => {
            Some("A3, A4 and A16: while nothing is unacknowledged the timer is 0")
        }
        _ => None,
    }
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

/// With F0 off the Ack timer does not run while a Nak is out: section 6.
const SILENT: &str = "section 6: with F0 off the Ack timer is stopped while a Nak is out";

fn no_such_ack_timer(rule: RuleSet, timer: &str, parameters: &Parameters) -> Option<&'static str> {
    match timer {
        "runs" if parameters.get(ACKNAK_LATENCY) == 2 => {
            Some("ACKNAK_LATENCY is 2: it is 0 or at its limit")
        }
        "stopped" if B7.with(B8).with(B13).contains_any(rule) => Some("B7, B13: the timer runs"),
        "0" | "runs" if B7.with(B8).contains_any(rule) => Some("B7: the timer is at its limit"),
        "limit" if B13.contains_any(rule) => Some("B7 fires instead, unless B4 or B5 does"),
        "0" | "runs" | "limit" if B2.with(B6).contains_any(rule) && !f0_on(parameters) => {
            Some(SILENT)
        }
        _ => None,
    }
}

fn no_such_dllp(rule: RuleSet, pending: &str, parameters: &Parameters) -> Option<&'static str> {
    match pending {
        "Ack waits" if B8.with(B9).contains_any(rule) => None,
        _ if B8.with(B9).contains_any(rule) => Some("B8, B9: an Ack waits"),
        "Nak waits" if B10.contains_any(rule) => None,
        _ if B10.contains_any(rule) => Some("B10: a Nak waits"),
        "none" | "Ack waits" | "Nak waits" if B11.contains_any(rule) => {
            Some("B11: a DLLP is taken")
        }
        "Ack waits" | "Nak waits" if B12.contains_any(rule) => Some("B12: no DLLP waits"),
        "Ack taken" | "Ack waits" if B2.with(B6).contains_any(rule) && !f0_on(parameters) => {
            Some(SILENT)
        }
        "Nak taken" | "Nak waits" if B5.contains_any(rule) && depth(parameters) == 2 => Some(
            "REPLAY_DEPTH is 2: before A sends the one after the next TLP it has heard of one that B took after this Nak",
        ),
        _ => None,
    }
}

fn no_such_nak(rule: RuleSet, is_out: bool, parameters: &Parameters) -> Option<&'static str> {
    match is_out {
        false if B2.with(B6).with(F0).contains_any(rule) => Some("B2, B6, F0: a Nak is out"),
        true if B3.with(B4).with(B5).contains_any(rule) => Some("B3, B4, B5: no Nak is out"),
        true if B9.contains_any(rule) => Some("B4, B5: a Nak is due while none is out"),
        true if B7.with(B8).with(B10).with(B12).with(B13).contains_any(rule)
            && !f0_on(parameters) =>
        {
            Some(SILENT)
        }
        _ => None,
    }
}
