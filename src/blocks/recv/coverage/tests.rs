//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Recv;
use crate::blocks::testing::bins;

/// The bins that a traffic hits, without rules and offers.
#[track_caller]
fn hits<const N: usize>(fixes: u8, traffic: &str, mut expected: [&str; N]) {
    let traffic = format!(r#"{{ "noise": "0x0", {traffic} }}"#);
    expected.sort_unstable();
    let hit = bins::<Recv>(fixes, &traffic, &["rules: ", "offers: "]);
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_posted_message_is_counted_by_its_answer_its_dps_and_its_end() {
    // LOW is 4 and HIGH 16: after four packets there are 12 buffers, so there is no refill.
    hits(
        0,
        r#""pool": 9, "messages": [
            { "kind": 4, "id": 1, "posted": 1, "match_wait": 2, "data": [{ "id": 2, "count": 2 }] },
            { "kind": 5, "id": 4, "done_wait": 1 }]"#,
        [
            "matches: posted, 2 to 7",
            "messages: posted, 2 to 7",
            "finished: eager, with the last DP",
            "messages: rendezvous, 0",
            "finished: rendezvous, waited",
            "ring: HIGH, none",
            "ring: above LOW, none",
        ],
    );
}

#[test]
fn an_unexpected_message_is_counted_by_the_choice_and_its_strays() {
    // KEEP is 8: with 7 free buffers the message is copied, as there is a temporary buffer.
    hits(
        1,
        r#""pool": 7, "messages": [
            { "kind": 4, "id": 1, "temp_ok": 1,
              "data": [{ "id": 2, "stray": { "kind": 7, "last": 1 } }, { "id": 3 }] },
            { "kind": 4, "id": 4 }]"#,
        [
            "matches: unexpected, 0",
            "choice: KEEP - 1, copied, more",
            "strays: kind 7, copied, 1",
            "messages: copied, 1",
            // The three packets of the first message were released.
            "choice: more, kept, one packet",
            "messages: kept, 0",
            "ring: HIGH, none",
            "ring: above LOW, none",
        ],
    );
}

#[test]
fn credits_are_counted_by_their_stall_and_the_ring_by_what_it_gets() {
    // 13 flow packets reduce the ring from 16 to 3, which is below LOW. All 13 missing buffers are
    // free: 1 in the pool and those of the 12 packets before. The credit waits for three cycles.
    let flow = [r#"{ "kind": 0, "id": 1 }"#; 13].join(", ");
    hits(
        0,
        &format!(r#""pool": 1, "credit_stalls": [3], "messages": [{flow}]"#),
        [
            "ring: HIGH, none",
            "ring: above LOW, none",
            "ring: LOW, to HIGH",
            "credit-stalls: 2 to 15, same",
            "credits: 2 to 15, K3",
        ],
    );
}

#[test]
fn a_reset_is_counted_by_the_state_that_it_finds() {
    // In the cycle after the CP was accepted the block asks about the message.
    hits(
        0,
        r#""pool": 9, "messages": [
            { "kind": 4, "id": 1, "match_wait": 9, "reset": { "after": 0, "cycles": 2 } }]"#,
        ["resets: CHECK_POSTED", "ring: HIGH, none"],
    );
}
