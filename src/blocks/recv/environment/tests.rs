//! The environment with a golden model.

use super::*;
use crate::blocks::recv::Golden;
use cosim_core::harness::{Environment as _, Golden as _, Traffic as _};

/// The inputs and outputs of every cycle of a case.
fn story_of(json: &str, fixes: u8) -> Vec<(Inputs, Outputs)> {
    let parameters = Parameters::of::<Recv>(fixes);
    let traffic: Traffic = serde_json::from_str(json).unwrap();
    traffic.check().unwrap();
    let mut environment = Environment::new(&traffic, &parameters);
    let mut golden = Golden::new(&parameters);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    let mut cycles = Vec::new();
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        cycles.push((inputs, outputs));
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
        assert!(cycles.len() < 1000, "it does not end");
    }
    cycles
}

fn story(messages: &str) -> Vec<(Inputs, Outputs)> {
    story_of(&format!(r#"{{"noise": "0x5", "pool": 20, "messages": [{messages}]}}"#), 0xff)
}

/// The cycles in which a condition holds.
fn when(story: &[(Inputs, Outputs)], holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    let cycles = story.iter().enumerate();
    cycles.filter(|(_, (inputs, outputs))| holds(inputs, outputs)).map(|(cycle, _)| cycle).collect()
}

fn takes(inputs: &Inputs, outputs: &Outputs) -> bool {
    inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high()
}

#[test]
fn packets_stay_on_offer_and_gaps_lie_between() {
    let story = story(r#"{"kind": 0, "id": 1}, {"gap": 3, "kind": 1, "id": 2}"#);
    // Visible and accepted; three cycles; visible and accepted.
    assert_eq!(when(&story, |inputs, _| inputs.pkt_valid.is_high()), [0, 1, 5, 6]);
    assert_eq!(when(&story, takes), [1, 6]);
    // The idle cycles at the end begin in the cycle in which the last one is accepted.
    assert_eq!(story.len(), 6 + DRAIN as usize);
}

#[test]
fn a_message_is_its_cp_and_its_dps_in_a_row() {
    let story =
        story(r#"{"kind": 5, "id": 254, "len": 7, "data": [{"id": 255, "len": 9, "count": 2}]}"#);
    let taken: Vec<[u64; 4]> = story
        .iter()
        .filter(|(inputs, outputs)| takes(inputs, outputs))
        .map(|(inputs, _)| {
            let last = inputs.pkt_last.get();
            [inputs.pkt_kind.get(), inputs.pkt_id.get(), inputs.pkt_len.get(), last]
        })
        .collect();
    assert_eq!(taken, [[5, 254, 7, 0], [6, 255, 9, 0], [6, 0, 9, 1]]);
}

#[test]
fn answers_come_as_late_as_they_say_and_once() {
    let late = story(r#"{"kind": 4, "id": 1, "match_wait": 3, "posted": 1}"#);
    assert_eq!(when(&late, |_, outputs| outputs.match_req.is_high()), [2, 3, 4, 5]);
    assert_eq!(when(&late, |inputs, _| inputs.match_rsp.is_high()), [5]);
    let at_once = story(r#"{"kind": 4, "id": 1}"#);
    assert_eq!(when(&at_once, |_, outputs| outputs.match_req.is_high()), [2]);
    assert_eq!(when(&at_once, |inputs, _| inputs.match_rsp.is_high()), [2]);
}

#[test]
fn posted_done_comes_with_the_last_packet_or_later() {
    let done = |inputs: &Inputs, _: &Outputs| inputs.posted_done.is_high();
    let with_it = story(r#"{"kind": 5, "id": 1, "data": [{"id": 2, "count": 3}]}"#);
    assert_eq!(when(&with_it, takes), [1, 2, 3, 4]);
    assert_eq!(when(&with_it, done), [4]);
    let later = story(r#"{"kind": 5, "id": 1, "done_wait": 5, "data": [{"id": 2, "count": 3}]}"#);
    assert_eq!(when(&later, done), [9]);
    // A message of one packet finishes in the first cycle in which `posted_done` counts, not
    // before.
    let alone = story(r#"{"kind": 5, "id": 1}"#);
    assert_eq!(when(&alone, done), [2]);
    assert_eq!(alone[2].1.state.get(), 6);
}

#[test]
fn a_dp_by_itself_waits_until_a_posted_message_is_finished() {
    let story = story(r#"{"kind": 5, "id": 1, "done_wait": 4}, {"kind": 6, "id": 2}"#);
    assert_eq!(when(&story, |inputs, _| inputs.posted_done.is_high()), [6]);
    assert_eq!(when(&story, |inputs, _| inputs.pkt_valid.is_high()), [0, 1, 7, 8]);
    assert_eq!(when(&story, |_, outputs| outputs.protocol_error.is_high()), [8]);
}

#[test]
fn the_pool_counts_what_is_free() {
    let json = r#"{"noise": "0x0", "pool": 20, "reads": [2], "messages": [
        {"kind": 0, "id": 1}, {"kind": 4, "id": 2}
    ]}"#;
    let story = story_of(json, 0xff);
    // Released in cycle 1, kept in cycle 5, read in cycle 8.
    assert_eq!(when(&story, |_, outputs| outputs.release_valid.is_high()), [1]);
    assert_eq!(when(&story, |_, outputs| outputs.keep_valid.is_high()), [5]);
    let free: Vec<u64> = story.iter().map(|(inputs, _)| inputs.pool_free.get()).collect();
    assert_eq!(free[..10], [20, 20, 21, 21, 21, 21, 21, 21, 21, 22]);
}

#[test]
fn there_are_255_buffers_at_most() {
    let json = r#"{"noise": "0x0", "pool": 255, "messages": []}"#;
    assert_eq!(story_of(json, 0)[0].0.pool_free.get(), 255 - 16);
}

#[test]
fn credits_wait_as_long_as_they_say() {
    let json = r#"{"noise": "0x0", "pool": 9, "credit_stalls": [3], "messages": [
        {"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}
    ]}"#;
    let story = story_of(json, 0);
    assert_eq!(when(&story, |_, outputs| outputs.alloc_valid.is_high()), [13]);
    assert_eq!(when(&story, |_, outputs| outputs.credit_valid.is_high()), [14, 15, 16, 17]);
    assert_eq!(when(&story, |i, o| o.credit_valid.is_high() && i.credit_ready.is_high()), [17]);
}

#[test]
fn a_reset_drops_the_message_that_has_begun_and_gives_all_buffers_back() {
    let story = story(
        r#"{"kind": 4, "id": 1, "match_wait": 50, "data": [{"id": 2}], "reset": {"after": 2, "cycles": 2}},
           {"kind": 0, "id": 3}"#,
    );
    // Accepted in cycle 1; there are two cycles in between.
    assert_eq!(when(&story, |inputs, _| inputs.rst.is_high()), [4, 5]);
    assert_eq!(when(&story, takes), [1, 7]);
    assert_eq!(story[7].0.pkt_id.get(), 3);
    assert_eq!(story[6].0.pool_free.get(), 20);
    assert_eq!(story[6].1.ring_level.get(), 16);
}

#[test]
fn without_f0_a_case_may_end_while_the_block_waits() {
    let json = r#"{"noise": "0x0", "pool": 9, "messages": [{"kind": 4, "id": 1}]}"#;
    assert_eq!(story_of(json, 0x00).last().unwrap().1.state.get(), 4);
    assert_eq!(story_of(json, 0x01).last().unwrap().1.state.get(), 0);
}

#[test]
fn what_is_on_its_way_is_told() {
    let json = r#"{"noise": "0x0", "pool": 9, "messages": [
        {"kind": 4, "id": 1, "match_wait": 5, "data": [{"id": 2}]}
    ]}"#;
    let traffic: Traffic = serde_json::from_str(json).unwrap();
    let parameters = Parameters::of::<Recv>(0);
    let mut environment = Environment::new(&traffic, &parameters);
    assert_eq!(
        environment.in_flight(),
        ["next packet: eager 0x01, from messages[0]", "9 buffers free, 0 kept"]
    );
    let mut golden = Golden::new(&parameters);
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    for _ in 0..2 {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
    }
    assert_eq!(
        environment.in_flight(),
        [
            "messages[0]: asked for a posted receive",
            "next packet: DP 0x02, from messages[0].data[0]",
            "9 buffers free, 0 kept",
        ]
    );
}
