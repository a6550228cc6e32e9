//! Bins that a hand-written case hits.

use super::super::Rx;
use cosim_core::checks::bins_hit;
use cosim_core::harness::Parameters;
use std::collections::BTreeSet;

#[test]
fn a_flow_packet_is_counted_at_each_boundary_that_it_crosses() {
    let traffic = r#"{ "noise": "0x5eed",
        "receive": { "noise": "0x0", "pool": 20, "messages": [{ "kind": 0, "id": 1, "len": 65535, "msg_len": 2 }] },
        "software": { "noise": "0x1", "steps": [] },
        "link": { "noise": "0x2", "tlps": [], "tlp_delay": 0, "dllp_delay": 0 } }"#;
    let traffic = serde_json::from_str(traffic).unwrap();
    let hit = bins_hit::<Rx>(traffic, &Parameters::of::<Rx>(0)).unwrap();
    let of_groups = hit.into_keys().filter(|bin| !bin.starts_with("rules: "));
    let expected = [
        "credits: 0, taken",
        "credits: 1 to 14, back",
        "deliveries: flow, empty",
        "fifo: 0, in",
        "fifo: 1 to 14, out",
        "heads: flow, 0",
        "lengths: bytes, largest",
        "lengths: handle, 1",
        "lengths: message, 2^k",
        "messages: flow, DETERMINE_CP_TYPE",
        // recv accepts nothing in AWAIT_CP.
        "waits: flow, 1",
    ];
    let expected: BTreeSet<String> = expected.iter().map(|bin| (*bin).to_owned()).collect();
    assert_eq!(of_groups.collect::<BTreeSet<_>>(), expected);
}
