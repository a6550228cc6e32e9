//! The environment with a golden model, and with pins that no model drives.

use super::*;
use crate::blocks::rx::Golden;
use cosim_core::harness::{Environment as _, Golden as _, Traffic as _};

const OPEN: &str = r#"{"noise": "0x0", "steps": [
    {"command": {"qpn": 5, "next": 1}}, {"command": {"qpn": 5, "next": 2}},
    {"command": {"qpn": 5, "next": 3}}
]}"#;

fn traffic(requests: &str, messages: &str, link: &str, more: &str) -> Traffic {
    let json = format!(
        r#"{{"noise": "0x5", "requests": [{requests}],
            "receive": {{"noise": "0x0", "pool": 20, "messages": [{messages}]}},
            "software": {OPEN}, "link": {{"noise": "0x6", "tlps": [] {link}}} {more}}}"#
    );
    let traffic: Traffic = serde_json::from_str(&json).unwrap();
    assert_eq!(traffic.check(), Ok(()));
    traffic
}

/// An RDMA WRITE for QP 5 that is offered after a gap.
fn write(gap: u64) -> String {
    let mut packet = serde_json::to_value(Packet::default()).unwrap();
    packet["gap"] = gap.into();
    packet["header"]["net_opcode"] = 10.into();
    packet["header"]["local_qpn"] = 5.into();
    format!(r#"{{"packet": {packet}}}"#)
}

/// The inputs and outputs of every cycle of a case.
fn story(traffic: &Traffic) -> Vec<(Inputs, Outputs)> {
    let parameters = Parameters::of::<Rx>(0xff);
    let mut environment = Environment::new(traffic, &parameters);
    let mut golden = Golden::new(&parameters);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    let mut cycles = Vec::new();
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        cycles.push((inputs, outputs));
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
        assert!(cycles.len() < 2000, "it does not end");
    }
    cycles
}

/// The descriptors that A accepts.
fn sent(story: &[(Inputs, Outputs)]) -> Vec<Descriptor> {
    let takes = |(inputs, outputs): &&(Inputs, Outputs)| {
        inputs.a_tlp_valid.is_high() && outputs.a_tlp_ready.is_high()
    };
    story.iter().filter(takes).map(|(inputs, _)| Descriptor::decode(inputs.a_tlp_data)).collect()
}

#[test]
fn requests_and_messages_take_turns_if_both_are_due() {
    let requests = [write(0), write(0)].join(",");
    let messages = r#"{"kind": 0, "id": 7}, {"kind": 5, "id": 8, "data": [{"id": 9}]}"#;
    let sent = sent(&story(&traffic(&requests, messages, "", "")));
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
    let traffic = traffic(&write(30), r#"{"kind": 0, "id": 7}"#, "", r#", "fetch_waits": [0, 6]"#);
    let story = story(&traffic);
    let cycles = |holds: fn(&Inputs, &Outputs) -> bool| {
        let all = story.iter().enumerate();
        let held = all.filter(|(_, (inputs, outputs))| holds(inputs, outputs));
        held.map(|(cycle, _)| cycle).collect::<Vec<_>>()
    };
    let message =
        cycles(|_, outputs| outputs.fetch_valid.is_high() && !outputs.fetch_request.is_high());
    assert_eq!(cycles(|inputs, _| inputs.len_valid.is_high()), message);
    let request = cycles(|_, outputs| outputs.fetch_request.is_high());
    assert_eq!(cycles(|inputs, _| inputs.cxt_valid.is_high()), request[6..]);
}

#[test]
fn a_lost_tlp_and_a_lost_ack_lose_nothing_but_time() {
    let messages = r#"{"kind": 5, "id": 1, "len": 10, "data": [{"id": 2, "len": 20, "count": 3}]}"#;
    let link = r#", "tlp_link": [{}, {"lost": 1}], "ack_link": [{"lost": 1}]"#;
    for link in ["", link] {
        let story = story(&traffic("", messages, link, ""));
        let copied = story.iter().filter(|(_, outputs)| outputs.rv_copy_valid.is_high());
        let copied: Vec<(u64, u64)> = copied
            .map(|(_, outputs)| (outputs.rv_copy_id.get(), outputs.rv_copy_len.get()))
            .collect();
        assert_eq!(copied, [(1, 10), (2, 20), (3, 20), (4, 20)]);
    }
}

#[test]
fn a_dp_by_itself_waits_until_nothing_else_is_under_way() {
    let messages = r#"{"kind": 5, "id": 1, "done_wait": 40}, {"kind": 6, "id": 9}"#;
    let story = story(&traffic("", messages, "", ""));
    let error = story.iter().position(|(_, outputs)| outputs.rv_protocol_error.is_high());
    let done = story.iter().position(|(inputs, _)| inputs.rv_posted_done.is_high());
    assert!(done < error && done > Some(40), "{done:?} {error:?}");
}
