//! The environment with a golden model, and with pins that no model drives.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{REPAIRED, story};

/// The pins of each cycle of a case in which QP 5 is opened.
fn cycles_of(requests: &str, messages: &str) -> Vec<(Inputs, Outputs)> {
    let command = |next| format!(r#"{{"command": {{"qpn": 5, "next": {next}}}}}"#);
    let steps = [1, 2, 3].map(command).join(",");
    let json = format!(
        r#"{{"noise": "0x5", "requests": [{requests}], "fetch_waits": [0, 6],
            "receive": {{"noise": "0x0", "pool": 20, "messages": [{messages}]}},
            "software": {{"noise": "0x0", "steps": [{steps}]}},
            "link": {{"noise": "0x6", "tlps": []}}}}"#
    );
    story::<Rx>(REPAIRED, &json).cycles
}

fn when(cycles: &[(Inputs, Outputs)], holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    (0..cycles.len()).filter(|cycle| holds(&cycles[*cycle].0, &cycles[*cycle].1)).collect()
}

/// An RDMA WRITE for QP 5 that is offered after a gap.
fn write(gap: u64) -> String {
    let mut packet = serde_json::to_value(Packet::default()).unwrap();
    packet["gap"] = gap.into();
    packet["header"]["net_opcode"] = 10.into();
    packet["header"]["local_qpn"] = 5.into();
    format!(r#"{{"packet": {packet}}}"#)
}

#[test]
fn requests_and_messages_take_turns_if_both_are_due() {
    let requests = [write(0), write(0)].join(",");
    let messages = r#"{"kind": 0, "id": 7}, {"kind": 5, "id": 8, "data": [{"id": 9}]}"#;
    let cycles = cycles_of(&requests, messages);
    let taken = cycles
        .iter()
        .filter(|(inputs, outputs)| inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high());
    let sent: Vec<_> = taken.map(|(inputs, _)| words(inputs.a_tlp_data)).collect();
    let expected = [
        "request 0x00 for QP 5",
        "message packet 0x07: flow, last",
        "request 0x01 for QP 5",
        "message packet 0x08: rndv_data",
        "message packet 0x09: DP, last",
    ];
    assert_eq!(sent, expected);
}

#[test]
fn what_is_fetched_comes_with_the_head_or_later_and_stays() {
    let cycles = cycles_of(&write(30), r#"{"kind": 0, "id": 7}"#);
    let head = |is_request| {
        when(&cycles, |_, outputs| {
            outputs.fetch_valid.is_high() && outputs.fetch_request.is_high() == is_request
        })
    };
    assert_eq!(when(&cycles, |inputs, _| inputs.len_valid.is_high()), head(false));
    assert_eq!(when(&cycles, |inputs, _| inputs.cxt_valid.is_high()), head(true)[6..]);
}

#[test]
fn a_dp_by_itself_waits_until_nothing_else_is_under_way() {
    let messages = r#"{"kind": 5, "id": 1, "done_wait": 40}, {"kind": 6, "id": 9}"#;
    let cycles = cycles_of("", messages);
    let done = when(&cycles, |inputs, _| inputs.rv_posted_done.is_high())[0];
    let error = when(&cycles, |_, outputs| outputs.rv_protocol_error.is_high())[0];
    assert!(40 < done && done < error, "{done} {error}");
}
