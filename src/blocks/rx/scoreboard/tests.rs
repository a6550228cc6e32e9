//! What the scoreboard counts of a correct model. Faults of pins show that all checks fire.

use super::*;
use crate::blocks::rx::Rx;
use crate::blocks::testing::{Judge, REPAIRED};
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
