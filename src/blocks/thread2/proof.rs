//! The properties of the block for `cosim prove`: the table of [`rules`](super::rules), over the
//! registers and wires that `rtl/thread2/thread2_sva.sv` names.
//!
//! A proof abstracts the message-offset table; its read data is the wire `msg_offset`.

use super::rules::layout::{NextUnit, QueueResponse};
use super::rules::{
    Effect, Opcodes, ROWS, RULES, Row, State, WRITES_WITH_IMM, ask, fix, is_acknowledged,
    processes_messages,
};
use cosim_core::harness::{
    KnownDeadlock, Parameters, Progress, Properties, StableChannel, TransitionProperty,
};
use cosim_core::verilated::Field;

fn is_in(state: State) -> String {
    format!("(cur_state == 6'd{})", state as u8)
}

/// All properties.
pub fn properties(parameters: &Parameters) -> Properties {
    const UPDATE: &[&str] = &[State::UPDATE_RQ_s.name()];
    let is_fixed = |number| parameters.fixes() & fix(number) != 0;
    let mut stable =
        vec![StableChannel::whole("cq_req_valid"), StableChannel::whole("eq_req_valid")];
    // T08 withdraws the request for a WQE. T43 replaces the request for an event by that for the
    // completion.
    if is_fixed(0) {
        stable.push(StableChannel::whole("wqe_req_valid"));
    }
    stable.push(match is_fixed(2) {
        true => StableChannel::whole("fetch_mr_ingress_valid"),
        false => StableChannel::valid("fetch_mr_ingress_valid"),
    });
    Properties {
        quiescent: vec![
            "fetch_mr_ingress_valid",
            "wqe_req_valid",
            "cq_req_valid",
            "eq_req_valid",
            "rq_offset_din",
            "cache_offset_din",
            "cache_owned_din",
        ],
        stable,
        illegal_states: vec![State::Undefined.name()],
        enabled: vec![
            ("rq_offset_wen", UPDATE),
            ("cache_offset_wen", UPDATE),
            ("cache_owned_wen", UPDATE),
        ],
        transitions: transitions(parameters),
        word_abstractions: Vec::new(),
        progress: vec![progress(parameters)],
    }
}

/// What every row says, and that registers stay what they are where no row loads them.
fn transitions(parameters: &Parameters) -> Vec<TransitionProperty> {
    let mut all: Vec<TransitionProperty> =
        (0..ROWS.len()).map(|row| of_row(row, parameters)).collect();
    let stays = |(name, rule): &(&'static str, &'static str)| {
        let loads = |row: &Row| loaded(row.effect).iter().any(|(register, _)| register == name);
        let rows = (0..).zip(ROWS).filter(|(_, row)| loads(row));
        let rows: Vec<String> =
            rows.map(|(place, _): (usize, _)| format!("rule_{place}")).collect();
        TransitionProperty::new(rule, format!("~({})", rows.join(" | "))).loads([(*name, *name)])
    };
    all.extend(STAY.iter().map(stays));
    all
}

/// The names of registers, and of the properties that they keep their values.
macro_rules! stay {
    ($($register:literal)+) => { [$(($register, concat!($register, " stays"))),+] };
}

/// Registers that rows load.
const STAY: [(&str, &str); 11] = stay!(
    "pkt_left" "parsed" "len_error" "cxt" "hdr" "next_wqe_addr" "next_wqe_size" "cur_wqe_size"
    "wqe_addr" "cq_laddr" "eq_laddr"
);

fn field(port: &str, fields: &[(&str, Field)], name: &str) -> String {
    let known = fields.iter().find(|(known, _)| *known == name);
    let (_, Field { lsb, width }) = known.unwrap_or_else(|| unreachable!("{port} has no {name}"));
    format!("{port}[{}:{lsb}]", lsb + width - 1)
}

/// Whether a field has one of the codes for which something holds.
fn is_one(field: &str, width: u32, holds: impl Fn(u64) -> bool) -> String {
    let codes = (0..1_u64 << width).filter(|code| holds(*code));
    let codes: Vec<String> = codes.map(|code| format!("{field} == {width}'d{code}")).collect();
    if codes.is_empty() { "1'b0".to_owned() } else { format!("({})", codes.join(" | ")) }
}

