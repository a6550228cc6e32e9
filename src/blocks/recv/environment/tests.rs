//! The environment with a golden model.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{Story, story, traffic};
use cosim_core::harness::Environment as _;

fn of(messages: &str) -> Story<Recv> {
    story(0xff, &format!(r#"{{"noise": "0x5", "pool": 20, "messages": [{messages}]}}"#))
}

#[test]
fn packets_stay_on_offer_and_gaps_lie_between() {
    let story = of(r#"{"kind": 0, "id": 1}, {"gap": 3, "kind": 1, "id": 2}"#);
    // Visible and accepted; three cycles; visible and accepted.
    assert_eq!(story.when("pkt_valid"), [0, 1, 5, 6]);
    assert_eq!(story.when("pkt_valid pkt_ready"), [1, 6]);
    // The idle cycles at the end begin in the cycle in which the last one is accepted.
    assert_eq!(story.cycles.len(), 6 + DRAIN as usize);
}

#[test]
fn a_message_is_its_cp_and_its_dps_in_a_row() {
    let story =
        of(r#"{"kind": 5, "id": 254, "len": 7, "data": [{"id": 255, "len": 9, "count": 2}]}"#);
    let taken = story.values("pkt_valid pkt_ready", ["pkt_kind", "pkt_id", "pkt_len", "pkt_last"]);
    assert_eq!(taken, [[5, 254, 7, 0], [6, 255, 9, 0], [6, 0, 9, 1]]);
}

#[test]
fn answers_come_as_late_as_they_say_and_once() {
    let late = of(r#"{"kind": 4, "id": 1, "match_wait": 3, "posted": 1}"#);
    assert_eq!(late.when("match_req"), [2, 3, 4, 5]);
    assert_eq!(late.when("match_rsp"), [5]);
    let at_once = of(r#"{"kind": 4, "id": 1}"#);
    assert_eq!((at_once.when("match_req"), at_once.when("match_rsp")), (vec![2], vec![2]));
}

#[test]
fn posted_done_comes_with_the_last_packet_or_later() {
    let with_it = of(r#"{"kind": 5, "id": 1, "data": [{"id": 2, "count": 3}]}"#);
    assert_eq!(with_it.when("pkt_valid pkt_ready"), [1, 2, 3, 4]);
    assert_eq!(with_it.when("posted_done"), [4]);
    let later = of(r#"{"kind": 5, "id": 1, "done_wait": 5, "data": [{"id": 2, "count": 3}]}"#);
    assert_eq!(later.when("posted_done"), [9]);
    // A message of one packet finishes in the first cycle in which `posted_done` counts, not
    // before.
    assert_eq!(of(r#"{"kind": 5, "id": 1}"#).values("posted_done", ["cycle", "state"]), [[2, 6]]);
}

#[test]
fn a_dp_by_itself_waits_until_a_posted_message_is_finished() {
    let story = of(r#"{"kind": 5, "id": 1, "done_wait": 4}, {"kind": 6, "id": 2}"#);
    assert_eq!(story.when("posted_done"), [6]);
    assert_eq!(story.when("pkt_valid"), [0, 1, 7, 8]);
    assert_eq!(story.when("protocol_error"), [8]);
}

#[test]
fn the_pool_counts_what_is_free() {
    let json = r#"{"noise": "0x0", "pool": 20, "reads": [2], "messages": [
        {"kind": 0, "id": 1}, {"kind": 4, "id": 2}
    ]}"#;
    let story = story::<Recv>(0xff, json);
    // Released in cycle 1, kept in cycle 5, read in cycle 8.
    assert_eq!((story.when("release_valid"), story.when("keep_valid")), (vec![1], vec![5]));
    assert_eq!(story.when("pool_free=20")[..2], [0, 1]);
    assert_eq!(story.when("pool_free=21"), (2..9).collect::<Vec<_>>());
    // There are 255 buffers at most.
    let json = r#"{"noise": "0x0", "pool": 255, "messages": []}"#;
    assert_eq!(crate::blocks::testing::story::<Recv>(0, json).when("pool_free=239")[0], 0);
}

#[test]
fn credits_wait_as_long_as_they_say() {
    let json = r#"{"noise": "0x0", "pool": 9, "credit_stalls": [3], "messages": [
        {"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}
    ]}"#;
    let story = story::<Recv>(0, json);
    assert_eq!(story.when("alloc_valid"), [13]);
    assert_eq!(story.when("credit_valid"), [14, 15, 16, 17]);
    assert_eq!(story.when("credit_valid credit_ready"), [17]);
}

#[test]
fn a_reset_drops_the_started_message_and_gives_all_buffers_back() {
    let story = of(
        r#"{"kind": 4, "id": 1, "match_wait": 50, "data": [{"id": 2}], "reset": {"after": 2, "cycles": 2}},
           {"kind": 0, "id": 3}"#,
    );
    // Accepted in cycle 1; there are two cycles in between.
    assert_eq!(story.when("rst"), [4, 5]);
    assert_eq!(story.values("pkt_valid pkt_ready", ["cycle", "pkt_id"]), [[1, 1], [7, 3]]);
    assert_eq!(story.values("cycle=6", ["pool_free", "ring_level"]), [[20, 16]]);
}

#[test]
fn without_f0_a_case_may_end_while_the_block_waits() {
    let json = r#"{"noise": "0x0", "pool": 9, "messages": [{"kind": 4, "id": 1}]}"#;
    for (mask, state) in [(0x00, 4), (0x01, 0)] {
        assert_eq!(story::<Recv>(mask, json).cycles.last().unwrap().1.state.get(), state);
    }
}

#[test]
fn what_is_on_its_way_is_listed() {
    let traffic = traffic::<Recv>(
        r#"{"noise": "0x0", "pool": 9, "messages": [
            {"kind": 4, "id": 1, "match_wait": 5, "data": [{"id": 2}]}
        ]}"#,
    );
    let environment = Environment::new(&traffic, &Parameters::of::<Recv>(0));
    assert_eq!(
        environment.in_flight(),
        ["next packet: eager 0x01, from messages[0]", "9 buffers free, 0 kept"]
    );
}
