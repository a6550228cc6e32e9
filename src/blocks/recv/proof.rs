//! The golden model's rules as properties for `cosim prove`: the table of [`rules`](super::rules)
//! in Verilog, over the registers of `RecvSideFsm`. Only this file names them.

use super::parameters::{HIGH, KEEP, LOW, is_repaired};
use super::rules::{self, Load, Packet, PacketOutcome, PacketSelector, RULES, Row, State, ask};
use cosim_core::harness::{KnownDeadlock, Parameters, Progress, TransitionProperty};

/// The registers of section 4.
pub const REGISTERS: [(&str, u32); 8] = [
    ("cur_state", 3),
    ("level", 8),
    ("credit_pending", 8),
    ("cp_id", 8),
    ("cp_len", 16),
    ("cp_msg_len", 32),
    ("complete", 1),
    ("copying", 1),
];

/// Invariants.
pub fn invariants(parameters: &Parameters) -> Vec<(String, String)> {
    let high = parameters.get(HIGH);
    vec![
        (format!("the ring has at most {high} buffers"), format!("level <= 8'd{high}")),
        ("ring_level is the ring's".to_owned(), "ring_level == level".to_owned()),
        (
            "credit_count is what waits".to_owned(),
            "credit_count == credit_pending & credit_valid == (credit_pending != 8'd0)".to_owned(),
        ),
    ]
}

/// The properties of all rules.
pub fn transitions(parameters: &Parameters) -> Vec<TransitionProperty> {
    let mut all: Vec<TransitionProperty> =
        rules::ROWS.iter().map(|row| of_row(row, parameters)).collect();
    all.extend(of_the_choice(parameters));
    all.extend(of_the_ring(parameters));
    all.extend(of_credits(parameters));
    all
}

