//! The covergroups of `recv`, and the reasons for unreachable bins.

use super::super::parameters::{HIGH, KEEP, LOW};
use super::super::rules::State;
use cosim_core::harness::{Axis, CORNERS, Parameters};

/// Without code 7, which no state has.
const STATE: Axis = Axis::new("state", State::VALUES.split_at(State::None as usize).0);

/// A handle, a number of bytes of a packet or of a message, by its place in its range.
const HANDLE: Axis = Axis::new("handle", CORNERS);
const BYTES: Axis = Axis::new("bytes", CORNERS);

cosim_core::coverage! {
    axis pub(crate) KIND = "packet" {
        "flow": "flow", "rndv_rts": "rndv_rts", "rndv_cts": "rndv_cts", "short": "short",
        "eager": "an eager CP", "rndv_data": "a CP with rendezvous data", "DP": "a data packet",
        "kind 7": "a code without meaning",
    }
    axis RING = "ring" {
        "empty": "it holds no buffer", "below LOW": "it holds fewer than LOW, and not HIGH",
        "LOW": "it holds LOW, and not HIGH", "above LOW": "it holds more than LOW, and not HIGH",
        "HIGH": "it holds HIGH",
    }
    axis pub(super) REFILL = "refill" {
        "none": "G1: it holds enough", "to HIGH": "G2, G4: up to HIGH",
        "partly": "G2, G4: by all that are free, fewer than it lacks",
        "nothing free": "G3: the pool is empty", "too much": "O1: the pending credit would be too large",
    }
    axis POOL = "pool" {
        "empty": "no buffer is free, and KEEP is above 1", "low": "some are free, fewer than KEEP - 1",
        "KEEP - 1": "one fewer than KEEP", "KEEP": "KEEP buffers are free", "more": "more than KEEP",
    }
    axis CHOICE = "choice" {
        "copied": "U1: there is a temporary buffer", "no buffer": "U2: kept, for want of a temporary buffer",
        "kept": "U3: kept, the pool is not low",
    }
    axis WHOLE = "message" { "one packet": "the CP was all of it", "more": "DPs follow" }
    axis FATE = "message" {
        "rendezvous": "a CP with rendezvous data", "posted": "eager, its receive is posted",
        "copied": "eager and unexpected, copied", "kept": "eager and unexpected, kept",
    }
    axis DPS = "DPs" {
        "0": "the CP is all", "1": "one", "2 to 7": "two to seven", "8 to 63": "8 to 63",
        "64 or more": "64 or more",
    }
    axis STRAY = "packet" {
        "flow": "flow", "rndv_rts": "rndv_rts", "rndv_cts": "rndv_cts", "short": "short",
        "eager": "an eager CP", "rndv_data": "a CP with rendezvous data",
        "kind 7": "a code without meaning",
    }
    axis DATA = "message" { "kept": "its packets are kept", "copied": "its packets are copied" }
    axis LAST = "pkt_last" { "0": "it does not say that it is the last", "1": "it says so" }
    axis POSTED = "message" { "rendezvous": "rendezvous data", "eager": "eager, its receive is posted" }
    axis END = "finished" {
        "at once": "there is no DP: in the first cycle", "waited": "there is no DP: later",
        "with the last DP": "P28", "after it": "P30, after the last DP",
    }
    axis ANSWER = "receive" { "unexpected": "P13", "posted": "P12" }
    axis CYCLES = "cycles" {
        "0": "none", "1": "one", "2 to 7": "two to seven", "8 or more": "8 or more",
    }
    axis STALL = "cycles" {
        "0": "none", "1": "one", "2 to 15": "2 to 15", "16 to 127": "16 to 127",
        "128 or more": "128 or more",
    }
    axis GROWN = "count" { "same": "as it was first offered", "more": "K1: it grew while it waited" }
    axis AMOUNT = "credit" {
        "1": "one buffer", "2 to 15": "2 to 15", "16 to 127": "16 to 127", "128 or more": "128 or more",
    }
    axis NEXT = "edge" { "K3": "nothing is added", "K2": "new credits at the same edge" }
    axis USE = "use" {
        "released": "its packet is released and nothing else", "copied": "it is copied",
        "kept": "it is kept", "asked": "match_id of the last cycle of CHECK_POSTED",
    }
    axis COPY = "copy" {
        "rendezvous CP": "P9", "posted CP": "P12", "posted DP": "P27, P28",
        "unexpected CP": "U1", "unexpected DP": "P20",
    }
    axis GRANT = "temporary buffer" { "granted": "U1", "not granted": "U2" }
    axis FREE = "free buffers" {
        "none": "the pool is empty", "too few": "at least two fewer than the ring lacks",
        "one too few": "one fewer than the ring lacks, not 0", "enough": "as many as the ring lacks",
        "one more": "one more than the ring lacks", "more": "at least two more",
    }
    axis SUM = "credit" {
        "below 254": "credit_pending and m are below 254", "254": "they are 254",
        "255": "they are 255, the most that fits", "256": "O1: one too many",
        "above 256": "O1: more",
    }
    axis TAKER = "state" {
        "DETERMINE_CP_TYPE": "P3: a CP", "PROC_UNEXP_DP": "P23: a packet behind an unexpected CP",
        "RECV_POSTED_DATA": "P29, P30: a DP of a posted message",
    }

    groups pub(super) GROUPS;
    OFFERS = "offers": "packets on the pins: state, kind" [STATE, KIND];
    REFILLS = "ring": "packets taken, and cycles with an empty ring: ring before the edge, what it gets"
        [RING, REFILL]
        unless no_such_refill;
    CHOICES = "choice": "choices between copy and keep: free buffers, what is done, message"
        [POOL, CHOICE, WHOLE]
        unless no_such_choice;
    MESSAGES = "messages": "whole messages: outcome, DPs" [FATE, DPS]
        unless |at, parameters| never_copied(at[0] == 2, parameters);
    STRAYS = "strays": "packets that do not fit, in unexpected messages: kind, outcome of DPs, flag"
        [STRAY, DATA, LAST]
        unless |at, parameters| never_copied(at[1] == 1, parameters);
    FINISHED = "finished": "posted messages: kind, when they are finished" [POSTED, END];
    MATCHES = "matches": "answers about posted receives: the answer, how late" [ANSWER, CYCLES];
    STALLS = "credit-stalls": "credits taken: how long they waited, what was added meanwhile"
        [STALL, GROWN]
        unless |at, _| (at == [0, 1]).then_some("it is taken in the first cycle in which it is there");
    CREDITS = "credits": "credits taken: how many, what is added at that edge" [AMOUNT, NEXT];
    STARVED = "starved": "packets that wait for the empty ring: state" [TAKER];
    RESETS = "resets": "resets: the state they find" [STATE];
    HANDLES = "handles": "handles of packets: what they are for, the handle" [USE, HANDLE];
    COPIES = "copies": "copy_len: what is copied, its bytes" [COPY, BYTES]
        unless |at, parameters| never_copied(at[0] >= UNEXPECTED_CP, parameters);
    TEMPORARY = "temporary-buffers": "temp_alloc_len: the answer, the bytes of the message" [GRANT, BYTES]
        unless |_, parameters| never_copied(true, parameters);
    FREES = "free-buffers": "packets that leave fewer than LOW in the ring: pool_free" [FREE]
        unless no_such_pool;
    SUMS = "credit-room": "refills of at least one buffer: credit_pending with it" [SUM];
}

