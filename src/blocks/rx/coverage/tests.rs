//! Bins that a hand-written case hits.

use super::super::Rx;
use crate::blocks::testing::{SPEC, bins};

#[test]
fn a_flow_packet_is_counted_at_each_boundary_that_it_crosses() {
    let traffic = r#"{ "noise": "0x5eed",
        "receive": { "noise": "0x0", "pool": 20, "messages": [{ "kind": 0, "id": 1, "len": 65535, "msg_len": 2 }] },
        "software": { "noise": "0x1", "steps": [] },
        "link": { "noise": "0x2", "tlps": [], "tlp_delay": 0, "dllp_delay": 0 } }"#;
    let hit = bins::<Rx>(SPEC, traffic, &["rules"]);
    let expected = [
        "credits: 0, taken",
        "credits: 1 to 14, back",
        "fifo: 0, in",
        "fifo: 1 to 14, out",
        "lengths: bytes, largest",
        "lengths: handle, 1",
        "lengths: message, 2^k",
        "messages: flow, DETERMINE_CP_TYPE",
    ];
    assert_eq!(hit.into_iter().collect::<Vec<_>>(), expected);
}
