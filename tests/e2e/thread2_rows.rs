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
use cosim_core::harness::{Block, Golden as _};
use std::collections::BTreeSet;
use std::process::Command;
use std::{env, fs};
use tempfile::NamedTempFile;

/// Rows that no sequence of inputs takes (specification, "Transitions").
const UNREACHABLE: [&str; 3] = ["T32", "T36", "T46"];

/// Runs the tests of this file once more, in a process whose benches record what was taken.
fn taken_rows() -> BTreeSet<(String, String)> {
    let record = NamedTempFile::new().unwrap();
    let output = Command::new(env::current_exe().unwrap())
        // On threads of their own tests are known by their names.
        .args(["thread2_rows::", "--test-threads=2"])
        .env(bench::RECORD, record.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let lines = fs::read_to_string(record.path()).unwrap();
    let of = |line: &str| {
        let (test, row) = line.split_once(' ').unwrap();
        (test.rsplit("::").next().unwrap().to_owned(), row.to_owned())
    };
    lines.lines().map(of).collect()
}

#[test]
fn every_row_that_can_be_reached_is_taken_by_a_test_named_after_it() {
    if env::var_os(bench::RECORD).is_some() {
        return;
    }
    let taken = taken_rows();
    for rule in <Thread2 as Block>::Golden::RULES {
        let beginning = format!("{}_", rule.name.to_lowercase());
        let is_taken =
            taken.iter().any(|(test, row)| row == rule.name && test.starts_with(&beginning));
        assert_eq!(is_taken, !UNREACHABLE.contains(&rule.name), "{}", rule.name);
    }
    assert!(taken.iter().all(|(_, row)| !UNREACHABLE.contains(&row.as_str())), "{taken:?}");
}

#[test]
fn the_table_has_every_row_once() {
    let rows: BTreeSet<&str> = table::ROWS.iter().map(|(row, ..)| *row).collect();
    let rules: BTreeSet<&str> =
        <Thread2 as Block>::Golden::RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(rows, rules);
    assert_eq!(rows.len(), table::ROWS.len());
}
