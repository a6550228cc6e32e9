//! The environment with a golden model.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{REPAIRED, story, traffic};
use cosim_core::harness::Environment as _;

/// The pins of each cycle of a case with LOW 4 and HIGH 16.
fn cycles_of(pool: u64, messages: &str) -> Vec<(Inputs, Outputs)> {
    let json = format!(
        r#"{{"noise": "0x5", "pool": {pool}, "reads": [2], "credit_stalls": [3],
            "messages": [{messages}]}}"#
    );
    story::<Recv>(REPAIRED, &json).cycles
}

fn when(cycles: &[(Inputs, Outputs)], holds: impl Fn(&Inputs, &Outputs) -> bool) -> Vec<usize> {
    (0..cycles.len()).filter(|cycle| holds(&cycles[*cycle].0, &cycles[*cycle].1)).collect()
}

#[test]
fn packets_stay_on_offer_and_gaps_lie_between() {
    let cycles = cycles_of(
        20,
        r#"{"kind": 0, "id": 1},
           {"gap": 3, "kind": 5, "id": 254, "len": 7, "data": [{"id": 255, "len": 9, "count": 2}]}"#,
    );
    assert_eq!(when(&cycles, |inputs, _| inputs.pkt_valid.is_high()), [0, 1, 5, 6, 7, 8]);
    let taken =
        when(&cycles, |inputs, outputs| inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high());
    let packets = taken.iter().map(|cycle| {
        let Inputs { pkt_kind, pkt_id, pkt_len, pkt_last, .. } = cycles[*cycle].0;
        (*cycle, [pkt_kind.get(), pkt_id.get(), pkt_len.get(), pkt_last.get()])
    });
    assert_eq!(
        packets.collect::<Vec<_>>(),
        [(1, [0, 1, 0, 1]), (6, [5, 254, 7, 0]), (7, [6, 255, 9, 0]), (8, [6, 0, 9, 1])]
    );
}

#[test]
fn answers_and_ends_of_posted_messages_come_as_late_as_they_say() {
    let late = cycles_of(20, r#"{"kind": 4, "id": 1, "match_wait": 3, "posted": 1}"#);
    assert_eq!(when(&late, |_, outputs| outputs.match_req.is_high()), [2, 3, 4, 5]);
    assert_eq!(when(&late, |inputs, _| inputs.match_rsp.is_high()), [5]);
    for (message, done) in [
        // In the first cycle in which it counts, and with the last packet or later.
        (r#"{"kind": 5, "id": 1}"#, 2),
        (r#"{"kind": 5, "id": 1, "data": [{"id": 2, "count": 3}]}"#, 4),
        (r#"{"kind": 5, "id": 1, "done_wait": 5, "data": [{"id": 2, "count": 3}]}"#, 9),
    ] {
        let cycles = cycles_of(20, message);
        assert_eq!(when(&cycles, |inputs, _| inputs.posted_done.is_high()), [done], "{message}");
    }
    // A lone DP waits for it.
    let lone = cycles_of(20, r#"{"kind": 5, "id": 1, "done_wait": 4}, {"kind": 6, "id": 2}"#);
    assert_eq!(when(&lone, |inputs, _| inputs.posted_done.is_high()), [6]);
    assert_eq!(when(&lone, |inputs, _| inputs.pkt_valid.is_high()), [0, 1, 7, 8]);
}

#[test]
fn the_pool_counts_what_is_free_and_credits_wait() {
    // Released in cycle 1, kept in cycle 5, read in cycle 8.
    let cycles = cycles_of(20, r#"{"kind": 0, "id": 1}, {"kind": 4, "id": 2}"#);
    let released = when(&cycles, |inputs, _| inputs.pool_free.get() == 21);
    assert_eq!(released, (2..9).collect::<Vec<_>>());
    // There are 255 buffers at most.
    assert_eq!(cycles_of(255, r#"{"kind": 0, "id": 1}"#)[0].0.pool_free.get(), 239);
    let cycles = cycles_of(9, r#"{"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}"#);
    assert_eq!(when(&cycles, |_, outputs| outputs.credit_valid.is_high()), [14, 15, 16, 17]);
}

#[test]
fn a_reset_drops_the_started_message_and_gives_all_buffers_back() {
    let cycles = cycles_of(
        20,
        r#"{"kind": 4, "id": 1, "match_wait": 50, "data": [{"id": 2}], "reset": {"after": 2, "cycles": 2}},
           {"kind": 0, "id": 3}"#,
    );
    // Accepted in cycle 1; there are two cycles in between.
    assert_eq!(when(&cycles, |inputs, _| inputs.rst.is_high()), [4, 5]);
    let (inputs, outputs) = cycles[6];
    let seen = [inputs.pkt_id.get(), inputs.pool_free.get(), outputs.ring_level.get()];
    assert_eq!(seen, [3, 20, 16]);
}

#[test]
fn what_is_on_its_way_is_listed() {
    let json = r#"{"noise": "0x0", "pool": 9, "messages": [{"kind": 4, "id": 1}]}"#;
    let traffic = traffic::<Recv>(json);
    assert_eq!(
        Environment::new(&traffic, &Parameters::with_fixes::<Recv>(0)).in_flight(),
        ["next packet: eager 0x01, from messages[0]", "9 buffers free, 0 kept"]
    );
}