fn opcode_in(opcodes: Opcodes) -> String {
    is_one("net_opcode", 5, |code| opcodes >> code & 1 == 1)
}

/// A bit of [`ask`] as an expression.
fn fact(bit: u32, parameters: &Parameters) -> String {
    let fixed = |number: u32| format!("1'b{}", u8::from(parameters.fixes() & fix(number) != 0));
    let name = match bit {
        ask::CXT_VALID => "fetch_cxt_egress_valid",
        ask::WQE_REQ_READY => "wqe_req_ready",
        ask::WQE_RESP_VALID => "wqe_resp_valid",
        ask::WQE_RESP_LAST => "wqe_resp_last",
        ask::NOTHING_LEFT => "nothing_left",
        ask::NOTHING_AVAILABLE => "none_available",
        ask::REST_FITS => "rest_fits",
        ask::CQ_REQ_READY => "cq_req_ready",
        ask::CQ_RESP_VALID => "cq_resp_valid",
        ask::EQ_REQ_READY => "eq_req_ready",
        ask::EQ_RESP_VALID => "eq_resp_valid",
        ask::MR_READY => "fetch_mr_ingress_ready",
        ask::LENGTH_ERROR => "len_error",
        ask::F0 => return fixed(0),
        ask::F2 => return fixed(2),
        ask::F4 => return fixed(4),
        ask::EVENT => return format!("({} & solicited)", fixed(1)),
        ask::WRITE_COMPLETES => return format!("({} & {})", fixed(3), opcode_in(WRITES_WITH_IMM)),
        ask::WQE_ENDS => return format!("({} & wqe_resp_last)", fixed(5)),
        ask::UNACKED => {
            return format!("({} & ~{})", fixed(6), is_one("service_type", 3, is_acknowledged));
        }
        ask::REFUSED => {
            return format!("({} & ~{})", fixed(7), is_one("qp_state", 3, processes_messages));
        }
        other => unreachable!("no guard asks {other:#x}"),
    };
    name.to_owned()
}

fn guard(row: &Row, parameters: &Parameters) -> String {
    let (on, off, opcodes) = row.guard();
    let mut conditions = vec![match row.from {
        // All codes that are not states.
        State::Undefined => {
            let states = State::ALL.into_iter().filter(|state| *state != State::Undefined);
            let states: Vec<String> = states.map(is_in).collect();
            format!("~({})", states.join(" | "))
        }
        state => is_in(state),
    }];
    for bit in (0..u32::BITS).map(|place| 1_u32 << place) {
        if on & bit != 0 {
            conditions.push(fact(bit, parameters));
        }
        if off & bit != 0 {
            conditions.push(format!("~{}", fact(bit, parameters)));
        }
    }
    if opcodes != Opcodes::MAX {
        conditions.push(opcode_in(opcodes));
    }
    conditions.join(" & ")
}

/// The registers that an effect loads, with their next values.
fn loaded(effect: Effect) -> Vec<(&'static str, String)> {
    let of = |register, value: &str| (register, value.to_owned());
    let next = |register| (register, field("wqe_resp_data", NextUnit::FIELDS, register));
    let laddr = |port| field(port, QueueResponse::FIELDS, "laddr");
    let passed = || of("parsed", "parsed_after");
    let placed = || of("pkt_left", "left_after");
    let too_short = || of("len_error", "1'b1");
    match effect {
        Effect::None | Effect::StepQueue => Vec::new(),
        Effect::TakePacket => {
            vec![of("cxt", "fetch_cxt_egress_head"), of("hdr", "fetch_cxt_egress_data")]
        }
        Effect::BeginPacket => vec![
            of("pkt_left", "{16'd0, pkt_length}"),
            of("parsed", "32'd0"),
            of("len_error", "1'b0"),
        ],
        Effect::TakeNextUnit => vec![
            next("next_wqe_addr"),
            next("next_wqe_size"),
            next("cur_wqe_size"),
            of("wqe_addr", "rq_offset_dout"),
        ],
        Effect::SkipUnit => vec![passed()],
        Effect::SkipUnitTooShort => vec![passed(), too_short()],
        Effect::TakeUnit => vec![passed(), placed()],
        Effect::TakeUnitTooShort => vec![passed(), placed(), too_short()],
        Effect::TakeCqAddress => vec![("cq_laddr", laddr("cq_resp_head"))],
        Effect::TakeEqAddress => vec![("eq_laddr", laddr("eq_resp_head"))],
    }
}