/// The first position on the axis of copies of what is unexpected.
const UNEXPECTED_CP: usize = 3;
const EMPTY_RING: usize = 0;
const FULL_RING: usize = 4;
const NONE: usize = 0;
const TO_HIGH: usize = 1;
const PARTLY: usize = 2;
const TOO_MUCH: usize = 4;

/// Section 6: impossible refills.
fn no_such_refill(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    let [low, high] = [LOW, HIGH].map(|index| parameters.get(index));
    match *at {
        [1, _] if low.min(high) < 2 => Some("with LOW or HIGH = 1 no level is between 0 and LOW"),
        [2, _] if low >= high => Some("a ring of LOW holds HIGH: LOW is not below HIGH"),
        [3, _] if high < low + 2 => Some("no level is between LOW and HIGH"),
        [EMPTY_RING, NONE] => Some("G4: an empty ring lacks HIGH buffers"),
        [1 | 2, NONE] => Some("G2, G3: fewer than LOW are left"),
        [3, refill] if refill != NONE => Some("G1: LOW are left"),
        [FULL_RING, refill] if refill != NONE && low < high => {
            Some("G1: HIGH - 1 are left, not below LOW")
        }
        [FULL_RING, NONE] if low >= high => Some("G2, G3: HIGH - 1 are left, below LOW"),
        [FULL_RING, PARTLY] => Some("one buffer is lacking: it is free or not"),
        [FULL_RING, TOO_MUCH] if high == 255 => {
            Some("all of 255 buffers are in the ring: none is free")
        }
        [EMPTY_RING, PARTLY] if high == 1 => {
            Some("HIGH is 1: one buffer is lacking, it is free or not")
        }
        [ring, TO_HIGH] if ring != EMPTY_RING && high == 255 => Some(
            "there are 255 buffers, and the packet that is taken is in one: no more than 254 can be in the ring",
        ),
        _ => None,
    }
}

/// Section 6: impossible numbers of free buffers at a refill of m = min(HIGH - r, pool_free).
fn no_such_pool(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    let high = parameters.get(HIGH);
    match *at {
        [1] if high < 3 => Some("the ring lacks at most HIGH buffers"),
        [2] if high < 2 => Some("the ring lacks at most HIGH buffers"),
        _ => None,
    }
}

/// Impossible combinations in the table of the choice.
fn no_such_choice(at: &[usize], parameters: &Parameters) -> Option<&'static str> {
    let keep = parameters.get(KEEP);
    match *at {
        [0, ..] if keep < 2 => Some("KEEP is not above 1"),
        [1, ..] if keep < 3 => Some("no number is between 0 and KEEP - 1"),
        [2, ..] if keep == 0 => Some("KEEP is 0"),
        [0..=2, 2, _] => Some("U1, U2: the pool is low"),
        [3 | 4, 0 | 1, _] => Some("U3: the pool is not low"),
        [3, ..] if keep == 255 => Some("of 255 buffers the CP has one"),
        [4, ..] if keep >= 254 => Some("of 255 buffers the CP has one"),
        _ => None,
    }
}

/// A reason if the bin needs a copy and KEEP rules that out.
fn never_copied(needs_copy: bool, parameters: &Parameters) -> Option<&'static str> {
    (needs_copy && parameters.get(KEEP) == 0).then_some("U3: with KEEP = 0 the pool is never low")
}
