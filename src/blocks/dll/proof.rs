//! The golden model's rules as properties for `cosim prove`: the guards of
//! [`rules`](super::rules), over the wires of `rtl/dll/dll_sva.sv`.
//!
//! Several rules fire at one edge, so one property per device gives the next values of its
//! registers. The contents of the replay buffer, and so `a_link_data`, are in a memory and not
//! covered. Progress is proved for each device alone; the interaction over a link is only tested.

use super::rules::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::rules::{self, A1, A2, A3, A4, A5, A7, A9, A10, A11, A12, A13, A14, A15, A16};
use super::rules::{ANSWERED, B1, B3, B8, B9, B11, B12, B13, DUE, NAK_DUE, REWIND};
use super::rules::{F0, Facts, GUARDS, RULES, fix};
use cosim_core::harness::{KnownDeadlock, Parameters, Progress, RuleSet, TransitionProperty};

/// The properties of all rules.
pub fn transitions(parameters: &Parameters) -> Vec<TransitionProperty> {
    // Rules of reset are included, so that indices match. Outside of reset their wires are 0.
    let rules = RULES.iter().zip(&GUARDS);
    let rules =
        rules.map(|(rule, guard)| TransitionProperty::new(rule.name, when(guard, parameters)));
    let device = |name| TransitionProperty::new(name, "1'b1");
    let devices = [device("device A").loads(sender()), device("device B").loads(receiver())];
    rules.chain(devices).collect()
}

/// 1 if one of the rules fires. Rules come first among the transitions, so their indices match.
fn any(rules: RuleSet) -> String {
    let wires: Vec<String> = rules.iter().map(|index| format!("rule_{index}")).collect();
    format!("({})", wires.join(" | "))
}

/// The guard as an expression, with its conditions in the order of their definition.
fn when(guard: &rules::Guard, parameters: &Parameters) -> String {
    let (on, off, any_of, unless) = guard.parts();
    let each = |facts: Facts| (0..32).map(|place| 1 << place).filter(move |bit| facts & bit != 0);
    let mut all: Vec<String> = each(on).map(|bit| fact(bit, parameters)).collect();
    all.extend(each(off).map(|bit| format!("~{}", fact(bit, parameters))));
    if any_of.iter().next().is_some() {
        all.push(any(any_of));
    }
    if unless.iter().next().is_some() {
        all.push(format!("~{}", any(unless)));
    }
    if all.is_empty() { "1'b1".to_owned() } else { all.join(" & ") }
}

/// `next_seq'` and `ackd_seq'`.
fn ends() -> (String, String) {
    let next = format!("({} ? device_a_next_seq + 12'd1 : device_a_next_seq)", any(A1));
    (next, format!("({} ? a_dllp_seq : device_a_ackd_seq)", any(A3.with(A4))))
}

/// The name of a fact: a pin, a register of the RTL, or a wire of `dll_sva.sv`.
fn fact(bit: Facts, parameters: &Parameters) -> String {
    let name = match bit {
        rules::RESET => "in_reset",
        rules::TLP_VALID => "a_tlp_valid",
        rules::TLP_READY => "device_a_tlp_ready",
        rules::OFFER => "device_a_link_valid",
        rules::LINK_READY => "a_link_ready",
        rules::DLLP => "a_dllp_valid",
        rules::DLLP_CRC_OK => "a_dllp_crc_ok",
        rules::DLLP_NAK => "a_dllp_nak",
        rules::IN_RANGE => "in_range",
        rules::PROGRESS => "is_progress",
        rules::UNACKNOWLEDGED => "unacknowledged",
        rules::REPLAY_DUE => "replay_due",
        rules::LAST_REPLAY => "last_replay",
        rules::TO_SEND => "to_send",
        rules::OVERTAKEN => "overtaken",
        // It is about registers after the edge, which rules decide.
        rules::FULL => {
            let depth = parameters.get(REPLAY_DEPTH);
            let (next, ackd) = ends();
            let held = format!("{{{next} - {ackd}}}");
            return format!("({held} > 12'd{depth} | {held} >= 12'd2048)");
        }
        rules::TLP => "b_link_valid",
        rules::TLP_CRC_OK => "b_link_crc_ok",
        rules::NEXT => "is_next",
        rules::AHEAD => "is_ahead",
        rules::UNUSABLE => "unusable",
        rules::NAK_OUT => "device_b_nak_scheduled",
        rules::TIMER_ON => "device_b_acknak_timer_on",
        rules::ACK_DUE => "ack_due",
        rules::ANSWER => "device_b_dllp_valid",
        rules::ANSWER_WAITS => "answer_waits",
        rules::ANSWER_NAK => "device_b_dllp_nak",
        rules::F0_ON => return format!("1'b{}", u8::from(parameters.fixes() & fix(0) != 0)),
        other => unreachable!("no guard looks at {other:#x}"),
    };
    name.to_owned()
}

