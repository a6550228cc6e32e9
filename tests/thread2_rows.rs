//! Block `thread2`, row by row: does every row of the transition table do what the specification
//! says, in the RTL and in the golden model?
//!
//! Every expectation is a literal worked out by hand from the specification: all outputs of the
//! cycle, the row the golden model takes, and the states it leaves and enters. `bench` runs both
//! models; `beats` and `drive` have the inputs, `expect` the outputs, `script` the cycles by name.

#[path = "thread2_rows/beats.rs"]
mod beats;
#[path = "thread2_rows/bench.rs"]
mod bench;
#[path = "thread2_rows/codes.rs"]
mod codes;
#[path = "thread2_rows/drive.rs"]
mod drive;
#[path = "thread2_rows/expect.rs"]
mod expect;
#[path = "thread2_rows/script.rs"]
mod script;
#[path = "thread2_rows/table.rs"]
mod table;

#[path = "thread2_rows/bench_checks.rs"]
mod bench_checks;
#[path = "thread2_rows/cq_and_eq.rs"]
mod cq_and_eq;
#[path = "thread2_rows/data_units.rs"]
mod data_units;
#[path = "thread2_rows/fix_priorities.rs"]
mod fix_priorities;
#[path = "thread2_rows/layouts.rs"]
mod layouts;
#[path = "thread2_rows/mr_for_queues.rs"]
mod mr_for_queues;
#[path = "thread2_rows/mr_for_rdma.rs"]
mod mr_for_rdma;
#[path = "thread2_rows/mr_for_send.rs"]
mod mr_for_send;
#[path = "thread2_rows/packets.rs"]
mod packets;
#[path = "thread2_rows/placement.rs"]
mod placement;
#[path = "thread2_rows/reset.rs"]
mod reset;
#[path = "thread2_rows/update_rq.rs"]
mod update_rq;
#[path = "thread2_rows/wqe_requests.rs"]
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
