//! The golden model's rules as properties for `cosim prove`: the table of [`rules`](super::rules),
//! over the registers and wires that `rtl/recv/recv_sva.sv` names.

use super::parameters::is_repaired;
use super::rules::{self, Load, Packet, PacketOutcome, PacketSelector, RULES, Row, State, ask};
use cosim_core::harness::{KnownDeadlock, Parameters, Progress, TransitionProperty};

/// What every rule says.
pub fn transitions(parameters: &Parameters) -> Vec<TransitionProperty> {
    let mut all: Vec<TransitionProperty> =
        rules::ROWS.iter().map(|row| of_row(row, parameters)).collect();
    all.extend(of_the_choice(parameters));
    all.extend(of_the_ring());
    all.extend(of_credits());
    all
}

/// The condition that the state accepts a packet and the ring has a buffer.
fn ready(state: State) -> &'static str {
    match state.takes() {
        PacketSelector::No => "1'b0",
        PacketSelector::Any => "has_buffer",
        PacketSelector::AnyWhileIncomplete => "has_buffer_cp",
        PacketSelector::Dps => "has_buffer_dps",
    }
}

fn is_in(state: State) -> String {
    format!("cur_state == 3'd{}", state as u64)
}

/// A bit of [`ask`] as an expression.
fn fact(bit: u16, state: State, parameters: &Parameters) -> String {
    match bit {
        ask::VALID => "pkt_valid".to_owned(),
        ask::TAKEN => format!("(pkt_valid & {})", ready(state)),
        ask::COMPLETE => "complete".to_owned(),
        ask::OVER if is_repaired(parameters) => "complete".to_owned(),
        ask::OVER => "1'b0".to_owned(),
        ask::COPYING => "copying".to_owned(),
        ask::ANSWER => "match_rsp".to_owned(),
        ask::FOUND => "match_found".to_owned(),
        ask::DONE => "posted_done".to_owned(),
        other => unreachable!("no guard asks {other:#x}"),
    }
}

/// The condition in which a row applies.
fn guard(row: &Row, parameters: &Parameters) -> String {
    let (all, none, kinds) = row.guard();
    let mut conditions = vec![is_in(row.from)];
    for bit in (0..16).map(|place| 1_u16 << place) {
        if all & bit != 0 {
            conditions.push(fact(bit, row.from, parameters));
        }
        if none & bit != 0 {
            conditions.push(format!("~{}", fact(bit, row.from, parameters)));
        }
    }
    if kinds != 0xff {
        let kinds = (0..8).filter(|kind| kinds >> kind & 1 == 1);
        let kinds: Vec<String> = kinds.map(|kind| format!("pkt_kind == 3'd{kind}")).collect();
        conditions.push(format!("({})", kinds.join(" | ")));
    }
    conditions.join(" & ")
}

/// `value` if `condition` holds, else 0.
fn gated(condition: &str, value: &str) -> String {
    format!("({condition}) ? {value} : 32'd0")
}

fn of_row(row: &Row, parameters: &Parameters) -> TransitionProperty {
    let index = row.rule.iter().next().unwrap_or_default();
    let [mut copies, mut keeps, mut releases] = ["1'b0"; 3].map(str::to_owned);
    let (yes, copied) = ("1'b1".to_owned(), "copies".to_owned());
    let (mut id, mut len) = ("pkt_id", "pkt_len");
    match row.outcome {
        PacketOutcome::Nothing => {}
        PacketOutcome::Release => releases = yes,
        PacketOutcome::Keep => keeps = yes,
        PacketOutcome::Copy(packet) => {
            (copies, releases) = (yes.clone(), yes);
            if packet == Packet::Cp {
                (id, len) = ("cp_id", "cp_len");
            }
        }
        PacketOutcome::Choose => {
            (id, len) = ("cp_id", "cp_len");
            keeps = format!("~({copied})");
            (copies, releases) = (copied.clone(), copied);
        }
    }
    let asks = if row.outcome == PacketOutcome::Choose {
        "pool_is_low".to_owned()
    } else {
        "1'b0".to_owned()
    };
    let matches = if row.from == State::CheckPosted { "1'b1" } else { "1'b0" };
    let outputs = vec![
        ("pkt_ready", ready(row.from).to_owned()),
        ("copy_id", gated(&copies, id)),
        ("copy_len", gated(&copies, len)),
        ("copy_valid", copies),
        ("keep_id", gated(&keeps, id)),
        ("keep_valid", keeps),
        ("release_id", gated(&releases, id)),
        ("release_valid", releases),
        ("temp_alloc_len", gated(&asks, "cp_msg_len")),
        ("temp_alloc_valid", asks),
        ("match_req", matches.to_owned()),
        ("match_id", gated(matches, "cp_id")),
        ("protocol_error", format!("1'b{}", u8::from(row.error))),
        ("state", format!("3'd{}", row.from as u64)),
    ];
    let loads = |register, value: &str| (register, value.to_owned());
    let stays = |register: &'static str| (register, register.to_owned());
    let mut next = vec![("cur_state", format!("3'd{}", row.to as u64))];
    next.extend(match row.load {
        Load::Cp => [
            loads("cp_id", "pkt_id"),
            loads("cp_len", "pkt_len"),
            loads("cp_msg_len", "pkt_msg_len"),
            loads("complete", "pkt_last"),
        ],
        Load::Complete => {
            [stays("cp_id"), stays("cp_len"), stays("cp_msg_len"), loads("complete", "pkt_last")]
        }
        Load::Nothing => ["cp_id", "cp_len", "cp_msg_len", "complete"].map(stays),
    });
    if row.outcome != PacketOutcome::Choose {
        next.push(stays("copying"));
    }
    TransitionProperty {
        rule: RULES[index].name,
        one_of: Some("P0 to P30".to_owned()),
        when: guard(row, parameters),
        outputs,
        next,
    }
}

