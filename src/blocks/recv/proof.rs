//! The golden model's rules as properties for `cosim prove`: the table of [`rules`](super::rules),
//! over the registers and wires that `rtl/recv/recv_sva.sv` names.

use super::rules::parameters::is_repaired;
use super::rules::{self, Load, PacketOutcome, RULES, Row, State, ask};
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
    match state {
        State::DetermineCpType => "has_buffer",
        State::ProcUnexpDp => "has_buffer_cp",
        State::RecvPostedData => "has_buffer_dps",
        _ => "1'b0",
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

fn guard(row: &Row, parameters: &Parameters) -> String {
    let Row { all, none, kinds, .. } = *row;
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
    let (no, yes) = ("1'b0", "1'b1");
    let (copies, keeps, releases, packet) = match row.outcome {
        PacketOutcome::Nothing => (no, no, no, "pkt"),
        PacketOutcome::Release => (no, no, yes, "pkt"),
        PacketOutcome::Keep => (no, yes, no, "pkt"),
        PacketOutcome::CopyPacket => (yes, no, yes, "pkt"),
        PacketOutcome::CopyCp => (yes, no, yes, "cp"),
        PacketOutcome::Choose => ("copies", "~(copies)", "copies", "cp"),
    };
    let [id, len] = ["id", "len"].map(|field| format!("{packet}_{field}"));
    let asks = if row.outcome == PacketOutcome::Choose { "pool_is_low" } else { no };
    let matches = if row.from == State::CheckPosted { yes } else { no };
    let outputs = vec![
        ("pkt_ready", ready(row.from).to_owned()),
        ("copy_id", gated(copies, &id)),
        ("copy_len", gated(copies, &len)),
        ("copy_valid", copies.to_owned()),
        ("keep_id", gated(keeps, &id)),
        ("keep_valid", keeps.to_owned()),
        ("release_id", gated(releases, &id)),
        ("release_valid", releases.to_owned()),
        ("temp_alloc_len", gated(asks, "cp_msg_len")),
        ("temp_alloc_valid", asks.to_owned()),
        ("match_req", matches.to_owned()),
        ("match_id", gated(matches, "cp_id")),
        ("protocol_error", format!("1'b{}", u8::from(row.error))),
        ("state", format!("3'd{}", row.from as u64)),
    ];
    const LATCHED: [(&str, &str); 3] =
        [("cp_id", "pkt_id"), ("cp_len", "pkt_len"), ("cp_msg_len", "pkt_msg_len")];
    let latched = |(register, pin)| (register, if row.load == Load::Cp { pin } else { register });
    let complete = if row.load == Load::Nothing { "complete" } else { "pkt_last" };
    let copying = Some(("copying", "copying"));
    TransitionProperty::new(RULES[index].name, guard(row, parameters))
        .one_of("P0 to P30")
        .shows(outputs)
        .loads([("cur_state", format!("3'd{}", row.to as u64))])
        .loads(LATCHED.map(latched))
        .loads([("complete", complete)])
        .loads(copying.filter(|_| row.outcome != PacketOutcome::Choose))
}

/// The choice for an unexpected message, and F0.
fn of_the_choice(parameters: &Parameters) -> [TransitionProperty; 4] {
    let choice = is_in(State::ProcUnexpCp);
    let chosen = |rule, when: &str, copying: &str| {
        TransitionProperty::new(rule, format!("{choice} & {when}")).loads([("copying", copying)])
    };
    let over = fact(ask::OVER, State::ProcUnexpCp, parameters);
    let [waits, idle] = [State::DetermineCpType, State::AwaitCp].map(State::code);
    [
        chosen("U1", "copies", "1'b1"),
        chosen("U2", "pool_is_low & ~temp_alloc_ok", "1'b0"),
        chosen("U3", "~pool_is_low", "1'b0"),
        TransitionProperty::new("F0", format!("{choice} & {over}"))
            .loads([("cur_state", format!("pkt_valid ? 3'd{waits} : 3'd{idle}"))]),
    ]
}

/// The ring's rules: of G1 to G4 and none of them exactly one applies.
fn of_the_ring() -> [TransitionProperty; 6] {
    let ring = |rule, when: &str, refills: bool, level: &str| {
        let count = if refills { "refill" } else { "8'd0" };
        TransitionProperty::new(rule, when)
            .one_of("the ring")
            .shows([("alloc_valid", if refills { "1'b1" } else { "1'b0" }), ("alloc_count", count)])
            .loads([("level", format!("{level} + {count}"))])
    };
    [
        ring("G1", "taken & ~level_is_low", false, "level_below"),
        ring("G2", "taken & level_is_low & is_refilled", true, "level_below"),
        ring("G3", "taken & level_is_low & ~is_refilled", false, "level_below"),
        ring("G4", "~taken & is_refilled", true, "level"),
        ring("no rule", "~taken & ~is_refilled", false, "level"),
        TransitionProperty::new("O1", "too_much").shows([("alloc_valid", "1'b0")]),
    ]
}

/// The rules of credits: of K1 to K3 and none of them exactly one applies.
fn of_credits() -> [TransitionProperty; 4] {
    let credits = |rule, when: &str, next: &str| {
        TransitionProperty::new(rule, when).one_of("credits").loads([("credit_pending", next)])
    };
    [
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
    let is_repaired = is_repaired(parameters);
    // CHECK_POSTED, PROC_UNEXP_CP, and without F0 AWAIT_UNEXP_DP and PROC_UNEXP_DP; or
    // RECV_POSTED_DATA.
    let within = if is_repaired { 2 } else { 4 };
    let taken = "a message whose packets were all taken";
    let waits = "answer_is_owed | no_buffer_comes";
    vec![
        Progress {
            known_deadlocks: if is_repaired { Vec::new() } else { vec![unasked] },
            ..Progress::new(taken, "message_is_open", "answer_is_owed", within)
        },
        Progress::new("the wait of a packet on offer", "packet_waits", waits, 4),
    ]
}
