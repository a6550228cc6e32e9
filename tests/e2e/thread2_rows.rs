//! Block `thread2`, row by row: does every row of the transition table do what the specification
//! says, in the RTL and in the golden model?
//!
//! Every expectation is a literal worked out by hand from the specification: all outputs of the
//! cycle, the row the golden model takes, and the states it leaves and enters. `bench` runs both
//! models; `beats` and `drive` have the inputs, `expect` the outputs, `script` the cycles by name.

mod beats;
mod bench;
mod codes;
mod drive;
mod expect;
mod script;
mod table;

mod bench_checks;
mod cq_and_eq;
mod data_units;
mod fix_priorities;
mod layouts;
mod mr_for_queues;
mod mr_for_rdma;
mod mr_for_send;
mod packets;
mod placement;
mod reset;
mod update_rq;
mod wqe_requests;

use cosim::blocks::thread2::Thread2;
use cosim::harness::Block;

/// The files with the tests that are named after rows.
const ROW_TESTS: [&str; 8] = [
    include_str!("thread2_rows/packets.rs"),
    include_str!("thread2_rows/wqe_requests.rs"),
    include_str!("thread2_rows/data_units.rs"),
    include_str!("thread2_rows/cq_and_eq.rs"),
    include_str!("thread2_rows/update_rq.rs"),
    include_str!("thread2_rows/mr_for_send.rs"),
    include_str!("thread2_rows/mr_for_rdma.rs"),
    include_str!("thread2_rows/mr_for_queues.rs"),
];

/// Rows that no sequence of inputs takes (specification, "Transitions").
const UNREACHABLE: [&str; 3] = ["T32", "T36", "T46"];

/// Whether a test is named after the row and drives it.
fn has_a_test(row: &str) -> bool {
    let function = format!("fn {}_", row.to_lowercase());
    let literal = format!("\"{row}\"");
    ROW_TESTS.iter().flat_map(|file| file.split("#[test]")).any(|test| {
        let body = test.split("\n}\n").next().unwrap_or_default();
        body.contains(&function) && body.contains(&literal)
    })
}

#[test]
fn every_row_that_can_be_reached_has_a_test_named_after_it() {
    for rule in Thread2::RULES {
        let reachable = !UNREACHABLE.contains(&rule.name);
        assert_eq!(has_a_test(rule.name), reachable, "{}", rule.name);
        assert!(table::ROWS.iter().any(|(row, ..)| *row == rule.name), "{}", rule.name);
    }
    assert_eq!(table::ROWS.len(), Thread2::RULES.len());
}
