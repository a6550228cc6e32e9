//! Every check fires on a model with the fault that it detects, and never on a correct model.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{self, Judge, REPAIRED, SPEC, traffic};

/// A control packet and an invalid one; a posted message; a copied one; a kept one with a stray
/// packet; rendezvous data; an eager message of one packet.
const STORY: &str = r#"{"noise": "0x3", "pool": 3, "credit_stalls": [4], "reads": [9, 2], "messages": [
    {"kind": 0, "id": 1, "len": 8}, {"kind": 7, "id": 2, "len": 8},
    {"kind": 4, "id": 3, "len": 50, "msg_len": 90, "posted": 1, "match_wait": 2, "done_wait": 2,
     "data": [{"id": 4, "len": 40}]},
    {"kind": 4, "id": 5, "len": 50, "msg_len": 150, "temp_ok": 1,
     "data": [{"gap": 3, "id": 6, "len": 50, "count": 2}]},
    {"kind": 4, "id": 8, "len": 50, "msg_len": 120,
     "data": [{"id": 9, "len": 30}, {"id": 10, "stray": {"kind": 0, "last": 1}}, {"id": 11, "len": 40}]},
    {"kind": 5, "id": 12, "len": 60, "data": [{"id": 13, "len": 61, "count": 9}]},
    {"kind": 4, "id": 30, "len": 20}, {"kind": 3, "id": 31}
]}"#;
/// A reset while the answer about a message is due.
const RESET: &str = r#"{"noise": "0x3", "pool": 3, "messages": [
    {"kind": 4, "id": 3, "match_wait": 9, "data": [{"id": 4}], "reset": {"after": 3, "cycles": 2}},
    {"gap": 4, "kind": 0, "id": 1}
]}"#;
/// A gap between the data packets of an unexpected message.
const APART: &str = r#"{"noise": "0x3", "pool": 3, "messages": [
    {"kind": 4, "id": 5, "len": 50, "data": [{"id": 6, "len": 50}, {"gap": 3, "id": 7, "len": 50}]}
]}"#;
/// No buffer is left for the last packets.
const EMPTY: &str = r#"{"noise": "0x0", "pool": 0, "reads": [90], "messages": [
    {"kind": 4, "id": 1, "data": [{"id": 2, "count": 20}]}
]}"#;

#[test]
fn a_right_model_is_not_objected_to() {
    for mask in [SPEC, REPAIRED] {
        let counted = Judge::new(mask).counted::<Recv>(&traffic::<Recv>(STORY));
        for expected in [
            ("unexpected messages copied", 1),
            // That of one packet, too.
            ("unexpected messages kept", 2),
            // CP and DP of the eager one, CP and nine DPs of the rendezvous.
            ("packets copied to their place", 2 + 10),
            ("posted messages finished", 2),
            ("control packets", 2),
            ("protocol errors", 2),
        ] {
            assert!(counted.contains(&expected), "{expected:?}: {counted:?}");
        }
        Judge::new(mask).counted::<Recv>(&traffic::<Recv>(RESET));
    }
}

