//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Qp;
use crate::blocks::testing::bins;

/// The bins that the steps hit, without rules, queries and numbers of QPs.
#[track_caller]
fn hits(steps: &str, expected: &[&str]) {
    let mut expected: Vec<String> = expected.iter().map(|bin| (*bin).to_owned()).collect();
    expected.sort_unstable();
    let hit = bins::<Qp>(
        0,
        &format!(r#"{{ "noise": "0x0", {steps} }}"#),
        &["rules: ", "query: ", "qpns: "],
    );
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn numbers_of_qps_are_counted_where_they_are_read_or_shown() {
    // A fatal error in INIT is reported to software. QP 0 is queried until a command is accepted.
    let steps = r#""steps": [{ "command": { "qpn": 254, "next": 1 } },
                             { "event": { "qpn": 254, "kind": 3 } },
                             { "packet": { "qpn": 128 }, "query": 127 }]"#;
    let hit = bins::<Qp>(0, &format!(r#"{{ "noise": "0x0", {steps} }}"#), &[]);
    let of_qps: Vec<String> = hit.into_iter().filter(|bin| bin.starts_with("qpns: ")).collect();
    assert_eq!(
        of_qps,
        [
            "qpns: command, largest - 1",
            "qpns: event to software, largest - 1",
            "qpns: event, largest - 1",
            "qpns: packet, 2^k",
            "qpns: query, 0",
            "qpns: query, 2^k - 1",
            "qpns: query, largest - 1",
        ]
    );
}

#[test]
fn a_command_is_counted_by_the_state_it_meets_and_its_answer() {
    hits(
        r#""steps": [{ "command": { "qpn": 1, "next": 1, "service": 1 } },
                     { "command": { "qpn": 1, "next": 3 } },
                     { "command": { "qpn": 1, "next": 2, "notify": 1 } },
                     { "command": { "qpn": 1, "next": 2 } }]"#,
        &[
            "modify: RESET, INIT, done",
            "modify: INIT, RTS, illegal",
            "modify: INIT, RTR, not permitted",
            "modify: INIT, RTR, done",
        ],
    );
}

#[test]
fn an_offer_that_waits_is_counted_by_what_becomes_of_it() {
    let fatal = r#"{ "event": { "qpn": 1, "kind": 3 } },"#.repeat(16);
    let steps = format!(
        r#"{{ "noise": "0x0", "evt_stalls": [40], "steps": [{{ "command": {{ "qpn": 1, "next": 1 }} }}, {fatal}
            {{ "command": {{ "qpn": 1, "next": 6 }}, "event": {{ "qpn": 1, "kind": 3 }} }},
            {{ "instead": 1, "command": {{ "qpn": 1, "next": 0 }}, "event": {{ "qpn": 1, "kind": 3 }} }},
            {{ "gap": 1, "instead": 1 }}] }}"#
    );
    // The event stays, the command changes. Both wait for one more cycle and are withdrawn.
    let hit = bins::<Qp>(0, &steps, &[]);
    let offers: Vec<&str> = hit.iter().filter_map(|bin| bin.strip_prefix("offers: ")).collect();
    assert_eq!(
        offers,
        [
            "command, changed",
            "command, unchanged",
            "command, withdrawn",
            "event, unchanged",
            "event, withdrawn",
        ]
    );
}

#[test]
fn an_event_and_a_command_of_one_edge_are_counted_together() {
    // The fatal error comes first: the command for RTR finds ERR.
    hits(
        r#""steps": [{ "command": { "qpn": 1, "next": 1, "service": 3 } },
                     { "command": { "qpn": 1, "next": 2 }, "event": { "qpn": 1, "kind": 3 } },
                     { "command": { "qpn": 1, "next": 6 }, "event": { "qpn": 2, "kind": 0 } }]"#,
        &[
            "modify: RESET, INIT, done",
            "events: fatal, INIT, UD",
            "same-qp: fatal, INIT, RTR",
            "modify: ERR, RTR, illegal",
            "queue: 0, in",
            // It is visible in the next cycle and accepted at once.
            "queue: 1, out",
            // Service 0 is RC, that of a QP which never left RESET.
            "events: first packet, RESET, reliable",
            "two-qps: first packet, ERR",
            "modify: ERR, ERR, done",
        ],
    );
}

#[test]
fn packets_are_counted_by_state_and_service_and_a_reset_by_what_it_finds() {
    // The reset begins in the cycle after its step, in which the answer of the command is visible.
    hits(
        r#""steps": [{ "command": { "qpn": 1, "next": 1, "service": 1 }, "reset": { "after": 0, "cycles": 3 } },
                     { "gap": 4, "command": { "qpn": 1, "next": 1, "service": 1 } },
                     { "packet": { "qpn": 1, "error": 1 } },
                     { "packet": { "qpn": 1, "consumes_wqe": 1 } }]"#,
        &[
            "modify: RESET, INIT, done",
            "reset: answer",
            "packets: INIT, UC, bad, no WQE",
            "packets: INIT, UC, good, WQE",
        ],
    );
}

#[test]
fn a_full_queue_is_counted_by_what_it_holds_up() {
    // 16 fatal errors of QP 1 in a row. The first event is visible in the cycle after its edge and
    // waits 30 more. The queue is full from 16 to 31 cycles after that edge, and the next error and
    // a command wait.
    let fatal = [r#"{ "event": { "qpn": 1, "kind": 3 } }"#; 16].join(", ");
    let steps = format!(
        r#""steps": [{{ "command": {{ "qpn": 1, "next": 1, "service": 3 }} }}, {fatal},
                     {{ "event": {{ "qpn": 1, "kind": 3 }}, "command": {{ "qpn": 2, "next": 1 }} }}],
           "evt_stalls": [30]"#
    );
    let levels: Vec<String> = (0..16)
        .map(|level| format!("queue: {level}, in"))
        .chain((1..16).map(|level| format!("queue: {level}, out")))
        .collect();
    let mut expected = vec![
        "modify: RESET, INIT, done",
        "events: fatal, INIT, UD",
        "events: fatal, ERR, UD",
        "two-qps: fatal, INIT",
        "full: both",
        "offers: command, unchanged",
        "offers: event, unchanged",
        // The first event leaves; then the 17th enters while the second leaves.
        "queue: 16, out",
        "queue: 15, both",
    ];
    expected.extend(levels.iter().map(String::as_str));
    hits(&steps, &expected);
}
