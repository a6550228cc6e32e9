//! Bins that hand-written cases hit, derived from the examples of the specification.

use super::super::Dll;
use cosim_core::checks::bins_hit;
use cosim_core::harness::Parameters;

fn hit(traffic: &str) -> Vec<String> {
    let traffic = serde_json::from_str(traffic).unwrap();
    bins_hit::<Dll>(traffic, &Parameters::of::<Dll>(0)).unwrap().into_keys().collect()
}

#[track_caller]
fn assert_in_groups(hit: &[String], groups: &[&str], expected: &[&str]) {
    let of_groups = hit.iter().filter(|bin| groups.iter().any(|group| bin.starts_with(group)));
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(of_groups.map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn one_tlp_and_its_ack_are_an_ack_of_the_newest() {
    let hit = hit(r#"{ "noise": "0x0", "tlps": [{ "data": 1 }] }"#);
    // One TLP is sent, so the Ack's number is the newest. B wants it, and no Nak is out.
    let groups =
        ["a-dllp: ", "b-tlp: ", "a-rewind: ", "a-replays: A3", "b-timer: B7", "b-timer: B1,"];
    assert_in_groups(
        &hit,
        &groups,
        &[
            "a-dllp: Ack, newest",
            "a-replays: A3, 0",
            "b-timer: B1, stopped",
            "b-timer: B7, limit",
            "b-tlp: good, wanted, no Nak",
        ],
    );
}

#[test]
fn a_damaged_tlp_brings_a_nak_without_progress_and_comes_again() {
    let hit = hit(r#"{ "noise": "0x0", "tlps": [{ "data": 1 }],
             "tlp_link": [{ "damage": { "seq": 0, "data": 1 } }] }"#);
    // Nothing was delivered: Nak 4095, which is ackd_seq (A5). The offer is withdrawn and repeated.
    let groups =
        ["a-dllp: ", "b-tlp: ", "a-rewind: ", "b-nak: B1,", "b-nak: B4", "a-link: ", "b-link: "];
    assert_in_groups(
        &hit,
        &groups,
        &[
            "a-dllp: Ack, newest",
            "a-dllp: Nak, ackd",
            "a-link: Nak, A3",
            "a-link: first, A5",
            "a-rewind: A5, none",
            "b-link: damaged, B1",
            "b-link: first, B4",
            "b-nak: B1, Nak out",
            "b-nak: B4, no Nak",
            "b-tlp: bad, wanted, no Nak",
            "b-tlp: good, wanted, Nak out",
        ],
    );
}
