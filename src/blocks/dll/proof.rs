//! The golden model's rules as properties for `cosim prove`: the guards of
//! [`rules`](super::rules) in Verilog, over the registers of `PcieDllTx` and `PcieDllRx`. Only
//! this file names these registers.
//!
//! Several rules fire at one edge, so one property per device gives the next values of its
//! registers. The contents of the replay buffer, and so `a_link_data`, are in a memory and not
//! covered. Progress is proved for each device alone; the interaction over a link is only tested.

use super::parameters::{ACKNAK_LATENCY, REPLAY_DEPTH, REPLAY_LIMIT};
use super::rules::{self, A1, A2, A3, A4, A5, A7, A9, A10, A11, A12, A13, A14, A15, A16};
use super::rules::{ANSWERED, B1, B2, B3, B8, B9, B11, B12, B13, DUE, NAK_DUE, REWIND};
use super::rules::{ENTRIES, F0, Facts, Rules, fix};
use cosim_core::harness::{KnownDeadlock, Parameters, Progress, ProofRegister, TransitionProperty};

/// Proof register: a good TLP arrived, and no DLLP was due since.
const UNANSWERED: &str = "unanswered";

/// The registers of both devices.
pub fn registers(parameters: &Parameters) -> Vec<(&'static str, u32)> {
    let [limit, latency] = [REPLAY_LIMIT, ACKNAK_LATENCY].map(|index| parameters.get(index));
    vec![
        ("device_a.tlp_ready", 1),
        ("device_a.link_valid", 1),
        ("device_a.link_seq", 12),
        ("device_a.ackd_seq", 12),
        ("device_a.next_seq", 12),
        ("device_a.send_seq", 12),
        ("device_a.last_sent_seq", 12),
        ("device_a.replay_timer", bits(limit)),
        ("device_a.replay_num", 2),
        ("device_a.retrain", 1),
        ("device_a.dl_error", 1),
        ("device_b.next_rcv_seq", 12),
        ("device_b.nak_scheduled", 1),
        ("device_b.acknak_timer_on", 1),
        ("device_b.acknak_timer", bits(latency)),
        ("device_b.deliver_valid", 1),
        ("device_b.deliver_data", 32),
        ("device_b.dllp_valid", 1),
        ("device_b.dllp_nak", 1),
        ("device_b.dllp_seq", 12),
    ]
}

/// Width of a timer that counts up to a limit, less one.
fn bits(limit: u64) -> u32 {
    u64::BITS - (limit - 1).leading_zeros()
}

/// Invariants. The numbers of A are in order and span at most the depth of the buffer. This is
/// inductive by itself.
pub fn invariants(parameters: &Parameters) -> Vec<(String, String)> {
    let [depth, limit] = [REPLAY_DEPTH, REPLAY_LIMIT].map(|index| parameters.get(index));
    let ahead = |x: &str| format!("{{device_a_{x} - device_a_ackd_seq}}");
    let (sent, send, next) = (ahead("last_sent_seq"), ahead("send_seq"), ahead("next_seq"));
    let after = "{device_a_last_sent_seq + 12'd1}";
    let offers_new = format!("(device_a_link_valid & device_a_link_seq == {after})");
    let order = [
        format!("{next} != 12'd0 & {next} <= 12'd{}", depth + 1),
        format!("(~device_a_tlp_ready | {next} <= 12'd{depth})"),
        format!("{sent} < {next} & (~{offers_new} | {{{sent} + 12'd1}} < {next})"),
        format!("{send} != 12'd0 & {send} <= {next}"),
        format!("{send} <= {{{sent} + 12'd1 + {offers_new}}}"),
        format!("(~device_a_link_valid | {{{after} - device_a_link_seq}} <= 12'd{depth})"),
    ];
    let order =
        ("A's numbers are in order, as many as its buffer holds".to_owned(), order.join(" & "));
    // If the limit is a power of two, the width of the timer already implies this.
    let below = format!("device_a_replay_timer <= {}'d{}", bits(limit), limit - 1);
    let timer = ("A's timer is below its limit".to_owned(), below);
    if limit.is_power_of_two() { vec![order] } else { vec![order, timer] }
}

/// The properties of all rules.
pub fn transitions(parameters: &Parameters) -> Vec<TransitionProperty> {
    let rule = |(name, guard): (&'static str, rules::Guard)| TransitionProperty {
        rule: name,
        when: when(&guard, parameters),
        ..TransitionProperty::default()
    };
    let mut all: Vec<TransitionProperty> =
        ENTRIES.iter().map(|entry| rule((entry.name, entry.guard))).collect();
    // Rules of reset are included, so that indices match. Outside of reset their wires are 0.
    all.push(device("device A", sender()));
    all.push(device("device B", receiver()));
    all
}

fn device(rule: &'static str, next: Vec<(&'static str, String)>) -> TransitionProperty {
    TransitionProperty { rule, when: "1'b1".to_owned(), next, ..TransitionProperty::default() }
}

/// 1 if one of the rules fires. Rules come first among the transitions, so their indices match.
fn any(rules: Rules) -> String {
    let wires: Vec<String> = rules.set().iter().map(|index| format!("rule_{index}")).collect();
    format!("({})", wires.join(" | "))
}

