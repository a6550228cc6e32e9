//! What the scoreboard counts of a correct model, and the check that no fault of a pin triggers.

use super::*;
use crate::blocks::recv::Recv;
use crate::blocks::testing::{Judge, REPAIRED, SPEC, traffic};

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

#[test]
fn packets_are_counted_by_their_outcome() {
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
    }
}

#[test]
fn complete_fires() {
    for (cycles, complete, json) in [
        // Detected in the first cycle, accepted in the second.
        (1, false, r#""messages": [{"kind": 0, "id": 1}]"#),
        (2, true, r#""messages": [{"kind": 0, "id": 1}]"#),
        // The answer comes ten cycles later.
        (5, false, r#""messages": [{"kind": 4, "id": 1, "match_wait": 9}]"#),
        // The thirteenth packet makes the ring low; its credit is not accepted.
        (
            20,
            false,
            r#""credit_stalls": [99], "messages": [
                {"kind": 5, "id": 1, "data": [{"id": 2, "count": 12}]}]"#,
        ),
    ] {
        let json = format!(r#"{{"noise": "0x0", "pool": 9, {json}}}"#);
        let fired = Judge::new(REPAIRED).cut::<Recv>(&json, cycles).map(|(check, _)| check);
        assert_eq!(fired, (!complete).then(|| COMPLETE.to_owned()), "{json}");
    }
}