/// Readies, valids and enables of a state, and the address of the tables.
fn outputs(state: State) -> Vec<(&'static str, String)> {
    let is = |states: &[State]| format!("1'b{}", u8::from(states.contains(&state)));
    let wqe_resp_ready = match state {
        State::NEXT_UNIT_s => "1'b1".to_owned(),
        State::DATA_UNIT_s => "passes_unit".to_owned(),
        State::MR_FOR_SEND_s => "fetch_mr_ingress_ready".to_owned(),
        _ => "1'b0".to_owned(),
    };
    let requests = [
        State::MR_FOR_SEND_s,
        State::MR_FOR_WRITE_s,
        State::MR_FOR_READ_s,
        State::MR_FOR_CQ_s,
        State::MR_FOR_EQ_s,
        State::GEN_ACK_s,
    ];
    let qp = match state {
        State::IDLE_s => "8'd0".to_owned(),
        _ => "local_qp".to_owned(),
    };
    vec![
        ("fetch_cxt_egress_ready", is(&[State::IDLE_s])),
        ("wqe_req_valid", is(&[State::WQE_REQ_s])),
        ("wqe_resp_ready", wqe_resp_ready),
        ("fetch_mr_ingress_valid", is(&requests)),
        ("cq_req_valid", is(&[State::CQ_REQ_s])),
        ("cq_resp_ready", is(&[State::CQ_RESP_s])),
        ("eq_req_valid", is(&[State::EQ_REQ_s])),
        ("eq_resp_ready", is(&[State::EQ_RESP_s])),
        ("rq_offset_wen", is(&[State::UPDATE_RQ_s])),
        ("cache_offset_wen", is(&[State::UPDATE_RQ_s])),
        ("rq_offset_addr", qp.clone()),
        ("cache_offset_addr", qp),
    ]
}

fn of_row(index: usize, parameters: &Parameters) -> TransitionProperty {
    let row = &ROWS[index];
    // Outputs are not specified for codes that are not states.
    let outputs = if row.from == State::Undefined { Vec::new() } else { outputs(row.from) };
    TransitionProperty::new(RULES[index].name, guard(row, parameters))
        .one_of("T01 to T46")
        .shows(outputs)
        .loads([("cur_state", format!("6'd{}", row.to as u8))])
        .loads(loaded(row.effect))
}

/// A packet that was taken is finished, if its partners answer.
fn progress(parameters: &Parameters) -> Progress {
    let is_fixed = |number| parameters.fixes() & fix(number) != 0;
    let mut known_deadlocks = Vec::new();
    if !is_fixed(5) {
        known_deadlocks.push(KnownDeadlock {
            what: "F5: the WQE's last unit is used, and another one is waited for",
            when: "waits_for_no_unit".to_owned(),
            until: None,
        });
    }
    if is_fixed(1) && !is_fixed(2) {
        known_deadlocks.push(KnownDeadlock {
            what: "F2: the request for an event waits, and the completion is repeated",
            when: "went_back".to_owned(),
            until: Some(("that request is taken at once", "event_taken".to_owned())),
        });
    }
    Progress {
        what: "a packet that was taken".to_owned(),
        busy: "is_busy".to_owned(),
        waits: "partner_waits".to_owned(),
        within: 11,
        more: Some((2, "beat of its WQE", "unit_used".to_owned())),
        assumptions: vec![
            ("a WQE's beats come after its request, up to its last", "beats_are_owed".to_owned()),
            ("there is a unit behind its NextUnit", "has_units".to_owned()),
        ],
        known_deadlocks,
    }
}