/// The guard as an expression, with its conditions in the order of their definition.
fn when(guard: &rules::Guard, parameters: &Parameters) -> String {
    let (on, off, any_of, unless) = guard.parts();
    let each = |facts: Facts| (0..32).map(|place| 1 << place).filter(move |bit| facts & bit != 0);
    let mut all: Vec<String> = each(on).map(|bit| fact(bit, parameters)).collect();
    all.extend(each(off).map(|bit| format!("~{}", fact(bit, parameters))));
    if any_of.set().iter().next().is_some() {
        all.push(any(any_of));
    }
    if unless.set().iter().next().is_some() {
        all.push(format!("~{}", any(unless)));
    }
    if all.is_empty() { "1'b1".to_owned() } else { all.join(" & ") }
}

/// `next_seq'` and `ackd_seq'`.
fn ends() -> (String, String) {
    let next = format!("({} ? device_a_next_seq + 12'd1 : device_a_next_seq)", any(A1));
    (next, format!("({} ? a_dllp_seq : device_a_ackd_seq)", any(A3.or(A4))))
}

/// A fact as an expression over the RTL.
fn fact(bit: Facts, parameters: &Parameters) -> String {
    let [depth, limit, latency] =
        [REPLAY_DEPTH, REPLAY_LIMIT, ACKNAK_LATENCY].map(|index| parameters.get(index));
    // The distance of two numbers, in 12 bits.
    let ahead = |x: &str, y: &str| format!("{{{x} - {y}}}");
    let progress = ahead("a_dllp_seq", "device_a_ackd_seq");
    let arrived = ahead("b_link_seq", "device_b_next_rcv_seq");
    let is_ahead = format!("({arrived} != 12'd0 & {arrived} < 12'd2048)");
    match bit {
        rules::RESET => "in_reset".to_owned(),
        rules::TLP_VALID => "a_tlp_valid".to_owned(),
        rules::TLP_READY => "device_a_tlp_ready".to_owned(),
        rules::OFFER => "device_a_link_valid".to_owned(),
        rules::LINK_READY => "a_link_ready".to_owned(),
        rules::DLLP => "a_dllp_valid".to_owned(),
        rules::DLLP_CRC_OK => "a_dllp_crc_ok".to_owned(),
        rules::DLLP_NAK => "a_dllp_nak".to_owned(),
        rules::IN_RANGE => {
            format!("({progress} <= {})", ahead("device_a_last_sent_seq", "device_a_ackd_seq"))
        }
        rules::PROGRESS => "(a_dllp_seq != device_a_ackd_seq)".to_owned(),
        rules::UNACKNOWLEDGED => "(device_a_last_sent_seq != device_a_ackd_seq)".to_owned(),
        rules::REPLAY_DUE => format!("(device_a_replay_timer == {}'d{})", bits(limit), limit - 1),
        rules::LAST_REPLAY => "(device_a_replay_num == 2'd3)".to_owned(),
        rules::TO_SEND => "(device_a_send_seq != device_a_next_seq)".to_owned(),
        rules::OVERTAKEN => {
            format!("({} <= {progress})", ahead("device_a_send_seq", "device_a_ackd_seq"))
        }
        rules::FULL => {
            let (next, ackd) = ends();
            let held = ahead(&next, &ackd);
            format!("({held} > 12'd{depth} | {held} >= 12'd2048)")
        }
        rules::TLP => "b_link_valid".to_owned(),
        rules::TLP_CRC_OK => "b_link_crc_ok".to_owned(),
        rules::NEXT => "(b_link_seq == device_b_next_rcv_seq)".to_owned(),
        rules::AHEAD => is_ahead,
        rules::UNUSABLE => format!("(b_link_valid & (~b_link_crc_ok | {is_ahead}))"),
        rules::NAK_OUT => "device_b_nak_scheduled".to_owned(),
        rules::TIMER_ON => "device_b_acknak_timer_on".to_owned(),
        rules::ACK_DUE => format!("(device_b_acknak_timer == {}'d{})", bits(latency), latency - 1),
        rules::ANSWER => "device_b_dllp_valid".to_owned(),
        rules::ANSWER_WAITS => "(device_b_dllp_valid & ~b_dllp_ready)".to_owned(),
        rules::ANSWER_NAK => "device_b_dllp_nak".to_owned(),
        rules::F0_ON => format!("1'b{}", u8::from(parameters.fixes() & fix(0) != 0)),
        other => unreachable!("no guard looks at {other:#x}"),
    }
}

