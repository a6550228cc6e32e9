//! Bins that hand-written cases hit, derived from the examples of the specification.

use super::super::Dll;
use crate::blocks::testing::bins;

#[track_caller]
fn hits<const N: usize>(traffic: &str, groups: &[&str], mut expected: [&str; N]) {
    let hit = bins::<Dll>(0, traffic, &[]);
    let of_groups = hit.iter().filter(|bin| groups.iter().any(|group| bin.starts_with(group)));
    expected.sort_unstable();
    assert_eq!(of_groups.map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn payloads_and_sequence_numbers_are_counted_where_they_are_shown() {
    // The first TLP is lost, so B drops the second one and sends Nak 4095.
    hits(
        r#"{ "noise": "0x0", "tlps": [{ "data": 4294967295, "count": 2 }],
             "tlp_link": [{ "lost": 1 }] }"#,
        &["payloads: ", "numbers: "],
        [
            "payloads: taken, largest",
            "payloads: taken, 0",
            "payloads: sent, largest",
            "payloads: sent, 0",
            "payloads: dropped, 0",
            "payloads: delivered, largest",
            "payloads: delivered, 0",
            "numbers: sent, 0",
            "numbers: sent, 1",
            "numbers: answered, largest",
            "numbers: received, largest",
            "numbers: delivered, 0",
            "numbers: delivered, 1",
            "numbers: answered, 1",
            "numbers: received, 1",
        ],
    );
}

#[test]
fn a_damaged_tlp_brings_a_nak_without_progress_and_comes_again() {
    // Nothing was delivered: Nak 4095, which is ackd_seq (A5). The offer is withdrawn and repeated.
    hits(
        r#"{ "noise": "0x0", "tlps": [{ "data": 1 }],
             "tlp_link": [{ "damage": { "seq": 0, "data": 1 } }] }"#,
        &["a-dllp: ", "b-tlp: ", "a-rewind: ", "b-nak: B1,", "b-nak: B4"],
        [
            "a-dllp: Ack, newest",
            "a-dllp: Nak, ackd",
            "a-rewind: A5, none",
            "b-nak: B1, Nak out",
            "b-nak: B4, no Nak",
            "b-tlp: bad, wanted, no Nak",
            "b-tlp: good, wanted, Nak out",
        ],
    );
}
