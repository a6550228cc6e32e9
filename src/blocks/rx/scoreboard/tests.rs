//! The end-to-end checks on changed pins of the golden model. Faults of pins show that all other
//! checks fire.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{Judge, REPAIRED, fault};
use cosim_core::value::Uint;
use serde_json::Value;

/// A SEND of three packets and a message of five, over a link that loses a TLP.
fn traffic() -> Traffic {
    let vector = include_str!("../../../../vectors/rx/link-tlp-lost.json");
    let vector: Value = serde_json::from_str(vector).unwrap();
    serde_json::from_value(vector["stimulus"]["traffic"].clone()).unwrap()
}

#[test]
fn what_was_sent_is_counted_once_although_it_was_lost_once() {
    let counted = Judge::new(REPAIRED).counted::<Rx>(&traffic());
    for expected in [
        ("requests taken", 3),
        ("message packets taken", 5),
        ("SEND bytes placed", 24 + 8 + 16),
        ("message bytes copied", 101 + 4 * 202),
    ] {
        assert!(counted.contains(&expected), "{counted:?}");
    }
    // A packet that comes again is as many packets.
    let mut longer = traffic();
    for request in &mut longer.requests {
        let last = request.packet.wqe.as_mut().and_then(|wqe| wqe.units.last_mut());
        last.unwrap().data.byte_cnt = Uint::new(1000);
    }
    longer.requests[1].packet.again = Uint::new(2);
    let counted = Judge::new(REPAIRED).counted::<Rx>(&longer);
    for expected in [("requests taken", 5), ("SEND bytes placed", 24 + 3 * 8 + 16)] {
        assert!(counted.contains(&expected), "{counted:?}");
    }
}

#[test]
fn wrong_bytes_deliveries_and_fates_are_noticed() {
    for (check, wrong) in [
        // Bytes are put elsewhere: the low word of the address in a request.
        (bytes::MESSAGE, "t2_fetch_mr_ingress_valid: t2_fetch_mr_ingress_head[159:128]^=1"),
        // The second piece of the first packet lacks a byte.
        (bytes::MESSAGE, "second t2_fetch_mr_ingress_valid: t2_fetch_mr_ingress_head[223:192]-=1"),
        (bytes::RECEIVE, "rv_copy_valid: rv_copy_len-=1"),
        // The first packet is copied twice.
        (
            bytes::RECEIVE,
            "after rv_copy_valid, !rv_copy_valid: rv_copy_valid=1 rv_copy_id=1 rv_copy_len=101",
        ),
        (DELIVERED, "x_b_deliver_valid: x_b_deliver_data^=0x01000000"),
        // dll's own scoreboard is first to detect that nothing comes.
        ("wanted-is-delivered", "x_b_deliver_valid=0"),
        (DEAD, "req_valid: req_fate=2"),
    ] {
        Judge::new(REPAIRED).fires::<Rx>(check, &traffic(), fault::<Rx>(wrong));
    }
}