/// Next values of A's registers.
fn sender() -> Vec<(&'static str, String)> {
    let (next, ackd) = ends();
    let is_new = "(device_a_link_seq == device_a_last_sent_seq + 12'd1)";
    let sent = format!("{} & {is_new} ? device_a_link_seq : device_a_last_sent_seq", any(A2));
    let send = format!(
        "{} ? a_dllp_seq + 12'd1 : {} ? device_a_ackd_seq + 12'd1 : {} ? device_a_send_seq + 12'd1 : device_a_send_seq",
        any(A4.or(A5).or(A14)),
        any(A9),
        any(A12)
    );
    let timer = format!(
        "{} ? 1'b0 : {} ? device_a_replay_timer + 1'b1 : device_a_replay_timer",
        any(ANSWERED.or(A9).or(A16)),
        any(A15)
    );
    let number = format!(
        "{} ? 2'd0 : {} ? device_a_replay_num + 2'd1 : device_a_replay_num",
        any(A3),
        any(REWIND)
    );
    vec![
        ("device_a.next_seq", next),
        ("device_a.ackd_seq", ackd),
        ("device_a.last_sent_seq", sent),
        ("device_a.link_seq", format!("{} ? device_a_send_seq : device_a_link_seq", any(A12))),
        ("device_a.send_seq", send),
        ("device_a.replay_timer", timer),
        ("device_a.replay_num", number),
        ("device_a.link_valid", any(A12.or(A13))),
        ("device_a.tlp_ready", format!("~{}", any(A11))),
        ("device_a.dl_error", any(A7)),
        ("device_a.retrain", any(A10)),
    ]
}

/// Next values of B's registers.
fn receiver() -> Vec<(&'static str, String)> {
    let due = any(DUE);
    let wanted = format!("({} ? device_b_next_rcv_seq + 12'd1 : device_b_next_rcv_seq)", any(B1));
    vec![
        ("device_b.deliver_valid", any(B1)),
        ("device_b.deliver_data", format!("{} ? b_link_data : device_b_deliver_data", any(B1))),
        (
            "device_b.nak_scheduled",
            format!("~{} & ({} | device_b_nak_scheduled)", any(B1), any(NAK_DUE)),
        ),
        (
            "device_b.acknak_timer_on",
            format!("~{due} & (device_b_acknak_timer_on | {})", any(B1.or(B3).or(F0))),
        ),
        (
            "device_b.acknak_timer",
            format!(
                "{due} ? 1'b0 : {} ? device_b_acknak_timer + 1'b1 : device_b_acknak_timer",
                any(B13)
            ),
        ),
        ("device_b.dllp_valid", format!("{} | (device_b_dllp_valid & ~{})", any(B12), any(B11))),
        (
            "device_b.dllp_nak",
            format!("{} ? {} : device_b_dllp_nak", any(B9.or(B12)), any(NAK_DUE)),
        ),
        (
            "device_b.dllp_seq",
            format!("{} ? {wanted} - 12'd1 : device_b_dllp_seq", any(B8.or(B9).or(B12))),
        ),
        ("device_b.next_rcv_seq", wanted),
    ]
}

/// Auxiliary state of B: a good TLP that is not ahead arrived, and neither Ack nor Nak was due
/// since. A DLLP that is due at the same edge includes that TLP.
pub fn proof_registers() -> Vec<ProofRegister> {
    let came = any(B1.or(B2).or(B3).or(F0));
    vec![ProofRegister {
        name: UNANSWERED,
        width: 1,
        next: format!("~{} & ({UNANSWERED} | {came})", any(DUE)),
    }]
}

/// The progress properties of each device.
pub fn progress(parameters: &Parameters) -> Vec<Progress> {
    let [limit, latency] = [REPLAY_LIMIT, ACKNAK_LATENCY].map(|index| parameters.get(index) as u32);
    let silence = KnownDeadlock {
        what: "F0: a duplicate comes while a Nak is out, and nothing answers it",
        when: format!("{UNANSWERED} & device_b_nak_scheduled & ~device_b_acknak_timer_on"),
        until: Some(("the wanted TLP comes", any(B1))),
    };
    let is_repaired = parameters.fixes() & fix(0) != 0;
    vec![
        Progress {
            what: "the wait of a TLP that A is to send, while none is on offer".to_owned(),
            busy: "(device_a_send_seq != device_a_next_seq) & ~a_link_valid".to_owned(),
            waits: "1'b0".to_owned(),
            within: 1,
            more: Some((1, "rewind", any(REWIND.or(A14)))),
            ..Progress::default()
        },
        Progress {
            what: "A's wait for an answer".to_owned(),
            busy: "(device_a_last_sent_seq != device_a_ackd_seq)".to_owned(),
            waits: "1'b0".to_owned(),
            within: limit,
            more: Some((limit, "answer or replay", any(ANSWERED.or(A9)))),
            ..Progress::default()
        },
        Progress {
            what: "the wait of an Ack that B owes".to_owned(),
            busy: "device_b_acknak_timer_on".to_owned(),
            waits: "1'b0".to_owned(),
            within: latency,
            ..Progress::default()
        },
        Progress {
            what: "the wait of a good TLP for B's Ack or Nak".to_owned(),
            busy: UNANSWERED.to_owned(),
            waits: "b_dllp_valid & ~b_dllp_ready".to_owned(),
            within: latency,
            // The cycle that ends the deadlock counts as well.
            more: (!is_repaired).then(|| (1, "wanted TLP", any(B1))),
            known_deadlocks: if is_repaired { Vec::new() } else { vec![silence] },
            ..Progress::default()
        },
    ]
}
