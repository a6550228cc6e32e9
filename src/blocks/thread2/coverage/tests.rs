//! Bins that a vector hits, worked out by hand.

use super::super::Thread2;
use cosim_core::checks::bins_hit;
use cosim_core::harness::Parameters;

/// A SEND of 32 bytes in one packet for QP 5, whose WQE has units of 16, 16 and 0 bytes.
const VECTOR: &str =
    include_str!("../../../../vectors/thread2/t33-next-unit-after-an-mr-request.json");

#[test]
fn a_send_of_two_units_is_counted_by_what_becomes_of_it() {
    let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
    let traffic = serde_json::from_value(vector["stimulus"]["traffic"].clone()).unwrap();
    let hit = bins_hit::<Thread2>(traffic, &Parameters::of::<Thread2>(0)).unwrap();
    let is_reported = |bin: &&String| !bin.starts_with("rules: ") && !bin.starts_with("waits: ");
    let hit: Vec<&str> = hit.keys().filter(is_reported).map(String::as_str).collect();
    let expected = [
        // The next WQE is 4 slots on and 2 long; the cell of index 5 has owner 0.
        "cell: kept, nobody",
        "events: RC, no",
        "lengths: SEND, 2 to 255",
        "offsets: 05, begun",
        "offsets: 05, cleared",
        "outcomes: SEND_ONLY, acknowledged",
        "pieces: ONLY, 2",
        "qp-states: SEND_ONLY, processes",
        // Entries of 64 bytes in an RQ of 1024: the second one fits.
        "ring: 64, goes on",
        "services: SEND_ONLY, RC",
        "splits: ONLY, both end",
        "splits: ONLY, packet goes on",
    ];
    assert_eq!(hit, expected);
}
