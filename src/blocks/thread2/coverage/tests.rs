//! Bins that a vector hits, worked out by hand.

use super::super::Thread2;
use cosim_core::checks::bins_hit;
use cosim_core::harness::Parameters;

/// The groups of numbers: fields of requests and steps, and the sums of a step.
const NUMBERS: [&str; 13] = [
    "regions: ",
    "bytes: ",
    "packet-fields: ",
    "wqe-requests: ",
    "queue-requests: ",
    "step-fields: ",
    "units: ",
    "used-units: ",
    "carries: ",
    "ring-ends: ",
    "ring-edges: ",
    "cell-ends: ",
    "distances: ",
];

fn is_number(bin: &str) -> bool {
    NUMBERS.iter().any(|group| bin.starts_with(group))
}

/// A SEND of 32 bytes in one packet for QP 5, whose WQE has units of 16, 16 and 0 bytes.
const VECTOR: &str =
    include_str!("../../../../vectors/thread2/t33-next-unit-after-an-mr-request.json");

#[test]
fn a_send_of_two_units_is_counted_by_what_becomes_of_it() {
    let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
    let traffic = serde_json::from_value(vector["stimulus"]["traffic"].clone()).unwrap();
    let hit = bins_hit::<Thread2>(traffic, &Parameters::of::<Thread2>(0)).unwrap();
    let is_reported = |bin: &&String| {
        !bin.starts_with("rules: ") && !bin.starts_with("waits: ") && !is_number(bin)
    };
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

/// The bins of numbers that a SEND of 32 bytes hits, with changes to its packet and the offset of
/// its WQE.
fn numbers(rq_offset: u64, change: impl FnOnce(&mut serde_json::Value)) -> Vec<String> {
    let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
    let mut traffic = vector["stimulus"]["traffic"].clone();
    let entry = serde_json::json!([{ "address": 5, "value": rq_offset }]);
    traffic["tables"]["rq_offset"] = entry;
    change(&mut traffic["packets"][0]);
    let traffic = serde_json::from_value(traffic).unwrap();
    let hit = bins_hit::<Thread2>(traffic, &Parameters::of::<Thread2>(0)).unwrap();
    hit.into_keys().filter(|bin| is_number(bin)).collect()
}

#[test]
fn fields_are_counted_by_their_place_in_their_range() {
    let hit = numbers(0, |packet| {
        packet["context"]["qp_pd"] = 0.into();
        packet["context"]["cq_lkey"] = u32::MAX.into();
        packet["context"]["cq_log_size"] = 1.into();
        packet["header"]["immediate"] = (u32::MAX - 1).into();
        packet["wqe"]["units"][1]["data"]["laddr"] = "0xffffffffffffffff".into();
    });
    for expected in [
        "regions: SEND, pd, 0",
        "wqe-requests: qp_pd, 0",
        "regions: CQE, key, largest",
        "queue-requests: cq_log_size, 1",
        "packet-fields: immediate, largest - 1",
        "regions: SEND, address, largest",
        "regions: SEND, address, 2^k",
        // Both units have 16 bytes; the third one has none, and the packet ended before it.
        "bytes: SEND, 2^k",
        "units: placed, 2^k",
        "units: behind, 0",
        "carries: none",
        "step-fields: rq_offset, 0",
        // The next WQE is 4 slots on, 2 long.
        "step-fields: next_wqe_addr, 2^k",
        "distances: below 2^8",
        "cell-ends: below 255",
    ] {
        assert!(hit.iter().any(|bin| bin == expected), "{expected} is not in {hit:?}");
    }
    let carries: Vec<&String> = hit.iter().filter(|bin| bin.starts_with("carries")).collect();
    assert_eq!(carries, ["carries: none"], "each unit begins at msg_offset");
}

/// Entries have 64 bytes, and the WQE takes one of them.
#[test]
fn the_end_of_the_next_entry_is_counted_against_the_end_of_the_ring() {
    let end = |rq_offset: u64, rq_length: u64| {
        let hit = numbers(rq_offset, |packet| packet["context"]["rq_length"] = rq_length.into());
        hit.into_iter().filter(|bin| bin.starts_with("ring-e")).collect::<Vec<_>>()
    };
    // The next entry is at slot 4 and ends at byte 128.
    for (rq_length, edge, order) in [
        (130, "far below", "before"),
        (129, "one below", "before"),
        (128, "equal", "equal"),
        (127, "one above", "behind"),
        (0, "far above", "behind"),
    ] {
        let expected = [format!("ring-edges: {edge}"), format!("ring-ends: below 2^16, {order}")];
        assert_eq!(end(0, rq_length), expected);
    }
    // The last but one entry of the longest ring: the next one ends at byte 2^28.
    let expected = ["ring-edges: equal", "ring-ends: 2^28 and up, equal"];
    assert_eq!(end((1 << 24) - 8, 1 << 28), expected);
    let expected = ["ring-edges: far below", "ring-ends: below 2^28, before"];
    assert_eq!(end((1 << 24) - 12, 1 << 28), expected);
}