/// The condition that the state accepts a packet and the ring has a buffer.
fn ready(state: State) -> &'static str {
    match state.takes() {
        PacketSelector::No => "1'b0",
        PacketSelector::Any => "(level != 8'd0)",
        PacketSelector::AnyWhileIncomplete => "(level != 8'd0 & ~complete)",
        PacketSelector::Dps => "(level != 8'd0 & pkt_valid & pkt_kind == 3'd6)",
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

/// The pool is low: a temporary buffer is requested.
fn is_low(parameters: &Parameters) -> String {
    format!("pool_free < 8'd{}", parameters.get(KEEP))
}

fn of_row(row: &Row, parameters: &Parameters) -> TransitionProperty {
    let index = row.rule.iter().next().unwrap_or_default();
    let low = is_low(parameters);
    let [mut copies, mut keeps, mut releases] = ["1'b0"; 3].map(str::to_owned);
    let (yes, copied) = ("1'b1".to_owned(), format!("{low} & temp_alloc_ok"));
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
    let asks = if row.outcome == PacketOutcome::Choose { low } else { "1'b0".to_owned() };
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
    let (choice, low) = (is_in(State::ProcUnexpCp), is_low(parameters));
    let chosen = |rule, when: String, copying: u8| TransitionProperty {
        rule,
        when: format!("{choice} & {when}"),
        next: vec![("copying", format!("1'b{copying}"))],
        ..TransitionProperty::default()
    };
    let over = fact(ask::OVER, State::ProcUnexpCp, parameters);
    let onwards = [State::AwaitCp, State::DetermineCpType].map(|state| state as u64);
    vec![
        chosen("U1", format!("{low} & temp_alloc_ok"), 1),
        chosen("U2", format!("{low} & ~temp_alloc_ok"), 0),
        chosen("U3", format!("~({low})"), 0),
        TransitionProperty {
            rule: "F0",
            when: format!("{choice} & {over}"),
            next: vec![("cur_state", format!("pkt_valid ? 3'd{} : 3'd{}", onwards[1], onwards[0]))],
            ..TransitionProperty::default()
        },
    ]
}

/// A packet is accepted. The rows define `pkt_ready`.
const TAKEN: &str = "(pkt_valid & pkt_ready)";

/// The number of buffers in a refill, in 9 bits, and whether it would overflow the pending credit.
fn refill(parameters: &Parameters) -> (String, String) {
    let (low, high) = (parameters.get(LOW), parameters.get(HIGH));
    let left = format!("(level - {{7'd0, {TAKEN}}})");
    let lacks = format!(
        "({TAKEN} ? ({left} < 8'd{low} ? 8'd{high} - {left} : 8'd0) : level == 8'd0 ? 8'd{high} : 8'd0)"
    );
    let wanted = format!("({lacks} < pool_free ? {lacks} : pool_free)");
    let too_much = format!("({{1'b0, credit_pending}} + {{1'b0, {wanted}}} > 9'd255)");
    (format!("({too_much} ? 8'd0 : {wanted})"), too_much)
}

/// The rules of the ring: exactly one of G1 to G4 and "none" applies.
fn of_the_ring(parameters: &Parameters) -> Vec<TransitionProperty> {
    let low = parameters.get(LOW);
    let (refill, too_much) = refill(parameters);
    let is_low = format!("level - 8'd1 < 8'd{low}");
    let ring = |rule, when: String, refills: bool, level: &str| {
        let count = if refills { refill.clone() } else { "8'd0".to_owned() };
        TransitionProperty {
            rule,
            one_of: Some("the ring".to_owned()),
            when,
            outputs: vec![
                ("alloc_valid", format!("1'b{}", u8::from(refills))),
                ("alloc_count", count.clone()),
            ],
            next: vec![("level", format!("{level} + {count}"))],
        }
    };
    vec![
        ring("G1", format!("{TAKEN} & ~({is_low})"), false, "level - 8'd1"),
        ring("G2", format!("{TAKEN} & {is_low} & {refill} != 8'd0"), true, "level - 8'd1"),
        ring("G3", format!("{TAKEN} & {is_low} & {refill} == 8'd0"), false, "level - 8'd1"),
        ring("G4", format!("~{TAKEN} & {refill} != 8'd0"), true, "level"),
        ring("no rule", format!("~{TAKEN} & {refill} == 8'd0"), false, "level"),
        TransitionProperty {
            rule: "O1",
            when: too_much,
            outputs: vec![("alloc_valid", "1'b0".to_owned())],
            ..TransitionProperty::default()
        },
    ]
}

/// The rules of credits: exactly one of K1 to K3 and "none" applies.
fn of_credits(parameters: &Parameters) -> Vec<TransitionProperty> {
    let (refill, _) = refill(parameters);
    let sent = "(credit_pending != 8'd0 & credit_ready)";
    let credits = |rule, when: String, next: String| TransitionProperty {
        rule,
        one_of: Some("credits".to_owned()),
        when,
        next: vec![("credit_pending", next)],
        ..TransitionProperty::default()
    };
    vec![
        credits("K1", format!("{refill} != 8'd0 & ~{sent}"), format!("credit_pending + {refill}")),
        credits("K2", format!("{refill} != 8'd0 & {sent}"), refill.clone()),
        credits("K3", format!("{refill} == 8'd0 & {sent}"), "8'd0".to_owned()),
        credits("no rule", format!("{refill} == 8'd0 & ~{sent}"), "credit_pending".to_owned()),
    ]
}

/// Progress: messages of which every packet was accepted, and waits of offered packets.
pub fn progress(parameters: &Parameters) -> Vec<Progress> {
    let [posted, data] = [State::CheckPosted, State::RecvPostedData].map(is_in);
    let [awaits, determines] = [State::AwaitCp, State::DetermineCpType].map(is_in);
    let answers = format!("({posted} & ~match_rsp | {data} & ~posted_done)");
    let unasked = KnownDeadlock {
        what: "F0: an unexpected message of one packet waits for a packet that does not belong to it",
        when: format!("{} & complete", is_in(State::AwaitUnexpDp)),
        until: Some(("another packet comes", "pkt_valid".to_owned())),
    };
    let is_short_of_buffers =
        "(level == 8'd0 & (pool_free == 8'd0 | credit_valid & ~credit_ready))".to_owned();
    vec![
        Progress {
            what: "a message whose packets were all taken".to_owned(),
            busy: format!("complete & ~({awaits} | {determines})"),
            waits: answers.clone(),
            // States passed: CHECK_POSTED, PROC_UNEXP_CP, and without F0 AWAIT_UNEXP_DP and
            // PROC_UNEXP_DP; or RECV_POSTED_DATA.
            within: if is_repaired(parameters) { 2 } else { 4 },
            known_deadlocks: if is_repaired(parameters) { Vec::new() } else { vec![unasked] },
            ..Progress::default()
        },
        Progress {
            what: "the wait of a packet on offer".to_owned(),
            busy: "pkt_valid & ~pkt_ready".to_owned(),
            waits: format!("{answers} | {is_short_of_buffers}"),
            within: 4,
            ..Progress::default()
        },
    ]
}