/// The choice for an unexpected message, and F0.
fn of_the_choice(parameters: &Parameters) -> Vec<TransitionProperty> {
    let choice = is_in(State::ProcUnexpCp);
    let chosen = |rule, when: &str, copying: u8| TransitionProperty {
        rule,
        when: format!("{choice} & {when}"),
        next: vec![("copying", format!("1'b{copying}"))],
        ..TransitionProperty::default()
    };
    let over = fact(ask::OVER, State::ProcUnexpCp, parameters);
    let onwards = [State::AwaitCp, State::DetermineCpType].map(|state| state as u64);
    vec![
        chosen("U1", "copies", 1),
        chosen("U2", "pool_is_low & ~temp_alloc_ok", 0),
        chosen("U3", "~pool_is_low", 0),
        TransitionProperty {
            rule: "F0",
            when: format!("{choice} & {over}"),
            next: vec![("cur_state", format!("pkt_valid ? 3'd{} : 3'd{}", onwards[1], onwards[0]))],
            ..TransitionProperty::default()
        },
    ]
}

/// The ring's rules: of G1 to G4 and none of them exactly one applies.
fn of_the_ring() -> Vec<TransitionProperty> {
    let ring = |rule, when: &str, refills: bool, level: &str| {
        let count = if refills { "refill" } else { "8'd0" };
        TransitionProperty {
            rule,
            one_of: Some("the ring".to_owned()),
            when: when.to_owned(),
            outputs: vec![
                ("alloc_valid", format!("1'b{}", u8::from(refills))),
                ("alloc_count", count.to_owned()),
            ],
            next: vec![("level", format!("{level} + {count}"))],
        }
    };
    vec![
        ring("G1", "taken & ~level_is_low", false, "level_below"),
        ring("G2", "taken & level_is_low & is_refilled", true, "level_below"),
        ring("G3", "taken & level_is_low & ~is_refilled", false, "level_below"),
        ring("G4", "~taken & is_refilled", true, "level"),
        ring("no rule", "~taken & ~is_refilled", false, "level"),
        TransitionProperty {
            rule: "O1",
            when: "too_much".to_owned(),
            outputs: vec![("alloc_valid", "1'b0".to_owned())],
            ..TransitionProperty::default()
        },
    ]
}

/// The rules of credits: of K1 to K3 and none of them exactly one applies.
fn of_credits() -> Vec<TransitionProperty> {
    let credits = |rule, when: &str, next: &str| TransitionProperty {
        rule,
        one_of: Some("credits".to_owned()),
        when: when.to_owned(),
        next: vec![("credit_pending", next.to_owned())],
        ..TransitionProperty::default()
    };
    vec![
        credits("K1", "is_refilled & ~credit_sent", "credit_pending + refill"),
        credits("K2", "is_refilled & credit_sent", "refill"),
        credits("K3", "~is_refilled & credit_sent", "8'd0"),
        credits("no rule", "~is_refilled & ~credit_sent", "credit_pending"),
    ]
}

/// Progress: messages of which every packet was accepted, and waits of offered packets.
pub fn progress(parameters: &Parameters) -> Vec<Progress> {
    let unasked = KnownDeadlock {
        what: "F0: an unexpected message of one packet waits for a packet that does not belong to it",
        when: "waits_for_no_dp".to_owned(),
        until: Some(("another packet comes", "pkt_valid".to_owned())),
    };
    vec![
        Progress {
            what: "a message whose packets were all taken".to_owned(),
            busy: "message_is_open".to_owned(),
            waits: "answer_is_owed".to_owned(),
            // CHECK_POSTED, PROC_UNEXP_CP, and without F0 AWAIT_UNEXP_DP and PROC_UNEXP_DP; or RECV_POSTED_DATA.
            within: if is_repaired(parameters) { 2 } else { 4 },
            known_deadlocks: if is_repaired(parameters) { Vec::new() } else { vec![unasked] },
            ..Progress::default()
        },
        Progress {
            what: "the wait of a packet on offer".to_owned(),
            busy: "packet_waits".to_owned(),
            waits: "answer_is_owed | no_buffer_comes".to_owned(),
            within: 4,
            ..Progress::default()
        },
    ]
}
