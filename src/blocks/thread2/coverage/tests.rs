//! Bins that a vector hits, worked out by hand.

use super::super::Thread2;
use crate::blocks::testing::{SPEC, bins};
use serde_json::{Value, from_str, json};
use std::collections::BTreeSet;

/// The bins that a SEND of 32 bytes in one packet for QP 5 hits, whose WQE has units of 16, 16 and
/// 0 bytes. The packet and the offset of the WQE are changed.
fn hit_bins(rq_offset: u64, change: impl FnOnce(&mut Value)) -> BTreeSet<String> {
    let vector = include_str!("../../../../vectors/thread2/t33-next-unit-after-an-mr-request.json");
    let mut traffic = from_str::<Value>(vector).unwrap()["stimulus"]["traffic"].take();
    traffic["tables"]["rq_offset"] = json!([{ "address": 5, "value": rq_offset }]);
    change(&mut traffic["packets"][0]);
    bins::<Thread2>(SPEC, &traffic.to_string(), &["rules: "])
}

#[test]
fn a_send_of_two_units_is_counted_by_what_becomes_of_it_and_by_its_fields() {
    let hit = hit_bins(0, |packet| {
        packet["context"]["qp_pd"] = 0.into();
        packet["context"]["cq_lkey"] = u32::MAX.into();
        packet["context"]["cq_log_size"] = 1.into();
        packet["header"]["immediate"] = (u32::MAX - 1).into();
        packet["wqe"]["units"][1]["data"]["laddr"] = "0xffffffffffffffff".into();
    });
    for expected in [
        // The next WQE is 4 slots on and 2 long; the cell of index 5 has owner 0.
        "cell: kept, nobody",
        "cell-ends: below 255",
        "distances: below 2^8",
        "step-fields: rq_offset, 0",
        "step-fields: next_wqe_addr, 2^k",
        "events: RC, no",
        "offsets: 05, begun",
        "offsets: 05, cleared",
        "outcomes: SEND_ONLY, acknowledged",
        // Entries of 64 bytes in an RQ of 1024: the second one fits.
        "ring: 64, goes on",
        "splits: ONLY, both end",
        "splits: ONLY, packet goes on",
        "regions: SEND, pd, 0",
        "regions: SEND, address, largest",
        "regions: SEND, address, 2^k",
        "regions: CQE, key, largest",
        "wqe-requests: qp_pd, 0",
        "queue-requests: cq_log_size, 1",
        "packet-fields: immediate, largest - 1",
        // Both units have 16 bytes; the third one has none, and the packet ended before it.
        "bytes: SEND, 2^k",
        "units: placed, 2^k",
        "units: behind, 0",
        "carries: none",
    ] {
        assert!(hit.contains(expected), "{expected} is not in {hit:?}");
    }
    let of = |group: &str| hit.iter().filter(|bin| bin.starts_with(group)).count();
    assert_eq!(["carries", "cell", "outcomes", "offsets", "splits"].map(of), [1, 2, 1, 2, 2]);
}

/// Entries have 64 bytes, and the WQE takes one of them.
#[test]
fn the_end_of_the_next_entry_is_counted_against_the_end_of_the_ring() {
    const LONGEST: u64 = 1 << 24;
    for (rq_offset, rq_length, edge, end) in [
        // The next entry is at slot 4 and ends at byte 128.
        (0, 130_u64, "far below", "below 2^16, before"),
        (0, 129, "one below", "below 2^16, before"),
        (0, 128, "equal", "below 2^16, equal"),
        (0, 127, "one above", "below 2^16, behind"),
        (0, 0, "far above", "below 2^16, behind"),
        // The last but one entry of the longest ring: the next one ends at byte 2^28.
        (LONGEST - 8, 1 << 28, "equal", "2^28 and up, equal"),
        (LONGEST - 12, 1 << 28, "far below", "below 2^28, before"),
    ] {
        let hit = hit_bins(rq_offset, |packet| packet["context"]["rq_length"] = rq_length.into());
        let of_ring: Vec<&String> = hit.iter().filter(|bin| bin.starts_with("ring-e")).collect();
        assert_eq!(of_ring, [&format!("ring-edges: {edge}"), &format!("ring-ends: {end}")]);
    }
}
