//! The environment with a golden model, and with pins that no model drives.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{Story, story};

const OPEN: &str = r#"{"noise": "0x0", "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"command": {"qpn": 5, "next": 3}}
]}"#;

fn of(requests: &str, messages: &str, link: &str, more: &str) -> Story<Rx> {
    let json = format!(
        r#"{{"noise": "0x5", "requests": [{requests}],
            "receive": {{"noise": "0x0", "pool": 20, "messages": [{messages}]}},
            "software": {OPEN}, "link": {{"noise": "0x6", "tlps": [] {link}}} {more}}}"#
    );
    story(0xff, &json)
}

/// An RDMA WRITE for QP 5 that is offered after a gap.
fn write(gap: u64) -> String {
    let mut packet = serde_json::to_value(Packet::default()).unwrap();
    packet["gap"] = gap.into();
    packet["header"]["net_opcode"] = 10.into();
    packet["header"]["local_qpn"] = 5.into();
    format!(r#"{{"packet": {packet}}}"#)
}

/// The descriptors that A accepts.
fn sent(story: &Story<Rx>) -> Vec<Descriptor> {
    let taken = story.values("a_tlp_valid a_tlp_ready", ["a_tlp_data"]);
    taken.iter().map(|[bits]| Descriptor::decode(Bits32::new(*bits))).collect()
}

#[test]
fn requests_and_messages_take_turns_if_both_are_due() {
    let requests = [write(0), write(0)].join(",");
    let messages = r#"{"kind": 0, "id": 7}, {"kind": 5, "id": 8, "data": [{"id": 9}]}"#;
    let sent = sent(&of(&requests, messages, "", ""));
    let request =
        |handle| Descriptor::Request(descriptor::Request { handle, qpn: 5, ..Default::default() });
    let message =
        |kind, handle, last| Descriptor::Message(descriptor::Message { kind, handle, last });
    assert_eq!(
        sent,
        [request(0), message(0, 7, true), request(1), message(5, 8, false), message(6, 9, true)]
    );
}

#[test]
fn what_is_fetched_comes_with_the_head_or_later_and_stays() {
    let story = of(&write(30), r#"{"kind": 0, "id": 7}"#, "", r#", "fetch_waits": [0, 6]"#);
    assert_eq!(story.when("len_valid"), story.when("fetch_valid !fetch_request"));
    assert_eq!(story.when("cxt_valid"), story.when("fetch_request")[6..]);
}

#[test]
fn a_lost_tlp_and_a_lost_ack_lose_nothing_but_time() {
    let messages = r#"{"kind": 5, "id": 1, "len": 10, "data": [{"id": 2, "len": 20, "count": 3}]}"#;
    for link in ["", r#", "tlp_link": [{}, {"lost": 1}], "ack_link": [{"lost": 1}]"#] {
        let copied =
            of("", messages, link, "").values("rv_copy_valid", ["rv_copy_id", "rv_copy_len"]);
        assert_eq!(copied, [[1, 10], [2, 20], [3, 20], [4, 20]]);
    }
}

#[test]
fn a_dp_by_itself_waits_until_nothing_else_is_under_way() {
    let messages = r#"{"kind": 5, "id": 1, "done_wait": 40}, {"kind": 6, "id": 9}"#;
    let story = of("", messages, "", "");
    let (done, error) = (story.when("rv_posted_done")[0], story.when("rv_protocol_error")[0]);
    assert!(40 < done && done < error, "{done} {error}");
}