/// Next values of A's registers.
fn sender() -> Vec<(&'static str, String)> {
    let (next, ackd) = ends();
    let sent = format!("{} & is_new ? device_a_link_seq : device_a_last_sent_seq", any(A2));
    let send = format!(
        "{} ? a_dllp_seq + 12'd1 : {} ? device_a_ackd_seq + 12'd1 : {} ? device_a_send_seq + 12'd1 : device_a_send_seq",
        any(A4.with(A5).with(A14)),
        any(A9),
        any(A12)
    );
    let timer = format!(
        "{} ? 1'b0 : {} ? device_a_replay_timer + 1'b1 : device_a_replay_timer",
        any(ANSWERED.with(A9).with(A16)),
        any(A15)
    );
    let number = format!(
        "{} ? 2'd0 : {} ? device_a_replay_num + 2'd1 : device_a_replay_num",
        any(A3),
        any(REWIND)
    );
    vec![
        ("device_a_next_seq", next),
        ("device_a_ackd_seq", ackd),
        ("device_a_last_sent_seq", sent),
        ("device_a_link_seq", format!("{} ? device_a_send_seq : device_a_link_seq", any(A12))),
        ("device_a_send_seq", send),
        ("device_a_replay_timer", timer),
        ("device_a_replay_num", number),
        ("device_a_link_valid", any(A12.with(A13))),
        ("device_a_tlp_ready", format!("~{}", any(A11))),
        ("device_a_dl_error", any(A7)),
        ("device_a_retrain", any(A10)),
    ]
}

/// Next values of B's registers.
fn receiver() -> Vec<(&'static str, String)> {
    let due = any(DUE);
    let wanted = format!("({} ? device_b_next_rcv_seq + 12'd1 : device_b_next_rcv_seq)", any(B1));
    vec![
        ("device_b_deliver_valid", any(B1)),
        ("device_b_deliver_data", format!("{} ? b_link_data : device_b_deliver_data", any(B1))),
        (
            "device_b_nak_scheduled",
            format!("~{} & ({} | device_b_nak_scheduled)", any(B1), any(NAK_DUE)),
        ),
        (
            "device_b_acknak_timer_on",
            format!("~{due} & (device_b_acknak_timer_on | {})", any(B1.with(B3).with(F0))),
        ),
        (
            "device_b_acknak_timer",
            format!(
                "{due} ? 1'b0 : {} ? device_b_acknak_timer + 1'b1 : device_b_acknak_timer",
                any(B13)
            ),
        ),
        ("device_b_dllp_valid", format!("{} | (device_b_dllp_valid & ~{})", any(B12), any(B11))),
        (
            "device_b_dllp_nak",
            format!("{} ? {} : device_b_dllp_nak", any(B9.with(B12)), any(NAK_DUE)),
        ),
        (
            "device_b_dllp_seq",
            format!("{} ? {wanted} - 12'd1 : device_b_dllp_seq", any(B8.with(B9).with(B12))),
        ),
        ("device_b_next_rcv_seq", wanted),
    ]
}

/// What each device finishes.
pub fn progress(parameters: &Parameters) -> Vec<Progress> {
    let [limit, latency] = [REPLAY_LIMIT, ACKNAK_LATENCY].map(|index| parameters.get(index) as u32);
    let silence = KnownDeadlock {
        what: "F0: a duplicate comes while a Nak is out, and nothing answers it",
        when: "silent".to_owned(),
        until: Some(("the wanted TLP comes", any(B1))),
    };
    let is_repaired = parameters.fixes() & fix(0) != 0;
    let answer = "the wait of a good TLP for B's Ack or Nak";
    vec![
        Progress {
            more: Some((1, "rewind", any(REWIND.with(A14)))),
            ..Progress::new(
                "the wait of a TLP that A is to send, while none is on offer",
                "tlp_waits",
                "1'b0",
                1,
            )
        },
        Progress {
            more: Some((limit, "answer or replay", any(ANSWERED.with(A9)))),
            ..Progress::new("A's wait for an answer", "unacknowledged", "1'b0", limit)
        },
        Progress::new(
            "the wait of an Ack that B owes",
            "device_b_acknak_timer_on",
            "1'b0",
            latency,
        ),
        Progress {
            // The cycle that ends the deadlock counts as well.
            more: (!is_repaired).then(|| (1, "wanted TLP", any(B1))),
            known_deadlocks: if is_repaired { Vec::new() } else { vec![silence] },
            ..Progress::new(answer, "unanswered", "answer_waits", latency)
        },
    ]
}
