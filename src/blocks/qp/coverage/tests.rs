//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Qp;
use cosim_core::checks::bins_hit;
use cosim_core::harness::Parameters;
use std::collections::BTreeSet;

/// The bins that the steps hit, without rules and queries.
fn hit(steps: &str) -> BTreeSet<String> {
    let traffic = format!(r#"{{ "noise": "0x0", {steps} }}"#);
    let traffic = serde_json::from_str(&traffic).unwrap();
    let hit = bins_hit::<Qp>(traffic, &Parameters::NONE).unwrap();
    let mut hit: BTreeSet<String> = hit.into_keys().collect();
    hit.retain(|bin| !bin.starts_with("rules: ") && !bin.starts_with("query: "));
    hit
}

#[track_caller]
fn assert_hit(steps: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|bin| (*bin).to_owned()).collect();
    assert_eq!(hit(steps), expected);
}

#[test]
fn a_command_is_counted_by_the_state_it_meets_and_its_answer() {
    assert_hit(
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
    let hit = hit(&format!(
        r#""evt_stalls": [40], "steps": [{{ "command": {{ "qpn": 1, "next": 1 }} }}, {fatal}
            {{ "command": {{ "qpn": 1, "next": 6 }}, "event": {{ "qpn": 1, "kind": 3 }} }},
            {{ "instead": 1, "command": {{ "qpn": 1, "next": 0 }}, "event": {{ "qpn": 1, "kind": 3 }} }},
            {{ "gap": 1, "instead": 1 }}]"#
    ));
    let offers: Vec<&str> =
        hit.iter().map(String::as_str).filter(|bin| bin.starts_with("offers: ")).collect();
    // The event stays, the command changes. Both wait for one more cycle and are withdrawn.
    assert_eq!(
        offers,
        [
            "offers: command, changed",
            "offers: command, unchanged",
            "offers: command, withdrawn",
            "offers: event, unchanged",
            "offers: event, withdrawn",
        ]
    );
}

#[test]
fn an_event_and_a_command_of_one_edge_are_counted_together() {
    // The fatal error comes first: the command for RTR finds ERR.
    assert_hit(
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
fn packets_are_counted_by_state_and_service() {
    assert_hit(
        r#""steps": [{ "command": { "qpn": 1, "next": 1, "service": 1 } },
                     { "packet": { "qpn": 1, "error": 1 } },
                     { "packet": { "qpn": 1, "consumes_wqe": 1 } }]"#,
        &[
            "modify: RESET, INIT, done",
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
    let hit = hit(&format!(
        r#""steps": [{{ "command": {{ "qpn": 1, "next": 1, "service": 3 }} }}, {fatal},
                     {{ "event": {{ "qpn": 1, "kind": 3 }}, "command": {{ "qpn": 2, "next": 1 }} }}],
           "evt_stalls": [30]"#
    ));
    let mut expected = BTreeSet::from([
        "modify: RESET, INIT, done".to_owned(),
        "events: fatal, INIT, UD".to_owned(),
        "events: fatal, ERR, UD".to_owned(),
        "two-qps: fatal, INIT".to_owned(),
        "full: both".to_owned(),
        "offers: command, unchanged".to_owned(),
        "offers: event, unchanged".to_owned(),
        // The first event leaves; then the 17th enters while the second leaves.
        "queue: 16, out".to_owned(),
        "queue: 15, both".to_owned(),
    ]);
    expected.extend((0..16).map(|level| format!("queue: {level}, in")));
    expected.extend((1..16).map(|level| format!("queue: {level}, out")));
    assert_eq!(hit, expected);
}

#[test]
fn a_reset_is_counted_by_what_it_finds_at_first() {
    // The reset begins in the cycle after its step, in which the answer of the command is visible.
    assert_hit(
        r#""steps": [{ "command": { "qpn": 1, "next": 1 }, "reset": { "after": 0, "cycles": 3 } }]"#,
        &["modify: RESET, INIT, done", "reset: answer"],
    );
}
