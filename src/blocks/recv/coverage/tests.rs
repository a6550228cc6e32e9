//! Bins that hand-written cases hit, derived from the rules of the specification.

use super::super::Recv;
use crate::blocks::testing::bins;

/// The groups of numbers: handles, lengths, and the sums of a refill.
const NUMBERS: [&str; 5] =
    ["handles: ", "copies: ", "temporary-buffers: ", "free-buffers: ", "credit-room: "];

/// The bins that a traffic hits, without rules, offers and numbers.
#[track_caller]
fn hits<const N: usize>(fixes: u8, traffic: &str, mut expected: [&str; N]) {
    let traffic = format!(r#"{{ "noise": "0x0", {traffic} }}"#);
    expected.sort_unstable();
    let hit = bins::<Recv>(fixes, &traffic, &[&["rules: ", "offers: "], &NUMBERS[..]].concat());
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}

/// The bins of numbers that a traffic hits.
#[track_caller]
fn numbers<const N: usize>(traffic: &str, mut expected: [&str; N]) {
    let traffic = format!(r#"{{ "noise": "0x0", {traffic} }}"#);
    expected.sort_unstable();
    let hit = bins::<Recv>(0, &traffic, &[]);
    let is_number = |bin: &String| NUMBERS.iter().any(|group| bin.starts_with(group));
    assert_eq!(hit.into_iter().filter(is_number).collect::<Vec<_>>(), expected);
}

#[test]
fn handles_and_lengths_are_counted_where_they_are_shown() {
    // KEEP is 8: with fewer free buffers a temporary buffer is asked for.
    numbers(
        r#""pool": 4, "messages": [
            { "kind": 0, "id": 255, "len": 9 },
            { "kind": 4, "id": 8, "len": 65535, "msg_len": 0, "temp_ok": 1,
              "data": [{ "id": 7, "len": 1 }] },
            { "kind": 4, "id": 1, "len": 3, "msg_len": 4294967294,
              "data": [{ "id": 254, "len": 64, "stray": { "kind": 7 } }, { "id": 0, "len": 5 }] },
            { "kind": 5, "id": 100, "len": 65534, "data": [{ "id": 2, "len": 4 }] }]"#,
        [
            "handles: released, largest",
            "handles: asked, 2^k",
            "handles: copied, 2^k",
            "handles: copied, 2^k - 1",
            "handles: asked, 1",
            "handles: kept, 1",
            "handles: released, largest - 1",
            "handles: kept, 0",
            "handles: copied, other",
            "copies: unexpected CP, largest",
            "copies: unexpected DP, 1",
            "copies: rendezvous CP, largest - 1",
            "copies: posted DP, 2^k",
            "temporary-buffers: granted, 0",
            "temporary-buffers: not granted, largest - 1",
        ],
    );
}

#[test]
fn a_refill_is_counted_by_what_the_ring_lacks_and_what_the_credit_holds() {
    // After 13 of 13 packets the ring holds 3 of 16 buffers, which is below LOW. Of 13 missing
    // ones, 12 came back from the packets before, and the pool had some at first.
    let flow = [r#"{ "kind": 0, "id": 5 }"#; 13].join(", ");
    for (pool, free) in [(0, "one too few"), (1, "enough"), (2, "one more"), (3, "more")] {
        let traffic = format!(r#""pool": {pool}, "messages": [{flow}]"#);
        let free = format!("free-buffers: {free}");
        numbers(&traffic, ["handles: released, other", &free, "credit-room: below 254"]);
    }
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
