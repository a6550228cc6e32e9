//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Qp;
use crate::blocks::testing::bins;

/// The bins that the steps hit, without those of rules and queries.
#[track_caller]
fn hits<const N: usize>(steps: &str, mut expected: [&str; N]) {
    expected.sort_unstable();
    let json = format!(r#"{{ "noise": "0x0", {steps} }}"#);
    let hit = bins::<Qp>(0, &json, &["rules: ", "query: ", "qpns: query, "]);
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn commands_events_and_packets_are_counted_by_the_state_that_they_meet() {
    // The fatal error comes first: the command for RTR finds ERR. The reset begins in the cycle
    // after its step, in which the answer of the command is visible.
    hits(
        r#""steps": [{ "command": { "qpn": 128, "next": 1, "service": 3 } },
                     { "command": { "qpn": 128, "next": 2 }, "event": { "qpn": 128, "kind": 3 } },
                     { "command": { "qpn": 128, "next": 6 }, "event": { "qpn": 254, "kind": 0 } },
                     { "command": { "qpn": 254, "next": 1, "service": 1 } },
                     { "command": { "qpn": 254, "next": 2, "notify": 1 },
                       "reset": { "after": 1, "cycles": 3 }, "packet": { "qpn": 254, "error": 1 } }]"#,
        [
            "modify: RESET, INIT, done",
            "modify: ERR, RTR, illegal",
            "modify: ERR, ERR, done",
            "modify: INIT, RTR, not permitted",
            "events: fatal, INIT, UD",
            "same-qp: fatal, INIT, RTR",
            "queue: 0, in",
            // It is visible in the next cycle and accepted at once.
            "queue: 1, out",
            // Service 0 is RC, that of a QP which never left RESET.
            "events: first packet, RESET, reliable",
            "packets: INIT, UC, bad, no WQE",
            "reset: answer",
            "qpns: command, 2^k",
            "qpns: command, largest - 1",
            "qpns: event, 2^k",
            "qpns: event, largest - 1",
            "qpns: event to software, 2^k",
            "qpns: packet, largest - 1",
        ],
    );
}

#[test]
fn a_full_queue_is_counted_by_what_it_holds_up() {
    // 17 fatal errors of QP 1 in a row. The first event waits until the queue is full, and the last
    // error and a command wait with it. It leaves; then the 17th enters while the second leaves.
    let fatal = r#"{ "event": { "qpn": 1, "kind": 3 } }, "#.repeat(16);
    let json = format!(
        r#"{{ "noise": "0x0", "evt_stalls": [30], "steps": [
            {{ "command": {{ "qpn": 1, "next": 1, "service": 3 }} }}, {fatal}
            {{ "event": {{ "qpn": 1, "kind": 3 }}, "command": {{ "qpn": 2, "next": 1 }} }}] }}"#
    );
    let hit = bins::<Qp>(0, &json, &["rules", "query", "qpns", "modify", "events"]);
    let moves = |level: usize| match level {
        0 => vec!["in"],
        15 => vec!["both", "in", "out"],
        16 => vec!["out"],
        _ => vec!["in", "out"],
    };
    let levels = (0..=16).flat_map(|level| {
        moves(level).into_iter().map(move |moves| format!("queue: {level}, {moves}"))
    });
    assert_eq!(hit, levels.chain(["full: both".to_owned()]).collect());
}
