//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Recv;
use crate::blocks::testing::bins;

/// The bins that a traffic hits, without rules and offers.
#[track_caller]
fn hits<const N: usize>(traffic: &str, mut expected: [&str; N]) {
    let hit = bins::<Recv>(1, &format!(r#"{{ "noise": "0x0", {traffic} }}"#), &["rules", "offers"]);
    expected.sort_unstable();
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn messages_are_counted_by_choice_strays_handles_and_lengths() {
    // KEEP is 8: with fewer free buffers a temporary buffer is requested.
    hits(
        r#""pool": 7, "messages": [
            { "kind": 4, "id": 8, "len": 65535, "msg_len": 0, "temp_ok": 1, "data": [
                { "id": 255, "stray": { "kind": 7, "last": 1 } }, { "id": 7, "len": 1 }] },
            { "kind": 5, "id": 100, "len": 65534, "data": [{ "id": 2, "len": 4 }] },
            { "kind": 4, "id": 1, "match_wait": 9, "reset": { "after": 0, "cycles": 2 } }]"#,
        [
            "ring: HIGH, none",
            "ring: above LOW, none",
            "choice: KEEP - 1, copied, more",
            "strays: kind 7, copied, 1",
            "handles: released, largest",
            "handles: asked, 2^k",
            "handles: copied, 2^k",
            "handles: copied, 2^k - 1",
            "handles: copied, other",
            "copies: unexpected CP, largest",
            "copies: unexpected DP, 1",
            "copies: rendezvous CP, largest - 1",
            "copies: posted DP, 2^k",
            "temporary-buffers: granted, 0",
            "resets: CHECK_POSTED",
        ],
    );
}

#[test]
fn refills_are_counted_by_what_the_ring_lacks_and_what_the_credit_holds() {
    // After 13 packets the ring holds 3 of 16 buffers, which is below LOW. Of 13 missing ones, 12
    // came back from the packets before, and the pool had some at first.
    let flow = [r#"{ "kind": 0, "id": 5 }"#; 13].join(", ");
    for (pool, free, refill) in [
        (0, "one too few", "partly"),
        (1, "enough", "to HIGH"),
        (2, "one more", "to HIGH"),
        (3, "more", "to HIGH"),
    ] {
        hits(
            &format!(r#""pool": {pool}, "messages": [{flow}]"#),
            [
                "ring: HIGH, none",
                "ring: above LOW, none",
                &format!("ring: LOW, {refill}"),
                "handles: released, other",
                &format!("free-buffers: {free}"),
                "credit-room: below 254",
                "credits: 2 to 15, K3",
            ],
        );
    }
}
