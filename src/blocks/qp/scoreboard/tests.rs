//! What the scoreboard counts of a correct model, and the end of a case. Faults of pins trigger
//! every check, see `tests/e2e/checks.rs`.

use super::*;
use crate::blocks::qp::Qp;
use crate::blocks::testing::{Judge, SPEC, traffic};

/// QP 5 (RC) goes to RTS, gets a packet, goes to SQD with notification, drains twice, and fails. QP
/// 6 (UD) goes to RTR, gets a packet, and is destroyed.
const LIFE: &str = r#"{"noise": "0x3", "evt_stalls": [2, 5], "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"packet": {"qpn": 5}},
    {"command": {"qpn": 5, "next": 2}}, {"event": {"qpn": 5, "kind": 0}},
    {"packet": {"qpn": 5, "consumes_wqe": 1}}, {"packet": {"qpn": 5, "consumes_wqe": 1, "error": 1}},
    {"command": {"qpn": 5, "next": 4, "notify": 1}}, {"event": {"qpn": 5, "kind": 1}},
    {"event": {"qpn": 5, "kind": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"command": {"qpn": 5, "next": 3, "notify": 1}}, {"event": {"qpn": 5, "kind": 3}},
    {"command": {"qpn": 6, "next": 1, "service": 3}}, {"command": {"qpn": 6, "next": 2}},
    {"packet": {"qpn": 6, "consumes_wqe": 1, "error": 1}}, {"command": {"qpn": 6, "next": 3}},
    {"event": {"qpn": 6, "kind": 2}}, {"gap": 3, "command": {"qpn": 6, "next": 7}}
]}"#;

#[test]
fn counters_are_worked_out_by_hand() {
    assert_eq!(
        Judge::new(SPEC).counted::<Qp>(&traffic::<Qp>(LIFE)),
        [
            // INIT, RTR, SQD; INIT, RTR, RTS, Destroy.
            ("commands done", 7),
            // SQD to RTR.
            ("transitions refused", 1),
            // SQD to RTS with notification.
            ("parameters refused", 1),
            ("connections established", 1),
            ("drains told", 1),
            ("fatal errors told", 1),
            ("send errors", 1),
            ("packets taken", 3),
            ("packets refused", 1),
            ("Naks", 1),
        ]
    );
}

#[test]
fn complete_fires() {
    // Nothing was taken; the last event is not accepted; the last command is not answered.
    for (steps, cycles, missing) in [
        (r#"{"command": {"qpn": 5, "next": 1}}"#, 0, "1 offers, 0 events"),
        (r#"{"command": {"qpn": 5, "next": 1}}, {"event": {"qpn": 5, "kind": 3}}"#, 2, "1 events"),
        (r#"{"command": {"qpn": 5, "next": 1}}"#, 1, "last answer qpn: 5"),
    ] {
        let json = format!(r#"{{"noise": "0x0", "steps": [{steps}]}}"#);
        let (check, message) = Judge::new(SPEC).cut::<Qp>(&json, cycles).expect("it fires");
        assert_eq!(check, COMPLETE);
        assert!(message.contains(missing), "{message}");
    }
}
