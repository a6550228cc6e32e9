//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::testing::{self, Judge, SPEC, traffic};

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
/// Two QPs fail twice each, in turn, before software accepts events.
const EVENTS: &str = r#"{"noise": "0x3", "evt_stalls": [30], "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"event": {"qpn": 5, "kind": 0}}, {"event": {"qpn": 5, "kind": 3}},
    {"command": {"qpn": 6, "next": 1}}, {"event": {"qpn": 6, "kind": 3}}
]}"#;

/// Sixteen fatal errors of a QP, an event without an entry, another fatal error and a command at
/// once; a reset.
fn full() -> String {
    let fatal = r#"{"event": {"qpn": 0, "kind": 3}},"#.repeat(16);
    format!(
        r#"{{"noise": "0x3", "evt_stalls": [60, 0, 3], "steps": [
            {{"command": {{"qpn": 0, "next": 1}}}}, {fatal}
            {{"event": {{"qpn": 9, "kind": 3}}}},
            {{"command": {{"qpn": 0, "next": 0}}, "event": {{"qpn": 0, "kind": 3}}}},
            {{"gap": 100, "reset": {{"after": 2, "cycles": 2}}}}, {{"gap": 9}}
        ]}}"#
    )
}

#[test]
fn a_right_model_is_not_objected_to() {
    let counted = |json: &str| Judge::new(SPEC).counted::<Qp>(&traffic::<Qp>(json));
    assert_eq!(
        counted(LIFE),
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
    let full = counted(&full());
    assert!(full.contains(&("fatal errors told", 17)), "{full:?}");
    // The first event is visible in cycle 2 and accepted in cycle 62; the command waits from cycle
    // 18.
    assert!(full.contains(&("cycles commands waited", 62 - 17)), "{full:?}");
    counted(EVENTS);
}

#[test]
fn every_check_fires() {
    let cases = [("life", LIFE), ("events", EVENTS), ("full", &full())];
    let cases = cases.map(|(name, json)| (name, SPEC, traffic::<Qp>(json)));
    testing::every_check_fires::<Qp>(
        &[COMPLETE],
        &cases,
        "
        silent-in-reset                     | full   | rst: cmd_ready=1
        *                                   | *      | rst: rsp_code=1
        *                                   | *      | rst: query_state=1
        *                                   | *      | rst: evt_qpn=1
        command-waits-for-room              | *      | cmd_ready=1
        *                                   | life   | cycle=3: cmd_ready=0
        event-waits-for-room                | *      | cycle=0: hw_ready=0
        *                                   | full   | hw_valid: hw_ready=1
        // An event without an entry does not wait.
        *                                   | *      | hw_valid hw_qpn=9: hw_ready=0
        one-answer-for-each-command         | life   | rsp_valid: rsp_valid=0 rsp_qpn=0
        *                                   | *      | cycle=2: rsp_valid=1
        *                                   | *      | rsp_valid: rsp_qpn+=1
        answer-by-the-diagram               | *      | rsp_valid rsp_code=0: rsp_code=1
        *                                   | *      | rsp_valid rsp_code=1: rsp_code=2
        *                                   | *      | rsp_valid rsp_code=2: rsp_code=0
        state-by-what-happened              | *      | query_state=0: query_state=1
        *                                   | *      | query_state=3: query_state=2
        *                                   | *      | query_state=6: query_state=7
        posting-by-state                    | *      | !rst: query_sq_post=0
        *                                   | *      | !rst: query_rq_post=1
        *                                   | *      | !rst: query_sq_run=1
        *                                   | *      | !rst: query_rq_run=0
        no-packet-in-reset-init-err         | *      | msg_accept=msg_valid
        packet-taken-when-ready             | *      | msg_accept=0
        wqe-for-the-packet-that-takes-it    | *      | msg_take_wqe=0
        *                                   | *      | msg_nak: msg_take_wqe=1
        // No answer, both, the wrong one, an answer of an unreliable QP.
        ack-or-nak                          | *      | msg_ack=0
        *                                   | *      | msg_ack: msg_nak=1
        *                                   | *      | msg_nak: msg_ack=1 msg_nak=0
        *                                   | *      | msg_valid msg_qpn=6: msg_nak=1
        // Missing, or withdrawn.
        event-shown-until-taken             | *      | evt_valid=0 evt_qpn=0 evt_code=0
        *                                   | events | third evt_valid: evt_valid=0
        // After three events, and before the first one.
        one-drained-event-per-notified-drain | life  | after query_state=6, !evt_valid: \
              evt_valid=1 evt_qpn=5 evt_code=0
        *                                   | *      | !evt_valid: evt_valid=1 evt_qpn=5 evt_code=0
        event-has-a-cause                   | *      | !evt_valid: evt_valid=1 evt_qpn=6 evt_code=1
        *                                   | events | evt_valid: evt_qpn=7
        // Established and fatal of QP 5, fatal of QP 6 wait.
        events-of-a-qp-in-order             | *      | cycle=10: evt_code=2
        events-in-order                     | *      | cycle=10: evt_qpn=6 evt_code=2
        idle-pins-are-0                     | life   | !rsp_valid: rsp_qpn=5
        *                                   | *      | !rsp_valid: rsp_code=1
        *                                   | *      | !evt_valid: evt_code=2
        *                                   | *      | !msg_valid: msg_accept=1
        *                                   | *      | !msg_valid: msg_take_wqe=1
        *                                   | *      | !msg_valid: msg_ack=1
        *                                   | *      | !msg_valid: msg_nak=1
        ",
    );
}

#[test]
fn complete_fires() {
    // Nothing was taken; the last event is not accepted; the last command is not answered.
    for (steps, cycles, missing) in [
        (r#"{"command": {"qpn": 5, "next": 1}}"#, 0, "were not taken"),
        (r#"{"command": {"qpn": 5, "next": 1}}, {"event": {"qpn": 5, "kind": 3}}"#, 2, "1 events"),
        (r#"{"command": {"qpn": 5, "next": 1}}"#, 1, "QP 5"),
    ] {
        let json = format!(r#"{{"noise": "0x0", "steps": [{steps}]}}"#);
        let (check, message) = Judge::new(SPEC).cut::<Qp>(&json, cycles).expect("it fires");
        assert_eq!(check, COMPLETE);
        assert!(message.contains(missing), "{message}");
    }
}