#[test]
fn every_check_fires() {
    let traffics = [("story", STORY), ("reset", RESET), ("apart", APART), ("empty", EMPTY)];
    testing::every_check_fires::<Recv>(
        &[COMPLETE],
        &traffics.map(|(name, json)| (name, REPAIRED, traffic::<Recv>(json))),
        "
        silent-in-reset           | reset | once rst: pkt_ready=1
        *                         | *     | once rst: ring_level=16
        *                         | *     | once rst: state=2
        ring-full-after-reset     | *     | after rst, !rst: ring_level=15
        idle-pins-are-0           | story | once !rst: match_id=1
        *                         | *     | once !rst: alloc_count=1
        *                         | *     | once !rst: credit_count=1
        *                         | *     | once !rst: copy_id=1
        *                         | *     | once !rst: copy_len=1
        *                         | *     | once !rst: keep_id=1
        *                         | *     | once !rst: release_id=1
        *                         | *     | once !rst: temp_alloc_len=1
        // Nothing waits, so nothing is accepted or left.
        ready-where-it-can-take   | *     | once state=0 !pkt_valid: pkt_ready=1
        *                         | *     | once state=4 !pkt_valid: pkt_ready=1
        *                         | apart | once pkt_ready !pkt_valid: pkt_ready=0
        // The ring, and what the block makes of the pool.
        buffers-are-conserved     | story | cycle>=20: ring_level+=1
        *                         | *     | cycle>=20: pool_free+=1
        // With F0 a message of one packet needs no wait.
        state-by-what-is-awaited  | *     | once match_req: state=3
        *                         | *     | once !rst: state=7
        *                         | *     | once pkt_valid pkt_id=31 state=1: state=4
        // Eleven packets leave five in the ring, and the next but one makes it low.
        refill-when-low           | *     | once alloc_valid: alloc_valid=0 alloc_count=0
        *                         | *     | once pkt_valid pkt_ready: alloc_valid=1 alloc_count=1
        refill-as-far-as-possible | *     | once alloc_valid: alloc_count=1
        // The last one: accepted, and on offer again.
        each-credit-once          | *     | once credit_valid: credit_valid=0 credit_count=0
        *                         | *     | once credit_valid: credit_count=1
        *                         | *     | after credit_valid credit_ready, !credit_valid: \
              credit_valid=1 credit_count=3
        // Before the answer; a CP after a posted message; without a buffer.
        taken-when-its-turn       | *     | once pkt_valid match_req: pkt_ready=1
        *                         | *     | once pkt_valid state=6 pkt_kind!=6: pkt_ready=1
        *                         | empty | once ring_level=0: pkt_ready=1
        // It stays where it is, and the pool gets no buffer.
        packet-not-left-waiting   | story | silent; ring_level=16 pool_free=3
        match-asked-until-answered | *    | once match_req: match_id=4
        *                         | *     | once match_req: match_req=0 match_id=0
        *                         | *     | once !rst: match_req=1
        temporary-buffer-when-pool-low | * | once temp_alloc_valid: temp_alloc_len=50
        *                         | *     | once temp_alloc_valid: \
              temp_alloc_valid=0 temp_alloc_len=0
        copied-as-chosen          | *     | once copy_valid: copy_id=99
        *                         | *     | once copy_valid: copy_len=99
        *                         | *     | once release_valid: copy_valid=1
        kept-as-chosen            | *     | once keep_valid: keep_id=99
        *                         | *     | once keep_valid: keep_valid=0 keep_id=0
        *                         | *     | once copy_valid: keep_valid=1
        released-unless-kept      | *     | once release_valid: release_id=99
        *                         | *     | once release_valid: release_valid=0 release_id=0
        *                         | *     | once keep_valid: release_valid=1
        error-for-what-does-not-fit | *   | once protocol_error: protocol_error=0
        *                         | *     | once release_valid: protocol_error=1
        ",
    );
}

#[test]
fn complete_fires() {
    let cut =
        |json: &str, cycles| Judge::new(REPAIRED).cut::<Recv>(json, cycles).map(|(check, _)| check);
    let incomplete = Some(COMPLETE.to_owned());
    // Detected in the first cycle, accepted in the second.
    let control = r#"{"noise": "0x0", "pool": 0, "messages": [{"kind": 0, "id": 1}]}"#;
    assert_eq!([cut(control, 1), cut(control, 2)], [incomplete.clone(), None]);
    // The answer comes ten cycles later.
    let requested =
        r#"{"noise": "0x0", "pool": 0, "messages": [{"kind": 4, "id": 1, "match_wait": 9}]}"#;
    assert_eq!(cut(requested, 5), incomplete);
    // The thirteenth packet makes the ring low; its credit is not accepted.
    let credit = r#"{"noise": "0x0", "pool": 9, "credit_stalls": [99], "messages": [
        {"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}
    ]}"#;
    assert_eq!(cut(credit, 20), incomplete);
}
